/* sim/config/buckets.h — into how many buckets the gradient sum of each stage is cut. */
#pragma once

#include "core/units.h"
#include "sim/cli/wish.h"
#include "sim/config/config.h"

/* --dp-overlap, --grad-sync, --buckets and --bucket-size into `config`, whose framework is known.
 * PP_EINVAL for number and size at once, for a size of nothing, for an overlap that is off and
 * asked for. */
enum pp_status pp_buckets_resolve(struct pp_arena *arena, const struct pp_wish *wish,
                                  struct pp_config *config, struct pp_error *err);
/* [stage], in `arena`: as many as the size asks for, at most PP_MAX_BUCKETS; NULL = 1 each. */
const int *pp_buckets_of(struct pp_arena *arena, const struct pp_config *config,
                         const struct pp_costs *costs);
bool pp_buckets_are_used(const struct pp_config *config);

/* Size of the largest bucket that --bucket-size would have cut further, were more than
 * PP_MAX_BUCKETS possible; 0 = none. */
double pp_buckets_capped_bytes(const struct pp_result *result);

/* " in 4 buckets a stage", " in buckets of 25MB", " in 255 buckets of 41 MB, the most there can
 * be", or nothing. */
const char *pp_buckets_text(struct pp_arena *arena, const struct pp_result *result);
/* --explain: number, size and time of the buckets of each stage. */
void pp_buckets_explain(const struct pp_result *result, FILE *out);
