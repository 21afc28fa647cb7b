/* sim/plan/state.h — pipesim plan of one layout: simulates every choice for the knobs that the user
 * leaves free, and ranks them. A choice is a complete configuration. */
#pragma once

#include "core/cost/analytic/shards.h"
#include "sim/resolve/tier_choice.h"
#include "sim/run/simulate.h"

#include <jansson.h>

struct pp_wish;

struct pp_state_plan_knob {
    const char *name;
    const char *const *settled_by; /* options that fix it, NULL-terminated */
    unsigned settles;              /* choices of the tool that it makes, enum pp_chosen */
    /* Lists its values in `base`, each as a configuration. PP_EINVAL if there is none. NULL: a knob
     * of tiers (sim/resolve/tier_choice.h), of which all combinations come first. */
    enum pp_status (*values)(struct pp_arena *arena, const struct pp_config *base,
                             struct pp_config **list, int *count, struct pp_error *err);
};

/* STEP: the simulated step; COMM: communication in closed form, without overlap. */
enum pp_objective { PP_OBJECTIVE_STEP, PP_OBJECTIVE_COMM };
extern const char *const pp_objective_names[]; /* NULL-terminated */

struct pp_state_planned {
    struct pp_config config;
    int tiers, rest; /* index of its choice of tiers, and of all other knobs together */
    double away_bytes[PP_TIERS], room_bytes[PP_TIERS]; /* most that a device has there, its share */
    enum pp_tier full; /* a tier that is too small; PP_TIER_DEVICE: none but the device may be */
    struct pp_outcome outcome;
    struct pp_shard_times comm; /* in closed form */
    bool is_tie;                /* a tie with the fastest that fits */
};

enum { PP_PLANNER_KNOBS = 8 };
struct pp_state_plan {
    const struct pp_wish *wish;
    struct pp_config base;
    bool is_tier_free[PP_TIER_KNOBS];
    struct pp_tier_choices tiers;
    const struct pp_state_plan_knob *knobs[PP_PLANNER_KNOBS]; /* the free ones */
    int knob_count;
    enum pp_objective objective;
    bool is_framework_chosen;        /* by the tool */
    struct pp_state_planned *points; /* best first: fitting, too large, refused */
    int count, fitting, too_large, refused, ties;
};

/* Is true if the planner has all names of `list`, which commas separate. */
bool pp_state_plan_has(const char *list);
/* Frees the knobs of --free. PP_EINVAL for an option that contradicts it. */
enum pp_status pp_state_plan_free(const struct pp_wish *wish, struct pp_state_plan *planner,
                                  struct pp_error *err);
/* Simulates and ranks all combinations of the free knobs' values; base and knobs are given. Steps
 * that differ by less than the model's own error are ties (docs/plan.md has the figure). Four rules
 * rank ties in turn: no strained rank, gradients cut like parameters, least communication in closed
 * form, least state. A strained rank gives blocks back: no step counts that time, and its amount is
 * an assumption. */
#define PP_PLANNER_TIE_FRAC 0.06
enum pp_status pp_state_plan_run(struct pp_arena *arena, struct pp_state_plan *planner,
                                 struct pp_error *err);
/* Parts of it: lists the points, of which those of later choices of tiers free more; and simulates
 * one to a depth. */
enum pp_status pp_state_plan_points(struct pp_arena *arena, struct pp_state_plan *planner,
                                    struct pp_error *err);
void pp_state_plan_try(struct pp_arena *arena, const struct pp_state_plan *planner,
                       enum pp_depth depth, struct pp_state_planned *point);
/* Is true if a knob of tiers is free. */
static inline bool pp_state_plan_has_tiers(const struct pp_state_plan *planner)
{
    bool has = false;

    for (int k = 0; k < PP_TIER_KNOBS; k++)
        has |= planner->is_tier_free[k];
    return has;
}

/* Prints the paragraphs of the report alone, for `rows` shown rows. */
void pp_state_plan_print_facts(struct pp_arena *arena, const struct pp_state_plan *planner,
                               int rows, FILE *out);
void pp_state_plan_print(struct pp_arena *arena, const struct pp_state_plan *planner, int rows,
                         FILE *out);
json_t *pp_state_plan_object(struct pp_arena *arena,
                             const struct pp_state_plan *planner); /* "pipesim.plan/1" */
void pp_state_plan_json(struct pp_arena *arena, const struct pp_state_plan *planner, FILE *out);
void pp_state_plan_csv(struct pp_arena *arena, const struct pp_state_plan *planner,
                       FILE *out); /* one row per point */
/* Returns the devices over which a class is cut: "8x2" is 8 in a node, on 2 nodes. */
const char *pp_state_plan_mesh(struct pp_arena *arena, const struct pp_state_spec *state,
                               int class);
/* Text of the recomputation of a choice. */
const char *pp_state_plan_again(const struct pp_state_planned *point,
                                char text[PP_RECOMPUTE_TEXT_BYTES]);
