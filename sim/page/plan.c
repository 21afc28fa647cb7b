/* Writes the page of a plan: a picture of the choices, a table of the best, the rest of the report.
 */
#include "sim/page/parts.h"

#include "core/text/html.h"
#include "core/units.h"
#include "plots/axis.h"
#include "plots/page/page.h"
#include "sim/plan/search.h"
#include "sim/plan/state.h"

#include <math.h>

enum { MOST_DOTS = 2000, CHOICES = 10 };

/* Choice that was simulated and fits; its figures are "points.INDEX...." of --json. */
struct point {
    const char *choices[CHOICES]; /* by column */
    const struct pp_outcome *outcome;
    bool is_tie; /* with the best */
};
/* Choices of layouts, or of the sharding of one layout's state, best first. */
struct plan {
    const char *title;
    const char *columns[CHOICES]; /* names of the choices */
    int column_count;
    const struct point *points;
    int count;
    double capacity_bytes; /* of a device */
};

/* ---- layouts --------------------------------------------------------------------------------- */

static const char *number(struct pp_arena *arena, int value)
{
    return pp_arena_printf(arena, "%d", value);
}

static struct point point_of_search(struct pp_arena *arena, const struct pp_search *search, int at)
{
    const struct pp_search_row *row = &search->rows[at];
    const struct pp_search_point p = pp_search_point(&search->space, row->point);
    char again[PP_RECOMPUTE_TEXT_BYTES];

    return (struct point){
        .choices = {number(arena, p.frame->tp), number(arena, p.frame->pp),
                    number(arena, p.frame->cp), number(arena, p.frame->dp),
                    number(arena, p.frame->ep), number(arena, p.order->base.shape.chunks),
                    number(arena, p.frame->mbs), p.order->base.schedule_name,
                    pp_arena_strdup(arena, pp_search_again_text(&search->space, p.again, again)),
                    p.zero == PP_SEARCH_AS_GIVEN ? "as given" : number(arena, p.zero)},
        .outcome = &row->outcome,
        .is_tie = row->is_tie};
}

static struct plan plan_of_search(struct pp_arena *arena, const struct pp_search *search)
{
    const struct pp_config *fixed = &search->space.fixed;
    struct point *points = PP_ARRAY(arena, struct point, search->count);
    char gpus[PP_UNITS_TEXT_BYTES];

    for (int i = 0; i < search->count; i++)
        points[i] = point_of_search(arena, search, i);
    return (struct plan){
        .title =
            pp_arena_printf(arena, "Layouts of %s on %s GPUs of %s", fixed->model.name,
                            pp_units_print_count(search->space.gpus, gpus), fixed->cluster.name),
        .columns = {"TP", "PP", "CP", "DP", "EP", "VP", "MBS", "schedule", "recompute", "ZeRO"},
        .column_count = 10,
        .points = points,
        .count = search->count,
        .capacity_bytes = pp_config_capacity_bytes(fixed)};
}

/* ---- one layout ------------------------------------------------------------------------------ */

static struct point point_of_planner(struct pp_arena *arena, const struct pp_state_planned *planned)
{
    const struct pp_state_spec *state = &planned->config.state;
    const struct pp_cost_inputs *costs = &planned->config.costs;
    char again[PP_RECOMPUTE_TEXT_BYTES];

    pp_recompute_print(costs->recompute, costs->again, again);
    pp_recompute_add_words(planned->config.lower.again, again);
    return (struct point){.choices = {pp_state_plan_mesh(arena, state, PP_STATE_PARAMS),
                                      pp_state_plan_mesh(arena, state, PP_STATE_GRADS),
                                      pp_state_plan_mesh(arena, state, PP_STATE_OPTIMIZER),
                                      pp_arena_strdup(arena, again)},
                          .outcome = &planned->outcome,
                          .is_tie = planned->is_tie};
}

static struct plan plan_of_state(struct pp_arena *arena, const struct pp_state_plan *planner)
{
    const struct pp_config *base = &planner->base;
    struct point *points = PP_ARRAY(arena, struct point, planner->fitting);
    char gpus[PP_UNITS_TEXT_BYTES];

    for (int i = 0; i < planner->fitting; i++)
        points[i] = point_of_planner(arena, &planner->points[i]);
    return (struct plan){
        .title = pp_arena_printf(arena, "State of %s on %s GPUs of %s", base->model.name,
                                 pp_units_print_count(base->layout.gpus, gpus), base->cluster.name),
        .columns = {"parameters", "gradients", "optimizer", "recompute"},
        .column_count = 4,
        .points = points,
        .count = planner->fitting,
        .capacity_bytes = pp_config_capacity_bytes(base)};
}

/* ---- the page -------------------------------------------------------------------------------- */

static const char *name_of(struct pp_arena *arena, const struct plan *plan, int at)
{
    const struct point *point = &plan->points[at];
    const char *name = pp_arena_printf(arena, "#%d", at + 1);

    for (int i = 0; i < plan->column_count; i++)
        name = pp_arena_printf(arena, "%s, %s %s", name, plan->columns[i], point->choices[i]);
    return name;
}

