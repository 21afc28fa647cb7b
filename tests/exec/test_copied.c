/* Bytes between memory tiers. Those that are counted where they are copied are those of program and
 * costs, in every schedule, by class and direction. */
#include "tests/exec/typed.h"

#include "exec/copy/figures.h"
#include "schedules/registry.h"

#include <criterion/criterion.h>
#include <math.h>

#define SMALL "--layers 8 --hidden 16 --heads 2 --seq 16 --mbs 2 --steps 2 --exact-grad "

/* Trains as a line says. Is false for what is refused: every refusal has the word `refused`. */
static bool train(struct pp_arena *arena, const char *line, const char *refused,
                  struct typed *typed, struct pp_training_result *result)
{
    struct pp_error err = {0};
    const enum pp_status status =
        typed_resolve(arena, pp_arena_printf(arena, SMALL "%s", line), typed, &err);

    if (status == PP_EINVAL && refused && strstr(err.message, refused))
        return false;
    cr_assert_eq(status, PP_OK, "%s: %s", line, err.message);
    cr_assert_eq(pp_train(arena, &typed->training, result, &err), PP_OK, "%s: %s", line,
                 err.message);
    return true;
}

/* Is false if no instruction moves the class, as where one micro-batch at a time is in flight. */
static bool has_moves(const struct pp_program *p, enum pp_state_class class)
{
    bool has = false;

    for (int i = 0; i < pp_program_size(p); i++)
        has |= pp_op_is_move(p->kind[i]) && pp_move_cause(p->kind[i], p->purpose[i]) == (int)class;
    return has;
}

/* Bytes ever written in the block of the device, in that of the host and in the file. */
static void expect_written(const char *line, const struct pp_program *p,
                           const struct pp_training_result *r)
{
    for (int rank = 0; rank < p->ranks; rank++) {
        cr_expect_eq(r->touched_bytes[rank], (double)r->layout[rank].peak_bytes,
                     "%s: device of rank %d: %g, %zu", line, rank, r->touched_bytes[rank],
                     r->layout[rank].peak_bytes);
        for (int tier = PP_TIER_HOST; tier < PP_TIERS; tier++) {
            const uint64_t written = r->tiers[rank].written_bytes[tier],
                           predicted = r->predicted_tiers[rank].written_bytes[tier];
            cr_expect_eq(written, predicted, "%s: %s of rank %d: %llu, %llu", line,
                         pp_tier_rows[tier].name, rank, (unsigned long long)written,
                         (unsigned long long)predicted);
        }
    }
}

static void expect_copied(const char *line, const struct pp_program *p,
                          const struct pp_training_result *r, enum pp_state_class class)
{
    double bytes = 0;

    expect_written(line, p, r);

    for (int rank = 0; rank < p->ranks; rank++)
        for (int c = 0; c < PP_STATE_CLASSES; c++) {
            const struct pp_copied *counted = &r->tiers[rank].copied[c],
                                   *predicted = &r->predicted_tiers[rank].copied[c];
            cr_expect_eq(counted->down_bytes, predicted->down_bytes, "%s: %s of rank %d: %g, %g",
                         line, pp_state_class_names[c], rank, counted->down_bytes,
                         predicted->down_bytes);
            cr_expect_eq(counted->up_bytes, predicted->up_bytes, "%s: %s of rank %d: %g, %g", line,
                         pp_state_class_names[c], rank, counted->up_bytes, predicted->up_bytes);
            bytes += c == (int)class ? counted->down_bytes + counted->up_bytes : 0;
        }
    cr_expect_eq(bytes > 0, has_moves(p, class), "%s: %g", line, bytes);
    cr_expect_eq(r->structural_error_s, 0, "%s: %g", line, r->structural_error_s);
}

/* The file of `.` has no name. */
static const struct {
    const char *offload;
    enum pp_state_class class;
} homes[] = {
    {"a=host", PP_STATE_ACTIVATIONS},
    {"a=nvme --nvme .", PP_STATE_ACTIVATIONS},
    {"a=host:40%", PP_STATE_ACTIVATIONS},
    {"p=host", PP_STATE_PARAMS},
    {"p=nvme --nvme .", PP_STATE_PARAMS},
    {"os=host --cpu-optimizer", PP_STATE_GRADS},
    {"g,os=host --cpu-optimizer", PP_STATE_GRADS},
    {"p,g,os,a=host --cpu-optimizer", PP_STATE_PARAMS},
    {"p,g,os,a=nvme --nvme . --cpu-optimizer", PP_STATE_PARAMS},
};

