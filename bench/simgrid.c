/* bench/simgrid.c — the engine that shares links, SimGrid itself and the evaluator, in one run.
 *
 * Every job runs in a process of its own: fabric, costs, program, lowering, then each engine, from
 * the program to a trace. Memory is the highest in a run without the evaluator. SimGrid itself
 * (engine simgrid-lmm) runs once.
 *
 * W: 1F1B on 32 stages x 64 replicas, 32 micro-batches, F = 10 ms, B = 20 ms, 16 MB messages, 1 GB
 * of gradients. J(p, d, m): 1F1B, F = 9 ms, B = 18 ms, 6 MiB messages and a ring all-reduce in
 * every stage's group. ASTRA-sim (analytical, congestion aware) takes 14.25 s and 831 MiB for J(8,
 * 128, 64) on a core of the same kind.
 *
 * Usage: bench_simgrid [PIPESIM], the program whose main job is timed. */
#define _GNU_SOURCE /* wait4 */
#include "bench/bench.h"
#include "core/cost/analytic/roofline.h"
#include "core/cost/collective.h"
#include "core/units.h"
#include "schedules/lower/lower.h"
#include "schedules/registry.h"
#include "sim/simgrid/engines.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const double PEER_S = 14.25, PEER_BYTES = 831. * 1024 * 1024;

#define TORUS     "node:%d gpu:1 device:h100 nic:1x400Gbps fabric:torus"
#define DRAGONFLY "node:%d gpu:1 device:p100 nic:1x80Gbps fabric:dragonfly rank3:338GBps"
#define RAILS     "node:%d gpu:8 nvlink:450GBps nic:8x400Gbps fabric:fat-tree leaf:32"

struct job {
    const char *name, *cluster; /* %d: nodes */
    int ranks, replicas, micro_batches;
    double f_s, message_bytes, gradient_bytes;
    bool is_folded, is_ring;
    double target_s, target_bytes; /* 0 = none */
    bool is_peer_job;
    const char *engine; /* NULL = simgrid */
    bool is_single;     /* one device a node, else 8 */
};

#define W(d)                                                                                       \
    .ranks = 32, .replicas = (d), .micro_batches = 32, .f_s = 10e-3, .message_bytes = 16e6,        \
    .gradient_bytes = 1e9

static const struct job jobs[] = {
    {.name = "W(64) analytic", .cluster = RAILS, W(64), .target_s = 0.8},
    {.name = "W(64) ring", .cluster = RAILS, W(64), .is_ring = true, .target_s = 1.6},
    {.name = "W(64) ring, uplinks 1:4", .cluster = RAILS " oversub:4", W(64), .is_ring = true},
    {.name = "W(64) ring, torus", .cluster = TORUS, .is_single = true, W(64), .is_ring = true},
    {.name = "W(16) ring, torus",
     .cluster = TORUS,
     .is_single = true,
     W(16),
     .is_ring = true,
     .target_s = 1},
    {.name = "W(4) ring, torus", .cluster = TORUS, .is_single = true, W(4), .is_ring = true},
    {.name = "W(64) ring, dragonfly",
     .cluster = DRAGONFLY,
     .is_single = true,
     W(64),
     .is_ring = true},
    {.name = "W(512) folded", .cluster = RAILS, W(512), .is_folded = true, .target_s = 0.3},
    {.name = "J(8,128,64) ring",
     .cluster = RAILS,
     .ranks = 8,
     .replicas = 128,
     .micro_batches = 64,
     .f_s = 9e-3,
     .message_bytes = 6 << 20,
     .gradient_bytes = 1e9,
     .is_ring = true,
     .target_s = 1.4,
     .target_bytes = 100 << 20,
     .is_peer_job = true},
    {.name = "1 GiB ring, 128 GPUs",
     .cluster = RAILS,
     .ranks = 1,
     .replicas = 128,
     .micro_batches = 1,
     .gradient_bytes = 1 << 30,
     .is_ring = true,
     .target_s = 0.3},
    {.name = "1 GiB folded, 1,024 GPUs",
     .cluster = RAILS,
     .ranks = 1,
     .replicas = 1024,
     .micro_batches = 1,
     .gradient_bytes = 1 << 30,
     .is_folded = true,
     .target_s = 0.3},
};

