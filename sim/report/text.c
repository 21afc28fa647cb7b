/* Short texts that several printers of a result share. */
#include "sim/report/text.h"

#include "core/units.h"
#include "sim/config/inputs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void pp_report_what_if(const struct pp_config *config, int width, int indent, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *what_if = pp_inputs_what_if(arena, config);

    if (what_if)
        pp_text_paragraph(out, width, indent, "what-if", what_if);
    for (int i = 0; i < config->origin.note_count; i++)
        pp_text_paragraph(out, width, indent, "note", config->origin.notes[i]);
}

void pp_text_command(FILE *out, int width, int indent, const char *label,
                     const struct pp_parsed *command)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    fprintf(out, "  %-*s%s\n", indent - 2, label,
            pp_command_lines(arena, pp_command_words(arena, command), width, indent));
}

const char *pp_text_star(const struct pp_config *config, unsigned bit)
{
    return config->origin.chosen & bit ? "*" : "";
}

static size_t append(char *text, size_t used, const char *piece)
{
    const size_t length = strlen(piece);

    if (used + length + 4 >= PP_TEXT_BYTES) {
        if (used + 4 < PP_TEXT_BYTES)
            strcpy(text + used, "...");
        return PP_TEXT_BYTES;
    }
    memcpy(text + used, piece, length + 1);
    return used + length;
}

const char *pp_text_split(const struct pp_config *config, char text[PP_TEXT_BYTES])
{
    const int stages = pp_config_stages(config);
    const int *blocks = config->blocks_per_stage;
    bool is_even = true;

    for (int s = 1; s < stages; s++)
        is_even = is_even && blocks[s] == blocks[0];
    if (is_even) {
        snprintf(text, PP_TEXT_BYTES, "%d layer%s a stage%s", blocks[0], blocks[0] == 1 ? "" : "s",
                 pp_head_is_shared(config->costs.head)
                     ? ""
                     : ", embedding in the first, head in the last");
        return text;
    }
    /* runs of equal stages: 5, 6 x 14, 5 */
    size_t used = append(text, 0, "layers by stage ");
    for (int s = 0, run; s < stages && used < PP_TEXT_BYTES; s += run) {
        char piece[48];
        for (run = 1; s + run < stages && blocks[s + run] == blocks[s]; run++)
            ;
        snprintf(piece, sizeof(piece), run > 1 ? "%s%d x %d" : "%s%d", s ? ", " : "", blocks[s],
                 run);
        used = append(text, used, piece);
    }
    return text;
}

const char *pp_text_stages(const struct pp_program *program, int rank, char text[PP_TEXT_BYTES])
{
    const int copies = program->pipelines * program->stages;
    int count = 0, first[2] = {0, 0}, last = 0, stride = 0;
    bool is_even = true;
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < copies; i++) {
        char piece[16];
        if (program->rank_of[i] != rank)
            continue;
        const int stage = i % program->stages;
        snprintf(piece, sizeof(piece), "%s%d", count ? "," : "", stage);
        used = used < PP_TEXT_BYTES ? append(text, used, piece) : used;
        if (count < 2)
            first[count] = stage;
        stride = first[1] - first[0];
        is_even = is_even && (count < 2 || stage - last == stride);
        last = stage;
        count++;
    }
    if (count > 3 && is_even) /* 0,4,...,28 */
        snprintf(text, PP_TEXT_BYTES, "%d,%d..%d", first[0], first[1], last);
    else if (count > 3)
        snprintf(text, PP_TEXT_BYTES, "%d,%d..", first[0], first[1]);
    return text;
}

double pp_text_gib(double bytes)
{
    return round(10 * bytes / PP_GIB) / 10;
}

const char *pp_text_mfu(const struct pp_result *result, char text[PP_TEXT_BYTES])
{
    if (pp_config_has_device(&result->config))
        snprintf(text, PP_TEXT_BYTES, "%.1f %%", 100 * result->mfu);
    else
        snprintf(text, PP_TEXT_BYTES, "-");
    return text;
}

