/* Figures: formats, the beginning of the script, and rendering. */
#define _GNU_SOURCE /* mkdtemp */

#include "plots/figure.h"

#include "core/text/file.h"
#include "core/text/output.h"
#include "plots/gnuplot.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TERMINAL_ROWS = 24 };
/* A column of a paper, as in two-column styles of IEEE and ACM. */
static const double COLUMN_IN = 3.3, COLUMN_PT = 8, PAGE_PT = 10;

/* ---- formats --------------------------------------------------------------------------------- */

enum { PNG_DPI = 150, PNG_PAPER_DPI = 300, SVG_DPI = 96 };
/* The cairo terminals draw fonts for 96 dots an inch: unscaled, 10 pt are 13.3 pt in a PDF. */
static const double CAIRO_DPI = 96;
/* A line of width 1 is 0.75 pt, a symbol of size 1 is 5 pt across in every format. Measured,
 * gnuplot's own are 0.5 and 6 pt in a PDF and 0.25 and 6 pt for LaTeX. A symbol is 7.5 dots across
 * in a PNG; an SVG has no option for it, see pp_figure_point(). */
static const double PDF_LINE = 1.5, TEX_LINE = 3, PDF_POINT = 0.83, PNG_POINT_DPI = 108;

static void terminal_png(const struct pp_figure *f)
{
    const double dpi = f->target->is_paper ? PNG_PAPER_DPI : PNG_DPI;

    fprintf(f->script,
            "set terminal pngcairo size %.0f,%.0f font 'sans,%g' fontscale %.3g linewidth %.3g "
            "pointscale %.3g\n",
            f->width_in * dpi, f->height_in * dpi, f->font_pt, dpi / CAIRO_DPI, dpi / CAIRO_DPI,
            dpi / PNG_POINT_DPI);
}

static void terminal_pdf(const struct pp_figure *f)
{
    fprintf(f->script,
            "set terminal pdfcairo size %gin,%gin font 'sans,%g' fontscale %g linewidth %g "
            "pointscale %g\n",
            f->width_in, f->height_in, f->font_pt, 72 / CAIRO_DPI, PDF_LINE, PDF_POINT);
}

static void terminal_svg(const struct pp_figure *f)
{
    fprintf(f->script,
            "set terminal svg size %.0f,%.0f font 'sans-serif,%.3g' background 'white'\n",
            f->width_in * SVG_DPI, f->height_in * SVG_DPI, f->font_pt * SVG_DPI / 72);
}

static void terminal_tex(const struct pp_figure *f)
{
    fprintf(f->script,
            "set terminal cairolatex pdf size %gin,%gin font ',%g' linewidth %g pointscale %g\n",
            f->width_in, f->height_in, f->font_pt, TEX_LINE, PDF_POINT);
}

static void terminal_dumb(const struct pp_figure *f)
{
    fprintf(f->script, "set terminal dumb %d,%d noenhanced mono\n", f->columns, f->rows);
}

static const char GRAPHICS[] = "-graphics.pdf"; /* suffix of the graphics of a .tex */
/* Output of gnuplot, in the folder of the script or in a temporary one. */
struct format {
    const char *suffix; /* suffix of the target */
    const char *made;   /* suffix of gnuplot's output */
    void (*terminal)(const struct pp_figure *figure);
    const char *last; /* how a complete output ends, but for blanks */
};
#define PDF_END "%%EOF"

static const struct format FORMATS[] = {
    [PP_PLOT_TERMINAL] = {NULL, NULL, terminal_dumb, NULL},
    [PP_PLOT_PNG] = {".png", ".png", terminal_png, "IEND\xae\x42\x60\x82"},
    [PP_PLOT_PDF] = {".pdf", ".pdf", terminal_pdf, PDF_END},
    [PP_PLOT_SVG] = {".svg", ".svg", terminal_svg, "</svg>"},
    [PP_PLOT_TEX] = {".tex", "-graphics.tex", terminal_tex, "\\endgroup"},
    [PP_PLOT_SCRIPT] = {".gp", ".pdf", terminal_pdf, PDF_END},
};
enum { FORMATS_COUNT = PP_COUNT(FORMATS) };

