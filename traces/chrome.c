#include "traces/trace.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Format: "Trace Event Format" of Chromium, read by Perfetto. Complete events ("X") on one thread
 * must not overlap, so each track grows lanes where its events do. */
enum track { COMPUTE, BLOCKED, RECV_F, SEND_F, RECV_B, SEND_B, REDUCE, COPY, WEIGHTS, TRACKS };
static const char *const track_names[TRACKS] = {"compute", "blocked",   "receive F",
                                                "send F",  "receive B", "send B",
                                                "reduce",  "copy",      "weights"};
static const enum track track_of_message[PP_OP_KINDS] = {
    [PP_RECV_F] = RECV_F, [PP_SEND_F] = SEND_F, [PP_RECV_B] = RECV_B, [PP_SEND_B] = SEND_B};
static const enum track track_of_stream[] = {[PP_STREAM_COMPUTE] = COMPUTE,
                                             [PP_STREAM_REDUCE] = REDUCE,
                                             [PP_STREAM_COPY] = COPY,
                                             [PP_STREAM_CONTROL] = BLOCKED};
enum { LANES = 1000 }; /* thread id = track * LANES + lane */

struct span {
    int64_t start_ps, end_ps;
    enum track track;
    int event;
};
struct message {
    int key[6]; /* replica, step, direction, receiving stage, micro-batch, split */
    bool is_recv;
    int event;
};
struct writer {
    struct pp_arena *arena;
    const struct pp_trace *trace;
    FILE *file;
    bool has_events;
    int *thread_of; /* [event], -1 = not drawn */
};

static int64_t picoseconds(double seconds)
{
    return llround(fmin(fmax(seconds * 1e12, 0), 4e18));
}

/* Times are microseconds; as decimal text of integers, so that neighbours touch to the bit. */
static void write_us(FILE *out, const char *key, int64_t ps)
{
    fprintf(out, ",\"%s\":%" PRId64 ".%06" PRId64, key, ps / 1000000, ps % 1000000);
}

static void begin_event(struct writer *w)
{
    fputs(w->has_events ? ",\n" : "\n", w->file);
    w->has_events = true;
}

static int process_of(const struct pp_trace *trace, const struct pp_trace_event *event)
{
    return event->replica * trace->ranks + event->rank;
}

static void write_string(FILE *out, const char *text)
{
    json_t *string = json_string(text ? text : "");

    if (string == NULL) /* not UTF-8 */
        fputs("\"?\"", out);
    else
        json_dumpf(string, out, JSON_ENCODE_ANY);
    json_decref(string);
}

