/* Programs with one mistake, executed. A mutant that verify refuses runs on the fake device, in as
 * many orders as it has streams. It must end in an error, or its gradients or weights must differ
 * from those of a loop over the micro-batches. A mutant that verify accepts is no mistake: it must
 * have the same bits. So verify, the search for races and the executor check each other. */
#include "mistakes.h"
#include "races.h"
#include "schedules/registry.h"
#include "schedules/verify/verify.h"
#include "tests/exec/run.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* Of each mistake on each program: how many are run, and made. Orders of what has no race. */
enum { LONG_TRIES = 4, TRIES = 1, ATTEMPTS = 40, FEW_ORDERS = 3 };

struct subject {
    struct pp_arena *arena;
    const char *name;
    struct exec_run run;
    struct pp_program_head head;
    struct pp_reference *summed, *updated; /* after the gradients of a step; after its update */
    uint64_t random;
};

/* ---- execution ------------------------------------------------------------------------------- */

struct comparison {
    const struct subject *s;
    const struct pp_reference *reference;
    enum pp_vector what;
    struct pp_difference difference;
};

static void compare_all(void *closure, const struct pp_machine *machine, int step)
{
    struct comparison *c = closure;
    const struct pp_program *p = c->s->run.program;

    (void)step;
    for (int replica = 0; replica < c->s->run.batch.replicas; replica++)
        for (int pipe = 0; pipe < p->pipelines; pipe++)
            for (int stage = 0; stage < p->stages; stage++) {
                struct pp_error err;
                struct pp_state state;
                cr_assert_eq(pp_machine_state(machine, replica, pipe, stage, &state, &err), PP_OK);
                pp_reference_compare(c->reference, c->s->run.stages[stage], &state, c->what,
                                     &c->difference);
            }
}

/* PP_EFAIL: an error; PP_ETOLERANCE: other bits; with what, where and in which order. */
static enum pp_status run_once(const struct subject *s, const struct pp_program *program,
                               uint64_t seed, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_machine_options options = s->run.training.machine;
    struct comparison gradients = {.s = s, .reference = s->summed, .what = PP_VECTOR_GRADIENTS},
                      weights = {.s = s, .reference = s->updated, .what = PP_VECTOR_WEIGHTS};
    struct pp_machine *machine = NULL;
    struct pp_step_result result;

    options.program = program;
    options.seed = seed;
    PP_TRY(pp_machine_create(arena, &options, &machine, err));
    pp_machine_on_gradients(machine, compare_all, &gradients);
    const enum pp_status status = pp_machine_step(machine, &s->run.training.text, 0, &result, err);
    if (status == PP_OK)
        compare_all(&weights, machine, 0);
    pp_machine_destroy(machine);
    PP_TRY(status);
    if (gradients.difference.differing + weights.difference.differing == 0)
        return PP_OK;
    const struct pp_difference *d =
        gradients.difference.differing ? &gradients.difference : &weights.difference;
    return pp_error_set(err, PP_ETOLERANCE, "seed %d: %s differ, worst %s of layer %d", (int)seed,
                        d == &weights.difference ? "weights" : "gradients", d->worst,
                        d->worst_layer);
}

/* In which every pair of ops that nothing orders has come both ways. */
static int all_orders(const struct subject *s, const struct pp_program *program)
{
    return (program->ranks + program->channel_count) * s->run.batch.replicas +
           program->collective_count;
}

/* The first run that shows something. */
static enum pp_status run_in_orders(const struct subject *s, const struct pp_program *program,
                                    int orders, struct pp_error *err)
{
    for (int seed = 0; seed < orders; seed++)
        PP_TRY(run_once(s, program, (uint64_t)seed, err));
    return PP_OK;
}

/* ---- the verdicts ---------------------------------------------------------------------------- */

struct tally {
    int unreadable;          /* refused as structural nonsense: nothing to run */
    int refused;             /* by the machine: gradients incomplete where ranks meet last */
    int errors, differences; /* refused by verify; what execution showed */
    int harmless;            /* refused by verify, but ordered by other means: right */
    int accepted;            /* by verify: right */
};

/* Verify refuses more than actual errors: it requires a WAIT for every message before its buffer is
 * used again. Sometimes another message, or the barrier before the update, proves as much. Such a
 * mutant has no race, so one correct order stands for all.
 * False: cannot be run. */
static bool judge(const struct subject *s, const char *what, const struct pp_orders *lists,
                  struct tally *tally)
{
    struct pp_program *program;
    struct pp_error verdict = {0}, shown = {0};

