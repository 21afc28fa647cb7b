#define _GNU_SOURCE /* open_memstream */
/* A report that is read has ranks and fractions that can be drawn; what cannot is refused with the
 * name of the file. */
#include "plots/memory/report.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

static void check_run(const struct pp_report_run *run)
{
    FUZZ_CHECK(run->rank_count > 0 && run->peak_rank >= 0 && run->peak_rank < run->rank_count);
    FUZZ_CHECK(run->device_bytes >= 0 && run->iteration_s >= 0 && run->schedule && run->engine);
    for (int i = 0; i < run->rank_count; i++)
        for (int k = 0; k < PP_PLOT_MEMORY_PARTS; k++)
            FUZZ_CHECK(run->ranks[i].part_bytes[k] >= 0 && isfinite(run->ranks[i].part_bytes[k]));
    for (int i = 0; i < run->link_count; i++)
        FUZZ_CHECK(run->links[i].count > 0 && run->links[i].name && run->links[i].mean_frac >= 0 &&
                   run->links[i].max_frac >= 0);
}

/* In the terminal; it may refuse, with a reason. */
static void draw(struct pp_arena *arena, const struct pp_report *report)
{
    struct pp_plot_target target = {.terminal = {.width = 80}};
    struct pp_plot_memory memory;
    struct pp_plot_links links;
    struct pp_error err = {0};
    char *text;
    size_t length;

    target.out = open_memstream(&text, &length);
    FUZZ_CHECK(target.out != NULL);
    if (pp_report_memory(arena, report, &memory, &err) == PP_OK)
        pp_plot_memory(arena, &memory, &target, &err);
    if (pp_report_links(arena, report, &links, &err) == PP_OK)
        FUZZ_CHECK(pp_plot_links(arena, &links, &target, &err) == PP_OK);
    fclose(target.out);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pp_arena *arena = pp_arena_create();
    struct pp_report report;
    struct pp_error err = {0};
    const enum pp_status status =
        pp_report_parse(arena, "f", (const char *)data, size, &report, &err);

    if (status != PP_OK) {
        FUZZ_CHECK(status == PP_EINVAL && err.status == status && !strncmp(err.message, "f:", 2));
    } else {
        FUZZ_CHECK(report.count > 0);
        for (int i = 0; i < report.count; i++)
            check_run(&report.runs[i]);
        draw(arena, &report);
    }
    pp_arena_destroy(arena);
    return 0;
}
