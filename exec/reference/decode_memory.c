/* Creation of a decoder: its stages, and memory for one group. */
#include "exec/reference/decode_parts.h"

#include "core/units.h"
#include "exec/host/host.h"

#include <string.h>

/* ---- stages ---------------------------------------------------------------------------------- */

static void make_stages(struct pp_arena *arena, struct pp_decoder *d, int t)
{
    const struct pp_decoding *g = &d->decoding;
    struct pp_stage_share share = g->place->share;

    share.tp_index = t;
    d->parts[t].stages = PP_ARRAY(arena, struct pp_stage *, pp_decoder_stages(d));
    for (int i = 0; i < pp_decoder_stages(d); i++) {
        const int tokens = g->is_again ? d->of.prompt_tokens + i : i == 0 ? d->of.prompt_tokens : 1;
        d->parts[t].stages[i] = pp_stage_whole_generating(
            arena, g->net, pp_decoder_sequences(d) / pp_decoder_pieces(d, i), tokens, d->context,
            share, g->kernels);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

struct sizes {
    size_t weights, cache, scratch, logits;
};

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The first device has most. */
static struct sizes sizes_of(const struct pp_decoder *d)
{
    const struct pp_decoder_part *p = &d->parts[0];
    const size_t elements = (size_t)p->stages[0]->elements;
    struct sizes s = {.weights = pp_whole_lines(elements * d->decoding.kernels->element_bytes),
                      .cache = pp_whole_lines(pp_decoder_cache_bytes(d))};

    for (int i = 0; i < pp_decoder_stages(d); i++) {
        s.scratch = larger(s.scratch, pp_whole_lines(p->stages[i]->scratch_bytes));
        s.logits = larger(s.logits, pp_whole_lines(pp_stage_logits_bytes(p->stages[i])));
    }
    return s;
}

size_t pp_decoder_cache_bytes(const struct pp_decoder *d)
{
    return d->decoding.is_again
               ? 0
               : pp_stage_cache_bytes(d->parts[0].stages[0], pp_decoder_sequences(d));
}

static enum pp_status check_memory(const struct pp_decoder *d, const struct sizes *s,
                                   struct pp_error *err)
{
    const struct pp_backend *backend = d->decoding.place->backend;
    const size_t tp = (size_t)d->tp, total = tp * (s->weights + s->cache + s->scratch + s->logits),
                 available = backend->available_bytes ? backend->available_bytes(d->device)
                                                      : pp_host_available_bytes();
    char text[4][PP_UNITS_TEXT_BYTES];

    if (total <= available)
        return PP_OK;
    return pp_error_set(
        err, PP_EFAIL,
        "the generation on one rank that tokens are checked against takes %s (weights %s; cache of "
        "a group %s), but the %s has %s left: run without the check, or make the model, the "
        "sequences or --batch smaller",
        pp_units_print((double)total, PP_UNIT_BYTES, text[0]),
        pp_units_print((double)(tp * s->weights), PP_UNIT_BYTES, text[1]),
        pp_units_print((double)(tp * s->cache), PP_UNIT_BYTES, text[2]),
        backend->available_bytes ? "device" : "machine",
        pp_units_print((double)available, PP_UNIT_BYTES, text[3]));
}

static void lay_out(struct pp_arena *arena, struct pp_decoder *d, const struct sizes *s, char *at)
{
    const struct pp_backend *backend = d->decoding.place->backend;
    char *rest = at + (size_t)d->tp * s->weights;

    d->weights = pp_staging_make(arena, backend, d->device, at, (size_t)d->tp * s->weights);
    memset(d->weights.on_host, 0, d->weights.bytes);
    for (int t = 0; t < d->tp; t++, rest += s->cache + s->scratch + s->logits) {
        struct pp_decoder_part *p = &d->parts[t];
        p->weights_bytes = s->weights;
        p->weights = at + (size_t)t * s->weights;
        p->cache = rest;
        p->scratch = rest + s->cache;
        p->logits = rest + s->cache + s->scratch;
    }
    d->logits = pp_staging_make(arena, backend, d->device, d->parts[0].logits, s->logits);
}

static void close_device(void *decoder)
{
    const struct pp_decoder *d = decoder;

    d->decoding.place->backend->close(d->device);
}

static enum pp_status take(struct pp_arena *arena, struct pp_decoder *d, struct pp_error *err)
{
    const struct pp_place *place = d->decoding.place;
    const struct pp_device_options options = {.kernels = d->decoding.kernels,
                                              .streams = 1,
                                              .events = 1,
                                              .workers = 1,
                                              .place = place->place,
                                              .mode = place->mode,
                                              .parts = place->parts,
                                              .left_free = place->left_free};
    const struct sizes s = sizes_of(d);
    void *memory;

    PP_TRY(place->backend->open(arena, &options, &d->device, err));
    pp_arena_defer(arena, close_device, d);
    PP_TRY(check_memory(d, &s, err));
    PP_TRY(place->backend->alloc(
        d->device, (size_t)d->tp * (s.weights + s.cache + s.scratch + s.logits), &memory, err));
    lay_out(arena, d, &s, memory);
    PP_TRY(place->backend->alloc_shared(
        d->device, sizeof(int32_t) * (size_t)pp_decoder_sequences(d) * (size_t)d->context, &memory,
        err));
    d->ids = memory;
    return PP_OK;
}

enum pp_status pp_decoder_create(struct pp_arena *arena, const struct pp_decoding *decoding,
                                 struct pp_decoder **decoder, struct pp_error *err)
{
    struct pp_decoder *d = PP_NEW(arena, struct pp_decoder);
    struct pp_place *place = PP_NEW(arena, struct pp_place);
    const struct pp_generation *of = decoding->of;

    *place = *decoding->place;
    *d = (struct pp_decoder){.decoding = *decoding,
                             .of = *of,
                             .tp = place->share.tp > 1 ? place->share.tp : 1,
                             .context = pp_generation_context(of, of->passes - 1)};
    d->decoding.place = place;
    PP_TRY(pp_net_check_context(decoding->net, d->context, err));
    d->parts = PP_ARRAY(arena, struct pp_decoder_part, d->tp);
    for (int t = 0; t < d->tp; t++)
        make_stages(arena, d, t);
    d->turn =
        pp_turn_make(arena, d->tp, pp_stage_exchange_count(d->parts[0].stages[0], PP_CALL_FORWARD));
    d->of_row = PP_ARRAY(arena, double, decoding->net->vocab);
    PP_TRY(take(arena, d, err));
    PP_TRY(pp_alarm_create(arena, place,
                           decoding->is_again
                               ? "the decoding without a cache that --check compares with"
                               : "the decoding on one rank that --check compares with",
                           &d->alarm, err));
    *decoder = d;
    return PP_OK;
}
