/* Precision, attention, tensor parallelism between the matrices: what the kernels of a layer are.
 */
#include "sim/resolve/resolve.h"

enum { ATTENTION_FUSED, ATTENTION_FIRST, ATTENTION_UNFUSED }; /* the choices of --attention */

static enum pp_status resolve_precision(const struct pp_request *request, struct pp_config *config,
                                        struct pp_error *err)
{
    const struct pp_option_value *value = pp_request_get(request, "precision", NULL);

    if (!value)
        return PP_OK;
    return pp_device_set_precision(&config->cluster.device, (enum pp_precision)value->integer, err);
}

enum pp_status pp_resolve_kernels(const struct pp_request *request, struct pp_config *config,
                                  struct pp_error *err)
{
    const struct pp_option_value *attention = pp_request_get(request, "attention", NULL);
    const struct pp_option_value *sequence = pp_request_get(request, "sequence-parallel", NULL);
    const struct pp_option_value *overlap = pp_request_get(request, "tp-overlap", NULL);

    PP_TRY(resolve_precision(request, config, err));
    if (attention) {
        config->cluster.device.is_attention_unfused = attention->integer == ATTENTION_UNFUSED;
        config->cluster.device.is_attention_first = attention->integer == ATTENTION_FIRST;
    }
    config->costs.is_tp_only = sequence && sequence->integer == 1;
    config->costs.tp_overlap_frac = overlap ? overlap->number : 0;
    if (config->costs.tp_overlap_frac > 1)
        return pp_error_set(err, PP_EINVAL, "--tp-overlap %s: a share lies between 0 and 1",
                            overlap->text);
    return PP_OK;
}
