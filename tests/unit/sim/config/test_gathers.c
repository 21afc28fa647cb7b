/* Gathers of parameters that are cut: how often, in which order, and that nothing else is legal. */
#include "tests/unit/support/lower_cases.h"

#include "schedules/registry.h"
#include "schedules/verify/verify.h"
#include "sim/config/gathers.h"
#include "tests/unit/support/cells.h"
#include "tests/unit/support/state_specs.h"

enum { STAGES_MAX = 64 };

static struct pp_lower_options cut_options(const int *units, int buffers)
{
    struct pp_lower_options options = {
        .recv_slots = 2, .has_optimizer = true, .units = units, .state = specs_cut(2, 2, 2, 2)};

    options.state.buffers = buffers;
    return options;
}

static struct pp_program *lower(struct pp_arena *arena, const struct pp_program *compute,
                                const struct pp_lower_options *options)
{
    struct pp_program *p;
    struct pp_error err;

    cr_assert_eq(pp_lower(arena, compute, options, &p, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_verify(p, NULL, &err), PP_OK, "%s", err.message);
    return p;
}

/* What --explain counts for this program. */
static int visits_of(struct pp_program *p, const int *units, int rank)
{
    struct pp_stage_gathers gathers[STAGES_MAX] = {0};
    struct pp_costs costs = {.gathers = gathers};
    const struct pp_result result = {.program = p, .costs = &costs};

    for (int s = 0; s < p->stages; s++)
        gathers[s] = (struct pp_stage_gathers){.units = units[s], .is_cut = true};
    return (int)pp_gathers_visits(&result, rank);
}

/* Lamy-Poirier 2023: a layer at a time, one buffer, one layer a unit, rank 0 of P, V layers a rank,
 * N micro-batches. Breadth-first 2 V - 1, whatever N is. */
Test(gathers, visits_are_those_of_breadth_first_pipelines)
{
    static const struct {
        const char *schedule;
        int p, v, n, visits;
    } rows[] = {
        {"1f1b", 8, 8, 8, 127},  {"interleaved", 8, 8, 8, 15},   {"bfs", 8, 8, 8, 15},
        {"1f1b", 8, 8, 32, 463}, {"interleaved", 8, 8, 32, 323}, {"bfs", 8, 8, 32, 15},
        {"1f1b", 4, 4, 16, 103}, {"interleaved", 4, 4, 16, 75},  {"bfs", 4, 4, 16, 7},
    };

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (int buffers = 1; buffers <= 5; buffers++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            const bool is_looped = strcmp(rows[k].schedule, "1f1b") != 0;
            struct pp_shape shape = {.ranks = rows[k].p,
                                     .micro_batches = rows[k].n,
                                     .chunks = is_looped ? rows[k].v : 0};
            struct pp_program *compute;
            struct pp_error err;
            int units[STAGES_MAX];

            for (int s = 0; s < STAGES_MAX; s++)
                units[s] = is_looped ? 1 : rows[k].v;
            cr_assert_eq(pp_schedule_program(arena, pp_schedule_find(rows[k].schedule), &shape,
                                             NULL, &compute, &err),
                         PP_OK, "%s", err.message);
            const struct pp_lower_options options = cut_options(units, buffers);
            struct pp_program *p = lower(arena, compute, &options);
            cr_assert_eq(visits_of(p, units, 0), rows[k].visits, "%s P %d V %d N %d: %d",
                         rows[k].schedule, rows[k].p, rows[k].v, rows[k].n, visits_of(p, units, 0));
        }
}

/* Every op as the units it goes through, one after the other: maximal runs of one unit. Only of
 * lists without pairs. -1 where there are some. */
static int counted_runs(const struct pp_program *p, const int *units, int rank)
{
    int runs = 0, last_stage = -1, last_unit = -1;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        const int kind = p->kind[i], stage = p->stage[i];
        if (p->aux[i] == PP_FUSED_FIRST && kind == PP_F)
            return -1;
        if (kind != PP_F && kind != PP_B && kind != PP_I)
            continue;
        for (int k = 0; k < units[stage]; k++) {
            const int unit = kind == PP_F ? k : units[stage] - 1 - k;
            runs += stage != last_stage || unit != last_unit;
            last_stage = stage, last_unit = unit;
        }
    }
    return runs;
}

