/* The share of a memory tier that may be filled: --usable, or the framework's habit. */
#include "sim/config/usable.h"

#include "core/units.h"
#include "sim/cli/wish.h"

#include <string.h>

static enum pp_status refuse(const char *text, const char *what, struct pp_error *err)
{
    pp_error_set(err, PP_EINVAL, "--usable %.60s: %s; expected TIER=SHARE with", text, what);
    for (int tier = 0; tier < PP_TIERS; tier++)
        pp_error_append(err, "%s %s",
                        tier == 0             ? ""
                        : tier + 1 < PP_TIERS ? ","
                                              : " or",
                        pp_tier_rows[tier].name);
    return pp_error_append(err, ", such as host=80%%,device=90%%");
}

/* Parses one "host=80%"; `length` bytes at `at`. */
static enum pp_status parse_one(const char *text, const char *at, size_t length,
                                double frac[PP_TIERS], struct pp_error *err)
{
    char share[32];
    const char *equals = memchr(at, '=', length);
    const size_t name = equals ? (size_t)(equals - at) : length, rest = length - name;
    struct pp_error ignored;
    int tier = 0;

    while (tier < PP_TIERS && (strlen(pp_tier_rows[tier].name) != name ||
                               memcmp(pp_tier_rows[tier].name, at, name) != 0))
        tier++;
    if (!equals || tier == PP_TIERS)
        return refuse(text, "unknown tier", err);
    if (frac[tier] > 0)
        return refuse(text, "a tier is given twice", err);
    snprintf(share, sizeof share, "%.*s", (int)rest - 1, equals + 1);
    if (rest > sizeof share ||
        pp_units_parse(share, PP_UNIT_FRAC, &frac[tier], &ignored) != PP_OK || !(frac[tier] > 0) ||
        frac[tier] > 1)
        return refuse(text, "a share lies above 0 and up to 1", err);
    return PP_OK;
}

enum pp_status pp_usable_resolve(const struct pp_wish *wish, const struct pp_framework *framework,
                                 struct pp_state_spec *state, struct pp_error *err)
{
    double typed[PP_TIERS] = {0};

    for (const char *at = wish->usable; at;) {
        const size_t length = strcspn(at, ",");
        PP_TRY(parse_one(wish->usable, at, length, typed, err));
        at = at[length] ? at + length + 1 : NULL;
    }
    for (int tier = 0; tier < PP_TIERS; tier++)
        state->usable_frac[tier] = typed[tier] > 0 ? typed[tier] : framework->usable_frac[tier];
    return PP_OK;
}

const char *pp_usable_text(const struct pp_state_spec *state, enum pp_tier tier,
                           char text[PP_USABLE_TEXT_BYTES])
{
    const double frac = pp_state_usable(state, tier);

    *text = 0;
    if (frac < 1)
        snprintf(text, PP_USABLE_TEXT_BYTES, " (%.3g %% of its %s)", 100 * frac,
                 tier == PP_TIER_DEVICE ? "memory" : "share");
    return text;
}
