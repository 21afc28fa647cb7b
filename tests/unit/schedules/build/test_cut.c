/* Programs without most of their steady state have the memory and the time of whole ones. */
#include "core/random.h"
#include "schedules/build/cut.h"
#include "schedules/build/drift.h"
#include "schedules/build/steady.h"
#include "schedules/evaluate/makespan.h"
#include "schedules/memory/memory.h"
#include "tests/unit/schedules/build/build_of.h"

#include <criterion/criterion.h>

static struct pp_arena *arena;

static void open_arena(void)
{
    arena = pp_arena_create();
}

static void close_arena(void)
{
    pp_arena_destroy(arena);
}
TestSuite(build_cut, .init = open_arena, .fini = close_arena);

enum { RANKS = 4, MOST_STAGES = 16 };

static int drifts; /* proofs with ranks at their own speeds */

/* Returns a number from `least` to `most` for each name. */
static int64_t drawn(uint64_t seed, uint64_t name, int64_t least, int64_t most)
{
    return least + (int64_t)(pp_random_stream(seed, name) % (uint64_t)(most - least + 1));
}

/* Times that are equal on all stages, or not, with fast or slow messages, and any memory. */
static struct pp_costs *drawn_costs(const struct pp_shape *shape, uint64_t seed)
{
    static const int kinds[] = {PP_F, PP_B, PP_I, PP_W, PP_R};
    const int stages = pp_shape_stages(shape), splits = shape->splits;
    const struct pp_unit_costs unit = {.f = 1, .b = 2, .i = 1, .w = 1, .fb = 3, .has_r = true};
    struct pp_costs *costs = pp_costs_unit(arena, &unit, RANKS, stages, splits, shape->granules);
    const int64_t spread = drawn(seed, 0, 0, 2) * 150;

    costs->is_unit = false;
    costs->alpha_ps[0] = drawn(seed, 1, 0, 1) * 170;
    costs->s_per_byte[0] = 1e-12;
    costs->overlap_all = NULL;
    costs->memory = PP_ARRAY(arena, struct pp_stage_memory, stages);
    for (int s = 0; s < stages; s++) {
        for (size_t k = 0; k < PP_COUNT(kinds); k++)
            for (int q = 0; q < splits; q++)
                costs->op[kinds[k]][s * splits + q].ps =
                    1000 * (int)(k == 1 ? 2 : 1) + drawn(seed, 100 * s + 4 * q + k, 0, spread);
        costs->memory[s] = (struct pp_stage_memory){
            .params_bytes = (double)drawn(seed, 1000 + s, 0, 9000),
            .saved_bytes = (double)(240 * drawn(seed, 2000 + s, 1, 900)),
            .checkpoint_bytes = 240,
            .whole_bytes = (double)(240 * drawn(seed, 7000 + s, 900, 1200)),
            .weight_grad_frac = 0.5,
            .boundary_bytes = s + 1 < stages ? (double)drawn(seed, 3000 + s, 0, 200) : 0,
            .forward_bytes = (double)(240 * drawn(seed, 4000 + s, 0, 50)),
            .backward_bytes = (double)(240 * drawn(seed, 5000 + s, 0, 50))};
    }
    return costs;
}

static struct pp_program *built(struct pp_build build, bool may_cut)
{
    struct pp_program *program;
    struct pp_error err = {0};

    build.may_cut = may_cut;
    build.no_slots = may_cut;
    cr_assert_eq(pp_build(arena, &build, &program, &err), PP_OK, "%s", err.message);
    return program;
}

