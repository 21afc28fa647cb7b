/* The cache of units: golden numbers, closed forms, an exhaustive search, and laws over all
 * schedules. */
#include "schedules/lower/cache.h"

#include "schedules/verify/verify.h"
#include "tests/unit/schedules/lower/lower_by_hand.h"
#include "tests/unit/support/random_program.h"
#include "tests/unit/support/state_specs.h"

enum { POLICIES = 3, STAGES_MAX = 64, TEXT_BYTES = 1 << 14 };

/* Parameters live on the host, whole; a chunk is a unit. */
static struct pp_lower_options host_options(int cached, enum pp_evict evict)
{
    struct pp_lower_options options = {.recv_slots = 2, .state = specs_cut(1, 1, 1, 1)};

    options.state.home[PP_STATE_PARAMS] = PP_TIER_HOST;
    options.state.cached = cached;
    options.state.evict = evict;
    return options;
}

static int loads_of(const struct pp_program *p, int rank)
{
    int loads = 0;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
        loads += p->kind[i] == PP_MOVE && pp_move_is_load(p->purpose[i]);
    return loads;
}

static struct pp_program *lower(struct pp_arena *arena, const struct pp_program *compute,
                                const struct pp_lower_options *options)
{
    struct pp_program *p;
    struct pp_error err;

    cr_assert_eq(pp_lower(arena, compute, options, &p, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_verify(p, NULL, &err), PP_OK, "%s: %s", compute->name, err.message);
    return p;
}

/* ---- one rank -------------------------------------------------------------------------------- */

static const uint16_t one_rank[STAGES_MAX] = {0};

static struct pp_program_head one_head(int stages, int micro_batches, int mode)
{
    return (struct pp_program_head){.name = "line",
                                    .mode = mode,
                                    .ranks = 1,
                                    .stages = stages,
                                    .pipelines = 1,
                                    .micro_batches = micro_batches,
                                    .granules = 1,
                                    .splits = 1,
                                    .versions = 1,
                                    .rank_of = one_rank};
}

enum line { PER_MICRO_BATCH, GROUPED, INFERENCE };

/* V chunks of one rank: each micro-batch down and up, all micro-batches of a chunk together, or
 * forwards alone. */
static const char *line_text(char text[TEXT_BYTES], enum line line, int v, int m)
{
    int length = 0;

    for (int k = 0; k < (line == GROUPED ? 2 * v : m * 2 * v); k++) {
        const int at = k % (2 * v), stage = at < v ? at : 2 * v - 1 - at;
        for (int mb = 0; mb < (line == GROUPED ? m : 1); mb++)
            if (at < v || line != INFERENCE)
                length += snprintf(text + length, (size_t)(TEXT_BYTES - length), "%d%s%d ", stage,
                                   at < v ? "F" : "B", line == GROUPED ? mb : k / (2 * v));
    }
    return text;
}

static int line_loads(enum line line, int v, int m, int r, enum pp_evict evict)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    char text[TEXT_BYTES];
    const struct pp_lower_options options = host_options(r, evict);
    const struct pp_program *p =
        lower_text(arena, one_head(v, m, line == INFERENCE ? PP_MODE_INFER : PP_MODE_TRAIN),
                   line_text(text, line, v, m), &options);
    struct pp_error err;

    cr_assert_eq(pp_verify(p, NULL, &err), PP_OK, "%s", err.message);
    return loads_of(p, 0);
}

