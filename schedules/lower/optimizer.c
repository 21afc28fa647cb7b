/* The optimizer: one U per chunk of a rank. It is after the WAITs for the sums of its gradients and
 * before the AG that returns its weights. Without sums it is at the end of the list.
 *
 * Parameters from another tier are updated in buffers, and MOVE.home takes them back. At most as
 * many as buffers are on their way. Updates that read parameters load them before, as far ahead as
 * buffers allow, and drop them when they are home. */
#include "schedules/lower/lists.h"
#include "schedules/lower/lower.h"

#include <string.h>

/* Is true for a WAIT for a sum that the weights of `stage` need. Scatters of visits are all waited
 * for before the sums of a step, or the end of the list. */
static bool is_sum_of(const struct pp_op *op, int stage)
{
    return op->purpose != PP_FOR_VISIT && op->purpose != PP_FOR_PART &&
           pp_lists_waits_for_sum(op, stage);
}

static int place_of(const struct pp_orders *lists, int rank, int stage)
{
    int place = lists->count[rank];

    for (int i = place - 1; i >= 0; i--) {
        if (is_sum_of(&lists->ops[rank][i], stage))
            return i + 1;
        if (pp_op_is_compute(lists->ops[rank][i].kind))
            break;
    }
    return place;
}

enum pp_status pp_lower_optimizer(const struct pp_lowering *l)
{
    const struct pp_program_head *head = l->head;

    if (!l->options->has_optimizer || head->mode == PP_MODE_INFER || pp_lists_have(l->lists, PP_U))
        return PP_OK;
    struct pp_inserts *inserts = PP_ARRAY(l->arena, struct pp_inserts, head->ranks);
    for (int pipe = 0; pipe < head->pipelines; pipe++)
        for (int stage = head->stages - 1; stage >= 0; stage--) {
            const int rank = head->rank_of[pipe * head->stages + stage];

            pp_inserts_add(l->arena, &inserts[rank], place_of(l->lists, rank, stage),
                           pp_stage_op(PP_U, stage, pipe));
        }
    for (int rank = 0; rank < head->ranks; rank++)
        pp_inserts_apply(l->arena, l->lists, rank, &inserts[rank]);
    return PP_OK;
}

/* ---- parameters from another tier ----------------------------------------------------------- */

/* Updates of a list whose parameters go home. */
struct homes {
    const struct pp_lowering *l;
    const struct pp_op *ops;
    int *at; /* [count] of U */
    int count, buffers;
    bool has_loads;
    struct pp_inserts *inserts;
};

static struct pp_op move_of(const struct homes *h, int k, enum pp_purpose purpose)
{
    const struct pp_op *update = &h->ops[h->at[k]];

    return pp_op_for(purpose, update->stage, update->pipe);
}

static void insert(const struct homes *h, int before, struct pp_op op)
{
    pp_inserts_add(h->l->arena, h->inserts, before, op);
}

/* Waits until update k is home, and gives its buffer back. */
static void arrive(const struct homes *h, int before, int k)
{
    if (k < 0 || k >= h->count)
        return;
    insert(h, before, pp_op_wait(move_of(h, k, PP_FOR_HOME)));
    if (h->has_loads)
        insert(h, before, pp_stage_op(PP_DROP, h->ops[h->at[k]].stage, h->ops[h->at[k]].pipe));
}

static void load(const struct homes *h, int before, int k)
{
    if (k < h->count)
        insert(h, before, move_of(h, k, PP_FOR_RELOAD));
}

/* Loads run ahead as far as buffers allow, but at least one. */
static void load_updates(const struct homes *h)
{
    const int ahead = h->buffers > 1 ? h->buffers - 1 : 1;

    for (int k = 0; k < ahead; k++)
        load(h, h->at[0], k);
    for (int k = 0; k < h->count; k++) {
        insert(h, h->at[k], pp_op_wait(move_of(h, k, PP_FOR_RELOAD)));
        if (k + ahead < h->count)
            arrive(h, h->at[k] + 1, k + ahead - h->buffers);
        load(h, h->at[k] + 1, k + ahead);
    }
}