/* The next spec that a rule allows, in an order that mixes all of them. */
static struct pp_state_spec next_spec(int *number, bool (*is_allowed)(const struct pp_state_spec *))
{
    enum { STRIDE = 7919 };

    for (;;) {
        const struct pp_state_spec spec = specs_at((int)((int64_t)(*number)++ * STRIDE % SPECS));
        if (is_allowed(&spec))
            return spec;
    }
}

static bool is_cut(const struct pp_state_spec *spec)
{
    return pp_state_is_gathered(spec);
}

static void check_case(struct pp_arena *arena, const struct pp_program *compute, void *context)
{
    static const double all[STAGES_MAX] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                           1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    int *counts = context, units[STAGES_MAX];

    if (compute->pipelines > 1 || compute->versions > 1 || compute->stages > 36)
        return;
    for (int at = 0; at < 12; at++) {
        const struct pp_arena_mark mark = pp_arena_mark(arena);
        for (int s = 0; s < compute->stages; s++)
            units[s] = at % 3 == 0 ? 1 : 1 + (s + at) % 4;
        struct pp_lower_options options = cut_options(units, 2);
        options.state = next_spec(&counts[2], is_cut);
        options.post = at % 4;
        options.grad_sync = at % 3;
        options.has_sync = specs_are_summed(&options.state);
        options.has_tied = at % 3 != 1 && compute->stages > 1;
        options.recompute_frac = at % 5 == 0 ? all : NULL;
        struct pp_program *p = lower(arena, compute, &options);
        struct machine machine = machine_make(arena, p);
        cr_assert(machine_run(&machine, at % 2), "%s", compute->name);
        for (int rank = 0; rank < p->ranks; rank++) {
            const int runs = counted_runs(p, units, rank);
            cr_assert(runs < 0 || runs == visits_of(p, units, rank), "%s D%d N%d rank %d: %d, %d",
                      compute->name, compute->ranks, compute->micro_batches, rank, runs,
                      visits_of(p, units, rank));
            counts[1] += runs >= 0;
        }
        counts[0]++;
        pp_arena_release(arena, mark);
    }
}

Test(gathers, every_schedule_gathers_as_often_as_its_units_change)
{
    int counts[3] = {0};

    for_each_case(check_case, counts);
    cr_assert(counts[0] > 1000 && counts[1] > 1000, "%d, %d", counts[0], counts[1]);
}

/* Loads, with gathers and without: also of pipelines in both directions, where nothing is gathered.
 * Every visit has one load, and nothing of it can be left out. */
static bool is_away(const struct pp_state_spec *spec)
{
    return pp_state_is_away(spec, PP_STATE_PARAMS);
}

static void check_loads(struct pp_arena *arena, const struct pp_program *compute, void *context)
{
    int *counts = context, units[STAGES_MAX];

    if (compute->versions > 1 || compute->stages > 36)
        return;
    for (int at = 0; at < 8; at++) {
        const struct pp_arena_mark mark = pp_arena_mark(arena);
        for (int s = 0; s < compute->stages; s++)
            units[s] = at % 3 == 0 ? 1 : 1 + (s + at) % 4;
        struct pp_lower_options options = cut_options(units, 2);
        options.state = next_spec(&counts[1], is_away);
        if (compute->pipelines > 1)
            options.state = specs_of_copies(options.state);
        options.has_sync = specs_are_summed(&options.state);
        const struct pp_program *p = lower(arena, compute, &options);
        int loads = 0, fetches = 0, drops = 0;
        for (int i = 0; i < pp_program_size(p); i++) {
            const bool is_load = p->kind[i] == PP_MOVE && pp_move_is_load(p->version[i]);
            loads += is_load;
            fetches += !pp_state_is_gathered(&options.state)
                           ? is_load
                           : p->kind[i] == PP_AG && pp_purpose_is_gather(p->version[i]);
            drops += p->kind[i] == PP_DROP;
        }
        cr_assert(loads == fetches && loads == drops && loads > 0, "%s: %d, %d, %d", compute->name,
                  loads, fetches, drops);
        counts[0]++;
        pp_arena_release(arena, mark);
    }
}

Test(gathers, every_visit_is_loaded_once)
{
    int counts[2] = {0};

    for_each_case(check_loads, counts);
    cr_assert_gt(counts[0], 1000);
}

