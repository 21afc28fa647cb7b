/* plots/figure.h — a figure as a gnuplot script: where it goes, how big it is, how it looks.
 *
 * Every kind of picture opens a figure, writes data blocks and plot commands to `script`, and
 * closes it. The script stands alone: data inline, terminal and output at its top, gnuplot >= 5.4.
 * Closing renders it (plots/gnuplot.h), or writes it where a ".gp" was asked for. */
#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "core/text/terminal.h"
#include "traces/metrics.h"

#include <stdbool.h>
#include <stdio.h>

enum pp_plot_format {
    PP_PLOT_TERMINAL, /* characters */
    PP_PLOT_PNG,
    PP_PLOT_PDF,
    PP_PLOT_SVG,
    PP_PLOT_TEX,    /* text set by LaTeX, graphics in NAME-graphics.pdf */
    PP_PLOT_SCRIPT, /* the script itself, which makes a PDF */
};

struct pp_plot_target {
    enum pp_plot_format format;
    const char *path;            /* NULL for the terminal */
    bool is_paper;               /* a column of a paper: 3.3 in wide, 8 pt, no title, lines that
                                  * differ in more than colour */
    const char *title;           /* NULL: the one that the kind of picture gives; "": none */
    double width_in, height_in;  /* 0: as the kind of picture likes it */
    struct pp_terminal terminal; /* of `out` */
    FILE *out;                   /* where characters go */
};
/* From the name of the file: .png .pdf .svg .tex .gp; NULL, "none" and "-" are the terminal.
 * PP_EINVAL for other suffixes. Fills format and path. */
enum pp_status pp_plot_target_parse(const char *path, struct pp_plot_target *target,
                                    struct pp_error *err);

/* ---- plots/size.c ---- */
/* "6x4", "6x4in", "15x10cm" into width and height; NULL leaves them. PP_EINVAL with what is
 * expected. */
enum pp_status pp_plot_size_parse(const char *text, struct pp_plot_target *target,
                                  struct pp_error *err);
struct pp_figure;
/* What follows "ps" in a script, for a symbol of that size: 1 is 5 pt across. A line of width 1 is
 * 0.75 pt. */
double pp_figure_point(const struct pp_figure *figure, double size);
/* Inches of one typeset character, on average: to see whether a label fits. */
double pp_figure_character_in(const struct pp_figure *figure);

struct pp_figure {
    struct pp_arena *arena;
    const struct pp_plot_target *target;
    double width_in, height_in; /* of the whole picture */
    double font_pt;
    int columns, rows; /* of characters in the terminal */
    int title_lines;   /* 0 = none */
    FILE *script;
    char *text; /* of the script, valid once it is flushed */
    size_t length;
};

/* What a kind of picture brings with it. */
struct pp_figure_wish {
    double width_in, height_in; /* on a screen or a page */
    double paper_height_in;     /* in a column; 0 = in proportion */
    int rows;                   /* of characters in the terminal; 0 = 24 */
    const char *title;
    bool has_y_above; /* in the terminal: the name of the y axis stands below the title */
};
/* Begins the script: terminal, output, styles, title. */
void pp_figure_open(struct pp_arena *arena, const struct pp_plot_target *target,
                    const struct pp_figure_wish *wish, struct pp_figure *figure);
/* Render, or write the script. PP_EFAIL when gnuplot is missing or fails: then the script lies in
 * PATH.gp, and the message says so. */
enum pp_status pp_figure_close(struct pp_figure *figure, struct pp_error *err);
/* Drop it: nothing was drawn. */
void pp_figure_discard(struct pp_figure *figure);

/* A string for the script, quotes included: escaped for gnuplot and, where text is set by LaTeX,
 * for it. A line feed is one; other control characters become spaces. In the arena. */
const char *pp_figure_quote(const struct pp_figure *figure, const char *text);
/* The same for a comment of the script or of its data: on one line, whatever was in a file. */
const char *pp_figure_remark(const struct pp_figure *figure, const char *text);

/* ---- plots/size.c ---- */
/* The text on at most `lines` lines of so many characters, broken at spaces; of what is left
 * one sees "...". In the arena. */
const char *pp_figure_wrap(struct pp_arena *arena, const char *text, int characters, int lines);
/* Characters of usual text in that many inches; in the terminal they are characters. */
int pp_figure_characters(const struct pp_figure *figure, double length_in);

/* ---- plots/style.c ---- */
/* Line styles 1 .. PP_STYLES are defined in every script: "linestyle 3" has its colour, dash and
 * symbol; all differ in grey, too. */
enum { PP_STYLES = 8 };
void pp_style_define(const struct pp_figure *figure);
/* Numbers in the tables of style.c, which begin again where they end. */
struct pp_line_look {
    int colour, symbol, dash, paper_dash;
};
/* What linestyle `i` + 1 is; from PP_STYLES on the colours again, with other dashes and symbols. */
struct pp_line_look pp_style_look(int i);
/* Defines linestyle `i` + 1. */
void pp_style_define_line(const struct pp_figure *figure, int i, struct pp_line_look look);
/* Colour of a kind of op, as 0xRRGGBB. Kinds have ranges of lightness; `shade` in [0, 1] is the
 * place in the range, so that neighbouring micro-batches differ. */
unsigned pp_style_op_rgb(int kind, double shade);
/* Colour of a part of the time; what computes has that of its ops. */
unsigned pp_style_part_rgb(enum pp_time_part part);
