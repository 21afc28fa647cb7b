#include "tests/property/laws.h"

#include "core/units.h"
#include "tests/unit/random_program.h"

#include <math.h>
#include <stdlib.h>

/* ---- platforms ---------------------------------------------------------------------------- */

struct platform {
    const char *name;
    int gpus_per_node;
    struct pp_fabric_shape shape;
};
static const struct platform platforms[LAW_PLATFORMS] = {
    {"ideal", 1, {.kind = PP_FABRIC_IDEAL}},
    {"star", 1, {.kind = PP_FABRIC_STAR}},
    {"star of nodes", 2, {.kind = PP_FABRIC_STAR}},
    {"fat tree", 4, {.kind = PP_FABRIC_FAT_TREE, .leaf_nodes = 2}},
    {"fat tree, oversubscribed",
     2,
     {.kind = PP_FABRIC_FAT_TREE, .leaf_nodes = 2, .oversubscription = 4}},
    {"fat tree, static", 2, {.kind = PP_FABRIC_FAT_TREE, .leaf_nodes = 2, .is_static = true}},
    {"dragonfly", 1, {.kind = PP_FABRIC_DRAGONFLY, .chassis = 2, .routers = 2, .router_nodes = 2}},
    {"dragonfly, static",
     1,
     {.kind = PP_FABRIC_DRAGONFLY,
      .chassis = 2,
      .routers = 4,
      .router_nodes = 2,
      .is_static = true}},
    {"torus", 1, {.kind = PP_FABRIC_TORUS}},
    {"pcie nodes", 4, {.kind = PP_FABRIC_STAR, .is_pcie = true, .host_bytes_per_s = 60e9}},
    {"shared nics", 4, {.kind = PP_FABRIC_FAT_TREE, .nics = 2, .leaf_nodes = 2}},
};
const char *const law_platform_names[LAW_PLATFORMS] = {"ideal",
                                                       "star",
                                                       "star of nodes",
                                                       "fat tree",
                                                       "fat tree, oversubscribed",
                                                       "fat tree, static",
                                                       "dragonfly",
                                                       "dragonfly, static",
                                                       "torus",
                                                       "pcie nodes",
                                                       "shared nics"};

static int pick(struct rng *rng, const int *values, int count)
{
    return values[rng_int(rng, 0, count - 1)];
}

static void make_network(struct law_case *c, const struct platform *platform, struct rng *rng,
                         unsigned flags)
{
    static const int twos[] = {1, 1, 2, 4}, small[] = {1, 2};
    static const char *const maps[] = {"tp,cp,dp,pp", "tp,cp,pp,dp", "pp,dp,tp,cp", "dp,pp,cp,tp"};
    struct pp_cluster *cluster = PP_NEW(c->arena, struct pp_cluster);
    struct pp_layout *l = &c->network.layout;
    struct pp_map_order order;
    struct pp_error err = {0};

    cr_assert_eq(pp_cluster_load(c->arena, "h100", cluster, &err), PP_OK, "%s", err.message);
    cluster->name = platform->name;
    cluster->gpus_per_node = platform->gpus_per_node;
    cluster->nodes = 0;
    cluster->fabric = platform->shape;
    *l = (struct pp_layout){.tp = pick(rng, small, 2),
                            .cp = rng_chance(rng, 20) ? 2 : 1,
                            .dp = flags & LAW_SMALL ? pick(rng, small, 2) : pick(rng, twos, 4),
                            .pp = c->program->ranks,
                            .ep = 1,
                            .vp = 1,
                            .micro_batches = c->program->micro_batches,
                            .mbs = 1,
                            .seq = 1};
    l->gpus = l->tp * l->cp * l->dp * l->pp;
    l->gbs = l->dp * l->micro_batches;
    cr_assert_eq(pp_map_parse(maps[rng_int(rng, 0, 3)], &order, &err), PP_OK, "%s", err.message);
    struct pp_fabric *fabric;
    cr_assert_eq(pp_fabric_make(c->arena, cluster, l->gpus, &fabric, &err), PP_OK, "%s: %s",
                 platform->name, err.message);
    c->network.fabric = fabric;
    c->network.map = pp_map_make(order, l);
    c->network.lanes = rng_chance(rng, 50) ? 1 : l->tp * l->cp;
    c->options.network = &c->network;
    c->options.replicas = l->dp;
}

