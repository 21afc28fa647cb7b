/* A table of measurements is read or refused with its line. Every row becomes a command line that
 * the options take, or is skipped with a reason. The measured values change no command. */
#include "core/printable.h"
#include "sim/cli/cli.h"
#include "sim/published/published.h"
#include "tests/fuzz/fuzz.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { BIG_RUN = 64 }; /* devices: larger ones are resolved by other tests */

static void check_words(struct pp_arena *arena, struct pp_measure_command *command)
{
    struct pp_parsed parsed;
    struct pp_error err = {0};

    FUZZ_CHECK(command->argc >= 2 && command->argc < PP_MEASURE_WORDS);
    FUZZ_CHECK(!strcmp(command->argv[1], "run"));
    const enum pp_status status =
        pp_options_parse(arena, &pp_sim_cli, command->argc, command->argv, &parsed, &err);
    FUZZ_CHECK(status == PP_OK || (status == PP_EINVAL && *err.message));
}

static void check_row(struct pp_arena *arena, struct pp_measurement *row)
{
    struct pp_measure_command command, again;
    struct pp_error err = {0};

    FUZZ_CHECK(*row->id && *row->family && row->line > 1);
    FUZZ_CHECK(isnan(row->step_s) || row->step_s > 0);
    FUZZ_CHECK(pp_printable(arena, row->id) == row->id);
    FUZZ_CHECK(pp_printable(arena, row->family) == row->family);
    const enum pp_status status = pp_measure_command(arena, row, &command, &err);
    if (status != PP_OK) {
        FUZZ_CHECK(status == PP_EINVAL && *err.message);
        return;
    }
    check_words(arena, &command);
    const char *line = pp_measure_command_lines(arena, &command, INT_MAX / 2, 0);
    for (int i = PP_COL_STEP_S; i <= PP_COL_MEM_BYTES; i++)
        row->cell[i] = "7";
    for (int i = PP_COL_LATENCY_S; i <= PP_COL_MEM_GB; i++)
        row->cell[i] = "7";
    FUZZ_CHECK(pp_measure_command(arena, row, &again, &err) == PP_OK);
    FUZZ_CHECK(!strcmp(line, pp_measure_command_lines(arena, &again, INT_MAX / 2, 0)));
}

/* A small run is resolved, too: it is refused with a reason or complete. */
static void check_case(struct pp_arena *arena, const struct pp_measurement *row)
{
    struct pp_measure_case open;

    if (!(pp_measure_number(row, PP_COL_GPUS) <= BIG_RUN) ||
        !(pp_measure_number(row, PP_COL_GBS) <= BIG_RUN) ||
        !(pp_measure_number(row, PP_COL_VP) <= BIG_RUN))
        return;
    pp_measure_case_open(arena, row, &open);
    FUZZ_CHECK(open.skipped ? *open.skipped != '\0' : open.config.layout.gpus > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pp_arena *arena = pp_arena_create();
    struct pp_measurements list = {0};
    struct pp_error err = {0};
    const enum pp_status status =
        pp_measurements_parse(arena, "f", (const char *)data, size, &list, &err);

    if (status != PP_OK)
        FUZZ_CHECK(status == PP_EINVAL && err.status == status && !strncmp(err.message, "f:", 2));
    for (int i = 0; status == PP_OK && i < list.count; i++) {
        check_case(arena, &list.rows[i]);
        check_row(arena, &list.rows[i]);
    }
    pp_arena_destroy(arena);
    return 0;
}
