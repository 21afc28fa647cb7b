/* --explain of a run that generates: its choices, passes one by one, cache and room. */
#include "core/cost/generation/cache.h"
#include "core/units.h"
#include "sim/config/tiers.h"
#include "sim/inference/inference.h"
#include "sim/report/parts.h"

#include <string.h>

void pp_generation_explain_choices(const struct pp_config *c, FILE *out)
{
    static const struct {
        unsigned bit;
        const char *what;
    } WHY[] = {
        {PP_CHOSE_MODEL,
         "model gpt3-175b: the model with the most published reference points; --model"},
        {PP_CHOSE_CLUSTER, "cluster h100: DGX H100 nodes on rails; --cluster"},
        {PP_CHOSE_GPUS, "gpus: the product of the degrees given, or the fewest of a node in which "
                        "the run fits; --gpus"},
        {PP_CHOSE_TP, "tp: powers of two up to one node were tried; --tp"},
        {PP_CHOSE_PP, "pp: divisors of gpus/tp were tried, and the layout that fits and serves a "
                      "batch soonest was taken; --pp"},
        {PP_CHOSE_DP, "dp: gpus / (tp * pp), each with a batch of its own; --dp"},
        {PP_CHOSE_GBS, "batch: one sequence for each piece of the prompts; --batch"},
        {PP_CHOSE_MICRO_BATCHES,
         "groups: the most that are at most the ranks and divide the batch; --groups"},
        {PP_CHOSE_SEQ, "prompt: 128 tokens; --prompt"},
        {PP_CHOSE_TOKENS, "tokens: 128, an encoder 1; --tokens"},
    };

    fputs("chosen for you, and the flag that overrides it\n", out);
    for (size_t i = 0; i < PP_COUNT(WHY); i++)
        if (c->origin.chosen & WHY[i].bit)
            fprintf(out, "  %s\n", WHY[i].what);
}

/* ---- passes ---------------------------------------------------------------------------------- */

static const char *seconds(double s, char text[PP_UNITS_TEXT_BYTES])
{
    return s > 0 ? pp_units_print(s, PP_UNIT_SECONDS, text) : "-";
}

static void explain_pass(const struct pp_result *r, int stage, int pass, FILE *out)
{
    const struct pp_pass_cost cost = pp_generation_pass(&r->cost_inputs, stage, pass);
    const double parts[] = {cost.s,         cost.matrix_s,         cost.attention_s,
                            cost.kernels_s, cost.tp_s + cost.ep_s, cost.host_s};
    char text[PP_UNITS_TEXT_BYTES];

    fprintf(out, "  %5d%6d", stage, pass);
    for (size_t i = 0; i < PP_COUNT(parts); i++)
        fprintf(out, "%*s", i == 1 ? 9 : 8, seconds(parts[i], text));
    fprintf(out, "%9s", pp_units_print(cost.weight_bytes, PP_UNIT_BYTES, text));
    fprintf(out, "%9s\n", pp_units_print(cost.cache_bytes, PP_UNIT_BYTES, text));
}

/* Passes differ in the keys that they meet alone, so that a few stand for all. */
static void explain_passes(const struct pp_result *r, FILE *out)
{
    const struct pp_generation *g = &r->config.generation;
    const int shown[] = {0, 1, g->passes / 2, g->passes - 1};

    fprintf(out,
            "\npasses of a group%s; each later pass only meets one key more in each sequence\n"
            "  %5s%6s%8s%9s%8s%8s%8s%8s%9s%9s\n",
            g->prompt_groups > g->groups ? " (pass 0: of one piece)" : "", "stage", "pass", "time",
            "matrices", "attn", "kernels", "comm", "host", "weights", "cache");
    for (int s = 0; s < r->cost_inputs.stages; s++)
        for (size_t i = 0; i < PP_COUNT(shown); i++)
            if (shown[i] < g->passes && (i == 0 || shown[i] > shown[i - 1]))
                explain_pass(r, s, shown[i], out);
    if (pp_cost_framework(&r->cost_inputs)->ends_prompts_apart)
        fprintf(out,
                "  pass 0 has two parts, as %s reads the last token of prompts after the rest\n",
                pp_cost_framework(&r->cost_inputs)->name);
    fputs("  weights, cache: bytes that a device reads. Formulas: docs/generation.md\n", out);
}

