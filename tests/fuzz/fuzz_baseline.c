#define _GNU_SOURCE /* open_memstream */
/* A saved report that is read has the command line of a run and does not differ from itself. A file
 * that cannot be read is refused with its name. */
#include "sim/check/baseline.h"
#include "sim/cli/cli.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

static const char OTHER[] =
    "{\"schema\":\"pipesim.report/1\",\"iteration_s\":2.5,\"peak_mem_bytes\":7,\"time_frac\":{"
    "\"p2p\":0.25},\"ranks\":[{\"rank\":0,\"busy_s\":1.5}],\"inputs\":{\"schedule\":\"1f1b\"}}";

static void check_print(struct pp_arena *arena, const struct pp_changes *changes)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    FUZZ_CHECK(out != NULL);
    pp_changes_print(arena, changes, 5, out);
    fclose(out);
    FUZZ_CHECK((changes->count > 0) == (length > 0));
    free(text);
}

static void check_diffs(struct pp_arena *arena, const struct pp_baseline *baseline)
{
    struct pp_baseline other;
    struct pp_changes same, changes, loose;
    struct pp_error err = {0};

    FUZZ_CHECK(pp_baseline_parse(arena, "o", OTHER, strlen(OTHER), &other, &err) == PP_OK);
    pp_baseline_diff(arena, baseline->json.root, baseline->json.root, 0, &same);
    FUZZ_CHECK(same.words == 0 && same.added == 0);
    pp_baseline_diff(arena, other.json.root, baseline->json.root, 0, &changes);
    pp_baseline_diff(arena, other.json.root, baseline->json.root, 0.5, &loose);
    FUZZ_CHECK(loose.count <= changes.count && changes.count <= changes.figures);
    FUZZ_CHECK(loose.figures == changes.figures);
    for (int i = 0; i < changes.count; i++)
        FUZZ_CHECK(!isnan(changes.list[i].frac) && changes.list[i].frac != 0);
    check_print(arena, &changes);
    pp_baseline_diff(arena, baseline->json.root, other.json.root, 0, &changes);
    check_print(arena, &changes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pp_arena *arena = pp_arena_create();
    struct pp_baseline baseline;
    struct pp_error err = {0};
    const enum pp_status status =
        pp_baseline_parse(arena, "f", (const char *)data, size, &baseline, &err);

    if (status != PP_OK) {
        FUZZ_CHECK(status == PP_EINVAL && err.status == status && !strncmp(err.message, "f:", 2));
    } else {
        FUZZ_CHECK(baseline.inputs.command == PP_CMD_RUN && baseline.inputs.operand_count == 0);
        check_diffs(arena, &baseline);
    }
    pp_arena_destroy(arena);
    return 0;
}
