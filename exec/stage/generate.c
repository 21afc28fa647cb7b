/* Stages that generate: what can, the whole model, bytes of cache and logits, a choice. */
#include "exec/stage/generate.h"

#include "exec/stage/graph.h"
#include "kernels/numbers.h"

enum pp_status pp_net_check_context(const struct pp_net *net, int context, struct pp_error *err)
{
    if (net->is_encoder)
        return pp_error_set(err, PP_EINVAL,
                            "model '%.80s' is an encoder, whose tokens meet those after them: it "
                            "cannot generate; models of other families can, as tiny, gpt2",
                            net->name);
    if (context > net->seq)
        return pp_error_set(err, PP_EINVAL,
                            "prompt and tokens take %d positions, but model '%.80s' has %d here: "
                            "expected at most %d",
                            context, net->name, net->seq, net->seq);
    return PP_OK;
}

/* ---- the whole model ------------------------------------------------------------------------- */

struct pp_stage *pp_stage_whole_generating(struct pp_arena *arena, const struct pp_net *net,
                                           int rows, int tokens, int context,
                                           struct pp_stage_share share,
                                           const struct pp_kernels *kernels)
{
    const struct pp_stage_shape shape = {.blocks = net->layers,
                                         .has_embedding = true,
                                         .has_head = true,
                                         .rows = rows,
                                         .tokens = tokens,
                                         .splits = 1,
                                         .tp = share.tp,
                                         .tp_index = share.tp_index,
                                         .etp = share.etp,
                                         .context = context};

    return pp_stage_create(arena, net, &shape, kernels);
}

/* ---- cache and logits ------------------------------------------------------------------------ */

size_t pp_stage_cache_bytes(const struct pp_stage *stage, int sequences)
{
    return (size_t)sequences * pp_stage_sequence_bytes(stage);
}

size_t pp_stage_logits_bytes(const struct pp_stage *stage)
{
    return stage->graph->logits ? stage->graph->logits->bytes : 0;
}

void pp_stage_read_logits(const struct pp_stage *stage, const void *logits, int row, double *to)
{
    const struct pp_stage_graph *g = stage->graph;
    const struct pp_stage_shape *shape = &stage->shape;

    for (int t = 0; t < (shape->tp > 1 ? shape->tp : 1); t++) {
        const struct pp_words words = pp_net_words(stage->net, shape->tp, t);
        const int64_t first = ((int64_t)t * shape->rows + row) * g->logits_width;

        for (int i = 0; i < words.count; i++)
            to[words.first + i] = pp_number_get(logits, g->element_bytes, first + i);
    }
}

/* NaN is never larger. */
int32_t pp_choose_largest(void *closure, int sequence, int position, const double *logits,
                          int words)
{
    int32_t best = 0;

    (void)closure;
    (void)sequence;
    (void)position;
    for (int32_t i = 1; i < words; i++)
        if (logits[i] > logits[best])
            best = i;
    return best;
}
