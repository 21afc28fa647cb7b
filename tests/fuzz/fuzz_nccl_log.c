/* A log of nccl-tests, or costs as calibrate writes them: read, or refused with the name of the
 * file. Of what was read, sizes and times are numbers, and a line through them exists. */
#include "sim/import/nccl_log.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

static void check_log(struct pp_arena *arena, const struct pp_nccl_log *log)
{
    FUZZ_CHECK(log->operation && log->count > 0);
    FUZZ_CHECK(log->nodes >= 0 && log->nodes <= log->ranks);
    for (int k = 0; k < log->count; k++)
        FUZZ_CHECK(log->sizes[k].bytes > 0 && log->sizes[k].s > 0 && isfinite(log->sizes[k].s));
    const struct pp_measured_line line =
        pp_calibrate_line(arena, log->operation, log->sizes, log->count, NULL);
    FUZZ_CHECK(line.alpha_s >= 0 && line.s_per_byte >= 0 && line.residual_frac >= 0);
}

static void check_costs(const struct pp_cost_file *file)
{
    FUZZ_CHECK(file->set_count > 0 && file->machine);
    for (int k = 0; k < file->set_count; k++)
        FUZZ_CHECK(file->sets[k].shape.split < file->sets[k].shape.splits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pp_arena *arena = pp_arena_create();
    const struct pp_cost_file *file;
    struct pp_error err = {0};
    struct pp_nccl_log log;

    const struct pp_nccl_log_source source = {.name = "f"};

    const enum pp_status read =
        pp_nccl_log_parse(arena, &source, (const char *)data, size, &log, &err);
    FUZZ_CHECK(read == PP_OK || (read == PP_EINVAL && !strncmp(err.message, "f:", 2)));
    if (read == PP_OK)
        check_log(arena, &log);
    const enum pp_status costs =
        pp_cost_file_parse(arena, "f", (const char *)data, size, &file, &err);
    FUZZ_CHECK(costs == PP_OK || (costs == PP_EINVAL && *err.message));
    if (costs == PP_OK)
        check_costs(file);
    pp_arena_destroy(arena);
    return 0;
}
