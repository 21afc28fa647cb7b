/* The cache of keys and values, on the device or on another tier: its bytes by a naive sum at every
 * instruction, and bounds. */
#include "schedules/memory/least.h"
#include "schedules/memory/memory.h"
#include "tests/unit/schedules/build/build_of.h"
#include "tests/unit/support/lower_tensors.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

struct sizes {
    int ranks, passes, groups, pieces;
    int buffers; /* of blocks whose keys and values live on another tier; 0 = on the device */
};

/* Only the first pass has parameters. All bytes are multiples of the pieces. */
static struct pp_costs *costs_of(struct pp_arena *arena, struct sizes z)
{
    const int stages = z.ranks * z.passes;
    struct pp_costs *costs = pp_costs_unit(arena, &pp_unit_costs_usual, z.ranks, stages, 1, 1);

    costs->granules = z.pieces;
    costs->other_bytes = 777;
    costs->memory = PP_ARRAY(arena, struct pp_stage_memory, stages);
    for (int v = 0; v < stages; v++)
        costs->memory[v] =
            (struct pp_stage_memory){.params_bytes = v < z.ranks ? 1000 + v : 0,
                                     .kv_bytes = z.pieces * (double)(rand() % 500),
                                     .forward_bytes = z.pieces * (double)(rand() % 50),
                                     .boundary_bytes = z.ranks > 1 ? z.pieces * (rand() % 90) : 0};
    for (int v = 0; v < stages && z.buffers; v++) {
        struct pp_stage_memory *m = &costs->memory[v];
        m->kv_up_bytes = v < z.ranks ? 0 : z.pieces * (double)(rand() % 70);
        m->kv_down_bytes = z.pieces * (double)(rand() % 30);
        m->kv_room_bytes = (1 + rand() % z.buffers) * (m->kv_up_bytes + m->kv_down_bytes);
    }
    return costs;
}

static struct pp_build build_with(struct sizes z, const struct pp_costs *costs)
{
    struct pp_build build = of("generate", z.groups);

    build.shape = (struct pp_shape){
        .ranks = z.ranks, .chunks = z.passes, .micro_batches = z.groups, .granules = z.pieces};
    build.costs = costs;
    build.state.buffers = z.buffers;
    build.state.home[PP_STATE_CACHE] = z.buffers ? PP_TIER_HOST : PP_TIER_DEVICE;
    return build;
}

static bool covers(const struct pp_program *p, int i, int model_stage, int granule)
{
    return p->kind[i] == PP_F && p->stage[i] % (p->stages / p->passes) == model_stage &&
           p->mb[i] <= granule && granule < p->mb[i] + p->granule_count[i];
}

/* Bytes of the cache while the instruction at a position runs. Those of a granule and pass stay
 * from their F to the last F of the granule on the same weights. */
static double cache_at(const struct pp_program *p, const struct pp_costs *costs, int rank, int at)
{
    const int model = p->stages / p->passes;
    double bytes = 0;

    for (int i = p->begin[rank]; i <= p->begin[rank] + at; i++)
        for (int g = p->mb[i]; p->kind[i] == PP_F && g < p->mb[i] + p->granule_count[i]; g++) {
            bool is_used = false;
            for (int k = p->begin[rank] + at; k < p->begin[rank + 1]; k++)
                is_used |= covers(p, k, p->stage[i] % model, g);
            bytes += is_used ? costs->memory[p->stage[i]].kv_bytes / p->granules : 0;
        }
    return bytes;
}

/* Messages, and what F uses while it runs. */
static double buffers_at(const struct pp_program *p, const struct pp_costs *costs,
                         const struct tensor *tensors, int count, int i, int at)
{
    double bytes = p->kind[i] == PP_F ? costs->memory[p->stage[i]].forward_bytes *
                                            p->granule_count[i] / p->granules
                                      : 0;

    for (int k = 0; k < count; k++)
        if (tensors[k].class != SAVED && tensors[k].from <= at && at <= tensors[k].until)
            bytes +=
                costs->memory[tensors[k].stage].boundary_bytes * tensors[k].granules / p->granules;
    return bytes;
}

/* Returns the next instruction of a kind and purpose on the stage and first granule of i, or the
 * end of the list. Forwards have no purpose. */
static int next_of(const struct pp_program *p, int i, int kind, int purpose)
{
    const int end = p->begin[pp_program_rank_at(p, i) + 1];

    for (int k = i + 1; k < end; k++)
        if (p->kind[k] == kind && p->stage[k] == p->stage[i] && p->mb[k] == p->mb[i] &&
            (kind == PP_F || p->purpose[k] == purpose))
            return k;
    return end;
}

/* Returns the share of `bytes` of the granules of i. */
static double granules_of(const struct pp_program *p, int i, double bytes)
{
    return bytes * p->granule_count[i] / p->granules;
}

/* Bytes at `now` of what COPY i brings. Another forward that runs until then has some room for it,
 * and all of it once it has ended. */
static double coming_at(const struct pp_program *p, const struct pp_costs *costs, int i, int now)
{
    const int wait = next_of(p, i, PP_WAIT, PP_FOR_KV_UP), use = next_of(p, i, PP_F, 0);
    const double bytes = granules_of(p, i, costs->memory[p->stage[i]].kv_up_bytes);
    int other = i + 1;

    while (other < wait && p->kind[other] != PP_F)
        other++;
    if (now < other || now > use)
        return 0;
    const struct pp_stage_memory *m = &costs->memory[p->stage[other]];
    const double spare =
        granules_of(p, other, m->kv_room_bytes - m->kv_up_bytes - m->kv_down_bytes);
    return now == other && other < wait ? fmax(0, bytes - spare) : bytes;
}

