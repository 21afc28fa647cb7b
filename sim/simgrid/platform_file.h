/* sim/simgrid/platform_file.h — a cluster from a SimGrid platform file (XML): --cluster FILE.xml.
 *
 * A child process loads the file with SimGrid, lists hosts, links and properties, and stays as the
 * server of routes. Device i is host i in the order of the file. Without SimGrid in this build
 * everything here fails with a message that says so (sim/simgrid/none.c). */
#pragma once

#include "core/cluster/fabric.h"
#include "sim/platform/text.h"

struct pp_platform;

/* Reads a file. The cluster has the device and gpus_per_node of its properties (h100 and 1 by
 * default), and as many nodes as its hosts make. eta_link is 1. Links between two devices of a node
 * and of two nodes come from its routes. PP_EFAIL if the file cannot be opened or SimGrid cannot be
 * loaded. PP_EINVAL for errors in it, with file and line where known. */
enum pp_status pp_platform_open(struct pp_arena *arena, const char *path,
                                struct pp_platform **platform, struct pp_cluster *cluster,
                                struct pp_error *err);
/* Platforms that stay open from run to run, in a process that has many. */
struct pp_platforms {
    struct pp_arena *arena; /* theirs */
    struct pp_open_platform {
        const char *path;
        struct pp_platform *platform;
        struct pp_cluster cluster;
    } * list;
    int count, capacity;
};
/* The same as pp_platform_open(), but a file that `platforms` has is not read again; NULL opens it
 * in `arena`. */
enum pp_status pp_platform_reuse(struct pp_arena *arena, struct pp_platforms *platforms,
                                 const char *path, struct pp_platform **platform,
                                 struct pp_cluster *cluster, struct pp_error *err);
/* The fabric of the file, of all its hosts; its routes are asked for while `platform` is open. */
struct pp_fabric *pp_platform_fabric(struct pp_arena *arena, struct pp_platform *platform);
/* End the child; it ends with the arena anyway. */
void pp_platform_close(struct pp_platform *platform);
