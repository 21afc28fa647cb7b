/* exec/resolve/planned.h — options of a program: parts of pp_exec_plan_make(). */
#pragma once

#include "exec/resolve/config.h"

struct pp_build;

/* Resolves micro-batches and their samples, after ranks. PP_EINVAL if they contradict --gbs. */
enum pp_status pp_exec_batch(const struct pp_exec_wish *wish, const struct pp_exec_config *config,
                             struct pp_exec_plan *plan, struct pp_error *err);
/* Adds to a schedule's refusal how --gbs led to the number of micro-batches, if it did. */
enum pp_status pp_exec_explain_batch(const struct pp_exec_wish *wish,
                                     const struct pp_exec_config *config, struct pp_error *err);
/* PP_EINVAL unless granules have whole samples, and splits whole tokens, an even number if elements
 * have 2 bytes (see exec/stage/stage.h). */
enum pp_status pp_exec_check_cut(const struct pp_exec_config *config,
                                 const struct pp_exec_plan *plan, struct pp_error *err);

/* again.c: PP_EINVAL for a recomputation of whole splits, and for one by stages of a file that has
 * R. */
enum pp_status pp_exec_check_again(const struct pp_exec_config *config,
                                   const struct pp_exec_plan *plan, struct pp_error *err);
/* Returns the share of each stage that recomputes, [stages]. */
double *pp_exec_recompute_fracs(struct pp_arena *arena, const struct pp_exec_config *config,
                                int stages, const int *blocks_per_stage);
/* Returns what R of a stage with `blocks` computes. */
struct pp_stage_again pp_exec_stage_again(const struct pp_exec_config *config, int stages,
                                          int stage, int blocks);

/* ep.c: PP_EINVAL if the program cuts micro-batches, of which the loss of balance needs all tokens.
 */
enum pp_status pp_exec_check_balance(const struct pp_exec_config *config,
                                     const struct pp_exec_plan *plan, struct pp_error *err);
/* tp.c: PP_EINVAL if the parts of --tp-split do not have equally many rows of a forward. */
enum pp_status pp_exec_check_row_parts(const struct pp_exec_wish *wish,
                                       const struct pp_exec_config *config,
                                       const struct pp_exec_plan *plan, struct pp_error *err);
/* tiers.c: takes the homes of state and activations, after its shards. PP_EINVAL for options
 * without effect, for nvme without a folder, and what is only simulated. */
enum pp_status pp_exec_take_tiers(const struct pp_exec_wish *wish,
                                  const struct pp_exec_config *config, struct pp_build *build,
                                  struct pp_error *err);
/* PP_EINVAL for few bits of what is saved, if I and W of the program are apart. */
enum pp_status pp_exec_check_bits(const struct pp_exec_config *config,
                                  const struct pp_exec_plan *plan, struct pp_error *err);
