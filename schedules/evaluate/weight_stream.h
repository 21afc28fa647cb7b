/* schedules/evaluate/weight_stream.h — weight gradients on a lane of their own, concurrent with the
 * other ops of a rank.
 *
 * A rank's list is the order of one lane. Where W runs on a second lane, in the order of the list
 * among themselves, only data dependencies remain between the lanes. An instruction comes after the
 * last one of the other lane whose output it reads. The same holds for the last one that reads what
 * it overwrites, or adds to the same gradient.
 *
 *   W            after the I of its cells, and the last B of its stage
 *   F, R         after the last W that reads the slot which they fill
 *   B            after the last W of its stage
 *   AR, RS       after the last B and the last W of their stage: posted where the later one runs
 *   U, BAR       after all W of the stage, of the rank
 *
 * A W that is half of an overlapped pair runs where the pair does. */
#pragma once

#include "schedules/program/program.h"

/* By instruction of the program. */
struct pp_weight_stream {
    bool *is_on;      /* runs, or is posted, on the second lane */
    int32_t *after;   /* the instruction of the rank's other lane that it waits for; -1: none, or it
                       * follows from an earlier wait. Of an overlapped pair: at its first op */
    bool *is_awaited; /* an instruction of the other lane waits for it */
};

/* Of a lowered program; NULL where no W could run concurrently. */
struct pp_weight_stream *pp_weight_stream_create(struct pp_arena *arena,
                                                 const struct pp_program *program);

/* Asked of any program: where no lane is, all runs in the order of the list. */
static inline bool pp_weight_stream_has(const struct pp_program *program, int instruction)
{
    return program->weight_stream && program->weight_stream->is_on[instruction];
}
/* [instruction], NULL: none. */
static inline const bool *pp_weight_stream_map(const struct pp_program *program)
{
    return program->weight_stream ? program->weight_stream->is_on : NULL;
}
static inline int pp_weight_stream_after(const struct pp_program *program, int instruction)
{
    return program->weight_stream ? program->weight_stream->after[instruction] : -1;
}
