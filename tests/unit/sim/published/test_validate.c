/* Rows of published measurements: patterns of words, the commands rows stand for, what is read of
 * the measured. */
#include "sim/published/parts.h"
#include "tests/unit/sim/published/measurement.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

Test(validate, patterns)
{
    static const struct {
        const char *cell, *pattern;
        bool is_match;
    } cases[] = {
        {"none", "=none", true},
        {"none (x)", "=none", false},
        {"None", "=none", true},
        {"1f1b+vocab-1", "vocab-1", true},
        {"1f1b+vocab-1", "vocab-2", false},
        {"fsdp2", "^fsdp", true},
        {"my fsdp", "^fsdp", false},
        {"", "", true},
        {"x", "", false},
        {"2021", "<2023", true},
        {"2023", "<2023", false},
        {"", "<2023", false},
        {"A100-SXM4-40GB", "a100*40gb", true},
        {"A100-SXM4-80GB", "a100*40gb", false},
        {"3 (hpz=8, no quant)", "hpz=#", true},
        {"3 (hpz=, no quant)", "hpz=#", false},
        {"", "*", true},
        {"anything", "*", true},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        cr_assert(eq(int, pp_measure_matches(cases[i].cell, cases[i].pattern), cases[i].is_match),
                  "\"%s\" and \"%s\"", cases[i].cell, cases[i].pattern);
    cr_assert(
        eq(int, pp_measure_number_in("1 (sharded within 16 GPUs)", "^1 (sharded within #"), 16));
    cr_assert(eq(int, pp_measure_number_in("none", "^1 (sharded within #"), 0));
}

/* ---- rows -------------------------------------------------------------------------------- */

#define GPT(schedule, vp, zero, recompute)                                                         \
    "a,b,2024,GPT 1B,,24,2048,16,,51200,2048,A100-SXM4-80GB,16,8,bf16,2,4,2,1," schedule "," vp    \
    ",1,16," zero "," recompute ",1,1,,,"

Test(validate, words_of_schedules)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static const struct {
        const char *line, *option, *value;
    } cases[] = {
        {GPT("1f1b", "1", "0", "none"), "--schedule", "1f1b"},
        {GPT("1f1b", "1", "0", "none"), "--vp", NULL},
        {GPT("1f1b-interleaved", "3", "0", "none"), "--schedule", "interleaved"},
        {GPT("1f1b-interleaved", "3", "0", "none"), "--vp", "3"},
        {GPT("1f1b-interleaved", "1", "0", "none"), "--schedule", "1f1b"},
        {GPT("1f1b (layers redistributed)", "1", "0", "none"), "--head", "balanced"},
        {GPT("\"zb-2p (all-reduce sync, no post-validation)\"", "1", "0", "none"),
         "--max-activations", "8"},
        {GPT("dualpipev", "1", "0", "none"), "--schedule", "dualpipev"},
        {GPT("1F1B-I", "3", "0", "none"), "--vp", "3"},
        {GPT("1F1B interleaved", "3", "0", "none"), "--schedule", "interleaved"},
        {GPT("breadth-first", "3", "0", "none"), "--vp", "3"},
        {GPT("ZB-1p", "none", "0", "none"), "--max-activations", "4"},
        {GPT("V-Half", "2", "0", "none"), "--schedule", "V-Half"},
        {GPT("V-Half", "2", "0", "none"), "--vp", NULL},
        {GPT("", "2", "0", "none"), "--schedule", "interleaved"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check_word(arena, cases[i].line, cases[i].option, cases[i].value);
}

#define GPT_OF(layers, schedule, vp)                                                               \
    "a,b,2024,GPT 1B,," layers ",2048,16,,51200,2048,A100-SXM4-80GB,16,8,bf16,2,4,2,1," schedule   \
    "," vp ",1,16,0,none,1,1,,,"

/* Layers to which two are missing. */
Test(validate, counts_of_layers_say_where_embedding_and_head_are)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    check_word(arena, GPT_OF("22", "1f1b", "1"), "--head", "counted");
    check_word(arena, GPT_OF("22", "1F1B-I", "6"), "--head", "counted");
    check_word(arena, GPT_OF("22", "zbv", "2"), "--head", "counted"); /* two chunks by itself */
    check_word(arena, GPT_OF("24", "1f1b", "1"), "--head", NULL);
    check_word(arena, GPT_OF("23", "1f1b", "1"), "--head", NULL);
    check_word(arena, GPT_OF("26", "1F1B-I", "2"), "--head", NULL);
    check_word(arena, GPT_OF("22", "1f1b vocab-1", "1"), "--head", "parallel-twice");
}

Test(validate, words_of_state)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static const struct {
        const char *zero, *option, *value;
    } cases[] = {
        {"0", "--zero", "0"},
        {"1 (distributed optimizer)", "--zero", "1"},
        {"2", "--zero", "2"},
        {"ZeRO-3", "--zero", "3"},
        {"DDP", "--zero", "0"},
        {"fsdp shard_grad_op (zero2)", "--zero", "2"},
        {"fsdp full_shard (zero3)", "--zero", "3"},
        {"fsdp full_shard (zero3)", "--framework", "fsdp"},
        {"fsdp2", "--framework", "fsdp"},
        {"1 (sharded within 8 GPUs)", "--shard", "os=8x1"},
        {"1 (sharded within 16 GPUs)", "--shard", "os=8x2"},
        {"1 (sharded within 8 GPUs)", "--zero", NULL},
        {"2 (sharding degree 4)", "--shard", "g=4x1,os=4x1"},
        {"3 within sub-group", "--shard", "p=8x1,g=8x1,os=8x1"},
        {"\"3 (hpz=8, no quant)\"", "--zero", "3"},
        {"\"3 (hpz=8, no quant)\"", "--secondary", "8x1"},
        {"\"custom P/G/OS sharding (7B:1/1/8, 1.3B:4/4/32)\"", "--shard", "p=4x1,g=4x1,os=8x4"},
        {"", "--zero", NULL},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check_word(arena,
                   pp_arena_printf(arena,
                                   "a,b,2024,GPT,1.3,24,2048,16,,51200,2048,A100,32,8,bf16,1,1,32,"
                                   "1,none,1,1,32,%s,full,0,1,,,",
                                   cases[i].zero),
                   cases[i].option, cases[i].value);
}

Test(validate, words_of_devices)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static const char *const cases[][2] = {
        {"A100-SXM4-80GB", "a100 gpu:8"},
        {"A100-SXM4-40GB (DGX-A100)", "a100-40 gpu:8"},
        {"A100-class Ampere 80GB", "a100 gpu:8"},
        {"A800-SXM-80GB", "a800 gpu:8"},
        {"V100-SXM2-16GB (p3.16xlarge)", "v100-16 gpu:8"},
        {"V100-SXM3-32GB (DGX-2)", "v100-dgx2 gpu:8"},
        {"H100", "h100 gpu:8"},
        {"\"H100-SXM-96GB (HBM2e, 500W)\"", "h100 memory:95GiB hbm:2.4TBps peak:850TF gpu:8"},
        {"H800-SXM-80GB", "h800 gpu:8"},
        {"H200-SXM-141GB", "h200 gpu:8"},
        {"B200", "b200 gpu:8"},
        {"\"GB200 (4/node, NVL72)\"", "gb200"},
        {"GB300", "gb300"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check_word(arena,
                   pp_arena_printf(arena,
                                   "a,b,2024,GPT,,24,2048,16,,51200,2048,%s,32,8,bf16,1,1,32,1,"
                                   "none,1,1,32,0,full,0,1,,,",
                                   cases[i][0]),
                   "--cluster", cases[i][1]);
}

/* Kinds of matrices: by name, by the feed-forward size, by the number of parameters. */
Test(validate, words_of_models)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static const struct {
        const char *model, *option, *value;
    } cases[] = {
        /* name, params_b, layers, hidden, heads, ffn, vocab */
        {"Llama 2 7B,6.74,32,4096,32,11008,32000", "--mlp", "gated"},
        {"Llama 2 7B,6.74,32,4096,32,11008,32000", "--embedding", "untied"},
        {"GPT-1.7B,1.7,24,2304,24,9216,51200", "--mlp", "plain"},
        {"GPT-1.7B,1.7,24,2304,24,9216,51200", "--embedding", "tied"},
        {"GPT 1.3B,1.41,24,2048,16,8192,51200", "--embedding", "untied"}, /* 1.21 + 2 * 0.105 */
        {"Mystery,8.03,32,4096,32,14336,128256", "--mlp", "gated"},
        {"Mystery,,32,4096,32,16384,32000", "--mlp", "plain"},
        {"GPT 14.6B,14.6,46,5120,40,20480,", "--vocab", "32000"},
        {"DeepSeekV3,671,61,7168,128,18432,129280", "--layers", NULL},
        {"Grok-1 314B (4-layer proxy),,4,6144,48,32768,131072", "--layers", "4"},
        {"InternLM-20B,20,,,,,", "--layers", "60"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check_word(arena,
                   pp_arena_printf(arena,
                                   "a,b,2024,%s,1024,A100,32,8,bf16,1,1,32,1,none,1,1,32,0,full,0,"
                                   "1,,,",
                                   cases[i].model),
                   cases[i].option, cases[i].value);
}

Test(validate, refused)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static const char *const cases[][2] = {
        {"a,b,2024,GPT,,24,2048,16,,,2048,A100,32,8,bf16,1,1,32,1,none,1,,32,0,full,0,1,,,",
         "missing: vocab"},
        {"a,b,2024,GPT,,24,2048,16,,100,2048,A100,32,8,bf16,1,2,32,1,1f1b,1,1,32,0,full,0,1,,,",
         "contradiction: gpus 32 is not tp 1 * pp 2 * dp 32 * cp 1 = 64"},
        {"a,b,2024,GPT,,24,2048,16,,100,2048,A100,32,8,bf16,1,1,32,1,none,1,3,32,0,full,0,1,,,",
         "contradiction: gbs 32 is not a multiple of mbs 3 * dp 32 = 96"},
        {"a,b,2024,GPT,,24,2048,17,,100,2048,A100,32,8,bf16,1,1,32,1,none,1,1,32,0,full,0,1,,,",
         "contradiction: hidden 2048 is no multiple of heads 17"},
        {"a,b,2024,GPT,,24,2048,16,,100,2048,A100,32,8,bf16,1,2,16,1,none,1,1,32,0,full,0,1,,,",
         "contradiction: schedule none with pp 2"},
        {"a,b,2024,GPT,,25,2048,16,,100,2048,A100,32,8,bf16,1,2,16,1,1f1b-interleaved,,1,32,0,full,"
         "0,1,,,",
         "missing: vp"},
        {"a,b,2024,GPT,,24,2048,16,,100,2048,A100,32,8,bf16,1,1,32,1,none,1,,33,0,full,0,1,,,",
         "missing: mbs"},
        {"a,b,2024,GPT,,24,2048,16,,100,2048,Abacus,32,8,bf16,1,1,32,1,none,1,1,32,0,full,0,1,,,",
         "gpu \"Abacus\": no constants for it"},
        {"a,b,2024,GPT,,24,2048,16,,100,2048,A100,32,8,int4,1,1,32,1,none,1,1,32,0,full,0,1,,,",
         "precision \"int4\" is not known"},
        {"a,b,2024,GPT,,24,2048,16,,100,2048,A100,32,8,bf16,1,1,32,1,none,1,1,32,0,full,0,1,,,,",
         "the line has 31 fields, the header 30"},
        {"a,b,2024,GPT,,24,2048,16,,100,2048,A100,1e3x,8,bf16,1,1,32,1,none,1,1,32,0,full,0,1,,,",
         "gpus \"1e3x\" is no whole number from 1 to 1048576"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct pp_measure_command command;
        struct pp_error err = {0};
        cr_assert(pp_measure_command(arena, read_row(arena, cases[i][0]), &command, &err) ==
                  PP_EINVAL);
        cr_assert(eq(str, err.message, (char *)(uintptr_t)cases[i][1]));
    }
}

/* Chunks that no cell states have one layer each; two more layers are embedding and head. */
Test(validate, inferred_chunks)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (int layers = 22; layers <= 24; layers += 2) {
        struct pp_measure_command command;
        struct pp_error err = {0};
        const char *line =
            pp_arena_printf(arena,
                            "a,b,2024,GPT,,%d,2048,16,,100,2048,A100,32,8,bf16,1,8,4,1,"
                            "1f1b-interleaved,,,32,0,full,0,1,,,",
                            layers);
        check_word(arena, line, "--vp", "3");
        cr_assert(pp_measure_command(arena, read_row(arena, line), &command, &err) == PP_OK);
        cr_assert(eq(str, (char *)(uintptr_t)command.inferred, "vp 3, mbs 1"));
    }
}

/* A micro-batch that no cell states is one sample, and the row says so; a stated one is no guess.
 */
Test(validate, inferred_micro_batch)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static const char *const lines[] = {
        "a,b,2024,GPT,,24,2048,16,,100,2048,A100,32,8,bf16,1,1,32,1,none,1,,64,0,full,0,1,,,",
        "a,b,2024,GPT,,24,2048,16,,100,2048,A100,32,8,bf16,1,1,32,1,none,1,1,64,0,full,0,1,,,"};

    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        struct pp_measure_command command;
        struct pp_error err = {0};
        check_word(arena, lines[i], "--mbs", "1");
        cr_assert(pp_measure_command(arena, read_row(arena, lines[i]), &command, &err) == PP_OK);
        cr_assert(i > 0 ? !command.inferred : !strcmp(command.inferred, "mbs 1"));
    }
}

