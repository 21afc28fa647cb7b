/* sim/simgrid/platform_file.h — a cluster from a SimGrid platform file (XML), --cluster
 * FILE.xml.
 *
 * A child process loads the file with SimGrid, lists hosts, links and properties, and then
 * serves routes. Device i is host i in the order of the file. In a build without SimGrid all of
 * these functions fail, with a message that says so (sim/simgrid/none.c). */
#pragma once

#include "core/cluster/fabric.h"
#include "sim/platform/text.h"

struct pp_platform;

/* Reads a file. Properties give the cluster's device and gpus_per_node (h100 and 1 by default).
 * Hosts give its nodes, routes its links in a node and between nodes. eta_link is 1. PP_EFAIL if
 * the file cannot be opened or SimGrid cannot be loaded. PP_EINVAL for errors in it, with file and
 * line if known. */
enum pp_status pp_platform_open(struct pp_arena *arena, const char *path,
                                struct pp_platform **platform, struct pp_cluster *cluster,
                                struct pp_error *err);
/* Platforms that stay open for several runs of a process. */
struct pp_platforms {
    struct pp_arena *arena; /* of the platforms */
    struct pp_open_platform {
        const char *path;
        struct pp_platform *platform;
        struct pp_cluster cluster;
    } * list;
    int count, capacity;
};
/* Opens a platform, but reads no file again that `platforms` has. NULL opens it in `arena`. */
enum pp_status pp_platform_reuse(struct pp_arena *arena, struct pp_platforms *platforms,
                                 const char *path, struct pp_platform **platform,
                                 struct pp_cluster *cluster, struct pp_error *err);
/* Fabric of all hosts of the file; it asks for routes while `platform` is open. */
struct pp_fabric *pp_platform_fabric(struct pp_arena *arena, struct pp_platform *platform);
/* Ends the child, which otherwise ends with the arena. */
void pp_platform_close(struct pp_platform *platform);
