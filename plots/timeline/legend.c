/* The legend: colours and marks that occur, in lines at the foot of the page. */
#include "plots/timeline/parts.h"

#include <string.h>

const char *const pp_timeline_kinds[PP_OP_KINDS] = {
    [PP_F] = "F forward",         [PP_B] = "B backward",  [PP_I] = "I input gradient",
    [PP_W] = "W weight gradient", [PP_R] = "R recompute", [PP_U] = "U optimizer",
    [PP_Q] = "Q quantise",        [PP_DQ] = "DQ restore"};
static const unsigned NEUTRAL = 0xe4e4e4;
enum { MOST_CLASSES = 4 };

struct legend {
    const struct pp_timeline_page *page;
    double x_in, line_in; /* place of the next entry */
    int line, objects;
    bool is_drawn;
};

static double line_height_in(const struct pp_timeline_page *page)
{
    return 1.5 * page->figure->font_pt / 72;
}

/* Returns x of an entry; begins a new line if it does not fit. */
static double place(struct legend *l, double width_in)
{
    const struct pp_timeline_page *page = l->page;

    if (l->x_in > page->left_in && l->x_in + width_in > page->figure->width_in) {
        l->line++;
        l->x_in = page->left_in;
    }
    const double at_in = l->x_in;
    l->x_in += width_in + 1.4 * page->figure->font_pt / 72;
    return at_in;
}

static void rectangle(struct legend *l, double x_in, double y_in, double width_in, double height_in,
                      const char *style)
{
    const struct pp_figure *f = l->page->figure;

    fprintf(f->script, "set object %d rectangle from screen %.4f,%.4f to screen %.4f,%.4f %s\n",
            ++l->objects, x_in / f->width_in, y_in / f->height_in, (x_in + width_in) / f->width_in,
            (y_in + height_in) / f->height_in, style);
}

struct entry {
    unsigned rgb;
    double foot;
    bool has_patch, is_pair;
};

static void add(struct legend *l, struct entry entry, const char *text)
{
    const struct pp_timeline_page *page = l->page;
    const struct pp_figure *f = page->figure;
    const double em = f->font_pt / 72, patch_in = entry.has_patch ? 1.3 * em : 0;
    const double text_in = (double)strlen(text) * pp_figure_character_in(f);
    const double x_in = place(l, patch_in + (entry.has_patch ? 0.4 * em : 0) + text_in);

    if (!l->is_drawn)
        return;
    const double y_in = page->legend_in - (l->line + 1) * line_height_in(page) + 0.35 * em;
    if (entry.has_patch) {
        rectangle(l, x_in, y_in, patch_in, em,
                  pp_arena_printf(
                      page->arena, "fillcolor rgb '#%06x' fillstyle solid border lc rgb '%s' lw %g",
                      entry.rgb, entry.is_pair ? "#000000" : "#303030", entry.is_pair ? 1.2 : 0.3));
        if (entry.foot > 0)
            rectangle(l, x_in, y_in, patch_in, entry.foot * em,
                      "fillcolor rgb '#202020' fillstyle solid noborder");
    }
    fprintf(f->script, "set label %s at screen %.4f,%.4f left\n", pp_figure_quote(f, text),
            (x_in + patch_in + (entry.has_patch ? 0.4 * em : 0)) / f->width_in,
            (y_in + em / 2) / f->height_in);
}

/* ---- what occurs ----------------------------------------------------------------------------- */

void pp_timeline_find_kinds(const struct pp_timeline *t, bool occurs[PP_OP_KINDS])
{
    for (int i = 0; i < t->count; i++) {
        const struct pp_timeline_box *box = &t->boxes[i];
        occurs[box->op.kind] |= box->end_s > box->start_s;
        if (box->is_fused)
            occurs[box->second.kind] = true;
    }
}

struct occurs {
    bool kind[PP_OP_KINDS], has_lane[PP_COPY_STREAMS], has_pairs, is_binned;
    const struct pp_timeline *two_way, *chunked; /* timelines with most pipelines and most chunks */
    int every;
};

static struct occurs find(const struct pp_timeline_page *page)
{
    struct occurs occurs = {.every = 1};

