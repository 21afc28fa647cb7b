/* core/cost/state.h — the places, pieces and lifetimes of parameters, gradients and optimizer
 * state: one description for ZeRO 0 to 3, MiCS, ZeRO++, AMSP and offloading. Values, copied freely.
 *
 * The replicas of a stage (dp * cp * pipelines devices) are `in_node` devices in each of `nodes`
 * nodes. A class is cut over a mesh of in_node x nodes of them: every group of so many devices
 * holds it once. Rules (Chen et al. 2024, AMSP, section 4): per axis, parameters are cut at most as
 * finely as gradients, and those at most as finely as the optimizer state. Gradients are cut like
 * one of the other two. A mesh that crosses nodes takes whole nodes. */
#pragma once

#include "core/arena.h"
#include "core/cluster/tiers.h"
#include "core/error.h"
#include "core/op.h"

#include <stdbool.h>

extern const char *const pp_state_class_names[PP_STATE_CLASSES]; /* "p", "g", "os", "a", "kv" */

struct pp_mesh {
    int in_node, nodes; /* {1, 1}: whole on every device; {0, 0}: left out, which is the same */
};
static inline int pp_mesh_size(struct pp_mesh mesh)
{
    return mesh.in_node > 0 ? mesh.in_node * mesh.nodes : 1;
}
static inline bool pp_mesh_is_same(struct pp_mesh a, struct pp_mesh b)
{
    return pp_mesh_size(a) == pp_mesh_size(b) && (pp_mesh_size(a) == 1 || a.in_node == b.in_node);
}
/* Is true if `fine` cuts whole shards of `coarse`; both are given. */
static inline bool pp_mesh_fits(struct pp_mesh coarse, struct pp_mesh fine)
{
    return fine.in_node % coarse.in_node == 0 && fine.nodes % coarse.nodes == 0;
}
/* Returns the mesh of devices with different shards of `fine` and the same shard of `coarse`. */
struct pp_mesh pp_mesh_within(struct pp_mesh fine, struct pp_mesh coarse);
/* Parses "8x4", or "8" for 8x1; both at least 1. PP_EINVAL says what was expected. */
enum pp_status pp_mesh_parse(const char *text, struct pp_mesh *mesh, struct pp_error *err);

/* Unit of a gather before its use: a layer, or all layers of a chunk. */
enum pp_gather { PP_GATHER_LAYER, PP_GATHER_CHUNK };
extern const char *const pp_gather_names[]; /* terminated by NULL */

/* Unit that leaves a full cache: the one whose next use is farthest (Belady 1966), whose last use
 * is longest ago, or that came first. */
enum pp_evict { PP_EVICT_BELADY, PP_EVICT_LRU, PP_EVICT_FIFO };
extern const char *const pp_evict_names[]; /* terminated by NULL */

struct pp_state_spec {
    struct pp_mesh replicas; /* of a stage */
    struct pp_mesh shard[PP_STATE_SHARDED];
    struct pp_mesh secondary; /* ZeRO++: mesh over which parameters stay cut after the forward
                               * gather; backward gathers from it. {0, 0}: no such copy */
    enum pp_gather gather;
    int buffers; /* gathered units that have room at the same time: 1 = no overlap, 2 = the next one
                  * is fetched while one is used */
    enum pp_tier home[PP_STATE_CLASSES];
    double moved_frac[PP_STATE_CLASSES]; /* share of a class that lives at its home; 0 = all of it.
                                          * Below 0: to be found, and all of it until then */
    bool is_cpu_update;                  /* the optimizer runs on the host where its state lives */
    int activation_bits;                 /* of saved activations, 0 = as computed */
    bool is_offloaded_by_layer;  /* saved activations move layer by layer, inside of an op */
    bool is_summed_on_device;    /* gradients elsewhere come up for every visit that adds to them;
                                  * else the host adds what comes */
    bool has_early_update;       /* the host updates a stage once its gradients are there, while
                                  * others go backward; else when all ops have ended */
    double update_bucket_params; /* a bucket of state that streams through an update; 0 = 16e6 */
    int update_buckets;          /* of them that have room on the device; 0 = of the framework */
    bool has_grads_in_params;    /* 16-bit gradients take the place of their parameters */
    double gather_bytes;         /* largest unit of a gather; 0 = `gather` says */
    double cache_bytes;          /* room as given, of which `cached` was found; 0 = in units */
    int cached;                  /* units resident at once, the one in use included; 0 = 1 */
    enum pp_evict evict;
    double usable_frac[PP_TIERS]; /* share of a tier that may be filled; 0 = all of it */
};

/* Returns the spec of ZeRO stage 0 to 3 over all replicas: 1 cuts the optimizer state, 2 gradients
 * too, 3 parameters too. `replicas` is the mesh of all of them. */
struct pp_state_spec pp_state_spec_zero(int zero, struct pp_mesh replicas);
/* Returns `spec` with the meshes of ZeRO stage `zero`. */
struct pp_state_spec pp_state_with_zero(const struct pp_state_spec *spec, int zero);
/* Returns the ZeRO stage of a spec, or -1; with one replica 0. */
int pp_state_zero(const struct pp_state_spec *spec);

/* Returns over how many devices a class is cut. */
static inline int pp_state_cut(const struct pp_state_spec *spec, enum pp_state_class class)
{
    return pp_mesh_size(spec->shard[class]);
}

/* Is true if a device updates fewer parameters than it keeps. Gradients are scattered to the
 * devices that update them, and parameters are gathered afterwards. */
