/* The kernels of the embedding and of the head with the loss. */
#include "core/cost/layers/layers.h"

#include <math.h>

enum { MASK_BYTES = 1 };

/* Rows of the table are copied out; positions are added where the model has them, dropout is drawn
 * where it is trained with it. The gradient of the table is cleared, and the tokens' gradients are
 * added into it. Then it is added to the sum over micro-batches, a pass over the whole table. */
void pp_layer_add_embedding(struct pp_layer_kernels *list)
{
    const struct pp_model *m = list->in->model;
    const double e = list->value_bytes, t = list->work.tokens, h = m->hidden;

    pp_layer_add_traffic(list, t * h,
                         (struct pp_layer_traffic){"embedding", {1, 0, 1}, {2 * e, 0, 2 * e}});
    if (m->positions > 0)
        pp_layer_add_traffic(list, t * h,
                             (struct pp_layer_traffic){"positions", {2, 0, 1}, {5 * e, 0, e}});
    if (pp_cost_has_dropout(list->in))
        pp_layer_add_traffic(
            list, t * h,
            (struct pp_layer_traffic){
                "dropout", {1, 1, 0}, {2 * e + MASK_BYTES, 2 * e + MASK_BYTES, 0}});
    pp_layer_add_traffic(list, (double)m->vocab * h / list->in->layout.tp,
                         (struct pp_layer_traffic){
                             "table's gradient", {0, 0, 2}, {0, 0, 2 * (e + list->grad_bytes)}});
}

/* Rows of the output matrix on one device. */
static double vocabulary(const struct pp_cost_inputs *in)
{
    const double rows = (double)in->model->vocab / in->layout.tp;

    return pp_cost_framework(in)->pads_vocabulary ? 128 * ceil(rows / 128) : ceil(rows);
}

void pp_layer_add_head(struct pp_layer_kernels *list)
{
    const struct pp_model *m = list->in->model;
    const double *loss_bytes = pp_cost_framework(list->in)->loss_traffic_bytes;
    const double t = list->work.tokens, h = m->hidden, v = vocabulary(list->in);

    if (m->has_final_norm || m->has_mlm_head)
        pp_layer_add_norm(list);
    if (m->has_mlm_head)
        pp_layer_add_matrix(
            list, (struct pp_layer_matrix){
                      .name = "transform", .tokens = t, .k = h, .n = h / list->in->layout.tp});
    pp_layer_add_matrix(list, (struct pp_layer_matrix){
                                  .name = "logits", .tokens = t, .k = h, .n = v, .is_wide = true});
    pp_layer_add_traffic(
        list, t * v,
        (struct pp_layer_traffic){"cross entropy", {10, 6, 0}, {loss_bytes[0], loss_bytes[1], 0}});
}