static void memory_is_same(const struct pp_program *cut, const struct pp_program *whole,
                           const struct pp_costs *costs)
{
    const struct pp_rank_memory *x = pp_memory_peaks(arena, cut, costs),
                                *y = pp_memory_peaks(arena, whole, costs);

    for (int r = 0; r < RANKS; r++) {
        struct pp_rank_memory left = x[r], right = y[r];
        cr_assert_eq(cut->kind[left.peak_at], whole->kind[right.peak_at]);
        left.peak_at = right.peak_at = 0;
        cr_assert_eq(left.peak_bytes, right.peak_bytes, "%s, rank %d", whole->name, r);
        cr_assert_eq(left.activations_bytes, right.activations_bytes);
        cr_assert_eq(left.buffers_bytes, right.buffers_bytes);
        cr_assert_eq(left.cached_bytes, right.cached_bytes, "%s, rank %d: %g %g", whole->name, r,
                     left.cached_bytes, right.cached_bytes);
        cr_assert_eq(left.peak_activations, right.peak_activations);
        for (int tier = 0; tier < PP_TIERS; tier++)
            cr_assert_eq(left.away_bytes[tier], right.away_bytes[tier]);
    }
}

/* Is true if a proof gives the times of the whole program, all ranks together or each at its own
 * speed. */
static bool proves(const struct pp_program *cut, const struct pp_program *whole,
                   const struct pp_costs *costs, const struct pp_eval_options *options,
                   bool may_drift)
{
    struct pp_times *times = pp_makespan_spans(arena, cut, costs, options, PP_TIMES_POSTS),
                    *all = pp_makespan_spans(arena, whole, costs, options, PP_TIMES_SPANS);

    cr_assert(times && all);
    if (!(may_drift ? pp_drift_lengthen(cut, costs, options, times)
                    : pp_steady_lengthen(cut, options, false, times)))
        return false;
    cr_assert_eq(times->makespan_ps, all->makespan_ps, "%s: %lld ps, whole %lld", whole->name,
                 (long long)times->makespan_ps, (long long)all->makespan_ps);
    for (int r = 0; r < RANKS; r++) {
        int k = cut->cut->begin[r], later = whole->begin[r] - cut->begin[r];
        for (int i = cut->begin[r]; i < cut->begin[r + 1]; i++) {
            for (; k < cut->cut->begin[r + 1] && cut->cut->places[k].at == i; k++)
                later += cut->cut->periods * cut->cut->places[k].length;
            cr_assert(times->start_ps[i] == all->start_ps[i + later] &&
                          times->end_ps[i] == all->end_ps[i + later],
                      "%s, rank %d, instruction %d", whole->name, r, i - cut->begin[r]);
        }
    }
    return true;
}

/* The time is that of the whole program. Is true if the steady state proves it too. */
static bool time_is_same(const struct pp_program *cut, const struct pp_program *whole,
                         const struct pp_costs *costs, const struct pp_eval_options *options)
{
    int64_t whole_ps, cut_ps;

    cr_assert(pp_makespan(whole, costs, options, &whole_ps));
    cr_assert(pp_makespan(cut, costs, options, &cut_ps));
    cr_assert_eq(cut_ps, whole_ps, "%s: %lld ps, whole %lld", whole->name, (long long)cut_ps,
                 (long long)whole_ps);
    drifts += proves(cut, whole, costs, options, true);
    return proves(cut, whole, costs, options, false);
}

/* Steps without a barrier end when those of the whole program do. Is true if the steady state
 * proves it too. */
static bool steps_are_same(const struct pp_program *cut, const struct pp_program *whole,
                           const struct pp_costs *costs, const struct pp_eval_options *one)
{
    enum { STEPS = 3 };
    struct pp_eval_options options = *one;
    int64_t whole_ps[STEPS], cut_ps[STEPS];

    options.steps = STEPS;
    options.is_barrier_free = true;
    cr_assert(pp_makespan(whole, costs, &options, whole_ps));
    cr_assert(pp_makespan(cut, costs, &options, cut_ps));
    for (int k = 0; k < STEPS; k++)
        cr_assert_eq(cut_ps[k], whole_ps[k], "%s, step %d: %lld ps, whole %lld", whole->name, k,
                     (long long)cut_ps[k], (long long)whole_ps[k]);
    struct pp_times *times = pp_makespan_spans(arena, cut, costs, &options, PP_TIMES_SPANS);
    const bool is_proved = pp_steady_lengthen(cut, &options, false, times);
    for (int k = 0; k < STEPS && is_proved; k++)
        cr_assert_eq(times->step_end_ps[k], whole_ps[k], "%s, step %d", whole->name, k);
    options.is_barrier_free = false;
    cr_assert(!pp_makespan(cut, costs, &options, cut_ps), "with a barrier");
    return is_proved;
}