Test(cache, loads_of_a_line_follow_closed_forms)
{
    for (int v = 1; v <= 12; v++)
        for (int m = 1; m <= 5; m++)
            for (int r = 1; r <= v; r++)
                for (int evict = 0; evict < POLICIES; evict++) {
                    cr_assert_eq(line_loads(GROUPED, v, m, r, evict), 2 * v - r, "V %d R %d", v, r);
                    if (evict == PP_EVICT_FIFO && 2 * r > v)
                        continue;
                    cr_assert_eq(line_loads(PER_MICRO_BATCH, v, m, r, evict), 2 * m * (v - r) + r,
                                 "V %d m %d R %d policy %d", v, m, r, evict);
                }
    cr_assert_eq(line_loads(PER_MICRO_BATCH, 8, 4, 2, PP_EVICT_BELADY), 50);
    cr_assert_eq(line_loads(PER_MICRO_BATCH, 8, 4, 4, PP_EVICT_BELADY), 36);
    cr_assert_eq(line_loads(GROUPED, 8, 4, 2, PP_EVICT_BELADY), 14);
    cr_assert_eq(line_loads(GROUPED, 8, 4, 4, PP_EVICT_BELADY), 12);
}

Test(cache, inference_runs_in_circles)
{
    static const int golden[][2] = {{2, 28}, {4, 20}, {6, 14}, {7, 11}};

    for (size_t k = 0; k < PP_COUNT(golden); k++)
        cr_assert_eq(line_loads(INFERENCE, 8, 4, golden[k][0], PP_EVICT_BELADY), golden[k][1]);
    for (int r = 1; r <= 8; r++) {
        cr_assert_eq(line_loads(INFERENCE, 8, 4, r, PP_EVICT_LRU), r < 8 ? 32 : 8);
        cr_assert_eq(line_loads(INFERENCE, 8, 4, r, PP_EVICT_FIFO), r < 8 ? 32 : 8);
    }
}

/* ---- Megatron's interleaved order ------------------------------------------------------------ */

static int schedule_loads(const char *name, struct pp_shape shape, int r, enum pp_evict evict)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_lower_options options = host_options(r, evict);
    struct pp_program *compute;
    struct pp_error err;

    cr_assert_eq(pp_schedule_program(arena, pp_schedule_find(name), &shape, NULL, &compute, &err),
                 PP_OK, "%s", err.message);
    return loads_of(lower(arena, compute, &options), 0);
}

Test(cache, interleaved_orders_load_what_is_published)
{
    static const struct {
        int p, v, n, loads[POLICIES][8];
    } rows[] = {
        {4, 4, 8, {{31, 10, 7, 4}, {31, 12, 11, 4}, {31, 14, 10, 4}}},
        {8, 4, 16, {{47, 10, 7, 4}, {47, 12, 11, 4}, {47, 14, 10, 4}}},
        {4,
         8,
         8,
         {{71, 26, 23, 20, 17, 14, 11, 8},
          {71, 28, 27, 24, 23, 20, 19, 8},
          {71, 34, 28, 26, 24, 20, 18, 8}}},
    };

    for (size_t k = 0; k < PP_COUNT(rows); k++)
        for (int evict = 0; evict < POLICIES; evict++)
            for (int r = 1; r <= rows[k].v; r++) {
                const struct pp_shape shape = {
                    .ranks = rows[k].p, .chunks = rows[k].v, .micro_batches = rows[k].n};
                const int loads = schedule_loads("interleaved", shape, r, evict);
                cr_assert_eq(loads, rows[k].loads[evict][r - 1], "P %d V %d policy %d R %d: %d",
                             rows[k].p, rows[k].v, evict, r, loads);
                cr_assert_eq(schedule_loads("bfs", shape, r, evict), 2 * rows[k].v - r);
            }
}

/* ---- against other counts -------------------------------------------------------------------- */

/* Fewest loads from a use on, whatever is evicted. `resident` is a set of units. */
static int fewest(const struct pp_cache_use *uses, int count, int at, int resident, int room)
{
    if (at == count)
        return 0;
    const int unit = 1 << uses[at].unit;
    if (resident & unit)
        return fewest(uses, count, at + 1, resident, room);
    if (__builtin_popcount((unsigned)resident) < room)
        return 1 + fewest(uses, count, at + 1, resident | unit, room);
    int best = count + 1;
    for (int out = 1; out <= resident; out <<= 1)
        if (resident & out) {
            const int loads = 1 + fewest(uses, count, at + 1, (resident & ~out) | unit, room);
            best = loads < best ? loads : best;
        }
    return best;
}

