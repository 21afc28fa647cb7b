/* Feed-forward matrices of a pass, of one layer or of several experts. */
#include "core/cost/generation/parts.h"

void pp_pass_add_grouped(struct pp_layer_kernels *list, const char *name, double tokens, double k,
                         double n, double count)
{
    PP_LAYER_MATRIX(list, .name = name, .tokens = tokens, .k = k, .n = n, .count = count);
    list->kernel[list->count - 1].launches = 1;
}

void pp_pass_add_mlp(struct pp_layer_kernels *list, double tokens, double width, double count)
{
    const struct pp_model *m = list->in->model;
    const double fan = m->is_gated ? 2 : 1;

    pp_pass_add_grouped(list, m->is_gated ? "gate, up" : "mlp up", tokens, m->hidden,
                        fan * width * list->scale, count);
    pp_layer_add_activation(list, tokens * width * count);
    pp_pass_add_grouped(list, "mlp down", tokens, width, m->hidden * list->scale, count);
}
