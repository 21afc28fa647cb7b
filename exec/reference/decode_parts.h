/* exec/reference/decode_parts.h — private to exec/reference: a decoder. */
#pragma once

#include "exec/backend/staging.h"
#include "exec/reference/alarm.h"
#include "exec/reference/decode.h"
#include "exec/reference/turn.h"

struct pp_decoder_part {
    struct pp_stage **stages; /* of passes: see pp_decoder_stage() */
    size_t weights_bytes;
    char *weights, *cache, *scratch, *logits; /* on the device */
};
struct pp_decoder {
    struct pp_decoding decoding;
    struct pp_generation of;
    struct pp_backend_device *device;
    struct pp_alarm *alarm; /* runs while the device works; NULL = no watchdog */
    int tp, context;
    struct pp_decoder_part *parts;     /* [tp] */
    struct pp_staging weights, logits; /* of all parts; of the first */
    struct pp_turn turn;
    int32_t *ids;   /* [sequences of a group][context] shared with the device */
    double *of_row; /* [vocab] */
};

static inline int pp_decoder_sequences(const struct pp_decoder *d)
{
    return d->of.batch / d->of.groups;
}

static inline int pp_decoder_pieces(const struct pp_decoder *d, int pass)
{
    return pass == 0 && !d->decoding.is_again ? pp_generation_pieces(&d->of) : 1;
}

/* With a cache, all passes but that of the prompts have the same stage. */
static inline int pp_decoder_stages(const struct pp_decoder *d)
{
    return d->decoding.is_again || d->of.passes < 2 ? d->of.passes : 2;
}

static inline struct pp_stage *pp_decoder_stage(const struct pp_decoder *d, int t, int pass)
{
    return d->parts[t].stages[d->decoding.is_again ? pass : pass > 0];
}
