/* Changes that make a run that generates faster, or make it fit, each simulated. */
#include "sim/config/inputs.h"
#include "sim/fit/change.h"
#include "sim/inference/inference.h"
#include "sim/report/parts.h"
#include "sim/report/text.h"

/* Simulates a command of the run with other values of one option or two. */
static bool try_change(struct pp_arena *arena, const struct pp_result *r, struct pp_parsed *command,
                       const char *first, int64_t first_value, const char *second,
                       int64_t second_value, struct pp_changed_run *change)
{
    struct pp_error ignored;

    if (pp_command_set_int(arena, command, first, first_value, &ignored) != PP_OK ||
        (second && pp_command_set_int(arena, command, second, second_value, &ignored) != PP_OK))
        return false;
    if (second)
        pp_command_drop(command, "nodes");
    return pp_change_try(arena, &r->config, command, change, &ignored) == PP_OK &&
           change->outcome.fits;
}

/* Returns "batch 64: 1.40k tokens/s at 34.9 ms a token, but first token 1.42 s". */
static const char *batch_text(struct pp_arena *arena, const struct pp_result *r)
{
    const struct pp_config *c = &r->config;
    const struct pp_inference *f = r->inference;
    struct pp_changed_run change;

    for (int factor = 4; factor >= 2; factor /= 2) {
        const int64_t batch = (int64_t)factor * c->generation.batch;
        if (!try_change(arena, r, pp_change_begin(arena, c), "batch", batch, NULL, 0, &change))
            continue;
        if (change.tokens_per_s <= f->tokens_per_s * (1 + PP_TIE_FRAC))
            return "";
        return pp_arena_printf(
            arena, "batch %lld: %s~tokens/s%s%s%s%s", (long long)batch,
            pp_text_of_count(arena, change.tokens_per_s), c->generation.passes > 1 ? " at " : "",
            c->generation.passes > 1 ? pp_text_of_time(arena, c, change.token_s) : "",
            c->generation.passes > 1 ? " a token" : "",
            change.first_token_s > f->first_token_s * (1 + PP_TIE_FRAC)
                ? pp_arena_printf(arena, ", but first token %s",
                                  pp_text_of_time(arena, c, change.first_token_s))
                : "");
    }
    return "";
}

/* Returns "TP 8: 24.8 ms a token, 605 tokens/s" with twice the devices of a node. */
static const char *tp_text(struct pp_arena *arena, const struct pp_result *r)
{
    const struct pp_config *c = &r->config;
    const struct pp_layout *l = &c->layout;
    struct pp_changed_run change;

    if (2 * l->tp > c->cluster.gpus_per_node || c->generation.passes == 1 ||
        !try_change(arena, r, pp_change_begin(arena, c), "tp", 2 * l->tp, "gpus",
                    (int64_t)2 * l->gpus, &change) ||
        change.token_s >= r->inference->token_s * (1 - PP_TIE_FRAC))
        return "";
    return pp_arena_printf(arena, "TP~%d: %s a token, %s~tokens/s", 2 * l->tp,
                           pp_text_of_time(arena, c, change.token_s),
                           pp_text_of_count(arena, change.tokens_per_s));
}

const char *pp_generation_faster(struct pp_arena *arena, const struct pp_result *r)
{
    if (r->config.file_program || r->config.is_unit)
        return NULL;
    const char *batch = batch_text(arena, r), *tp = tp_text(arena, r);
    return *batch || *tp ? pp_arena_printf(arena, "%s%s%s", batch, *batch && *tp ? "; " : "", tp)
                         : NULL;
}

const char *pp_generation_to_fit(struct pp_arena *arena, const struct pp_result *r)
{
    enum { BATCH, PIECES, CACHE, WEIGHTS, DEVICES };
    const struct pp_generation *g = &r->config.generation;
    const struct pp_layout *l = &r->config.layout;
    const int64_t gpus = l->gpus, node = r->config.cluster.gpus_per_node;
    const bool has_gpus = pp_inputs_find(&r->config, "gpus");
    const char *more = has_gpus ? "gpus" : "nodes";
    const int64_t now = has_gpus ? gpus : (gpus + node - 1) / node;
    const struct {
        int kind;
        const char *option, *second;
        int64_t value, second_value;
    } tries[] = {
        {BATCH, "batch", NULL, pp_inference_room(r, g->prompt_tokens + g->passes).sequences, 0},
        {PIECES, "prompt-groups", NULL, g->batch, 0},
        {CACHE, "kv-bits", NULL, 8, 0},
        {WEIGHTS, "weight-bits", NULL, 8, 0},
        {WEIGHTS, "weight-bits", NULL, 4, 0},
        {DEVICES, "tp", "gpus", 2 * (int64_t)l->tp, 2 * gpus},
        {DEVICES, more, NULL, 2 * now, 0},
        {DEVICES, more, NULL, 4 * now, 0},
        {DEVICES, more, NULL, 8 * now, 0},
        {DEVICES, "pp", "gpus", 2 * (int64_t)l->pp, 2 * gpus},
        {DEVICES, "pp", "gpus", 4 * (int64_t)l->pp, 4 * gpus}};
    struct pp_changed_run change;
    const char *text = "";
    int helped = -1; /* kind of the last change that did */

    if (r->config.file_program)
        return NULL;
    for (size_t i = 0; i < PP_COUNT(tries); i++) {
        if (tries[i].kind == helped || tries[i].value == 0 ||
            !try_change(arena, r, pp_inputs_command(arena, &r->config, 0), tries[i].option,
                        tries[i].value, tries[i].second, tries[i].second_value, &change))
            continue;
        helped = tries[i].kind;
        text = pp_arena_printf(arena, "%s%s--%s~%lld", text, *text ? ", or " : "", tries[i].option,
                               (long long)tries[i].value);
        if (tries[i].second)
            text =
                pp_arena_printf(arena, "%s on %lld~GPUs", text, (long long)tries[i].second_value);
    }
    return *text ? text : NULL;
}

void pp_generation_to_fit_append(const struct pp_result *r, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_generation *g = &r->config.generation;
    const int room = pp_inference_room(r, g->prompt_tokens + g->passes).sequences;
    const char *help = pp_generation_to_fit(arena, r);

    if (room > 0)
        pp_error_append(err, "; the largest batch is %d", room);
    else
        pp_error_append(err, "; not even one sequence fits");
    if (room > 0 || !help)
        return;
    char *text = pp_arena_strdup(arena, help);
    for (char *c = text; *c; c++)
        *c = *c == '~' ? ' ' : *c;
    pp_error_append(err, "; nearest: %s", text);
}
