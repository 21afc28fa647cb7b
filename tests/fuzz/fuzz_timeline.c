/* Any trace that can be read is drawn or refused with a reason. It is drawn in characters, as a
 * script, as a prediction of itself, and as a part of a page, of bounded size. */
#define _GNU_SOURCE /* open_memstream */
#include "plots/page/page.h"
#include "plots/plot.h"
#include "plots/timeline/timeline.h"
#include "tests/fuzz/fuzz.h"
#include "traces/formats/formats.h"
#include "traces/step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct pp_plot_timeline ALL = {
    .first_rank = -1, .last_rank = -1, .from_s = NAN, .to_s = NAN};

static void check_model(struct pp_arena *arena, const struct pp_trace *trace)
{
    struct pp_timeline t;
    struct pp_error err = {0};
    int messages;

    if (pp_timeline_make(arena, trace, &t, &err) != PP_OK) {
        FUZZ_CHECK(err.status == PP_EINVAL && err.message[0]);
        return;
    }
    FUZZ_CHECK(t.begin[t.ranks] == t.count);
    for (int i = 0; i < t.count; i++)
        FUZZ_CHECK(t.boxes[i].op.pipe < t.pipes && t.boxes[i].op.chunk < t.chunks &&
                   t.boxes[i].step < t.step_count);
    const struct pp_timeline_message *m =
        pp_timeline_messages(arena, &t, 0, INFINITY, 100, &messages);
    for (int i = 0; i < messages; i++)
        FUZZ_CHECK(m[i].from < t.ranks && m[i].to < t.ranks && m[i].end_s >= m[i].start_s);
}

static void check_characters(const struct pp_trace *trace, const struct pp_plot_timeline *options)
{
    struct pp_error err = {0};
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    const enum pp_status status =
        pp_gantt_print(trace, options, (struct pp_terminal){.width = 80}, out, &err);

    fclose(out);
    FUZZ_CHECK(status == PP_OK ? bytes > 0 : status == PP_EINVAL && bytes == 0);
    free(text);
}

static void check_script(struct pp_arena *arena, const struct pp_trace *trace,
                         const struct pp_plot_timeline *options, const char *path)
{
    const struct pp_plot_target target = {
        .format = PP_PLOT_SCRIPT, .path = path, .is_paper = trace->count % 2};
    struct pp_error err = {0};
    enum pp_status status = pp_plot_timeline(arena, trace, options, &target, &err);

    FUZZ_CHECK(status == PP_OK || (status == PP_EINVAL && err.message[0]));
    const struct pp_plot_step step = pp_plot_step(arena, trace);
    struct pp_plot_timeline part = *options;
    part.from_s = step.from_s;
    part.to_s = step.to_s;
    part.part = step.note;
    status = pp_plot_timeline(arena, step.trace, &part, &target, &err);
    FUZZ_CHECK(status == PP_OK || (status == PP_EINVAL && err.message[0]));
    status = pp_plot_timelines(arena, trace, trace, options, &target, &err);
    FUZZ_CHECK(status == PP_OK || (status == PP_EINVAL && err.message[0]));
}

/* Two panels, one of them in another measure; what is written is as big as the header says. */
static void check_page(struct pp_arena *arena, const struct pp_trace *trace,
                       const struct pp_plot_timeline *options)
{
    enum { PER_BOX = 40, PER_OP = 80, AROUND = 1 << 16 };
    const struct pp_plot_timeline_panel panels[] = {{.trace = trace, .heading = "<a>"},
                                                    {.trace = trace, .divisor = 3}};
    struct pp_error err = {0};
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    const enum pp_status status =
        pp_html_timelines(arena, panels, 1 + trace->count % 2, options, out, &err);

    fclose(out);
    FUZZ_CHECK(status == PP_OK ? bytes > 0 : status == PP_EINVAL && err.message[0]);
    FUZZ_CHECK(bytes < 2 * PER_BOX * PP_HTML_BOXES + PER_OP * PP_HTML_DETAIL + AROUND);
    FUZZ_CHECK(!strstr(text, "nan") && !strstr(text, "inf") && !strstr(text, "<a>"));
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pp_arena *arena = pp_arena_create();
    struct pp_trace *trace;
    struct pp_error err = {0};
    const char *path = pp_arena_printf(arena, "/tmp/fuzz_timeline.%d.gp", (int)getpid());

    if (pp_trace_parse_csv(arena, "f", (const char *)data, size, &trace, &err) == PP_OK) {
        check_model(arena, trace);
        const double end_s = trace->events[trace->count - 1].end_s;
        struct pp_plot_timeline part = ALL;
        struct pp_step step;
        part.first_rank = part.last_rank = trace->ranks / 2;
        part.from_s = 0.25 * end_s;
        part.to_s = 0.75 * end_s;
        const struct pp_plot_timeline units = pp_plot_timeline_whole("units", 0);
        check_characters(trace, &units);
        check_characters(trace, &part);
        check_script(arena, trace, &ALL, path);
        check_script(arena, trace, &part, path);
        check_page(arena, trace, &ALL);
        check_page(arena, trace, &part);
        if (pp_step_at(arena, trace, trace->steps - 1, &step, &err) == PP_OK)
            check_script(arena, &step.trace, &ALL, path);
        unlink(path);
    }
    pp_arena_destroy(arena);
    return 0;
}