/* ---- by hand --------------------------------------------------------------------------------- */

static const uint16_t one_rank[] = {0, 0, 0, 0};
static struct pp_program_head head_of(int stages, int micro_batches)
{
    return (struct pp_program_head){.name = "test",
                                    .level = PP_LEVEL_LOWERED,
                                    .ranks = 1,
                                    .stages = stages,
                                    .pipelines = 1,
                                    .micro_batches = micro_batches,
                                    .granules = 1,
                                    .splits = 1,
                                    .versions = 1,
                                    .rank_of = one_rank};
}

static struct pp_program *lower_text(struct pp_arena *arena, struct pp_program_head head,
                                     const char *text, const struct pp_lower_options *options)
{
    struct pp_program *compute;
    struct pp_error err;

    head.level = PP_LEVEL_COMPUTE;
    cr_assert_eq(pp_program_freeze(arena, &head, cells_orders(arena, text, 1), &compute, &err),
                 PP_OK, "%s", err.message);
    return lower(arena, compute, options);
}

Test(gathers, one_buffer_two_buffers_and_layers_by_hand)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static const int whole[] = {1, 1}, layers[] = {3};
    struct pp_lower_options options = cut_options(whole, 1);

    cells_text_is(lower_text(arena, head_of(2, 1), "0F0 1F0 1B0 0B0", &options),
                  "0AG.forward (0AG.forward)WAIT 0F0 0DROP 1AG.forward (1AG.forward)WAIT 1F0 1B0 "
                  "1DROP 1RS.visit (1RS.visit)WAIT 0AG.backward (0AG.backward)WAIT 0B0 0DROP "
                  "0RS.visit (0RS.visit)WAIT 1U 0U\n");
    options.state.buffers = 2;
    cells_text_is(lower_text(arena, head_of(2, 1), "0F0 1F0 1B0 0B0", &options),
                  "0AG.forward (0AG.forward)WAIT 1AG.forward 0F0 0DROP (1AG.forward)WAIT "
                  "0AG.backward 1F0 1B0 1DROP 1RS.visit (0AG.backward)WAIT 0B0 0DROP "
                  "(1RS.visit)WAIT 0RS.visit (0RS.visit)WAIT 1U 0U\n");
    options.state.buffers = 3;
    cells_text_is(lower_text(arena, head_of(2, 1), "0F0 1F0 1B0 0B0", &options),
                  "0AG.forward (0AG.forward)WAIT 1AG.forward 0AG.backward 0F0 0DROP "
                  "(1AG.forward)WAIT 1F0 1B0 1DROP 1RS.visit (0AG.backward)WAIT 0B0 0DROP "
                  "0RS.visit (1RS.visit)WAIT (0RS.visit)WAIT 1U 0U\n");
    options = cut_options(layers, 2);
    cells_text_is(lower_text(arena, head_of(1, 2), "0F0 0F1 0B0 0B1", &options),
                  "0AG.forward (0AG.forward)WAIT 0AG.forward 0F0 0DROP (0AG.forward)WAIT "
                  "0AG.backward 0F1 0B0 0DROP 0RS.visit (0AG.backward)WAIT 0B1 0DROP "
                  "(0RS.visit)WAIT 0RS.visit (0RS.visit)WAIT 0U\n");
    options = cut_options(whole, 2); /* parameters that live elsewhere: whole, and cut */
    options.state = specs_cut(1, 1, 1, 1);
    options.state.home[PP_STATE_PARAMS] = PP_TIER_HOST;
    cells_text_is(lower_text(arena, head_of(2, 1), "0F0 1F0 1B0 0B0", &options),
                  "0MOVE.load (0MOVE.load)WAIT 1MOVE.load 0F0 0DROP (1MOVE.load)WAIT 0MOVE.reload "
                  "1F0 1B0 1DROP (0MOVE.reload)WAIT 0B0 0DROP 1U 1MOVE.home 0U 0MOVE.home "
                  "(1MOVE.home)WAIT (0MOVE.home)WAIT\n");
    options.state = specs_cut(2, 2, 2, 2);
    options.state.home[PP_STATE_PARAMS] = PP_TIER_HOST;
    cells_text_is(lower_text(arena, head_of(2, 1), "0F0 1F0 1B0 0B0", &options),
                  "0MOVE.load (0MOVE.load)WAIT 0AG.forward (0AG.forward)WAIT 1MOVE.load "
                  "0MOVE.reload 0F0 0DROP (1MOVE.load)WAIT 1AG.forward (1AG.forward)WAIT "
                  "(0MOVE.reload)WAIT 0AG.backward 1F0 1B0 1DROP 1RS.visit (0AG.backward)WAIT 0B0 "
                  "0DROP (1RS.visit)WAIT 0RS.visit (0RS.visit)WAIT 1U 1MOVE.home 0U 0MOVE.home "
                  "(1MOVE.home)WAIT (0MOVE.home)WAIT\n");
    options = (struct pp_lower_options){
        .has_sync = true, .has_optimizer = true, .state = specs_cut(1, 2, 2, 4)};
    cells_text_is(lower_text(arena, head_of(1, 3), "0F0 0B0 0F1 0B1 0F2 0B2", &options),
                  "0F0 0B0 0RS.part 0F1 0B1 (0RS.part)WAIT 0RS.part 0F2 0B2 0RS 0AR.rest "
                  "(0RS.part)WAIT (0RS)WAIT (0AR.rest)WAIT 0U 0AG (0AG)WAIT\n");
}

