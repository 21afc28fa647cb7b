/* Builds a program: order, lowering, proof. */
#include "schedules/build/build.h"

#include "schedules/build/cut.h"
#include "schedules/order/closed_form.h"
#include "schedules/search/eager.h"
#include "schedules/verify/verify.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

static struct pp_costs *unit_costs(struct pp_arena *arena, const struct pp_build *b)
{
    const struct pp_unit_costs *unit = b->unit ? b->unit : &pp_unit_costs_usual;
    const struct pp_program *p = b->given;
    const struct pp_shape *shape = &b->shape;
    struct pp_costs *costs =
        p ? pp_costs_unit(arena, unit, p->ranks, p->stages, p->splits, p->granules)
          : pp_costs_unit(arena, unit, shape->ranks, pp_shape_stages(shape), shape->splits,
                          shape->granules);

    pp_costs_unit_prompts(unit, pp_build_prompt_stages(b), costs);
    return costs;
}

/* Fills in the shape, costs and shares of recomputation from the other fields. */
static enum pp_status complete(struct pp_arena *arena, struct pp_build *b, struct pp_error *err)
{
    const struct pp_program *p = b->given;
    const struct pp_shape *shape = &b->shape;

    assert(b->schedule || p);
    if (!p)
        PP_TRY(pp_schedule_check(b->schedule, &b->shape, err));
    const int stages = p ? p->stages : pp_shape_stages(shape);
    if (!b->costs)
        b->costs = unit_costs(arena, b);
    if (!b->is_recomputed)
        return PP_OK;
    double *fracs = PP_ARRAY(arena, double, stages);
    for (int s = 0; s < stages; s++)
        fracs[s] = 1;
    b->recompute_frac = fracs;
    return PP_OK;
}

enum pp_status pp_build_order(struct pp_arena *arena, struct pp_build *b, struct pp_error *err)
{
    const bool is_proved = b->given && b->proves_given;
    struct pp_program *made;

    PP_TRY(complete(arena, b, err));
    if (!b->given) {
        PP_TRY(pp_schedule_program(arena, b->schedule, &b->shape, b->costs, &made, err));
        b->given = made;
    }
    if (b->order.rule != PP_ORDER_STRICT) {
        const struct pp_eager_options options = {b->order, b->recompute_frac, b->unit_ps,
                                                 b->again_ps, b->wishes.again.is_skipped};
        PP_TRY(pp_eager_program(arena, b->given, b->costs, &options, &made, err));
        b->given = made;
    }
    b->order = (struct pp_order_choice){.rule = PP_ORDER_STRICT};
    b->proves_given = false;
    return is_proved ? pp_verify(b->given, NULL, err) : PP_OK;
}

void pp_build_take_zero(struct pp_build *b, int zero, int replicas)
{
    const int64_t copies = (int64_t)(replicas > 1 ? replicas : 1) * b->given->pipelines;
    const struct pp_mesh mesh = {.in_node = copies < INT_MAX ? (int)copies : INT_MAX, .nodes = 1};

    b->state = pp_state_spec_zero(zero, mesh);
    if (zero > 1) /* pipelines use a stage at different times */
        for (int class = 0; class < PP_STATE_SHARDED; class ++)
            b->state.shard[class].in_node /=
                b->state.shard[class].in_node > 1 ? b->given->pipelines : 1;
}

/* Returns the units in which parameters are fetched, or in which gradients leave; NULL if all are
 * whole, on the device. */
static const int *units_of(struct pp_arena *arena, const struct pp_build *b)
{
    if (!pp_build_has_units(b))
        return NULL;
    int *units = PP_ARRAY(arena, int, b->costs->stages);
    for (int s = 0; s < b->costs->stages; s++)
        units[s] = pp_build_units(b, s);
    return units;
}

static struct pp_lower_options options_of(struct pp_arena *arena, const struct pp_build *b,
                                          const struct pp_program_head *head)
{
    const bool is_trained = b->has_update && head->mode == PP_MODE_TRAIN;
    const bool has_sync =
        is_trained && pp_build_copies(b) > pp_state_cut(&b->state, PP_STATE_PARAMS);
    const int steps = b->shape.steps > 1 ? b->shape.steps : 1;

    return (struct pp_lower_options){
        .post = b->wishes.post,
        .recv_slots = b->wishes.recv_slots,
        .grad_sync = b->wishes.grad_sync,
        .has_sync = has_sync,
        .has_optimizer = is_trained,
        .has_clip = b->wishes.has_clip,
        .has_whole_updates = b->wishes.has_whole_updates,
        .reads_params = b->wishes.reads_params,
        .ties_at_bar = b->wishes.ties_at_bar,
        .state = b->state,
        .units = units_of(arena, b),
        .buckets = has_sync ? b->buckets : NULL,
        .update_every = pp_schedule_update_every(b->schedule, head->micro_batches / steps),
        .has_tied = is_trained && b->has_tied,
        .joins_tied = b->joins_tied,
        .recompute_frac = b->recompute_frac,
        .again = b->wishes.again,
        .no_slots = true}; /* pp_build() assigns them once the lists are freed */
}

