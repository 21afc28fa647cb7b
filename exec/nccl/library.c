/* Loads NCCL on demand. */
#include "exec/nccl/parts.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static const char FILE_NAME[] = "libnccl.so.2";
static const char VARIABLE[] = "PIPEEXEC_NCCL_LIBRARY";
/* First version with a limit on what a communicator takes of the device. */
enum { OLDEST = NCCL_VERSION(2, 18, 0) };

static const struct {
    const char *name;
    size_t at;
} symbols[] = {
#define SYMBOL(name) {"nccl" #name, offsetof(struct pp_nccl_library, name)},
    PP_NCCL_SYMBOLS(SYMBOL)
#undef SYMBOL
};

static enum pp_status find_all(void *file, struct pp_nccl_library *library, struct pp_error *err)
{
    for (size_t i = 0; i < PP_COUNT(symbols); i++) {
        void *found = dlsym(file, symbols[i].name);
        if (!found)
            return pp_error_set(err, PP_EFAIL, "%s is no NCCL: it has no %s", library->file,
                                symbols[i].name);
        memcpy((char *)library + symbols[i].at, &found, sizeof found);
    }
    return PP_OK;
}

static enum pp_status check_version(struct pp_nccl_library *library, struct pp_error *err)
{
    if (library->GetVersion(&library->version) != ncclSuccess)
        return pp_error_set(err, PP_EFAIL, "%s does not say its version", library->file);
    if (library->version < OLDEST)
        return pp_error_set(err, PP_EFAIL,
                            "NCCL %d.%d of %s is too old: 2.18 or newer is needed\n  name another "
                            "file in %s",
                            library->version / (library->version < 10000 ? 1000 : 10000),
                            library->version / 100 % (library->version < 10000 ? 10 : 100),
                            library->file, VARIABLE);
    return PP_OK;
}

enum pp_status pp_nccl_load(struct pp_arena *arena, const struct pp_nccl_library **library,
                            struct pp_error *err)
{
    struct pp_nccl_library *l = PP_NEW(arena, struct pp_nccl_library);
    const char *given = getenv(VARIABLE);

    l->file = given && *given ? pp_arena_strdup(arena, given) : FILE_NAME;
    void *file = dlopen(l->file, RTLD_NOW | RTLD_LOCAL);
    if (!file)
        return pp_error_set(err, PP_EFAIL,
                            "cannot load NCCL: %s\n  name its folder in LD_LIBRARY_PATH, or the "
                            "file in %s",
                            dlerror(), VARIABLE);
    PP_TRY(find_all(file, l, err));
    PP_TRY(check_version(l, err));
    *library = l;
    return PP_OK;
}
