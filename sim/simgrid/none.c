/* A build without SimGrid: no engine simgrid-lmm, no platform files. */
#include "sim/simgrid/engines.h"

#include "sim/simgrid/platform_file.h"

#include <stddef.h>

const struct pp_engine *const pp_engines[] = {&pp_engine_shared, &pp_engine_dag, NULL};

enum pp_status pp_platform_open(struct pp_arena *arena, const char *path,
                                struct pp_platform **platform, struct pp_cluster *cluster,
                                struct pp_error *err)
{
    (void)arena, (void)platform, (void)cluster;
    return pp_error_set(err, PP_EFAIL,
                        "--cluster %s: this pipesim is built without SimGrid, which reads platform "
                        "files",
                        path);
}

struct pp_fabric *pp_platform_fabric(struct pp_arena *arena, struct pp_platform *platform)
{
    (void)arena, (void)platform;
    return NULL;
}

void pp_platform_close(struct pp_platform *platform)
{
    (void)platform;
}
