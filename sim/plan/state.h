/* sim/plan/state.h — pipesim plan: what the user leaves free is tried out, each choice simulated,
 * all ranked. What can be free is a table of knobs; a choice is a complete configuration. */
#pragma once

#include "core/cost/analytic/shards.h"
#include "sim/config/config.h"

struct pp_wish;

/* Something that may be left free. */
struct pp_state_plan_knob {
    const char *name;
    const char *const *settled_by; /* options that leave nothing free, NULL-terminated */
    /* Every value that it can take in `base`, each a configuration. PP_EINVAL when it has none. */
    enum pp_status (*values)(struct pp_arena *arena, const struct pp_config *base,
                             struct pp_config **list, int *count, struct pp_error *err);
};

/* STEP: the simulated step; COMM: the closed form of communication, nothing hidden. */
enum pp_objective { PP_OBJECTIVE_STEP, PP_OBJECTIVE_COMM };
extern const char *const pp_objective_names[]; /* terminated by NULL */

struct pp_state_planned {
    struct pp_config config;
    struct pp_outcome outcome;
    struct pp_shard_times comm; /* in closed form */
    bool is_tie;                /* with the fastest that fits */
};

enum { PP_PLANNER_KNOBS = 8 };
struct pp_state_plan {
    struct pp_config base;
    const struct pp_state_plan_knob *knobs[PP_PLANNER_KNOBS]; /* those that are free */
    int knob_count;
    enum pp_objective objective;
    bool is_framework_chosen; /* not by the user */
    struct pp_state_planned
        *points; /* best first: those that fit, those that do not, the refused */
    int count, fitting, too_large, refused, ties;
};

/* Are all names of a list with commas in the table? */
bool pp_state_plan_has(const char *list);
/* --free, a list that the planner has, checked against what was given. */
enum pp_status pp_state_plan_free(const struct pp_wish *wish, struct pp_state_plan *planner,
                                  struct pp_error *err);
/* All values of the free knobs together, simulated and ranked. base and knobs are given.
 * Steps that differ by less than the model's own error are ties (docs/plan.md has the
 * figure). Ties are ranked by four rules in turn. First, no rank is strained: giving blocks
 * back takes time that no step counts, and how much comes back is an assumption. Then
 * gradients cut like parameters, least communication by the closed form, least state. */
#define PP_PLANNER_TIE_FRAC 0.06
enum pp_status pp_state_plan_run(struct pp_arena *arena, struct pp_state_plan *planner,
                                 struct pp_error *err);

/* ---- sim/plan/state_report.c ---- */
void pp_state_plan_print(struct pp_arena *arena, const struct pp_state_plan *planner, int rows,
                         FILE *out);
void pp_state_plan_json(struct pp_arena *arena, const struct pp_state_plan *planner,
                        FILE *out); /* "pipesim.plan/1" */
void pp_state_plan_csv(struct pp_arena *arena, const struct pp_state_plan *planner,
                       FILE *out); /* every point a row */
/* Over what a class is cut: "8x2", devices in a node and nodes. */
const char *pp_state_plan_mesh(struct pp_arena *arena, const struct pp_state_spec *state,
                               int class);
