/* --explain: the source of each number of the report. */
#include "sim/report/report.h"

#include "core/cost/fitted.h"
#include "core/units.h"
#include "schedules/order/schedule.h"
#include "sim/config/buckets.h"
#include "sim/config/gathers.h"
#include "sim/config/inputs.h"
#include "sim/config/intensity.h"
#include "sim/config/tiers.h"
#include "sim/config/usable.h"
#include "sim/report/cost_file.h"
#include "sim/report/parts.h"
#include "sim/report/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void explain_choices(const struct pp_config *c, FILE *out)
{
    static const struct {
        unsigned bit;
        const char *what;
    } WHY[] = {
        {PP_CHOSE_MODEL,
         "model gpt3-175b: the model with the most published reference points; --model"},
        {PP_CHOSE_CLUSTER, "cluster h100: DGX H100 nodes on rails; --cluster"},
        {PP_CHOSE_GPUS,
         "gpus: the product of the degrees given, or the size of the cluster; --gpus"},
        {PP_CHOSE_TP, "tp: powers of two up to one node were tried; --tp"},
        {PP_CHOSE_PP, "pp: divisors of gpus/tp from 2 on were tried, and the fastest layout that "
                      "fits was taken; --pp"},
        {PP_CHOSE_DP, "dp: gpus / (tp * cp * pp); --dp"},
        {PP_CHOSE_MBS,
         "mbs: 1, or one sample for each part if the schedule splits micro-batches; --mbs"},
        {PP_CHOSE_GBS,
         "gbs: about 4 M tokens a step in at most 16,384 samples, adjusted to what the schedule "
         "accepts; --gbs"},
        {PP_CHOSE_MICRO_BATCHES, "micro-batches: gbs / (dp * mbs); --micro-batches"},
        {PP_CHOSE_SEQ, "seq: the model's own; --seq"},
        {PP_CHOSE_VP, "vp 2: the smallest number of chunks; --vp"},
        {PP_CHOSE_SPLITS, "splits 2: the smallest number that splits; --splits"},
        {PP_CHOSE_STEPS, "steps: the schedule needs no barrier; --steps, --step-barrier"},
        {PP_CHOSE_ZERO, "zero: 0 if that fits with the memory margin, else 1; --zero"},
        {PP_CHOSE_RECOMPUTE,
         "recompute: the first level from none to full that leaves the margin free; --recompute"},
    };

    if (c->generation.passes) {
        pp_generation_explain_choices(c, out);
        return;
    }
    fputs("chosen for you, and the flag that overrides it\n", out);
    for (size_t i = 0; i < PP_COUNT(WHY); i++)
        if (c->origin.chosen & WHY[i].bit)
            fprintf(out, "  %s\n", WHY[i].what);
    for (int k = 0; c->schedule && k < PP_SHAPE_OPTIONS; k++) {
        const struct pp_schedule_option *option = c->schedule->options[k];
        if (c->origin.chosen & PP_CHOSE_OPTION << k)
            fprintf(out, "  %s: %s; --%s\n", option->name, option->default_text, option->name);
    }
    if (c->origin.chosen & PP_CHOSE_EP && c->model.experts.count > 0)
        fputs("  ep: the largest in a node that divides experts and replicas, and larger ones, "
              "were tried; --ep\n",
              out);
}

static void explain_bubble(const struct pp_schedule *schedule, const struct pp_shape *shape,
                           FILE *out)
{
    const struct pp_closed_form *form = &schedule->bubble_frac;
    const struct pp_unit_costs unit = {.f = 1, .b = 2, .i = 1, .w = 1, .fb = 3};
    const double value = form->value(shape, &unit, 0);

    fprintf(out, "\n  closed-form bubble %s (%s)", form->text,
            form->is_exact ? "exact" : "approximate");
    if (isfinite(value))
        fprintf(out, "\n    = %.2f %% here with %s, equal stages and free communication",
                100 * value, schedule->is_forward_only ? "prompts as long as tokens" : "B = 2F");
    else
        fputs("\n    does not cover these sizes", out);
}

static void explain_schedule(const struct pp_result *r, FILE *out)
{
    const struct pp_schedule *s = r->config.schedule;
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    if (!s) {
        fprintf(out, "schedule\n  program file %s, hash %016llx\n", r->config.schedule_name,
                (unsigned long long)pp_program_hash(r->program));
        return;
    }
    fprintf(out, "schedule\n  %s: %s", s->name, s->rule);
    if (s->source)
        fprintf(out, "\n  source: %s", s->source);
    if (s->bubble_frac.value)
        explain_bubble(s, &r->config.shape, out);
    if (r->config.origin.trials)
        fprintf(out, "\n  %s", pp_text_trials(arena, &r->config));
    fprintf(out,
            "\n  program: %d rank%s, %d instructions, hash %016llx\n"
            "  verified: every dependency met, no deadlock even under rendezvous\n",
            r->program->ranks, r->program->ranks == 1 ? "" : "s", pp_program_size(r->program),
            (unsigned long long)pp_program_hash(r->program));
}

