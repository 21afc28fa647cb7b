/* Traces written as Chrome and Perfetto JSON. */
#include "core/units.h"
#include "traces/formats/formats.h"
#include "traces/formats/lanes.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>

/* Format: "Trace Event Format" of Chromium, read by Perfetto. Complete events ("X") on one thread
 * must not overlap; thread id = track * PP_LANES + lane. */
struct writer {
    const struct pp_trace *trace;
    struct pp_drawing *drawing;
    FILE *file;
    bool has_events;
};

/* Writes microseconds as decimal text of integers, so that neighbours touch to the bit. */
static void write_us(FILE *out, const char *key, int64_t ps)
{
    fprintf(out, ",\"%s\":%" PRId64 ".%06" PRId64, key, ps / 1000000, ps % 1000000);
}

static void begin_event(struct writer *w)
{
    fputs(w->has_events ? ",\n" : "\n", w->file);
    w->has_events = true;
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

static int thread_of(const struct pp_box *box)
{
    return (int)box->track * PP_LANES + box->lane;
}

static void write_process(struct writer *w, const struct pp_trace_event *event)
{
    const int pid = pp_trace_list_of(w->trace, event);

    begin_event(w);
    fprintf(w->file, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"",
            pid);
    pp_write_rank(w->trace, event, w->file);
    fputs("\"}}", w->file);
    begin_event(w);
    fprintf(
        w->file,
        "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%d,\"args\":{\"sort_index\":%d}}",
        pid, pid);
}

static void write_thread(struct writer *w, const struct pp_box *box)
{
    const int pid = pp_trace_list_of(w->trace, &box->event);

    begin_event(w);
    fprintf(w->file,
            "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"",
            pid, thread_of(box));
    pp_write_track(box, w->file);
    fputs("\"}}", w->file);
    begin_event(w);
    fprintf(w->file,
            "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%d,\"tid\":%d,"
            "\"args\":{\"sort_index\":%d}}",
            pid, thread_of(box), thread_of(box));
}

/* Is true if the reader finds `seconds` in these picoseconds. Up to 2^52 of them no rounding of
 * microseconds reaches another whole number. */
static bool is_exact(double seconds, int64_t ps)
{
    return ps <= INT64_C(1) << 52 && pp_units_s(ps) == seconds;
}

static void write_box(struct writer *w, const struct pp_box *box)
{
    char cell[PP_TRACE_CELL_BYTES];
    const struct pp_trace_event event = pp_trace_at(w->trace, box->number, cell);
    const struct pp_trace_times span = box->span;

    begin_event(w);
    fprintf(w->file, "{\"ph\":\"X\",\"name\":\"PP:%s\",\"cat\":\"%s\",\"pid\":%d,\"tid\":%d",
            event.cell, pp_track_names[box->track], pp_trace_list_of(w->trace, &event),
            thread_of(box));
    write_us(w->file, "ts", span.start_ps);
    write_us(w->file, "dur", span.end_ps - span.start_ps);
    fprintf(w->file, ",\"args\":{\"step\":%d", event.step);
    if (!is_exact(event.start_s, span.start_ps) || !is_exact(event.end_s, span.end_ps))
        fprintf(w->file, ",\"start_s\":%.17g,\"end_s\":%.17g", event.start_s, event.end_s);
    if (event.bytes > 0)
        fprintf(w->file, ",\"bytes\":%.17g", event.bytes);
    if (!isnan(event.posted_s))
        fprintf(w->file, ",\"posted_s\":%.17g", event.posted_s);
    if (!isnan(event.matched_s))
        fprintf(w->file, ",\"matched_s\":%.17g", event.matched_s);
    fputs("}}", w->file);
}

static void write_lists(struct writer *w)
{
    struct pp_drawing *d = w->drawing;

    for (int from = pp_trace_next(w->trace, -1), next; from >= 0 && !ferror(w->file); from = next) {
        const struct pp_trace_event first = pp_trace_at(w->trace, from, NULL);
        d->count = 0; /* one list at a time */
        next = pp_drawing_add_list(d, from);
        write_process(w, &first);
        for (int k = 0; k < d->count; k++) {
            const struct pp_box box = pp_drawing_box(d, d->boxes[k]);
            if (box.is_first)
                write_thread(w, &box);
            write_box(w, &box);
        }
    }
}

/* Both ends are in the middle of their slices, where viewers look for the slice. */
static void write_arrow_end(struct writer *w, const struct pp_arrow *arrow, bool is_recv)
{
    const struct pp_box box = pp_drawing_box(w->drawing, is_recv ? arrow->recv : arrow->send);

    begin_event(w);
    fprintf(w->file, "{\"ph\":\"%s\",\"id\":%d,\"name\":\"message\",\"cat\":\"message\"",
            is_recv ? "f\",\"bp\":\"e" : "s", arrow->id);
    fprintf(w->file, ",\"pid\":%d,\"tid\":%d", pp_trace_list_of(w->trace, &box.event),
            thread_of(&box));
    write_us(w->file, "ts", box.span.start_ps + (box.span.end_ps - box.span.start_ps) / 2);
    fputc('}', w->file);
}

void pp_trace_print_chrome(const struct pp_trace *trace, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_drawing drawing = pp_drawing_begin(arena, trace);
    struct writer w = {.trace = trace, .drawing = &drawing, .file = out};

    fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"program\":", w.file);
    write_string(w.file, trace->program);
    fputs(",\"engine\":", w.file);
    write_string(w.file, trace->engine);
    if (trace->time_unit)
        fprintf(w.file, ",\"time_unit\":\"%s\"", trace->time_unit);
    fprintf(w.file, ",\"program_hash\":\"%016" PRIx64 "\"", trace->program_hash);
    if (trace->clock_error_s > 0)
        fprintf(w.file, ",\"clock_error_s\":%.17g", trace->clock_error_s);
    if (trace->about)
        write_about(w.file, trace->about);
    fputs("},\"traceEvents\":[", w.file);
    write_lists(&w);
    pp_drawing_add_arrows(arena, &drawing);
    for (int i = 0; i < drawing.arrow_count && !ferror(out); i++) {
        write_arrow_end(&w, &drawing.arrows[i], false);
        write_arrow_end(&w, &drawing.arrows[i], true);
    }
    fputs("\n]}\n", w.file);
}
