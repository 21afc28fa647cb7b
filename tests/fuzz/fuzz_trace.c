/* A trace that is read can be written as CSV and read again to the same events. Its figures
 * are consistent or refused. */
#include "tests/fuzz/fuzz.h"
#include "traces/formats/formats.h"
#include "traces/metrics.h"

#include <math.h>
#include <string.h>

static void check_metrics(struct pp_arena *arena, const struct pp_trace *trace)
{
    struct pp_metrics metrics;
    struct pp_error err = {0};
    const enum pp_status status = pp_metrics_compute(arena, trace, &metrics, &err);
    double sum = 0;

    FUZZ_CHECK(status == PP_OK || (status == PP_EFAIL && err.message[0]));
    if (status != PP_OK)
        return;
    for (int part = 0; part < PP_TIME_PARTS; part++) {
        FUZZ_CHECK(metrics.time_frac[part] >= -1e-9);
        sum += metrics.time_frac[part];
    }
    FUZZ_CHECK(fabs(sum - 1) <= 1e-9);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pp_arena *arena = pp_arena_create();
    struct pp_trace *trace;
    struct pp_error err = {0};
    const enum pp_status status =
        pp_trace_parse_csv(arena, "f", (const char *)data, size, &trace, &err);

    if (status != PP_OK) {
        FUZZ_CHECK(status == PP_EINVAL && err.status == status && !strncmp(err.message, "f:", 2));
    } else {
        FUZZ_CHECK(trace->count > 0);
        for (int i = 0; i < trace->count; i++)
            FUZZ_CHECK(trace->events[i].kind == PP_WAIT
                           ? trace->events[i].waits_for >= 0 && trace->events[i].waits_for < i
                           : trace->events[i].waits_for == -1);
        check_metrics(arena, trace);
    }
    pp_arena_destroy(arena);
    return 0;
}