/* Schedules that need another shape, or that are only simulated, are left out by their refusal. */
Test(copied, counted_is_predicted_in_every_schedule)
{
    for (size_t h = 0; h < PP_COUNT(homes); h++) {
        int ran = 0, all = 0;
        for (int s = 0; pp_schedules[s]; s++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            const char *line =
                pp_arena_printf(arena, "--schedule %s --np 4 --micro-batches 8 --offload %s",
                                pp_schedules[s]->name, homes[h].offload);
            struct typed typed;
            struct pp_training_result result;
            all += !pp_schedules[s]->is_simulated_only;
            if (!train(arena, line, "schedule", &typed, &result))
                continue;
            expect_copied(line, typed.training.machine.program, &result, homes[h].class);
            ran += has_moves(typed.training.machine.program, homes[h].class);
        }
        cr_expect_geq(ran, all - 3, "%s: %d of %d schedules move it", homes[h].offload, ran, all);
    }
}

/* With gpipe, each micro-batch goes down and comes up once: all slots of a run without tiers. In
 * the slot of a first stage a backward writes one gradient, which does not move. */
Test(copied, activations_of_gpipe_move_twice)
{
    static const int counts[] = {4, 8, 16};

    for (size_t k = 0; k < PP_COUNT(counts); k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const char *line =
            pp_arena_printf(arena, "--schedule gpipe --np 2 --micro-batches %d", counts[k]);
        struct typed plain, away;
        struct pp_training_result without, with;
        train(arena, line, NULL, &plain, &without);
        cr_expect_null(without.tiers);
        train(arena, pp_arena_printf(arena, "%s --offload a=host", line), NULL, &away, &with);
        for (int rank = 0; rank < 2; rank++) {
            const struct pp_copied *copied = &with.tiers[rank].copied[PP_STATE_ACTIVATIONS];
            const struct pp_stage *stage = plain.training.machine.stages[rank];
            const double unmoved =
                             rank == 0 ? (double)((size_t)counts[k] * stage->boundary_bytes) : 0,
                         bytes = (double)without.layout[rank].activations_bytes - unmoved;
            cr_expect_eq(copied->down_bytes, bytes, "%g, %g", copied->down_bytes, bytes);
            cr_expect_eq(copied->up_bytes, bytes, "%g, %g", copied->up_bytes, bytes);
        }
    }
}

/* Exposed waits by class add up to the copies' part of the step, and slower tiers take longer. */
Test(copied, slow_tiers_are_waited_for)
{
    double last_s = 0;

    for (double rate = 1e9; rate > 1e6; rate /= 10) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const char *line = pp_arena_printf(
            arena, "--schedule 1f1b --np 4 --micro-batches 8 --offload a=host --tier host:%gBps",
            rate);
        struct typed typed;
        struct pp_training_result r;
        double frac = 0;
        train(arena, line, NULL, &typed, &r);
        for (int c = 0; c < PP_MOVE_CAUSES; c++)
            frac += r.metrics.moves_frac[c];
        cr_expect_float_eq(frac, r.metrics.time_frac[PP_TIME_MOVES], 1e-12);
        const double exposed_s = frac * r.metrics.iteration_s;
        cr_expect_geq(exposed_s, last_s, "%g: %g s, %g s", rate, exposed_s, last_s);
        last_s = exposed_s;
    }
    cr_expect_gt(last_s, 0);
}

/* The machine itself allocates nothing beyond a cap, without a check before the run, too. */
Test(copied, allocator_holds_caps)
{
    static const enum pp_tier tiers[] = {PP_TIER_DEVICE, PP_TIER_HOST};

    for (int k = 0; k < 4; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const enum pp_tier tier = tiers[k % 2];
        const bool is_short = k / 2;
        struct typed typed;
        struct pp_training_result free, capped;
        struct pp_error err = {0};
        const char *line = "--schedule gpipe --np 2 --micro-batches 8 --offload a=host";
        train(arena, line, NULL, &typed, &free);
        size_t most = 0;
        for (int rank = 0; rank < 2; rank++) {
            const struct pp_rank_layout *l = &free.layout[rank];
            const size_t bytes = tier == PP_TIER_DEVICE ? l->block_bytes : l->tier_bytes[tier];
            most = bytes > most ? bytes : most;
        }
        typed.training.machine.tiers.most_bytes[tier] = most - is_short;
        cr_expect_eq(pp_train(arena, &typed.training, &capped, &err), is_short ? PP_EFIT : PP_OK,
                     "%s", err.message);
    }
}
