/* Parameters on another memory tier change no bit: losses, norms, weights and validations of every
 * executable schedule are those of the run without. The device has the buffers alone. Loads are as
 * many as their closed forms, and the bytes that are counted are those of the program. */
#define _GNU_SOURCE /* mkdtemp */
#include "exec/program/layers.h"
#include "tests/exec/tiers.h"

static struct exec_case usual(int ranks, int micro_batches)
{
    return (struct exec_case){.shape = {.ranks = ranks, .micro_batches = micro_batches},
                              .mbs = 1,
                              .steps = 2,
                              .clip = 0.5,
                              .homes[PP_STATE_PARAMS] = PP_TIER_HOST};
}

/* Parameters of the chunks of a rank; whole ones, on the device. */
static size_t chunks_bytes(const struct exec_run *run, int rank)
{
    const struct pp_program *p = run->program;
    size_t bytes = 0;

    for (int place = 0; place < p->pipelines * p->stages; place++)
        if (p->rank_of[place] == rank)
            bytes += (size_t)run->stages[place % p->stages]->elements *
                     run->training.machine.kernels->element_bytes;
    return bytes;
}

static void check_tiers(const struct exec_run *run, const char *name)
{
    const struct pp_training_result *r = &run->result;
    const enum pp_tier home = run->program->state.spec.home[PP_STATE_PARAMS];

    for (int rank = 0; rank < run->program->ranks; rank++) {
        const struct pp_copied *copied = &r->tiers[rank].copied[PP_STATE_PARAMS];

        cr_assert_eq(copied->down_bytes,
                     pp_state_moves(&run->program->state.spec, PP_FOR_HOME)
                         ? (double)chunks_bytes(run, rank)
                         : 0,
                     "%s: rank %d", name, rank);
        cr_assert_eq(r->layout[rank].params_bytes, 0, "%s", name);
        for (int k = 0; home == PP_TIER_NVME && k < 2; k++) /* a file fills it directly */
            cr_assert_eq(r->layout[rank].whole_offset[PP_WHOLE_PARAMS][k] % 4096, 0, "%s", name);
        cr_assert_eq(r->layout[rank].away_bytes[home][PP_STATE_PARAMS], chunks_bytes(run, rank),
                     "%s", name);
    }
}

/* Returns 0 for a case that is refused. */
static int run_both(const struct exec_case *c)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_run run;

    if (!run_with_tiers(arena, c, has_stage_twice, &run))
        return 0;
    check_tiers(&run, exec_case_text(arena, c));
    return 1;
}

/* ---- every schedule -------------------------------------------------------------------------- */

Test(loads, every_schedule)
{
    struct exec_case c = usual(4, 4);

    cr_assert_geq(each_schedule(&c, run_both), 19);
}

/* Copies of a chunk gather what each has updated, before it goes home. */
Test(loads, every_schedule_with_shares_of_the_optimizer_state)
{
    struct exec_case c = usual(2, 4);

    c.replicas = 2;
    c.zero = 1;
    c.gather_buffers = 16;
    c.is_bf16 = true;
    cr_assert_geq(each_schedule(&c, run_both), 19);
}

/* Parameters that the host updates are at home already. */
Test(loads, every_schedule_with_updates_of_the_host)
{
    struct exec_case c = usual(2, 4);

    c.homes[PP_STATE_OPTIMIZER] = PP_TIER_HOST;
    c.is_cpu_update = true;
    cr_assert_geq(each_schedule(&c, run_both), 19);
    c.homes[PP_STATE_GRADS] = PP_TIER_HOST;
    c.is_bf16 = true;
    cr_assert_geq(each_schedule(&c, run_both), 19);
}

/* The device runs work in any order that events allow. */
Test(loads, every_schedule_on_a_device_in_any_order)
{
    struct exec_case c = usual(2, 4);

    c.backend = &pp_backend_fake;
    cr_assert_geq(each_schedule(&c, run_both), 19);
}

/* ---- variants -------------------------------------------------------------------------------- */

