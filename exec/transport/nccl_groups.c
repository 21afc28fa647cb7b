/* Exchanges of groups of devices by NCCL, as operations of the worker's own stream. Its operations
 * wait for all members, and a part is free when they are over. So groups need no meeting.
 *
 * NCCL chooses the order in which it adds. So with exact gradients each member gathers the parts of
 * all and adds them in order. Else it adds on the way: AllReduce, or ReduceScatter. */
#include "exec/transport/gpu.h"

/* ---- plan ------------------------------------------------------------------------------------ */

/* Groups of devices that share each block. */
static int plan_blocks(struct pp_machine *m, struct pp_nccl_group *groups)
{
    const int count = m->tp > 1 ? m->p->ranks * m->replicas : 0;

    for (int g = 0; g < count; g++) {
        int *members = PP_ARRAY(m->arena, int, m->tp);

        for (int t = 0; t < m->tp; t++)
            members[t] = pp_worker_at(m, g / m->replicas, g % m->replicas, t)->index;
        groups[g] = (struct pp_nccl_group){
            .name = pp_arena_printf(m->arena, "tp of rank %d", g / m->replicas),
            .members = members,
            .count = m->tp};
    }
    return count;
}

void pp_nccl_plan_groups(struct pp_machine *m, struct pp_nccl_run *run,
                         struct pp_nccl_group *groups)
{
    run->first_group = run->plan.group_count;
    run->plan.group_count += plan_blocks(m, groups + run->plan.group_count);
    run->first_of_rows = run->plan.group_count;
    run->plan.group_count += pp_nccl_plan_rows(m, groups + run->plan.group_count);
}

size_t pp_nccl_room_bytes(const struct pp_machine *m)
{
    const size_t rows_bytes = pp_nccl_rows_bytes(m);
    size_t most_bytes = 0;

    for (int stage = 0; stage < m->p->stages && m->tp > 1; stage++) {
        const size_t bytes =
            pp_stage_most_exchanged_bytes(m->options.stages[stage], m->options.kernels);
        most_bytes = bytes > most_bytes ? bytes : most_bytes;
    }
    most_bytes = (size_t)m->tp * pp_whole_lines(most_bytes);
    return rows_bytes > most_bytes ? rows_bytes : most_bytes;
}

enum pp_status pp_nccl_open_groups(struct pp_machine *m, struct pp_nccl_run *run,
                                   struct pp_error *err)
{
    void *room = NULL;

    if (pp_nccl_room_bytes(m) > 0)
        PP_TRY(m->backend->alloc(m->device, pp_nccl_room_bytes(m), &room, err));
    run->room = room;
    return PP_OK;
}

/* ---- work ------------------------------------------------------------------------------------ */

struct exchange {
    const struct pp_kernels *k;
    void *stream;
    const struct pp_worker_exchange *apart;
    const struct pp_group_exchange *of;
    int members;
    size_t part_bytes; /* of each member */
};

static enum pp_nccl_type type_of(const struct exchange *x)
{
    return pp_rule_element_bytes(x->k, x->of->rule) == sizeof(float) ? PP_NCCL_FLOAT : PP_NCCL_BF16;
}

static void issue(const struct exchange *x, enum pp_nccl_kind kind, enum pp_nccl_type type,
                  size_t count, void *to)
{
    const struct pp_nccl_piece piece = {.at = to, .count = count, .from = x->of->from};

    pp_nccl_issue_exchange(
        x->apart, x->stream,
        (struct pp_nccl_operation){.kind = kind, .type = type, .pieces = &piece, .count = 1});
}

static void *room_of(const struct exchange *x)
{
    return pp_gpu_of(x->apart->worker->machine)->nccl->room;
}

static void gather(const struct exchange *x)
{
    issue(x, PP_NCCL_GATHER, PP_NCCL_BYTES, x->part_bytes, x->of->to);
}

static void join_in_order(const struct exchange *x)
{
    char *room = room_of(x);
    const void *from[PP_GROUP_MEMBERS];

    issue(x, PP_NCCL_GATHER, PP_NCCL_BYTES, x->part_bytes, room);
    for (int t = 0; t < x->members; t++)
        from[t] = room + (size_t)t * x->part_bytes;
    pp_group_exchange_run(x->k, x->stream, x->of, x->members, from);
}

static void sum(const struct exchange *x)
{
    issue(x, PP_NCCL_SUM, type_of(x), (size_t)x->of->count, x->of->to);
}

static void scatter(const struct exchange *x)
{
    void *share = x->of->base ? room_of(x) : x->of->to;
    const void *const parts[] = {share, x->of->base};

    issue(x, PP_NCCL_SCATTER, type_of(x), (size_t)x->of->count, share);
    if (x->of->base)
        x->k->sum(x->stream, x->of->count, 2, parts, x->of->to);
}

static const struct {
    void (*run)(const struct exchange *x), (*run_exactly)(const struct exchange *x);
} RULES[PP_RULES] = {
    [PP_RULE_SUM] = {sum, join_in_order},
    [PP_RULE_SUM_OF_G] = {sum, join_in_order},
    [PP_RULE_MAX_OF_G] = {join_in_order, join_in_order},
    [PP_RULE_SCATTER] = {scatter, join_in_order},
    [PP_RULE_GATHER] = {gather, gather},
};

void pp_nccl_exchange(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_worker_exchange *of = argument;
    const struct pp_machine *m = of->worker->machine;
    const size_t bytes = (size_t)pp_group_exchange_bytes(k, m->tp, of->of);
    const struct exchange x = {
        k,      stream, of,
        of->of, m->tp,  of->of->rule == PP_RULE_GATHER ? bytes / (size_t)m->tp : bytes};

    if (pp_group_exchange_among(of->of) == PP_AMONG_EP) {
        pp_nccl_exchange_rows(k, stream, of);
        return;
    }
    (m->options.recipe->is_exact ? RULES[of->of->rule].run_exactly : RULES[of->of->rule].run)(&x);
}
