/* Options that lower what a rank without room needs. */
#include "exec/machine/parts.h"

static int count_kind(const struct pp_program *p, int rank, int kind)
{
    int count = 0;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
        count += p->kind[i] == kind;
    return count;
}

/* bf16 halves activations, but its master weights, if it trains, take more than its weights save.
 */
static bool does_bf16_help(const struct pp_machine *m, const struct pp_rank_layout *l)
{
    if (m->options.generation)
        return m->options.kernels->element_bytes >= sizeof(float);
    const struct pp_batch *b = m->options.batch;
    const int seq = m->options.stages[0]->net->seq / b->splits;
    const size_t bytes = m->options.kernels->element_bytes;

    return b->mbs / b->granules * seq % 2 == 0 &&
           (bytes > sizeof(float) ||
            (bytes == sizeof(float) && l->activations_bytes > l->params_bytes));
}

void pp_room_help(const struct pp_machine *m, double needed_bytes, int rank, struct pp_error *err)
{
    static const double LEAST_FRAC = 0.05; /* of what is needed, to be worth an option */
    const struct pp_rank_layout *l = &m->layout[rank];
    const struct pp_batch *b = m->options.batch;
    const struct pp_net *net = m->options.stages[0]->net;
    const bool alone = pp_is_alone(m), has_forwards = count_kind(m->p, rank, PP_F) > 1;
    const double least_bytes = LEAST_FRAC * needed_bytes / (alone ? 1 : m->worker_count);
    const bool has_activations = (double)l->activations_bytes >= least_bytes;
    const bool generates = m->options.generation != NULL;
    const int in_flight = l->slots[PP_SLOT_KEPT] + l->slots[PP_SLOT_SAVED];
    const struct {
        bool helps;
        const char *option;
    } all[] = {
        {alone && net->layers > m->stages, "a higher --np"},
        {has_activations && b->splits == 1 && count_kind(m->p, rank, PP_R) == 0 &&
             l->slots[PP_SLOT_SAVED] > 1,
         "--recompute full"},
        {(generates || has_activations) && does_bf16_help(m, l), "--precision bf16"},
        {!generates && m->cuts[0].optimizer == 1 && m->replicas * m->p->pipelines > 1, "--zero 1"},
        {generates && has_activations, "a lower --batch"},
        {(double)m->options.reserved_bytes >= least_bytes, "--no-check"},
        {!alone && m->replicas > 1, "a lower --dp"},
        {!generates && has_activations && has_forwards && in_flight >= count_kind(m->p, rank, PP_F),
         "fewer --micro-batches"},
        {!generates && has_activations && b->mbs > b->granules, "a lower --mbs"},
        {!generates && has_activations && net->seq > 1, "a lower --seq"},
        {net->layers > 1, "fewer --layers"},
        {true, "a lower --hidden"},
    };

    for (size_t i = 0, told = 0; i < PP_COUNT(all); i++)
        if (all[i].helps)
            pp_error_append(err, "%s%s", told++ ? ", " : "; try ", all[i].option);
}
