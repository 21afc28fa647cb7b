/* Projections of multi-head latent attention (DeepSeek-AI 2024, DeepSeek-V2, section 2.1): hidden
 * vectors become narrow ones. These are normalized and projected to queries, keys and values of all
 * heads. The narrow ones are whole on every device of a tensor-parallel group. */
#include "core/cost/layers/layers.h"

static void add_narrow(struct pp_layer_kernels *list, const char *name, double width, double rope)
{
    const double e = list->value_bytes;

    pp_layer_add_matrix(list, (struct pp_layer_matrix){.name = name,
                                                       .tokens = list->whole_tokens,
                                                       .k = list->in->model->hidden,
                                                       .n = width + rope});
    const int first = list->count;
    pp_layer_add_traffic(list, list->whole_tokens * width,
                         (struct pp_layer_traffic){"latent norm", {1, 2, 0}, {2 * e, 5 * e, 0}});
    pp_layer_mark(list, first, PP_AGAIN_LATENT);
}

static void add_wide(struct pp_layer_kernels *list, const char *name, double k, double n)
{
    const int first = list->count;

    pp_layer_add_matrix(
        list, (struct pp_layer_matrix){.name = name, .tokens = list->work.tokens, .k = k, .n = n});
    pp_layer_mark(list, first, PP_AGAIN_LATENT);
}

void pp_layer_add_latent(struct pp_layer_kernels *list)
{
    const struct pp_model *m = list->in->model;
    const struct pp_latent *l = &m->latent;
    const double heads = m->heads / (double)list->in->layout.tp;

    if (l->q_rank > 0)
        add_narrow(list, "queries down", l->q_rank, 0);
    add_wide(list, "queries", l->q_rank > 0 ? l->q_rank : m->hidden, heads * m->head_dim);
    add_narrow(list, "keys, values down", l->kv_rank, l->rope_dim);
    add_wide(list, "keys, values", l->kv_rank, heads * (m->head_dim - l->rope_dim + l->value_dim));
}
