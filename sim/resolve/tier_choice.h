/* sim/resolve/tier_choice.h — choices of memory tiers that pipesim plan can leave free. They are
 * what lives elsewhere, the bits of saved activations, units of parameters, and how many of them
 * stay. Each is a setting of options as they are typed. */
#pragma once

#include "sim/config/config.h"

struct pp_wish;

/* Knobs of tiers, in the order in which they are tried. */
enum pp_tier_knob {
    PP_TIER_OFFLOAD,
    PP_TIER_ACT_BITS,
    PP_TIER_GATHER,
    PP_TIER_CACHE,
    PP_TIER_KNOBS
};
extern const char *const pp_tier_knob_names[PP_TIER_KNOBS]; /* as --free has them */
extern const char *const pp_tier_keys[PP_TIER_KNOBS];       /* in JSON and CSV */

/* A setting of the free knobs. */
struct pp_tier_choice {
    int at[PP_TIER_KNOBS]; /* places in the lists of the knobs' values; 0 frees least */
    int host;              /* the choice with the host in place of nvme; -1 = it uses no nvme */
    struct pp_state_spec wanted; /* with it; shares may be left to `auto` */
};
struct pp_tier_choices {
    struct pp_tier_choice *list; /* the first moves nothing more than the options say */
    int count;
};
/* Lists the settings that the cluster of `fixed` has tiers for. `fixed` has what all layouts share.
 * PP_EINVAL if an option contradicts all of them. */
enum pp_status pp_tier_choices(struct pp_arena *arena, const struct pp_wish *wish,
                               const struct pp_config *fixed, const bool is_free[PP_TIER_KNOBS],
                               struct pp_tier_choices *choices, struct pp_error *err);
/* Is true if `b` frees at least as much as `a` by each knob, and takes at least the time. */
bool pp_tier_is_milder(const struct pp_tier_choice *a, const struct pp_tier_choice *b);

/* Text of --offload of a state whose shares are known: "p,g=host,os=host:55%"; "none" if nothing
 * moves. */
const char *pp_tier_offload_text(struct pp_arena *arena, const struct pp_state_spec *state);
/* Text of a knob's value in a state, as its option takes it; "none" if it has its default. */
const char *pp_tier_text(struct pp_arena *arena, enum pp_tier_knob knob,
                         const struct pp_state_spec *state);
/* Text of a setting as it is tried, shares and caches perhaps `auto`: "p,g=host,os=host:auto
 * 64MiB".
 */
const char *pp_tier_choice_text(struct pp_arena *arena, const struct pp_tier_choice *choice,
                                const bool is_free[PP_TIER_KNOBS]);
/* Gives a command the options of the free knobs, with the values of a state. */
void pp_tier_command(struct pp_arena *arena, const struct pp_state_spec *state,
                     const bool is_free[PP_TIER_KNOBS], struct pp_parsed *command);
