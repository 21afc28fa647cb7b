/* A run that generates: its prompts, tokens, groups and cache. */
#include "core/units.h"
#include "sim/resolve/mode.h"
#include "sim/resolve/resolve.h"

#include <string.h>

enum { USUAL_TOKENS = 128, MOST_PIECES = 254 };

/* ---- groups ---------------------------------------------------------------------------------- */

/* Returns the largest divisor of `number` that is at most `most`. */
static int divisor_below(int number, int most)
{
    int divisor = most < number ? most : number;

    while (number % divisor != 0)
        divisor--;
    return divisor;
}

/* Returns the smallest divisor of `number` that is at least `least`; at most `number`. */
static int divisor_above(int number, int least)
{
    int divisor = least;

    while (divisor < number && number % divisor != 0)
        divisor++;
    return divisor < number ? divisor : number;
}

/* Says which numbers near a given one divide the other. */
static enum pp_status uneven(const struct pp_given *given, int value, const char *what, int number,
                             struct pp_error *err)
{
    const int below = divisor_below(number, value), above = divisor_above(number, value);

    pp_error_set(err, PP_EINVAL, "%s does not divide %s %d; nearest: %d", given->typed, what,
                 number, below);
    return above > below ? pp_error_append(err, " or %d", above) : err->status;
}

/* Pieces are whole parts of groups, and of the batch where sequences are counted. */
static enum pp_status check_groups(const struct pp_wish *wish, const struct pp_generation *g,
                                   bool has_batch, struct pp_error *err)
{
    const struct pp_given *pieces = &wish->given.prompt_groups;

    if (has_batch)
        PP_TRY(pp_resolve_file_batch(wish, g, err));
    if (has_batch && g->batch % g->groups != 0)
        return uneven(&wish->given.groups, g->groups, "the batch of", g->batch, err);
    if (g->prompt_groups % g->groups != 0) {
        const int below = g->prompt_groups / g->groups * g->groups;
        pp_error_set(err, PP_EINVAL,
                     "%s is not a multiple of the %d groups; nearest: ", pieces->typed, g->groups);
        return below ? pp_error_append(err, "%d or %d", below, below + g->groups)
                     : pp_error_append(err, "%d", g->groups);
    }
    if (has_batch && g->prompt_groups > g->batch)
        return pp_error_set(err, PP_EINVAL,
                            "%s: a piece has at least one of the %d sequences; nearest: %d",
                            pieces->typed, g->batch, g->batch);
    if (has_batch && g->batch % g->prompt_groups != 0)
        return uneven(pieces, g->prompt_groups, "the batch of", g->batch, err);
    if (pp_generation_pieces(g) > MOST_PIECES)
        return pp_error_set(err, PP_EINVAL, "%s: a group is read in at most %d pieces; nearest: %d",
                            pieces->typed, MOST_PIECES, MOST_PIECES * g->groups);
    return PP_OK;
}

/* Fills in what is not given. */
static void choose_groups(const struct pp_wish *wish, struct pp_config *config)
{
    struct pp_generation *g = &config->generation;
    const struct pp_program *file = config->file_program;
    const int ranks = config->shape.ranks;

    g->prompt_groups = file ? file->micro_batches * file->granules : wish->prompt_groups;
    g->groups = file ? file->micro_batches : wish->groups;
    g->batch = wish->batch;
    if (!g->batch)
        g->batch = g->prompt_groups ? g->prompt_groups : g->groups ? g->groups : 1;
    if (config->is_unit && !g->groups)
        g->groups = g->prompt_groups ? divisor_below(g->prompt_groups, ranks) : ranks;
    if (!g->groups)
        g->groups = divisor_below(
            g->prompt_groups && g->batch % g->prompt_groups == 0 ? g->prompt_groups : g->batch,
            ranks);
    if (!g->prompt_groups)
        g->prompt_groups = g->groups;
    config->origin.chosen |=
        (wish->batch ? 0U : PP_CHOSE_GBS) | (file || wish->groups ? 0U : PP_CHOSE_MICRO_BATCHES);
}

/* Checks what is wrong for any number of ranks, before layouts are tried. */
static enum pp_status check_batch(const struct pp_wish *wish, const struct pp_config *config,
                                  struct pp_error *err)
{
    struct pp_config trial = *config;

    trial.shape.ranks = 1;
    choose_groups(wish, &trial);
    return check_groups(wish, &trial.generation, true, err);
}

enum pp_status pp_resolve_groups(const struct pp_wish *wish, struct pp_config *config,
                                 struct pp_error *err)
{
    struct pp_generation *g = &config->generation;
    struct pp_layout *l = &config->layout;