/* ---- program ------------------------------------------------------------------------------ */

static struct pp_shape random_shape(const struct pp_schedule *schedule, struct rng *rng,
                                    unsigned flags)
{
    static const int ranks[] = {2, 4, 4, 8, 3, 6, 5}, batches[] = {1, 2, 4, 8, 12, 16, 6, 5};
    struct pp_shape shape = {.ranks = pick(rng, ranks, flags & LAW_SMALL ? 3 : 7),
                             .micro_batches = pick(rng, batches, flags & LAW_SMALL ? 4 : 8)};

    if (schedule->options & PP_OPT_CHUNKS)
        shape.chunks = rng_int(rng, 1, 3);
    if (schedule->options & PP_OPT_SPLITS && rng_chance(rng, 40))
        shape.splits = 2;
    if (schedule->options & PP_OPT_PIPELINES && rng_chance(rng, 30))
        shape.pipelines = 4;
    if (schedule->options & PP_OPT_CONCAT)
        shape.concat = rng_int(rng, 0, PP_CONCAT_AUTO - 1);
    return shape;
}

/* Parameters of one pipeline that are cut: units of every stage. */
static void draw_gathers(struct pp_arena *arena, struct rng *rng, const struct pp_program *compute,
                         struct pp_lower_options *lower)
{
    int *units = PP_ARRAY(arena, int, compute->stages);

    if (compute->pipelines > 1 || compute->versions > 1 || !rng_chance(rng, 40))
        return;
    for (int s = 0; s < compute->stages; s++)
        units[s] = rng_int(rng, 1, 3);
    lower->gather_units = units;
    lower->gather_buffers = rng_int(rng, 1, 4);
    lower->has_parts = rng_chance(rng, 30);
    lower->has_rest = lower->zero > 0 && rng_chance(rng, 50);
}

static bool make_program(struct law_case *c, struct rng *rng, unsigned flags, bool has_replicas)
{
    struct pp_shape shape = random_shape(c->schedule, rng, flags);
    struct pp_lower_options lower = {.post = (enum pp_post)rng_int(rng, 0, PP_POST_SENDER),
                                     .recv_slots = rng_int(rng, 1, 3),
                                     .grad_sync =
                                         (enum pp_grad_sync)rng_int(rng, 0, PP_SYNC_EAGER_OPT),
                                     .has_optimizer = true,
                                     .zero = rng_int(rng, 0, 1),
                                     .has_tied = rng_chance(rng, 20)};
    struct pp_program *compute;
    struct pp_error err = {0};
    const int most_buckets = rng_chance(rng, 40) ? 4 : 1;
    struct rng side = *rng; /* draws nothing from the cases that follow */

    if (pp_schedule_program(c->arena, c->schedule, &shape, NULL, &compute, &err) != PP_OK)
        return false;
    lower.has_sync = has_replicas || compute->pipelines > 1;
    lower.has_tied &= compute->stages > 1;
    lower.has_clip = rng_chance(&side, 20);
    int *buckets = PP_ARRAY(c->arena, int, compute->stages);
    for (int s = 0; s < compute->stages; s++)
        buckets[s] = rng_int(rng, 1, most_buckets);
    lower.buckets = buckets;
    draw_gathers(c->arena, &side, compute, &lower);
    pp_lower_schedule(c->schedule, compute->micro_batches, &lower);
    return pp_lower(c->arena, compute, &lower, &c->program, &err) == PP_OK;
}

/* ---- costs -------------------------------------------------------------------------------- */

