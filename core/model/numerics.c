/* The usual numbers of a training, where a model leaves them open. */
#include "core/model/model.h"

struct pp_numerics pp_model_numerics(const struct pp_model *model)
{
    struct pp_numerics n = model->numerics;

    if (!n.activation)
        n.activation = model->is_gated ? "silu" : "gelu_new";
    if (n.norm_epsilon == 0) /* of GPT-2 and Llama 2 */
        n.norm_epsilon = 1e-5;
    if (n.rope.theta == 0) /* Su et al. 2021 */
        n.rope.theta = 10000;
    if (n.rope.frac == 0)
        n.rope.frac = 1;
    if (n.embedding_scale == 0)
        n.embedding_scale = 1;
    return n;
}
