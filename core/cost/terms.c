/* Bytes of values and abilities that follow from framework, model and device together. */
#include "core/cost/terms.h"

double pp_dtype_bytes(const struct pp_device *device)
{
    return device->precision == PP_PRECISION_FP32 || device->precision == PP_PRECISION_TF32 ? 4 : 2;
}

/* A scale and a minimum of 16 bits each for 128 values, as formats of 4 bits have them (AWQ, GPTQ).
 * In 8 bits a scale belongs to a column of a matrix, whose bytes do not count. Products in few bits
 * read weights in those, nvfp4 with a scale for 16 values. */
double pp_cost_weight_bytes(const struct pp_cost_inputs *in)
{
    static const double group = 128, scale_bytes = 4;
    static const double own_bytes[PP_PRECISIONS] = {
        [PP_PRECISION_FP8] = 1, [PP_PRECISION_NVFP4] = 0.5625};
    const struct pp_device *device = &in->cluster->device;
    const int bits = in->generation ? in->generation->weight_bits : 0;

    if (bits > 0)
        return bits < 8 ? bits / 8.0 + scale_bytes / group : bits / 8.0;
    return in->generation && pp_precision_is_narrow(device->precision)
               ? own_bytes[device->precision]
               : pp_dtype_bytes(device);
}

const struct pp_framework *pp_cost_framework(const struct pp_cost_inputs *in)
{
    return in->framework ? in->framework : pp_framework_plain;
}

bool pp_cost_has_dropout(const struct pp_cost_inputs *in)
{
    return !in->generation && !in->model->is_gated && pp_cost_framework(in)->has_dropout;
}

bool pp_cost_is_fp16(const struct pp_cost_inputs *in)
{
    return in->cluster->device.precision == PP_PRECISION_FP16;
}

struct pp_class_bytes pp_cost_state_bytes(const struct pp_cost_inputs *in)
{
    const struct pp_framework *f = pp_cost_framework(in);

    if (pp_dtype_bytes(&in->cluster->device) > 2)
        return (struct pp_class_bytes){.params = 4, .grads = 4, .optimizer = 8};
    return (struct pp_class_bytes){.params = f->params_bytes,
                                   .grads =
                                       pp_cost_is_fp16(in) ? f->fp16_grads_bytes : f->grads_bytes,
                                   .optimizer = f->optimizer_bytes};
}

struct pp_value_bytes pp_cost_value_bytes(const struct pp_cost_inputs *in)
{
    return (struct pp_value_bytes){.params = pp_dtype_bytes(&in->cluster->device),
                                   .grads = pp_cost_state_bytes(in).grads};
}

bool pp_cost_has_fused_experts(const struct pp_cost_inputs *in)
{
    const struct pp_device *device = &in->cluster->device;

    /* formats with scales of blocks come with 4-bit products: Blackwell */
    return pp_cost_framework(in)->has_fused_experts && in->model->experts.count > 0 &&
           device->precision == PP_PRECISION_FP8 && device->fp4_flops_per_s > 0;
}

bool pp_cost_has_graph(const struct pp_cost_inputs *in)
{
    return in->is_graph || pp_cost_has_fused_experts(in);
}
