/* sim/simgrid/platform_file_parts.h — an open platform file; private to
 * sim/simgrid/platform_{cluster,file,routes}.c. */
#pragma once

#include "sim/simgrid/child.h"
#include "sim/simgrid/module/probe.h"
#include "sim/simgrid/platform_file.h"

struct pp_platform {
    struct pp_child child;
    bool is_open;
    struct pp_platform_source source;
    int hosts, links;
    double alpha_s;     /* of every route, in addition to its links */
    const char *words;  /* properties, as a cluster text */
    const char **names; /* [hosts], then [links] */
    struct pp_fabric_link *link;
};

/* Puts "PATH:LINE: " in front of the message; "PATH: " if `line` is 0. */
enum pp_status pp_platform_place(const struct pp_platform *p, int line, struct pp_error *err);
/* Finds a route as pp_route_source.find does; `platform` is a struct pp_platform. */
int pp_platform_find_route(void *platform, int source, int dest, int32_t *links, int max,
                           struct pp_error *err);
enum pp_status pp_platform_cluster(struct pp_arena *arena, struct pp_platform *p,
                                   struct pp_cluster *c, struct pp_error *err);