/* Loads with a queue: the unit at its head leaves. Uses move a unit to the end with LRU. */
static int queued(const struct pp_cache_use *uses, int count, int room, bool is_moved)
{
    int queue[16], length = 0, loads = 0;

    for (int k = 0; k < count; k++) {
        int at = 0;
        while (at < length && queue[at] != uses[k].unit)
            at++;
        const bool is_hit = at < length;
        loads += !is_hit;
        if (is_hit && !is_moved)
            continue;
        if (!is_hit && length < room) {
            queue[length++] = uses[k].unit;
            continue;
        }
        for (at = is_hit ? at : 0; at + 1 < length; at++)
            queue[at] = queue[at + 1];
        queue[length - 1] = uses[k].unit;
    }
    return loads;
}

Test(cache, belady_loads_the_fewest_and_others_what_a_queue_does)
{
    enum { DRAWS = 400, USES = 12, UNITS = 5 };
    struct rng rng = {.state = 88172645463325252u};

    for (int draw = 0; draw < DRAWS; draw++) {
        struct pp_cache_use uses[USES];
        bool is_hit[USES];
        for (int k = 0; k < USES; k++)
            uses[k] = (struct pp_cache_use){rng_int(&rng, 0, UNITS - 1), k, k};
        for (int room = 1; room <= UNITS; room++) {
            cr_assert_eq(pp_cache_walk(uses, USES, UNITS, room, PP_EVICT_BELADY, is_hit),
                         fewest(uses, USES, 0, 0, room));
            cr_assert_eq(pp_cache_walk(uses, USES, UNITS, room, PP_EVICT_LRU, is_hit),
                         queued(uses, USES, room, true));
            cr_assert_eq(pp_cache_walk(uses, USES, UNITS, room, PP_EVICT_FIFO, is_hit),
                         queued(uses, USES, room, false));
        }
    }
}

Test(cache, moves_are_those_of_elixirs_counter)
{
    static const int zero[] = {0}, both[] = {1, 2}, three[] = {3};
    const struct pp_cache_step steps[] = {{zero, 1},  {both, 2}, {three, 1},
                                          {three, 1}, {both, 2}, {zero, 1}};

    cr_assert_eq(pp_cache_moves(steps, (int)PP_COUNT(steps), 2), 12);
    cr_assert_eq(pp_cache_moves(steps, (int)PP_COUNT(steps), 3), 10);
    cr_assert_eq(pp_cache_moves(steps, (int)PP_COUNT(steps), 4), 8);
    cr_assert_eq(pp_cache_moves(steps, 0, 1), 0);
}

/* ---- every schedule -------------------------------------------------------------------------- */

/* The most units that are posted or there at once on a rank, and whether it has pairs. */
static int most_held(const struct pp_program *p, int rank, bool *has_pairs)
{
    int held = 0, most = 0;

    *has_pairs = false;
    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        held += p->kind[i] == PP_MOVE && pp_move_is_load(p->purpose[i]);
        held -= p->kind[i] == PP_DROP;
        most = held > most ? held : most;
        *has_pairs |= p->kind[i] == PP_F && p->aux[i] == PP_FUSED_FIRST;
    }
    cr_assert_eq(held, 0, "rank %d of %s keeps %d units", rank, p->name, held);
    return most;
}

/* Loads of a rank by policy and room. */
enum { ROOMS = 5, RANKS_MAX = 8 };
struct loads {
    int of[POLICIES][ROOMS][RANKS_MAX];
};

