/* sim/resolve/resolve.h — from a wish to complete configurations: fixed parts, shape, layout,
 * quick plan. */
#pragma once

#include "schedules/select/select.h"
#include "sim/cli/wish.h"
#include "sim/config/config.h"
#include "sim/run/prepare.h"
#include "sim/run/simulate.h"

/* The subjects of --schedule: names, a file, or "all". `*subjects` in the arena. */
enum pp_status pp_subjects_open(struct pp_arena *arena, const struct pp_wish *wish,
                                struct pp_subject **subjects, int *count, struct pp_error *err);
/* Model, cluster, state, communication and engine settings: all that no layout changes. */
enum pp_status pp_resolve_fixed(struct pp_arena *arena, const struct pp_wish *wish,
                                struct pp_config *config, struct pp_error *err);
/* ---- sim/resolve/cost.c ---- */
/* Read --cost into config->cost, and take the run that was measured as defaults of the wish.
 * Before everything else; does nothing without the option. */
enum pp_status pp_resolve_cost(struct pp_arena *arena, struct pp_wish *wish,
                               struct pp_config *config, struct pp_error *err);
/* --post, --recv-slots, --grad-sync. */
struct pp_build_wishes pp_resolve_lowering(const struct pp_wish *wish);
/* PP_EINVAL for settings that such costs say nothing about; after pp_resolve_fixed(). */
enum pp_status pp_resolve_cost_check(const struct pp_config *config, struct pp_error *err);
/* ---- the rest ---- */
/* --link-bw: factors of the two classes; those of single links are kept for the fabric. */
enum pp_status pp_resolve_links(const struct pp_wish *wish, struct pp_config *config,
                                struct pp_error *err);
/* The fabric of the cluster for so many devices, its links scaled: alike for all layouts. */
enum pp_status pp_resolve_fabric(struct pp_arena *arena, struct pp_config *config, int gpus,
                                 struct pp_error *err);
/* Schedule options into config->shape (ranks and micro-batches excluded), defaults filled and
 * marked. */
enum pp_status pp_resolve_shape(const struct pp_wish *wish, const struct pp_subject *subject,
                                struct pp_config *config, struct pp_error *err);
/* Layout for given degrees (all >= 1): dp, batch, blocks per stage; checks everything. */
struct pp_degrees {
    int tp, cp, pp, dp;
    int ep;      /* 0 = 1 */
    int mbs;     /* 0 = as asked for, else 1 */
    int64_t gbs; /* 0 = as asked for, else about 4 M tokens */
};
/* Samples of a step of about 4 M tokens. */
int64_t pp_resolve_usual_gbs(int seq);
enum pp_status pp_resolve_layout(struct pp_arena *arena, const struct pp_wish *wish,
                                 const struct pp_degrees *degrees, struct pp_config *config,
                                 struct pp_error *err);
/* --zero, --shard, --gather...: all that no layout changes. Needs config->framework. */
enum pp_status pp_resolve_wishes(const struct pp_wish *wish, struct pp_config *config,
                                 struct pp_error *err);
/* The meshes of config->wanted for the replicas of the layout and schedule at hand, checked. */
enum pp_status pp_resolve_shards(struct pp_arena *arena, struct pp_config *config,
                                 struct pp_error *err);
/* --ep-overlap, --capacity-factor; PP_EINVAL for flags about experts where the model has none. */
enum pp_status pp_resolve_exchanges(const struct pp_wish *wish, struct pp_config *config,
                                    struct pp_error *err);
/* --etp, and whether the experts can be spread over ep devices of the layout: PP_EINVAL with the
 * nearest degrees that work. */
enum pp_status pp_resolve_experts(const struct pp_wish *wish, struct pp_config *config,
                                  struct pp_error *err);
/* Expert-parallel degrees worth a trial for tp, cp and dp of `degrees`, ascending. A given degree
 * is the only one. Otherwise they begin with the largest that stays in a node, and double. Returns
 * how many of `ep`. */
enum { PP_EXPERT_DEGREES = 16 };
int pp_resolve_expert_degrees(const struct pp_wish *wish, const struct pp_config *config,
                              const struct pp_degrees *degrees, int ep[PP_EXPERT_DEGREES]);
/* Unit mode: only pp, vp, micro-batches. */
enum pp_status pp_resolve_unit(const struct pp_wish *wish, struct pp_config *config,
                               struct pp_error *err);
/* --gpus, or what cluster and degrees say; PP_EINVAL where they do not agree. */
enum pp_status pp_resolve_gpus(const struct pp_wish *wish, struct pp_config *config, int *gpus,
                               struct pp_error *err);
/* Find degrees, state and recomputation that the user left open, by simulating candidates. On
 * return `config` is complete and its choices are marked. */
enum pp_status pp_resolve_plan(struct pp_arena *arena, const struct pp_wish *wish,
                               struct pp_config *config, struct pp_prepared *prepared,
                               struct pp_error *err);
/* Parameters, gradients and optimizer of the fullest rank. */
double pp_resolve_state_bytes(const struct pp_config *config, const struct pp_costs *costs,
                              const uint16_t *rank_of);
/* Costs of compute and state, without messages, with the placement they are of. */
enum pp_status pp_resolve_bare_costs(struct pp_arena *arena, const struct pp_config *config,
                                     const uint16_t **rank_of, struct pp_costs **costs,
                                     struct pp_error *err);
/* What the fullest device needs at least, whatever state is chosen. */
double pp_resolve_floor_bytes(struct pp_arena *arena, const struct pp_config *config);
/* Choose the ZeRO stage and the recomputation where the user left them open: the mildest that fits,
 * else the one that needs least memory. `result` is that of the choice, at PP_QUICK depth, and
 * lives in the arena; `prepared` (sim/run/prepare.h) is what it was made of. */
enum pp_status pp_resolve_state(struct pp_arena *arena, struct pp_config *config,
                                struct pp_prepared *prepared, struct pp_result *result,
                                struct pp_error *err);
/* The same, after choosing what the schedule leaves to `auto`. Unit mode has no state to choose. On
 * return the shape is closed, and `config->origin.trials` lists the compared variants. Refused only
 * if every variant is. */
enum pp_status pp_resolve_choice(struct pp_arena *arena, struct pp_config *config,
                                 struct pp_prepared *prepared, struct pp_result *result,
                                 struct pp_error *err);
bool pp_resolve_is_open(const struct pp_config *config); /* something is left to `auto` */
/* Blocks of each stage, once shape, layout and recomputation are known. */
enum pp_status pp_resolve_blocks(struct pp_arena *arena, struct pp_config *config,
                                 struct pp_error *err);
/* What follows from shape and layout: granules are checked, state is cut, blocks are divided. */
enum pp_status pp_resolve_division(struct pp_arena *arena, struct pp_config *config,
                                   struct pp_error *err);
/* A granule is a whole number of samples. */
enum pp_status pp_resolve_granules(const struct pp_config *config, struct pp_error *err);

/* Everything above in order. `prepared` is what simulations of the choice have made, for
 * pp_simulate(); NULL: it is not kept. */
enum pp_status pp_resolve(struct pp_arena *arena, const struct pp_wish *typed,
                          const struct pp_subject *subject, struct pp_config *config,
                          struct pp_prepared *prepared, struct pp_error *err);
