/* Keeps one SimGrid process for many runs on a file. */
#include "sim/simgrid/platform_file.h"

#include <string.h>

enum pp_status pp_platform_reuse(struct pp_arena *arena, struct pp_platforms *platforms,
                                 const char *path, struct pp_platform **platform,
                                 struct pp_cluster *cluster, struct pp_error *err)
{
    if (!platforms)
        return pp_platform_open(arena, path, platform, cluster, err);
    for (int i = 0; i < platforms->count; i++)
        if (!strcmp(platforms->list[i].path, path)) {
            *platform = platforms->list[i].platform;
            *cluster = platforms->list[i].cluster;
            return PP_OK;
        }
    PP_TRY(pp_platform_open(platforms->arena, path, platform, cluster, err));
    *PP_PUSH(platforms->arena, platforms->list, platforms->count, platforms->capacity) =
        (struct pp_open_platform){
            .path = pp_arena_strdup(platforms->arena, path), *platform, *cluster};
    return PP_OK;
}
