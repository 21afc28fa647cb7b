#include "core/cost/measured/file.h"

#include "core/units.h"
#include "tests/unit/support/cost_inputs.h"

#include <string.h>

#define SHAPE                                                                                      \
    "\"shape\":{\"hidden\":128,\"heads\":4,\"kv_heads\":4,\"ffn\":512,\"vocab\":256,"              \
    "\"is_gated\":0,\"rows\":4,\"seq\":64,\"splits\":1,\"split\":0}"
#define OP(block, embedding, head, op)                                                             \
    "{\"block_s\":" #block ",\"embedding_s\":" #embedding ",\"head_s\":" #head ",\"op_s\":" #op    \
    ",\"samples\":9,\"residual_frac\":0.01}"
#define FILE_WITH(bytes, layers, channels)                                                         \
    "{\"schema\":\"pipesim.cost/1\",\"version\":\"1\",\"machine\":\"m\",\"model\":[],"             \
    "\"value_bytes\":" #bytes ",\"gradient_bytes\":8,\"is_clipped\":true,\"layers\":[" layers      \
    "],\"update\":{\"param_s\":1e-9,\"op_s\":1e-6,\"samples\":3},\"channels\":[" channels          \
    "],\"traces\":[{}],\"left_out\":[],\"logs\":[]}"
#define CHANNEL(name, ranks)                                                                       \
    "{\"name\":\"" name "\",\"alpha_s\":1e-5,\"s_per_byte\":1e-10,\"ranks\":" #ranks               \
    ",\"samples\":5,\"residual_frac\":0}"
#define FILE_OF(layers) FILE_WITH(4, layers, CHANNEL("wire", 0))
#define NAMED(kind)     ",\"" kind "\":"
#define BLOCK(n)        OP(n, 0, 0, 0)
#define F_QUARTERS      NAMED("F") OP(1, 0.25, 0.5, 0.125)
#define SHAPE_AGAIN(modules)                                                                       \
    "\"shape\":{\"hidden\":128,\"heads\":4,\"kv_heads\":4,\"ffn\":512,\"vocab\":256,"              \
    "\"is_gated\":0,\"rows\":4,\"seq\":64,\"splits\":1,\"split\":0,\"recomputed\":\"" modules      \
    "\"}"
#define SHAPE_TP(sequence)                                                                         \
    "\"shape\":{\"hidden\":128,\"heads\":4,\"kv_heads\":4,\"ffn\":512,\"vocab\":256,\"tp\":2,"     \
    "\"is_sequence\":" #sequence ",\"is_gated\":0,\"rows\":4,\"seq\":64,\"splits\":1,\"split\":0}"
#define FB  "{" SHAPE F_QUARTERS NAMED("B") OP(2, 0.5, 1, 0.25) "}"
#define FIW "{" SHAPE NAMED("F") BLOCK(1) NAMED("I") BLOCK(2) NAMED("W") BLOCK(3) "}"

static enum pp_status parse(struct pp_arena *arena, const char *text,
                            const struct pp_cost_file **file, struct pp_error *err)
{
    return pp_cost_file_parse(arena, "c.json", text, strlen(text), file, err);
}

struct applied {
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in;
    struct pp_costs *costs;
    enum pp_precision precision; /* 0: fp32 */
    struct pp_recompute_choice choice;
    bool is_tp_only;
};

static enum pp_status apply(struct pp_arena *arena, const char *text, struct setting s,
                            struct applied *a, struct pp_error *err)
{
    const struct pp_cost_file *file;

    cr_assert_eq(parse(arena, text, &file, err), PP_OK, "%s", err->message);
    a->in = inputs_of(arena, s, &a->model, &a->cluster);
    a->in.is_tp_only = a->is_tp_only;
    a->in.recompute = a->choice.how;
    a->in.again = a->choice.again;
    a->in.first_stage_ratio = a->choice.first_stage_ratio;
    cr_assert_eq(pp_device_set_precision(&a->cluster.device, a->precision, err), PP_OK);
    a->costs = costs_of(arena, &a->in);
    return pp_cost_file_apply(arena, file, &a->in, a->costs, err);
}

static double s_of(const struct applied *a, int kind, int stage)
{
    return pp_units_s(a->costs->op[kind][stage].ps);
}

static const struct setting tiny = {"tiny", "h100", 1, 4, 2, 1, 4, 64};

