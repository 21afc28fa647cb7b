/* Numbers of micro-batches in boxes: one size for a picture, and all boxes of a kind or none. */
#include "core/quantile.h"
#include "plots/timeline/parts.h"

#include <math.h>
#include <stdlib.h>

/* Width of a digit of usual sans fonts, as a share of the font's size. */
static const double DIGIT_EM = 0.64, LEAST_PAPER_PT = 3.75, LEAST_PAGE_PT = 4.75;
/* Margin on both sides of a number together: half a digit a side with the margin of digits. */
static const double MARGIN_EM = 0.5;

/* Groups of boxes: halves of pairs are narrower than single ops. */
enum { GROUPS = 2 * PP_OP_KINDS };
_Static_assert(GROUPS <= 64, "a bit each");
static int group_of(const struct pp_timeline_op *op, bool is_fused)
{
    return 2 * op->kind + is_fused;
}

/* ---- texts ----------------------------------------------------------------------------------- */

void pp_timeline_write_number(const struct pp_timeline *t, const struct pp_timeline_op *op,
                              bool is_short, char *text, size_t bytes)
{
    if (op->mb < 0)
        snprintf(text, bytes, "%s", pp_op_kinds[op->kind].text);
    else if (t->splits > 1 && !is_short)
        snprintf(text, bytes, "%d.%d", op->mb, op->split);
    else if (op->granules > 1 && !is_short)
        snprintf(text, bytes, "%d-%d", op->mb, op->mb + op->granules - 1);
    else
        snprintf(text, bytes, "%d", op->mb);
}

static double text_em(const char *text)
{
    double em = 0;

    for (; *text; text++)
        em += *text == '.' ? DIGIT_EM / 2 : DIGIT_EM;
    return em;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Boxes of one kind in one panel. */
struct group {
    double *widths_in;
    int count, capacity;
    double widest_em; /* widest text, with margins */
};

static void add(const struct pp_timeline_page *page, const struct pp_timeline_panel *panel,
                const struct pp_timeline_op *op, bool is_fused, double seconds,
                struct group *groups)
{
    struct group *group = &groups[group_of(op, is_fused)];
    char text[32];

    pp_timeline_write_number(&panel->timeline, op, page->has_short_numbers, text, sizeof(text));
    *PP_PUSH(page->arena, group->widths_in, group->count, group->capacity) =
        pp_timeline_width_in(page, panel, seconds);
    group->widest_em = fmax(group->widest_em, MARGIN_EM + text_em(text));
}

static void add_boxes(const struct pp_timeline_page *page, const struct pp_timeline_panel *panel,
                      struct group *groups)
{
    const struct pp_timeline *t = &panel->timeline;

    for (int i = 0; i < t->count && !panel->is_binned; i++) {
        const struct pp_timeline_box *box = &t->boxes[i];
        const double seconds = box->end_s - box->start_s;
        const double first = box->is_fused ? (double)box->forward_frac : 1;
        if (box->op.mb < 0 || pp_timeline_row(panel, box->rank) < 0 ||
            box->end_s <= panel->from_s || box->start_s >= panel->to_s)
            continue;
        add(page, panel, &box->op, box->is_fused, first * seconds, groups);
        if (box->is_fused)
            add(page, panel, &box->second, true, (1 - first) * seconds, groups);
    }
}

/* The size at which the widest number fits most boxes of the group, with margins. */
static double fitting_pt(struct group *group)
{
    enum { FEW = 4 }; /* one of FEW boxes may have less margin, or no number */

    qsort(group->widths_in, (size_t)group->count, sizeof(*group->widths_in), pp_ascending);
    return 72 * group->widths_in[group->count / FEW] / group->widest_em;
}

/* Lowers `pt` until the numbers of every kind fit. */
static void choose_panel(const struct pp_timeline_page *page, struct pp_timeline_panel *panel,
                         double least_pt, double *pt)
{
    struct group groups[GROUPS] = {0};

    panel->numbered = 0;
    add_boxes(page, panel, groups);
    for (int g = 0; g < GROUPS; g++) {
        const double fitting = groups[g].count > 0 ? fitting_pt(&groups[g]) : 0;
        if (fitting < least_pt)
            continue;
        panel->numbered |= UINT64_C(1) << g;
        *pt = fmin(*pt, fitting);
    }
}

static double choose_pt(struct pp_timeline_page *page)
{
    const double least_pt = page->figure->target->is_paper ? LEAST_PAPER_PT : LEAST_PAGE_PT;
    uint64_t numbered = 0;
    double pt = fmin(0.9 * page->figure->font_pt, 0.72 * page->height_in * 72);

    for (int p = 0; p < page->count; p++) {
        choose_panel(page, &page->panels[p], least_pt, &pt);
        numbered |= page->panels[p].numbered;
    }
    return numbered && pt >= least_pt ? floor(4 * pt) / 4 : 0;
}

void pp_timeline_choose_numbers(struct pp_timeline_page *page)
{
    page->has_short_numbers = false;
    page->number_pt = choose_pt(page);
    if (page->number_pt > 0)
        return;
    page->has_short_numbers = true;
    page->number_pt = choose_pt(page);
}

void pp_timeline_number(const struct pp_timeline_page *page, const struct pp_timeline_panel *panel,
                        const struct pp_timeline_op *op, bool is_fused, double width, char *text,
                        size_t bytes)
{
    const bool is_numbered = op->mb < 0 || panel->numbered >> group_of(op, is_fused) & 1;

    pp_timeline_write_number(&panel->timeline, op, page->has_short_numbers, text, bytes);
    if (page->number_pt == 0 || !is_numbered ||
        text_em(text) * page->number_pt / 72 > width * pp_timeline_in_per_unit(page))
        text[0] = '\0';
}