static void explain_times(const struct pp_result *r, FILE *out)
{
    const struct pp_metrics *m = &r->metrics;
    const char *unit = r->config.is_unit ? "units" : "s";

    fprintf(out, "\ntime\n  %s %.17g %s: %s, exact (engine %s)\n",
            r->config.generation.passes > 0 ? "all" : "step", m->iteration_s, unit,
            r->config.engine_options.eval.steps > 1 ? "steady step, (T_K - T_1) / (K - 1)"
                                                    : "latest end over ranks and replicas",
            r->config.engine->name);
    fprintf(
        out,
        "  bubble %.4f %% = waiting for other stages %.4f %% + messages in flight %.4f %%, mean "
        "over ranks\n",
        100 * m->bubble_frac, 100 * m->time_frac[PP_TIME_BUBBLE], 100 * m->time_frac[PP_TIME_P2P]);
    fprintf(out,
            "  span idle %.4f %% = 1 - longest busy time / longest span of a rank (the zero-bubble "
            "papers' measure)\n",
            100 * m->span_bubble_frac);
    fprintf(out, "  rank  busy %-5s  idle %-5s  span %s\n", unit, unit, unit);
    for (int i = 0; i < r->program->ranks; i++)
        fprintf(out, "  %4d %11.6g %11.6g %11.6g\n", i, m->ranks[i].busy_s, m->ranks[i].idle_s,
                m->ranks[i].span_s);
}

/* Prints the levels of recomputation that were in the choice. */
static void explain_levels(const struct pp_result *r, FILE *out)
{
    const struct pp_levels *levels = r->levels;
    char time[PP_TEXT_BYTES];

    if (!levels)
        return;
    fputs("  levels of recomputation; each adds the module that frees most for its time\n", out);
    for (int i = 0; i < levels->count; i++) {
        const struct pp_outcome *o = &levels->list[i].outcome;
        fprintf(out, "    %c %-44s%9s%8.1f GiB%s\n", i == levels->chosen ? '*' : ' ',
                levels->list[i].text, pp_text_time(&r->config, o->step_s, time),
                o->peak_bytes / PP_GIB,
                !o->fits      ? "  no fit"
                : o->is_tight ? "  tight"
                              : "");
    }
}

/* Prints the recomputed share of the blocks of each stage. */
static void explain_recompute(const struct pp_result *r, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const double *fracs;

    if (r->config.is_unit || r->config.costs.recompute != PP_RECOMPUTE_STAGE)
        return;
    fracs = pp_recompute_fracs(arena, &r->cost_inputs);
    fputs("  recomputed share of the blocks of stage s = 1 to P, 1 - (1 - R) (P - 1) / (P - s):\n"
          "   ",
          out);
    for (int s = 0; s < r->cost_inputs.stages; s++)
        fprintf(out, " %.6g", fracs[s]);
    fputc('\n', out);
}

static void explain_margin(const struct pp_config *c, FILE *out)
{
    const bool is_given = pp_inputs_find(c, "memory-margin") != NULL;

    fprintf(out, "  margin %.3g %%%s: the tool's choices prefer peaks up to %.3f GiB\n",
            100 * c->memory_margin_frac,
            is_given ? " (--memory-margin)"
                     : ", the median error of predicted peaks (docs/accuracy.md; --memory-margin)",
            pp_config_room_bytes(c) / PP_GIB);
}

static void explain_memory(const struct pp_result *r, FILE *out)
{
    char cell[PP_OP_TEXT_BYTES], usable[PP_USABLE_TEXT_BYTES];
    const struct pp_rank_memory *m = &r->memory[r->peak_rank];

    pp_program_print_op(r->program, m->peak_at, cell);
    fprintf(out,
            "\nmemory\n  peak on rank %d at instruction %d (%s), lifetimes over the program:\n",
            r->peak_rank, m->peak_at - r->program->begin[r->peak_rank], cell);
    fprintf(out,
            "  parameters %.3f + gradients %.3f + optimizer %.3f + activations %.3f (%g chunk "
            "activations at most) + buffers %.3f + other %.3f = %.3f GiB of %.3f%s\n",
            m->params_bytes / PP_GIB, m->grads_bytes / PP_GIB, m->optimizer_bytes / PP_GIB,
            m->activations_bytes / PP_GIB, m->peak_activations, m->buffers_bytes / PP_GIB,
            m->other_bytes / PP_GIB, m->peak_bytes / PP_GIB,
            pp_config_capacity_bytes(&r->config) / PP_GIB,
            pp_usable_text(&r->config.state, PP_TIER_DEVICE, usable));
    explain_margin(&r->config, out);
    explain_levels(r, out);
    explain_recompute(r, out);
    pp_tiers_explain(r, out);
    pp_intensity_explain(r, out);
}

