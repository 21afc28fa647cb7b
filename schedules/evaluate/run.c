/* Runs a plan for any number of replicas, block by block. */
#include "schedules/evaluate/eval.h"

#include <string.h>

struct run {
    const struct pp_eval *eval;
    const struct pp_code *code;
    const struct pp_eval_kernel *kernel;
    const struct pp_perturbation *perturbation; /* NULL if it changes nothing */
    int replicas, blocks;
    size_t block_values; /* of one block: values x lanes */
    int64_t *values;     /* [block][value][lane] */
    int64_t *ring;       /* two rows of ring positions */
    int64_t *carried;    /* [carry][lane] of one block */
};

static bool changes_something(const struct pp_perturbation *p)
{
    return p && (p->jitter_frac != 0 || p->slow || p->compute_ps);
}

static void run_steps(const struct run *r, int step, int first, int end)
{
    const struct pp_eval_step *steps = r->code->steps + first;
    struct pp_jitter jitter = {
        .eval = r->eval, .perturbation = r->perturbation, .replicas = r->replicas, .step = step};

    if (first == end)
        return;
    for (int b = 0; b < r->blocks; b++) {
        int64_t *values = r->values + (size_t)b * r->block_values;
        jitter.first = b * r->kernel->lanes;
        if (r->perturbation)
            r->kernel->jittered(&jitter, steps, first, end - first, values);
        else
            r->kernel->steps(steps, r->eval->ps + first, end - first, values);
    }
}

static int64_t latest_of(const struct run *r, int32_t value)
{
    const int lanes = r->kernel->lanes;
    int64_t latest = 0;

    for (int b = 0; b < r->blocks; b++) {
        const int64_t *v = r->values + (size_t)b * r->block_values + (size_t)value * (size_t)lanes;
        for (int j = 0; j < lanes; j++)
            latest = v[j] > latest ? v[j] : latest;
    }
    return latest;
}

/* Reads when the members of each position of a ring are ready. A replica that represents all is at
 * every position of its rank. False if they are all ready at once. */
static bool read_ring(const struct run *r, const struct pp_meet *meet,
                      const struct pp_ring_plan *ring, int64_t *now)
{
    const int lanes = r->kernel->lanes;
    bool is_uneven = false;

    for (int i = 0; i < ring->positions; i++) {
        const int32_t value = r->code->inputs[meet->first + ring->input[i]];
        const int replica = ring->replica[i] % r->replicas;
        now[i] = r->values[(size_t)(replica / lanes) * r->block_values +
                           (size_t)value * (size_t)lanes + (size_t)(replica % lanes)];
        is_uneven |= now[i] != now[0];
    }
    return is_uneven;
}

static int64_t run_ring(const struct run *r, const struct pp_meet *meet)
{
    const struct pp_ring_plan *ring = &r->eval->rings[meet->ring - 1];
    int64_t *now = r->ring, *next = r->ring + ring->positions, latest = 0;

    if (!read_ring(r, meet, ring, now))
        return now[0] + meet->ps;
    for (int s = 0; s < ring->steps; s++) {
        r->kernel->ring(now, next, ring->positions, ring->hop_ps);
        int64_t *swap = now;
        now = next;
        next = swap;
    }
    for (int i = 0; i < ring->positions; i++)
        latest = now[i] > latest ? now[i] : latest;
    return latest;
}

static int64_t run_meet(const struct run *r, const struct pp_meet *meet)
{
    const int lanes = r->kernel->lanes;
    int64_t end = 0;

    if (meet->ring) {
        end = run_ring(r, meet);
    } else {
        for (int i = 0; i < meet->count; i++) {
            const int64_t input = latest_of(r, r->code->inputs[meet->first + i]);
            end = input > end ? input : end;
        }
        end += meet->ps;
    }
    for (int b = 0; b < r->blocks; b++) {
        int64_t *v = r->values + (size_t)b * r->block_values + (size_t)meet->out * (size_t)lanes;
        for (int j = 0; j < lanes; j++)
            v[j] = end;
    }
    return end;
}

static int ring_positions(const struct run *r)
{
    int most = 0;

    for (int m = 0; m < r->eval->meet_count; m++) {
        const int32_t ring = r->code->meets[m].ring;
        if (ring > 0 && r->eval->rings[ring - 1].positions > most)
            most = r->eval->rings[ring - 1].positions;
    }
    return most;
}

