#include "exec/tcp_hello.h"

#include "core/hash.h"

/* Of all that must be alike beside the program. */
static uint64_t run_hash(const struct pp_machine *m)
{
    const struct pp_recipe *r = m->options.recipe;
    const struct pp_net *n = m->options.stages[0]->net;
    const struct pp_batch *b = m->options.batch;
    const double numbers[] = {(double)r->seed, r->is_exact, r->rate, r->end_rate, r->warmup_steps,
                              r->steps, r->beta1, r->beta2, r->epsilon, r->decay, r->clip, n->layers,
                              n->hidden, n->heads, n->kv_heads, n->ffn, n->vocab, n->seq,
                              n->has_positions, n->is_gated, n->is_tied, n->is_rms, b->replicas,
                              b->micro_batches, b->mbs, b->granules, b->splits,
                              (double)m->options.kernels->element_bytes, m->options.clock, m->options.has_durations};

    return pp_hash(PP_HASH_OF_NOTHING, numbers, sizeof(numbers));
}

struct pp_hello pp_tcp_hello(const struct pp_tcp *t)
{
    return (struct pp_hello){.magic = PP_HELLO_MAGIC,
                             .frame_bytes = sizeof(struct pp_frame),
                             .token = t->token,
                             .node = t->node,
                             .nodes = t->nodes,
                             .program_hash = t->m->program_hash,
                             .run_hash = run_hash(t->m)};
}

enum pp_status pp_tcp_check_hello(const struct pp_tcp *t, const struct pp_hello *own,
                                  const struct pp_hello *h, struct pp_error *err)
{
    if (h->frame_bytes != own->frame_bytes)
        return pp_error_set(err, PP_EFAIL, "a caller is no pipeexec of this version");
    if (h->nodes != own->nodes)
        return pp_error_set(err, PP_EFAIL, "process %d says that there are %d processes, the first %d",
                            h->node, h->nodes, own->nodes);
    if (h->node <= 0 || h->node >= t->nodes || t->links[h->node].fd >= 0)
        return pp_error_set(err, PP_EFAIL, "there are two processes %d, or none should be", h->node);
    if (h->program_hash != own->program_hash)
        return pp_error_set(err, PP_EFAIL,
                            "process %d runs program %016llx, process 0 runs %016llx: give all the "
                            "same schedule and layout",
                            h->node, (unsigned long long)h->program_hash,
                            (unsigned long long)own->program_hash);
    if (h->run_hash != own->run_hash)
        return pp_error_set(err, PP_EFAIL,
                            "process %d runs the same program with another model, batch, recipe or "
                            "clock than process 0: give all the same options",
                            h->node);
    return PP_OK;
}
