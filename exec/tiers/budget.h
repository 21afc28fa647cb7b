/* exec/tiers/budget.h — what a rank may take of each tier. Blocks are allocated through it. */
#pragma once

#include "exec/tiers/tiers.h"

struct pp_tier_budget {
    size_t most_bytes[PP_TIERS]; /* 0 = no cap */
    size_t taken_bytes[PP_TIERS];
};

/* Counts bytes that `owner` ("rank 1") is about to allocate. PP_EFIT: with them it would have more
 * than its cap; nothing is counted then. */
enum pp_status pp_tier_take(struct pp_tier_budget *budget, enum pp_tier tier, size_t bytes,
                            const char *owner, struct pp_error *err);