    choose_groups(wish, config);
    PP_TRY(check_groups(wish, g, !config->is_unit, err));
    l->mbs = config->is_unit ? 1 : g->batch / g->groups;
    l->micro_batches = g->groups;
    l->gbs = (int64_t)l->dp * l->mbs * g->groups;
    config->shape.micro_batches = g->groups;
    config->shape.granules = pp_generation_pieces(g);
    return PP_OK;
}

/* ---- prompts, tokens, cache ------------------------------------------------------------------ */

static enum pp_status read_cache(const struct pp_wish *wish, struct pp_generation *g,
                                 struct pp_error *err)
{
    static const char PAGED[] = "paged:";
    int64_t tokens;

    if (!wish->kv || !strcmp(wish->kv, "contiguous"))
        return PP_OK;
    if (strncmp(wish->kv, PAGED, sizeof(PAGED) - 1) != 0 ||
        pp_units_parse_int(wish->kv + sizeof(PAGED) - 1, 1, 1 << 20, &tokens, err) != PP_OK)
        return pp_error_set(err, PP_EINVAL,
                            "--kv %s: expected contiguous, or paged:TOKENS with the tokens of a "
                            "page, such as paged:16",
                            wish->kv);
    g->kv_page_tokens = (int)tokens;
    return PP_OK;
}

/* Learned positions limit the tokens of a sequence; rotary ones do not. */
static enum pp_status check_positions(const struct pp_wish *wish, const struct pp_config *config,
                                      struct pp_error *err)
{
    const struct pp_generation *g = &config->generation;
    const struct pp_model *m = &config->model;
    const int most = m->positions - pp_model_numerics(m).position_offset;

    if (m->positions == 0 || g->prompt_tokens + g->passes <= most)
        return PP_OK;
    pp_error_set(err, PP_EINVAL, "%s %d and %s %d: %s has a table of %d positions; nearest: ",
                 wish->given.prompt.spelled, g->prompt_tokens, wish->given.tokens.spelled,
                 g->passes, m->name, most);
    return g->prompt_tokens < most ? pp_error_append(err, "--tokens %d", most - g->prompt_tokens)
                                   : pp_error_append(err, "--prompt %d", most - g->passes);
}

static enum pp_status check_sequence(const struct pp_wish *wish, const struct pp_config *config,
                                     struct pp_error *err)
{
    const struct pp_generation *g = &config->generation;

    if (!config->model.is_causal && g->passes > 1)
        return pp_error_set(err, PP_EINVAL,
                            "%s: %s is an encoder, which reads a prompt once and generates "
                            "nothing; nearest: --tokens 1",
                            wish->given.tokens.typed, config->model.name);
    if (wish->given.packed.count && (g->packed_frac <= 0 || g->packed_frac > 1))
        return pp_error_set(err, PP_EINVAL,
                            "%s: a share above 0 and at most 100 %% of the tokens is real; "
                            "nearest: --packed %s",
                            wish->given.packed.typed, g->packed_frac > 1 ? "100%" : "1%");
    return check_positions(wish, config, err);
}

/* An encoder reads all tokens in one pass, so it keeps no keys and values. */
static enum pp_status check_cache(const struct pp_wish *wish, const struct pp_config *config,
                                  struct pp_error *err)
{
    const struct pp_given *given[] = {&wish->given.kv, &wish->given.kv_bits, &wish->given.offload};
    const bool is_away = pp_state_is_away(&config->wanted, PP_STATE_CACHE);

    for (size_t i = 0; i < PP_COUNT(given) && !config->model.is_causal; i++)
        if (given[i]->count && (given[i] != &wish->given.offload || is_away))
            return pp_error_set(err, PP_EINVAL,
                                "%s: %s is an encoder, which keeps no keys and values; %s",
                                given[i]->typed, config->model.name,
                                is_away ? "nearest: --offload p=host" : "leave it out");
    return PP_OK;
}

/* Keys and values go through buffers, but have no units. */
static enum pp_status check_units(const struct pp_wish *wish, const struct pp_config *config,
                                  struct pp_error *err)
{
    const struct pp_given *given[] = {&wish->given.gather, &wish->given.cache, &wish->given.evict};

    for (size_t i = 0; i < PP_COUNT(given); i++)
        if (given[i]->count && pp_state_is_away(&config->wanted, PP_STATE_CACHE) &&
            !pp_state_is_away(&config->wanted, PP_STATE_PARAMS))
            return pp_error_set(err, PP_EINVAL,
                                "%s has no effect: parameters stay on the device, and keys and "
                                "values move block by block; nearest: --offload p,kv=host",
                                given[i]->typed);
    return PP_OK;
}

