/* schedules/build/build.h — from a schedule or a given program: order, lowering and proof. */
#pragma once

#include "core/cost/cost.h"
#include "schedules/lower/lower.h"
#include "schedules/memory/least.h"
#include "schedules/order/schedule.h"
#include "schedules/search/rule.h"

/* The user's choices for the lowering (schedules/lower/lower.h). */
enum { PP_USUAL_RECV_SLOTS = 2 };
struct pp_build_wishes {
    enum pp_post post;
    int recv_slots; /* 0 = unlimited */
    enum pp_grad_sync grad_sync;
    bool has_clip;
    bool has_whole_updates, reads_params;
    bool ties_at_bar;
    struct pp_again_words again;
};

/* A schedule's own order, before it is lowered. */
struct pp_build_list {
    struct pp_orders *orders;
    struct pp_program_head head;
    const struct pp_program_cut *cut; /* in ops: periods that the order leaves out; NULL = none */
};

/* Inputs of a program. The result keeps pointers into `schedule` and `given`. */
struct pp_build {
    const struct pp_schedule *schedule; /* NULL = not known, as of a file */
    struct pp_shape shape;              /* of the schedule's order */
    const struct pp_program *given;     /* replaces the schedule's order; NULL = none */
    const struct pp_build_list *list; /* the schedule's order for these costs; NULL = to be made */
    const struct pp_costs *costs;     /* of the run; NULL = those of `unit` */
    const struct pp_unit_costs *unit; /* NULL = pp_unit_costs_usual */
    struct pp_order_choice order;     /* of a rank's ops; {0}: the schedule's */
    const int64_t *unit_ps,           /* durations that the order follows; NULL = the costs' */
        *again_ps;                    /* the part of them that is recomputation */

    struct pp_build_wishes wishes;
    struct pp_state_spec state;   /* {0}: one whole copy, on the device */
    bool has_update;              /* training: gradients are summed and parameters updated */
    bool has_tied;                /* embedding and head share weights */
    bool joins_tied;              /* they have a sum on one rank, too, see pp_lower_options */
    bool is_recomputed;           /* on all stages */
    const double *recompute_frac; /* [stage]; unused if is_recomputed; NULL = 0 on all */
    const int *buckets;           /* [stage]: buckets of its gradient sum; NULL = 1 */
    bool no_slots;                /* as in pp_lower_options */
    bool may_cut;                 /* periods of a steady state may be left out (cut.h) */
    double most_bytes; /* of a rank: a schedule's order that needs more for certain is not lowered,
                        * and the program is NULL. 0 = any */

    bool proves_given;  /* check `given` in its own cells, before anything is added */
    bool proves_result; /* check the complete program */
};

/* Returns the stages of the model in a generating program, whose pass 0 reads prompts; else 0. */
static inline int pp_build_prompt_stages(const struct pp_build *build)
{
    const struct pp_program *p = build->given;

    if (p)
        return p->passes > 0 ? p->stages / p->passes : 0;
    return build->schedule->is_forward_only ? build->shape.ranks : 0;
}

/* Computes only the order: `given` becomes a program in this order. PP_EINVAL for a shape that the
 * schedule refuses. Other errors: those of its search, of pp_eager_program() and of pp_verify(). */
enum pp_status pp_build_order(struct pp_arena *arena, struct pp_build *build, struct pp_error *err);
/* Sets the state of a ZeRO stage, with `replicas` (0 = 1) of every pipeline of `given`. Stages 2
 * and 3 cut over the replicas of one pipeline. */
void pp_build_take_zero(struct pp_build *build, int zero, int replicas);
/* Returns the number of copies of a stage. */
static inline int pp_build_copies(const struct pp_build *build)
{
    return pp_mesh_size(build->state.replicas);
}

/* Is true if parameters are fetched, or gradients leave, in units; returns those of a stage. */
static inline bool pp_build_has_units(const struct pp_build *build)
{
    return build->costs->gathers &&
           (pp_state_is_fetched(&build->state) || pp_state_is_away(&build->state, PP_STATE_GRADS));
}
static inline int pp_build_units(const struct pp_build *build, int stage)
{
    const struct pp_stage_gathers *g = &build->costs->gathers[stage];

    return pp_state_is_fetched(&build->state) ? g->units : g->part_units;
}

/* Returns the list of a schedule without `given` and `order`, cut if that is allowed and periods
 * are found. Errors: of the order. */
enum pp_status pp_build_list(struct pp_arena *arena, const struct pp_build *build,
                             struct pp_build_list *list, struct pp_error *err);
/* Returns lower bounds of the memory of an order; 0 without bytes. Needs the costs. */
struct pp_least pp_build_least(const struct pp_build *build, const struct pp_build_list *list);

/* Returns the complete program in `arena`; see `most_bytes`. Errors: of the order, pp_lower() and
 * pp_verify(). */
enum pp_status pp_build(struct pp_arena *arena, const struct pp_build *build,
                        struct pp_program **program, struct pp_error *err);
