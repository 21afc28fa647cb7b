/* Loads the CUDA module, or says what is missing. */
#include "exec/cuda/module.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* No folder in the name: the library path of the executable decides. */
static const char MODULE[] = "pipeexec-cuda.so";
static const char VARIABLE[] = "PIPEEXEC_CUDA_MODULE";
#ifdef PP_CUDA_WHY_NOT
static const char NO_MODULE[] = "this build has no CUDA, because " PP_CUDA_WHY_NOT;
#else
static const char NO_MODULE[] = "the module is built together with pipeexec";
#endif

/* Messages of the loader begin with the name of a file: the module, or a library that it needs. */
static const char *advice_for(const char *reason, const char *name, bool is_given)
{
    const bool is_missing = strstr(reason, "cannot open shared object file") != NULL;
    const bool is_of_module = strncmp(reason, name, strlen(name)) == 0;

    if (is_given && is_of_module)
        return "PIPEEXEC_CUDA_MODULE names it; unset, it is the pipeexec-cuda.so of this build";
    if (!is_missing)
        return "it was built for other libraries than are here";
    return is_of_module
               ? NO_MODULE
               : "the module needs the libraries of CUDA: name their folder in LD_LIBRARY_PATH";
}

static enum pp_status cannot_load(const char *name, bool is_given, struct pp_error *err)
{
    const char *reason = dlerror();

    return pp_error_set(err, PP_EFAIL,
                        "--backend cuda: cannot load %s\n  %s\n  --backend cpu needs no CUDA",
                        reason, advice_for(reason, name, is_given));
}

enum pp_status pp_cuda_load(const struct pp_cuda_module **module, struct pp_error *err)
{
    const char *given = getenv(VARIABLE);
    const bool is_given = given && *given;
    const char *name = is_given ? given : MODULE;
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return cannot_load(name, is_given, err);
    *module = dlsym(library, "pp_cuda_module");
    if (!*module)
        return pp_error_set(err, PP_EFAIL, "--backend cuda: %s is no module of pipeexec%s", name,
                            is_given ? " (PIPEEXEC_CUDA_MODULE)" : "");
    if (strcmp((*module)->version, PP_VERSION) != 0 || (*module)->abi_bytes != PP_CUDA_ABI_BYTES)
        return pp_error_set(err, PP_EFAIL,
                            "--backend cuda: %s belongs to another build of pipeexec: build both "
                            "together%s",
                            name, is_given ? ", or unset PIPEEXEC_CUDA_MODULE" : "");
    return PP_OK;
}
