/* sim/resolve/resolve.h — resolves a wish, the given options by field, into a configuration.
 *
 * pp_resolve() calls the steps in this order. Functions between them are parts of these steps,
 * which the planner and the sweep also call for each layout.
 *
 *   _cost, _fixed, _cost_check   --cost; what all layouts share: model, cluster, engine
 *   _shape                       the schedule's options
 *   _unit                        unit mode: pp and micro-batches; here it ends
 *   _plan                        for each candidate _layout, then _choice: `auto` and the state */
#pragma once

#include "schedules/select/select.h"
#include "sim/cli/wish.h"
#include "sim/config/config.h"
#include "sim/run/prepare.h"
#include "sim/run/simulate.h"

/* Opens the subjects of --schedule: names, a file, or "all". `*subjects` is in the arena. */
enum pp_status pp_subjects_open(struct pp_arena *arena, const struct pp_wish *wish,
                                struct pp_subject **subjects, int *count, struct pp_error *err);
/* Resolves model, cluster, state, communication and engine: the parts that all layouts share. */
enum pp_status pp_resolve_fixed(struct pp_arena *arena, const struct pp_wish *wish,
                                struct pp_config *config, struct pp_error *err);
/* Reads --cost, if given, into config->cost. The run that was measured gives defaults of the wish.
 * Called first. */
enum pp_status pp_resolve_cost(struct pp_arena *arena, struct pp_wish *wish,
                               struct pp_config *config, struct pp_error *err);
/* Settings of --post, --recv-slots, --grad-sync and --update-barrier. */
struct pp_build_wishes pp_resolve_lowering(const struct pp_wish *wish);
/* PP_EINVAL for settings that measured costs do not cover; after pp_resolve_fixed(). */
enum pp_status pp_resolve_cost_check(const struct pp_config *config, struct pp_error *err);
/* Reads --link-bw: `node=` and `network=` set factors of the configuration, names of single links
 * those of the fabric. */
enum pp_status pp_resolve_links(const struct pp_wish *wish, struct pp_config *config,
                                struct pp_error *err);
/* Makes the fabric of the cluster for `gpus` devices, with scaled links; it suits all layouts. */
enum pp_status pp_resolve_fabric(struct pp_arena *arena, struct pp_config *config, int gpus,
                                 struct pp_error *err);
/* Resolves schedule options into config->shape, without ranks and micro-batches; marks defaults. */
enum pp_status pp_resolve_shape(const struct pp_wish *wish, const struct pp_subject *subject,
                                struct pp_config *config, struct pp_error *err);
/* Degrees of a layout; tp, cp, pp and dp are >= 1. pp_resolve_layout() adds batch and blocks per
 * stage. */
struct pp_degrees {
    int tp, cp, pp, dp;
    int ep;      /* 0 = 1 */
    int mbs;     /* 0 = --mbs, else 1 */
    int64_t gbs; /* 0 = --gbs, else about 4 M tokens */
};
/* Returns the samples of a step of about 4 M tokens, at most 16,384. */
int64_t pp_resolve_usual_gbs(int seq);
enum pp_status pp_resolve_layout(struct pp_arena *arena, const struct pp_wish *wish,
                                 const struct pp_degrees *degrees, struct pp_config *config,
                                 struct pp_error *err);
/* Resolves --zero, --shard, --gather... into config->wanted. Needs the framework. */
enum pp_status pp_resolve_wishes(const struct pp_wish *wish, struct pp_config *config,
                                 struct pp_error *err);
/* Resolves config->wanted into checked meshes of the replicas of this layout and schedule. */
enum pp_status pp_resolve_shards(struct pp_arena *arena, struct pp_config *config,
                                 struct pp_error *err);
/* Resolves --ep-overlap, --ep-share and --capacity-factor; PP_EINVAL for such options of a dense
 * model. */
enum pp_status pp_resolve_exchanges(const struct pp_wish *wish, struct pp_config *config,
                                    struct pp_error *err);
/* Resolves --etp. PP_EINVAL if ep devices cannot share the experts; it names nearest degrees. */
enum pp_status pp_resolve_experts(const struct pp_wish *wish, struct pp_config *config,
                                  struct pp_error *err);
/* Expert-parallel degrees worth a trial for tp, cp and dp of `degrees`, ascending. They are the
 * given one, or the largest in a node and doubled ones. Returns their number. */
enum { PP_EXPERT_DEGREES = 16 };
int pp_resolve_expert_degrees(const struct pp_wish *wish, const struct pp_config *config,
                              const struct pp_degrees *degrees, int ep[PP_EXPERT_DEGREES]);
/* Resolves unit mode, which has only pp, vp and micro-batches. */
enum pp_status pp_resolve_unit(const struct pp_wish *wish, struct pp_config *config,
                               struct pp_error *err);
/* Resolves --gpus, else derives it from cluster and degrees; PP_EINVAL if they disagree. */
enum pp_status pp_resolve_gpus(const struct pp_wish *wish, struct pp_config *config, int *gpus,
                               struct pp_error *err);
