/* exec/stage/generate.h — a stage that generates: it reads prompts, and then decodes one token of
 * each sequence in a call. It has no backward, saves nothing, and has no loss.
 *
 * Such a stage has shape.context > 0, and is called by pp_stage_forward() alone. Its parameters are
 * those of a stage that trains, at the same places, whatever rows and tokens are. So a rank has one
 * stage for prompts and one for tokens, and one vector of weights for both:
 *
 *   prompts   rows: sequences of a piece, tokens: those of a prompt, position 0
 *   tokens    rows: sequences of a group, tokens 1, position: those before it in the sequence
 *
 * Both put keys and values of their tokens into the cache:
 *
 *   [sequences][blocks][positions][2][kv_heads * head_dim] of T, keys and then values
 *
 * where kv_heads are those of this device. A block has shape.context positions. With a window it
 * has no more than that: position p takes the place of p - window. work.cache is the first
 * sequence of the call. A prompt meets its own keys alone, and needs no cache if no token comes
 * after it.
 *
 *   in, out   [rows * tokens][hidden] of T: boundary_bytes. In the stage with the embedding, ids
 *             [rows][tokens] without gaps instead of `in`
 *   logits    of the stage with the head, for the last token of each sequence; `out` is not used
 *   scratch   scratch_bytes, as ever. kept, saved, targets, loss and grads are not used
 *
 * Devices of a tensor-parallel group have heads, and exchange parts of sums, as in training. So
 * these calls have segments, too. The last exchange gathers the logits, and all devices have those
 * of all words: if all choose alike, each knows the next token. */
#pragma once

#include "exec/stage/stage.h"

static inline bool pp_stage_generates(const struct pp_stage_shape *shape)
{
    return shape->context > 0;
}

/* PP_EINVAL if the net cannot generate: an encoder, or without room for `context` positions. */
enum pp_status pp_net_check_context(const struct pp_net *net, int context, struct pp_error *err);

/* Creates the whole model as one stage that generates, for a device as in struct pp_stage_share. */
struct pp_stage *pp_stage_whole_generating(struct pp_arena *arena, const struct pp_net *net,
                                           int rows, int tokens, int context,
                                           struct pp_stage_share share,
                                           const struct pp_kernels *kernels);

/* Bytes of the cache of so many sequences, which are pp_stage_sequence_bytes() apart. */
size_t pp_stage_cache_bytes(const struct pp_stage *stage, int sequences);

/* Bytes of work.logits, 0 without a head. They have the rows of each device of the group, one
 * device after the other. A row is padded as the head's matrix is. */
size_t pp_stage_logits_bytes(const struct pp_stage *stage);
/* Reads the logits of one row in the host's memory: to[vocab]. The numbers are exact. */
void pp_stage_read_logits(const struct pp_stage *stage, const void *logits, int row, double *to);

/* Chooses the token at `position` of a sequence, by the logits of all words: [words], exactly as
 * computed, whatever their type. -1: some are no finite numbers. */
typedef int32_t (*pp_choose_fn)(void *closure, int sequence, int position, const double *logits,
                                int words);
/* The fault of such logits, of a sequence and a position. */
#define PP_LOGITS_FAULT                                                                            \
    "sequence %d, position %d: the logits are not finite numbers; the weights may be broken"
/* The word with the largest logit, the first of several. */
int32_t pp_choose_largest(void *closure, int sequence, int position, const double *logits,
                          int words);
