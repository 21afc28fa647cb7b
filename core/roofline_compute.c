#include "core/roofline_parts.h"

double pp_dtype_bytes(const struct pp_device *device)
{
    return device->precision == PP_PRECISION_FP32 || device->precision == PP_PRECISION_TF32 ? 4 : 2;
}

struct pp_work pp_roofline_work(const struct pp_cost_inputs *in, int split)
{
    const struct pp_layout *l = &in->layout;
    const double splits = in->splits, seq = l->seq;
    struct pp_work work = {
        .tokens = (double)l->mbs * seq / l->cp / splits,
        .context = seq,
    };

    /* A split attends to itself and to what came before. Fused kernels skip the masked half of
     * the diagonal, others compute whole rectangles. */
    if (in->model->is_causal)
        work.context = in->cluster->device.is_attention_unfused ? seq * (split + 1) / splits
                                                                : seq * (split + 0.5) / splits;
    return work;
}

/* Of the whole list, or of the kernels between the projections only. */
static struct pp_compute sum_of(const struct pp_layer_kernels *list, bool core_only)
{
    struct pp_compute sum = {0};

    for (int i = 0; i < list->count; i++) {
        const struct pp_kernel *kernel = &list->kernel[i];
        if (core_only && !kernel->is_core)
            continue;
        const double s = pp_kernel_time(&list->in->cluster->device, kernel).s;
        sum.s += s;
        sum.bytes += kernel->bytes;
        sum.matrix_s += kernel->kind == PP_KERNEL_GEMM ? s : 0;
        sum.launches += kernel->launches;
    }
    return sum;
}

struct pp_compute pp_roofline_layer(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                    struct pp_work work, enum pp_pass pass)
{
    struct pp_layer_kernels list;

    pp_layer_kernels(in, kind, work, pass, &list);
    return sum_of(&list, false);
}

struct pp_compute pp_roofline_attention(const struct pp_cost_inputs *in, struct pp_work work)
{
    struct pp_layer_kernels list;

    pp_layer_kernels(in, PP_LAYER_BLOCK, work, PP_PASS_F, &list);
    return sum_of(&list, true);
}