static const struct exec_case variants[] = {
    EXEC_CASE("1f1b", 2, 4, .homes = {PP_TIER_NVME}, .nvme = tier_files),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 4, .homes = {PP_TIER_NVME}, .nvme = tier_files,
              .is_bf16 = true, .hidden = 32),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 4, .gather_buffers = 1),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 4, .gather_buffers = 3),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 4, .gather_buffers = 1, .is_bf16 = true),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 4, .cached = 2, .evict = PP_EVICT_LRU),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 4, .cached = 3, .evict = PP_EVICT_FIFO,
              .backend = &pp_backend_fake),
    EXEC_CASE("bfs", 2, 4, .shape.chunks = 4, .cached = 4, .is_recomputed = true),
    EXEC_CASE("zb-h1", 2, 4, .is_recomputed = true, .has_weight_stream = true,
              .backend = &pp_backend_fake),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 4, .is_bf16 = true, .has_qk_norm = true,
              .has_rope = true, .is_gated = true, .hidden = 32, .heads = 4),
    EXEC_CASE("dualpipe", 4, 8, .cached = 2),
    EXEC_CASE("seq1f1b", 2, 4, .shape.splits = 4),
    EXEC_CASE("1f1b", 2, 4, .tp = 2, .is_sequence_parallel = true),
    EXEC_CASE("1f1b", 2, 4, .replicas = 2, .zero = 1, .is_untied = true),
    EXEC_CASE("zbv", 2, 4, .replicas = 2, .zero = 1, .buckets = 3, .grad_sync = PP_SYNC_EAGER),
    EXEC_CASE("1f1b", 2, 4, .replicas = 2, .transport = &pp_transport_shm, .zero = 1),
    EXEC_CASE("zbv", 2, 4, .replicas = 2, .transport = &pp_transport_tcp, .zero = 1),
    EXEC_CASE("1f1b", 2, 4, .replicas = 2, .zero = 1, .is_cpu_update = true),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 2, .replicas = 2, .zero = 1,
              .is_cpu_update = true),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 2, .replicas = 2, .zero = 1,
              .is_cpu_update = true, .is_bf16 = true, .backend = &pp_backend_fake),
    EXEC_CASE("1f1b", 2, 4, .is_cpu_update = true, .cached = 2, .transport = &pp_transport_shm),
    EXEC_CASE("gpipe", 2, 4, .is_double = true, .saved_home = PP_TIER_HOST),
    EXEC_CASE("chimera", 2, 4, .is_exact = true),
};