void pp_lower_homes(const struct pp_lowering *l, int rank, struct pp_inserts *inserts)
{
    const struct pp_lower_options *o = l->options;
    const int count = l->lists->count[rank];
    struct homes h = {l,
                      l->lists->ops[rank],
                      PP_ARRAY(l->arena, int, count + 1),
                      0,
                      count,
                      pp_lower_loads_updates(o),
                      inserts};

    for (int i = 0; i < count; i++)
        if (h.ops[i].kind == PP_U)
            h.at[h.count++] = i;
    if (h.count == 0)
        return;
    h.buffers = o->has_whole_updates && o->state.buffers > 0 ? o->state.buffers : h.count;
    if (h.has_loads)
        load_updates(&h);
    for (int k = 0; k + h.buffers < h.count && !h.has_loads; k++)
        arrive(&h, h.at[k + h.buffers], k);
    for (int k = h.count > h.buffers ? h.count - h.buffers : 0; k < h.count; k++)
        arrive(&h, count, k);
}

enum pp_status pp_lower_check_homes(const struct pp_lowering *l)
{
    const struct pp_lower_options *o = l->options;

    if (!o->has_whole_updates || o->state.buffers == 0 || !pp_state_is_spread(&o->state) ||
        !pp_state_moves(&o->state, PP_FOR_HOME))
        return PP_OK;
    for (int rank = 0; rank < l->lists->ranks; rank++) {
        int updates = 0;

        for (int i = 0; i < l->lists->count[rank]; i++)
            updates += l->lists->ops[rank][i].kind == PP_U;
        if (updates > o->state.buffers)
            return pp_error_set(l->err, PP_EINVAL,
                                "--gather-buffers %d: rank %d updates shares of %d chunks before "
                                "it gathers the first, and each has a buffer until it is home; "
                                "nearest: --gather-buffers %d, or --zero 0",
                                o->state.buffers, rank, updates, updates);
    }
    return PP_OK;
}

/* ---- clipping -------------------------------------------------------------------------------- */

/* Clipping by the norm of all gradients: no rank may update a weight before every rank has all its
 * sums. From the first U of a list on, updates move to the end with the gathers and moves of what
 * they update, in their order. All ranks meet in a BAR before them. */

/* Is true for an op that belongs after the meeting of all ranks. */
static bool is_after_clip(const struct pp_op *op)
{
    const int kind = op->kind == PP_WAIT ? op->aux : op->kind;

    return kind == PP_U || kind == PP_AG || kind == PP_BC ||
           (kind == PP_MOVE && pp_purposes[op->purpose].when >= PP_AS_UPDATE);
}

/* Is true if a BAR is after all sums and backwards of a list and before its first update. */
static bool is_clipped(const struct pp_orders *lists, int rank)
{
    const int update = pp_lists_next_update(lists, rank, 0);

    for (int i = update; i < lists->count[rank]; i++)
        if (!is_after_clip(&lists->ops[rank][i]))
            return false;
    for (int i = update - 1; i >= 0; i--) {
        const struct pp_op *op = &lists->ops[rank][i];
        if (op->kind == PP_BAR)
            return true;
        if (pp_op_is_compute(op->kind) || (op->kind == PP_WAIT && pp_op_is_collective(op->aux)))
            return false;
    }
    return false;
}

static bool are_all_clipped(const struct pp_orders *lists)
{
    for (int rank = 0; rank < lists->ranks; rank++)
        if (!is_clipped(lists, rank))
            return false;
    return true;
}

static void clip(struct pp_arena *arena, struct pp_orders *lists, int rank)
{
    const int update = pp_lists_next_update(lists, rank, 0), count = lists->count[rank];
    struct pp_op *ops = lists->ops[rank];
    struct pp_op *after = PP_ARRAY(arena, struct pp_op, count - update);
    int before_end = update, after_count = 0;
    struct pp_inserts meeting = {0};

    for (int i = update; i < count; i++)
        if (is_after_clip(&ops[i]))
            after[after_count++] = ops[i];
        else
            ops[before_end++] = ops[i];
    memcpy(ops + before_end, after, sizeof(*ops) * (size_t)after_count);
    pp_inserts_add(arena, &meeting, before_end, pp_stage_op(PP_BAR, 0, 0));
    pp_inserts_apply(arena, lists, rank, &meeting);
}

enum pp_status pp_lower_clip(const struct pp_lowering *l)
{
    if (!l->options->has_clip || !pp_lists_have(l->lists, PP_U) || are_all_clipped(l->lists))
        return PP_OK;
    for (int rank = 0; rank < l->lists->ranks; rank++)
        clip(l->arena, l->lists, rank);
    return PP_OK;
}