/* The lists are those of the whole program but for micro-batches, weight versions and numbers of
 * collectives. */
static void unfolds(const struct pp_program *cut, const struct pp_program *whole)
{
    const struct pp_program *p = pp_cut_unfold(arena, cut, cut->cut->periods);

    cr_assert(p && !p->cut);
    cr_assert_eq(p->message_count, whole->message_count);
    cr_assert(
        !memcmp(p->channels, whole->channels, sizeof(*p->channels) * (size_t)whole->channel_count));
    cr_assert(!memcmp(p->begin, whole->begin, sizeof(*p->begin) * (RANKS + 1)));
    for (int i = 0; i < pp_program_size(whole); i++) {
        const struct pp_op x = pp_program_op(p, i), y = pp_program_op(whole, i);
        const bool is_sum = pp_op_kinds[x.kind].stream == PP_STREAM_REDUCE && x.arg >= 0;
        cr_assert(x.kind == y.kind && x.aux == y.aux && x.split == y.split && x.peer == y.peer &&
                      x.granules == y.granules && x.stage == y.stage && x.pipe == y.pipe &&
                      (pp_op_has_cell(x.kind) || x.version == y.version) &&
                      (is_sum || x.arg == y.arg),
                  "%s, instruction %d", whole->name, i);
        cr_assert(!is_sum || p->collectives[x.arg].group == whole->collectives[y.arg].group);
    }
}

static bool repeats(const struct pp_program *p, int first, int end, int length)
{
    for (int i = first; i + length < end; i++) {
        const int period = p->mb[i + length] - p->mb[i];
        if (!pp_program_is_alike(p, i, i + length) || period < 1 || period > 4 * RANKS)
            return false;
    }
    return true;
}

/* Is true if the middle half of each rank's instructions repeats after a few micro-batches. */
static bool is_periodic(const struct pp_program *whole)
{
    for (int r = 0; r < whole->ranks; r++) {
        const int first = whole->begin[r], count = whole->begin[r + 1] - first;
        int length = 1;
        while (8 * length < count &&
               !repeats(whole, first + count / 4, first + 3 * count / 4, length))
            length++;
        if (8 * length >= count)
            return false;
    }
    return true;
}

static struct pp_costs *even_costs(const struct pp_shape *shape)
{
    struct pp_costs *costs =
        pp_costs_unit(arena, &pp_unit_costs_usual, RANKS, pp_shape_stages(shape), 1, 1);

    costs->memory = drawn_costs(shape, 0)->memory;
    return costs;
}

/* Returns a cut program with the same times on all stages. */
static const struct pp_program *steady(struct pp_build *b)
{
    b->proves_result = false;
    cr_assert_eq(pp_schedule_check(b->schedule, &b->shape, NULL), PP_OK);
    b->costs = even_costs(&b->shape);
    const struct pp_program *cut = built(*b, true);
    cr_assert(cut->cut);
    return cut;
}

/* All schedules, with several costs and numbers of micro-batches. What has one update and a short
 * period is cut. What is cut has the whole program's memory to the byte, and its time to the
 * picosecond. */