enum pp_status pp_plot_target_parse(const char *path, struct pp_plot_target *target,
                                    struct pp_error *err)
{
    target->path = NULL;
    target->format = PP_PLOT_TERMINAL;
    if (!path || !strcmp(path, "none") || !strcmp(path, "-"))
        return PP_OK;
    target->path = path;
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    for (int i = 0; i < FORMATS_COUNT; i++)
        if (FORMATS[i].suffix && pp_has_suffix(base, FORMATS[i].suffix)) {
            target->format = (enum pp_plot_format)i;
            return PP_OK;
        }
    return pp_error_set(err, PP_EINVAL,
                        "%s: a picture ends in .png, .pdf, .svg or .tex, a script of gnuplot in "
                        ".gp; without a file it is drawn in the terminal",
                        path);
}

/* Base name of the path: "fig" of "out/fig.pdf". */
static const char *stem(const struct pp_figure *f)
{
    const char *slash = strrchr(f->target->path, '/');
    const char *base = slash ? slash + 1 : f->target->path;

    return pp_arena_printf(f->arena, "%.*s", (int)(strrchr(base, '.') - base), base);
}

static const char *made_name(const struct pp_figure *f, const char *suffix)
{
    return pp_arena_printf(f->arena, "%s%s", stem(f), suffix);
}

/* ---- script ---------------------------------------------------------------------------------- */

/* Escapes of characters that are special in LaTeX. */
static const char *const TEX[UCHAR_MAX + 1] = {['\\'] = "\\textbackslash{}",
                                               ['~'] = "\\textasciitilde{}",
                                               ['^'] = "\\textasciicircum{}",
                                               ['<'] = "\\textless{}",
                                               ['>'] = "\\textgreater{}",
                                               ['|'] = "\\textbar{}",
                                               ['_'] = "\\_",
                                               ['%'] = "\\%",
                                               ['#'] = "\\#",
                                               ['&'] = "\\&",
                                               ['$'] = "\\$",
                                               ['{'] = "\\{",
                                               ['}'] = "\\}"};

static const char *quote(const struct pp_figure *figure, const char *text, bool is_tex)
{
    /* Escapes end the single quotes. (Twice within them is an apostrophe, too, but gnuplot's search
     * for the end of a command miscounts it.) */
    static const char LINE_FEED[] = "'.\"\\n\".'", APOSTROPHE[] = "'.\"'\".'";
    char *quoted = pp_arena_alloc(figure->arena, 20 * strlen(text) + 3), *to = quoted;

    *to++ = '\'';
    for (; *text; text++) {
        const char *escape = *text == '\n'   ? LINE_FEED
                             : *text == '\'' ? APOSTROPHE
                             : is_tex        ? TEX[(unsigned char)*text]
                                             : NULL;
        if (escape)
            to = stpcpy(to, escape);
        else
            *to++ = (char)((unsigned char)*text < ' ' ? ' ' : *text);
    }
    *to++ = '\'';
    *to = '\0';
    return quoted;
}

const char *pp_figure_quote(const struct pp_figure *figure, const char *text)
{
    return quote(figure, text, figure->target->format == PP_PLOT_TEX);
}

/* Wraps the title to the width of the axes. */
static const char *fit_title(const struct pp_figure *f, const char *title)
{
    enum { LINES = 3, FEW_LINES = 2 };
    const bool in_terminal = f->target->format == PP_PLOT_TERMINAL;
    const int room = pp_figure_characters(f, in_terminal ? f->columns - 2 : 0.78 * f->width_in);

    return pp_figure_wrap(f->arena, title, room,
                          in_terminal || f->target->is_paper ? FEW_LINES : LINES);
}

/* In the terminal the title is at the left, above the name of the y axis. Centred over the axes it
 * would begin outside of a picture that has a legend. */