/* Durations of compute and of analytic collectives: all different, or in lockstep. */
static void make_durations(struct law_case *c, struct rng *rng)
{
    static const struct {
        int kind;
        double s;
    } rows[] = {{PP_F, 4e-3}, {PP_B, 8e-3},  {PP_I, 4e-3},  {PP_W, 4e-3}, {PP_R, 3e-3},
                {PP_U, 1e-3}, {PP_AR, 6e-3}, {PP_RS, 3e-3}, {PP_AG, 3e-3}};
    struct pp_costs *costs = c->costs;
    const bool is_even = rng_chance(rng, 40);

    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        costs->op[rows[k].kind] = PP_ARRAY(c->arena, struct pp_cost, costs->stages * costs->splits);
        for (int s = 0; s < costs->stages * costs->splits; s++) {
            const double factor = is_even ? 1 : 0.2 + rng_int(rng, 0, 1000000) * 1.6e-6;
            costs->op[rows[k].kind][s].ps = pp_units_ps(rows[k].s * factor);
            costs->op[rows[k].kind][s].latency_ps = pp_units_ps(1e-4);
        }
    }
    for (int purpose = PP_FOR_STEP + 1; purpose < PP_PURPOSES; purpose++) {
        costs->purpose[purpose] = PP_ARRAY(c->arena, struct pp_cost, costs->stages);
        for (int s = 0; s < costs->stages; s++)
            costs->purpose[purpose][s].ps = pp_units_ps(1e-3 * (1 + (s + purpose) % 5));
    }
    costs->tied = PP_NEW(c->arena, struct pp_cost);
    costs->tied->ps = pp_units_ps(2e-3);
    costs->tied->bytes = 1e8;
}

/* Each pair of ranks is a link class of its own: what the cheapest of its routes takes. */
static void make_messages(struct law_case *c, struct rng *rng)
{
    struct pp_costs *costs = c->costs;
    const struct pp_network *n = &c->network;
    const int ranks = costs->ranks, lanes = n->layout.tp * n->layout.cp;
    const double bytes = 1024. * 1024 * (rng_chance(rng, 50) ? 96 : 24);
    unsigned char *link = PP_ARRAY(c->arena, unsigned char, ranks *ranks);

    costs->links = ranks * ranks;
    costs->link = link;
    costs->alpha_ps = PP_ARRAY(c->arena, int64_t, costs->links);
    costs->s_per_byte = PP_ARRAY(c->arena, double, costs->links);
    costs->memory = PP_ARRAY(c->arena, struct pp_stage_memory, costs->stages);
    for (int s = 0; s < costs->stages - 1; s++)
        costs->memory[s].boundary_bytes = bytes;
    for (int k = 0; k < ranks * ranks; k++) {
        double least_s = INFINITY;
        link[k] = (unsigned char)k;
        for (int at = 0; at < n->layout.dp * lanes && k / ranks != k % ranks; at++) {
            const struct pp_route route =
                pp_fabric_cost(n->fabric, pp_network_device(n, k / ranks, at / lanes, at % lanes),
                               pp_network_device(n, k % ranks, at / lanes, at % lanes));
            if (route.alpha_s + bytes / route.bytes_per_s >= least_s)
                continue;
            least_s = route.alpha_s + bytes / route.bytes_per_s;
            costs->alpha_ps[k] = pp_units_ps(route.alpha_s);
            costs->s_per_byte[k] = 1 / route.bytes_per_s;
        }
    }
}

static int by_device(const void *a, const void *b)
{
    return (*(const int(*)[3])a)[0] - (*(const int(*)[3])b)[0];
}