const char *pp_text_time(const struct pp_config *config, double seconds, char text[PP_TEXT_BYTES])
{
    char number[PP_UNITS_TEXT_BYTES];

    if (config->is_unit)
        snprintf(text, PP_TEXT_BYTES, "%.6g units", seconds);
    else
        snprintf(text, PP_TEXT_BYTES, "%s", pp_units_print(seconds, PP_UNIT_SECONDS, number));
    return text;
}

const char *pp_text_steps(struct pp_arena *arena, const struct pp_config *config)
{
    const struct pp_eval_options *plan = &config->engine_options.eval;

    if (plan->steps <= 1)
        return "";
    return pp_arena_printf(arena, "steady step of %d%s steps, %s", plan->steps,
                           pp_text_star(config, PP_CHOSE_STEPS),
                           plan->is_barrier_free ? "no barrier" : "barrier after each");
}

const char *pp_text_constants(struct pp_arena *arena, const struct pp_config *c)
{
    const char *of = c->cluster.device.constants_of;

    return of ? pp_arena_printf(arena, "constants of %s, as no run on this device was published",
                                of)
              : "fitted on published runs, not on yours";
}

const char *pp_text_recompute(const struct pp_config *config, const char *separator,
                              char text[PP_TEXT_BYTES])
{
    const enum pp_recompute how = config->costs.recompute;
    char value[PP_RECOMPUTE_TEXT_BYTES], ratio[PP_UNITS_TEXT_BYTES] = "",
                                         words[PP_AGAIN_WORDS_BYTES] = "";

    if (how == PP_RECOMPUTE_STAGE)
        snprintf(ratio, sizeof(ratio), "=%g", config->costs.first_stage_ratio);
    if (how != PP_RECOMPUTE_NONE)
        pp_again_words_print(config->lower.again, separator, words);
    snprintf(text, PP_TEXT_BYTES, "%s%s%s", pp_recompute_print(how, config->costs.again, value),
             ratio, words);
    return text;
}

const char *pp_text_tight(struct pp_arena *arena, const struct pp_config *config)
{
    return pp_arena_printf(arena,
                           "! tight: less than %.3g~%% of the memory stays free "
                           "(--memory-margin)",
                           100 * config->memory_margin_frac);
}

const char *pp_text_trials(struct pp_arena *arena, const struct pp_config *config)
{
    const struct pp_trials *trials = config->origin.trials;
    const char *text = pp_arena_printf(arena, "%s %s (auto: ", trials->option, trials->chosen);

    for (int i = 0; i < trials->count; i++) {
        const struct pp_trial *trial = &trials->list[i];
        const struct pp_outcome *outcome = &trial->outcome;
        const char *state = "";
        char time[PP_TEXT_BYTES], again[PP_RECOMPUTE_TEXT_BYTES];
        if (!outcome->is_refused && trial->zero != pp_state_zero(&config->state))
            state = pp_arena_printf(arena, " with ZeRO %d", trial->zero);
        if (!outcome->is_refused &&
            (trial->recompute != config->costs.recompute || trial->again != config->costs.again))
            state = pp_arena_printf(arena, " with recompute %s",
                                    pp_recompute_print(trial->recompute, trial->again, again));
        text = pp_arena_printf(arena, "%s%s%s %s%s%s", text, i ? ", " : "", trial->value,
                               outcome->is_refused ? "refused: "
                                                   : pp_text_time(config, outcome->step_s, time),
                               outcome->is_refused ? outcome->reason : state,
                               outcome->is_refused || outcome->fits ? "" : " does not fit");
    }
    return pp_arena_printf(arena, "%s)", text);
}

enum { NAME = 40 };

const char *pp_text_schedule(struct pp_arena *arena, const struct pp_config *config)
{
    const char *name = pp_text_short(arena, config->schedule_name, NAME);
    char order[PP_ORDER_TEXT_BYTES];

    return config->order.rule == PP_ORDER_STRICT
               ? name
               : pp_arena_printf(arena, "%s, %s", name, pp_order_print(config->order, order));
}
