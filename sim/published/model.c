/* Finds the model of a row. Stated dimensions count. The kind of matrices follows from the name,
 * the feed-forward size and, in doubt, the number of parameters. */
#include "sim/published/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Names, narrower ones first. A whole preset is the model of that name: it gives the dimensions
 * that a row leaves out, and experts. Others give only the kind: biases, norms, positions. */
static const struct named {
    const char *pattern, *preset;
    bool is_whole;
} NAMES[] = {
    {"deepseek*v3", "deepseek-v3", true},
    {"deepseek*v2*lite", "deepseek-v2-lite", true},
    {"deepseek*v2", "deepseek-v2", true},
    {"kimi*k2", "kimi-k2", true},
    {"grok-1", "grok-1", true},
    {"mixtral*8x22b", "mixtral-8x22b", true},
    {"mixtral*8x7b", "mixtral-8x7b", true},
    {"qwen3*235b*a22b", "qwen3-235b-a22b", true},
    {"qwen3*30b*a3b", "qwen3-30b-a3b", true},
    {"qwen2*57b*a14b", "qwen2-57b-a14b", true},
    {"gpt*oss*120b", "gpt-oss-120b", true},
    {"gpt*oss*20b", "gpt-oss-20b", true},
    {"llama*4*scout", "llama4-scout", true},
    {"llama*4*maverick", "llama4-maverick", true},
    {"nemotron-8b", "nemotron-8b", true},
    {"nemotron-22b", "nemotron-22b", true},
    {"nemotron*340b", "nemotron4-340b", true},
    {"nemotron*15b", "nemotron4-15b", true},
    {"internlm-20b", "internlm-20b", true},
    {"internlm-7b", "internlm-7b", true},
    {"bert*110m", "bert-base", true},
    {"nemotron", "nemotron4-15b", false},
    {"internlm", "internlm-7b", false},
    {"qwen3", "qwen3-8b", false},
    {"qwen", "qwen2.5-7b", false},
    {"mistral", "mistral-7b", false},
    {"llama", "llama2-7b", false},
    {"neox", "gpt-neox-20b", false},
    {"glm", "glm-130b", false},
    {"mpt", "mpt-7b", false},
    {"bloom", "bloom-176b", false},
    {"gpt", "gpt3-175b", false},
    {"opt-", "gpt3-175b", false},
};

/* Vocabularies in use, with the padding of Megatron-LM. */
static const int VOCABULARIES[] = {32000, 51200, 64000, 128256, 151936, 256000};

#define ROUNDING_FRAC      0.02 /* sizes are printed with two or three digits */
#define OTHER_MODEL_FACTOR 1.5  /* above it, the number is of another model */

enum { SIZES = 6, LAYERS = 0, HIDDEN, HEADS, KV_HEADS, FFN, VOCAB };
static const struct {
    enum pp_measure_column column;
    const char *option;
    int64_t most;
} SIZE[SIZES] = {
    [LAYERS] = {PP_COL_LAYERS, "layers", UINT16_MAX},
    [HIDDEN] = {PP_COL_HIDDEN, "hidden", PP_OPTION_BIG},
    [HEADS] = {PP_COL_HEADS, "heads", PP_OPTION_BIG},
    [KV_HEADS] = {PP_COL_KV_HEADS, "kv-heads", PP_OPTION_BIG},
    [FFN] = {PP_COL_FFN, "ffn", 1 << 24},
    [VOCAB] = {PP_COL_VOCAB, "vocab", 1 << 28},
};

struct meant {
    const struct named *named; /* NULL: unknown name */
    struct pp_model base;
    int64_t size[SIZES]; /* 0 = not stated */
    int64_t seq;
    bool is_gated, is_tied;
    bool has_mlp, has_embedding; /* stated in words */
};

static double params_of(const struct meant *t, int vocab, bool is_gated, bool is_tied)
{
    struct pp_model m = t->base;

    if (m.head_dim * m.heads == m.hidden)
        m.head_dim = (int)(t->size[HIDDEN] / t->size[HEADS]);
    m.layers = (int)t->size[LAYERS];
    m.hidden = (int)t->size[HIDDEN];
    m.heads = (int)t->size[HEADS];
    m.kv_heads = (int)t->size[KV_HEADS];
    m.ffn = (int)t->size[FFN];
    m.vocab = vocab;
    m.positions = m.positions ? (int)t->seq : 0;
    m.is_gated = is_gated;
    m.is_tied = is_tied;
    return pp_model_params(&m);
}

/* Returns |log| of the ratio of parameters to the printed number. */
static double distance(const struct meant *t, int vocab, bool is_gated, bool is_tied,
                       double printed)
{
    return fabs(log(params_of(t, vocab, is_gated, is_tied) / printed));
}

/* ---- conclusions ----------------------------------------------------------------------------- */

