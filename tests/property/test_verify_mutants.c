/* verify against brute force: every schedule in every tiny shape, as it is and with one mistake
 * made at random, compute only and lowered. The two must agree on all of them. Without
 * PIPESIM_LONG=1, half of the mistakes are made, drawn at random. */
#include "brute_force.h"
#include "lists.h"
#include "mutants.h"
#include "schedules/lower/lower.h"
#include "schedules/order/concat.h"
#include "schedules/registry.h"
#include "schedules/verify/verify.h"
#include "tests/unit/support/state_specs.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 1 }; /* of all shapes, each with other mistakes */

struct tally {
    int programs, legal, illegal, deadlocks, refused;
};

struct trial {
    struct pp_arena *arena; /* emptied after each mutant */
    struct pp_program_head head;
    struct tally tally;
    uint64_t random;
    bool moves_cache; /* keys and values live on another tier */
    const char *what; /* for messages */
    char shape[256];
};

static int draw(struct trial *t, int below)
{
    return list_draw(&t->random, below);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static struct pp_orders *copy_of(struct pp_arena *arena, const struct pp_orders *orders)
{
    struct pp_orders *copy = pp_orders_create(arena, orders->ranks);

    for (int r = 0; r < orders->ranks; r++)
        for (int i = 0; i < orders->count[r]; i++)
            pp_orders_add(arena, copy, r, orders->ops[r][i]);
    return copy;
}

static void print_lists(const struct pp_orders *o, char *text, size_t bytes)
{
    size_t used = 0;

    for (int r = 0; r < o->ranks; r++) {
        for (int i = 0; i < o->count[r] && used + PP_OP_TEXT_BYTES + 4 < bytes; i++) {
            const struct pp_op_style style = {.splits = true, .pipelines = true, .slots = true};
            used += pp_op_print(&o->ops[r][i], style, text + used);
            text[used++] = o->ops[r][i].aux && pp_op_is_compute(o->ops[r][i].kind) ? '&' : ' ';
        }
        if (used + 2 < bytes)
            text[used++] = '\n';
    }
    text[used] = '\0';
}

/* ---- the comparison -------------------------------------------------------------------------- */

static void compare(struct trial *t, const struct pp_orders *orders, bool must_be_legal)
{
    static char text[1 << 16];
    char why[256];
    struct pp_error err = {0};
    struct pp_program *program = NULL;
    const enum judgement judged = judge(&t->head, orders, why);
    const bool is_frozen = pp_program_freeze(t->arena, &t->head, orders, &program, &err) == PP_OK;
    const enum pp_status status = is_frozen ? pp_verify(program, NULL, &err) : PP_EPROGRAM;
    const bool is_deadlock = is_frozen && strstr(err.message, "DEADLOCK") != NULL;

    t->tally.programs++;
    t->tally.legal += judged == JUDGED_LEGAL;
    t->tally.illegal += judged == JUDGED_ILLEGAL;
    t->tally.deadlocks += is_deadlock;
    t->tally.refused += !is_frozen;
    if ((status == PP_OK) == (judged == JUDGED_LEGAL) &&
        (!is_deadlock || judged == JUDGED_DEADLOCK) && (!must_be_legal || judged == JUDGED_LEGAL))
        return;
    print_lists(orders, text, sizeof(text));
    cr_assert_fail("%s, %s:\n%sjudge: %s (%s)\nverify: %s", t->shape, t->what, text,
                   judgement_names[judged], judged == JUDGED_LEGAL ? "" : why,
                   status == PP_OK ? "legal" : err.message);
}

static void try_mistakes(struct trial *t, const struct pp_orders *base, int times)
{
    const struct pp_arena_mark mark = pp_arena_mark(t->arena);
    struct mutation mutation = {t->arena, &t->head, &t->random};
    const bool has_all = getenv("PIPESIM_LONG") != NULL;

    for (int k = 0; k < MUTANTS; k++)
        for (int n = 0; n < mutants[k].weight * times; n++) {
            if (!has_all && draw(t, 2))
                continue;
            struct pp_orders *mutant = copy_of(t->arena, base);
            const int rank = draw(t, base->ranks);
            t->what = mutants[k].name;
            if (mutant->count[rank] > 0)
                mutants[k].make(&mutation, mutant, rank);
            compare(t, mutant, false);
            pp_arena_release(t->arena, mark);
        }
}

/* ---- all tiny shapes ------------------------------------------------------------------------- */

static void lowered(struct trial *t, const struct pp_orders *base, int times)
{
    const struct pp_program_head head = t->head;
    const double all[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const int cuts[] = {2, 1, 3, 2, 1, 3, 2, 2, 1, 2, 3, 1};
    struct pp_program *compute, *program;
    struct pp_error err = {0};
    struct pp_lower_options options = {
        .post = (enum pp_post)draw(t, 4),
        .recv_slots = draw(t, 4),
        .grad_sync = (enum pp_grad_sync)draw(t, 3),
        .has_optimizer = draw(t, 2),
        .has_tied = draw(t, 2),
        .recompute_frac = draw(t, 3) ? NULL : all,
        .buckets = draw(t, 2) ? NULL : cuts,
        .has_clip = draw(t, 3) == 0,
        .units = draw(t, 4) ? cuts : NULL,
        .state = specs_at(draw(t, draw(t, 2) ? SPECS : SPECS_ON_DEVICE)),
    };

    options.state.cached = draw(t, 3) ? 0 : draw(t, 8);
    options.state.evict = (enum pp_evict)draw(t, 3);
    options.again = (struct pp_again_words){.is_late = options.recv_slots % 2,
                                            .is_skipped = options.recv_slots / 2};
    if (head.pipelines > 1)
        options.state = specs_of_copies(options.state);
    options.state.has_early_update &= !options.has_clip;
    options.has_sync = specs_are_summed(&options.state);
    if (t->moves_cache) {
        options.state.home[PP_STATE_CACHE] = PP_TIER_HOST;
        options.state.buffers = 1 + draw(t, 3);
    }
    cr_assert_eq(pp_program_freeze(t->arena, &head, base, &compute, &err), PP_OK, "%s",
                 err.message);
    cr_assert_eq(pp_lower(t->arena, compute, &options, &program, &err), PP_OK, "%s: %s", t->shape,
                 err.message);
    const struct pp_state_spec *state = &options.state;
    const size_t used = strlen(t->shape);
    char shards[PP_STATE_TEXT_BYTES];
    snprintf(t->shape + used, sizeof(t->shape) - used, ", %s, R %d, %s%s%s%s%s%s, %s%s%s%s%s%s%s",
             pp_post_names[options.post], options.recv_slots, pp_grad_sync_names[options.grad_sync],
             options.has_optimizer ? ", U" : "", options.has_tied ? ", tied" : "",
             options.recompute_frac ? ", R" : "", options.buckets ? ", buckets" : "",
             options.has_clip ? ", clip" : "", pp_state_print(state, shards),
             pp_state_is_away(state, PP_STATE_PARAMS) ? ", loads" : "",
             pp_state_is_away(state, PP_STATE_ACTIVATIONS) ? ", copies" : "",
             pp_state_is_quantised(state) ? ", bits" : "",
             pp_state_is_away(state, PP_STATE_OPTIMIZER) ? ", moves" : "",
             !state->is_cpu_update             ? ""
             : state->has_early_update         ? ", early host update"
             : pp_state_has_host_stream(state) ? ", host stream"
                                               : ", host update",
             state->cached > 1 ? ", cache" : "");
    const size_t named = strlen(t->shape);
    snprintf(t->shape + named, sizeof(t->shape) - named, "%s%s",
             t->moves_cache                            ? ", cache of keys"
             : pp_state_is_away(state, PP_STATE_GRADS) ? ", parts"
                                                       : "",
             state->is_summed_on_device ? ", summed on the device" : "");
    struct pp_orders *lists = pp_program_thaw(t->arena, program);
    t->head = pp_program_head_of(program);
    t->what = "as lowered";
    compare(t, lists, true);
    try_mistakes(t, lists, times);
    t->head = head;
}

/* The forwards alone. */
static void try_infer(struct trial *t, const struct pp_orders *orders)
{
    struct pp_orders *base = copy_of(t->arena, orders);

    for (int r = 0; r < base->ranks; r++)
        for (int i = base->count[r] - 1; i >= 0; i--)
            if (base->ops[r][i].kind != PP_F)
                list_cut(base, r, i);
            else
                base->ops[r][i].aux = 0;
    t->head.mode = PP_MODE_INFER;
    t->what = "forwards alone";
    compare(t, base, true);
    try_mistakes(t, base, 1);
    lowered(t, base, 1);
}

static void try_shape(struct trial *t, const struct pp_schedule *schedule, struct pp_shape shape)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err;
    struct pp_orders *orders;
    struct pp_order_maps maps;

    t->arena = arena;
    if (pp_schedule_check(schedule, &shape, &err) != PP_OK)
        return;
    cr_assert_eq(pp_schedule_orders(arena, schedule, &shape, NULL, &orders, &maps, &err), PP_OK,
                 "%s", err.message);
    t->head = (struct pp_program_head){.name = schedule->name,
                                       .ranks = shape.ranks,
                                       .stages = pp_shape_stages(&shape),
                                       .pipelines = shape.pipelines,
                                       .micro_batches = shape.micro_batches,
                                       .granules = shape.granules,
                                       .splits = shape.splits,
                                       .versions = 1,
                                       .rank_of = maps.rank_of,
                                       .pipe_of = maps.pipe_of};
    snprintf(t->shape, sizeof(t->shape), "%s D%d V%d N%d q%d 2f%d concat %d", schedule->name,
             shape.ranks, shape.chunks, shape.micro_batches, shape.splits, shape.pipelines,
             shape.option[PP_CONCAT_AT]);
    const size_t length = strlen(t->shape);
    struct mutation mutation = {t->arena, &t->head, &t->random};
    t->what = "as generated";
    compare(t, orders, true);
    try_mistakes(t, orders, 1);
    for (int variant = 0; variant < 3; variant++) {
        struct pp_orders *base = copy_of(arena, orders);
        for (int r = 0; variant > 0 && r < base->ranks; r++)
            if (base->count[r] > 0)
                (variant == 1 ? mutant_cut_backward : mutant_recompute)(&mutation, base, r);
        t->shape[length] = '\0';
        t->what = "variant";
        compare(t, base, true);
        lowered(t, base, 1);
    }
    t->shape[length] = '\0';
    try_infer(t, orders);
}

static void try_options(struct trial *t, const struct pp_schedule *schedule, int ranks, int n)
{
    const bool two_way = schedule->placement == PP_PLACE_TWO_WAY;

    for (int chunks = 1; chunks <= 2; chunks++)
        for (int splits = 1; splits <= 2; splits++)
            for (int pipelines = 0; pipelines <= 4; pipelines += 2)
                for (int concat = PP_CONCAT_DIRECT; concat < PP_CONCAT_AUTO; concat++) {
                    if ((!two_way && (pipelines || concat)) || (two_way && !pipelines))
                        continue;
                    struct pp_shape shape = {.ranks = ranks,
                                             .chunks = two_way ? 0 : chunks,
                                             .micro_batches = n,
                                             .splits = splits,
                                             .pipelines = pipelines};
                    shape.option[PP_CONCAT_AT] = concat;
                    try_shape(t, schedule, shape);
                }
}

/* Passes through the same stages, of groups whose prompts may come in pieces. */
static void try_passes(struct trial *t, const struct pp_schedule *schedule, struct pp_shape shape)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_program *program;

    t->arena = arena;
    cr_assert_eq(pp_schedule_program(arena, schedule, &shape, NULL, &program, &err), PP_OK, "%s",
                 err.message);
    struct pp_orders *orders = pp_program_thaw(arena, program);
    t->head = pp_program_head_of(program);
    snprintf(t->shape, sizeof(t->shape), "%s D%d T%d N%d, pieces %d", schedule->name, shape.ranks,
             shape.chunks, shape.micro_batches, shape.granules);
    const size_t length = strlen(t->shape);
    t->what = "as generated";
    compare(t, orders, true);
    try_mistakes(t, orders, 1);
    lowered(t, orders, 2);
    t->shape[length] = '\0';
    t->moves_cache = true;
    lowered(t, orders, 2);
    t->moves_cache = false;
}

