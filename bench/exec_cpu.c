/* bench/exec_cpu.c — how well the executor uses a CPU core: arithmetic against the fastest
 * multiplication, the interpreter without arithmetic, and the pipeline against a loop. All times
 * are CPU times, so other processes on the machine matter little.
 *
 * Pipeline and loop are charged for the same work: forward and backward of all micro-batches, loss,
 * norm of the gradients, and update, which zeroes them. Drawing the samples of a step counts on
 * neither side. Work that only the pipeline has counts there, within `total`: messages, sums of a
 * tied embedding, and `outside ops`. The latter is all time of its threads but forwards, backwards
 * and updates, so it includes loss and norm. The loop keeps the activations of one micro-batch and
 * reuses their memory. Schedules keep more, which costs cache misses. gpipe on one rank shows that
 * cost alone, since it has no messages and no second thread. */
#include "bench/bench.h"
#include "exec/host/host.h"
#include "tests/exec/run.h"

#include <string.h>

/* ---- the fastest multiplication ---------------------------------------------------------------*/

static double best_gemm(const struct pp_kernels *k)
{
    double best = 0;

    for (int n = 512; n <= 2048; n *= 2) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const size_t size = (size_t)n * (size_t)n;
        float *a = PP_ARRAY(arena, float, 3 * size);
        const struct pp_gemm g = {.m = n,
                                  .n = n,
                                  .k = n,
                                  .a = a,
                                  .b = a + size,
                                  .c = a + 2 * size,
                                  .lda = n,
                                  .ldb = n,
                                  .ldc = n};
        const int times = (int)(4e9 / (2.0 * n * n * n)) + 1;

        for (size_t i = 0; i < 2 * size; i++)
            a[i] = (float)(i % 17) * 0.1f;
        for (int trial = 0; trial < 5; trial++) {
            const double start_s = pp_host_thread_s();
            for (int i = 0; i < times; i++)
                k->gemm(NULL, &g);
            const double rate = 2.0 * n * n * n * times / (pp_host_thread_s() - start_s);
            best = rate > best ? rate : best;
        }
    }
    return best;
}

/* ---- runs -----------------------------------------------------------------------------------*/

static void make(struct pp_arena *arena, const struct exec_case *c, struct exec_run *run)
{
    struct pp_error err = {0};

    must(exec_run_make(arena, c, run, &err), &err);
    run->training.machine.kernels = pp_kernels_fp32(false);
}

/* The step of a machine that took the least CPU time. */
static struct pp_step_result best_step(struct pp_arena *arena, const struct exec_run *run,
                                       int steps)
{
    const struct pp_training *t = &run->training;
    struct pp_step_result best = {0}, result;
    struct pp_machine *machine;
    struct pp_error err = {0};

    must(pp_machine_create(arena, &t->machine, &machine, &err), &err);
    for (int step = 0; step < steps; step++) {
        must(pp_machine_step(machine, &t->text, step, &result, &err), &err);
        if (step == 0 || result.cpu_s < best.cpu_s)
            best = result;
    }
    pp_machine_destroy(machine);
    return best;
}

/* Multiplications of a step, forward and backward, causal attention counted half. */
static double flops_of(const struct exec_run *run)
{
    const struct pp_net *n = &run->training.net;
    const double tokens = (double)pp_batch_samples(&run->batch) * n->seq;
    const double block =
        2.0 * n->hidden * (3.0 * n->hidden + n->hidden + 2.0 * n->ffn) + 2.0 * n->seq * n->hidden;

    return 3 * tokens * (n->layers * block + 2.0 * n->hidden * n->vocab);
}

/* To draw the samples of a step: the loop does it between its micro-batches. */
static double samples_s(struct pp_arena *arena, const struct exec_run *run)
{
    const int seq = run->training.net.seq;
    int32_t *ids = PP_ARRAY(arena, int32_t, 2 * seq);
    struct pp_error ignored;
    const double start_s = pp_host_thread_s();

    for (int i = 0; i < pp_batch_samples(&run->batch); i++)
        (void)pp_text_sample(&run->training.text, 0, i, ids, ids + seq, &ignored);
    return pp_host_thread_s() - start_s;
}

