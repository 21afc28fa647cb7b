/* sim/config/buckets.h — the number of buckets of each stage's gradient sum. */
#pragma once

#include "core/units.h"
#include "sim/cli/wish.h"
#include "sim/config/config.h"

/* Resolves --dp-overlap, --grad-sync, --buckets and --bucket-size; `config->costs.framework` is
 * set. PP_EINVAL if number and size are both given, if the size is out of range, or if --dp-overlap
 * contradicts another of these options. */
enum pp_status pp_buckets_resolve(struct pp_arena *arena, const struct pp_wish *wish,
                                  struct pp_config *config, struct pp_error *err);
/* Buckets of each stage, in `arena`: as the size needs, up to PP_MAX_BUCKETS; NULL = 1 each. */
const int *pp_buckets_of(struct pp_arena *arena, const struct pp_config *config,
                         const struct pp_costs *costs);
bool pp_buckets_are_used(const struct pp_config *config);

/* Size of the largest bucket, if PP_MAX_BUCKETS made it larger than --bucket-size; else 0. */
double pp_buckets_capped_bytes(const struct pp_result *result);

/* Text such as " in 4 buckets a stage" or " in 255 buckets of 41 MB, the most there can be"; or "".
 */
const char *pp_buckets_text(struct pp_arena *arena, const struct pp_result *result);
/* Prints for --explain the number, size and time of the buckets of each stage. */
void pp_buckets_explain(const struct pp_result *result, FILE *out);
