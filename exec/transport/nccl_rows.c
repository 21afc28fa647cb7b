/* Rows of experts by NCCL. Only devices know how many rows go from one replica to another, but NCCL
 * takes sizes from the host. A host that asks its device would wait in the middle of an op. So each
 * replica sends each other one as many rows as there can be. A kernel packs the rows of each into a
 * slot. One group of sends and receives swaps the slots, and a kernel takes rows out of them. Only
 * the stream waits, and what else is in a slot is not read.
 *
 * Numbers of rows have one size, so all replicas gather them. */
#include "exec/transport/gpu.h"

/* ---- plan ------------------------------------------------------------------------------------ */

int pp_nccl_group_of_rows(const struct pp_worker *w)
{
    const struct pp_machine *m = w->machine;

    return (w->rank * m->tp + w->tp_index) * (m->replicas / m->ep) + w->replica / m->ep;
}

int pp_nccl_plan_rows(struct pp_machine *m, struct pp_nccl_group *groups)
{
    for (int k = 0; k < m->worker_count && m->ep > 1; k++) {
        const struct pp_worker *w = &m->workers[k];
        int *members = PP_ARRAY(m->arena, int, m->ep);

        if (w->replica % m->ep > 0)
            continue;
        for (int member = 0; member < m->ep; member++)
            members[member] = pp_worker_at(m, w->rank, w->replica + member, w->tp_index)->index;
        groups[pp_nccl_group_of_rows(w)] =
            (struct pp_nccl_group){.name = pp_arena_printf(m->arena, "ep of rank %d", w->rank),
                                   .members = members,
                                   .count = m->ep,
                                   .has_swaps = true};
    }
    return m->ep > 1 ? m->worker_count / m->ep : 0;
}

/* Slots of rows that go, and of rows that come. */
size_t pp_nccl_rows_bytes(const struct pp_machine *m)
{
    const bool is_used = m->ep > 1 && (!m->transport->is_mapped || m->options.may_choose_transport);
    size_t most_bytes = 0;

    for (int stage = 0; stage < m->p->stages && is_used; stage++) {
        const size_t bytes = pp_stage_most_slot_bytes(m->options.stages[stage], m->options.kernels);
        most_bytes = bytes > most_bytes ? bytes : most_bytes;
    }
    return 2 * (size_t)m->ep * most_bytes;
}

/* ---- work ------------------------------------------------------------------------------------ */

void pp_nccl_issue_exchange(const struct pp_worker_exchange *exchange, void *stream,
                            struct pp_nccl_operation operation)
{
    const struct pp_worker *w = exchange->worker;
    struct pp_machine *m = w->machine;
    const struct pp_nccl_run *run = pp_gpu_of(m)->nccl;
    struct pp_error err = {0};

    operation.on = pp_group_exchange_among(exchange->of) == PP_AMONG_EP
                       ? run->first_of_rows + pp_nccl_group_of_rows(w)
                       : run->first_group + w->rank * m->replicas + w->replica;
    pp_device_fail_if(m, m->options.nccl->issue(run->nccl, &operation, stream, &err), &err);
}

static void gather_counts(const struct pp_worker_exchange *x, void *stream)
{
    const struct pp_rows_exchange *rows = &x->of->rows;
    const struct pp_nccl_piece piece = {
        .at = rows->to, .count = rows->row_bytes, .from = rows->from};

    pp_nccl_issue_exchange(
        x, stream,
        (struct pp_nccl_operation){
            .kind = PP_NCCL_GATHER, .type = PP_NCCL_BYTES, .pieces = &piece, .count = 1});
}

static void swap_rows(const struct pp_kernels *k, void *stream, const struct pp_worker_exchange *x)
{
    const struct pp_rows_exchange *rows = &x->of->rows;
    const size_t slot_bytes = pp_rows_slot_bytes(rows);
    char *out = pp_gpu_of(x->worker->machine)->nccl->room,
         *in = out + (size_t)rows->devices * slot_bytes;
    struct pp_nccl_piece pieces[PP_GROUP_MEMBERS];
    const void *from[PP_GROUP_MEMBERS];
    int count = 0;

    pp_rows_exchange_pack(k, stream, rows, out);
    for (int d = 0; d < rows->devices; d++) {
        const size_t slot = (size_t)d * slot_bytes;

        from[d] = (d == rows->index ? out : in) + slot;
        if (d != rows->index)
            pieces[count++] = (struct pp_nccl_piece){
                .at = in + slot, .count = slot_bytes, .root = d, .from = out + slot};
    }
    pp_nccl_issue_exchange(
        x, stream,
        (struct pp_nccl_operation){
            .kind = PP_NCCL_SWAP, .type = PP_NCCL_BYTES, .pieces = pieces, .count = count});
    pp_rows_exchange_unpack(k, stream, rows, from);
}

void pp_nccl_exchange_rows(const struct pp_kernels *k, void *stream,
                           const struct pp_worker_exchange *x)
{
    if (x->of->rows.way == PP_ROWS_COUNT)
        gather_counts(x, stream);
    else
        swap_rows(k, stream, x);
}