/* CPU seconds of one step of the loop, best of a few. */
static double loop_s(struct pp_arena *arena, const struct exec_run *run, bool with_update)
{
    const struct pp_training *t = &run->training;
    struct pp_reference *reference;
    struct pp_error err = {0};
    double best_s = 1e9, loss;

    must(pp_reference_create(arena, &t->net, t->machine.kernels,
                             &(const struct pp_place){&pp_backend_cpu}, &run->batch, &run->recipe,
                             &reference, &err),
         &err);
    for (int step = 0; step < 6; step++) {
        const double start_s = pp_host_thread_s();
        must(pp_reference_step(reference, &t->text, step, &loss, &err), &err);
        double spent_s = pp_host_thread_s() - start_s;
        must(pp_reference_update(reference, step, &err), &err);
        if (with_update)
            spent_s = pp_host_thread_s() - start_s;
        best_s = spent_s < best_s ? spent_s : best_s;
    }
    return best_s - samples_s(arena, run);
}

static void arithmetic(double peak)
{
    static const struct exec_case cases[] = {
        {.layers = 4, .hidden = 64, .heads = 2, .seq = 64, .mbs = 2},
        {.layers = 4, .hidden = 128, .heads = 4, .seq = 64, .mbs = 4},
        {.layers = 8, .hidden = 128, .heads = 4, .seq = 128, .mbs = 2},
        {.layers = 8, .hidden = 256, .heads = 8, .seq = 128, .mbs = 4},
    };

    printf("arithmetic: forward and backward of 8 micro-batches on one core, vocabulary 256\n"
           "  layers hidden  seq  mbs   ms/step   GF/s   of the best sgemm\n");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct exec_case c = cases[i];
        struct exec_run run;

        c.schedule = "gpipe";
        c.shape = (struct pp_shape){.ranks = 1, .micro_batches = 8};
        c.replicas = 1;
        c.steps = 1;
        c.vocab = 256;
        make(arena, &c, &run);
        const double s = loop_s(arena, &run, false), rate = flops_of(&run) / s;
        printf("  %6d %6d %4d %4d  %8.2f  %5.1f   %5.1f %%\n", c.layers, c.hidden, c.seq, c.mbs,
               1e3 * s, 1e-9 * rate, 100 * rate / peak);
    }
}

/* ---- the interpreter alone --------------------------------------------------------------------*/

static void null_launch(struct pp_backend_device *device, pp_stream_id stream, pp_backend_work work,
                        void *argument)
{
    (void)device;
    (void)stream;
    (void)work;
    (void)argument;
}
static bool null_wait(struct pp_backend_device *device, pp_stream_id stream, pp_event_id event)
{
    (void)device;
    (void)stream;
    (void)event;
    return true;
}
static struct pp_span null_span(const struct pp_backend_device *device, pp_stream_id stream, int k)
{
    (void)device;
    (void)stream;
    (void)k;
    return (struct pp_span){0, 0};
}

/* Threads and memory of the CPU, without computing and without waiting: one thread runs all. */
static struct pp_backend null_backend(void)
{
    struct pp_backend null = pp_backend_cpu;

    null.is_immediate = false;
    null.launch = null.host = null_launch;
    null.wait = null_wait;
    null.span = null_span;
    return null;
}

static void interpreter(void)
{
    const struct pp_backend null = null_backend();

    printf("\ninterpreter: nothing is computed; clocks, messages, trace and checks as always\n"
           "  schedule     ranks  micro-batches  instructions   ns each\n");
    for (int i = 0; i < 3; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct exec_case c = {.schedule = (const char *[]){"1f1b", "zb-h1", "zbv"}[i],
                                    .shape = {.ranks = 8, .micro_batches = 64},
                                    .replicas = 1,
                                    .mbs = 1,
                                    .steps = 1,
                                    .layers = 16};
        struct exec_run run;

        make(arena, &c, &run);
        run.training.machine.backend = &null;
        const struct pp_step_result result = best_step(arena, &run, 20);
        printf("  %-11s  %5d  %13d  %12lld   %7.0f\n", c.schedule, c.shape.ranks,
               c.shape.micro_batches, (long long)result.instructions,
               1e9 * result.cpu_s / (double)result.instructions);
    }
}

/* ---- copies between memory tiers --------------------------------------------------------------*/

