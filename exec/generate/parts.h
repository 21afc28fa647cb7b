/* exec/generate/parts.h — private to exec/generate. */
#pragma once

#include "exec/generate/generate.h"
#include "exec/generate/stream.h"
#include "exec/machine/generate.h"
#include "exec/reference/decode.h"

/* ---- speak.c: the text of the first sequence, as it comes ------------------------------------ */

struct pp_speaker {
    const struct pp_generate *g;
    struct pp_char_stream stream; /* out NULL: nothing is printed */
};
void pp_speaker_begin(struct pp_speaker *speaker, const struct pp_generate *g, FILE *out);
void pp_speaker_token(struct pp_speaker *speaker, int32_t token);
void pp_speaker_end(struct pp_speaker *speaker);
/* Returns the text that a sequence has continued with, in the arena. */
const char *pp_generate_text(struct pp_arena *arena, const struct pp_generate *g, int sequence);

/* ---- alone.c: one group of sequences on one rank --------------------------------------------- */

/* Makes a decoder of one group, with a cache or without, and gives it its weights. */
enum pp_status pp_generate_alone(struct pp_arena *arena, struct pp_generate *g, bool is_again,
                                 struct pp_decoder **decoder, struct pp_error *err);
/* Returns the prompts of sequences `first` to first + count - 1: [count][tokens]. */
int32_t *pp_generate_prompts_of(struct pp_arena *arena, const struct pp_generate *g, int first,
                                int count);

/* Called by watchdogs with the run: a device or a rank hangs, and this does not return. */
static inline void pp_generate_on_stuck(void *generate, const struct pp_error *err)
{
    ((const struct pp_generate *)generate)->stuck(err);
}

/* ---- figures.c ------------------------------------------------------------------------------- */

/* Fills in all figures of a run but its tokens, and the trace. */
enum pp_status pp_generate_figures(struct pp_arena *arena, struct pp_generate *g,
                                   struct pp_machine *machine,
                                   const struct pp_machine_options *options, struct pp_error *err);

/* Returns the sequences of a group. */
static inline int pp_generate_group(const struct pp_generate *g)
{
    return g->of.batch / g->of.groups;
}
