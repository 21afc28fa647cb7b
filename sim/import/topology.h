/* sim/import/topology.h — how the devices of a node reach each other, as `nvidia-smi topo -m`
 * prints it.
 *
 *             GPU0   GPU1   NIC0   CPU Affinity   NUMA Affinity
 *     GPU0     X     NV18   PIX    0-55           0
 *     GPU1    NV18    X     SYS    56-111         1
 *     NIC0    PIX    SYS     X
 *
 * Everything lives in the arena. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <stddef.h>

enum { PP_TOPOLOGY_MOST = 256 }; /* GPUs and NICs together */

/* Paths, the nearest first. */
enum pp_topology_path {
    PP_PATH_SELF, /* X */
    PP_PATH_NVLINK,
    PP_PATH_PIX,  /* one PCIe bridge */
    PP_PATH_PXB,  /* several PCIe bridges */
    PP_PATH_PHB,  /* through a processor's bridge */
    PP_PATH_NODE, /* between bridges of a processor */
    PP_PATH_SYS,  /* between processors */
    PP_PATHS
};

struct pp_topology_pair {
    enum pp_topology_path path;
    int nvlinks; /* bonded, of PP_PATH_NVLINK */
};
struct pp_topology {
    const char *name;               /* of the file */
    int gpus, nics;                 /* rows 0 .. gpus - 1, then the NICs */
    const char **names;             /* [gpus + nics] "GPU0", "NIC0", "mlx5_0" */
    struct pp_topology_pair *pairs; /* [row * (gpus + nics) + column] */
};

static inline struct pp_topology_pair pp_topology_pair(const struct pp_topology *t, int a, int b)
{
    return t->pairs[a * (t->gpus + t->nics) + b];
}

/* Reads the table; skips escape sequences, other text, and columns of affinity. PP_EINVAL for an
 * incomplete table, with file:line, or an asymmetric one. PP_EFAIL for an unreadable file. */
enum pp_status pp_topology_read(struct pp_arena *arena, const char *path,
                                struct pp_topology *topology, struct pp_error *err);
enum pp_status pp_topology_parse(struct pp_arena *arena, const char *name, const char *text,
                                 size_t length, struct pp_topology *topology, struct pp_error *err);