Test(build_cut, cut_programs_tell_of_whole_ones)
{
    static const struct pp_eval_options options[] = {{0}, {.is_buffered = true, .buffered = 2}};
    int cuts = 0, musts = 0, singles = 0, proofs = 0, steps = 0;

    for (int k = 0; pp_schedules[k]; k++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            struct pp_build b = of(pp_schedules[k]->name, seed % 2 ? 240 : 336);
            double fracs[MOST_STAGES];
            b.proves_result = false;
            cr_assert_eq(pp_schedule_check(b.schedule, &b.shape, NULL), PP_OK);
            b.costs = drawn_costs(&b.shape, seed);
            for (int s = 0; s < b.costs->stages; s++)
                fracs[s] = (double)drawn(seed, 6000 + s, 0, 1);
            b.recompute_frac = seed % 2 ? fracs : NULL;
            b.wishes.again = (struct pp_again_words){.is_late = k % 2, .is_skipped = k % 3 > 0};
            const struct pp_program *cut = built(b, true), *whole = built(b, false);
            const bool must_cut =
                pp_schedule_update_every(b.schedule, 2) <= 1 && is_periodic(whole);
            cr_assert(cut->cut || !must_cut, "%s", b.schedule->name);
            musts += must_cut;
            if (!cut->cut)
                continue;
            cuts++;
            singles += cut->cut->begin[RANKS] == RANKS;
            cr_assert_lt(2 * pp_program_size(cut), pp_program_size(whole) + 64);
            memory_is_same(cut, whole, b.costs);
            unfolds(cut, whole);
            proofs += time_is_same(cut, whole, b.costs, &options[seed % 2]);
            steps += steps_are_same(cut, whole, b.costs, &options[seed % 2]);
        }
    cr_assert_gt(musts, cuts / 2, "%d of %d", musts, cuts);
    cr_assert_gt(proofs, singles / 3, "%d of %d", proofs, singles);
    cr_assert_gt(steps, singles / 3, "%d of %d", steps, singles);
    cr_assert_gt(drifts, cuts / 3, "%d of %d", drifts, cuts);
}

/* Forwards and backwards repeat in zones of their own, with WAITs for all SENDs between them. */
Test(build_cut, phases_are_cut)
{
    static const char *const names[] = {"gpipe", "bfs"};

    for (size_t k = 0; k < PP_COUNT(names); k++) {
        struct pp_build b = of(names[k], 240);
        const struct pp_program *cut = steady(&b), *whole = built(b, false);
        cr_assert_gt(cut->cut->begin[RANKS], 2 * RANKS);
        cr_assert_lt(3 * pp_program_size(cut), pp_program_size(whole));
        memory_is_same(cut, whole, b.costs);
        cr_assert_not(time_is_same(cut, whole, b.costs, &(struct pp_eval_options){0}));
    }
    cr_assert_eq(drifts, PP_COUNT(names), "%d", drifts);
}

/* Returns the step of each instruction: that of its micro-batch, else of the last backward. */
static int *steps_of(const struct pp_program *p, int steps)
{
    int *step = PP_ARRAY(arena, int, pp_program_size(p));

    for (int r = 0; r < p->ranks; r++)
        for (int i = p->begin[r], latest = 0; i < p->begin[r + 1]; i++) {
            step[i] = p->mb[i] < 0 ? latest : p->mb[i] / (p->micro_batches / steps);
            latest = p->kind[i] == PP_B ? step[i] : latest;
        }
    return step;
}

/* Returns the latest end of the first step in a list. */
static int64_t first_end_ps(const struct pp_program *p, const struct pp_times *times,
                            const int *step)
{
    int64_t end_ps = 0;

    for (int i = 0; i < pp_program_size(p); i++)
        if (step[i] == 0 && p->kind[i] != PP_WAIT && times->end_ps[i] > end_ps)
            end_ps = times->end_ps[i];
    return end_ps;
}

/* Lists of several steps without a flush, with updates after each micro-batch or each step, and
 * sums over replicas or none. The first and the last step end as those of the whole program do, and
 * as the spans of its instructions say. */
