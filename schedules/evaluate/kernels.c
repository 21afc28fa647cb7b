/* The inner loops, once for each instruction set: the compiler turns the loops over lanes into
 * vector code. All is integer arithmetic (jitter: doubles without contraction), with equal bits. */
#include "schedules/evaluate/eval.h"
#include "schedules/evaluate/perturb.h"
#include "schedules/evaluate/weight_stream.h"

#include <string.h>

#define ALWAYS static inline __attribute__((always_inline))

ALWAYS int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* `wide` lanes fit into one register, which holds r. */
ALWAYS void steps_body(const struct pp_eval_step *steps, const int64_t *ps, int count,
                       int64_t *values, const int lanes, const int wide)
{
    for (int s = 0; s < count; s++) {
        const int64_t *a = values + (size_t)steps[s].in[0] * (size_t)lanes;
        const int64_t *b = values + (size_t)steps[s].in[1] * (size_t)lanes;
        const int64_t *c = values + (size_t)steps[s].in[2] * (size_t)lanes;
        int64_t *out = values + (size_t)steps[s].out * (size_t)lanes;
        for (int j = 0; j < lanes; j += wide) {
            int64_t r[8];
            for (int k = 0; k < wide; k++)
                r[k] = later(later(a[j + k], b[j + k]), c[j + k]) + ps[s];
            memcpy(out + j, r, sizeof(int64_t) * (size_t)wide);
        }
    }
}

/* ---- jitter, given durations ----------------------------------------------------------------- */

ALWAYS int replica_of(const struct pp_jitter *jitter, int lane)
{
    const int last = jitter->replicas - 1, own = jitter->first + lane;

    return own < last ? own : last;
}

ALWAYS void given(const struct pp_jitter *jitter, uint64_t row, int64_t *ps, const int lanes)
{
    const int64_t *given_ps = jitter->perturbation->compute_ps + row * (uint64_t)jitter->replicas;

    for (int j = 0; j < lanes; j++)
        ps[j] = given_ps[replica_of(jitter, j)];
}

ALWAYS void drawn(const struct pp_jitter *jitter, uint64_t row, int rank, int64_t nominal_ps,
                  int64_t *ps, const int lanes)
{
    const struct pp_perturbation *p = jitter->perturbation;
    const uint64_t stream = pp_perturb_stream(p, row);
    const double *slow = p->slow ? p->slow + (size_t)rank * (size_t)jitter->replicas : 0;

    for (int j = 0; j < lanes; j++)
        ps[j] = pp_perturb_ps(p, stream, slow, replica_of(jitter, j), (double)nominal_ps);
}

ALWAYS void durations(const struct pp_jitter *jitter, int s, int64_t *ps, const int lanes)
{
    const struct pp_eval *eval = jitter->eval;
    const struct pp_eval_part *part =
        eval->parts && eval->parts[s].denominator > 0 ? &eval->parts[s] : NULL;
    const uint64_t row =
        (uint64_t)jitter->step * (uint64_t)pp_program_size(eval->program) + (uint64_t)eval->key[s];

    if (jitter->perturbation->compute_ps)
        given(jitter, row, ps, lanes);
    else
        drawn(jitter, row, eval->rank[s], part ? part->ps : eval->ps[s], ps, lanes);
    for (int j = 0; part && j < lanes; j++)
        ps[j] = pp_costs_share_ps(ps[j], part->numerator, part->denominator);
}

ALWAYS void jittered_body(const struct pp_jitter *jitter, const struct pp_eval_step *steps,
                          int first, int count, int64_t *values, const int lanes)
{
    for (int s = 0; s < count; s++) {
        const int64_t *a = values + (size_t)steps[s].in[0] * (size_t)lanes;
        const int64_t *b = values + (size_t)steps[s].in[1] * (size_t)lanes;
        const int64_t *c = values + (size_t)steps[s].in[2] * (size_t)lanes;
        int64_t ps[8];
        if (jitter->eval->key[first + s] == PP_NO_OWNER)
            for (int j = 0; j < lanes; j++)
                ps[j] = jitter->eval->ps[first + s];
        else
            durations(jitter, first + s, ps, lanes);
        for (int j = 0; j < lanes; j++)
            ps[j] += later(later(a[j], b[j]), c[j]);
        memcpy(values + (size_t)steps[s].out * (size_t)lanes, ps, sizeof(int64_t) * (size_t)lanes);
    }
}

