#include "core/framework.h"

#include "core/options.h"

#include <stddef.h>

const struct pp_framework pp_frameworks[] = {
    {.name = "plain",
     .title = "no framework: kernels, messages and tensors only",
     .source = "by definition",
     .params_bytes = 2,
     .grads_bytes = 2,
     .optimizer_bytes = 12,
     .has_gather_overlap = true},
    {.name = NULL},
};

enum { NAMES_MAX = 32 };

enum pp_status pp_framework_find(const char *name, const struct pp_framework **framework,
                                 struct pp_error *err)
{
    const char *names[NAMES_MAX];
    size_t count = 0;

    for (const struct pp_framework *f = pp_frameworks; f->name != NULL; f++) {
        if (pp_same_name(name, f->name)) {
            *framework = f;
            return PP_OK;
        }
        if (count + 1 < NAMES_MAX)
            names[count++] = f->name;
    }
    names[count] = NULL;
    const char *near = pp_suggest(name, names);
    pp_error_set(err, PP_EINVAL, "--framework: unknown '%.60s': ", name);
    if (near != NULL)
        return pp_error_append(err, "did you mean '%s'?", near);
    pp_error_append(err, "built in are");
    for (const struct pp_framework *f = pp_frameworks; f->name != NULL; f++)
        pp_error_append(err, " %s", f->name);
    return PP_EINVAL;
}
