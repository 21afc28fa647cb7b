/* sim/import/cluster_import.h — a cluster text (core/cluster/cluster.h) from what was found on a
 * cluster: the topology of a node, and runs of nccl-tests. Everything lives in the arena. */
#pragma once

#include "core/cluster/cluster.h"
#include "sim/import/nccl_log.h"
#include "sim/import/topology.h"

struct pp_cluster_import {
    const char *base;                   /* text to start from; NULL: by devices */
    const struct pp_topology *topology; /* NULL: not known */
    const struct pp_nccl_log *logs;     /* [log_count] */
    const char *const *log_names;       /* [log_count] */
    int log_count;
    /* the result */
    const char *text; /* keys of the base are as given there */
    struct pp_cluster cluster;
    const char **notes; /* [note_count] findings and conclusions: sentences that begin with
                         * "file" */
    int note_count, note_capacity;
};

/* PP_EINVAL where nothing tells the devices, and for a text that is none. */
enum pp_status pp_cluster_import(struct pp_arena *arena, struct pp_cluster_import *import,
                                 struct pp_error *err);