static void make_ring(const struct law_case *c, int stage, double bytes, struct pp_ring *ring)
{
    const struct pp_program *p = c->program;
    const struct pp_network *n = &c->network;
    const struct pp_layout *l = &n->layout;
    const int most = p->pipelines * l->dp * l->cp;
    int(*at)[3] = (int(*)[3])PP_ARRAY(c->arena, int, 3 * most); /* device, rank, replica */
    int count = 0;

    for (int pipe = 0; pipe < p->pipelines; pipe++)
        for (int k = 0; k < l->dp * l->cp; k++) {
            const int rank = pp_program_rank_of(p, pipe, stage), replica = k / l->cp;
            const int device = pp_map_device(&n->map, 0, k % l->cp, replica, rank);
            bool is_new = true;
            for (int j = 0; j < count; j++)
                is_new &= at[j][0] != device;
            if (is_new)
                memcpy(at[count++], (const int[3]){device, rank, replica}, sizeof(at[0]));
        }
    qsort(at, (size_t)count, sizeof(at[0]), by_device);
    *ring = (struct pp_ring){.positions = count,
                             .device = PP_ARRAY(c->arena, int32_t, count),
                             .rank = PP_ARRAY(c->arena, uint16_t, count),
                             .replica = PP_ARRAY(c->arena, int32_t, count),
                             .hop_ps = PP_ARRAY(c->arena, int64_t, count),
                             .alpha_ps = PP_ARRAY(c->arena, int64_t, count)};
    for (int i = 0; i < count; i++) {
        const struct pp_route route =
            pp_fabric_cost(n->fabric, at[(i + count - 1) % count][0], at[i][0]);
        ring->device[i] = at[i][0];
        ring->rank[i] = (uint16_t)at[i][1];
        ring->replica[i] = at[i][2];
        ring->alpha_ps[i] = pp_units_ps(route.alpha_s);
        ring->hop_ps[i] =
            ring->alpha_ps[i] + (count > 1 ? pp_units_ps(bytes / count / route.bytes_per_s) : 0);
    }
}

static void make_costs(struct law_case *c, struct rng *rng)
{
    const struct pp_program *p = c->program;
    const double bytes = 2520. * 65536; /* divides by every number of positions */
    struct pp_costs *costs = c->costs = PP_NEW(c->arena, struct pp_costs);

    *costs = (struct pp_costs){.stages = p->stages,
                               .splits = p->splits,
                               .granules = p->granules,
                               .ranks = p->ranks,
                               .origin = "analytic",
                               .source = "test",
                               .rings = PP_ARRAY(c->arena, struct pp_ring, p->stages)};
    make_durations(c, rng);
    make_messages(c, rng);
    for (int s = 0; s < p->stages; s++) {
        make_ring(c, s, bytes, &costs->rings[s]);
        costs->op[PP_AR][s].bytes = costs->op[PP_RS][s].bytes = costs->op[PP_AG][s].bytes = bytes;
    }
}

/* ---- options ------------------------------------------------------------------------------ */

static void make_options(struct law_case *c, struct rng *rng, unsigned flags)
{
    struct pp_plan_options *plan = &c->options.plan;

    plan->is_buffered = rng_chance(rng, 50);
    plan->buffered = plan->is_buffered ? rng_int(rng, 0, 2) : 0;
    plan->ring_flows = !(flags & LAW_ANALYTIC) && ((flags & LAW_RINGS) || rng_chance(rng, 40));
    plan->steps = flags & LAW_ONE_STEP || rng_chance(rng, 50) ? 1 : rng_int(rng, 2, 3);
    plan->is_barrier_free = plan->steps > 1 && (flags & LAW_FREE || rng_chance(rng, 50));
}

static void make_perturbation(struct law_case *c, struct rng *rng)
{
    const int count = c->program->ranks * c->options.replicas;
    double *slow = PP_ARRAY(c->arena, double, count);

    for (int k = 0; k < count; k++)
        slow[k] = rng_chance(rng, 20) ? 0.7 : 1;
    c->options.perturbation =
        (struct pp_perturbation){.jitter_frac = 0.1, .seed = rng_next(rng), .slow = slow};
}

static void describe(struct law_case *c, uint64_t seed, const char *platform)
{
    const struct pp_layout *l = &c->network.layout;
    const struct pp_plan_options *o = &c->options.plan;
    const struct pp_program *p = c->program;

    snprintf(c->text, sizeof(c->text),
             "%s on %s, seed %llu: D %d stages %d N %d splits %d pipelines %d; dp %d tp %d cp %d "
             "lanes %d; %s:%d %s steps %d%s",
             c->schedule->name, platform, (unsigned long long)seed, p->ranks, p->stages,
             p->micro_batches, p->splits, p->pipelines, l->dp, l->tp, l->cp, c->network.lanes,
             o->is_buffered ? "buffered" : "rendezvous", o->buffered,
             o->ring_flows ? "rings" : "analytic", o->steps, o->is_barrier_free ? " free" : "");
}

