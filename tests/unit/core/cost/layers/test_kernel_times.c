/* Layer and stage times measured by others on A100-SXM4-80GB against the lists of kernels. The
 * constants of the A100 were fitted to some of these rows (docs/costs.md). So the tolerances show
 * how well the shape of the formulas follows them. */
#include "core/cost/analytic/parts.h"
#include "core/cost/framework.h"
#include "core/units.h"
#include "tests/unit/support/cost_inputs.h"

#include <math.h>

struct row {
    const char *what;
    int hidden, heads, vocab, seq, mbs, tp, layers;
    bool is_unfused;
    double forward_ms, input_ms, weight_ms; /* weight 0: input_ms is the whole backward */
};

static const struct row rows[] = {
    /* Qi et al. 2024 (zero bubble), table 6: stages in the middle, profiled F, B, W */
    {"zb 1.5B", 2304, 24, 50304, 1024, 6, 1, 3, true, 18.522, 18.086, 9.337},
    {"zb 6.2B", 4096, 32, 50304, 1024, 3, 1, 4, true, 29.802, 29.428, 19.530},
    {"zb 14.6B", 5120, 40, 50304, 1024, 1, 1, 3, true, 11.347, 11.248, 8.132},
    {"zb 28.3B", 6144, 48, 50304, 1024, 1, 1, 2, true, 10.419, 10.207, 7.715},
    /* sail-sg/VocabularyParallelism, exp_one_host.csv: stages in the middle, plain 1F1B */
    {"vocabpar", 3072, 24, 32000, 2048, 1, 1, 4, false, 10.6, 21.3, 0},
    /* Korthikanti et al. 2022, table 4: one layer of the 22B model with sequence parallelism */
    {"seqpar", 6144, 64, 51200, 2048, 4, 8, 1, true, 7.2, 11.8, 0},
};
enum { ROWS = sizeof rows / sizeof *rows };

static struct pp_cost_inputs inputs_of_row(struct pp_arena *arena, const struct row *row,
                                           struct pp_model *model, struct pp_cluster *cluster)
{
    const struct setting s = {"gpt2-xl", "a100", row->tp, 1, 1, 1, row->mbs, row->seq};
    struct pp_cost_inputs in = inputs_of(arena, s, model, cluster);
    struct pp_error err = {0};

    model->hidden = row->hidden;
    model->heads = model->kv_heads = row->heads;
    model->head_dim = row->hidden / row->heads;
    model->ffn = 4 * row->hidden;
    model->vocab = row->vocab;
    cluster->device.is_attention_unfused = row->is_unfused;
    cr_assert_eq(pp_framework_find("megatron", &in.framework, &err), PP_OK);
    return in;
}

static double ms(const struct pp_cost_inputs *in, enum pp_layer_kind kind, enum pp_pass pass)
{
    const struct pp_layer_work work = pp_analytic_work(in, 0);

    return 1e3 *
           (pp_analytic_layer(in, kind, work, pass).s + pp_analytic_tp_s(in, kind, work, pass));
}

Test(kernel_times, a100_layers_take_what_was_measured)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (int i = 0; i < ROWS; i++) {
        struct pp_model model;
        struct pp_cluster cluster;
        const struct row *row = &rows[i];
        const struct pp_cost_inputs in = inputs_of_row(arena, row, &model, &cluster);
        const double f = row->layers * ms(&in, PP_LAYER_BLOCK, PP_PASS_F),
                     g = row->layers * ms(&in, PP_LAYER_BLOCK, PP_PASS_I),
                     w = row->layers * ms(&in, PP_LAYER_BLOCK, PP_PASS_W);
        const double step = f + g + w, measured = row->forward_ms + row->input_ms + row->weight_ms;
        cr_log_info("%s: F %.2f of %.2f (%+.0f %%), I %.2f of %.2f, W %.2f of %.2f, all %+.1f %%\n",
                    row->what, f, row->forward_ms, 100 * (f / row->forward_ms - 1), g,
                    row->input_ms, w, row->weight_ms, 100 * (step / measured - 1));
        cr_expect(fabs(step / measured - 1) < 0.15, "%s", row->what);
    }
}

/* Softmax in fp32 between 16-bit products passes over 24 and 14 bytes a score, one kernel over 4
 * and 6. */
Test(kernel_times, softmax_in_fp32_passes_over_wider_scores)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting setting = {"gpt3-175b", "a100", 1, 1, 1, 1, 4, 2048};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);
    struct pp_framework wide = *pp_framework_plain;
    const double scores = 4.0 * model.heads * 2048 * 2048 * model.layers,
                 rate = cluster.device.memory_bytes_per_s * cluster.device.memory_eta;

    cluster.device.launch_s = 0;
    cluster.device.is_attention_unfused = true;
    const struct pp_costs *one = costs_of(arena, &in);
    wide.softmax = PP_SOFTMAX_WIDE;
    in.framework = &wide;
    const struct pp_costs *cut = costs_of(arena, &in);
    cr_assert_float_eq(pp_units_s(cut->op[PP_F][0].ps - one->op[PP_F][0].ps) /
                           (scores * (24 - 4) / rate),
                       1, 1e-6);
    cr_assert_float_eq(pp_units_s(cut->op[PP_I][0].ps - one->op[PP_I][0].ps) /
                           (scores * (14 - 6) / rate),
                       1, 1e-6);
}