/* ---- what was measured ------------------------------------------------------------------- */

Test(validate, metrics)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_measurement *given = read_row(
        arena, "a,b,2024,GPT,,24,2048,16,,100,2048,A100,32,8,bf16,1,1,32,1,none,1,1,64,0,full,0,"
               "1.5,1000,20,");
    const struct pp_measurement *tokens = read_row(
        arena, "a,b,2024,GPT,,24,2048,16,,100,2048,A100,32,8,bf16,1,1,32,1,none,1,1,64,0,full,0,"
               ",1000,,nvidia-smi of the first node");
    const struct pp_measurement *printed = read_row(
        arena, "a,b,2024,GPT,,24,2048,16,,100,2048,A100,32,8,bf16,1,1,32,1,none,1,1,64,0,full,0,"
               "1.5,1000,20,mem = nvidia-smi; GB as printed");

    cr_assert(eq(dbl, printed->mem_bytes, 20 * 1000.0 * 1024 * 1024));
    cr_assert(eq(dbl, given->step_s, 1.5));
    cr_assert(eq(dbl, given->mem_bytes, 20.0 * 1024 * 1024 * 1024));
    cr_assert(eq(int, pp_measure_memory_of(given), PP_MEASURE_TENSORS));
    cr_assert(eq(dbl, tokens->step_s, 64.0 * 2048 / (1000 * 32)));
    cr_assert(isnan(tokens->mem_bytes));
    cr_assert(eq(int, pp_measure_memory_of(tokens), PP_MEASURE_DEVICE));
}