Test(cost_file, stages_are_sums_of_layers)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct applied a = {0};

    cr_assert_eq(apply(arena, FILE_OF(FB), tiny, &a, &err), PP_OK, "%s", err.message);
    cr_assert_float_eq(s_of(&a, PP_F, 0), 2 + 0.25 + 0.125, 1e-9);
    cr_assert_float_eq(s_of(&a, PP_F, 1), 2 + 0.125, 1e-9);
    cr_assert_float_eq(s_of(&a, PP_F, 3), 2 + 0.5 + 0.125, 1e-9);
    cr_assert_float_eq(s_of(&a, PP_B, 3), 4 + 1 + 0.25, 1e-9);
    cr_assert_float_eq(s_of(&a, PP_I, 3) + s_of(&a, PP_W, 3), s_of(&a, PP_B, 3), 1e-9);
    cr_assert(a.costs->is_calibrated && !strcmp(a.costs->origin, "measured"));
    cr_assert_not_null(strstr(a.costs->source, "c.json: 1 trace, m"));
    for (int s = 0; s < 4; s++)
        cr_assert_float_eq(s_of(&a, PP_U, s), 1e-6 + 1e-9 * pp_cost_stage_params(&a.in, s), 1e-11);
}

Test(cost_file, messages_and_sums)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct applied a = {0};
    double latency_s;

    cr_assert_eq(apply(arena, FILE_OF(FB), tiny, &a, &err), PP_OK, "%s", err.message);
    const struct pp_op send = {.kind = PP_SEND_F, .stage = 0, .granules = 1, .peer = 1};
    const double bytes = 4.0 * 64 * 128 * 4;
    cr_assert_float_eq(pp_units_s(pp_costs_p2p(a.costs, &send, 0).ps), 1e-5 + bytes * 1e-10, 1e-11);
    /* two replicas: two steps of half of the gradients, 8 bytes each */
    const double sum = pp_cost_stage_params(&a.in, 1) * 8;
    cr_assert_float_eq(s_of(&a, PP_AR, 1), 2 * (1e-5 + sum / 2 * 1e-10), 1e-10);

    const struct pp_measured_line lines[] = {
        {.name = "all_reduce", .alpha_s = 6e-6, .s_per_byte = 1e-11, .ranks = 4}};
    const struct pp_cost_file file = {.lines = (struct pp_measured_line *)lines, .line_count = 1};
    cr_assert_float_eq(pp_cost_file_sum_s(&file, PP_AR, 4, 1e9, &latency_s), 6e-6 + 0.01, 1e-12);
    cr_assert_float_eq(pp_cost_file_sum_s(&file, PP_AR, 2, 1e9, &latency_s), 2e-6 + 0.01 / 1.5,
                       1e-12);
    cr_assert_float_eq(latency_s, 2e-6, 1e-15);
}

Test(cost_file, a_full_backward_is_both_halves)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct applied a = {0};

    cr_assert_eq(apply(arena, FILE_OF(FIW), tiny, &a, &err), PP_OK, "%s", err.message);
    cr_assert_float_eq(s_of(&a, PP_B, 1), 10, 1e-9);
    cr_assert_float_eq(s_of(&a, PP_W, 1), 6, 1e-9);
}

#define F_R(shape, r) "{" shape F_QUARTERS NAMED("B") BLOCK(2) NAMED("R") r "}"
#define OF_CORE       F_R(SHAPE_AGAIN("core_attn"), OP(0.5, 9, 9, 0.25))
#define OF_STAGES     F_R(SHAPE, OP(1, 2, 4, 0.5))

/* Parts of blocks are of all blocks and of no other layer; stage-aware has whole blocks. */
Test(cost_file, recomputations_have_their_own_layers)
{
    static const struct {
        const char *text;
        struct pp_recompute_choice choice;
        double r_s[4];
    } cases[] = {
        {FILE_OF(OF_CORE), {PP_RECOMPUTE_SELECTIVE, PP_AGAIN_CORE, 0}, {1.25, 1.25, 1.25, 1.25}},
        {FILE_OF(OF_CORE), {PP_RECOMPUTE_SELECTIVE, 0, 0}, {1.25, 1.25, 1.25, 1.25}},
        {FILE_OF(OF_STAGES), {PP_RECOMPUTE_FULL, 0, 0}, {4.5, 2.5, 2.5, 6.5}},
        {FILE_OF(OF_STAGES), {PP_RECOMPUTE_STAGE, 0, 0.5}, {1.5, 1.5, 0.5, 0.5}},
        {FILE_OF(FB), {PP_RECOMPUTE_FULL, 0, 0}, {2.375, 2.125, 2.125, 2.625}},
        {FILE_OF(FB), {PP_RECOMPUTE_STAGE, 0, 0.5}, {1.125, 1.125, 0.125, 0.125}},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t k = 0; k < PP_COUNT(cases); k++) {
        struct pp_error err = {0};
        struct applied a = {.choice = cases[k].choice};
        cr_assert_eq(apply(arena, cases[k].text, tiny, &a, &err), PP_OK, "%zu: %s", k, err.message);
        for (int stage = 0; stage < 4; stage++)
            cr_assert_float_eq(s_of(&a, PP_R, stage), cases[k].r_s[stage], 1e-9, "%zu: %d: %g", k,
                               stage, s_of(&a, PP_R, stage));
    }
}

