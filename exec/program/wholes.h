/* exec/program/wholes.h — buffers for what is used whole although a state has only a share of it,
 * or has it on another tier. Gradients of a chunk are whole from their first backward, or from the
 * MOVE.sum before it, until their scatter or MOVE.part is over. Parameters are so from their
 * gather, or their load from another tier, to their drop. An update that loads none has a buffer
 * until its parameters are at home. Without a backward, their first sum begins with zeros. The
 * chunks of a rank take its buffers in turn. The program alone determines who has which buffer
 * when. */
#pragma once

#include "exec/state/state.h"
#include "schedules/program/program.h"

enum pp_whole_class { PP_WHOLE_PARAMS, PP_WHOLE_GRADS, PP_WHOLES };

struct pp_wholes {
    /* [instruction] buffer; -1 = none. PARAMS: of F, B, I, R, and of gathers and loads before a
     * use. So of U, and of the gathers and moves after it, if parameters live elsewhere. GRADS: of
     * B, W, RS, MOVE.sum and MOVE.part, and of a tied sum of shares for the embedding. */
    int32_t *of[PP_WHOLES];
    int32_t *head;      /* [instruction] of a tied sum: buffer of the head's gradients; -1 = none */
    bool *has_forward;  /* [instruction] a gather or load that an F uses */
    bool *has_backward; /* [pipeline * stages + stage] micro-batches run through the chunk */
    bool *is_first;     /* [instruction] the first that uses its whole gradients */
    int32_t *after; /* [instruction] of that first: the scatter that freed the buffer; -1 = none */
    /* Gradients that live on another tier: */
    bool *is_added;     /* [instruction] a MOVE.part that is added to the sum at home */
    int32_t *last_part; /* [pipeline * stages + stage] last MOVE.part of the chunk; -1 = none */
    /* [rank] number of buffers; [rank][buffer] elements of the largest chunk in it */
    int *count[PP_WHOLES];
    int64_t **elements[PP_WHOLES];
};

/* Returns the pipeline in which a rank holds a stage; -1 = none. */
int pp_wholes_pipe_of(const struct pp_program *program, int rank, int stage);

/* Returns the buffers of a lowered program, in the arena; `cuts` [stage]. */
struct pp_wholes *pp_wholes_find(struct pp_arena *arena, const struct pp_program *program,
                                 const struct pp_stage *const *stages, const struct pp_cuts *cuts);
