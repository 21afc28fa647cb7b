/* Every order equals what the public implementations produce, cell for cell; makespan and peaks
 * equal the published figures. tests/golden/README.md describes the index. */
#include "tests/unit/support/golden.h"
#include "tests/unit/support/order_oracle.h"
#include "schedules/registry.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

enum { FILE_, SCHEDULE, PP, VP, N, OPTIONS, RELABEL, MAKESPAN_B2, MAKESPAN_B1, PEAK, COLUMNS };

struct golden {
    char *column[COLUMNS];
    struct pp_shape shape; /* checked */
};
static int checked_calls;

/* Micro-batch ids in the order in which they first appear when reading rank by rank. */
static int label_of(int *labels, int *count, int mb, bool relabel)
{
    if (!relabel)
        return mb;
    for (int i = 0; i < *count; i++)
        if (labels[i] == mb)
            return i;
    labels[(*count)++] = mb;
    return *count - 1;
}

static char *text_of(struct pp_arena *arena, const struct pp_orders *orders, int splits,
                     bool relabel)
{
    char *text = pp_arena_alloc(arena, 1 << 20), *out = text;
    int labels[4096], count = 0;

    for (int rank = 0; rank < orders->ranks; rank++) {
        for (int i = 0; i < orders->count[rank]; i++) {
            const struct pp_op *op = &orders->ops[rank][i];
            const char *kind = op->kind == PP_F   ? "F"
                               : op->kind == PP_B ? "B"
                               : op->kind == PP_I ? "I"
                                                  : "W";
            out += sprintf(out, "%s%d%s%d", op->aux == PP_FUSED_FIRST ? "(" : "", op->stage, kind,
                           label_of(labels, &count, op->mb, relabel));
            if (splits > 1)
                out += sprintf(out, "s%d", op->split);
            out += sprintf(out, "%s",
                           op->aux == PP_FUSED_FIRST    ? ";"
                           : op->aux == PP_FUSED_SECOND ? ")OVERLAP_F_B"
                                                        : "");
            if (op->aux != PP_FUSED_FIRST)
                out += sprintf(out, "%s", i + 1 < orders->count[rank] ? "," : "\n");
        }
    }
    return text;
}

/* The same renaming applied to the text of a file without splits or overlap. */
static char *relabeled(struct pp_arena *arena, const char *text)
{
    char *copy = pp_arena_alloc(arena, 1 << 20), *out = copy;
    int labels[4096], count = 0, length;

    while (*text) {
        int stage, mb;
        char kind;
        if (*text > ' ' && sscanf(text, "%d%c%d%n", &stage, &kind, &mb, &length) == 3) {
            out += sprintf(out, "%d%c%d", stage, kind, label_of(labels, &count, mb, true));
            text += length;
        } else {
            *out++ = *text++;
        }
    }
    return copy;
}

static void check_row(struct pp_arena *arena, struct golden *row)
{
    char **c = row->column;
    const struct pp_schedule *schedule = pp_schedule_find(c[SCHEDULE]);
    struct pp_shape shape = {
        .ranks = atoi(c[PP]), .chunks = atoi(c[VP]), .micro_batches = atoi(c[N])};
    struct pp_orders *orders;
    struct pp_order_maps maps;
    struct pp_error err;
    const bool relabel = strcmp(c[RELABEL], "yes") == 0;

    cr_assert_not_null(schedule, "%s", c[SCHEDULE]);
    golden_options(schedule, &shape, c[OPTIONS]);
    cr_assert_eq(pp_schedule_check(schedule, &shape, &err), PP_OK, "%s: %s", c[FILE_], err.message);
    cr_assert_eq(pp_schedule_orders(arena, schedule, &shape, NULL, &orders, &maps, &err), PP_OK);
    row->shape = shape;
    const char *want = golden_slurp(arena, c[FILE_]);
    const char *got = text_of(arena, orders, shape.splits, relabel);
    cr_expect_str_eq(got, relabel ? relabeled(arena, want) : want, "%s:\n%s", c[FILE_], got);

    for (int b = 1; b <= 2; b++) {
        struct oracle o = {.shape = &shape, .orders = orders, .maps = &maps};
        o.cost[PP_F] = 2, o.cost[PP_B] = 2 * b, o.cost[PP_I] = o.cost[PP_W] = b;
        oracle_run(arena, &o);
        cr_expect_null(o.fault, "%s: %s", c[FILE_], o.fault);
        cr_expect_eq(o.makespan, 2 * atoi(c[b == 1 ? MAKESPAN_B1 : MAKESPAN_B2]), "%s B=%d: %d",
                     c[FILE_], b, (int)o.makespan);
        char *peaks = c[PEAK];
        for (int rank = 0; b == 1 && rank < shape.ranks; rank++)
            cr_expect_eq(o.peak[rank] * shape.splits, strtol(peaks, &peaks, 10), "%s", c[FILE_]);
    }
}

/* Frameworks that made an order are said to run it. */
static void check_call(const struct golden *row)
{
    static const struct {
        const char *prefix, *tool;
    } makers[] = {{"pt_", "torchtitan"}, {"megatron_", "megatron"}, {"ds_", "deepspeed"}};
    const struct pp_schedule *schedule = pp_schedule_find(row->column[SCHEDULE]);

    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
        const struct pp_schedule_call *call = pp_schedule_called(schedule, makers[i].tool);
        if (strncmp(row->column[FILE_], makers[i].prefix, strlen(makers[i].prefix)) != 0 || !call ||
            (schedule->chunks == 0 && atoi(row->column[VP]) == 1))
            continue;
        checked_calls++;
        cr_expect(!call->is_same || call->is_same(&row->shape), "%s", row->column[FILE_]);
    }
}

Test(golden, every_order_equals_its_public_implementation)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    char *lines = NULL;
    int rows = 0;

    strtok_r(golden_slurp(arena, "index.csv"), "\n", &lines);
    for (char *line; (line = strtok_r(NULL, "\n", &lines)) != NULL; rows++) {
        struct golden row;
        for (int i = 0; i < COLUMNS; i++)
            row.column[i] = strsep(&line, ",");
        check_row(arena, &row);
        check_call(&row);
    }
    cr_assert_geq(checked_calls, 25);
    cr_assert_geq(rows, 52);
}