bool law_make(struct pp_arena *arena, const struct pp_schedule *schedule, int platform,
              unsigned flags, uint64_t seed, struct law_case *c)
{
    struct rng rng = {.state = seed * 0x9e3779b97f4a7c15u + 88172645463325252u};

    for (int k = 0; k < 4; k++)
        rng_next(&rng);
    *c = (struct law_case){.arena = arena, .schedule = schedule};
    if (!make_program(c, &rng, flags, true))
        return false;
    make_network(c, &platforms[platform], &rng, flags);
    make_costs(c, &rng);
    make_options(c, &rng, flags);
    if (flags & LAW_JITTER)
        make_perturbation(c, &rng);
    if (flags & LAW_SHARE)
        c->options.sync_share = 0.05 * rng_int(&rng, 1, 10);
    describe(c, seed, platforms[platform].name);
    return true;
}

/* PIPESIM_SEED=n: other cases. */
static uint64_t seed_offset(void)
{
    const char *text = getenv("PIPESIM_SEED");

    return text ? (uint64_t)strtoull(text, NULL, 10) * 1000000007u : 0;
}

bool law_make_random(struct pp_arena *arena, int platform, uint64_t seed, struct law_case *c)
{
    struct pp_program *compute;
    struct random_program *g;

    *c = (struct law_case){.arena = arena};
    seed += seed_offset();
    g = random_program(arena, seed, &c->program, &compute);
    make_network(c, &platforms[platform], &g->rng, LAW_SMALL);
    make_costs(c, &g->rng);
    make_options(c, &g->rng, 0);
    c->schedule = &(const struct pp_schedule){.name = "random program"};
    describe(c, seed, platforms[platform].name);
    c->schedule = NULL;
    return g->is_odd;
}

/* One accepted case from `seed` on. */
static void check_one(int schedule, int platform, unsigned flags, uint64_t seed,
                      void (*check)(const struct law_case *c))
{
    enum { TRIES = 200 };

    seed += seed_offset();
    for (uint64_t k = 0; k < TRIES; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct law_case c;
        if (!law_make(arena, pp_schedules[schedule], platform, flags, seed * TRIES + k, &c))
            continue;
        check(&c);
        return;
    }
    cr_assert(false, "%s: no shape", pp_schedules[schedule]->name);
}

void law_for_each(int platform, unsigned flags, int count, int rounds,
                  void (*check)(const struct law_case *c))
{
    int schedules = 0;
    const int all = platform == LAW_ANY ? LAW_PLATFORMS : 1;

    while (pp_schedules[schedules])
        schedules++;
    if (getenv("PIPESIM_LONG"))
        count = schedules * all * rounds;
    for (int k = 0; k < count; k++) {
        const int schedule = k % schedules;
        const int at = all == 1 ? platform : (k + k / schedules) % LAW_PLATFORMS;
        check_one(schedule, at, flags, (uint64_t)k + 1, check);
    }
}

/* ---- running and comparing ---------------------------------------------------------------- */

struct pp_trace *law_run(const struct law_case *c, const struct pp_engine *engine)
{
    struct pp_trace *trace = NULL;
    struct pp_error err = {0};

    cr_assert_eq(engine->run(c->arena, c->program, c->costs, &c->options, &trace, &err), PP_OK,
                 "%s: %s: %s", engine->name, c->text, err.message);
    return trace;
}

struct fluid_options law_fluid_options(const struct law_case *c)
{
    const struct pp_plan_options *o = &c->options.plan;

    return (struct fluid_options){.is_buffered = o->is_buffered,
                                  .buffered = o->buffered,
                                  .replicas = c->options.replicas,
                                  .steps = o->steps,
                                  .is_barrier_free = o->is_barrier_free,
                                  .ring_flows = o->ring_flows,
                                  .network = c->options.network,
                                  .sync_share = c->options.sync_share};
}

double law_makespan_s(const struct pp_trace *trace)
{
    double latest_s = 0;

    for (int i = 0; i < trace->count; i++)
        latest_s = fmax(latest_s, trace->events[i].end_s);
    return latest_s;
}

