/* What public recipes set: which release, model, device and precision pick what. */
#include "sim/published/published.h"

#include <criterion/criterion.h>
#include <string.h>

#define BRIDGE_2606 "Megatron-Bridge performance-summary.md (26.06 NeMo container)"
#define BRIDGE_2608 "Megatron-Bridge performance-summary.md (26.08 NeMo container)"
#define BRIDGE_2604 "Megatron-Bridge performance-summary.md (26.04.01 NeMo container)"
#define BRIDGE_2511 "Megatron-Bridge performance-summary.md (25.11 NeMo container)"
#define PAX         "NVIDIA JAX-Toolbox rosetta pax README"

static const struct expected {
    const char *source, *model, *gpu, *precision;
    const char *recompute; /* its cell */
    const char *option, *value;
} CASES[] = {
    /* one kernel for grouped experts: of mxfp8 alone, and of no release before 26.06 */
    {BRIDGE_2606, "Qwen3_30B_a3B", "GB200", "mxfp8", "", "--framework", "bridge"},
    {BRIDGE_2608, "Qwen3_30B_a3B", "GB200", "mxfp8", "", "--framework", "bridge"},
    {BRIDGE_2604, "Qwen3_30B_a3B", "GB200", "mxfp8", "", "--framework", "nemo"},
    {BRIDGE_2608, "Qwen3_30B_a3B", "GB200", "bf16", "", "--framework", "nemo"},
    {"elsewhere", "Qwen3_30B_a3B", "GB200", "mxfp8", "", "--framework", "megatron"},
    {BRIDGE_2606, "Kimi_K2", "GB300", "mxfp8", "", "--framework", "nemo"},
    {BRIDGE_2606, "GPT OSS 120B", "B300", "mxfp8", "", "--framework", "nemo"},
    {BRIDGE_2606, "GPT OSS 120B", "GB300", "mxfp8", "", "--framework", "bridge"},
    /* exchanges of experts during another micro-batch */
    {BRIDGE_2606, "Qwen3_30B_a3B", "B300", "mxfp8", "", "--ep-overlap", "100%"},
    {BRIDGE_2606, "Qwen3_30B_a3B", "B300", "mxfp8", "", "--ep-share", "21%"},
    {BRIDGE_2606, "Kimi_K2", "GB300", "mxfp8", "", "--ep-overlap", NULL},
    {BRIDGE_2606, "GPT OSS 120B", "B300", "mxfp8", "", "--ep-overlap", NULL},
    {BRIDGE_2608, "DeepSeekV3", "GB300", "mxfp8", "", "--ep-overlap", "100%"},
    {BRIDGE_2608, "DeepSeekV3", "GB300", "bf16", "", "--ep-overlap", NULL},
    {BRIDGE_2604, "DeepSeekV3", "B200", "mxfp8", "", "--ep-overlap", "100%"},
    {BRIDGE_2604, "DeepSeekV3", "GB200", "mxfp8", "", "--ep-overlap", NULL},
    {BRIDGE_2511, "DeepSeekV3", "B200", "mxfp8", "", "--ep-overlap", NULL},
    {BRIDGE_2511, "Qwen3_235B_a22B", "H100", "bf16", "", "--ep-overlap", "100%"},
    {BRIDGE_2511, "Qwen3_235B_a22B", "B200", "bf16", "", "--ep-overlap", NULL},
    /* how tokens travel */
    {BRIDGE_2511, "Qwen3_235B_a22B", "H100", "bf16", "", "--ep-dispatch", "each"},
    {BRIDGE_2511, "Qwen3_235B_a22B", "B300", "bf16", "", "--ep-dispatch", "each"},
    {BRIDGE_2511, "Qwen3_235B_a22B", "GB200", "bf16", "", "--ep-dispatch", "once"},
    {BRIDGE_2511, "Qwen3_30B_a3B", "H100", "bf16", "", "--ep-dispatch", "once"},
    /* what is recomputed, unless the table says it */
    {BRIDGE_2511, "DeepSeekV3", "H100", "bf16", "", "--recompute", "selective=mla_up_proj+mlp"},
    {BRIDGE_2511, "DeepSeekV3", "GB200", "bf16", "", "--recompute", "selective=mla_up_proj"},
    {BRIDGE_2511, "DeepSeekV3", "GB200", "bf16", "none", "--recompute", "none"},
    {BRIDGE_2511, "GPT OSS 120B", "H100", "bf16", "", "--recompute", "selective=layernorm+act"},
    {BRIDGE_2511, "GPT OSS 120B", "B200", "bf16", "", "--recompute", "selective=layernorm+act"},
    {BRIDGE_2511, "GPT OSS 120B", "GB200", "bf16", "", "--recompute", "selective=layernorm+act"},
    {BRIDGE_2604, "GPT OSS 120B", "GB200", "mxfp8", "", "--recompute", "selective=layernorm+act"},
    {BRIDGE_2606, "GPT OSS 120B", "GB200", "mxfp8", "", "--recompute", "none"},
    {BRIDGE_2608, "GPT OSS 120B", "GB200", "mxfp8", "", "--recompute", "none"},
    {BRIDGE_2608, "GPT OSS 120B", "B200", "mxfp8", "", "--recompute", "selective=layernorm+act"},
    {BRIDGE_2511, "GPT OSS 120B", "GB300", "bf16", "", "--recompute", "none"},
    {"elsewhere", "DeepSeekV3", "H100", "bf16", "", "--recompute", "none"},
    {PAX, "GPT 5B", "A100", "bf16", "", "--recompute", "selective=core_attn+layernorm+act"},
    {PAX, "GPT 126M", "A100", "bf16", "", "--recompute", "none"},
    {PAX, "GPT 175B", "A100", "bf16", "", "--recompute", "full"},
    {PAX, "GPT 5B", "A100", "bf16", "none", "--recompute", "none"},
    {PAX, "GPT 5B", "A100", "bf16", "", "--framework", "paxml"},
    {PAX, "GPT 5B", "A100", "bf16 TransformerEngine", "", "--framework", "paxml-te"},
    {PAX, "GPT 5B", "A100", "bf16 TransformerEngine", "", "--attention", "unfused"},
    {"elsewhere", "GPT 5B", "A100", "bf16 TransformerEngine", "", "--framework", "megatron"},
    {PAX, "GPT 5B", "A100", "bf16", "", "--vocab", "51200"}, /* a stated one counts */
};