/* As the text of a program states it. */
static struct pp_program_state stated(const char *words, const uint16_t *units, int buffers)
{
    const int params = strchr(words, 'p') ? 2 : 1, grads = strchr(words, 'g') ? 4 : params;
    struct pp_program_state state = {.spec = specs_cut(params, grads, grads, 4), .units = units};

    state.spec.home[PP_STATE_PARAMS] = strchr(words, 'm') ? PP_TIER_HOST : PP_TIER_DEVICE;
    state.spec.buffers = buffers;
    return state;
}

/* What is not legal, and what is said of it. */
Test(gathers, verify_refuses_what_is_not_there)
{
    static const uint16_t one[] = {1}, two[] = {2};
    const struct pp_program_state none = {0}, p = stated("p", one, 0), layers = stated("p", two, 0),
                                  g = stated("g", NULL, 0), pg = stated("pg", one, 0),
                                  two_p = stated("p", one, 1), m = stated("m", one, 0),
                                  pm = stated("pm", one, 0);
    struct pp_program_state cached = stated("m", two, 1);

    cached.spec.cached = 2;
    const struct {
        const struct pp_program_state *state;
        int micro_batches;
        const char *text, *words; /* NULL: legal */
    } rows[] = {
        {&p, 1, "0AG.forward 0F0 (0AG.forward)WAIT 0B0 0RS.visit 0DROP (0RS.visit)WAIT 0U",
         "but (0AG.forward)WAIT is missing"},
        {&p, 1, "0AG.forward (0AG.forward)WAIT 0F0 0DROP 0B0 0RS.visit (0RS.visit)WAIT 0U",
         "0B0 uses parameters of stage 0 that are not gathered"},
        {&p, 1,
         "0AG.forward 0AG.forward (0AG.forward)WAIT 0F0 0B0 0RS.visit 0DROP (0RS.visit)WAIT 0U",
         "which nothing waits for"},
        {&p, 1,
         "0AG.forward (0AG.forward)WAIT 0F0 0AG.forward (0AG.forward)WAIT 0B0 0RS.visit 0DROP "
         "(0RS.visit)WAIT 0U",
         "gathers parameters that are there"},
        {&p, 1, "0AG.forward (0AG.forward)WAIT 0F0 0B0 0RS.visit (0RS.visit)WAIT 0U",
         "nothing drops the parameters"},
        {&p, 1, "0AG.forward (0AG.forward)WAIT 0F0 0B0 0RS.visit 0DROP 0DROP (0RS.visit)WAIT 0U",
         "drops parameters that are not gathered"},
        {&p, 1, "0AG.forward (0AG.forward)WAIT 0RS.visit 0F0 0B0 0DROP (0RS.visit)WAIT 0U",
         "scatters gradients that nothing has made"},
        {&p, 1, "0AG.forward (0AG.forward)WAIT 0F0 0B0 0DROP 0U 0RS.visit (0RS.visit)WAIT",
         "0U comes before the gradients of 0B0 are scattered"},
        {&p, 1, "0AG.forward (0AG.forward)WAIT 0F0 0B0 0RS.visit 0DROP 0U (0RS.visit)WAIT",
         "0U uses what 0RS.visit leaves, but (0RS.visit)WAIT is missing"},
        {&p, 1,
         "0AG.forward (0AG.forward)WAIT 0F0 0B0 0AR 0RS.visit 0DROP (0RS.visit)WAIT (0AR)WAIT 0U",
         "0AR comes before the gradients of 0B0 are scattered"},
        {&p, 1,
         "0AG.forward (0AG.forward)WAIT 0F0 0B0 0RS.visit 0DROP (0RS.visit)WAIT 0U 0AG.forward "
         "(0AG.forward)WAIT 0DROP",
         "comes after the update"},
        {&none, 1, "0F0 0B0 0AR.rest 0RS (0AR.rest)WAIT (0RS)WAIT 0U 0AG (0AG)WAIT",
         "sums what no RS has scattered"},
        {&none, 1, "0F0 0B0 0RS 0AR.rest (0RS)WAIT 0U (0AR.rest)WAIT 0AG (0AG)WAIT",
         "(0AR.rest)WAIT is missing"},
        {&p, 1,
         "0AG.forward (0AG.forward)WAIT 0F0 0B0 0RS.visit 0DROP (0RS.visit)WAIT 0AG.backward 0U",
         "nothing uses what 0AG.backward gathers"},
        /* the state is stated, not found in the cells */
        {&p, 1, "0AG.forward (0AG.forward)WAIT 0F0 0B0 0RS.visit 0DROP (0RS.visit)WAIT 0U", NULL},
        {&none, 1, "0AG.forward (0AG.forward)WAIT 0F0 0B0 0DROP 0U",
         "does not state that parameters"},
        {&none, 1, "0F0 0B0 0RS.visit (0RS.visit)WAIT 0U", "does not state that parameters"},
        {&none, 1, "0F0 0B0 0RS.part (0RS.part)WAIT 0U", "does not state that gradients"},
        {&p, 1, "0F0 0B0 0U", "0F0 uses parameters of stage 0 that are not gathered"},
        {&p, 1, "0AG (0AG)WAIT 0F0 0B0 0RS.visit 0DROP (0RS.visit)WAIT 0U", "are not gathered"},
        {&p, 1, "0F0 0DROP 0B0 0DROP 0U", "0F0 uses parameters of stage 0 that are not gathered"},
        {&p, 1, "0AG.forward (0AG.forward)WAIT 0F0 0B0 0DROP 0U",
         "0U comes before the gradients of 0B0 are scattered"},
        {&p, 1, "0AG.forward (0AG.forward)WAIT 0F0 0B0 0DROP",
         "nothing scatters the gradients of 0B0"},
        /* files that gather and drop by themselves */
        {&none, 1, "0AG (0AG)WAIT 0F0 0B0 0DROP", NULL},
        {&none, 1, "0AG (0AG)WAIT 0F0 0DROP 0AG (0AG)WAIT 0B0 0DROP", NULL},
        {&none, 1, "0AG (0AG)WAIT 0DROP 0F0 0B0", "0F0 uses parameters that 0DROP has dropped"},
        {&none, 1, "0AG (0AG)WAIT 0F0 0DROP 0B0", "0B0 uses parameters that 0DROP has dropped"},
        {&none, 1, "0F0 0B0 0DROP", "0DROP drops parameters that are not gathered"},
        /* one unit at a time */
        {&p, 2, "0AG.forward (0AG.forward)WAIT 0F0 0F1 0B0 0B1 0RS.visit 0DROP (0RS.visit)WAIT 0U",
         NULL},
        {&layers, 2,
         "0AG.forward (0AG.forward)WAIT 0F0 0B0 0F1 0B1 0RS.visit 0DROP (0RS.visit)WAIT 0U", NULL},
        {&layers, 2,
         "0AG.forward (0AG.forward)WAIT 0F0 0F1 0B0 0B1 0RS.visit 0DROP (0RS.visit)WAIT 0U",
         "0F1 begins with the first gather unit of stage 0, but since 0F0 only the last one"},
        /* buckets: what a backward of several units has scattered inside */
        {&layers, 1,
         "0AG.forward (0AG.forward)WAIT 0F0 0B0 0DROP 0RS#0/2 0RS.visit 0RS#1/2 (0RS.visit)WAIT "
         "(0RS#0/2)WAIT (0RS#1/2)WAIT 0U",
         NULL},
        {&p, 1,
         "0AG.forward (0AG.forward)WAIT 0F0 0B0 0DROP 0RS#0/2 0RS.visit 0RS#1/2 (0RS.visit)WAIT "
         "(0RS#0/2)WAIT (0RS#1/2)WAIT 0U",
         "0RS#0/2 comes before the gradients of 0B0 are scattered"},
        /* buffers */
        {&two_p, 1,
         "0AG.forward (0AG.forward)WAIT 0F0 0AG.backward 0DROP (0AG.backward)WAIT 0B0 0RS.visit "
         "0DROP (0RS.visit)WAIT 0U",
         "0AG.backward gathers unit number 2, but the program states room for 1 at once"},
        /* loads */
        {&m, 1, "0MOVE.load (0MOVE.load)WAIT 0F0 0B0 0DROP 0U 0MOVE.home (0MOVE.home)WAIT", NULL},
        {&m, 1, "0MOVE.load 0F0 (0MOVE.load)WAIT 0B0 0DROP 0U 0MOVE.home (0MOVE.home)WAIT",
         "0F0 uses what 0MOVE.load loads, but (0MOVE.load)WAIT is missing"},
        {&m, 1, "0F0 0B0 0U 0MOVE.home (0MOVE.home)WAIT", "that are not loaded"},
        {&m, 1, "0MOVE.load (0MOVE.load)WAIT 0F0 0DROP 0B0 0U 0MOVE.home (0MOVE.home)WAIT",
         "0B0 uses parameters of stage 0 that are not loaded again after 0DROP"},
        /* a cache: all layers of a chunk stay, and a second chunk has no room */
        {&cached, 2,
         "0MOVE.load (0MOVE.load)WAIT 0F0 0F1 0B0 0B1 0DROP 0U 0MOVE.home (0MOVE.home)WAIT", NULL},
        {&cached, 2,
         "0MOVE.load (0MOVE.load)WAIT 0F0 0F1 0MOVE.reload 0B0 0DROP (0MOVE.reload)WAIT 0B1 0DROP "
         "0U 0MOVE.home (0MOVE.home)WAIT",
         "0MOVE.reload loads unit number 2, but the program states room for 1 at once"},
        {&m, 1, "0MOVE.load (0MOVE.load)WAIT 0F0 0B0 0U 0MOVE.home (0MOVE.home)WAIT",
         "nothing drops the parameters"},
        {&m, 1, "0MOVE.load (0MOVE.load)WAIT 0F0 0B0 0DROP 0U",
         "no MOVE.home takes what 0U updates"},
        {&m, 1, "0MOVE.load (0MOVE.load)WAIT 0F0 0B0 0DROP 0U 0MOVE.home",
         "nothing waits for 0MOVE.home"},
        {&m, 1,
         "0MOVE.load (0MOVE.load)WAIT 0F0 0B0 0DROP 0RS (0RS)WAIT 0U 0MOVE.home 0AG (0AG)WAIT "
         "(0MOVE.home)WAIT",
         "which takes what it brings"},
        {&m, 1, "0AG.forward (0AG.forward)WAIT 0F0 0B0 0DROP 0U 0MOVE.home (0MOVE.home)WAIT",
         "does not state that parameters"},
        {&p, 1,
         "0MOVE.load (0MOVE.load)WAIT 0AG.forward (0AG.forward)WAIT 0F0 0B0 0RS.visit 0DROP "
         "(0RS.visit)WAIT 0U",
         "does not state that parameters live elsewhere"},
        {&pm, 1,
         "0MOVE.load (0MOVE.load)WAIT 0AG.forward (0AG.forward)WAIT 0F0 0B0 0RS.visit 0DROP "
         "(0RS.visit)WAIT 0U 0MOVE.home (0MOVE.home)WAIT",
         NULL},
        {&pm, 1,
         "0MOVE.load 0AG.forward (0MOVE.load)WAIT (0AG.forward)WAIT 0F0 0B0 0RS.visit 0DROP "
         "(0RS.visit)WAIT 0U 0MOVE.home (0MOVE.home)WAIT",
         "0AG.forward gathers what 0MOVE.load loads, but (0MOVE.load)WAIT is missing"},
        {&pm, 1,
         "0AG.forward (0AG.forward)WAIT 0F0 0B0 0RS.visit 0DROP (0RS.visit)WAIT 0U 0MOVE.home "
         "(0MOVE.home)WAIT",
         "0AG.forward gathers parameters that no MOVE loads before it"},
        {&pm, 1,
         "0MOVE.load (0MOVE.load)WAIT 0AG.forward (0AG.forward)WAIT 0F0 0MOVE.reload "
         "(0MOVE.reload)WAIT 0B0 0RS.visit 0DROP (0RS.visit)WAIT 0U 0MOVE.home (0MOVE.home)WAIT",
         "nothing gathers what"},
        /* parts */
        {&g, 2, "0F0 0B0 0RS.part (0RS.part)WAIT 0F1 0B1 0RS (0RS)WAIT 0U 0AG (0AG)WAIT", NULL},
        {&g, 2, "0F0 0B0 0F1 0B1 0RS (0RS)WAIT 0U 0AG (0AG)WAIT",
         "0B1 adds to the gradients of 0B0, which no RS.part scatters"},
        {&g, 2, "0F0 0B0 0RS.part (0RS.part)WAIT 0F1 0B1 0U",
         "0U comes before the gradients of 0B1 are summed"},
        {&g, 1, "0F0 0RS.part 0B0 (0RS.part)WAIT 0RS (0RS)WAIT 0U 0AG (0AG)WAIT",
         "that nothing has made"},
        {&pg, 1,
         "0AG.forward (0AG.forward)WAIT 0F0 0B0 0DROP 0RS.visit (0RS.visit)WAIT 0RS (0RS)WAIT 0U "
         "0AG (0AG)WAIT",
         NULL},
        {&pg, 2,
         "0AG.forward (0AG.forward)WAIT 0F0 0B0 0RS.visit (0RS.visit)WAIT 0F1 0B1 0RS.visit 0DROP "
         "(0RS.visit)WAIT 0RS (0RS)WAIT 0U 0AG (0AG)WAIT",
         "0RS.visit adds to the gradients of 0RS.visit, which no RS.part scatters"},
        {&pg, 1,
         "0AG.forward (0AG.forward)WAIT 0F0 0B0 0RS.part 0RS.visit 0DROP (0RS.part)WAIT "
         "(0RS.visit)WAIT 0RS (0RS)WAIT 0U 0AG (0AG)WAIT",
         "0RS.part scatters gradients that no RS.visit has left"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_program_head head = head_of(1, rows[i].micro_batches);
        struct pp_program *program;
        struct pp_error err = {0};

        head.state = *rows[i].state;
        cr_assert_eq(
            pp_program_freeze(arena, &head, cells_orders(arena, rows[i].text, 1), &program, &err),
            PP_OK, "%s: %s", rows[i].text, err.message);
        const enum pp_status status = pp_verify(program, NULL, &err);
        cr_assert_eq(status, rows[i].words ? PP_EPROGRAM : PP_OK, "%s: %s", rows[i].text,
                     err.message);
        cr_assert(!rows[i].words || strstr(err.message, rows[i].words), "%s: %s", rows[i].text,
                  err.message);
    }
}

/* A purpose belongs to its kind. */
Test(gathers, text_of_purposes)
{
    static const char *const right[] = {"0AG.forward", "3AG.backward", "0RS.visit",      "1RS.part",
                                        "0AR.rest",    "0AG",          "(0RS.visit)WAIT"},
                             *const wrong[] = {"0AR.visit",   "0RS.forward", "0AG.",
                                               "0AG.step",    "0F0.visit",   "0AG.forwards",
                                               "0DROP.visit", "0BC.rest"};

    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        struct pp_op ops[2];
        struct pp_error err;
        char text[PP_OP_TEXT_BYTES];
        int count;

        cr_assert_eq(pp_op_parse(right[i], ops, &count, &err), PP_OK, "%s", err.message);
        pp_op_print(&ops[0], (struct pp_op_style){0}, text);
        cr_assert_str_eq(text, right[i]);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pp_op ops[2];
        struct pp_error err;
        int count;

        cr_assert_eq(pp_op_parse(wrong[i], ops, &count, &err), PP_EPROGRAM, "%s", wrong[i]);
    }
}