static void write_title(struct pp_figure *f, const char *title, bool has_y_above)
{
    const bool is_left = f->target->format == PP_PLOT_TERMINAL && has_y_above;

    title = fit_title(f, title);
    f->title_lines = 1;
    for (const char *c = title; *c; c++)
        f->title_lines += *c == '\n';
    if (is_left)
        fprintf(f->script, "set label %s at character 1, character %d\n", pp_figure_quote(f, title),
                f->rows - 1);
    else
        fprintf(f->script, "set title %s\n", pp_figure_quote(f, title));
}

static void begin_script(struct pp_figure *f)
{
    const struct format *format = &FORMATS[f->target->format];

    fputs("# made by pipesim " PP_VERSION "; to draw it again: gnuplot THIS-FILE (5.4 or later)\n",
          f->script);
    format->terminal(f);
    if (format->made)
        fprintf(f->script, "set output %s\n", quote(f, made_name(f, format->made), false));
    if (f->target->format != PP_PLOT_TEX)
        fputs("set termoption noenhanced\n", f->script);
    fputs("set encoding utf8\n", f->script);
    if (f->target->format != PP_PLOT_TERMINAL)
        pp_style_define(f);
    fputs("set format '%h'\n", f->script); /* gnuplot's own begins with a space */
}

void pp_figure_open(struct pp_arena *arena, const struct pp_plot_target *target,
                    const struct pp_figure_wish *wish, struct pp_figure *figure)
{
    const double scale = target->is_paper ? COLUMN_IN / wish->width_in : 1;
    const double column_in =
        wish->paper_height_in > 0 ? wish->paper_height_in : wish->height_in * scale;
    const char *title = target->title ? target->title : target->is_paper ? NULL : wish->title;

    *figure = (struct pp_figure){
        .arena = arena,
        .target = target,
        .width_in = target->width_in > 0 ? target->width_in : wish->width_in * scale,
        .height_in = target->height_in > 0 ? target->height_in
                     : target->is_paper    ? column_in
                                           : wish->height_in,
        .font_pt = target->is_paper ? COLUMN_PT : PAGE_PT,
        .columns = target->terminal.width - 1,
        .rows = wish->rows > 0 ? wish->rows : TERMINAL_ROWS,
    };
    figure->script = open_memstream(&figure->text, &figure->length);
    assert(figure->script);
    begin_script(figure);
    if (title && *title)
        write_title(figure, title, wish->has_y_above);
}

void pp_figure_discard(struct pp_figure *figure)
{
    if (figure->script)
        fclose(figure->script);
    free(figure->text);
    *figure = (struct pp_figure){0};
}

/* A line feed would end the comment, and the text after it could end the data and be a command. */
const char *pp_figure_remark(const struct pp_figure *figure, const char *text)
{
    char *line = pp_arena_strdup(figure->arena, text);

    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
    return line;
}

/* ---- rendering ------------------------------------------------------------------------------- */

static enum pp_status write_script(const struct pp_figure *f, const char *path,
                                   struct pp_error *err)
{
    struct pp_output output;

    PP_TRY(pp_output_open(f->arena, path, &output, err));
    fwrite(f->text, 1, f->length, output.file);
    return pp_output_commit(&output, err);
}

/* gnuplot ends with 0 after a failed write, so only the end of its output tells. */
static bool is_whole(const struct pp_bytes *bytes, const char *last)
{
    const size_t length = strlen(last);
    size_t end = bytes->length;

    while (end > 0 && strchr(" \n", bytes->data[end - 1]))
        end--;
    return end >= length && memcmp(bytes->data + end - length, last, length) == 0;
}

