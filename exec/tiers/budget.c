/* Counts what a rank takes of each tier. */
#include "exec/tiers/budget.h"

enum pp_status pp_tier_take(struct pp_tier_budget *b, enum pp_tier tier, size_t bytes,
                            const char *owner, struct pp_error *err)
{
    const size_t most_bytes = b->most_bytes[tier], left_bytes = most_bytes - b->taken_bytes[tier];

    if (most_bytes > 0 && bytes > left_bytes)
        return pp_error_set(err, PP_EFIT,
                            "%s takes %zu bytes of the tier %s, but only %zu of its %zu are left",
                            owner, bytes, pp_tier_rows[tier].name, left_bytes, most_bytes);
    b->taken_bytes[tier] += bytes;
    return PP_OK;
}