/* Makes a list, for few micro-batches if they may stand for all, and cuts it if that is allowed. */
static enum pp_status make_list(struct pp_arena *arena, const struct pp_build *b, bool is_few,
                                struct pp_build_list *list, struct pp_error *err)
{
    struct pp_shape shape = b->shape;
    const int steps = PP_MAX(1, shape.steps);

    if (is_few)
        shape.least =
            (int)PP_MIN(shape.micro_batches, pp_cut_least(shape.ranks, shape.pipelines, steps));
    PP_TRY(
        pp_schedule_lists(arena, b->schedule, &shape, b->costs, &list->orders, &list->head, err));
    const int left_out = list->orders->left_out;
    list->cut =
        b->may_cut ? pp_cut_lists(arena, steps, left_out, &list->orders, &list->head) : NULL;
    if (list->cut) {
        shape.micro_batches = list->head.micro_batches;
        pp_schedule_set_versions(b->schedule, &shape, list->orders);
    } else if (left_out > 0) {
        return make_list(arena, b, false, list, err);
    }
    return PP_OK;
}

enum pp_status pp_build_list(struct pp_arena *arena, const struct pp_build *build,
                             struct pp_build_list *list, struct pp_error *err)
{
    struct pp_build b = *build;

    PP_TRY(complete(arena, &b, err));
    return make_list(arena, &b, b.may_cut, list, err);
}

struct pp_least pp_build_least(const struct pp_build *b, const struct pp_build_list *list)
{
    if (!b->costs->memory)
        return (struct pp_least){0};
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_least_options options = {
        .pipelines = list->head.pipelines,
        .cells = list->head.granules * list->head.splits,
        .passes = list->head.passes,
        .recompute_frac = b->recompute_frac,
        .is_moved = pp_state_is_away(&b->state, PP_STATE_ACTIVATIONS) ||
                    (b->given && pp_program_has_kind(b->given, PP_Q))};
    return pp_memory_least(scratch, list->orders, list->cut, b->costs, &options);
}

/* Keeps the maps of a head whose lists end with their arena. */
static void keep_maps(struct pp_arena *arena, struct pp_program_head *head)
{
    const size_t places = (size_t)head->pipelines * (size_t)head->stages,
                 ids = (size_t)head->micro_batches * (size_t)head->granules;

    head->rank_of = memcpy(pp_arena_alloc_raw(arena, sizeof(uint16_t) * places), head->rank_of,
                           sizeof(uint16_t) * places);
    head->pipe_of = memcpy(pp_arena_alloc_raw(arena, sizeof(uint16_t) * ids), head->pipe_of,
                           sizeof(uint16_t) * ids);
}

/* Lowers a list. NULL as program if the instructions of a cut one do not repeat as its ops do. */
static enum pp_status lower_list(struct pp_arena *arena, const struct pp_build *b,
                                 const struct pp_build_list *list, struct pp_program **program,
                                 struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_lower_options options = options_of(arena, b, &list->head);
    struct pp_orders *lists = b->list ? pp_orders_copy(scratch, list->orders) : list->orders;

    PP_TRY(pp_lower_lists(arena, &list->head, &options, lists, program, err));
    if (list->cut && !pp_cut_bind(arena, list->cut, *program))
        *program = NULL;
    return PP_OK;
}

/* Lists of a schedule's own order are lowered without being frozen first. */
static enum pp_status build_list(struct pp_arena *arena, struct pp_build *b,
                                 struct pp_program **program, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_build_list list;

    PP_TRY(complete(arena, b, err));
    if (b->list)
        list = *b->list;
    else
        PP_TRY(pp_build_list(scratch, b, &list, err));
    if (b->most_bytes > 0 && pp_build_least(b, &list).bytes > b->most_bytes) {
        *program = NULL;
        return PP_OK;
    }
    keep_maps(arena, &list.head);
    PP_TRY(lower_list(arena, b, &list, program, err));
    if (*program)
        return PP_OK;
    b->list = NULL;
    b->may_cut = false;
    return build_list(arena, b, program, err);
}

static enum pp_status build_given(struct pp_arena *arena, struct pp_build *b,
                                  struct pp_program **program, struct pp_error *err)
{
    PP_TRY(pp_build_order(arena, b, err));
    const struct pp_program_head head = pp_program_head_of(b->given);
    const struct pp_lower_options options = options_of(arena, b, &head);
    return pp_lower(arena, b->given, &options, program, err);
}

enum pp_status pp_build(struct pp_arena *arena, const struct pp_build *build,
                        struct pp_program **program, struct pp_error *err)
{
    struct pp_build b = *build;

    PP_TRY(!b.given && b.order.rule == PP_ORDER_STRICT ? build_list(arena, &b, program, err)
                                                       : build_given(arena, &b, program, err));
    if (*program && !b.no_slots)
        pp_lower_slots(*program);
    return b.proves_result && *program ? pp_verify(*program, NULL, err) : PP_OK;
}
