/* Merges processes into one trace. */
#include "core/quantile.h"
#include "traces/kineto/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_STEPS_APART = 1 << 20 };
static const double LONGEST_S = 1e5; /* a profile of more than a day is of several runs */

struct merger {
    struct pp_arena *arena;
    struct pp_kineto *run;
    struct pp_kineto_file *files; /* [count] by replica and pipeline rank */
    int count;
    int *steps; /* [step_count] numbers, ascending; whole in all files */
    int step_count;
    struct pp_kineto_message *messages; /* [message_count] */
    int message_count;
    int64_t origin_ns;
    int capacity; /* capacity of events */
};

/* ---- steps ----------------------------------------------------------------------------------- */

/* The end of the run of equal numbers that begins at `from`. */
static int end_of_run(const int *numbers, int count, int from)
{
    int to = from;

    while (to < count && numbers[to] == numbers[from])
        to++;
    return to;
}

/* Most frequent number of ops of a step; the largest of equals. */
static int usual_size(struct pp_arena *arena, const int *of, int count)
{
    int *sizes = PP_ARRAY(arena, int, count), steps = 0, best = 0, most = 0;

    for (int from = 0, to; from < count; from = to) {
        to = end_of_run(of, count, from);
        sizes[steps++] = to - from;
    }
    if (steps > 0)
        qsort(sizes, (size_t)steps, sizeof(*sizes), pp_ascending_ints);
    for (int from = 0, to; from < steps; from = to) {
        to = end_of_run(sizes, steps, from);
        if (to - from >= most) {
            most = to - from;
            best = sizes[from];
        }
    }
    return best;
}

/* Finds whole steps: those with the most frequent number of ops. */
static void find_whole_steps(struct merger *m, struct pp_kineto_file *f)
{
    int *of = PP_ARRAY(m->arena, int, f->count), count = 0;

    for (int k = 0; k < f->count; k++)
        if (f->ranges[k].step >= 0 && f->ranges[k].what == PP_KINETO_COMPUTE)
            of[count++] = f->ranges[k].step;
    if (count > 0)
        qsort(of, (size_t)count, sizeof(*of), pp_ascending_ints);
    const int usual = usual_size(m->arena, of, count);
    for (int from = 0, to; from < count; from = to) {
        to = end_of_run(of, count, from);
        f->partial_count += to - from != usual;
        if (to - from == usual)
            of[f->step_count++] = of[from];
    }
    f->steps = of;
}

static bool has_step(const int *steps, int count, int number)
{
    return bsearch(&number, steps, (size_t)count, sizeof(number), pp_ascending_ints);
}

static enum pp_status find_steps(struct merger *m, struct pp_error *err)
{
    const struct pp_kineto_file *first = &m->files[0];
    int partial = 0;

    for (int f = 0; f < m->count; f++) {
        find_whole_steps(m, &m->files[f]);
        partial = m->files[f].partial_count > partial ? m->files[f].partial_count : partial;
    }
    m->steps = PP_ARRAY(m->arena, int, first->step_count);
    for (int k = 0; k < first->step_count; k++) {
        bool is_in_all = true;
        for (int f = 1; f < m->count && is_in_all; f++)
            is_in_all = has_step(m->files[f].steps, m->files[f].step_count, first->steps[k]);
        if (is_in_all)
            m->steps[m->step_count++] = first->steps[k];
    }
    if (m->step_count == 0)
        return pp_error_set(err, PP_EINVAL, "no step is in all %d files in whole", m->count);
    if (m->steps[m->step_count - 1] - m->steps[0] > MOST_STEPS_APART)
        return pp_error_set(err, PP_EINVAL, "steps %d and %d are more than %d apart", m->steps[0],
                            m->steps[m->step_count - 1], MOST_STEPS_APART);
    if (partial > 0)
        pp_kineto_note(
            m->arena, m->run,
            pp_arena_printf(
                m->arena,
                "%d steps that are not there in whole, or not as the others, are left out",
                partial));
    return PP_OK;
}