static void write_about(FILE *out, const struct pp_trace_about *about)
{
    json_t *object = pp_trace_about_json(about);

    fputs(",\"run\":", out);
    json_dumpf(object, out, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(object);
}

static void write_process(struct writer *w, const struct pp_trace_event *event)
{
    const int pid = process_of(w->trace, event);

    begin_event(w);
    fprintf(w->file, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":", pid);
    fprintf(w->file, "\"P%d", event->rank);
    if (w->trace->replicas > 1)
        fprintf(w->file, " replica %d", event->replica);
    fputs("\"}}", w->file);
    begin_event(w);
    fprintf(
        w->file,
        "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%d,\"args\":{\"sort_index\":%d}}",
        pid, pid);
}

static void write_thread(struct writer *w, int pid, enum track track, int lane)
{
    begin_event(w);
    fprintf(w->file,
            "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s",
            pid, track * LANES + lane, track_names[track]);
    if (lane > 0)
        fprintf(w->file, " %d", lane + 1);
    fputs("\"}}", w->file);
    begin_event(w);
    fprintf(w->file,
            "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%d,\"tid\":%d,"
            "\"args\":{\"sort_index\":%d}}",
            pid, track * LANES + lane, track * LANES + lane);
}

static void write_span(struct writer *w, const struct span *span)
{
    const struct pp_trace_event *event = &w->trace->events[span->event];

    begin_event(w);
    fprintf(w->file, "{\"ph\":\"X\",\"name\":\"PP:%s\",\"cat\":\"%s\",\"pid\":%d,\"tid\":%d",
            event->cell, track_names[span->track], process_of(w->trace, event),
            w->thread_of[span->event]);
    write_us(w->file, "ts", span->start_ps);
    write_us(w->file, "dur", span->end_ps - span->start_ps);
    fprintf(w->file, ",\"args\":{\"step\":%d", event->step);
    if (event->bytes > 0)
        fprintf(w->file, ",\"bytes\":%.17g", event->bytes);
    if (!isnan(event->posted_s))
        fprintf(w->file, ",\"posted_s\":%.17g", event->posted_s);
    if (!isnan(event->matched_s))
        fprintf(w->file, ",\"matched_s\":%.17g", event->matched_s);
    fputs("}}", w->file);
}

static int compare_spans(const void *left, const void *right)
{
    const struct span *a = left, *b = right;

    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps ? -1 : 1;
    if (a->end_ps != b->end_ps)
        return a->end_ps < b->end_ps ? -1 : 1;
    return a->event - b->event;
}

static enum track track_of(const struct pp_trace_event *event)
{
    if (event->is_beside)
        return WEIGHTS;
    return event->stream == PP_STREAM_CHANNEL ? track_of_message[event->kind]
                                              : track_of_stream[event->stream];
}

/* The events of one rank to draw: waits and other control ops only where they take time. */
static int collect_spans(const struct pp_trace *trace, int from, int to, struct span *spans)
{
    int count = 0;

    for (int i = from; i < to; i++) {
        const struct pp_trace_event *event = &trace->events[i];
        const struct span span = {.start_ps = picoseconds(event->start_s),
                                  .end_ps = picoseconds(event->end_s),
                                  .track = track_of(event),
                                  .event = i};
        if (span.track != BLOCKED || span.end_ps > span.start_ps)
            spans[count++] = span;
    }
    qsort(spans, (size_t)count, sizeof(*spans), compare_spans);
    return count;
}

static void write_rank(struct writer *w, int from, int to)
{
    const struct pp_arena_mark mark = pp_arena_mark(w->arena);
    struct span *spans = PP_ARRAY(w->arena, struct span, to - from);
    const int count = collect_spans(w->trace, from, to, spans);
    const int pid = process_of(w->trace, &w->trace->events[from]);
    int64_t end_ps[LANES];
    int lanes = 0;

    write_process(w, &w->trace->events[from]);
    for (int i = 0; i < count; i++) {
        int lane = 0;
        if (i > 0 && spans[i].track != spans[i - 1].track)
            lanes = 0;
        while (lane < lanes && end_ps[lane] > spans[i].start_ps)
            lane++;
        if (lane == LANES) /* nothing of ours comes near; better no event than a wrong one */
            continue;
        if (lane == lanes) {
            lanes++;
            write_thread(w, pid, spans[i].track, lane);
        }
        end_ps[lane] = spans[i].end_ps;
        w->thread_of[spans[i].event] = (int)spans[i].track * LANES + lane;
        write_span(w, &spans[i]);
    }
    pp_arena_release(w->arena, mark);
}

/* ---- arrows from SEND to RECV ---------------------------------------------------------------- */

static int compare_messages(const void *left, const void *right)
{
    const struct message *a = left, *b = right;

    for (int i = 0; i < 6; i++)
        if (a->key[i] != b->key[i])
            return a->key[i] < b->key[i] ? -1 : 1;
    return (int)a->is_recv - (int)b->is_recv;
}

static bool describe_message(const struct pp_trace *trace, int event, struct message *message)
{
    const struct pp_trace_event *e = &trace->events[event];
    struct pp_op ops[2];
    int count;

    if (e->stream != PP_STREAM_CHANNEL || pp_op_parse(e->cell, ops, &count, NULL) != PP_OK)
        return false;
    const int direction = e->kind == PP_SEND_F || e->kind == PP_RECV_F ? 1 : -1;
    const int stage = ops[0].stage + (pp_op_is_send(e->kind) ? direction : 0);
    *message =
        (struct message){.key = {e->replica, e->step, direction, stage, ops[0].mb, ops[0].split},
                         .is_recv = pp_op_is_recv(e->kind),
                         .event = event};
    return true;
}

/* Both ends stand in the middle of their slices, which is where viewers look for the slice. */
static void write_arrow_end(struct writer *w, const struct message *message, int id)
{
    const struct pp_trace_event *event = &w->trace->events[message->event];
    const int64_t start_ps = picoseconds(event->start_s), end_ps = picoseconds(event->end_s);

    begin_event(w);
    fprintf(w->file, "{\"ph\":\"%s\",\"id\":%d,\"name\":\"message\",\"cat\":\"message\"",
            message->is_recv ? "f\",\"bp\":\"e" : "s", id);
    fprintf(w->file, ",\"pid\":%d,\"tid\":%d", process_of(w->trace, event),
            w->thread_of[message->event]);
    write_us(w->file, "ts", start_ps + (end_ps - start_ps) / 2);
    fputc('}', w->file);
}

static void write_arrows(struct writer *w)
{
    struct message *messages = PP_ARRAY(w->arena, struct message, w->trace->count);
    int count = 0;

    for (int i = 0; i < w->trace->count; i++)
        if (w->thread_of[i] >= 0 && describe_message(w->trace, i, &messages[count]))
            count++;
    qsort(messages, (size_t)count, sizeof(*messages), compare_messages);
    for (int i = 0; i + 1 < count; i++) {
        struct message as_send = messages[i + 1];
        as_send.is_recv = false;
        if (messages[i].is_recv || !messages[i + 1].is_recv ||
            compare_messages(&messages[i], &as_send) != 0)
            continue;
        write_arrow_end(w, &messages[i], i);
        write_arrow_end(w, &messages[i + 1], i);
    }
}

void pp_trace_print_chrome(const struct pp_trace *trace, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct writer w = {.arena = arena, .trace = trace, .file = out};
    w.thread_of = PP_ARRAY(arena, int, trace->count);
    for (int i = 0; i < trace->count; i++)
        w.thread_of[i] = -1;
    fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"program\":", w.file);
    write_string(w.file, trace->program);
    fputs(",\"engine\":", w.file);
    write_string(w.file, trace->engine);
    fprintf(w.file, ",\"program_hash\":\"%016" PRIx64 "\"", trace->program_hash);
    if (trace->clock_error_s > 0)
        fprintf(w.file, ",\"clock_error_s\":%.17g", trace->clock_error_s);
    if (trace->about)
        write_about(w.file, trace->about);
    fputs("},\"traceEvents\":[", w.file);
    for (int from = 0, to; from < trace->count; from = to) {
        const int pid = process_of(trace, &trace->events[from]);
        for (to = from; to < trace->count && process_of(trace, &trace->events[to]) == pid; to++)
            ;
        write_rank(&w, from, to);
    }
    write_arrows(&w);
    fputs("\n]}\n", w.file);
}