/* ---- a job -------------------------------------------------------------------------------- */

struct setting {
    struct pp_arena *arena;
    const struct job *job;
    struct pp_cluster cluster;
    struct pp_network network;
    struct pp_program *program;
    struct pp_costs *costs;
};

static void make_network(struct setting *s)
{
    const struct job *job = s->job;
    struct pp_layout *l = &s->network.layout;
    struct pp_fabric *fabric;
    struct pp_error err;
    char text[256];

    *l = (struct pp_layout){.tp = 1, .cp = 1, .ep = 1, .vp = 1, .pp = job->ranks};
    l->dp = job->replicas;
    l->gpus = l->dp * l->pp;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof(text), job->cluster, job->is_single ? l->gpus : (l->gpus + 7) / 8);
#pragma GCC diagnostic pop
    must(pp_cluster_load(s->arena, text, &s->cluster, &err), &err);
    must(pp_fabric_make(s->arena, &s->cluster, l->gpus, &fabric, &err), &err);
    s->network.fabric = fabric;
    s->network.map = pp_map_make(pp_map_default, l);
    s->network.lanes = pp_lanes(&s->cluster, l);
}

static void make_program(struct setting *s)
{
    const struct pp_shape shape = {.ranks = s->job->ranks,
                                   .chunks = 1,
                                   .micro_batches = s->job->micro_batches,
                                   .splits = 1,
                                   .granules = 1,
                                   .pipelines = 1};
    const struct pp_lower_options options = {
        .recv_slots = 2, .has_sync = true, .has_optimizer = true};
    struct pp_program *compute;
    struct pp_error err;

    must(pp_schedule_program(s->arena, pp_schedule_find("1f1b"), &shape, NULL, &compute, &err),
         &err);
    must(pp_lower(s->arena, compute, &options, &s->program, &err), &err);
}

/* The all-reduce of one stage as one ring over all of its devices, by formula. */
static double formula_s(const struct setting *s)
{
    const struct pp_device_links links = {.intra = s->cluster.intra, .inter = s->cluster.inter};
    struct pp_device_links reached = links;
    const int n = s->job->replicas, per_node = n < 8 ? n : 8;
    const struct pp_device_group group = {
        .members = n, .per_node = per_node, .nodes = (n + per_node - 1) / per_node};

    reached.intra.bytes_per_s *= s->cluster.eta_link;
    reached.inter.bytes_per_s *= s->cluster.eta_link;
    return pp_collective_s(
        pp_collective_time(PP_AR, PP_ALGORITHM_RING, group, &reached, s->job->gradient_bytes));
}

static void make_ring(struct setting *s, int stage, struct pp_ring *ring)
{
    const int n = s->job->replicas;

    *ring = (struct pp_ring){.positions = n,
                             .device = PP_ARRAY(s->arena, int32_t, n),
                             .rank = PP_ARRAY(s->arena, uint16_t, n),
                             .replica = PP_ARRAY(s->arena, int32_t, n),
                             .hop_ps = PP_ARRAY(s->arena, int64_t, n)};
    for (int i = 0; i < n; i++) {
        ring->device[i] = pp_network_device(&s->network, stage, i, 0);
        ring->rank[i] = (uint16_t)stage;
        ring->replica[i] = i;
    }
    for (int i = 0; i < n; i++) {
        const struct pp_route route =
            pp_fabric_cost(s->network.fabric, ring->device[(i + n - 1) % n], ring->device[i]);
        ring->hop_ps[i] =
            pp_units_ps(route.alpha_s + s->job->gradient_bytes / n / route.bytes_per_s);
    }
}