    for (int p = 0; p < page->count; p++) {
        const struct pp_timeline_panel *panel = &page->panels[p];
        const struct pp_timeline *t = &panel->timeline;
        pp_timeline_find_kinds(t, occurs.kind);
        for (int stream = 0; stream < PP_COPY_STREAMS; stream++)
            occurs.has_lane[stream] |= t->has_lane[stream] && !panel->is_binned;
        occurs.is_binned |= panel->is_binned;
        occurs.has_pairs |= pp_timeline_has_pairs(page, panel);
        occurs.every = panel->every > occurs.every ? panel->every : occurs.every;
        const struct pp_timeline **most = t->pipes > 1 ? &occurs.two_way : &occurs.chunked;
        if (!panel->is_binned && pp_timeline_classes(t) > (*most ? pp_timeline_classes(*most) : 1))
            *most = t;
    }
    return occurs;
}

const char *pp_timeline_class_name(struct pp_arena *arena, const struct pp_timeline *t, int class)
{
    const int pipe = class / t->chunks, chunk = class % t->chunks;
    const int32_t *way = &t->rank_of[(size_t)pipe * (size_t)t->stages];
    const int end = t->stages / t->chunks - 1; /* of the first chunk: a V returns */

    if (t->pipes == 1)
        return pp_timeline_generates(t) ? pp_arena_printf(arena, "token %d", chunk + 1)
                                        : pp_arena_printf(arena, "chunk %d", chunk + 1);
    if (t->chunks == 1)
        return pp_arena_printf(arena, "pipeline P%d to P%d", way[0], way[end]);
    return pp_arena_printf(arena, "pipeline P%d to P%d, chunk %d", way[0], way[end], chunk + 1);
}

static void add_class(struct legend *l, double foot, const char *name)
{
    add(l, (struct entry){.rgb = NEUTRAL, .foot = foot, .has_patch = true}, name);
}

/* Adds classes that have a mark; of many, the first and the last. */
static void add_classes(struct legend *l, const struct pp_timeline *t)
{
    const int classes = t ? pp_timeline_classes(t) : 0;

    for (int c = 1; c < classes; c++)
        if (classes <= MOST_CLASSES || c == 1 || c == classes - 1)
            add_class(l, pp_timeline_foot(c, classes),
                      pp_timeline_class_name(l->page->arena, t, c));
}

/* Adds classes; one entry if a mark is a second chunk in one panel and a pipeline in another. */
static void add_marks(struct legend *l, const struct occurs *occurs)
{
    const struct pp_timeline *pipes = occurs->two_way, *chunks = occurs->chunked;

    if (!pipes || !chunks || pp_timeline_classes(pipes) != 2 || pp_timeline_classes(chunks) != 2) {
        add_classes(l, pipes);
        add_classes(l, chunks);
        return;
    }
    add_class(l, pp_timeline_foot(1, 2),
              pp_arena_printf(l->page->arena, "%s, or %s",
                              pp_timeline_class_name(l->page->arena, pipes, 1),
                              pp_timeline_class_name(l->page->arena, chunks, 1)));
}

static void add_notes(struct legend *l, const struct occurs *occurs)
{
    static const struct entry TEXT = {.has_patch = false};
    const struct pp_timeline *t = &l->page->panels[0].timeline;

    if (occurs->is_binned)
        add(l, TEXT, "height: share of the time; white: idle");
    if (occurs->every > 1)
        add(l, TEXT, pp_arena_printf(l->page->arena, "one rank of %d", occurs->every));
    if (t->trace->replicas > 1)
        add(l, TEXT, pp_arena_printf(l->page->arena, "replica 0 of %d", t->trace->replicas));
}

double pp_timeline_legend(const struct pp_timeline_page *page)
{
    struct legend l = {
        .page = page, .x_in = page->left_in, .is_drawn = page->figure->script != NULL};
    const struct occurs occurs = find(page);

    for (int kind = 0; kind < PP_OP_KINDS; kind++)
        if (occurs.kind[kind] && pp_timeline_kinds[kind])
            add(&l, (struct entry){.rgb = pp_style_op_rgb(kind, 0.5), .has_patch = true},
                pp_timeline_kinds[kind]);
    if (occurs.has_pairs)
        add(&l, (struct entry){.rgb = 0xffffff, .has_patch = true, .is_pair = true},
            "F and B overlap");
    for (int stream = 0; stream < PP_COPY_STREAMS; stream++)
        if (occurs.has_lane[stream])
            add(&l, (struct entry){.rgb = pp_timeline_lane_rgb(stream), .has_patch = true},
                pp_timeline_lane_names[stream]);
    add_marks(&l, &occurs);
    add_notes(&l, &occurs);
    return (l.line + 1.1) * line_height_in(page);
}
