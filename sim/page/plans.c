/* What a search of layouts, and a plan of one, have to say on a page. */
#include "sim/page/page.h"

#include "core/units.h"
#include "sim/plan/search.h"
#include "sim/plan/state.h"

/* What the report in text is printed from. */
struct printed {
    struct pp_arena *arena;
    const void *plan; /* struct pp_search or pp_state_plan */
    int rows;
};
static struct printed *printed_of(struct pp_arena *arena, const void *plan, int rows)
{
    struct printed *printed = PP_NEW(arena, struct printed);

    *printed = (struct printed){arena, plan, rows};
    return printed;
}

/* ---- layouts --------------------------------------------------------------------------------- */

static void print_search(const void *subject, FILE *out)
{
    const struct printed *p = subject;

    pp_search_print(p->arena, p->plan, p->rows, out);
}

static const char *number(struct pp_arena *arena, int value)
{
    return pp_arena_printf(arena, "%d", value);
}

static struct pp_page_point point_of_search(struct pp_arena *arena, const struct pp_search *search,
                                            int at)
{
    const struct pp_search_row *row = &search->rows[at];
    const struct pp_search_point p = pp_search_point(&search->space, row->point);
    char again[PP_SEARCH_AGAIN_BYTES];

    return (struct pp_page_point){
        .choices = {number(arena, p.frame->tp), number(arena, p.frame->pp),
                    number(arena, p.frame->cp), number(arena, p.frame->dp),
                    number(arena, p.frame->ep), number(arena, p.order->base.shape.chunks),
                    number(arena, p.frame->mbs), p.order->base.schedule_name,
                    pp_arena_strdup(arena, pp_search_again_text(p.again, again)),
                    p.zero == PP_SEARCH_AS_GIVEN ? "as given" : number(arena, p.zero)},
        .step_s = row->step_s,
        .mfu = row->mfu,
        .peak_bytes = row->peak_bytes,
        .is_tie = row->is_tie};
}

struct pp_page_plan pp_page_of_search(struct pp_arena *arena, const struct pp_search *search,
                                      int rows)
{
    const struct pp_config *fixed = &search->space.fixed;
    struct pp_page_point *points = PP_ARRAY(arena, struct pp_page_point, search->count);
    char gpus[PP_UNITS_TEXT_BYTES];

    for (int i = 0; i < search->count; i++)
        points[i] = point_of_search(arena, search, i);
    return (struct pp_page_plan){
        .title =
            pp_arena_printf(arena, "Layouts of %s on %s GPUs of %s", fixed->model.name,
                            pp_units_print_count(search->space.gpus, gpus), fixed->cluster.name),
        .columns = {"TP", "PP", "CP", "DP", "EP", "VP", "MBS", "schedule", "recompute", "ZeRO"},
        .column_count = 10,
        .points = points,
        .count = search->count,
        .capacity_bytes = fixed->cluster.device.memory_bytes,
        .print = print_search,
        .subject = printed_of(arena, search, rows)};
}

/* ---- one layout ------------------------------------------------------------------------------ */

static void print_planner(const void *subject, FILE *out)
{
    const struct printed *p = subject;

    pp_state_plan_print(p->arena, p->plan, p->rows, out);
}

static const char *mesh(struct pp_arena *arena, const struct pp_state_spec *state, int class)
{
    return pp_arena_printf(arena, "%dx%d", state->shard[class].in_node, state->shard[class].nodes);
}

static struct pp_page_point point_of_planner(struct pp_arena *arena,
                                             const struct pp_state_planned *planned)
{
    const struct pp_state_spec *state = &planned->config.state;

    return (struct pp_page_point){.choices = {mesh(arena, state, PP_STATE_PARAMS),
                                              mesh(arena, state, PP_STATE_GRADS),
                                              mesh(arena, state, PP_STATE_OPTIMIZER),
                                              pp_recompute_names[planned->config.costs.recompute]},
                                  .step_s = planned->step_s,
                                  .mfu = planned->mfu,
                                  .peak_bytes = planned->peak_bytes,
                                  .is_tie = planned->is_tie};
}

struct pp_page_plan pp_page_of_planner(struct pp_arena *arena, const struct pp_state_plan *planner,
                                       int rows)
{
    const struct pp_config *base = &planner->base;
    struct pp_page_point *points = PP_ARRAY(arena, struct pp_page_point, planner->fitting);
    char gpus[PP_UNITS_TEXT_BYTES];

    for (int i = 0; i < planner->fitting; i++)
        points[i] = point_of_planner(arena, &planner->points[i]);
    return (struct pp_page_plan){
        .title = pp_arena_printf(arena, "State of %s on %s GPUs of %s", base->model.name,
                                 pp_units_print_count(base->layout.gpus, gpus), base->cluster.name),
        .columns = {"parameters", "gradients", "optimizer", "recompute"},
        .column_count = 4,
        .points = points,
        .count = planner->fitting,
        .capacity_bytes = base->cluster.device.memory_bytes,
        .print = print_planner,
        .subject = printed_of(arena, planner, rows)};
}
