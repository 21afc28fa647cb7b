/* Traces of PyTorch's profiler, several of one run with a byte of 0x1e between them: read, or
 * refused. What was read is a trace like any other: as CSV it comes back, and compared with itself
 * it differs in nothing. */
#include "tests/fuzz/events.h"
#include "traces/compare/compare.h"
#include "traces/formats/formats.h"
#include "traces/kineto/kineto.h"

#include <math.h>
#include <string.h>

enum { MOST_FILES = 6 };

/* Posted and matched are known together, and come in this order. */
static void check_events(const struct pp_trace *trace)
{
    fuzz_check_events(trace);
    for (int i = 0; i < trace->count; i++) {
        const struct pp_trace_event *e = &trace->events[i];
        FUZZ_CHECK(isnan(e->posted_s) == isnan(e->matched_s));
        FUZZ_CHECK(!(e->posted_s > e->matched_s) && !(e->matched_s > e->start_s));
    }
}

static void check_csv(struct pp_arena *arena, const struct pp_trace *trace)
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    struct pp_trace *again;
    struct pp_error err = {0};

    FUZZ_CHECK(file != NULL);
    pp_trace_print_csv(trace, file);
    fclose(file);
    FUZZ_CHECK(pp_trace_parse_csv(arena, "t", text, length, &again, &err) == PP_OK);
    FUZZ_CHECK(again->count == trace->count);
    for (int i = 0; i < trace->count; i++) {
        const struct pp_trace_event *a = &trace->events[i], *b = &again->events[i];
        FUZZ_CHECK(!strcmp(a->cell, b->cell) && a->step == b->step && a->kind == b->kind);
        FUZZ_CHECK(fuzz_same(a->start_s, b->start_s) && fuzz_same(a->end_s, b->end_s));
        FUZZ_CHECK(fuzz_same(a->posted_s, b->posted_s) && fuzz_same(a->matched_s, b->matched_s));
    }
    free(text);
}

static void check_comparison(struct pp_arena *arena, const struct pp_trace *trace)
{
    const struct pp_compare_options options = {.worst = 3};
    struct pp_comparison c;
    struct pp_error err = {0};
    const enum pp_status status = pp_compare(arena, trace, trace, &options, &c, &err);

    FUZZ_CHECK(status == PP_OK || (status == PP_EINVAL && err.message[0]));
    FUZZ_CHECK(status != PP_OK || (c.step_error_s == 0 && c.matched > 0 && c.missing.count == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const NAMES[MOST_FILES] = {"a", "b", "rank1", "rank_2.json", "c", "d"};
    struct pp_arena *arena = pp_arena_create();
    struct pp_bytes bytes[MOST_FILES];
    struct pp_kineto run;
    struct pp_error err = {0};
    int count = 0;

    for (size_t from = 0; count < MOST_FILES && (count == 0 || from <= size);) {
        const uint8_t *end = from < size ? memchr(data + from, 0x1e, size - from) : NULL;
        const size_t length = end ? (size_t)(end - data) - from : size - from;
        char *copy = memcpy(pp_arena_alloc(arena, length + 1), length ? data + from : data, length);

        bytes[count++] = (struct pp_bytes){copy, length};
        from += length + 1;
    }
    const enum pp_status status = pp_kineto_read(arena, NAMES, bytes, count, &run, &err);
    FUZZ_CHECK(status == PP_OK || (status == PP_EINVAL && err.status == status && *err.message));
    if (status == PP_OK) {
        check_events(run.trace);
        check_csv(arena, run.trace);
        check_comparison(arena, run.trace);
    }
    pp_arena_destroy(arena);
    return 0;
}
