/* sim/simgrid/engines.c — finds engines of this build by name. */
#include "sim/simgrid/engines.h"

#include <string.h>

const struct pp_engine *pp_engine_default(bool is_unit)
{
    return is_unit ? &pp_engine_dag : pp_engines[0];
}

enum pp_status pp_engine_find(const char *name, const struct pp_engine **engine,
                              struct pp_error *err)
{
    for (int i = 0; pp_engines[i]; i++)
        if (!strcmp(pp_engines[i]->name, name)) {
            *engine = pp_engines[i];
            return PP_OK;
        }
    pp_error_set(err, PP_EINVAL, "--engine %s: this build does not have it", name);
    if (!strcmp(name, "simgrid-lmm"))
        pp_error_append(err,
                        "; it needs SimGrid 3.32 or later (Debian: libsimgrid-dev), then meson "
                        "setup --reconfigure and ninja; --engine simgrid needs nothing and "
                        "finds the same times");
    return PP_EINVAL;
}
