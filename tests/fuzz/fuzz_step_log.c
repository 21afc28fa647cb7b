/* A log of a training run is read, or refused with the name of the file. The median of its steps
 * lies between the percentiles, and at least one step remains after the ones that were left out. */
#include "sim/import/step_log.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

static void check(const struct pp_step_log *log)
{
    FUZZ_CHECK(log->count > 0 && log->skipped >= 0 && log->skipped < log->count && log->form);
    for (int k = 0; k < log->count; k++)
        FUZZ_CHECK(log->step_s[k] > 0 && isfinite(log->step_s[k]));
    FUZZ_CHECK(log->low_s <= log->median_s && log->median_s <= log->high_s && log->low_s > 0);
    FUZZ_CHECK(isnan(log->flops_per_s_per_gpu) || log->flops_per_s_per_gpu > 0);
    FUZZ_CHECK((log->skipped > 0) == (log->longest_skipped_s > 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pp_arena *arena = pp_arena_create();

    for (int skip = -1; skip < 2; skip++) {
        struct pp_step_log log;
        struct pp_error err = {0};
        const enum pp_status status =
            pp_step_log_parse(arena, "f", (const char *)data, size, skip, &log, &err);

        FUZZ_CHECK(status == PP_OK || (status == PP_EINVAL && !strncmp(err.message, "f", 1)));
        if (status == PP_OK)
            check(&log);
    }
    pp_arena_destroy(arena);
    return 0;
}
