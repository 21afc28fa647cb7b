/* exec/program/generation.h — memory of a generating program, whose stages pass the model several
 * times: see exec/machine/generate.h. A rank has the weights of each of its stages of the model
 * once, and one cache for all sequences. */
#pragma once

#include "exec/stage/generate.h"
#include "schedules/program/program.h"

#include <stdint.h>

/* Offsets in a rank's block. */
struct pp_generating_layout {
    size_t *cache_offset;  /* [stage of the model]; SIZE_MAX = not on this rank */
    size_t *output_offset; /* what it hands to the next one on this rank, granule by granule */
    size_t cache_bytes;    /* of all of them */
    size_t logits_offset;  /* of one call of the head */
    size_t chosen_offset;  /* tokens of a call of the last pass */
    size_t fed_offset;     /* ids of a call that come in several messages */
    size_t own_bytes;      /* of the last three */
};

/* Returns the bytes of a granule that stage v hands to the next one: activations, or a token of
 * each sequence where a pass ends. */
size_t pp_output_pitch(const struct pp_program *p, const struct pp_stage *const *stages, int v);
/* Returns those of a SEND or RECV; in training, of any program. */
size_t pp_message_pitch(const struct pp_program *p, const struct pp_stage *const *stages, int i);

/* PP_EPROGRAM: a generating machine cannot execute the program. */
enum pp_status pp_check_generating(const struct pp_program *p, struct pp_error *err);