/* Parameters and the cache can live on another tier: training alone has the other classes. */
static enum pp_status check_tiers(const struct pp_wish *wish, const struct pp_config *config,
                                  struct pp_error *err)
{
    static const enum pp_state_class TRAINING[] = {PP_STATE_GRADS, PP_STATE_OPTIMIZER,
                                                   PP_STATE_ACTIVATIONS};

    for (size_t i = 0; i < PP_COUNT(TRAINING); i++)
        if (pp_state_is_away(&config->wanted, TRAINING[i]))
            return pp_error_set(err, PP_EINVAL,
                                "%s is of training: with --mode infer parameters and the cache "
                                "can be on another tier; nearest: --offload p=host, --offload "
                                "kv=host",
                                wish->given.offload.typed);
    return PP_OK;
}

static enum pp_status check_training(const struct pp_wish *wish, const struct pp_config *config,
                                     struct pp_error *err)
{
    return pp_state_is_away(&config->wanted, PP_STATE_CACHE)
               ? pp_error_set(err, PP_EINVAL,
                              "%s: kv, the cache of keys and values, is of --mode infer; nearest: "
                              "--offload a=host",
                              wish->given.offload.typed)
               : PP_OK;
}

/* Returns the bits of choice k of "16|8|4"; 0 = not given. */
static int bits_of(const struct pp_given *given, int choice)
{
    return given->count ? 16 >> choice : 0;
}

enum pp_status pp_resolve_generation(const struct pp_wish *wish, struct pp_config *config,
                                     struct pp_error *err)
{
    struct pp_generation *g = &config->generation;

    *g = (struct pp_generation){0};
    PP_TRY(read_cache(wish, g, err));
    if (!pp_wish_generates(wish)) {
        *g = (struct pp_generation){0};
        return check_training(wish, config, err);
    }
    const bool is_encoder = !config->is_unit && !config->model.is_causal;
    g->passes = wish->tokens ? wish->tokens : is_encoder ? 1 : USUAL_TOKENS;
    g->prompt_tokens = wish->prompt;
    g->kv_bits = bits_of(&wish->given.kv_bits, wish->kv_bits);
    g->weight_bits = bits_of(&wish->given.weight_bits, wish->weight_bits);
    g->packed_frac = wish->packed;
    g->sampling = (enum pp_sampling)wish->sampling;
    config->origin.chosen |=
        (wish->tokens ? 0U : PP_CHOSE_TOKENS) | (wish->given.prompt.count ? 0U : PP_CHOSE_SEQ);
    config->costs.is_tp_only = true;
    config->costs.recompute = PP_RECOMPUTE_NONE;
    config->origin.chosen &= ~(unsigned)(PP_CHOSE_RECOMPUTE | PP_CHOSE_ZERO);
    config->layout.seq = g->prompt_tokens;
    if (config->is_unit)
        return PP_OK;
    PP_TRY(check_sequence(wish, config, err));
    PP_TRY(check_tiers(wish, config, err));
    PP_TRY(check_cache(wish, config, err));
    PP_TRY(check_units(wish, config, err));
    return check_batch(wish, config, err);
}

/* ---- shape ----------------------------------------------------------------------------------- */

/* A program file has its passes, groups and pieces. */
static enum pp_status check_file(const struct pp_wish *wish, const struct pp_config *config,
                                 struct pp_error *err)
{
    const struct pp_program *file = config->file_program;
    const struct {
        const struct pp_given *given;
        int typed, value;
    } fixed[] = {
        {&wish->given.tokens, wish->tokens, file->passes},
        {&wish->given.groups, wish->groups, file->micro_batches},
        {&wish->given.prompt_groups, wish->prompt_groups, file->micro_batches * file->granules}};

    for (size_t i = 0; i < PP_COUNT(fixed); i++)
        if (fixed[i].given->count && fixed[i].typed != fixed[i].value)
            return pp_error_set(err, PP_EINVAL, "%s contradicts %s, which has %d",
                                fixed[i].given->typed, wish->schedule, fixed[i].value);
    return PP_OK;
}

enum pp_status pp_resolve_passes(const struct pp_wish *wish, struct pp_config *config,
                                 struct pp_error *err)
{
    if (config->generation.passes == 0)
        return PP_OK;
    config->origin.chosen &= ~(unsigned)PP_CHOSE_VP;
    if (!config->file_program) {
        config->shape.chunks = config->generation.passes;
        return PP_OK;
    }
    PP_TRY(check_file(wish, config, err));
    config->generation.passes = config->file_program->passes;
    config->origin.chosen &= ~(unsigned)PP_CHOSE_TOKENS;
    return config->is_unit ? PP_OK : check_sequence(wish, config, err);
}
