/* core/state.h — where parameters, gradients and optimizer state live, in how many pieces and how
 * long: one description for ZeRO 0 to 3, MiCS, ZeRO++, AMSP and offloading. A value, copied freely.
 *
 * The replicas of a stage (dp * cp * pipelines devices) stand on `in_node` devices in each of
 * `nodes` nodes. A class is shared out over a mesh of in_node x nodes of them: every group of so
 * many devices holds it once. Rules (Chen et al. 2024, AMSP, section 4): parameters are cut at
 * most as finely as gradients, those at most as finely as the optimizer state, per axis; gradients
 * are cut like one of the other two; a mesh that crosses nodes takes whole nodes. */
#ifndef PP_CORE_STATE_H
#define PP_CORE_STATE_H

#include "core/arena.h"
#include "core/error.h"

#include <stdbool.h>

enum pp_state_class {
    PP_STATE_PARAMS,
    PP_STATE_GRADS,
    PP_STATE_OPTIMIZER,
    PP_STATE_SHARDED,                        /* classes that can be sharded */
    PP_STATE_ACTIVATIONS = PP_STATE_SHARDED, /* has a home tier only */
    PP_STATE_CLASSES
};
extern const char *const pp_state_class_names[PP_STATE_CLASSES]; /* "p", "g", "os", "a" */

struct pp_mesh {
    int in_node, nodes; /* >= 1; {1, 1}: whole on every device */
};
static inline int pp_mesh_size(struct pp_mesh mesh)
{
    return mesh.in_node * mesh.nodes;
}

enum pp_tier { PP_TIER_DEVICE, PP_TIER_HOST, PP_TIER_NVME, PP_TIERS };
extern const char *const pp_tier_names[PP_TIERS]; /* "device", "host", "nvme" */

/* What is gathered at once before it is used: a layer, or all layers of a chunk. */
enum pp_gather { PP_GATHER_LAYER, PP_GATHER_CHUNK };
extern const char *const pp_gather_names[]; /* terminated by NULL */

struct pp_state_spec {
    struct pp_mesh shard[PP_STATE_SHARDED];
    struct pp_mesh secondary; /* ZeRO++: after the forward gather parameters are kept cut over this
                               * mesh, and backward gathers from it; {0, 0}: no such copy */
    enum pp_gather gather;
    int buffers;         /* gathered units that have room beside each other: 1 = no overlap, 2 = the
                          * next one is fetched while one is used */
    bool keeps_gathered; /* gathered once a step and dropped at its end (ZeRO 3 without resharding
                          * after the forward) */
    enum pp_tier home[PP_STATE_CLASSES];
    bool is_cpu_update;  /* the optimizer runs on the host where its state lives */
    int activation_bits; /* of what is saved for the backward, 0 = as computed */
};

/* ZeRO stage 0 to 3 over all replicas: 1 cuts the optimizer state, 2 gradients too, 3 parameters
 * too. `replicas` is the mesh of all of them. */
struct pp_state_spec pp_state_spec_zero(int zero, struct pp_mesh replicas);

#endif
