/* Asynchronous updates: after the last backward of every few micro-batches a chunk sums its
 * gradients and updates its weights, while other ranks continue. The WAIT directly follows the sum,
 * as in PipeDream and PipeDream-2BW. A tied embedding is not summed: its two copies belong to
 * different versions (PipeDream has none). */
#include "schedules/lower/lists.h"
#include "schedules/lower/lower.h"

struct updates {
    const struct pp_lowering *l;
    int64_t *done; /* [pipe * stages + stage]: (granule, split) cells whose backward has run */
};

static void add(const struct updates *u, struct pp_inserts *inserts, int before, struct pp_op op)
{
    pp_inserts_add(u->l->arena, inserts, before, op);
}

/* Adds all buckets of a collective, then WAITs for them. */
static void add_collective(const struct updates *u, struct pp_inserts *inserts, int before,
                           struct pp_op op)
{
    op.buckets = (uint8_t)pp_lower_buckets(u->l->options, op.stage);
    for (int is_wait = 0; is_wait < 2; is_wait++) {
        op.bucket = 0;
        do
            add(u, inserts, before, is_wait ? pp_op_wait(op) : op);
        while (++op.bucket < op.buckets);
    }
}

/* Adds the sum of a scatter's results over the groups of shards. */
static void add_rest(const struct updates *u, struct pp_inserts *inserts, int before,
                     struct pp_op op)
{
    op.kind = PP_AR;
    op.purpose = PP_FOR_REST;
    add(u, inserts, before, op);
    add(u, inserts, before, pp_op_wait(op));
}

static void add_update(const struct updates *u, struct pp_inserts *inserts, int before,
                       const struct pp_op *backward)
{
    const uint8_t sum = pp_state_is_spread(&u->l->options->state) ? PP_RS : PP_AR;
    struct pp_op op = pp_stage_op(sum, backward->stage, backward->pipe);

    if (u->l->options->has_sync)
        add_collective(u, inserts, before, op);
    if (u->l->options->has_sync && pp_state_has_rest(&u->l->options->state))
        add_rest(u, inserts, before, op);
    op.kind = PP_U;
    if (u->l->options->has_optimizer)
        add(u, inserts, before, op);
    op.kind = PP_AG;
    if (u->l->options->has_sync && sum == PP_RS)
        add_collective(u, inserts, before, op);
}

static void update_rank(const struct updates *u, int rank)
{
    const struct pp_program_head *head = u->l->head;
    struct pp_orders *lists = u->l->lists;
    const int64_t each = (int64_t)u->l->options->update_every * head->granules * head->splits;
    struct pp_inserts inserts = {0};

    for (int i = 0; i < lists->count[rank]; i++) {
        const struct pp_op *op = &lists->ops[rank][i];
        if (op->kind != PP_B && op->kind != PP_W)
            continue;
        int64_t *done = &u->done[op->pipe * head->stages + op->stage];
        const int64_t updates = *done / each;
        *done += op->granules;
        if (*done / each == updates)
            continue;
        int before = i + 1; /* the gradient for the stage before is sent first */
        while (before < lists->count[rank] && pp_op_is_send(lists->ops[rank][before].kind))
            before++;
        add_update(u, &inserts, before, op);
    }
    pp_inserts_apply(u->l->arena, lists, rank, &inserts);
}

enum pp_status pp_lower_updates(const struct pp_lowering *l)
{
    const struct pp_program_head *head = l->head;
    const struct updates u = {
        l, PP_ARRAY(l->arena, int64_t, (size_t)head->pipelines * (size_t)head->stages)};

    if (head->mode == PP_MODE_INFER || pp_lists_have(l->lists, PP_U))
        return PP_OK;
    for (int rank = 0; rank < head->ranks; rank++)
        update_rank(&u, rank);
    return PP_OK;
}
