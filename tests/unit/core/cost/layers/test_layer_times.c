/* Layer times measured by others against the lists of kernels. gemm_eta, memory_eta and launch_s of
 * the P100 were fitted on the 14 times of BERT-base, so that those of BERT-large say how well they
 * predict. */
#include "core/cost/analytic/parts.h"
#include "tests/unit/support/cost_inputs.h"

#include <math.h>

/* Forward and backward of one encoder block in fp32, 128 tokens a sample, milliseconds.
 * Source: github.com/Shigangli/Chimera, prof/bert-base_time_memory_p100.csv and
 * prof/bert-large_time_memory_p100.csv (time_f, time_b). */
static const struct {
    const char *model;
    int batch;
    double forward_ms, backward_ms;
} p100[] = {
    {"bert-base", 1, 1.0109, 1.2071},     {"bert-base", 2, 1.229, 1.7104},
    {"bert-base", 4, 1.5731, 2.6495},     {"bert-base", 8, 2.7341, 4.651},
    {"bert-base", 16, 5.0354, 8.5966},    {"bert-base", 32, 9.7481, 16.4502},
    {"bert-base", 64, 18.8629, 32.2358},  {"bert-large", 1, 1.1625, 1.6712},
    {"bert-large", 2, 1.515, 2.5648},     {"bert-large", 4, 2.5176, 4.1982},
    {"bert-large", 8, 4.5, 7.6532},       {"bert-large", 16, 9.2986, 14.8756},
    {"bert-large", 32, 16.1004, 26.9529}, {"bert-large", 64, 31.0692, 52.8838},
};
enum { P100_ROWS = sizeof p100 / sizeof *p100, P100_FITTED = P100_ROWS / 2 };

/* Forward and backward as PyTorch launches them, one sample after the other. The host's part
 * follows docs/costs.md, "Backward, recomputation, host". */
struct block_times {
    double forward_ms, backward_ms;
};

static double with_host_ms(double device_s, double launches)
{
    struct pp_error err = {0};
    const struct pp_framework *pytorch = NULL;

    cr_assert_eq(pp_framework_find("fsdp", &pytorch, &err), PP_OK);
    const double host_s = launches * pytorch->kernel_gap_s;
    return 1e3 * fmax(host_s, device_s + pytorch->host_frac * host_s);
}

static struct block_times block_times(const char *name, int batch)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting s = {name, "p100-daint", 1, 1, 1, 1, batch, 128};
    struct pp_model model;
    struct pp_cluster cluster;
    const struct pp_cost_inputs in = inputs_of(arena, s, &model, &cluster);
    const struct pp_layer_work work = pp_analytic_work(&in, 0);
    struct pp_compute pass[PP_PASSES];

    for (int p = 0; p < PP_PASSES; p++)
        pass[p] = pp_analytic_layer(&in, PP_LAYER_BLOCK, work, (enum pp_pass)p);
    const struct pp_compute *f = &pass[PP_PASS_F], *i = &pass[PP_PASS_I], *w = &pass[PP_PASS_W];
    return (struct block_times){with_host_ms(f->s, f->launches),
                                with_host_ms(i->s + w->s, i->launches + w->launches)};
}

struct errors {
    double rms, worst;
    int within; /* an eighth */
};

static struct errors errors_of(int from, int to)
{
    struct errors errors = {0};

    for (int row = from; row < to; row++) {
        const struct block_times t = block_times(p100[row].model, p100[row].batch);
        const double error[] = {t.forward_ms / p100[row].forward_ms - 1,
                                t.backward_ms / p100[row].backward_ms - 1};
        for (int k = 0; k < 2; k++) {
            errors.rms += error[k] * error[k] / (2 * (to - from));
            errors.worst = fmax(errors.worst, fabs(error[k]));
            errors.within += fabs(error[k]) <= 0.125;
        }
    }
    errors.rms = sqrt(errors.rms);
    return errors;
}

Test(layer_times, p100_blocks_follow_the_measured_times)
{
    const struct errors all = errors_of(0, P100_ROWS);

    cr_assert_lt(all.rms, 0.075);
    cr_assert_geq(all.within, 25);
    /* the backward of one sample of BERT-base, 1.2 ms: C++ launches it faster than Python would */
    cr_assert_lt(all.worst, 0.28);
}

Test(layer_times, p100_blocks_that_nothing_was_fitted_on)
{
    const struct errors large = errors_of(P100_FITTED, P100_ROWS);

    cr_assert_lt(large.rms, 0.06);
    /* the other: the forward of batch 16, twice batch 8 and a little more */
    cr_assert_geq(large.within, 13);
    cr_assert_lt(large.worst, 0.145);
}

/* The row that stands for the others: batch 8 of BERT-large, 4.50 and 7.65 ms. */
Test(layer_times, p100_bert_large_batch_8)
{
    const struct block_times t = block_times("bert-large", 8);

    cr_assert_float_eq(t.forward_ms / 4.5000, 0.96, 0.02);
    cr_assert_float_eq(t.backward_ms / 7.6532, 1.02, 0.02);
}

/* What the block saves for its backward, MiB at batch 8: the same files, mem_act. */
Test(layer_times, p100_blocks_save_what_was_measured)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static const struct {
        const char *model;
        double saved_mib;
    } rows[] = {{"bert-base", 66.516}, {"bert-large", 88.016}};

    for (int i = 0; i < 2; i++) {
        const struct setting s = {rows[i].model, "p100-daint", 1, 1, 1, 1, 8, 128};
        struct pp_model model;
        struct pp_cluster cluster;
        const struct pp_cost_inputs in = inputs_of(arena, s, &model, &cluster);
        cr_assert_float_eq(
            pp_analytic_saved_bytes(&in, PP_LAYER_BLOCK) / 0x1p20 / rows[i].saved_mib, 0.95, 0.01);
    }
}