    if (pp_program_freeze(s->arena, &s->head, lists, &program, &verdict) != PP_OK) {
        tally->unreadable++;
        return false;
    }
    const bool is_legal = pp_verify(program, NULL, &verdict) == PP_OK;
    const char *race = find_race(s->arena, program);
    const int orders = race || getenv("PIPESIM_LONG") ? all_orders(s, program) : FEW_ORDERS;
    const enum pp_status status = run_in_orders(s, program, orders, &shown);
    if (status == PP_EPROGRAM) {
        tally->refused++;
        return true;
    }
    cr_assert(!is_legal || (status == PP_OK && !race), "%s, %s, which verify accepts: %s\n%s",
              s->name, what, race ? race : shown.message, pp_program_text(s->arena, program));
    cr_assert(is_legal || status != PP_OK || !race, "%s, %s, passed in every order, but %s\n%s",
              s->name, what, race, pp_program_text(s->arena, program));
    tally->accepted += is_legal;
    tally->harmless += !is_legal && status == PP_OK;
    tally->errors += status == PP_EFAIL;
    tally->differences += status == PP_ETOLERANCE;
    return true;
}

static void try_mistakes(struct subject *s, struct tally tally[MISTAKES])
{
    const struct pp_arena_mark mark = pp_arena_mark(s->arena);
    const int tries = getenv("PIPESIM_LONG") ? LONG_TRIES : TRIES;

    for (int k = 0; k < MISTAKES; k++)
        for (int n = 0, left = tries; n < ATTEMPTS && left > 0; n++) {
            struct pp_orders *lists = pp_program_thaw(s->arena, s->run.program);
            if (make_mistake(k, &s->random, lists))
                left -= judge(s, mistake_name(k), lists, &tally[k]);
            pp_arena_release(s->arena, mark);
        }
}

/* ---- subjects -------------------------------------------------------------------------------- */

static struct pp_reference *make_reference(struct subject *s)
{
    struct pp_reference *reference;
    struct pp_error err = {0};
    double loss;

    cr_assert_eq(pp_reference_create(s->arena, &s->run.training.net,
                                     s->run.training.machine.kernels,
                                     &(const struct pp_place){&pp_backend_cpu}, &s->run.batch,
                                     &s->run.recipe, &reference, &err),
                 PP_OK, "%s", err.message);
    cr_assert_eq(pp_reference_step(reference, &s->run.training.text, 0, &loss, &err), PP_OK, "%s",
                 err.message);
    return reference;
}

static bool make_subject(struct subject *s, const struct exec_case *c)
{
    struct pp_error err = {0};

    if (exec_run_make(s->arena, c, &s->run, &err) != PP_OK)
        return false;
    s->run.recipe.warmup_steps = 0; /* the first update counts */
    s->name = exec_case_text(s->arena, c);
    s->head = pp_program_head_of(s->run.program);
    s->summed = make_reference(s);
    s->updated = make_reference(s);
    cr_assert_eq(pp_reference_update(s->updated, 0, &err), PP_OK, "%s", err.message);
    return true;
}

static void try_schedule(const struct pp_schedule *schedule, int ranks, uint64_t seed,
                         struct tally tally[MISTAKES])
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct subject s = {.arena = arena, .random = 0x9e3779b97f4a7c15 + seed};
    struct exec_case c = {.schedule = schedule->name,
                          .shape = {.ranks = ranks, .micro_batches = 4},
                          .replicas = 1 + (int)(seed / 4 % 2),
                          .layers = 2 * ranks,
                          .hidden = 8,
                          .mbs = 1,
                          .steps = 1,
                          .is_exact = true,
                          .is_double = true,
                          .is_untied = seed % 2,
                          .grad_sync = (enum pp_grad_sync)(seed / 2 % 2),
                          .backend = &pp_backend_fake,
                          .clip = 1};
    struct pp_error err = {0};

    while (!make_subject(&s, &c) && c.shape.micro_batches < 16)
        c.shape.micro_batches++;
    cr_assert_lt(c.shape.micro_batches, 16, "%s", schedule->name);
    cr_assert_eq(run_in_orders(&s, s.run.program, all_orders(&s, s.run.program), &err), PP_OK,
                 "%s: %s", s.name, err.message);
    try_mistakes(&s, tally);
}

static void try_all(int ranks)
{
    struct tally tally[MISTAKES] = {0};
    const char *seed = getenv("PP_SEED"); /* other mistakes, on request */

    for (int k = 0; pp_schedules[k]; k++)
        if (!pp_schedules[k]->is_simulated_only)
            try_schedule(pp_schedules[k], ranks, (uint64_t)k + (seed ? strtoull(seed, NULL, 0) : 0),
                         tally);
    for (int k = 0; k < MISTAKES; k++) {
        cr_log_info("P=%d, %s: %d errors, %d differences, %d refused by the machine, %d harmless, "
                    "%d accepted, %d unreadable",
                    ranks, mistake_name(k), tally[k].errors, tally[k].differences, tally[k].refused,
                    tally[k].harmless, tally[k].accepted, tally[k].unreadable);
        cr_assert_gt(tally[k].errors + tally[k].differences, 0, "%s", mistake_name(k));
        cr_assert(k >= FATAL_MISTAKES || tally[k].harmless + tally[k].accepted == 0, "%s",
                  mistake_name(k));
    }
}

Test(exec_mutants, two_ranks)
{
    try_all(2);
}

Test(exec_mutants, four_ranks)
{
    try_all(4);
}
