/* Fused attention against times of cuDNN's kernels. Steps say how fast a device's kernels are, so
 * only the shapes count here: sequences, masks, windows. */
#include "core/cost/analytic/parts.h"
#include "core/quantile.h"

#include "tests/unit/support/cost_inputs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ROWS = 128, MAX_ROW_TEXT = 256 };
struct row {
    char device[8], pass[2], precision[8], mask[8];
    int samples, seq, heads, head_dim, window;
    double ms;
};

static int rows_of(struct row *rows)
{
    FILE *in = fopen(PP_TESTS_DIR "/data/attention_cudnn.csv", "r");
    char line[MAX_ROW_TEXT];
    int count = 0;

    cr_assert_not_null(in);
    while (fgets(line, sizeof line, in)) {
        struct row *r = &rows[count];
        if (line[0] == '#')
            continue;
        cr_assert_lt(count, MAX_ROWS);
        cr_assert_eq(sscanf(line, "%7[^,],%1[^,],%7[^,],%7[^,],%d,%d,%d,%d,%d,%lf", r->device,
                            r->pass, r->precision, r->mask, &r->samples, &r->seq, &r->heads,
                            &r->head_dim, &r->window, &r->ms),
                     10, "%s", line);
        count++;
    }
    fclose(in);
    return count;
}

/* Returns predicted / measured. */
static double ratio_of(const struct row *r, const char *name, bool starts)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const bool is_narrow = !strcmp(r->precision, "fp8");
    const struct setting setting = {"gpt-oss-120b", r->device, 1, 1, 1, 1, r->samples, r->seq};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_error err = {0};
    struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);
    struct pp_layer_kernels list;

    cr_assert_eq(pp_device_set_precision(&cluster.device,
                                         is_narrow ? PP_PRECISION_FP8 : PP_PRECISION_BF16, &err),
                 PP_OK);
    cr_assert_eq(pp_framework_find(name, &in.framework, &err), PP_OK);
    model.heads = model.kv_heads = r->heads;
    model.head_dim = r->head_dim;
    model.is_causal = !strcmp(r->mask, "causal");
    model.window.keys = r->window;
    pp_layer_kernels(&in, PP_LAYER_BLOCK,
                     r->window ? pp_analytic_near_work(&in, 0) : pp_analytic_work(&in, 0),
                     r->pass[0] == 'F' ? PP_PASS_F : PP_PASS_I, &list);
    for (int i = 0; i < list.count; i++)
        if (!strcmp(list.kernel[i].name, "attention")) {
            list.kernel[i].block_s *= starts;
            return pp_kernel_time(&cluster.device, &list.kernel[i]).s / (r->ms * 1e-3);
        }
    cr_assert_fail("no attention");
    return 0;
}

static bool is_alike(const struct row *a, const struct row *b)
{
    return !strcmp(a->device, b->device) && a->pass[0] == b->pass[0] && a->head_dim == b->head_dim;
}

/* Expects the median and p90, in percent, of errors against the median of alike rows. */
static void expect(bool starts, double median, double p90)
{
    struct row rows[MAX_ROWS];
    double ratios[MAX_ROWS], error[MAX_ROWS];
    const int count = rows_of(rows);
    int of = 0;

    for (int i = 0; i < count && !strcmp(rows[i].precision, "bf16"); i++) {
        int alike = 0;
        for (int k = 0; k < count && !strcmp(rows[k].precision, "bf16"); k++)
            if (is_alike(&rows[i], &rows[k]))
                ratios[alike++] = ratio_of(&rows[k], "nemo", starts);
        error[of++] = 100 * fabs(ratio_of(&rows[i], "nemo", starts) / pp_median(ratios, alike) - 1);
    }
    cr_assert_eq(of, 90);
    const double half = pp_median(error, of); /* sorts */
    cr_expect_float_eq(half, median, 0.051, "median %.2f", half);
    cr_expect_float_eq(error[of * 9 / 10], p90, 0.051, "p90 %.2f", error[of * 9 / 10]);
}

Test(attention_times, blocks_start)
{
    expect(true, 2.0, 9.4);
    expect(false, 2.9, 15.1);
}

/* In fp8 the backward of a window takes as long as that of all keys. */
Test(attention_times, windows_are_masked_in_fp8)
{
    struct row rows[MAX_ROWS];
    const int count = rows_of(rows);
    int of = 0;

    for (int i = 0; i < count; i++) {
        if (strcmp(rows[i].precision, "fp8") != 0)
            continue;
        const double ratio = ratio_of(&rows[i], "bridge", true);
        cr_expect(ratio > 0.6 && ratio < 1.2, "%s, %d: %g", rows[i].device, rows[i].seq, ratio);
        of++;
    }
    cr_assert_eq(of, 10);
}
