/* core/cluster/cluster.h — devices and links. Numbers are per device and direction, SI, with
 * sources. Devices are numbered node by node (order: core/cluster/map.h). */
#pragma once

#include "core/arena.h"
#include "core/cluster/tiers.h"
#include "core/error.h"

#include <stdbool.h>

enum pp_precision {
    PP_PRECISION_FP32,
    PP_PRECISION_TF32,
    PP_PRECISION_FP16,
    PP_PRECISION_BF16,
    PP_PRECISION_FP8,
    PP_PRECISION_NVFP4,
    PP_PRECISIONS
};
extern const char *const pp_precision_names[]; /* "fp32", ...; terminated by NULL */

/* Constants of a device: seven of data sheets, three or four fitted (docs/costs.md). */
struct pp_device {
    const char *name;            /* "h100" */
    const char *title;           /* "H100-SXM 80GB" */
    const char *generation;      /* "hopper": devices of one share fitted constants */
    enum pp_precision precision; /* of the training */
    double peak_flops_per_s;     /* dense, of that precision */
    double fp32_flops_per_s, half_flops_per_s, fp8_flops_per_s,
        fp4_flops_per_s; /* dense; half is fp16 and, with has_bf16, bf16. fp8, fp4: 0 = none */
    bool has_bf16;       /* Ampere and later: bf16, and tf32 at half that rate */
    double memory_bytes; /* usable by a program */
    double memory_bytes_per_s;
    int multiprocessors;
    double launch_s;             /* per kernel */
    double gemm_eta, memory_eta; /* share of the two peaks that large kernels reach */
    double attention_eta;        /* share of the peak of fused attention, forward, long sequences */
    double cudnn_speed;       /* of cuDNN's fused attention against FlashAttention 2; 0 = as fast */
    const char *constants_of; /* measured device whose fitted constants these are; NULL = own */
    const char *source;
    bool is_attention_first;   /* fused as in FlashAttention 1, else as in 2 */
    bool is_attention_unfused; /* no FlashAttention for it: scores are stored in memory */
    bool is_attention_stated;  /* a cluster's text says which */
};

/* Is true if only the matrices of blocks have that precision, and all else bf16: fp8, nvfp4. */
bool pp_precision_is_narrow(enum pp_precision precision);
/* Returns the dense peak of a precision; 0 if the device has none. */
double pp_device_peak(const struct pp_device *device, enum pp_precision precision);
/* Sets the training precision; PP_EINVAL names those that the device has. */
enum pp_status pp_device_set_precision(struct pp_device *device, enum pp_precision precision,
                                       struct pp_error *err);
/* Sets the peak of the training precision; the others change in proportion. */
void pp_device_scale_peak(struct pp_device *device, double peak_flops_per_s);

struct pp_link {
    double alpha_s;     /* latency of one message */
    double bytes_per_s; /* per device and direction */
};

/* Constants of collectives on a link if the library chooses the algorithm (`auto`, as NCCL); they
 * add to those of a single message. docs/costs.md, "Collectives as measured". */
struct pp_ring_link {
    double start_s; /* once per collective: launch on all members, handshake, filling */
    double frac;    /* bandwidth of large buffers relative to that of messages; 0 = 1 */
};

enum pp_fabric_kind {
    PP_FABRIC_FAT_TREE,  /* nodes with NICs on rails, leaf switches per rail, spines */
    PP_FABRIC_DRAGONFLY, /* groups of chassis of routers, Cray Aries */
    PP_FABRIC_TORUS,     /* nodes on a grid with wrap-around links */
    PP_FABRIC_STAR,      /* every NIC on one switch that never blocks */
    PP_FABRIC_IDEAL,     /* every ordered pair of devices has a link that nothing shares */
    PP_FABRIC_FILE,      /* SimGrid XML */
    PP_FABRIC_KINDS
};
enum { PP_TORUS_DIMS = 3 };
extern const char *const pp_fabric_names[PP_FABRIC_KINDS]; /* "fat-tree" */

