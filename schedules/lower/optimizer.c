/* The optimizer: one U per chunk of a rank. It is after the WAITs for the sums of its gradients and
 * before the AG that returns its weights. Without sums it is at the end of the list.
 *
 * Parameters from another tier are updated in buffers, and MOVE.home takes them back. At most as
 * many as buffers are on their way. Updates that read parameters load them before, as far ahead as
 * buffers allow, and drop them when they are home. */
#include "schedules/lower/lists.h"
#include "schedules/lower/lower.h"

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
