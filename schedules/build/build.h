/* schedules/build/build.h — a complete program from a schedule or a given program: its order, its
 * lowering, its proof. */
#pragma once

#include "core/cost/cost.h"
#include "schedules/lower/lower.h"
#include "schedules/order/schedule.h"

/* What users choose of the lowering (schedules/lower/lower.h). */
enum { PP_USUAL_RECV_SLOTS = 2 };
struct pp_build_wishes {
    enum pp_post post;
    int recv_slots; /* 0 = unlimited */
    enum pp_grad_sync grad_sync;
    bool has_clip;
};

/* What a program is built from. The result keeps pointers into both. */
struct pp_build {
    const struct pp_schedule *schedule; /* NULL: not known, as of a file */
    struct pp_shape shape;              /* of the schedule's order */
    const struct pp_program *given;     /* in place of the schedule's order; NULL = none */
    const struct pp_costs *costs;       /* of the run; NULL = those of `unit` */
    const struct pp_unit_costs *unit;   /* NULL = the usual */
    bool is_eager;                      /* ranks run what is ready */
    int eager_limit;                    /* chunk activations, 0 = no limit */

    struct pp_build_wishes wishes;
    struct pp_state_spec state;   /* {0}: whole, on the device, and nowhere else */
    bool has_update;              /* of training: gradients are summed and parameters updated */
    bool has_tied;                /* embedding and head share weights */
    bool is_recomputed;           /* on all stages */
    const double *recompute_frac; /* [stage], where that is false; NULL = on none */
    const int *buckets;           /* [stage]: of a sum; NULL = 1 */
    bool no_slots;                /* as in pp_lower_options */

    bool proves_given;  /* in its own cells, before anything is added */
    bool proves_result; /* the complete program */
};

/* Only the order: then `given` is a program in this order. PP_EINVAL for a shape that the schedule
 * refuses; further errors are those of its search, of pp_eager_program() and of pp_verify(). */
enum pp_status pp_build_order(struct pp_arena *arena, struct pp_build *build, struct pp_error *err);
/* The state of a ZeRO stage, where every pipeline of `given` has so many replicas (0 = 1). */
void pp_build_take_zero(struct pp_build *build, int zero, int replicas);
/* How often a stage exists. */
static inline int pp_build_copies(const struct pp_build *build)
{
    return pp_mesh_size(build->state.replicas);
}

/* The complete program, in `arena`. Errors: those of the order, of pp_lower() and pp_verify(). */
enum pp_status pp_build(struct pp_arena *arena, const struct pp_build *build,
                        struct pp_program **program, struct pp_error *err);