/* Up to four ranks and micro-batches, and 2D micro-batches where a schedule refuses fewer. */
static void try_schedule(struct trial *t, const struct pp_schedule *schedule)
{
    enum { MOST = 4 };

    for (int ranks = 1; ranks <= MOST; ranks++) {
        struct pp_shape shape = {.ranks = ranks, .micro_batches = MOST};
        for (int n = 1; n <= MOST; n++)
            try_options(t, schedule, ranks, n);
        if (pp_schedule_check(schedule, &shape, NULL) != PP_OK)
            try_options(t, schedule, ranks, 2 * ranks);
    }
}

Test(verify_mutants, agrees_on_passes_that_generate)
{
    struct trial t = {.random = 0xd1b54a32d192ed03};

    for (int round = 0; round < 6; round++)
        for (int ranks = 1; ranks <= 3; ranks++)
            for (int groups = 1; groups <= 3; groups++)
                for (int passes = 1; passes <= 4; passes++)
                    try_passes(&t, pp_generators[0],
                               (struct pp_shape){.ranks = ranks,
                                                 .chunks = passes,
                                                 .micro_batches = groups,
                                                 .granules = 1 + (round + ranks) % 3});
    cr_log_info("%d programs, %d legal, %d illegal, %d deadlocks, %d refused by freeze",
                t.tally.programs, t.tally.legal, t.tally.illegal, t.tally.deadlocks,
                t.tally.refused);
    cr_assert_gt(t.tally.legal, 100);
    cr_assert_gt(t.tally.deadlocks, 100);
}

Test(verify_mutants, agrees_with_brute_force)
{
    struct trial t = {.random = 0x9e3779b97f4a7c15};
    const char *seed = getenv("PP_SEED"); /* other mistakes, on request */

    t.random ^= seed ? strtoull(seed, NULL, 0) << 1 : 0;

    for (int k = 0; pp_schedules[k]; k++) {
        t.tally = (struct tally){0};
        for (int round = 0; round < ROUNDS || (t.tally.deadlocks <= 100 && round < 20); round++)
            try_schedule(&t, pp_schedules[k]);
        cr_log_info("%s: %d programs, %d legal, %d illegal, %d deadlocks, %d refused by freeze",
                    pp_schedules[k]->name, t.tally.programs, t.tally.legal, t.tally.illegal,
                    t.tally.deadlocks, t.tally.refused);
        cr_assert_gt(t.tally.legal, 100);
        cr_assert_gt(t.tally.deadlocks, 100);
    }
}