/* Lets the number of parameters decide what no word states, if only an unusual kind gives it. */
static void settle_kind(struct pp_measure_writer *w, struct meant *t, double printed)
{
    const int vocab = (int)t->size[VOCAB];
    const double usual = distance(t, vocab, t->is_gated, t->is_tied, printed);
    double best = log1p(ROUNDING_FRAC);
    bool is_gated = t->is_gated, is_tied = t->is_tied;

    if (!isfinite(printed) || usual <= best)
        return;
    for (int i = 0; i < 4; i++) {
        const bool gated = i & 1, tied = i & 2;
        const double d = distance(t, vocab, gated, tied, printed);
        if ((t->has_mlp && gated != t->is_gated) || (t->has_embedding && tied != t->is_tied) ||
            d >= best)
            continue;
        best = d;
        is_gated = gated;
        is_tied = tied;
    }
    if (is_gated == t->is_gated && is_tied == t->is_tied)
        return;
    t->is_gated = is_gated;
    t->is_tied = is_tied;
    pp_measure_note(w, pp_arena_printf(w->arena, "mlp %s, embedding %s: gives %s B parameters",
                                       is_gated ? "gated" : "plain", is_tied ? "tied" : "untied",
                                       w->row->cell[PP_COL_PARAMS_B]));
}

/* Notes a number of parameters that is far from that of the sizes, which count. */
static void compare_params(struct pp_measure_writer *w, double params, double printed)
{
    if (isfinite(printed) && fabs(log(params / printed)) > log(OTHER_MODEL_FACTOR))
        pp_measure_note(w, pp_arena_printf(w->arena,
                                           "sizes as stated: params_b \"%.20s\" contradicts them, "
                                           "they give %.3g B",
                                           w->row->cell[PP_COL_PARAMS_B], params / 1e9));
}

static void settle_vocabulary(struct pp_measure_writer *w, struct meant *t, double printed)
{
    double best = log1p(ROUNDING_FRAC);

    for (size_t i = 0; i < PP_COUNT(VOCABULARIES) && !isnan(printed); i++) {
        const double d = distance(t, VOCABULARIES[i], t->is_gated, t->is_tied, printed);
        if (d >= best)
            continue;
        best = d;
        t->size[VOCAB] = VOCABULARIES[i];
    }
    if (t->size[VOCAB])
        pp_measure_note(w, pp_arena_printf(w->arena,
                                           "vocab %" PRId64 ": of those in use the one that gives "
                                           "%s B parameters",
                                           t->size[VOCAB], w->row->cell[PP_COL_PARAMS_B]));
}

/* Completes sizes: by a whole preset, else without grouped queries and with the usual ffn. */
static void settle_sizes(struct pp_measure_writer *w, struct meant *t)
{
    const int64_t own[SIZES] = {t->base.layers,   t->base.hidden, t->base.heads,
                                t->base.kv_heads, t->base.ffn,    t->base.vocab};
    bool has_own = false;

    for (int i = 0; i < SIZES && t->named && t->named->is_whole; i++) {
        has_own = has_own || !t->size[i];
        t->size[i] = t->size[i] ? t->size[i] : own[i];
    }
    if (has_own)
        pp_measure_note(
            w, pp_arena_printf(w->arena, "model %s: sizes that are not stated", t->base.name));
    if (!t->size[KV_HEADS])
        t->size[KV_HEADS] = t->size[HEADS];
    if (!t->size[FFN])
        t->size[FFN] = 4 * t->size[HIDDEN];
}

/* ---- reading --------------------------------------------------------------------------------- */

static const struct named *name_of(const struct pp_measurement *row)
{
    for (size_t i = 0; i < PP_COUNT(NAMES); i++)
        if (pp_measure_contains(row->cell[PP_COL_MODEL], NAMES[i].pattern))
            return &NAMES[i];
    return NULL;
}

/* Returns the preset of the printed name if dimensions must come from it, as those of "GPT-3 175B".
 * A shortened model ("8-layer proxy") states its layers. */
static const char *preset_of(struct pp_arena *arena, const struct pp_measurement *row)
{
    struct pp_model model;
    bool is_exact;

    if ((*row->cell[PP_COL_LAYERS] && *row->cell[PP_COL_HIDDEN]) ||
        !pp_model_published(arena, row->cell[PP_COL_MODEL], &model, &is_exact) || !is_exact)
        return NULL;
    return strchr(model.name, ',') ? NULL : model.name;
}

bool pp_measure_is_named(const struct pp_measurement *row)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct named *named = name_of(row);

    return (named && named->is_whole) || preset_of(arena, row);
}

static const struct named *named_by(struct pp_measure_writer *w)
{
    const struct named *named = name_of(w->row);
    const char *preset = named && named->is_whole ? NULL : preset_of(w->arena, w->row);

    if (!preset)
        return named;
    struct named *own = PP_NEW(w->arena, struct named);
    *own = (struct named){.pattern = preset, .preset = preset, .is_whole = true};
    return own;
}

/* Reads the tokens of a sequence: prompt and new ones where the run generates. */
static enum pp_status read_seq(const struct pp_measure_writer *w, int64_t *seq,
                               struct pp_error *err)
{
    int64_t tokens = 0;