static void count_loads(struct pp_arena *arena, const struct pp_program *compute, const int *units,
                        int most_units, struct loads *loads)
{
    for (int evict = 0; evict < POLICIES; evict++)
        for (int r = 0; r < ROOMS; r++) {
            const struct pp_arena_mark mark = pp_arena_mark(arena);
            const int cached = (1 + r) * most_units - r % 2;
            struct pp_lower_options options = host_options(cached, evict);
            options.units = units;
            const struct pp_program *p = lower(arena, compute, &options);
            struct machine machine = machine_make(arena, p);
            cr_assert(machine_run(&machine, r % 2), "%s", compute->name);
            for (int rank = 0; rank < p->ranks; rank++) {
                bool has_pairs;
                const int held = most_held(p, rank, &has_pairs),
                          room = pp_cache_room(cached, most_units);
                cr_assert_leq(held, options.state.buffers + room - 1 + has_pairs, "%s: %d of %d",
                              compute->name, held, room);
                loads->of[evict][r][rank] = loads_of(p, rank);
            }
            pp_arena_release(arena, mark);
        }
}

static void check_case(struct pp_arena *arena, const struct pp_program *compute, void *context)
{
    int *count = context, units[STAGES_MAX], most_units = 1;
    struct loads loads;

    if (compute->versions > 1 || compute->stages > STAGES_MAX)
        return;
    for (int s = 0; s < compute->stages; s++)
        units[s] = *count % 3 ? 1 : 2;
    most_units = units[0];
    count_loads(arena, compute, units, most_units, &loads);
    for (int rank = 0; rank < compute->ranks; rank++)
        for (int r = 0; r < ROOMS; r++) {
            const int belady = loads.of[PP_EVICT_BELADY][r][rank],
                      lru = loads.of[PP_EVICT_LRU][r][rank],
                      fifo = loads.of[PP_EVICT_FIFO][r][rank];
            cr_assert(belady <= lru && belady <= fifo, "%s R %d: %d, %d, %d", compute->name, r + 1,
                      belady, lru, fifo);
            cr_assert(r == 0 || (belady <= loads.of[PP_EVICT_BELADY][r - 1][rank] &&
                                 lru <= loads.of[PP_EVICT_LRU][r - 1][rank]),
                      "%s R %d", compute->name, r + 1);
        }
    ++*count;
}

Test(cache, no_policy_loads_less_than_belady)
{
    int count = 0;

    for_each_case(check_case, &count);
    cr_assert_gt(count, 500, "%d", count);
}

/* ---- by hand --------------------------------------------------------------------------------- */

Test(cache, units_stay_until_they_are_evicted)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static const int layers[] = {3, 3};
    struct pp_lower_options options = host_options(2, PP_EVICT_BELADY);

    cells_text_is(
        lower_text(arena, one_head(3, 1, PP_MODE_TRAIN), "0F0 1F0 2F0 2B0 1B0 0B0", &options),
        "0MOVE.load (0MOVE.load)WAIT 1MOVE.load 0F0 0DROP (1MOVE.load)WAIT 2MOVE.load "
        "1F0 (2MOVE.load)WAIT 0MOVE.reload 2F0 2B0 2DROP 1B0 1DROP (0MOVE.reload)WAIT "
        "0B0 0DROP\n");
    options.units = layers; /* two of three layers stay: the program loads them together */
    cells_text_is(lower_text(arena, one_head(2, 1, PP_MODE_TRAIN), "0F0 1F0 1B0 0B0", &options),
                  "0MOVE.load (0MOVE.load)WAIT 1MOVE.load 0F0 0DROP (1MOVE.load)WAIT "
                  "0MOVE.reload 1F0 1B0 1DROP (0MOVE.reload)WAIT 0B0 0DROP\n");
    cells_text_is(lower_text(arena, one_head(2, 2, PP_MODE_TRAIN), "1F0 1F1", &options),
                  "1MOVE.load (1MOVE.load)WAIT 1MOVE.load 1F0 1DROP (1MOVE.load)WAIT 1F1 1DROP\n");
    options.state.cached = 6; /* both chunks */
    cells_text_is(lower_text(arena, one_head(2, 1, PP_MODE_TRAIN), "0F0 1F0 1B0 0B0", &options),
                  "0MOVE.load (0MOVE.load)WAIT 1MOVE.load 0F0 (1MOVE.load)WAIT 1F0 1B0 1DROP 0B0 "
                  "0DROP\n");
}
