/* exec/fit/parts.h — what ranks need of the tiers with caps: private to exec/fit. */
#pragma once

#include "exec/fit/fit.h"

/* Bytes of the rank that needs most of a tier, by tier. */
struct pp_fit_needs {
    size_t bytes[PP_TIERS];
    int rank[PP_TIERS];
    const struct pp_rank_layout *layout; /* [ranks] */
};
struct pp_fit_needs pp_fit_needs_of(struct pp_arena *arena, const struct pp_exec_config *config,
                                    const struct pp_exec_plan *plan);
/* Returns a tier whose cap is exceeded; PP_TIERS: none. */
enum pp_tier pp_fit_beyond(const struct pp_fit_needs *needs, const size_t most_bytes[PP_TIERS]);

/* advice.c: appends options that fit, alone or together, and what they need of the tier. */
void pp_exec_advise(const struct pp_exec_wish *wish, const struct pp_exec_run *run,
                    enum pp_tier tier, struct pp_error *err);
