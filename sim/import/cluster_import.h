/* sim/import/cluster_import.h — makes a cluster text (core/cluster/cluster.h) of the topology of a
 * node and runs of nccl-tests. Everything lives in the arena. */
#pragma once

#include "core/cluster/cluster.h"
#include "sim/import/nccl_log.h"
#include "sim/import/topology.h"

struct pp_cluster_import {
    const char *base;                   /* text to start from; NULL: chosen by devices */
    const struct pp_topology *topology; /* NULL: unknown */
    const struct pp_nccl_log *logs;     /* [log_count] */
    const char *const *log_names;       /* [log_count] */
    int log_count;
    /* the result */
    const char *text; /* keys of the base stay as given there */
    struct pp_cluster cluster;
    const char **notes; /* [note_count] findings, conclusions: sentences that begin with "file" */
    int note_count, note_capacity;
};

/* PP_EINVAL if no input names the devices, and for a base that is no cluster text. */
enum pp_status pp_cluster_import(struct pp_arena *arena, struct pp_cluster_import *import,
                                 struct pp_error *err);