static inline bool pp_state_is_spread(const struct pp_state_spec *spec)
{
    return pp_state_cut(spec, PP_STATE_OPTIMIZER) > pp_state_cut(spec, PP_STATE_PARAMS);
}
/* Is true if a scattered sum is summed again, over groups of devices that hold all its shards. */
static inline bool pp_state_has_rest(const struct pp_state_spec *spec)
{
    return pp_state_is_spread(spec) &&
           pp_mesh_size(spec->replicas) > pp_state_cut(spec, PP_STATE_OPTIMIZER);
}
/* Is true if gradients are cut more finely than parameters: scattered after every backward. */
static inline bool pp_state_has_parts(const struct pp_state_spec *spec)
{
    return pp_state_cut(spec, PP_STATE_GRADS) > pp_state_cut(spec, PP_STATE_PARAMS);
}
/* Is true if parameters are cut: gathered before each use, their gradients scattered after it. */
static inline bool pp_state_is_gathered(const struct pp_state_spec *spec)
{
    return pp_state_cut(spec, PP_STATE_PARAMS) > 1;
}

/* Returns the share of a tier that may be filled. */
static inline double pp_state_usable(const struct pp_state_spec *spec, enum pp_tier tier)
{
    return spec->usable_frac[tier] > 0 ? spec->usable_frac[tier] : 1;
}
/* Is true if a class lives on another tier than the device. */
static inline bool pp_state_is_away(const struct pp_state_spec *spec, enum pp_state_class class)
{
    return spec->home[class] != PP_TIER_DEVICE;
}
/* Is true if a class lives on `tier`. */
static inline bool pp_state_has_home(const struct pp_state_spec *spec, enum pp_tier tier)
{
    bool has = false;

    for (int class = 0; class < PP_STATE_CLASSES; class ++)
        has |= spec->home[class] == tier;
    return has;
}
/* Is true if parameters come into buffers before each use: gathered, or loaded from their tier. */
static inline bool pp_state_is_fetched(const struct pp_state_spec *spec)
{
    return pp_state_is_gathered(spec) || pp_state_is_away(spec, PP_STATE_PARAMS);
}
static inline bool pp_state_is_quantised(const struct pp_state_spec *spec)
{
    return spec->activation_bits > 0;
}
/* Returns the share of a class that lives on another tier: 0 to 1. Gradients of the
 * device's share of an update stay there. */
static inline double pp_state_moved(const struct pp_state_spec *spec, enum pp_state_class class)
{
    const double frac = spec->home[class] == PP_TIER_DEVICE ? 0
                        : spec->moved_frac[class] > 0       ? spec->moved_frac[class]
                                                            : 1;
    const double updated = class == PP_STATE_GRADS && spec->is_cpu_update && frac > 0
                               ? pp_state_moved(spec, PP_STATE_OPTIMIZER)
                               : 1;

    return frac < updated ? frac : updated;
}
static inline bool pp_state_is_offloaded(const struct pp_state_spec *spec)
{
    bool is_offloaded = false;

    for (int class = 0; class < PP_STATE_CLASSES; class ++)
        is_offloaded |= pp_state_is_away(spec, (enum pp_state_class) class);
    return is_offloaded;
}
/* Is true if the host updates on a stream of its own, MOVE.update, while the device computes. Else
 * U stands for the work of the host. */
static inline bool pp_state_has_host_stream(const struct pp_state_spec *spec)
{
    const double moved_frac = pp_state_moved(spec, PP_STATE_OPTIMIZER);

    return spec->is_cpu_update && moved_frac > 0 && (spec->has_early_update || moved_frac < 1);
}
/* Class that a COPY or MOVE moves, and its tiers. */
struct pp_move {
    enum pp_state_class what;
    enum pp_tier from, to;
};
struct pp_move pp_state_move(const struct pp_state_spec *spec, enum pp_purpose purpose);
/* Is true if programs of this spec have such a movement. */
bool pp_state_moves(const struct pp_state_spec *spec, enum pp_purpose purpose);

/* Is true if the host has all updated parameters of its device, so that none have to go home. */
static inline bool pp_state_is_updated_at_home(const struct pp_state_spec *spec)
{
    return spec->is_cpu_update && !pp_state_is_spread(spec);
}

/* Parses "p=8x1,g=8x1,os=8x4" into the meshes; classes that are left out are {0, 0}. PP_EINVAL: an
 * unknown or repeated class, a bad mesh. */
enum pp_status pp_state_parse(const char *text, struct pp_mesh shard[PP_STATE_SHARDED],
                              struct pp_error *err);
/* Cuts classes that are left out as coarsely as the rules allow: parameters not at all, gradients
 * like parameters, the optimizer state like gradients. Then checks all rules for spec->replicas;
 * PP_EINVAL names the class and the nearest legal values. */
enum pp_status pp_state_complete(struct pp_state_spec *spec, struct pp_error *err);

enum { PP_STATE_TEXT_BYTES = 128 };
/* Prints "p=1x1,g=1x1,os=8x4", as --shard takes it. */
const char *pp_state_print(const struct pp_state_spec *spec, char text[PP_STATE_TEXT_BYTES]);
/* Prints what is gathered at once: "layer", "chunk", or "piece of 64.0 MiB". */
const char *pp_state_unit(const struct pp_state_spec *spec, char text[PP_STATE_TEXT_BYTES]);
/* Prints the ZeRO stage ("ZeRO 1"), or the meshes if it is none. */
const char *pp_state_name(const struct pp_state_spec *spec, char text[PP_STATE_TEXT_BYTES]);