/* Shape of the network. Bandwidths per direction, SI, before eta_link; 0 = from the cluster. */
struct pp_fabric_shape {
    enum pp_fabric_kind kind;
    bool is_pcie;            /* devices of a node meet in host memory, not in an NVSwitch */
    double host_bytes_per_s; /* bandwidth of host memory, shared by all its devices */
    int nics;                /* per node, shared by its devices; 0 = one each */
    int leaf_nodes;          /* fat tree: nodes of a leaf switch; 0 = all */
    double oversubscription; /* fat tree: leaf bandwidth down per up; 0 = 1, never blocks */
    bool is_static; /* a route keeps to one path: on a fat tree one uplink by destination (D-mod-K),
                     * on a dragonfly the minimal path. Otherwise adaptive: a leaf's uplinks are one
                     * link, and so are a router's ports */
    int torus[PP_TORUS_DIMS]; /* nodes along each dimension; 0 = as cubic as the nodes allow */
    double torus_bytes_per_s; /* of a link to a neighbour; 0 = that of a NIC */
    int groups, chassis, routers, router_nodes; /* dragonfly: groups, chassis of a group, routers of
                                                 * a chassis, nodes of a router */
    double chassis_bytes_per_s, group_bytes_per_s,
        global_bytes_per_s; /* between routers of a chassis, two chassis (per router), two groups
                             * (in total) */
    const char *file;       /* SimGrid XML */
};

struct pp_cluster {
    const char *name;  /* preset, or the text given */
    const char *title; /* "8x400 Gb/s rails, fat tree" */
    struct pp_device device;
    int gpus_per_node;
    int nodes; /* 0 = as many as needed */
    struct pp_link intra,
        inter; /* inside a node (NVLink, PCIe), between nodes (a device's share of NICs) */
    struct pp_ring_link intra_ring, inter_ring; /* both `start_s` add up if a group has several
                                                 * members in several nodes */
    bool is_cube_mesh; /* no switch: the links of a ring depend on its members (DGX-1) */
    int mesh_links;    /* no switch: links of a device, one to each other device of the node. So g
                        * devices use g - 1 of them. 0 = another node */
    struct pp_fabric_shape fabric;
    struct pp_tier_memory tiers[PP_TIERS]; /* without the device's memory, device.memory_bytes */
    bool is_h2d_stated;                    /* the text has a rate that copies to the host reach */
    double update_params_per_s;            /* Adam on the processors of a node; 0 = unknown */
    double eta_link;                       /* share of bytes_per_s that large messages reach */
    double other_bytes; /* context, libraries, communication buffers per device */
    const char *source;
};

extern const struct pp_cluster pp_cluster_presets[]; /* alphabetical, terminated by name NULL */
const char *pp_cluster_name(int i);                  /* of the i-th preset; NULL after the last */
extern const struct pp_device pp_device_presets[];
/* Returns the device that a driver calls `name`, such as "NVIDIA H100 80GB HBM3", or NULL. Memory
 * may differ. PCIe and NVL cards are none: their peaks are lower. */
const struct pp_device *pp_device_by_driver(const char *name);
/* Loads a preset by its name or an alias ("piz-daint"), ignoring case and dashes, or a text:
 *   "node:2 gpu:8 device:a100 nvlink:300GBps nic:8x200Gbps memory:40GB peak:312TF latency:5us"
 * The default device is h100. Missing keys come from the device's preset cluster. A preset may come
 * first ("a100 nic:4x200Gbps"). `nic:` counts the network cards of a node, which its devices share.
 * "nvlink:" or "pcie:" is per device and direction. The key pcie sets h2d, too. `latency` is the
 * network's. The memory tiers are "ram:1TB@200GBps h2d:25GBps uplink:64GBps nvme:8TB@25GBps
 * cpu:5e9". PP_EINVAL with the key, the expected form and a suggestion. */
enum pp_status pp_cluster_load(struct pp_arena *arena, const char *text, struct pp_cluster *cluster,
                               struct pp_error *err);
static inline int pp_cluster_same_node(const struct pp_cluster *c, int a, int b)
{
    return a / c->gpus_per_node == b / c->gpus_per_node;
}

/* Returns the devices of each node that a run of so many leaves idle. Nodes are filled one by one,
 * so a run of several nodes leaves none in its first. */
int pp_peers_idle(const struct pp_cluster *cluster, int gpus);
/* Returns what `peers` idle devices of a node lend the others: memory, filled to `usable_frac`, but
 * what each reserves. The others reach it over the links of the node. */
struct pp_tier_memory pp_peers_memory(const struct pp_cluster *cluster, int peers,
                                      double usable_frac);