    if (!w->row->is_generation)
        return pp_measure_int(w->row, PP_COL_SEQ, 1 << 24, 0, seq, err);
    PP_TRY(pp_measure_int(w->row, PP_COL_NEW_TOKENS, 1 << 24, 0, &tokens, err));
    PP_TRY(pp_measure_int(w->row, PP_COL_PROMPT, 1 << 24, 0, seq, err));
    *seq += tokens;
    return PP_OK;
}

static enum pp_status read_sizes(struct pp_measure_writer *w, struct meant *t, struct pp_error *err)
{
    for (int i = 0; i < SIZES; i++)
        PP_TRY(pp_measure_int(w->row, SIZE[i].column, SIZE[i].most, 0, &t->size[i], err));
    const char *vocab = pp_measure_given(w, "vocab"); /* of a recipe */
    if (vocab)
        t->size[VOCAB] = strtoll(vocab, NULL, 10);
    PP_TRY(read_seq(w, &t->seq, err));
    t->named = named_by(w);
    const bool is_plain = !t->size[FFN] || t->size[FFN] == 4 * t->size[HIDDEN];
    const char *preset = t->named ? t->named->preset : is_plain ? "gpt3-175b" : "llama2-7b";
    PP_TRY(pp_model_load(w->arena, preset, &t->base, err));
    const char *mlp = pp_measure_given(w, "mlp"), *embedding = pp_measure_given(w, "embedding");
    t->has_mlp = mlp != NULL;
    t->has_embedding = embedding != NULL;
    t->is_gated = mlp ? !strcmp(mlp, "gated") : t->base.is_gated;
    t->is_tied = embedding ? !strcmp(embedding, "tied") : t->base.is_tied;
    return PP_OK;
}

static enum pp_status check_heads(const struct meant *t, struct pp_error *err)
{
    const bool is_free = t->base.head_dim * t->base.heads != t->base.hidden;

    if (is_free || t->size[HIDDEN] % t->size[HEADS] == 0)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "contradiction: hidden %" PRId64 " is no multiple of heads %" PRId64,
                        t->size[HIDDEN], t->size[HEADS]);
}

/* Experts are those of the preset, as no column has their number. */
static enum pp_status put_mixture(struct pp_measure_writer *w, const struct meant *t, double params,
                                  struct pp_error *err)
{
    struct pp_model whole = t->base;

    if (t->size[HIDDEN] && t->size[HIDDEN] != t->base.hidden)
        return pp_error_set(err, PP_EINVAL,
                            "model_name \"%.60s\": hidden %" PRId64 " is not that of %s, and no "
                            "column tells its experts",
                            w->row->cell[PP_COL_MODEL], t->size[HIDDEN], t->base.name);
    if (t->size[LAYERS] && t->size[LAYERS] != t->base.layers)
        pp_measure_put_int(w, "layers", t->size[LAYERS]);
    if (t->size[VOCAB] && t->size[VOCAB] != t->base.vocab)
        pp_measure_put_int(w, "vocab", t->size[VOCAB]);
    whole.layers = t->size[LAYERS] ? (int)t->size[LAYERS] : t->base.layers;
    pp_measure_put_head(w, whole.layers);
    compare_params(w, pp_model_params(&whole), params);
    struct pp_model printed;
    bool is_exact;
    if (pp_model_published(w->arena, w->row->cell[PP_COL_MODEL], &printed, &is_exact) &&
        printed.mtp > 0) {
        pp_measure_put_int(w, "mtp", printed.mtp);
        pp_measure_note(w, "mtp: the name says that a further token is predicted");
    }
    if (w->ep > w->dp * w->cp) {
        pp_measure_put(w, "etp", "1");
        pp_measure_note(w, "etp 1: ep is more than dp * cp, so that experts are not cut");
    }
    return PP_OK;
}

enum pp_status pp_measure_put_model(struct pp_measure_writer *w, struct pp_error *err)
{
    const double printed = 1e9 * pp_measure_number(w->row, PP_COL_PARAMS_B);
    struct meant t = {.named = NULL};

    PP_TRY(read_sizes(w, &t, err));
    pp_measure_put(w, "model", t.base.name);
    if (t.base.experts.count)
        return put_mixture(w, &t, printed, err);
    settle_sizes(w, &t);
    PP_TRY(check_heads(&t, err));
    if (t.size[VOCAB])
        settle_kind(w, &t, printed);
    else
        settle_vocabulary(w, &t, printed);
    if (!t.size[VOCAB])
        return pp_error_set(err, PP_EINVAL, "missing: vocab");
    compare_params(w, params_of(&t, (int)t.size[VOCAB], t.is_gated, t.is_tied), printed);
    for (int i = 0; i < SIZES; i++)
        pp_measure_put_int(w, SIZE[i].option, t.size[i]);
    if (t.base.positions > 0 && t.base.positions != t.seq)
        pp_measure_put_int(w, "positions", t.seq);
    pp_measure_put(w, "mlp", t.is_gated ? "gated" : "plain");
    pp_measure_put(w, "embedding", t.is_tied ? "tied" : "untied");
    pp_measure_put_head(w, t.size[LAYERS]);
    return PP_OK;
}
