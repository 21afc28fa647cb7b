/* Which model a row means: dimensions as they stand, kind of matrices by name, by the feed-forward
 * size and, where that leaves a doubt, by the number of parameters. */
#include "sim/validate_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 1 << 28 };

struct dimensions {
    int64_t layers, hidden, heads, kv_heads, ffn, vocab, seq;
};

static enum pp_status read_dimensions(const struct pp_measurement *row, struct dimensions *d,
                                      struct pp_error *err)
{
    PP_TRY(pp_measure_int(row, PP_COL_LAYERS, UINT16_MAX, 0, &d->layers, err));
    PP_TRY(pp_measure_int(row, PP_COL_HIDDEN, PP_OPTION_BIG, 0, &d->hidden, err));
    PP_TRY(pp_measure_int(row, PP_COL_HEADS, PP_OPTION_BIG, 0, &d->heads, err));
    PP_TRY(pp_measure_int(row, PP_COL_KV_HEADS, PP_OPTION_BIG, d->heads, &d->kv_heads, err));
    PP_TRY(pp_measure_int(row, PP_COL_FFN, 1 << 24, 4 * d->hidden, &d->ffn, err));
    PP_TRY(pp_measure_int(row, PP_COL_VOCAB, MOST, 0, &d->vocab, err));
    return pp_measure_int(row, PP_COL_SEQ, 1 << 24, 0, &d->seq, err);
}

/* The word behind an option of the command so far, or NULL. */
static const char *given(const struct pp_measure_writer *w, const char *option)
{
    const struct pp_measure_command *c = w->command;

    for (int i = 0; i + 1 < c->argc; i++)
        if (!strncmp(c->argv[i], "--", 2) && !strcmp(c->argv[i] + 2, option))
            return c->argv[i + 1];
    return NULL;
}

static double params_of(const struct pp_model *base, const struct dimensions *d, bool is_gated,
                        bool is_tied)
{
    struct pp_model m = *base;

    m.layers = (int)d->layers;
    m.hidden = (int)d->hidden;
    m.heads = (int)d->heads;
    m.kv_heads = (int)d->kv_heads;
    m.head_dim = (int)(d->hidden / d->heads);
    m.ffn = (int)d->ffn;
    m.vocab = (int)d->vocab;
    m.positions = m.positions ? (int)d->seq : 0;
    m.is_gated = is_gated;
    m.is_tied = is_tied;
    return pp_model_params(&m);
}

/* Sizes are printed with two or three digits. */
#define ROUNDING_FRAC 0.02

static bool is_near(double params, double printed)
{
    return fabs(params / printed - 1) <= ROUNDING_FRAC;
}

/* What is not said by name follows from the number of parameters where only one answer gives it. */
static void settle_kind(struct pp_measure_writer *w, const struct pp_model *base,
                        const struct dimensions *d, bool *is_gated, bool *is_tied)
{
    const double printed = 1e9 * pp_measure_number(w->row, PP_COL_PARAMS_B);
    double best = fabs(log(params_of(base, d, *is_gated, *is_tied) / printed));
    bool gated = *is_gated, tied = *is_tied;

    if (!isfinite(printed) || is_near(params_of(base, d, *is_gated, *is_tied), printed))
        return;
    for (int i = 0; i < 4; i++) {
        const double params = params_of(base, d, i & 1, i & 2);
        if ((given(w, "mlp") && (i & 1) != *is_gated) ||
            (given(w, "embedding") && (bool)(i & 2) != *is_tied) || !is_near(params, printed) ||
            fabs(log(params / printed)) >= best)
            continue;
        best = fabs(log(params / printed));
        gated = i & 1;
        tied = i & 2;
    }
    if (gated != *is_gated || tied != *is_tied)
        pp_measure_note(w, pp_arena_printf(w->arena, "%s, %s: so the parameters are %sB",
                                           gated ? "gated" : "plain", tied ? "tied" : "untied",
                                           w->row->cell[PP_COL_PARAMS_B]));
    *is_gated = gated;
    *is_tied = tied;
}

enum pp_status pp_measure_put_model(struct pp_measure_writer *w, struct pp_error *err)
{
    struct dimensions d;
    struct pp_model base;

    PP_TRY(read_dimensions(w->row, &d, err));
    if (d.hidden % d.heads)
        return pp_error_set(err, PP_EINVAL,
                            "contradiction: hidden %" PRId64 " is no multiple of heads %" PRId64,
                            d.hidden, d.heads);
    pp_measure_put(w, "model", d.ffn == 4 * d.hidden ? "gpt3-175b" : "llama2-7b");
    PP_TRY(pp_model_load(w->arena, given(w, "model"), &base, err));
    const char *mlp = given(w, "mlp"), *embedding = given(w, "embedding");
    bool is_gated = mlp ? !strcmp(mlp, "gated") : base.is_gated;
    bool is_tied = embedding ? !strcmp(embedding, "tied") : base.is_tied;
    settle_kind(w, &base, &d, &is_gated, &is_tied);
    const struct {
        const char *option;
        int64_t value;
    } sizes[] = {{"layers", d.layers},     {"hidden", d.hidden}, {"heads", d.heads},
                 {"kv-heads", d.kv_heads}, {"ffn", d.ffn},       {"vocab", d.vocab}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        pp_measure_put(w, sizes[i].option, pp_arena_printf(w->arena, "%" PRId64, sizes[i].value));
    pp_measure_put(w, "mlp", is_gated ? "gated" : "plain");
    pp_measure_put(w, "embedding", is_tied ? "tied" : "untied");
    return PP_OK;
}
