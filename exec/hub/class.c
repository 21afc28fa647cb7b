/* The class of config.json: its head must be the one that is trained. */
#include "exec/hub/families.h"

#include "core/text/file.h"

#include <string.h>

/* Ends of classes with the head that is trained. */
static const char *const decoders[] = {"ForCausalLM", "LMHeadModel"};
static const char *const encoders[] = {"ForMaskedLM", "ForPreTraining"};

/* Models without a head are trained with that of the embedding. */
static bool is_bare(const char *class)
{
    return pp_has_suffix(class, "Model") && !strstr(class, "Head");
}

enum pp_status pp_hub_check_class(const struct pp_model *model, struct pp_error *err)
{
    const char *class = model->architecture;
    const char *const *ends = model->is_causal ? decoders : encoders;
    const struct pp_hub_family *family;

    if (!class || is_bare(class) || pp_has_suffix(class, ends[0]) || pp_has_suffix(class, ends[1]))
        return PP_OK;
    const char *nearest = pp_hub_family(model, &family, err) == PP_OK ? family->architecture : NULL;
    pp_error_set(err, PP_EINVAL,
                 "%.80s: the head of '%.80s' in architectures is not trained here: legal are "
                 "classes in %s, %s, or Model without a head",
                 model->name, class, ends[0], ends[1]);
    return nearest ? pp_error_append(err, "; nearest: %s", nearest) : err->status;
}