static void make_costs(struct setting *s)
{
    const struct job *job = s->job;
    const struct {
        int kind;
        double s;
    } rows[] = {{PP_F, job->f_s}, {PP_B, 2 * job->f_s}, {PP_U, 0}, {PP_AR, formula_s(s)}};
    const int p = job->ranks;
    struct pp_costs *c = s->costs = PP_NEW(s->arena, struct pp_costs);

    *c = (struct pp_costs){.stages = p, .splits = 1, .granules = 1, .ranks = p, .links = 1};
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        c->op[rows[k].kind] = PP_ARRAY(s->arena, struct pp_cost, p);
        for (int stage = 0; stage < p; stage++)
            c->op[rows[k].kind][stage].ps = pp_units_ps(rows[k].s);
    }
    c->alpha_ps = PP_ARRAY(s->arena, int64_t, 1);
    c->s_per_byte = PP_ARRAY(s->arena, double, 1);
    c->memory = PP_ARRAY(s->arena, struct pp_stage_memory, p);
    c->rings = PP_ARRAY(s->arena, struct pp_ring, p);
    for (int stage = 0; stage < p; stage++) {
        c->op[PP_AR][stage].bytes = job->gradient_bytes;
        c->memory[stage].boundary_bytes = stage < p - 1 ? job->message_bytes : 0;
        make_ring(s, stage, &c->rings[stage]);
    }
    if (p == 1)
        return;
    const struct pp_route route =
        pp_fabric_cost(s->network.fabric, pp_network_device(&s->network, 0, 0, 0),
                       pp_network_device(&s->network, 1, 0, 0));
    c->alpha_ps[0] = pp_units_ps(route.alpha_s);
    c->s_per_byte[0] = 1 / route.bytes_per_s;
}

struct result {
    double prepare_s, run_s, dag_s; /* wall */
    double step_s, dag_step_s, formula_s;
    struct pp_network_stats stats;
};

static double run(const struct setting *s, const struct pp_engine *engine,
                  struct pp_network_stats *stats, double *step_s)
{
    const struct pp_engine_options options = {.eval.ring_flows = s->job->is_ring,
                                              .replicas = s->job->is_folded ? 1 : s->job->replicas,
                                              .network = &s->network,
                                              .stats = stats};
    const struct pp_arena_mark mark = pp_arena_mark(s->arena);
    const double start_s = now_s();
    struct pp_times *times;
    struct pp_error err;

    must(engine->run(s->arena, s->program, s->costs, &options, PP_TIMES_SPANS, &times, &err), &err);
    const double wall_s = now_s() - start_s;
    *step_s = pp_units_s(times->makespan_ps);
    pp_arena_release(s->arena, mark);
    return wall_s;
}

static struct result run_job(const struct job *job, bool has_dag)
{
    const double start_s = now_s();
    struct setting s = {.arena = pp_arena_create(), .job = job};
    struct result r = {0};
    const struct pp_engine *engine;
    struct pp_error err;

    must(pp_engine_find(job->engine ? job->engine : "simgrid", &engine, &err), &err);
    make_network(&s);
    make_program(&s);
    make_costs(&s);
    r.prepare_s = now_s() - start_s;
    r.run_s = run(&s, engine, &r.stats, &r.step_s);
    if (has_dag)
        r.dag_s = run(&s, &pp_engine_dag, NULL, &r.dag_step_s);
    r.formula_s = formula_s(&s);
    return r;
}

/* ---- processes ---------------------------------------------------------------------------- */

/* Memory of a process; of pages that n processes share, an n-th. */
static double share_of_memory(pid_t pid)
{
    char path[64], line[128];
    double kib = 0;

    snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
    FILE *in = fopen(path, "r");
    while (in && kib == 0 && fgets(line, sizeof(line), in))
        if (strncmp(line, "Pss:", 4) == 0)
            kib = strtod(line + 4, NULL);
    if (in)
        fclose(in);
    return kib * 1024;
}

/* Of a process and its children together. */
static double family_bytes(pid_t pid)
{
    double bytes = share_of_memory(pid);
    char path[64];
    int child;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *in = fopen(path, "r");
    while (in && fscanf(in, "%d", &child) == 1)
        bytes += share_of_memory(child);
    if (in)
        fclose(in);
    return bytes;
}

