#include "schedules/order/concat.h"
#include "tests/property/laws_parts.h"

#include "core/units.h"
#include "schedules/registry.h"
#include "tests/unit/support/random_program.h"
#include "tests/unit/support/state_specs.h"

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

    if (schedule->sizes & PP_SIZE_CHUNKS)
        shape.chunks = rng_int(rng, 1, 3);
    if (schedule->sizes & PP_SIZE_SPLITS && rng_chance(rng, 40))
        shape.splits = 2;
    if (schedule->sizes & PP_SIZE_PIPELINES && rng_chance(rng, 30))
        shape.pipelines = 4;
    if (schedule->sizes & PP_SIZE_GRANULES)
        shape.option[PP_CONCAT_AT] = rng_int(rng, 0, PP_CONCAT_AUTO - 1);
    return shape;
}

/* Parameters of one pipeline that are cut: units of every stage. */
static void draw_gathers(struct pp_arena *arena, struct rng *rng, const struct pp_program *compute,
                         struct pp_lower_options *lower)
{
    int *units = PP_ARRAY(arena, int, compute->stages);
    bool is_spread = pp_state_is_spread(&lower->state);

    if (compute->pipelines > 1 || compute->versions > 1 || !rng_chance(rng, 40))
        return;
    for (int s = 0; s < compute->stages; s++)
        units[s] = rng_int(rng, 1, 3);
    const int buffers = rng_int(rng, 1, 4);
    const bool has_parts = rng_chance(rng, 30) && lower->has_sync;
    is_spread = (is_spread && lower->has_sync) || has_parts;
    const bool has_rest = is_spread && rng_chance(rng, 50);
    lower->units = units;
    lower->state = specs_cut(2, has_parts ? 4 : 2, is_spread ? 4 : 2,
                             has_rest          ? 8
                             : lower->has_sync ? 4
                                               : 2);
    lower->state.buffers = buffers;
}

static bool make_program(struct law_case *c, struct rng *rng, unsigned flags, bool has_replicas)
{
    struct pp_shape shape = random_shape(c->schedule, rng, flags);
    struct pp_lower_options lower = {.post = (enum pp_post)rng_int(rng, 0, PP_POST_SENDER),
                                     .recv_slots = rng_int(rng, 1, 3),
                                     .grad_sync =
                                         (enum pp_grad_sync)rng_int(rng, 0, PP_SYNC_EAGER_OPT),
                                     .has_optimizer = true,
                                     .state = specs_zero(rng_int(rng, 0, 1)),
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
    lower.update_every = pp_schedule_update_every(c->schedule, compute->micro_batches);
    return pp_lower(c->arena, compute, &lower, &c->program, &err) == PP_OK;
}

/* ---- options ------------------------------------------------------------------------------ */

static void make_options(struct law_case *c, struct rng *rng, unsigned flags)
{
    struct pp_eval_options *plan = &c->options.eval;

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
    const struct pp_eval_options *o = &c->options.eval;
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
    law_make_costs(c, &rng);
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
    law_make_costs(c, &g->rng);
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