/* Step of the trace, -1: none. */
static int step_of(const struct merger *m, const struct pp_kineto_range *range)
{
    return has_step(m->steps, m->step_count, range->step) ? range->step - m->steps[0] : -1;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

/* Moves times to the clock of the first file's base, in whole nanoseconds from the first event. */
static enum pp_status join_clocks(struct merger *m, struct pp_error *err)
{
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

    for (int f = 0; f < m->count; f++) {
        struct pp_kineto_file *file = &m->files[f];
        for (int k = 0; k < file->count; k++) {
            struct pp_kineto_range *range = &file->ranges[k];
            if (__builtin_add_overflow(range->start_ns, file->base_ns, &range->start_ns) ||
                __builtin_add_overflow(range->end_ns, file->base_ns, &range->end_ns))
                return pp_error_set(err, PP_EINVAL,
                                    "%s: an event ends after the year 2262: is "
                                    "\"baseTimeNanoseconds\" right?",
                                    file->name);
        }
    }
    m->messages = pp_kineto_messages(m->arena, m->files, m->count, &m->message_count);
    m->run->trace->clock_error_s =
        pp_kineto_align(m->arena, m->run, m->files, m->count, m->messages, m->message_count);
    for (int f = 0; f < m->count; f++)
        for (int k = 0; k < m->files[f].count; k++) {
            struct pp_kineto_range *range = &m->files[f].ranges[k];
            range->start_ns += m->files[f].shift_ns;
            range->end_ns += m->files[f].shift_ns;
            if (step_of(m, range) < 0)
                continue;
            first_ns = range->start_ns < first_ns ? range->start_ns : first_ns;
            last_ns = range->end_ns > last_ns ? range->end_ns : last_ns;
        }
    m->origin_ns = first_ns;
    if ((double)last_ns - (double)first_ns > LONGEST_S * 1e9)
        return pp_error_set(
            err, PP_EINVAL,
            "the events of %s and the other files lie %.3g s apart: are they of one "
            "run?",
            m->files[0].name, ((double)last_ns - (double)first_ns) * 1e-9);
    return PP_OK;
}

static double seconds(const struct merger *m, int64_t ns)
{
    return (double)(ns - m->origin_ns) * 1e-9;
}

/* ---- events ---------------------------------------------------------------------------------- */

static struct pp_trace_event *add(struct merger *m, const struct pp_kineto_file *f,
                                  const struct pp_kineto_range *range, uint8_t kind)
{
    struct pp_trace *trace = m->run->trace;
    struct pp_trace_event *event = PP_PUSH(m->arena, trace->events, trace->count, m->capacity);

    *event = (struct pp_trace_event){.step = step_of(m, range),
                                     .rank = f->pipeline_rank,
                                     .replica = f->replica,
                                     .kind = kind,
                                     .is_fused = range->is_fused,
                                     .stream = (uint8_t)pp_op_kinds[kind].stream,
                                     .cell = range->cell,
                                     .posted_s = NAN,
                                     .matched_s = NAN,
                                     .forward_frac = NAN,
                                     .waits_for = -1,
                                     .start_s = seconds(m, range->start_ns),
                                     .end_s = seconds(m, range->end_ns)};
    return event;
}

static void add_message(struct merger *m, const struct pp_kineto_file *f,
                        const struct pp_kineto_range *range)
{
    struct pp_trace_event *event = add(m, f, range, range->op.kind);

    if (!range->extents)
        return;
    /* the later post of both sides */
    event->posted_s = event->start_s;
    event->matched_s = fmin(seconds(m, range->extents->start_ns), event->end_s);
    event->start_s = event->matched_s;
}

/* Stages of a process, ascending. */
static int stages_of(const struct pp_kineto_file *f, struct pp_arena *arena, int **stages)
{
    int count = 0, distinct = 0;

    *stages = PP_ARRAY(arena, int, f->count);
    for (int k = 0; k < f->count; k++)
        if (f->ranges[k].what == PP_KINETO_COMPUTE)
            (*stages)[count++] = f->ranges[k].op.stage;
    qsort(*stages, (size_t)count, sizeof(**stages), pp_ascending_ints);
    for (int k = 0; k < count; k++)
        if (k == 0 || (*stages)[k] != (*stages)[distinct - 1])
            (*stages)[distinct++] = (*stages)[k];
    return distinct;
}

/* Adds updates [from, to) of a step: one for each stage if they are as many, else equal parts. */
static void add_updates(struct merger *m, const struct pp_kineto_file *f, int from, int to,
                        const int *stages, int stage_count)
{
    const bool is_each = to - from == stage_count;
    int64_t busy_ns = 0;

    for (int k = from; k < to; k++)
        busy_ns += f->ranges[k].end_ns - f->ranges[k].start_ns;
    int64_t at_ns = f->ranges[from].start_ns;
    for (int s = 0; s < stage_count; s++) {
        struct pp_kineto_range range = f->ranges[is_each ? from + s : from];
        if (!is_each) {
            range.start_ns = at_ns;
            range.end_ns = at_ns += busy_ns / stage_count;
        }
        range.cell = pp_arena_printf(m->arena, "%dU", stages[s]);
        add(m, f, &range, PP_U);
    }
}

static int end_of_updates(const struct pp_kineto_file *f, int from)
{
    int to = from;

    while (to < f->count && f->ranges[to].what == PP_KINETO_UPDATE &&
           f->ranges[to].step == f->ranges[from].step)
        to++;
    return to;
}

/* Separates ops of a rank, which computes one at a time. A kernel may begin before its predecessor
 * on the stream ends (programmatic launches, rounded stamps). */
static void separate(struct pp_kineto_file *f)
{
    int64_t clock_ns = INT64_MIN;

    for (int k = 0; k < f->count; k++) {
        struct pp_kineto_range *range = &f->ranges[k];
        if (range->what != PP_KINETO_COMPUTE && range->what != PP_KINETO_UPDATE)
            continue;
        range->start_ns = range->start_ns > clock_ns ? range->start_ns : clock_ns;
        range->end_ns = range->end_ns > range->start_ns ? range->end_ns : range->start_ns;
        clock_ns = range->end_ns;
    }
}

static void add_file(struct merger *m, const struct pp_kineto_file *f)
{
    int *stages;
    const int stage_count = stages_of(f, m->arena, &stages);

    for (int k = 0; k < f->count; k++) {
        const struct pp_kineto_range *range = &f->ranges[k];
        if (step_of(m, range) < 0)
            continue;
        if (range->what == PP_KINETO_UPDATE) {
            const int to = end_of_updates(f, k);
            add_updates(m, f, k, to, stages, stage_count);
            k = to - 1;
        } else if (range->what == PP_KINETO_MESSAGE) {
            add_message(m, f, range);
        } else {
            add(m, f, range, range->op.kind);
        }
    }
}

/* Sets the later post of each message at both ends. */
static void match_messages(struct merger *m)
{
    for (int k = 0; k + 1 < m->message_count; k++) {
        if (!pp_kineto_is_pair(&m->messages[k]))
            continue;
        struct pp_kineto_range *send = m->messages[k].range, *receive = m->messages[k + 1].range;
        struct pp_kineto_extent *later = PP_NEW(m->arena, struct pp_kineto_extent);
        later->start_ns = send->start_ns > receive->start_ns ? send->start_ns : receive->start_ns;
        send->extents = receive->extents = later;
    }
}

/* ---- notes ----------------------------------------------------------------------------------- */

static void note_times(struct merger *m)
{
    int drawn = 0, host = 0, lost = 0, unknown = 0, named = 0;

    for (int f = 0; f < m->count; f++) {
        drawn += m->files[f].is_drawn;
        host += m->files[f].is_of_host;
        lost += m->files[f].lost_count;
        unknown += m->files[f].unknown_count;
        named = m->files[f].unknown ? f : named;
    }
    m->run->is_of_host = host > 0;
    if (host > 0)
        pp_kineto_note(
            m->arena, m->run,
            pp_arena_printf(m->arena,
                            "%d of %d files have no work of a device: times of compute are "
                            "those of the host, and messages are left out",
                            host, m->count));
    if (drawn > 0)
        pp_kineto_note(
            m->arena, m->run,
            pp_arena_printf(m->arena,
                            "%d of %d files have no launches: times are those that the "
                            "profiler drew on the device, which lack what autograd launched",
                            drawn, m->count));
    if (lost > 0)
        pp_kineto_note(
            m->arena, m->run,
            pp_arena_printf(m->arena, "%d ranges without work on the device are left out", lost));
    if (unknown > 0)
        pp_kineto_note(m->arena, m->run,
                       pp_arena_printf(m->arena,
                                       "%d ranges such as 'PP:%.40s' name no op and are left out",
                                       unknown, m->files[named].unknown));
}

/* ---- files ----------------------------------------------------------------------------------- */

static enum pp_status check_kind(const struct merger *m, struct pp_error *err)
{
    for (int f = 1; f < m->count; f++)
        if ((m->files[f].window_count > 0) != (m->files[0].window_count > 0))
            return pp_error_set(err, PP_EINVAL,
                                "only one of %s and %s has steps (ProfilerStep#N): are they of one "
                                "run?",
                                m->files[0].name, m->files[f].name);
    return PP_OK;
}

enum pp_status pp_kineto_read(struct pp_arena *arena, const char *const *names,
                              const struct pp_bytes *bytes, int count, struct pp_kineto *run,
                              struct pp_error *err)
{
    struct merger m = {.arena = arena, .run = run, .count = count};
    struct pp_trace *trace = PP_NEW(arena, struct pp_trace);

    *run = (struct pp_kineto){.trace = trace};
    *trace = (struct pp_trace){
        .program =
            count == 1 ? names[0] : pp_arena_printf(arena, "%s and %d more", names[0], count - 1),
        .engine = "kineto",
        .is_partial = true};
    m.files = PP_ARRAY(arena, struct pp_kineto_file, count);
    for (int f = 0; f < count; f++)
        PP_TRY(pp_kineto_file_read(arena, names[f], bytes ? &bytes[f] : NULL, &m.files[f], err));
    PP_TRY(pp_kineto_find_ranks(arena, run, m.files, &m.count, err));
    PP_TRY(check_kind(&m, err));
    PP_TRY(find_steps(&m, err));
    PP_TRY(join_clocks(&m, err));
    match_messages(&m);
    for (int f = 0; f < m.count; f++) {
        separate(&m.files[f]);
        add_file(&m, &m.files[f]);
    }
    note_times(&m);
    pp_kineto_note(arena, run, NULL);
    trace->notes = run->notes;
    run->note_count--;
    run->device = m.files[0].device;
    trace->ranks = m.files[m.count - 1].pipeline_rank + 1;
    trace->replicas = m.files[m.count - 1].replica + 1;
    trace->steps = m.steps[m.step_count - 1] - m.steps[0] + 1;
    return PP_OK;
}

bool pp_kineto_is_one(const char *path)
{
    static const char *const KEYS[] = {"schemaVersion", "deviceProperties", "distributedInfo",
                                       "baseTimeNanoseconds"};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_json_stream *stream;
    struct pp_json_piece piece;
    struct stat info;

    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) ||
        pp_json_stream_open(arena, path, "traceEvents", &stream, NULL) != PP_OK)
        return false;
    while (pp_json_stream_next(stream, &piece, NULL) == PP_OK && piece.key) {
        if (piece.index >= 0)
            return true; /* this project's traces begin with otherData */
        if (!strcmp(piece.key, "otherData"))
            return false;
        for (size_t k = 0; k < PP_COUNT(KEYS); k++)
            if (!strcmp(piece.key, KEYS[k]))
                return true;
    }
    return false;
}
