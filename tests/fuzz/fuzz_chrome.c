/* A trace that is read from JSON can be written as JSON and read again to the same events, and as
 * CSV. Compared with itself it has no difference, or is refused with a reason. */
#include "core/text/file.h"
#include "tests/fuzz/events.h"
#include "traces/compare/compare.h"
#include "traces/formats/formats.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* Of what is read all is written, but waits and other control ops that take no time. */
static void check_again(struct pp_arena *arena, const struct pp_trace *trace)
{
    char path[64];
    struct pp_trace *again;
    struct pp_error err = {0};
    int k = 0;

    snprintf(path, sizeof(path), "/tmp/pipesim-fuzz-%ld.json", (long)getpid());
    FUZZ_CHECK(pp_trace_write(trace, path, &err) == PP_OK);
    const enum pp_status status = pp_trace_read(arena, path, &again, &err);
    unlink(path);
    if (status != PP_OK) { /* nothing is left when all are such waits */
        FUZZ_CHECK(status == PP_EINVAL && strstr(err.message, "no events"));
        return;
    }
    for (int i = 0; i < trace->count; i++) {
        const struct pp_trace_event *a = &trace->events[i], *b = &again->events[k];
        if (a->stream == PP_STREAM_CONTROL && a->end_s <= a->start_s)
            continue;
        FUZZ_CHECK(k++ < again->count && !strcmp(a->cell, b->cell) && a->step == b->step);
        FUZZ_CHECK(fuzz_same(a->start_s, b->start_s) && fuzz_same(a->end_s, b->end_s));
        FUZZ_CHECK(fuzz_same(a->posted_s, b->posted_s) && fuzz_same(a->matched_s, b->matched_s));
    }
    FUZZ_CHECK(k == again->count && again->program_hash == trace->program_hash);
}

static void check_comparison(struct pp_arena *arena, const struct pp_trace *trace)
{
    const struct pp_compare_options options = {.worst = 3};
    struct pp_comparison c;
    struct pp_error err = {0};
    const enum pp_status status = pp_compare(arena, trace, trace, &options, &c, &err);

    if (status != PP_OK) {
        FUZZ_CHECK(status == PP_EINVAL && err.status == status && err.message[0]);
        return;
    }
    FUZZ_CHECK(c.step_error_s == 0 && c.step_error_frac == 0 && c.worst_count == 0);
    FUZZ_CHECK(c.missing.count == 0 && c.extra.count == 0 && c.matched > 0);
    for (int i = 0; i < c.kind_count; i++)
        FUZZ_CHECK(c.kinds[i].error_frac == 0 && c.kinds[i].share_frac == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pp_arena *arena = pp_arena_create();
    struct pp_trace *trace;
    struct pp_error err = {0};
    const enum pp_status status =
        pp_trace_parse_chrome(arena, "f", (const char *)data, size, &trace, &err);

    if (status != PP_OK) {
        FUZZ_CHECK(status == PP_EINVAL && err.status == status && !strncmp(err.message, "f:", 2));
    } else {
        fuzz_check_events(trace);
        check_again(arena, trace);
        check_comparison(arena, trace);
    }
    pp_arena_destroy(arena);
    return 0;
}