Test(build_cut, steps_are_cut)
{
    static const char *const names[] = {"pipedream", "pipedream-2bw"};
    enum { STEPS = 3 };

    int proofs = 0;

    for (uint64_t seed = 0; seed < 8; seed++) {
        const struct pp_eval_options options = {.is_buffered = seed & 4, .buffered = 1};
        struct pp_build b = of(names[seed % 2], STEPS * 200);
        int64_t cut_ps[STEPS], whole_ps[STEPS];
        b.shape.steps = STEPS;
        b.proves_result = false;
        b.state.replicas = (struct pp_mesh){.in_node = seed & 2 ? 2 : 1, .nodes = 1};
        cr_assert_eq(pp_schedule_check(b.schedule, &b.shape, NULL), PP_OK);
        b.costs = seed < 4 ? drawn_costs(&b.shape, seed) : even_costs(&b.shape);
        const struct pp_program *cut = built(b, true), *whole = built(b, false);
        cr_assert(cut->cut);
        cr_assert_lt(2 * pp_program_size(cut), pp_program_size(whole));
        memory_is_same(cut, whole, b.costs);
        const int *step = steps_of(whole, STEPS);
        const int *cut_step = steps_of(cut, STEPS);
        cr_assert(pp_makespan_in_list(cut, b.costs, &options, cut_step, STEPS, cut_ps));
        cr_assert(pp_makespan_in_list(whole, b.costs, &options, step, STEPS, whole_ps));
        cr_assert_arr_eq(cut_ps, whole_ps, sizeof(cut_ps));
        struct pp_times *times = pp_makespan_spans(arena, whole, b.costs, &options, PP_TIMES_SPANS);
        cr_assert_eq(cut_ps[0], first_end_ps(whole, times, step));
        cr_assert_eq(cut_ps[STEPS - 1], times->makespan_ps);
        times = pp_makespan_spans(arena, cut, b.costs, &options, PP_TIMES_SPANS);
        if (!pp_steady_lengthen(cut, &options, false, times))
            continue;
        proofs++;
        cr_assert_eq(cut_ps[0], first_end_ps(cut, times, cut_step));
        cr_assert_eq(cut_ps[STEPS - 1], times->makespan_ps);
    }
    cr_assert_geq(proofs, 2, "%d", proofs);
}

/* RECVs that are all posted first grow with the micro-batches. */
Test(build_cut, unbounded_receives_are_not_cut)
{
    struct pp_build b = of("1f1b", 240);

    steady(&b);
    b.wishes.recv_slots = 0;
    cr_assert_null(built(b, true)->cut);
}

/* A time that differs by a picosecond anywhere near the gap proves nothing. */
Test(build_cut, a_time_that_does_not_repeat_is_no_proof)
{
    const struct pp_eval_options options = {0};
    struct pp_build b = of("1f1b", 240);
    const struct pp_program *cut = steady(&b);

    for (int r = 0; r < RANKS; r++)
        for (int side = -1; side <= 1; side += 2) {
            struct pp_times *times =
                pp_makespan_spans(arena, cut, b.costs, &options, PP_TIMES_SPANS);
            const struct pp_cut_place *place = &cut->cut->places[r];
            times->end_ps[place->at + side * place->length]++;
            cr_assert_not(pp_steady_lengthen(cut, &options, false, times));
            times->end_ps[place->at + side * place->length]--;
            cr_assert(pp_steady_lengthen(cut, &options, false, times));
        }
}

/* Two ops of a rank that change places in the middle forbid the cut. Elsewhere they remain. */
Test(build_cut, an_irregular_order_is_not_cut)
{
    const struct pp_eval_options options = {0};
    struct pp_build b = of("1f1b", 240);
    struct pp_build_list list;
    struct pp_error err = {0};
    int proofs = 0;

    steady(&b);
    cr_assert_eq(pp_build_list(arena, &b, &list, &err), PP_OK, "%s", err.message);
    for (int at = 2; at < 476; at += 6) {
        struct pp_op *ops = list.orders->ops[1], op = ops[at];
        ops[at] = ops[at + 1], ops[at + 1] = op;
        struct pp_build_list shorter = list;
        shorter.cut = pp_cut_lists(arena, 1, 0, &shorter.orders, &shorter.head);
        b.list = &shorter;
        const struct pp_program *cut = built(b, true);
        b.list = &list;
        const struct pp_program *whole = built(b, false);
        cr_assert(at < 180 || at > 300 || !cut->cut, "at %d", at);
        if (cut->cut) {
            memory_is_same(cut, whole, b.costs);
            unfolds(cut, whole);
            proofs += time_is_same(cut, whole, b.costs, &options);
        }
        ops[at + 1] = ops[at], ops[at] = op;
    }
    cr_assert_gt(proofs, 0);
}