/* ---- times of every instruction -------------------------------------------------------------- */

ALWAYS void put(int64_t *column, size_t row, const int64_t *v, const int lanes, int live)
{
    if (live == lanes)
        memcpy(column + row, v, sizeof(int64_t) * (size_t)lanes);
    else
        memcpy(column + row, v, sizeof(int64_t) * (size_t)live);
}

/* Start of an op of a compute-only program, where no WAIT moves the clock: the latest of its
 * inputs. Without collectives value v is the result of step v - 1, counted after the entries. */
ALWAYS void implied_start(const struct pp_record *rec, int32_t value, int64_t *start,
                          const int lanes)
{
    const int32_t *in = rec->eval->full.steps[value - 1 - rec->eval->entry_count].in;

    memcpy(start, rec->values, sizeof(int64_t) * (size_t)lanes);
    for (int k = 0; k < PP_STEP_INPUTS; k++)
        for (int j = 0; j < lanes; j++)
            start[j] = later(start[j], rec->values[(size_t)in[k] * (size_t)lanes + (size_t)j]);
}

/* Moves the clock to the end of the instruction on the other lane that i waits for. */
ALWAYS void pass_lane(const struct pp_record *rec, int i, int64_t *clock, const int lanes)
{
    const int after = pp_weight_stream_after(rec->eval->program, i);

    for (int j = 0; j < lanes && after >= 0; j++)
        clock[j] = later(
            clock[j], rec->values[(size_t)rec->eval->value_of[after] * (size_t)lanes + (size_t)j]);
}

/* Records one rank's list with the clocks of its lanes. */
ALWAYS void record_body(const struct pp_record *rec, int rank, const int lanes)
{
    const struct pp_eval *eval = rec->eval;
    const struct pp_program *p = eval->program;
    struct pp_times *t = rec->times;
    const size_t first = (size_t)rec->step * (size_t)pp_program_size(p);
    int64_t clocks[2][8], start[8], matched[8];

    for (int lane = 0; lane < 2; lane++)
        memcpy(clocks[lane], rec->values + (size_t)eval->entry_of[rank] * (size_t)lanes,
               sizeof(int64_t) * (size_t)lanes);

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        const size_t row = (first + (size_t)i) * (size_t)t->replicas + (size_t)rec->first;
        const int stream = pp_op_kinds[p->kind[i]].stream;
        const int32_t value = eval->value_of[i];
        const int64_t *end = rec->values + (size_t)value * (size_t)lanes;
        int64_t *clock = clocks[pp_weight_stream_has(p, i)];

        pass_lane(rec, i, clock, lanes);
        if (stream == PP_STREAM_COMPUTE || stream == PP_STREAM_CONTROL) {
            /* The second of a fused pair has start and end of the first. */
            if (i == p->begin[rank] || stream == PP_STREAM_CONTROL ||
                value != eval->value_of[i - 1])
                memcpy(start, clock, sizeof(int64_t) * (size_t)lanes);
            if (p->level == PP_LEVEL_COMPUTE && value != 0)
                implied_start(rec, value, start, lanes);
            for (int j = 0; j < lanes; j++)
                clock[j] = later(clock[j], end[j]);
            put(t->start_ps, row, start, lanes, rec->live);
            put(t->end_ps, row, clock, lanes, rec->live);
            continue;
        }
        int64_t begin[8];
        for (int j = 0; j < lanes; j++)
            begin[j] = end[j] - eval->value_ps[value];
        if (eval->start_of && eval->start_of[value] != 0)
            memcpy(begin, rec->values + (size_t)eval->start_of[value] * (size_t)lanes,
                   sizeof(int64_t) * (size_t)lanes);
        const int64_t *posted = clock;
        if (eval->inside && eval->inside[i] != 0)
            posted = rec->values + (size_t)eval->inside[i] * (size_t)lanes;
        put(t->start_ps, row, begin, lanes, rec->live);
        put(t->end_ps, row, end, lanes, rec->live);
        if (!t->posted_ps)
            continue;
        put(t->posted_ps, row, posted, lanes, rec->live);
        if (stream != PP_STREAM_CHANNEL || !eval->posts || !t->matched_ps)
            continue;
        const int64_t *a = rec->values + (size_t)eval->posts[p->arg[i]][0] * (size_t)lanes;
        const int64_t *b = rec->values + (size_t)eval->posts[p->arg[i]][1] * (size_t)lanes;
        for (int j = 0; j < lanes; j++)
            matched[j] = later(a[j], b[j]);
        put(t->matched_ps, row, matched, lanes, rec->live);
    }
}

