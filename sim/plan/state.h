/* sim/plan/state.h — pipesim plan of one layout: simulates every choice for the knobs that the user
 * leaves free, and ranks them. A choice is a complete configuration. */
#pragma once

#include "core/cost/analytic/shards.h"
#include "sim/config/config.h"

struct pp_wish;

struct pp_state_plan_knob {
    const char *name;
    const char *const *settled_by; /* options that fix it, NULL-terminated */
    /* Lists its values in `base`, each as a configuration. PP_EINVAL if there is none. */
    enum pp_status (*values)(struct pp_arena *arena, const struct pp_config *base,
                             struct pp_config **list, int *count, struct pp_error *err);
};

/* STEP: the simulated step; COMM: communication in closed form, without overlap. */
enum pp_objective { PP_OBJECTIVE_STEP, PP_OBJECTIVE_COMM };
extern const char *const pp_objective_names[]; /* NULL-terminated */

struct pp_state_planned {
    struct pp_config config;
    struct pp_outcome outcome;
    struct pp_shard_times comm; /* in closed form */
    bool is_tie;                /* a tie with the fastest that fits */
};

enum { PP_PLANNER_KNOBS = 8 };
struct pp_state_plan {
    struct pp_config base;
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

/* Prints the paragraphs of the report alone, for `rows` shown rows. */
void pp_state_plan_print_facts(struct pp_arena *arena, const struct pp_state_plan *planner,
                               int rows, FILE *out);
void pp_state_plan_print(struct pp_arena *arena, const struct pp_state_plan *planner, int rows,
                         FILE *out);
void pp_state_plan_json(struct pp_arena *arena, const struct pp_state_plan *planner,
                        FILE *out); /* "pipesim.plan/1" */
void pp_state_plan_csv(struct pp_arena *arena, const struct pp_state_plan *planner,
                       FILE *out); /* one row per point */
/* Returns the devices over which a class is cut: "8x2" is 8 in a node, on 2 nodes. */
const char *pp_state_plan_mesh(struct pp_arena *arena, const struct pp_state_spec *state,
                               int class);