/* The job in a process of its own. `peak_bytes`: watch its memory, NULL = do not disturb. */
static struct result run_apart(const struct job *job, double *peak_bytes)
{
    const struct timespec pause = {.tv_nsec = 500000};
    struct result r = {0};
    int ends[2];

    fflush(stdout);
    if (pipe(ends) != 0)
        exit(1);
    const pid_t child = fork();
    if (child == 0) {
        r = run_job(job, !peak_bytes);
        _exit(write(ends[1], &r, sizeof(r)) == sizeof(r) ? 0 : 1);
    }
    close(ends[1]);
    while (peak_bytes && waitpid(child, NULL, WNOHANG) == 0) {
        const double bytes = family_bytes(child);
        *peak_bytes = bytes > *peak_bytes ? bytes : *peak_bytes;
        nanosleep(&pause, NULL);
    }
    if (read(ends[0], &r, sizeof(r)) != sizeof(r))
        exit(1);
    close(ends[0]);
    if (!peak_bytes)
        waitpid(child, NULL, 0);
    return r;
}

static struct result best_of(const struct job *job)
{
    enum { RUNS = 3 };
    struct result best = run_apart(job, NULL);

    for (int k = 1; k < RUNS; k++) {
        const struct result r = run_apart(job, NULL);
        if (r.prepare_s + r.run_s < best.prepare_s + best.run_s)
            best = r;
    }
    return best;
}

static void print_ratio(double target, double value)
{
    if (target > 0)
        printf(" %6.1fx", target / value);
    else
        printf(" %7s", "-");
}

/* Prints how many times as long SimGrid itself takes, and by how much its step differs. */
static void print_lmm(const struct job *job, const struct result *r)
{
    const struct pp_engine *engine;
    struct job lmm = *job;

    lmm.engine = "simgrid-lmm";
    if (pp_engine_find(lmm.engine, &engine, NULL) != PP_OK) {
        printf(" %7s %8s", "-", "-");
        return;
    }
    const struct result l = run_apart(&lmm, NULL);
    printf(" %6.1fx %8.1e", l.run_s / r->run_s, fabs(l.step_s / r->step_s - 1));
}

static void bench(const struct job *job)
{
    const struct result r = best_of(job);
    const double all_s = r.prepare_s + r.run_s;
    double peak_bytes = 0;
    char gpus[PP_UNITS_TEXT_BYTES], transfers[PP_UNITS_TEXT_BYTES], shared[PP_UNITS_TEXT_BYTES],
        text[PP_UNITS_TEXT_BYTES];

    printf("%-25s %6s %9s %8s", job->name,
           pp_units_print_count((int64_t)job->ranks * job->replicas, gpus),
           pp_units_print_count(r.stats.transfers, transfers),
           pp_units_print_count(r.stats.shared, shared));
    printf(" %8s", pp_units_print(r.prepare_s, PP_UNIT_SECONDS, text));
    printf(" %8s", pp_units_print(r.run_s, PP_UNIT_SECONDS, text));
    print_ratio(job->target_s, all_s);
    if (job->is_peer_job)
        printf(" %6.0fx", PEER_S / all_s);
    else
        printf(" %7s", "-");
    printf(" %8s %6.0fx", pp_units_print(r.dag_s, PP_UNIT_SECONDS, text), r.run_s / r.dag_s);
    print_lmm(job, &r);
    run_apart(job, &peak_bytes);
    printf(" %5.0f", peak_bytes / 1048576);
    print_ratio(job->target_bytes, peak_bytes);
    printf(" %.9f %.9f", r.step_s, r.dag_step_s);
    if (job->ranks == 1)
        printf(" formula %+.3f %%", 100 * (r.formula_s / r.step_s - 1));
    printf("\n");
}

/* ---- growth ------------------------------------------------------------------------------- */

/* Jobs whose replicas double twice. Twice the replicas have four times the messages of rings. */
static const struct job growing[] = {
    {.name = "ring, uplinks 1:4", .cluster = RAILS " oversub:4", W(16), .is_ring = true},
    {.name = "ring, torus", .cluster = TORUS, .is_single = true, W(16), .is_ring = true},
    {.name = "ring, dragonfly", .cluster = DRAGONFLY, .is_single = true, W(16), .is_ring = true},
    {.name = "messages, torus", .cluster = TORUS, .is_single = true, W(16)},
};

