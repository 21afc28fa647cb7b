/* exec/reference/decode.h — the oracle of generation: the same tokens on one rank, without program
 * or messages. The whole model is one stage. A loop takes group after group: its prompts, piece by
 * piece, and then a token of each of its sequences at a time. Without a cache, every token is that
 * of its whole prefix. */
#pragma once

#include "core/model/generation.h"
#include "exec/reference/reference.h"
#include "exec/stage/generate.h"

struct pp_decoding {
    const struct pp_net *net;
    const struct pp_kernels *kernels;
    const struct pp_place *place;   /* share: its devices run in turn */
    const struct pp_generation *of; /* of one replica */
    bool is_again;                  /* without a cache */
};
struct pp_decoder;
/* Opens a device and takes all memory. `net` and `kernels` are kept by reference; the arena closes
 * the device. PP_EINVAL: see pp_net_check_context(). PP_EFAIL, with sizes: not enough memory. */
enum pp_status pp_decoder_create(struct pp_arena *arena, const struct pp_decoding *decoding,
                                 struct pp_decoder **decoder, struct pp_error *err);

/* Weights, which are zero at first: those of a recipe's source or seed, or those that a stage has
 * in memory of the host. Such a stage is any one of the model, of device `tp_index`. */
void pp_decoder_draw(struct pp_decoder *decoder, const struct pp_recipe *recipe);
void pp_decoder_take(struct pp_decoder *decoder, int tp_index, const struct pp_stage *stage,
                     const struct pp_state *state);

/* Makes tokens[batch][passes] of prompts[batch][prompt_tokens]. `choose` is called for each of
 * them, pass by pass within a group; `sequence` is counted from first_sequence on. PP_EFAIL: the
 * device fails. */
struct pp_decoder_run {
    const int32_t *prompts;
    int first_sequence;
    pp_choose_fn choose; /* NULL: pp_choose_largest() */
    void *closure;
    int32_t *tokens;
};
enum pp_status pp_decoder_run(struct pp_decoder *decoder, const struct pp_decoder_run *run,
                              struct pp_error *err);
/* Bytes of the cache of one group, per device; 0 = there is none. */
size_t pp_decoder_cache_bytes(const struct pp_decoder *decoder);
