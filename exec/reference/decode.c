/* Decodes on one rank: one loop, one stage. It shares the code of stages with workers, but has no
 * program that could be wrong. All groups use the same memory in turn. */
#include "exec/reference/decode_parts.h"

#include <string.h>

/* Sequences of a call, within a group. */
struct piece {
    int group, first, rows, pass;
};

/* ---- weights --------------------------------------------------------------------------------- */

static char *weights_of(const struct pp_decoder *d, int t)
{
    return d->weights.on_host + (d->parts[t].weights - d->weights.on_device);
}

void pp_decoder_draw(struct pp_decoder *d, const struct pp_recipe *recipe)
{
    for (int t = 0; t < d->tp; t++) {
        const struct pp_stage *stage = pp_decoder_stage(d, t, 0);
        const struct pp_range all = {0, stage->elements};
        const struct pp_state state = {.weights = weights_of(d, t), .share = all, .held = all};

        memset(state.weights, 0, d->parts[t].weights_bytes);
        pp_state_fill(stage, d->decoding.kernels, recipe, &state);
    }
}

void pp_decoder_take(struct pp_decoder *d, int tp_index, const struct pp_stage *stage,
                     const struct pp_state *state)
{
    const size_t bytes = d->decoding.kernels->element_bytes;

    for (int p = 0; p < stage->param_count; p++) {
        const struct pp_param *from = &stage->params[p],
                              *to = pp_stage_find(pp_decoder_stage(d, tp_index, 0), from->id);
        memcpy(weights_of(d, tp_index) + (size_t)to->offset * bytes,
               pp_state_weight(state, d->decoding.kernels, from->offset),
               (size_t)from->count * bytes);
    }
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static int position_of(const struct pp_decoder *d, int pass)
{
    return d->decoding.is_again || pass == 0 ? 0 : d->of.prompt_tokens + pass - 1;
}

/* Gathers the tokens that the sequences of a call read. */
static void gather_ids(const struct pp_decoder *d, const struct pp_decoder_run *run,
                       const struct piece *piece)
{
    const int tokens = pp_decoder_stage(d, 0, piece->pass)->shape.tokens,
              prompt = d->of.prompt_tokens, position = position_of(d, piece->pass);

    for (int row = 0; row < piece->rows; row++) {
        const int64_t sequence = piece->group * pp_decoder_sequences(d) + piece->first + row;
        for (int i = 0; i < tokens; i++) {
            const int at = position + i;
            d->ids[row * tokens + i] = at < prompt
                                           ? run->prompts[sequence * prompt + at]
                                           : run->tokens[sequence * d->of.passes + at - prompt];
        }
    }
}

static void forward(const struct pp_kernels *k, void *stream, void *decoder)
{
    struct pp_decoder *d = decoder;

    pp_turn_call(k, stream, &d->turn, PP_CALL_FORWARD);
}

static enum pp_status run_call(struct pp_decoder *d, const struct piece *piece,
                               struct pp_error *err)
{
    const struct pp_backend *backend = d->decoding.place->backend;

    for (int t = 0; t < d->tp; t++) {
        const struct pp_decoder_part *p = &d->parts[t];
        struct pp_stage *stage = pp_decoder_stage(d, t, piece->pass);
        const size_t before = (size_t)piece->first * pp_stage_sequence_bytes(stage);

        d->turn.works[t] =
            (struct pp_stage_work){.stage = stage,
                                   .weights = p->weights,
                                   .ids = d->ids,
                                   .scratch = p->scratch,
                                   .position = position_of(d, piece->pass),
                                   .cache = d->decoding.is_again ? NULL : p->cache + before,
                                   .logits = p->logits};
    }
    pp_alarm_switch(d->alarm);
    backend->begin(d->device);
    backend->launch(d->device, 0, forward, d);
    const enum pp_status status = backend->finish(d->device, err);
    pp_alarm_switch(d->alarm);
    return status == PP_OK ? pp_staging_fetch(&d->logits, err) : status;
}

static enum pp_status decode(struct pp_decoder *d, const struct pp_decoder_run *run,
                             const struct piece *piece, struct pp_error *err)
{
    const pp_choose_fn choose = run->choose ? run->choose : pp_choose_largest;
    const struct pp_stage *stage = pp_decoder_stage(d, 0, piece->pass);

    gather_ids(d, run, piece);
    PP_TRY(run_call(d, piece, err));
    for (int row = 0; row < piece->rows; row++) {
        const int sequence = piece->group * pp_decoder_sequences(d) + piece->first + row;

        pp_stage_read_logits(stage, d->logits.on_host, row, d->of_row);
        run->tokens[(int64_t)sequence * d->of.passes + piece->pass] =
            choose(run->closure, run->first_sequence + sequence, d->of.prompt_tokens + piece->pass,
                   d->of_row, d->decoding.net->vocab);
    }
    return PP_OK;
}

enum pp_status pp_decoder_run(struct pp_decoder *d, const struct pp_decoder_run *run,
                              struct pp_error *err)
{
    PP_TRY(pp_staging_push(&d->weights, err));
    for (int group = 0; group < d->of.groups; group++)
        for (int pass = 0; pass < d->of.passes; pass++) {
            const int rows = pp_decoder_sequences(d) / pp_decoder_pieces(d, pass);
            for (int first = 0; first < pp_decoder_sequences(d); first += rows)
                PP_TRY(decode(d, run, &(struct piece){group, first, rows, pass}, err));
        }
    return PP_OK;
}