/* Buffers of keys and values on another tier. */
static double copies_at(const struct pp_program *p, const struct pp_costs *costs, int rank, int now)
{
    const struct pp_stage_memory *here = &costs->memory[p->stage[now]];
    double bytes =
        p->kind[now] == PP_F ? granules_of(p, now, here->kv_room_bytes - here->kv_up_bytes) : 0;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        if (p->kind[i] != PP_COPY)
            continue;
        if (p->purpose[i] == PP_FOR_KV_UP)
            bytes += coming_at(p, costs, i, now);
        else if (i <= now && now <= next_of(p, i, PP_WAIT, PP_FOR_KV_DOWN))
            bytes += granules_of(p, i, costs->memory[p->stage[i]].kv_down_bytes);
    }
    return bytes;
}

static double check_rank(const struct pp_program *p, const struct pp_costs *costs, int rank,
                         const struct pp_rank_memory *m)
{
    const int count = p->begin[rank + 1] - p->begin[rank];
    struct tensor *tensors = malloc(sizeof(*tensors) * (size_t)(4 * count + 4));
    const int n = tensors_of(p, rank, tensors);
    double peak = -1, most = 0, cached = 0;

    for (int at = 0; at < count; at++) {
        const double kv = cache_at(p, costs, rank, at),
                     bytes = kv + buffers_at(p, costs, tensors, n, p->begin[rank] + at, at) +
                             copies_at(p, costs, rank, p->begin[rank] + at);
        most = fmax(most, kv);
        cached = bytes > peak ? kv : cached;
        peak = fmax(peak, bytes);
    }
    cr_assert_eq(m->most_kv_bytes, most);
    cr_assert_eq(m->kv_bytes, cached);
    cr_assert_eq(m->params_bytes, 1000 + rank);
    cr_assert_eq(m->peak_bytes, 1000 + rank + 777 + peak, "rank %d: %g, not %g", rank,
                 m->peak_bytes, 1000 + rank + 777 + peak);
    free(tensors);
    return m->peak_bytes;
}

/* A bound of the order alone is below the peak, and is the peak without messages. */
static void check_least(struct pp_arena *arena, struct pp_build build, double peak_bytes)
{
    struct pp_build_list list;
    struct pp_error err = {0};

    cr_assert_eq(pp_build_list(arena, &build, &list, &err), PP_OK, "%s", err.message);
    const double least = pp_build_least(&build, &list).bytes;
    cr_assert_leq(least, peak_bytes);
    if (build.shape.ranks == 1 && build.state.buffers == 0)
        cr_assert_geq(least, peak_bytes * (1 - 1e-5));
}

static void check(struct sizes z)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_costs *costs = costs_of(arena, z);
    struct pp_build build = build_with(z, costs);
    struct pp_program *program = NULL;
    struct pp_error err = {0};
    double peak = 0;

    cr_assert_eq(pp_build(arena, &build, &program, &err), PP_OK, "%s", err.message);
    const struct pp_rank_memory *memory = pp_memory_peaks(arena, program, costs);
    const struct pp_memory_changes changes = pp_memory_changes(arena, program, costs);
    for (int rank = 0; rank < z.ranks; rank++) {
        double left = 0;
        peak = fmax(peak, check_rank(program, costs, rank, &memory[rank]));
        for (int i = program->begin[rank]; i < program->begin[rank + 1]; i++)
            left += changes.taken_bytes[i] - changes.given_bytes[i];
        cr_assert_geq(left, 0);
        cr_assert_leq(left, peak);
    }
    check_least(arena, build, peak);
}

Test(kv, bytes_are_the_sum_over_all_passes)
{
    srand(5);
    for (int ranks = 1; ranks <= 4; ranks++)
        for (int passes = 1; passes <= 4; passes++)
            for (int groups = 1; groups <= 5; groups += 2)
                for (int pieces = 1; pieces <= 3; pieces++)
                    for (int buffers = 0; buffers <= 3; buffers++)
                        check((struct sizes){ranks, passes, groups, pieces, buffers});
}

/* Contiguous, of equal groups: all groups at once, whatever the passes. */
Test(kv, contiguous_by_closed_form)
{
    for (int passes = 2; passes <= 6; passes += 2) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct sizes z = {4, passes, 6, 2};
        struct pp_costs *costs = costs_of(arena, z);
        struct pp_build build = build_with(z, costs);
        struct pp_program *program = NULL;

        for (int v = 0; v < z.ranks * passes; v++)
            costs->memory[v] = (struct pp_stage_memory){.kv_bytes = v < z.ranks ? 4096 : 0};
        cr_assert_eq(pp_build(arena, &build, &program, NULL), PP_OK);
        const struct pp_rank_memory *memory = pp_memory_peaks(arena, program, costs);
        for (int rank = 0; rank < z.ranks; rank++) {
            cr_expect_eq(memory[rank].most_kv_bytes, 6 * 4096);
            cr_expect_eq(memory[rank].kv_bytes, 6 * 4096);
        }
    }
}