static void write_picture(struct pp_arena *arena, const struct pp_page *page,
                          const struct plan *plan)
{
    const int shown = plan->count < MOST_DOTS ? plan->count : MOST_DOTS;
    struct pp_html_dot *dots = PP_ARRAY(arena, struct pp_html_dot, shown);
    double longest_s = 0;

    for (int i = 0; i < shown; i++)
        longest_s = fmax(longest_s, plan->points[i].outcome->step_s);
    const struct pp_axis_time time = pp_axis_time(longest_s, NULL);
    for (int i = 0; i < shown; i++)
        dots[i] = (struct pp_html_dot){.x = plan->points[i].outcome->step_s * time.factor,
                                       .y = plan->points[i].outcome->peak_bytes / PP_GIB,
                                       .name = name_of(arena, plan, i),
                                       .is_marked = plan->points[i].is_tie};
    const struct pp_html_scatter scatter = {.points = dots,
                                            .count = shown,
                                            .limit = plan->capacity_bytes / PP_GIB,
                                            .axis = pp_arena_printf(arena, "step (%s)", time.unit),
                                            .label =
                                                "Peak memory over step, a dot for each choice"};
    pp_page_heading(page, "choices", "Choices");
    pp_html(
        page->out,
        "<figure>\n<figcaption>Peak memory of the fullest rank (GiB) over the step; dashed: the "
        "device, if it is near; large dots: too close to the best for the costs to "
        "rank%s</figcaption>\n",
        shown < plan->count ? "; the best of them" : "");
    pp_html_scatter(&scatter, page->out);
    fputs("</figure>\n", page->out);
}

static void write_row(struct pp_arena *arena, const struct pp_page *page, const struct plan *plan,
                      int at)
{
    const struct point *point = &plan->points[at];
    const struct pp_outcome *outcome = point->outcome;
    char text[PP_UNITS_TEXT_BYTES];

    fputs(point->is_tie ? "<tr class=\"own\">" : "<tr>", page->out);
    pp_html(page->out, "<td class=\"number\">%s%d</td>", pp_search_has_room(outcome) ? "" : "! ",
            at + 1);
    for (int i = 0; i < plan->column_count; i++)
        pp_html(page->out, "<td>%s</td>", point->choices[i]);
    pp_page_cell(page, pp_arena_printf(arena, "points.%d.iteration_s", at), outcome->step_s,
                 pp_units_print(outcome->step_s, PP_UNIT_SECONDS, text));
    pp_page_percent(page, pp_arena_printf(arena, "points.%d.mfu", at), outcome->mfu);
    snprintf(text, sizeof(text), "%.1f GiB", outcome->peak_bytes / PP_GIB);
    pp_page_cell(page, pp_arena_printf(arena, "points.%d.peak_mem_bytes", at),
                 round(outcome->peak_bytes), text);
    fputs("</tr>\n", page->out);
}

static void write_table(struct pp_arena *arena, const struct pp_page *page, const struct plan *plan)
{
    static const char *const FIGURES[] = {"step", "MFU", "peak"};
    const int shown = pp_page_begin_choices(
        page, &(struct pp_page_choices){.count = plan->count,
                                        .legend = "Bold: ties with the best; !: tight",
                                        .words = plan->columns,
                                        .word_count = plan->column_count,
                                        .figures = FIGURES,
                                        .figure_count = PP_COUNT(FIGURES)});

    for (int i = 0; i < shown; i++)
        write_row(arena, page, plan, i);
    fputs("</tbody></table></div>\n", page->out);
}

/* Input of the report in text. */
struct printed {
    struct pp_arena *arena;
    const struct pp_page_plan *plan;
};

static void print_report(const void *subject, FILE *out)
{
    const struct printed *p = subject;

    if (p->plan->layouts)
        pp_search_print_facts(p->arena, p->plan->layouts, p->plan->rows, out);
    else
        pp_state_plan_print_facts(p->arena, p->plan->state, p->plan->rows, out);
}

enum pp_status pp_page_plan(struct pp_arena *arena, const struct pp_page *page, const void *subject,
                            struct pp_error *err)
{
    const struct pp_page_plan *found = subject;
    const struct plan plan =
        found->layouts ? plan_of_search(arena, found->layouts) : plan_of_state(arena, found->state);
    const struct pp_page_link links[] = {{"choices", "choices", plan.count > 0},
                                         {"report", "report", true}};

    (void)err;
    pp_page_begin(page, plan.title, links, PP_COUNT(links));
    if (plan.count > 0) {
        write_picture(arena, page, &plan);
        write_table(arena, page, &plan);
    }
    pp_page_heading(page, "report", "Report");
    pp_page_facts(page, PP_SEARCH_INDENT, print_report, &(struct printed){arena, found});
    pp_page_command(page);
    return PP_OK;
}