/* Of a step whose saved activations live on a tier. */
static struct pp_step_result step_of(struct pp_arena *arena, const char *schedule,
                                     enum pp_tier tier, const struct pp_backend *backend,
                                     int *copies)
{
    const struct exec_case c = {.schedule = schedule,
                                .shape = {.ranks = 4, .micro_batches = 64},
                                .replicas = 1,
                                .mbs = 1,
                                .steps = 1,
                                .layers = 8,
                                .saved_home = tier};
    struct exec_run run;

    make(arena, &c, &run);
    run.training.machine.backend = backend;
    const struct pp_program *p = run.program;
    *copies = 0;
    for (int i = 0; i < p->begin[p->ranks]; i++)
        *copies += p->kind[i] == PP_COPY;
    return best_step(arena, &run, 20);
}

/* What CPU time outside ops grows by, with its waits and events: by the interpreter alone, and
 * where copies run. Their bytes are moved inside. */
static void copies(void)
{
    const struct pp_backend null = null_backend();
    const struct pp_backend *const backends[] = {&null, &pp_backend_cpu};

    printf("\ncopies: saved activations on the host, over none; wanted below 10 us a copy\n"
           "  schedule     copies   interpreter     executor\n");
    for (int s = 0; s < 3; s++) {
        const char *const schedule = (const char *[]){"1f1b", "gpipe", "zb-h1"}[s];
        double us[2];
        int count, none;

        for (int b = 0; b < 2; b++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            const struct pp_step_result with = step_of(arena, schedule, PP_TIER_HOST, backends[b],
                                                       &count),
                                        without = step_of(arena, schedule, PP_TIER_DEVICE,
                                                          backends[b], &none);
            us[b] = 1e6 * (with.outside_s - without.outside_s) / count;
        }
        printf("  %-11s  %6d   %8.2f us  %8.2f us\n", schedule, count, us[0], us[1]);
    }
}

/* ---- pipeline against loop --------------------------------------------------------------------*/

/* What is held from forward to backward, over all ranks. */
static double activations_bytes(struct pp_arena *arena, const struct exec_run *run)
{
    const struct pp_machine_options *m = &run->training.machine;
    const struct pp_cuts *cuts = pp_memory_cuts(arena, m->program, m->stages, m->batch);
    const struct pp_rank_layout *layout = pp_memory_layout(
        arena, m->program, m->stages, m->kernels, m->recipe->is_exact, cuts,
        pp_wholes_find(arena, m->program, m->stages, cuts), pp_away_find(arena, m->program));
    double bytes = 0;

    for (int rank = 0; rank < m->program->ranks; rank++)
        bytes += (double)layout[rank].activations_bytes;
    return bytes;
}

static void machinery(void)
{
    static const struct {
        const char *schedule;
        int ranks;
    } runs[] = {{"1f1b", 1},  {"gpipe", 1}, {"1f1b", 4},        {"1f1b", 8},       {"gpipe", 4},
                {"gpipe", 8}, {"zb-h1", 4}, {"zb-h1", 8},       {"chimera", 4},    {"chimera", 8},
                {"zbv", 4},   {"zbv", 8},   {"interleaved", 4}, {"interleaved", 8}};

    printf(
        "\npipeline: 8 layers, hidden 128, seq 64, 8 micro-batches of 4; CPU time of all threads\n"
        "  schedule     ranks   activations   outside ops   total, as a ratio to the loop\n");
    for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct exec_case c = {.schedule = runs[i].schedule,
                                    .shape = {.ranks = runs[i].ranks, .micro_batches = 8},
                                    .replicas = 1,
                                    .mbs = 4,
                                    .steps = 1,
                                    .hidden = 128,
                                    .heads = 4,
                                    .seq = 64,
                                    .vocab = 256};
        struct exec_run run;

        make(arena, &c, &run);
        run.training.machine.cores = 1; /* as the loop: two cores at once share caches and clocks */
        const struct pp_step_result result = best_step(arena, &run, 6);
        printf("  %-11s  %5d   %7.1f MiB   %8.2f %%    %.3f\n", c.schedule, c.shape.ranks,
               activations_bytes(arena, &run) / (1 << 20), 100 * result.outside_s / result.cpu_s,
               result.cpu_s / loop_s(arena, &run, true));
    }
}

int main(void)
{
    const double peak = best_gemm(pp_kernels_fp32(false));

    printf("kernels %s; best sgemm %.1f GF/s on one core\n\n", pp_kernels_fp32(false)->about(),
           1e-9 * peak);
    arithmetic(peak);
    interpreter();
    copies();
    machinery();
    return 0;
}