/* A source whose rate is defined is known whatever its rows are called. */
Test(validate, rates_by_source)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *text =
        "family,source,layers,hidden,heads,vocab,seq_len,gpu,gpus,tp,pp,dp,"
        "microbatch,global_batch,zero_stage_or_fsdp,recompute,metric_mfu_pct\n"
        "seqpar-t5,,24,2304,24,51200,2048,A100,8,8,1,1,1,8,0,full,50\n"
        "x,Korthikanti et al. 2022,24,2304,24,51200,2048,A100,8,8,1,1,1,8,0,full,50\n"
        "x,another,24,2304,24,51200,2048,A100,8,8,1,1,1,8,0,full,50\n";
    struct pp_measurements list = {0};
    struct pp_measure_case open[3];
    struct pp_error err = {0};

    cr_assert(pp_measurements_parse(arena, "f", text, strlen(text), &list, &err) == PP_OK);
    for (int i = 0; i < 3; i++)
        pp_measure_case_open(arena, &list.rows[i], &open[i]);
    cr_assert(open[0].step_s > 0 && open[0].step_s == open[1].step_s);
    cr_assert(isnan(open[2].step_s));
}

/* Rates of flops, against the formula as the paper prints it. */
Test(validate, step_of_a_rate)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *text =
        "family,layers,hidden,heads,vocab,seq_len,gpu,gpus,tp,pp,dp,microbatch,"
        "global_batch,zero_stage_or_fsdp,recompute,metric_mfu_pct,metric_hfu_tflops\n"
        "seqpar-x,24,2304,24,51200,2048,A100,8,8,1,1,1,8,0,full,50,\n"
        "megatron-sc21-x,24,2304,24,51200,2048,A100,8,8,1,1,1,8,0,full,,137\n"
        "unheard-of,24,2304,24,51200,2048,A100,8,8,1,1,1,8,0,full,50,\n";
    const double b = 8, s = 2048, l = 24, h = 2304, v = 51200;
    const double step_s[] = {
        72 * b * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h)) / (0.5 * 312e12 * 8),
        96 * b * s * l * h * h * (1 + s / (6 * h) + v / (16 * l * h)) / (137e12 * 8)};
    struct pp_measurements list = {0};
    struct pp_measure_case open;
    struct pp_error err = {0};

    cr_assert(pp_measurements_parse(arena, "f", text, strlen(text), &list, &err) == PP_OK);
    for (int i = 0; i < 2; i++) {
        pp_measure_case_open(arena, &list.rows[i], &open);
        cr_assert(open.skipped == NULL, "%s", open.skipped);
        cr_assert(epsilon_eq(dbl, open.step_s, step_s[i], 1e-9 * step_s[i]));
    }
    pp_measure_case_open(arena, &list.rows[2], &open);
    cr_assert(isnan(open.step_s));
}