static void allocate(struct pp_arena *arena, struct run *r)
{
    const size_t lanes = (size_t)r->kernel->lanes;

    r->block_values = (size_t)r->code->values * lanes;
    r->values =
        pp_arena_alloc_raw(arena, sizeof(int64_t) * r->block_values * (size_t)r->blocks + 64);
    for (int b = 0; b < r->blocks; b++) {
        int64_t *values = r->values + (size_t)b * r->block_values;
        memset(values, 0, sizeof(int64_t) * lanes); /* time zero */
        for (int c = 0; c < r->eval->carry_count; c++)
            memset(values + (size_t)r->code->carries[c].entry * lanes, 0, sizeof(int64_t) * lanes);
    }
    r->carried =
        pp_arena_alloc_raw(arena, sizeof(int64_t) * (size_t)r->eval->carry_count * lanes + 64);
    r->ring = pp_arena_alloc_raw(arena, sizeof(int64_t) * 2 * (size_t)ring_positions(r) + 64);
}

/* Sets the entries of the next step. Exits are read first: an entry may be in the slot of one. */
static void carry_over(const struct run *r, int64_t end)
{
    const size_t lanes = (size_t)r->kernel->lanes, bytes = sizeof(int64_t) * lanes;
    const struct pp_carry *carries = r->code->carries;

    for (int b = 0; b < r->blocks; b++) {
        int64_t *values = r->values + (size_t)b * r->block_values;
        for (int c = 0; c < r->eval->carry_count; c++)
            memcpy(r->carried + (size_t)c * lanes, values + (size_t)carries[c].exit * lanes, bytes);
        for (int c = 0; c < r->eval->carry_count; c++)
            memcpy(values + (size_t)carries[c].entry * lanes, r->carried + (size_t)c * lanes,
                   bytes);
        for (size_t j = 0; j < lanes && !r->eval->is_barrier_free; j++)
            values[j] = end; /* time zero of the next step */
    }
}

static int64_t evaluate(const struct run *r, int step)
{
    int steps = 0, meets = 0;
    int64_t end = 0;

    for (int s = 0; s < r->eval->segment_count; s++) {
        const struct pp_segment segment = r->eval->segments[s];
        run_steps(r, step, steps, segment.steps_end);
        for (; meets < segment.meets_end; meets++)
            end = run_meet(r, &r->code->meets[meets]);
        steps = segment.steps_end;
    }
    return end; /* the last meet is the makespan */
}

static void allocate_columns(struct pp_arena *arena, const struct pp_eval *eval,
                             enum pp_times_wanted wanted, struct pp_times *times)
{
    const size_t bytes = sizeof(int64_t) * (size_t)pp_program_size(eval->program) *
                         (size_t)times->replicas * (size_t)eval->steps;

    times->start_ps = pp_arena_alloc_raw(arena, bytes);
    times->end_ps = pp_arena_alloc_raw(arena, bytes);
    if (wanted == PP_TIMES_SPANS)
        return;
    times->posted_ps = pp_arena_alloc_raw(arena, bytes);
    if (wanted == PP_TIMES_POSTS)
        return;
    times->matched_ps = pp_arena_alloc_raw(arena, bytes);
}

static void record(const struct run *r, int step, struct pp_times *times)
{
    const int lanes = r->kernel->lanes;

    for (int b = 0; b < r->blocks; b++) {
        const int first = b * lanes, left = r->replicas - first;
        const struct pp_record rec = {.eval = r->eval,
                                      .times = times,
                                      .values = r->values + (size_t)b * r->block_values,
                                      .first = first,
                                      .live = left < lanes ? left : lanes,
                                      .step = step};
        r->kernel->record(&rec);
    }
}

struct pp_times *pp_eval_run_with(struct pp_arena *arena, const struct pp_eval *eval, int replicas,
                                  const struct pp_perturbation *perturbation,
                                  enum pp_times_wanted wanted, const struct pp_eval_kernel *kernel)
{
    struct run r = {.eval = eval,
                    .code = wanted == PP_TIMES_MAKESPAN ? &eval->packed : &eval->full,
                    .kernel = kernel,
                    .perturbation = changes_something(perturbation) ? perturbation : NULL,
                    .replicas = replicas,
                    .blocks = (replicas + kernel->lanes - 1) / kernel->lanes};
    struct pp_times *times = PP_NEW(arena, struct pp_times);

    times->replicas = replicas;
    times->steps = eval->steps;
    times->step_end_ps = PP_ARRAY(arena, int64_t, eval->steps);
    if (wanted != PP_TIMES_MAKESPAN)
        allocate_columns(arena, eval, wanted, times);
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    allocate(arena, &r);
    for (int step = 0; step < eval->steps; step++) {
        if (step > 0)
            carry_over(&r, times->makespan_ps);
        times->step_end_ps[step] = times->makespan_ps = evaluate(&r, step);
        if (wanted != PP_TIMES_MAKESPAN)
            record(&r, step, times);
    }
    pp_arena_release(arena, mark);
    return times;
}