/* Workers that share tokens send their part of a message each. */
Test(cost_file, tensor_parallelism_as_measured)
{
    static const struct {
        const char *text;
        int tp, bytes;
        bool is_tp_only;
        const char *why;
    } cases[] = {
        {FILE_OF("{" SHAPE_TP(1) F_QUARTERS NAMED("B") BLOCK(2) "}"), 2, 65536, false, NULL},
        {FILE_OF("{" SHAPE_TP(0) F_QUARTERS NAMED("B") BLOCK(2) "}"), 2, 131072, true, NULL},
        {FILE_OF("{" SHAPE_TP(0) F_QUARTERS NAMED("B") BLOCK(2) "}"), 2, 0, false,
         "--sequence-parallel off"},
        {FILE_OF("{" SHAPE_TP(1) F_QUARTERS NAMED("B") BLOCK(2) "}"), 1, 0, false,
         "no durations of --tp 1: --tp 2, as was measured"},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t k = 0; k < PP_COUNT(cases); k++) {
        struct pp_error err = {0};
        struct applied a = {.is_tp_only = cases[k].is_tp_only};
        struct setting s = tiny;
        s.tp = cases[k].tp;
        cr_assert_eq(apply(arena, cases[k].text, s, &a, &err), cases[k].why ? PP_EINVAL : PP_OK,
                     "%zu: %s", k, err.message);
        cr_assert(!cases[k].why || strstr(err.message, cases[k].why), "%zu: %s", k, err.message);
        cr_assert(cases[k].why || a.costs->memory[0].boundary_bytes == cases[k].bytes, "%zu", k);
    }
}

Test(cost_file, other_recomputations_are_refused_with_those_measured)
{
    static const struct {
        const char *text;
        struct pp_recompute_choice choice;
        const char *why;
    } cases[] = {
        {FILE_OF(FB),
         {PP_RECOMPUTE_SELECTIVE, PP_AGAIN_NORM | PP_AGAIN_ACT, 0},
         "no durations of --recompute selective=layernorm+act: --recompute none, full or "
         "stage-aware=R, as was measured"},
        {FILE_OF(OF_CORE), {PP_RECOMPUTE_NONE, 0, 0}, "--recompute selective=core_attn, as was"},
        {FILE_OF(OF_CORE "," FB),
         {PP_RECOMPUTE_SELECTIVE, PP_AGAIN_MLP, 0},
         "--recompute selective=core_attn, or none, full or stage-aware=R, as was measured"},
        {FILE_OF("{" SHAPE_AGAIN("act") F_QUARTERS NAMED("B") BLOCK(2) "}"),
         {PP_RECOMPUTE_SELECTIVE, PP_AGAIN_ACT, 0},
         "no durations of R: calibrate"},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t k = 0; k < PP_COUNT(cases); k++) {
        struct pp_error err = {0};
        struct applied a = {.choice = cases[k].choice};
        cr_assert_eq(apply(arena, cases[k].text, tiny, &a, &err), PP_EINVAL, "%zu", k);
        cr_assert_not_null(strstr(err.message, cases[k].why), "%s", err.message);
    }
}

Test(cost_file, other_shapes_are_refused_with_those_measured)
{
    static const struct {
        struct setting setting;
        const char *why;
    } cases[] = {
        {{"tiny", "h100", 1, 4, 1, 1, 8, 64}, "8 samples of 64"},
        {{"tiny", "h100", 1, 4, 1, 1, 4, 32}, "4 samples of 32"},
        {{"gpt2", "h100", 1, 4, 1, 1, 4, 64}, "hidden 768"},
        {{"tiny", "h100", 2, 4, 1, 1, 4, 64}, "--tp 1"},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct pp_error err = {0};
        struct applied a = {0};
        cr_assert_eq(apply(arena, FILE_OF(FB), cases[k].setting, &a, &err), PP_EINVAL);
        cr_assert_not_null(strstr(err.message, cases[k].why), "%s", err.message);
    }
}

