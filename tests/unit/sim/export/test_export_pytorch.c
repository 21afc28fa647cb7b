/* PyTorch's view of a run. It reads the order of the schedule, identical to the byte. With sends
 * and receives it reads a legal program of the same order, compared with PyTorch's own orders. */
#define _GNU_SOURCE /* open_memstream */
#include "tests/unit/support/sim_run.h"

#include "core/text/file.h"
#include "schedules/registry.h"
#include "schedules/verify/verify.h"
#include "sim/export/export.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static const char *const RUNS[] = {
    "--unit F=1,I=1,W=1",
    "--model gpt2-64 --tp 1 --dp 2 --mbs 2 --recompute full --zero 1 --engine dag --steps 1",
    "--model gpt2-64 --tp 1 --dp 2 --mbs 2 --recompute none --offload a=host --engine dag "
    "--buckets 2 --steps 1",
};

static char *export_of(struct pp_arena *arena, const char *line, const struct pp_program *program,
                       enum pp_pytorch_list list, const char **warning)
{
    struct pp_error err = {0};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    cr_assert_eq(pp_export_pytorch(arena, program, list, out, warning, &err), PP_OK, "%s: %s", line,
                 err.message);
    fclose(out);
    char *copy = pp_arena_strdup(arena, text);
    free(text);
    return copy;
}

static struct pp_program *read_back(struct pp_arena *arena, const char *line, const char *text)
{
    struct pp_program *program;
    struct pp_error err = {0};

    cr_assert_eq(pp_program_parse(arena, "f", text, strlen(text), PP_DIALECT_2025, &program, &err),
                 PP_OK, "%s: %s\n%s", line, err.message, text);
    return program;
}

/* The order that the schedule gave, from the lists with everything that passes have added. */
static char *order_of(struct pp_arena *arena, const struct pp_program *program)
{
    const uint64_t compute =
        UINT64_C(1) << PP_F | UINT64_C(1) << PP_B | UINT64_C(1) << PP_I | UINT64_C(1) << PP_W;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    pp_program_print_kinds(program, compute, out);
    fclose(out);
    char *copy = pp_arena_strdup(arena, text);
    free(text);
    return copy;
}

static int count_messages(const struct pp_program *p)
{
    int count = 0;

    for (int i = 0; i < pp_program_size(p); i++)
        count += pp_op_is_send(p->kind[i]);
    return count;
}

/* Each stage is summed once, after its last B or W, with a WAIT. Without that action PyTorch 2.15
 * does not divide gradients by the number of micro-batches. */
static void check_sums(const char *line, const struct pp_program *p)
{
    for (int stage = 0; stage < p->stages; stage++) {
        int sums = 0, waits = 0;
        for (int i = 0; i < pp_program_size(p); i++) {
            if (p->stage[i] != stage)
                continue;
            sums += p->kind[i] == PP_AR;
            waits += p->kind[i] == PP_WAIT && p->aux[i] == PP_AR;
            cr_assert(sums == 0 || (p->kind[i] != PP_B && p->kind[i] != PP_W),
                      "%s: stage %d is summed before its last backward", line, stage);
        }
        cr_assert(sums == 1 && waits == 1, "%s: stage %d has %d sums, %d waits", line, stage, sums,
                  waits);
    }
}

static void check_messages(struct pp_arena *arena, const char *line,
                           const struct pp_program *program, enum pp_pytorch_list list,
                           const char *order)
{
    const struct pp_verify_options options = {0};
    const char *warning;
    struct pp_error err = {0};
    const struct pp_program *read =
        read_back(arena, line, export_of(arena, line, program, list, &warning));

    cr_assert_eq(pp_verify(read, &options, &err), PP_OK, "%s: %s", line, err.message);
    cr_assert_str_eq(order_of(arena, read), order, "%s", line);
    cr_assert_eq(count_messages(read), count_messages(program), "%s", line);
    if (list == PP_PYTORCH_WAITS)
        check_sums(line, read);
}

static void check_run(const char *line)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_result result;
    struct pp_error err = {0};
    const char *warning;

    cr_assert_eq(sim_run(arena, line, &result, &err), PP_OK, "%s: %s", line, err.message);
    const struct pp_program *p = result.program;
    const char *text = export_of(arena, line, p, PP_PYTORCH_COMPUTE, &warning);
    const bool is_foreign = p->pipelines > 1 || p->splits > 1 || p->versions > 1;
    cr_assert_eq(warning != NULL, is_foreign, "%s: %s", line, warning ? warning : "no warning");
    cr_assert_eq(strpbrk(text, "#[@") != NULL, false, "%s: not what PyTorch reads", line);
    struct pp_program *read = read_back(arena, line, text);
    cr_assert_eq(read->level, PP_LEVEL_COMPUTE);
    cr_assert_str_eq(pp_program_text(arena, read), text, "%s", line);
    cr_assert_str_eq(order_of(arena, p), text, "%s", line);
    for (int list = PP_PYTORCH_COMMS; list <= PP_PYTORCH_WAITS && !is_foreign; list++)
        check_messages(arena, line, p, (enum pp_pytorch_list)list, text);
}

Test(export_pytorch, every_schedule_comes_back)
{
    for (int s = 0; pp_schedules[s]; s++)
        for (size_t k = 0; k < sizeof(RUNS) / sizeof(*RUNS); k++) {
            char line[256];
            snprintf(line, sizeof(line), "--schedule %s --pp 4 --micro-batches 8 %s",
                     pp_schedules[s]->name, RUNS[k]);
            check_run(line);
        }
}

static void check_golden(const char *name, const char *options, enum pp_pytorch_list list,
                         const char *suffix)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    char *line =
        pp_arena_printf(arena, "--schedule " PP_TESTS_DIR "/golden/%s.csv %s", name, options);
    const char *path = pp_arena_printf(arena, PP_TESTS_DIR "/golden/%s.%s.csv", name, suffix),
               *warning;
    struct pp_result result;
    struct pp_error err = {0};
    size_t length;
    char *want;

    cr_assert_eq(sim_run(arena, line, &result, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_file_read(arena, path, &want, &length, &err), PP_OK, "%s", err.message);
    cr_assert_str_eq(export_of(arena, name, result.program, list, &warning), want);
}

#define UNITS "--unit F=1,I=1,W=1"

Test(export_pytorch, messages_stand_where_pytorch_puts_them)
{
    check_golden("pt_interleaved1f1b_D4_V2_N8", UNITS, PP_PYTORCH_COMMS, "comms");
    check_golden("pt_zbv_D4_N8", UNITS, PP_PYTORCH_COMMS, "comms");
}

Test(export_pytorch, waits_and_sums_stand_where_pytorch_puts_them)
{
    check_golden("pt_interleaved1f1b_D4_V2_N8", UNITS, PP_PYTORCH_WAITS, "waits");
    check_golden("pt_zbv_D4_N8", UNITS, PP_PYTORCH_WAITS, "waits");
}

/* Four stages a rank, of which three are gathered at once. */
Test(export_pytorch, gathers_stand_where_pytorch_puts_them)
{
    check_golden("pt_loopedbfs_D4_V4_N8",
                 "--model gpt2-64 --tp 1 --dp 2 --mbs 1 --zero 3 --engine dag --steps 1",
                 PP_PYTORCH_WAITS, "shards");
}