static void explain_rates(const struct pp_result *r, int width, FILE *out)
{
    const struct pp_config *c = &r->config;

    fprintf(out,
            "\nutilisation\n  model flops a step %.6g (%s rule)\n"
            "  MFU = model flops / (%.6g s * %.6g flop/s dense * %d GPUs) = %.4f %%\n",
            r->model_flops_per_step, pp_flops_rule_names[c->flops], r->metrics.iteration_s,
            c->cluster.device.peak_flops_per_s, c->layout.gpus, 100 * r->mfu);
    fprintf(out, "  HFU also counts %.6g recomputed flops = %.4f %%\n",
            r->hardware_flops_per_step - r->model_flops_per_step, 100 * r->hfu);
    fprintf(out, "  tokens/s = %lld samples * %d tokens / %.6g s = %.6g\n",
            (long long)c->layout.gbs, c->layout.seq, r->metrics.iteration_s, r->tokens_per_s);
    pp_text_paragraph(out, width, 14, "dense peak", c->cluster.device.source);
}

/* Prints the constants of --constants in force. */
static void explain_constants(const struct pp_result *r, int width, FILE *out)
{
    const struct pp_fitted *f = r->config.fitted;

    fputs("constants\n", out);
    pp_text_paragraph(out, width, 14, "source", r->costs->source);
    for (int i = 0; i < f->count; i++)
        fprintf(
            out, "  %-15s %-15s %10.4g\n", f->values[i].constant->name, f->values[i].owner,
            pp_constant_get(f->values[i].constant, &r->config.cluster, r->config.costs.framework));
    fputc('\n', out);
}

static void explain(const struct pp_result *r, int width, FILE *out)
{
    if (!r->config.is_unit && r->config.origin.chosen) {
        explain_choices(&r->config, out);
        fputc('\n', out);
    }
    explain_schedule(r, out);
    explain_times(r, out);
    if (r->inference) {
        pp_generation_explain(r, out);
        pp_explain_network(r, out);
        return;
    }
    if (r->config.is_unit) {
        fputs("\ncosts\n  abstract units given by --unit; nothing else costs time\n", out);
        return;
    }
    explain_memory(r, out);
    pp_gathers_explain(r, out);
    explain_rates(r, width, out);
    pp_explain_network(r, out);
    fputs("\n", out);
    if (r->config.fitted)
        explain_constants(r, width, out);
    if (r->config.cost)
        pp_cost_file_explain(r->config.cost, r->costs, width, out);
    else
        pp_costs_explain(&r->cost_inputs, r->costs, out);
    pp_buckets_explain(r, out);
    if (r->program->granules > 1 && !r->inference)
        fprintf(out, "  granules%s\n", PP_TEXT_GRANULES);
}

/* Columns of the first `bytes` of a text. */
static int columns(const char *text, size_t bytes)
{
    int count = 0;

    for (size_t i = 0; i < bytes; i++)
        count += (text[i] & 0xc0) != 0x80; /* not inside a character of UTF-8 */
    return count;
}

/* Bytes of the first word of a text, with the blanks before it and the unit after a number. */
static size_t piece_of(const char *text, size_t bytes)
{
    enum { UNIT_BYTES = 4 };
    const size_t blanks = strspn(text, " "), end = blanks + strcspn(text + blanks, " \n");
    const size_t unit = end < bytes ? strcspn(text + end + 1, " \n") : 0;

    if (end >= bytes)
        return bytes;
    return isdigit((unsigned char)text[end - 1]) && unit > 0 && unit <= UNIT_BYTES ? end + 1 + unit
                                                                                   : end;
}

/* Prints one line; its continuations are indented by four more. */
static void print_wrapped(const char *line, size_t bytes, int max_columns, FILE *out)
{
    const int indent = (int)strspn(line, " ") + 4;
    int column = 0;

    for (size_t at = 0, piece; at < bytes; at += piece) {
        const size_t blanks = strspn(line + at, " ");
        piece = piece_of(line + at, bytes - at);
        const int width = columns(line + at, piece);
        if (column > indent && column + width > max_columns) {
            fprintf(out, "\n%*s%.*s", indent, "", (int)(piece - blanks), line + at + blanks);
            column = indent + width - (int)blanks;
        } else {
            column += width;
            fwrite(line + at, 1, piece, out);
        }
    }
    fputc('\n', out);
}

void pp_explain_print(const struct pp_result *r, int width, FILE *out)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *buffer = open_memstream(&text, &bytes);

    if (!buffer) { /* no memory: not wrapped */
        explain(r, width, out);
        return;
    }
    explain(r, width, buffer);
    fclose(buffer);
    for (const char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");
        print_wrapped(line, length, width, out);
        line += length + (line[length] == '\n');
    }
    free(text);
}