/* Prints how the time grows with the transfers that share links; 1.0x is linear. */
static void bench_growth(const struct job *job)
{
    double each_s = 0;
    char shared[PP_UNITS_TEXT_BYTES], text[PP_UNITS_TEXT_BYTES];

    for (int factor = 1; factor <= 4; factor *= 2) {
        struct job grown = *job;
        grown.replicas *= factor;
        const struct result r = best_of(&grown);
        const double now_each_s = r.run_s / (double)(r.stats.shared ? r.stats.shared : 1);
        each_s = factor == 1 ? now_each_s : each_s;
        printf("%-25s %6d %8s %8s %6.2fx\n", job->name, job->ranks * grown.replicas,
               pp_units_print_count(r.stats.shared, shared),
               pp_units_print(r.run_s, PP_UNIT_SECONDS, text), now_each_s / each_s);
    }
}

/* ---- the main job ------------------------------------------------------------------------- */

static void bench_main(const char *pipesim)
{
    enum { RUNS = 5 };
    const double target_s = 0.5;
    double best_s = 1e9, busy_s = 1e9, bytes = 0;
    char text[PP_UNITS_TEXT_BYTES], busy[PP_UNITS_TEXT_BYTES];

    for (int k = 0; k < RUNS; k++) {
        const double start_s = now_s();
        struct rusage usage = {0};
        int status = -1;
        const pid_t child = fork();
        if (child == 0) {
            const int out = open("/dev/null", O_WRONLY);
            dup2(out, STDOUT_FILENO);
            execl(pipesim, "pipesim", "--schedule", "chimera", "--gpus", "2048", (char *)NULL);
            _exit(127);
        }
        wait4(child, &status, 0, &usage);
        const double wall_s = now_s() - start_s;
        if (status != 0) {
            printf("%s does not run\n", pipesim);
            return;
        }
        best_s = wall_s < best_s ? wall_s : best_s;
        bytes = (double)usage.ru_maxrss * 1024;
        const double cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                             1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
        busy_s = cpu_s < busy_s ? cpu_s : busy_s;
    }
    printf("pipesim --schedule chimera --gpus 2048: %s as a process (%s of them on a core), best "
           "of %d, %.0f MiB; target %.1fx\n",
           pp_units_print(best_s, PP_UNIT_SECONDS, text),
           pp_units_print(busy_s, PP_UNIT_SECONDS, busy), RUNS, bytes / 1048576, target_s / best_s);
}

int main(int argc, char *argv[])
{
    printf("%-25s %6s %9s %8s %8s %8s %7s %7s %8s %7s %7s %8s %5s %7s %11s %11s\n", "job", "GPUs",
           "transfers", "shared", "prepare", "simgrid", "target", "ASTRA", "dag", "dag is",
           "lmm is", "differs", "MiB", "target", "step_s", "dag step_s");
    for (size_t k = 0; k < sizeof(jobs) / sizeof(jobs[0]); k++)
        bench(&jobs[k]);
    printf("\n%-25s %6s %8s %8s %7s\n", "growth", "GPUs", "shared", "simgrid", "each");
    for (size_t k = 0; k < sizeof(growing) / sizeof(growing[0]); k++)
        bench_growth(&growing[k]);
    printf("each: time for a transfer that shares links, over that of the first row.\n\n");
    if (argc > 1)
        bench_main(argv[1]);
    printf(
        "\nprepare: fabric, program, lowering, costs. simgrid: from the program to a trace, best "
        "of "
        "3.\nlmm is: time of SimGrid itself over that of our solver, and how far the steps differ. "
        "target: how many times faster (less) "
        "than asked, prepare included.\nASTRA: its %.2f s (%.0f MiB) over ours. shared: "
        "transfers that met others on a link. MiB: the most that\nthe process holds at a "
        "time. formula: the all-reduce by formula over that simulated.\n",
        PEER_S, PEER_BYTES / 1048576);
    return 0;
}