int64_t *law_durations(const struct law_case *c, const struct pp_trace *trace)
{
    const struct pp_program *p = c->program;
    const size_t size = (size_t)pp_program_size(p), replicas = (size_t)trace->replicas;
    int64_t *ps = PP_ARRAY(c->arena, int64_t, size * replicas * (size_t)trace->steps);
    int e = 0;

    for (int replica = 0; replica < trace->replicas; replica++)
        for (int r = 0; r < p->ranks; r++)
            for (int step = 0; step < trace->steps; step++)
                for (int i = p->begin[r]; i < p->begin[r + 1]; i++, e++) {
                    const struct pp_trace_event *event = &trace->events[e];
                    ps[((size_t)step * size + (size_t)i) * replicas + (size_t)replica] =
                        pp_units_ps(event->end_s) - pp_units_ps(event->start_s);
                    i += event->is_fused;
                }
    return ps;
}

static bool is_near(double a, double b, double slack_s)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= slack_s;
}

const char *law_difference(struct pp_arena *arena, const struct pp_trace *a,
                           const struct pp_trace *b, double slack_s)
{
    if (a->count != b->count)
        return "another number of events";
    for (int i = 0; i < a->count; i++) {
        const struct pp_trace_event *x = &a->events[i], *y = &b->events[i];
        if (is_near(x->end_s, y->end_s, slack_s) && is_near(x->posted_s, y->posted_s, slack_s) &&
            is_near(x->matched_s, y->matched_s, slack_s) &&
            is_near(x->start_s, y->start_s, slack_s))
            continue;
        return pp_arena_printf(arena,
                               "%s of rank %d.%d step %d: posted %.15g start %.15g end %.15g (%s), "
                               "posted %.15g start %.15g end %.15g (%s)",
                               x->cell, x->rank, x->replica, x->step, x->posted_s, x->start_s,
                               x->end_s, a->engine, y->posted_s, y->start_s, y->end_s, b->engine);
    }
    return NULL;
}

const char *law_fluid_difference(const struct law_case *c, const struct pp_trace *trace,
                                 const struct fluid_times *x, double slack_s)
{
    const struct pp_program *p = c->program;
    const int steps = trace->steps;
    int e = 0;

    for (int replica = 0; replica < trace->replicas; replica++)
        for (int r = 0; r < p->ranks; r++)
            for (int step = 0; step < steps; step++)
                for (int i = p->begin[r]; i < p->begin[r + 1]; i++, e++) {
                    const size_t at = ((size_t)step * (size_t)pp_program_size(p) + (size_t)i) *
                                          (size_t)trace->replicas +
                                      (size_t)replica;
                    const struct pp_trace_event *event = &trace->events[e];
                    i += event->is_fused;
                    if (is_near(event->end_s, x->end_s[at], slack_s) &&
                        is_near(event->start_s, x->start_s[at], slack_s) &&
                        (isnan(event->posted_s) ||
                         is_near(event->posted_s, x->posted_s[at], slack_s)))
                        continue;
                    return pp_arena_printf(
                        c->arena,
                        "%s of rank %d.%d step %d: posted %.15g start %.15g end %.15g (%s), posted "
                        "%.15g start %.15g end %.15g (oracle)",
                        event->cell, r, replica, step, event->posted_s, event->start_s,
                        event->end_s, trace->engine, x->posted_s[at], x->start_s[at], x->end_s[at]);
                }
    return NULL;
}

void law_print(const struct law_case *c, FILE *out)
{
    fprintf(out, "%s\n", c->text);
    pp_program_print(c->program, out);
    for (int i = 0; i < c->costs->links; i++)
        if (c->costs->s_per_byte[i] > 0)
            fprintf(out, "rank %d to %d: %lld ps + %g s/B\n", i / c->costs->ranks,
                    i % c->costs->ranks, (long long)c->costs->alpha_ps[i], c->costs->s_per_byte[i]);
    for (int kind = 0; kind < PP_OP_KINDS; kind++)
        for (int s = 0; c->costs->op[kind] && s < c->costs->stages; s++)
            fprintf(out, "%d%s: %lld ps\n", s, pp_op_kinds[kind].text,
                    (long long)c->costs->op[kind][s * c->costs->splits].ps);
}
