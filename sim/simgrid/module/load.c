/* Loads the module on demand. */
#include "sim/simgrid/module/module.h"

#include <dlfcn.h>
#include <string.h>

/* Without a folder: the library path of the executable is searched. */
static const char MODULE[] = "pipesim-simgrid.so";

enum pp_status pp_simgrid_load(const struct pp_simgrid_module **module, struct pp_error *err)
{
    void *library = dlopen(MODULE, RTLD_LAZY | RTLD_LOCAL);

    *module = library ? dlsym(library, "pp_simgrid_module") : NULL;
    if (!*module)
        return pp_error_set(err, PP_EFAIL,
                            "cannot load SimGrid: %s\n  --engine simgrid needs no SimGrid",
                            dlerror());
    if ((*module)->abi != PP_SIMGRID_ABI || strcmp((*module)->version, PP_VERSION) != 0)
        return pp_error_set(err, PP_EFAIL,
                            "cannot load SimGrid: %s belongs to another build of pipesim", MODULE);
    return PP_OK;
}