/* Writes one of gnuplot's files to an output; all outputs are committed together. */
static enum pp_status take_file(const struct pp_figure *f, const char *made, const char *last,
                                const char *path, struct pp_output *output, struct pp_error *err)
{
    struct pp_bytes bytes;

    PP_TRY(pp_file_read_limited(f->arena, made, (size_t)1 << 30, &bytes, err));
    if (bytes.length == 0)
        return pp_error_set(err, PP_EFAIL, "gnuplot wrote nothing");
    if (!is_whole(&bytes, last))
        return pp_error_set(err, PP_EFAIL,
                            "gnuplot wrote part of the picture: is the temporary folder full? "
                            "TMPDIR names another");
    PP_TRY(pp_output_open(f->arena, path, output, err));
    fwrite(bytes.data, 1, bytes.length, output->file);
    return PP_OK;
}

static enum pp_status take_files(const struct pp_figure *f, const char *const made[2],
                                 struct pp_error *err)
{
    const char *path = f->target->path, *slash = strrchr(path, '/');
    const char *paths[] = {path,
                           pp_arena_printf(f->arena, "%.*s%s", slash ? (int)(slash - path + 1) : 0,
                                           path, made_name(f, GRAPHICS))};
    struct pp_output outputs[2];
    const int count = f->target->format == PP_PLOT_TEX ? 2 : 1;

    for (int i = 0; i < count; i++) {
        const enum pp_status status = take_file(
            f, made[i], i ? PDF_END : FORMATS[f->target->format].last, paths[i], &outputs[i], err);
        if (status != PP_OK) {
            while (i-- > 0)
                pp_output_discard(&outputs[i]);
            return status;
        }
    }
    PP_TRY(pp_output_commit_all(outputs, count, err));
    pp_output_tell(paths, count);
    return PP_OK;
}

static enum pp_status keep_script(const struct pp_figure *f, struct pp_error *err)
{
    const char *path = pp_arena_printf(f->arena, "%s.gp", f->target->path);
    struct pp_error second = {0};

    if (write_script(f, path, &second) != PP_OK)
        return pp_error_append(err, "\n  the script could not be kept either: %s", second.message);
    return pp_error_append(err, "\n  the script with its data is in %s", path);
}

static enum pp_status draw_file(const struct pp_figure *f, struct pp_error *err)
{
    const char *parent = getenv("TMPDIR");
    char *folder =
        pp_arena_printf(f->arena, "%s/pipesim.XXXXXX", parent && *parent ? parent : "/tmp");

    PP_TRY(pp_output_check(f->arena, f->target->path, err));
    if (!mkdtemp(folder))
        return pp_error_set(err, PP_EFAIL, "%s: no temporary folder: %s", folder, strerror(errno));
    const char *const made[] = {
        pp_arena_printf(f->arena, "%s/%s", folder, made_name(f, FORMATS[f->target->format].made)),
        pp_arena_printf(f->arena, "%s/%s", folder, made_name(f, GRAPHICS))};
    const struct pp_gnuplot_run run = {f->text, f->length, folder, NULL};
    enum pp_status status = pp_gnuplot_run(&run, err);
    if (status == PP_OK)
        status = take_files(f, made, err);
    for (int i = 0; i < 2; i++)
        unlink(made[i]);
    rmdir(folder);
    return status == PP_OK ? PP_OK : keep_script(f, err);
}

static enum pp_status draw(const struct pp_figure *f, struct pp_error *err)
{
    const struct pp_gnuplot_run in_terminal = {f->text, f->length, NULL, f->target->out};

    switch (f->target->format) {
    case PP_PLOT_TERMINAL:
        return pp_gnuplot_run(&in_terminal, err);
    case PP_PLOT_SCRIPT:
        PP_TRY(write_script(f, f->target->path, err));
        pp_output_tell(&f->target->path, 1);
        return PP_OK;
    default:
        return draw_file(f, err);
    }
}

enum pp_status pp_figure_close(struct pp_figure *figure, struct pp_error *err)
{
    const bool is_written = fflush(figure->script) == 0 && !ferror(figure->script);
    enum pp_status status =
        is_written ? draw(figure, err) : pp_error_set(err, PP_EFAIL, "no memory for the script");

    pp_figure_discard(figure);
    return status;
}