/* One line serves both; a sum among one rank says nothing. */
Test(cost_file, channels_that_were_never_measured)
{
    static const struct {
        const char *text, *why; /* why NULL: taken */
        int pp, dp;
    } cases[] = {
        {FILE_WITH(4, FB, ""), "no durations of messages", 4, 1},
        {FILE_WITH(4, FB, ""), "no durations of gradient sums", 1, 2},
        {FILE_WITH(4, FB, ""), NULL, 1, 1},
        {FILE_WITH(4, FB, CHANNEL("all_gather", 2)), "--pp 2, or --nccl-tests", 2, 1},
        {FILE_WITH(4, FB, CHANNEL("all_reduce", 2)), "no durations of messages", 2, 2},
        {FILE_WITH(4, FB, CHANNEL("all_reduce", 1)), "no durations of gradient sums", 1, 2},
        {FILE_WITH(4, FB, CHANNEL("all_reduce", 2)), NULL, 1, 2},
        {FILE_WITH(4, FB, CHANNEL("sendrecv", 2)), NULL, 4, 2},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        const struct setting s = {"tiny", "h100", 1, cases[k].pp, cases[k].dp, 1, 4, 64};
        struct pp_error err = {0};
        struct applied a = {0};
        cr_assert_eq(apply(arena, cases[k].text, s, &a, &err), cases[k].why ? PP_EINVAL : PP_OK,
                     "%zu: %s", k, err.message);
        cr_assert(!cases[k].why || strstr(err.message, cases[k].why), "%zu: %s", k, err.message);
        for (int stage = 0; !cases[k].why && cases[k].dp > 1 && stage < cases[k].pp; stage++)
            cr_assert_gt(s_of(&a, PP_AR, stage), 1e-5, "%zu", k);
        cr_assert(cases[k].why || cases[k].pp == 1 || a.costs->alpha_ps[0] == 10000000, "%zu", k);
    }
}

Test(cost_file, another_precision_is_refused)
{
    static const struct {
        const char *text, *why;
        enum pp_precision precision;
    } cases[] = {
        {FILE_OF(FB), "no durations of bf16: --precision fp32", PP_PRECISION_BF16},
        {FILE_OF(FB), NULL, PP_PRECISION_FP32},
        {FILE_WITH(2, FB, CHANNEL("wire", 0)), "of fp32: --precision bf16", PP_PRECISION_FP32},
        {FILE_WITH(2, FB, CHANNEL("wire", 0)), NULL, PP_PRECISION_BF16},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct pp_error err = {0};
        struct applied a = {.precision = cases[k].precision};
        cr_assert_eq(apply(arena, cases[k].text, tiny, &a, &err), cases[k].why ? PP_EINVAL : PP_OK,
                     "%zu: %s", k, err.message);
        cr_assert(!cases[k].why || strstr(err.message, cases[k].why), "%zu: %s", k, err.message);
    }
}

Test(cost_file, bad_files_are_refused)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "c.json"},
        {"{}", "c.json holds no costs: pipesim calibrate"},
        {"[]", "c.json holds no costs: pipesim calibrate"},
        {"step,rank", "c.json holds no costs: pipesim calibrate"},
        {"{\"schema\":\"pipeexec.report/1\"}", "pipeexec ... --trace t.json, then"},
        {"{\"schema\":\"pipesim.cost/2\"}", "expected 'pipesim.cost/1'"},
        {"{\"schema\":\"pipesim.cost/\\u001b[2J\"}", "is 'pipesim.cost/\\x1b[2J', expected"},
        {FILE_WITH(8, FB, ""), "\"value_bytes\" is 8, must be 4 (fp32) or 2 (bf16)"},
        {FILE_OF(""), "\"layers\" is empty"},
        {FILE_OF("{\"F\":" OP(1, 0, 0, 0) "}"), "\"shape\" is missing (in \"layers\"[0])"},
        {FILE_OF("{" SHAPE ",\"F\":" OP(-1, 0, 0, 0) "}"), "\"block_s\" is -1"},
        {FILE_OF("{" SHAPE ",\"G\":" OP(1, 0, 0, 0) "}"), "unknown key \"G\""},
        {FILE_OF("{" SHAPE ",\"F\":{\"blocks_s\":1}}"), "did you mean \"block_s\"?"},
        {FILE_OF("{" SHAPE_AGAIN("core") "}"), "\"recomputed\" is 'core': expected modules"},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct pp_error err = {0};
        const struct pp_cost_file *file;
        cr_assert_eq(parse(arena, cases[k].text, &file, &err), PP_EINVAL, "%zu", k);
        cr_assert_not_null(strstr(err.message, cases[k].why), "%s", err.message);
    }
}