/* Refuses --peers that are not idle next to so many devices, or that nothing uses. */
enum pp_status pp_resolve_peers(const struct pp_wish *wish, const struct pp_config *config,
                                int gpus, struct pp_error *err);
/* Finds open degrees, state and recomputation by simulations; completes and marks `config`. */
enum pp_status pp_resolve_plan(struct pp_arena *arena, const struct pp_wish *wish,
                               struct pp_config *config, struct pp_prepared *prepared,
                               struct pp_error *err);
/* Computes costs of compute and state, without messages, and their placement. */
enum pp_status pp_resolve_bare_costs(struct pp_arena *arena, const struct pp_config *config,
                                     const uint16_t **rank_of, struct pp_costs **costs,
                                     struct pp_error *err);
/* Lower bound of the fullest device's memory, for all states that may be chosen. */
double pp_resolve_floor_bytes(struct pp_arena *arena, const struct pp_config *config);
/* Fills the levels of recomputation that a run may choose (core/cost/analytic/roofline.h) and
 * returns their number. Measured costs know none and full alone. */
int pp_resolve_levels(const struct pp_config *config,
                      struct pp_recompute_level levels[PP_RECOMPUTE_LEVELS]);
/* Chooses the open ZeRO stage and level of recomputation: the first that leaves the memory margin
 * free. Without one it is the first that fits, else the one that needs least memory. The optimizer
 * state is sharded before anything is computed again. `result` and `prepared` (sim/run/prepare.h)
 * are of the choice, at PP_QUICK depth (PP_MEMORY if prepared->is_alone). If each needs more than
 * prepared->most_bytes for certain, the program of `result` is NULL. */
enum pp_status pp_resolve_settled(struct pp_arena *arena, struct pp_config *config,
                                  struct pp_prepared *prepared, struct pp_result *result,
                                  struct pp_error *err);
/* ---- cache.c: --gather, --cache, --evict ------------------------------------------------------
 */

/* Reads the options into `state`. `cached` is below 0 for auto; `cache_bytes` is above 0 if room is
 * given in bytes. PP_EINVAL names the option and what it takes. */
enum pp_status pp_cache_take(const struct pp_wish *wish, struct pp_state_spec *state,
                             struct pp_error *err);
/* Returns the units of the rank with most, and the bytes of the largest unit. */
int pp_cache_units(struct pp_arena *arena, const struct pp_config *config, double *most_bytes);
/* Turns bytes of config->state into units, and checks their number. Without fetches nothing is
 * kept. PP_EINVAL names the nearest legal values. */
enum pp_status pp_cache_settle(struct pp_arena *arena, struct pp_config *config,
                               struct pp_error *err);
/* Is true if the cache chooses between chunks: it holds several, but not all units of a rank. */
bool pp_cache_evicts(struct pp_arena *arena, const struct pp_config *config);
/* Returns the units with which a cache begins to save loads, if it has fewer and saves none; else
 * 0. A pass of a generating program goes through all units of a chunk in turn. Those at its end are
 * not those with which the next pass begins. */
int pp_cache_wanted(struct pp_arena *arena, const struct pp_config *config);
/* Finds the units of --cache auto: as many as have room with the choice above, if they save loads.
 * Then chooses. */
enum pp_status pp_resolve_kept(struct pp_arena *arena, struct pp_config *config,
                               struct pp_prepared *prepared, struct pp_result *result,
                               struct pp_error *err);
/* Finds shares of --offload that are left to `auto`: the least with which the device has room by
 * any of these choices. Then chooses as above. */
enum pp_status pp_resolve_state(struct pp_arena *arena, struct pp_config *config,
                                struct pp_prepared *prepared, struct pp_result *result,
                                struct pp_error *err);
/* Chooses the options left to `auto`, and the state (not in unit mode). On return the shape is
 * closed, and `config->origin.trials` lists the variants. Refused only if every variant is. */
enum pp_status pp_resolve_choice(struct pp_arena *arena, struct pp_config *config,
                                 struct pp_prepared *prepared, struct pp_result *result,
                                 struct pp_error *err);
bool pp_resolve_is_open(const struct pp_config *config); /* an option is left to `auto` */
/* Divides the blocks among stages, after shape, layout and recomputation. */
enum pp_status pp_resolve_blocks(struct pp_arena *arena, struct pp_config *config,
                                 struct pp_error *err);
/* Completes shape and layout: checks granules, shards state, divides blocks. */
enum pp_status pp_resolve_division(struct pp_arena *arena, struct pp_config *config,
                                   struct pp_error *err);
/* PP_EINVAL unless a granule is a whole number of samples. */
enum pp_status pp_resolve_granules(const struct pp_config *config, struct pp_error *err);

/* Resolves a wish. `prepared`, unless NULL, keeps the work of the choice for pp_simulate(). It has
 * `programs` or is {0}. */
enum pp_status pp_resolve(struct pp_arena *arena, const struct pp_wish *typed,
                          const struct pp_subject *subject, struct pp_config *config,
                          struct pp_prepared *prepared, struct pp_error *err);