/* The value of the option in the command of such a row; NULL: it is not there. `framework`: the
 * row's cell. */
static const char *value_of(struct pp_arena *arena, const struct expected *c, const char *framework)
{
    static const char HEADER[] =
        "id,source,year,model_name,layers,hidden,heads,vocab,seq_len,gpu,gpus,precision,tp,pp,dp,"
        "cp,ep,schedule,vpp_or_chunks,microbatch,global_batch,zero_stage_or_fsdp,recompute,"
        "framework\n";
    const bool is_named = strncmp(c->model, "GPT ", 4) != 0 || strstr(c->model, "OSS");
    const char *text =
        pp_arena_printf(arena, "%sa,%s,2025,%s,%s,2048,%s,8,%s,1,1,8,1,%d,none,1,1,64,1,%s,%s\n",
                        HEADER, c->source, c->model, is_named ? ",,," : "12,768,12,51200", c->gpu,
                        c->precision, is_named ? 8 : 1, c->recompute, framework);
    struct pp_measurements list = {0};
    struct pp_measure_command command;
    struct pp_error err = {0};

    cr_assert(pp_measurements_parse(arena, "f", text, strlen(text), &list, &err) == PP_OK, "%s",
              err.message);
    cr_assert(pp_measure_command(arena, list.rows, &command, &err) == PP_OK, "%s: %s", c->model,
              err.message);
    for (int i = 0; i + 1 < command.argc; i++)
        if (!strcmp(command.argv[i], c->option))
            return command.argv[i + 1];
    return NULL;
}

Test(validate_recipes, release_model_device_and_precision_pick_what_is_set)
{
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct expected *c = &CASES[i];
        const char *value = value_of(arena, c, "");
        cr_expect(c->value ? value && !strcmp(value, c->value) : !value,
                  "%s, %s, %s, %s: %s is %s, not %s", c->source, c->model, c->gpu, c->precision,
                  c->option, value ? value : "absent", c->value ? c->value : "absent");
    }
}

Test(validate_recipes, a_framework_that_the_row_states_counts)
{
    static const struct expected rows[] = {
        {BRIDGE_2606, "Qwen3_30B_a3B", "GB200", "mxfp8", "", "--framework", "megatron"},
        {PAX, "GPT 5B", "A100", "bf16 TransformerEngine", "", "--framework", "megatron"}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        cr_expect_str_eq(value_of(arena, &rows[i], "Megatron-LM"), rows[i].value);
    }
}