/* Records spans alone, for one replica of a lowered program: a sweep does it for every point. */
static void record_spans(const struct pp_record *rec, int rank)
{
    const struct pp_eval *eval = rec->eval;
    const struct pp_program *p = eval->program;
    const size_t row = (size_t)rec->step * (size_t)pp_program_size(p);
    const int begin = p->begin[rank], end = p->begin[rank + 1];
    const int32_t *value_of = eval->value_of, *start_of = eval->start_of;
    const int64_t *values = rec->values, *value_ps = eval->value_ps;
    const uint8_t *kinds = p->kind;
    int64_t *restrict start_ps = rec->times->start_ps + row;
    int64_t *restrict end_ps = rec->times->end_ps + row;
    int64_t clock = values[eval->entry_of[rank]], start = clock;

    for (int i = begin; i < end; i++) {
        const int stream = pp_op_kinds[kinds[i]].stream;
        const int32_t value = value_of[i];
        const int64_t at = values[value];
        if (stream == PP_STREAM_COMPUTE || stream == PP_STREAM_CONTROL) {
            if (i == begin || stream == PP_STREAM_CONTROL || value != value_of[i - 1])
                start = clock;
            clock = later(clock, at);
            start_ps[i] = start;
            end_ps[i] = clock;
            continue;
        }
        start_ps[i] =
            start_of && start_of[value] != 0 ? values[start_of[value]] : at - value_ps[value];
        end_ps[i] = at;
    }
}

ALWAYS void record_ranks(const struct pp_record *rec, const int lanes)
{
    const bool is_short = lanes == 1 && rec->times->replicas == 1 && !rec->times->posted_ps &&
                          rec->eval->program->level == PP_LEVEL_LOWERED &&
                          !rec->eval->program->weight_stream;

    for (int r = 0; r < rec->eval->program->ranks; r++)
        if (is_short)
            record_spans(rec, r);
        else
            record_body(rec, r, lanes);
}

ALWAYS void ring_body(const int64_t *now, int64_t *restrict next, int count, const int64_t *hop_ps)
{
    next[0] = later(now[0], now[count - 1]) + hop_ps[0];
    for (int i = 1; i < count; i++)
        next[i] = later(now[i], now[i - 1]) + hop_ps[i];
}

/* ---- instances ------------------------------------------------------------------------------- */

#define KERNEL(name, isa, lanes, wide)                                                             \
    isa static void name##_steps(const struct pp_eval_step *steps, const int64_t *ps, int count,   \
                                 int64_t *values)                                                  \
    {                                                                                              \
        steps_body(steps, ps, count, values, lanes, wide);                                         \
    }                                                                                              \
    isa static void name##_jittered(const struct pp_jitter *jitter,                                \
                                    const struct pp_eval_step *steps, int first, int count,        \
                                    int64_t *values)                                               \
    {                                                                                              \
        jittered_body(jitter, steps, first, count, values, lanes);                                 \
    }                                                                                              \
    isa static void name##_record(const struct pp_record *record)                                  \
    {                                                                                              \
        record_ranks(record, lanes);                                                               \
    }                                                                                              \
    isa static void name##_ring(const int64_t *now, int64_t *next, int count,                      \
                                const int64_t *hop_ps)                                             \
    {                                                                                              \
        ring_body(now, next, count, hop_ps);                                                       \
    }
#define ROW(name, lanes, usable)                                                                   \
    {                                                                                              \
#name, lanes, usable, name##_steps, name##_jittered, name##_record, name##_ring            \
    }

static bool always(void)
{
    return true;
}

KERNEL(scalar, , 1, 1)
KERNEL(portable, , 8, 2)

#if defined(__x86_64__)
#define ISA(set) __attribute__((target(set)))
KERNEL(avx2, ISA("avx2"), 8, 4)
KERNEL(avx512, ISA("avx512f,avx512dq"), 8, 8)

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}
static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}
#endif

const struct pp_eval_kernel pp_kernels[] = {
#if defined(__x86_64__)
    ROW(avx512, 8, has_avx512), ROW(avx2, 8, has_avx2),
#endif
    ROW(scalar, 1, always),     ROW(portable, 8, always), {0},
};