/* ---- figures --------------------------------------------------------------------------------- */

static void explain_tokens(const struct pp_result *r, FILE *out)
{
    const struct pp_inference *f = r->inference;
    const char *unit = r->config.is_unit ? "units" : "s";

    fprintf(out,
            "\ntokens\n"
            "  first token %.9g %s, 90 %% within %.9g: end of pass 0 of a group on the last stage, "
            "over the groups\n",
            f->first_token_s, unit, f->first_token_p90_s);
    if (r->config.generation.passes > 1)
        fprintf(out,
                "  each token %.9g %s, 90 %% within %.9g: (end of the last pass - end of pass 0) / "
                "(tokens - 1) of a group, over the groups\n",
                f->token_s, unit, f->token_p90_s);
    fprintf(out, "  all %.9g %s: end of the last pass\n", f->latency_s, unit);
}

static void explain_reads(const struct pp_result *r, FILE *out)
{
    const struct pp_inference *f = r->inference;

    if (r->config.generation.passes == 1)
        return;
    fprintf(out,
            "  bandwidth %.4f %% = groups * (weights + cache of pass %d) / (token time * %.6g "
            "bytes/s); it cannot exceed 100 %%\n",
            100 * f->memory_bandwidth_frac, r->config.generation.passes / 2,
            r->config.cluster.device.memory_bytes_per_s);
    if (f->token_copies.s > 0)
        fprintf(out,
                "  copies %.9g s of a group in pass %d, at %.6g bytes/s with %s; a pass takes the "
                "longest of compute and copies each way\n",
                f->token_copies.s, r->config.generation.passes / 2, f->token_copies.bytes_per_s,
                pp_tier_rows[f->token_copies.tier].name);
}

static void explain_memory(const struct pp_result *r, FILE *out)
{
    const struct pp_generation *g = &r->config.generation;
    const struct pp_rank_memory *m = &r->memory[r->peak_rank];
    const int own = g->prompt_tokens + g->passes;
    const int kept = (int)pp_kv_tokens(g, g->passes - 1, 0);
    const struct pp_room room = pp_inference_room(r, own);
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    fprintf(out,
            "\nmemory\n"
            "  rank %d: parameters %.3f + cache %.3f + activations %.3f + buffers %.3f + other "
            "%.3f = %.3f GiB of %.3f\n",
            r->peak_rank, m->params_bytes / PP_GIB, m->kv_bytes / PP_GIB,
            m->activations_bytes / PP_GIB, m->buffers_bytes / PP_GIB, m->other_bytes / PP_GIB,
            m->peak_bytes / PP_GIB, pp_config_capacity_bytes(&r->config) / PP_GIB);
    if (r->inference->kv_bytes > 0)
        fprintf(out,
                "  cache: %.0f bytes a token of a sequence in all layers; %d sequence%s with %d "
                "token%s "
                "%s %.0f bytes, on all devices of a replica\n",
                r->inference->kv_bytes_per_token, g->batch, g->batch == 1 ? "" : "s", kept,
                kept == 1 ? "" : "s", g->batch == 1 ? "has" : "have", r->inference->kv_bytes);
    fprintf(out, "  room: %d sequence%s of %d tokens, by bisection; %s\n", room.sequences,
            room.sequences == 1 ? "" : "s", own, pp_inference_room_text(arena, &room, own));
    pp_tiers_explain(r, out);
}

static void explain_rates(const struct pp_result *r, FILE *out)
{
    fprintf(out,
            "\nutilisation\n  flops of all passes %.6g\n"
            "  MFU = flops / (%.6g s * %.6g flop/s dense * %d GPU%s) = %.4f %%\n",
            r->model_flops_per_step, r->metrics.iteration_s,
            r->config.cluster.device.peak_flops_per_s, r->config.layout.gpus,
            r->config.layout.gpus == 1 ? "" : "s", 100 * r->mfu);
}

void pp_generation_explain(const struct pp_result *r, FILE *out)
{
    explain_tokens(r, out);
    if (r->config.is_unit)
        return;
    explain_reads(r, out);
    explain_passes(r, out);
    explain_memory(r, out);
    explain_rates(r, out);
}