Test(loads, variants, .init = begin_files, .fini = end_files)
{
    for (size_t i = 0; i < PP_COUNT(variants); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct exec_case c = variants[i];

        c.mbs = 1;
        c.steps = 2;
        c.clip = 0.5;
        c.seed = i;
        if (!c.homes[PP_STATE_PARAMS])
            c.homes[PP_STATE_PARAMS] = PP_TIER_HOST;
        if (c.is_cpu_update)
            c.homes[PP_STATE_OPTIMIZER] = PP_TIER_HOST;
        cr_assert(run_both(&c), "%s", exec_case_text(arena, &c));
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Loads for uses of a list; those for updates come after the ranks have met. */
static int count_loads(const struct pp_program *p, const struct exec_run *run, double *bytes)
{
    int loads = 0;

    *bytes = 0;
    for (int i = 0; i < p->begin[1] && p->kind[i] != PP_BAR; i++)
        if (p->kind[i] == PP_MOVE && pp_move_is_load(p->purpose[i])) {
            loads++;
            *bytes += (double)run->stages[p->stage[i]]->elements *
                      (double)run->training.machine.kernels->element_bytes;
        }
    return loads;
}

/* A program of one rank by layers, which are units. */
static struct pp_program *by_layer(struct pp_arena *arena, const char *schedule, int v, int m)
{
    const struct pp_shape shape = {.ranks = 1, .micro_batches = m};
    struct pp_program *whole, *cut;
    struct pp_layers layers;
    struct pp_error err;

    cr_assert_eq(pp_schedule_program(arena, pp_schedule_find(schedule), &shape, NULL, &whole, &err),
                 PP_OK, "%s", err.message);
    cr_assert_eq(pp_layers_find(arena, &v, 1, &layers, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_layers_cut(arena, whole, &layers, &cut, &err), PP_OK, "%s", err.message);
    return cut;
}

/* Masters are on the device, so that updates load nothing. */
static void check_count(struct exec_case c, int resident, enum pp_evict evict, int wanted)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *name = exec_case_text(arena, &c);
    struct exec_run run;
    double bytes;

    c.is_bf16 = true;
    c.cached = resident;
    c.evict = evict;
    c.steps = 1;
    cr_assert(exec_run(arena, &c, &run), "%s", name);
    const int loads = count_loads(run.program, &run, &bytes);
    cr_expect_eq(loads, wanted, "%s: R %d, %s: %d, not %d", name, resident, pp_evict_names[evict],
                 loads, wanted);
    cr_expect_eq(run.result.tiers[0].copied[PP_STATE_PARAMS].up_bytes, bytes, "%s", name);
}

/* A rank has V units in a line, of which R stay. If m micro-batches run back and forth one by one,
 * a step has 2 m (V - R) + R loads. If they do so together, it has 2 V - R. */
Test(loads, are_as_many_as_closed_forms_say)
{
    static const struct {
        int v, m, resident;
        enum pp_evict evict;
    } more[] = {{8, 4, 2, PP_EVICT_BELADY}, {8, 4, 4, PP_EVICT_FIFO}, {8, 4, 4, PP_EVICT_LRU}};

    enum { DRAWN = 4 * 4 * 3 };
    for (int k = 0; k < DRAWN + (int)PP_COUNT(more); k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const int v = k >= DRAWN ? more[k - DRAWN].v : 2 + k % 4,
                  m = k >= DRAWN ? more[k - DRAWN].m : 1 + k / 4 % 3,
                  resident = k >= DRAWN ? more[k - DRAWN].resident : 1 + k / 12;
        const enum pp_evict evict =
            k >= DRAWN ? more[k - DRAWN].evict : (enum pp_evict)((k + k / 4) % 2);
        struct exec_case each = usual(1, m), grouped = usual(1, m);

        if (resident >= v)
            continue;
        each.compute = by_layer(arena, "1f1b", v, m);
        each.shape = pp_program_shape(each.compute);
        each.layers = grouped.layers = grouped.shape.chunks = v;
        grouped.schedule = "bfs";
        check_count(each, resident, evict, 2 * m * (v - resident) + resident);
        check_count(grouped, resident, (enum pp_evict)(k % 3), 2 * v - resident);
    }
}

/* The device has no other copy of parameters: buffers as large as the two largest chunks. */
Test(loads, the_device_has_the_buffers_alone)
{
    for (int buffers = 1; buffers <= 4; buffers++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct exec_case c = usual(2, 4);
        struct exec_run run;

        c.schedule = "interleaved";
        c.shape.chunks = 4;
        c.gather_buffers = buffers;
        cr_assert_eq(exec_run_make(arena, &c, &run, &(struct pp_error){0}), PP_OK);
        const struct pp_wholes *wholes =
            pp_wholes_find(arena, run.program, (const struct pp_stage *const *)run.stages,
                           pp_memory_cuts(arena, run.program,
                                          (const struct pp_stage *const *)run.stages, &run.batch));
        for (int rank = 0; rank < 2; rank++)
            cr_assert_eq(wholes->count[PP_WHOLE_PARAMS][rank], buffers, "rank %d: %d", rank,
                         wholes->count[PP_WHOLE_PARAMS][rank]);
    }
}

/* Nothing else of a state is there if all of it lives elsewhere. */
Test(loads, no_state_stays_on_the_device)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case c = usual(2, 4);
    struct exec_run run;

    c.schedule = "interleaved";
    c.shape.chunks = 4;
    c.is_cpu_update = true;
    for (int class = 0; class < PP_STATE_SHARDED; class ++)
        c.homes[class] = PP_TIER_HOST;
    cr_assert(exec_run(arena, &c, &run));
    for (int rank = 0; rank < 2; rank++) {
        const struct pp_rank_layout *l = &run.result.layout[rank];
        const struct pp_wholes *wholes =
            pp_wholes_find(arena, run.program, (const struct pp_stage *const *)run.stages,
                           pp_memory_cuts(arena, run.program,
                                          (const struct pp_stage *const *)run.stages, &run.batch));

        cr_assert_eq(l->params_bytes + l->grads_bytes + l->optimizer_bytes, 0, "rank %d", rank);
        cr_assert_eq(wholes->count[PP_WHOLE_PARAMS][rank], 2);
        cr_assert_leq(wholes->count[PP_WHOLE_GRADS][rank], 3);
    }
}

/* Elements of a state between its tensors that are not zero. */
static int64_t dirty_gaps(const struct pp_stage *stage, const struct pp_state *state,
                          size_t element_bytes)
{
    const char *weights = state->weights;
    int64_t dirty = 0, from = 0;

    for (int t = 0; t <= stage->tensor_count; t++) {
        const bool is_last = t == stage->tensor_count;
        const int64_t until = is_last ? stage->elements : stage->tensors[t].from;

        for (size_t b = (size_t)from * element_bytes; b < (size_t)until * element_bytes; b++)
            dirty += weights[b] != 0;
        from = is_last ? until : stage->tensors[t].until;
    }
    return dirty;
}

/* An update in a buffer that other chunks had before leaves nothing of theirs. */
Test(loads, gaps_between_tensors_stay_zero)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case c = usual(2, 4);
    struct exec_run run;
    struct pp_machine *machine;
    struct pp_step_result result;
    struct pp_state state;
    struct pp_error err = {0};

    c.schedule = "interleaved";
    c.shape.chunks = 4;
    c.is_bf16 = c.has_qk_norm = c.has_rope = c.is_gated = true;
    c.hidden = 40;
    c.heads = 5;
    cr_assert_eq(exec_run_make(arena, &c, &run, &err), PP_OK, "%s", err.message);
    const struct pp_machine_options *options = &run.training.machine;
    cr_assert_eq(pp_machine_create(arena, options, &machine, &err), PP_OK, "%s", err.message);
    for (int step = 0; step < 2; step++)
        cr_assert_eq(pp_machine_step(machine, &run.training.text, step, &result, &err), PP_OK, "%s",
                     err.message);
    for (int stage = 0; stage < run.program->stages; stage++) {
        cr_assert_eq(pp_machine_state(machine, 0, 0, stage, &state, &err), PP_OK, "%s",
                     err.message);
        cr_assert_eq(dirty_gaps(run.stages[stage], &state, options->kernels->element_bytes), 0,
                     "stage %d", stage);
    }
    pp_machine_destroy(machine);
}
