/* schedules/evaluate/weight_stream.h — weight gradients on a lane of their own, concurrent with the
 * other ops of a rank.
 *
 * A rank's list is the order of one lane. If W runs on a second lane, in list order, only data
 * dependencies remain between the lanes. An instruction waits for the last one of the other lane
 * that writes its input. It also waits for the last one that reads the data that it overwrites, or
 * adds to the same gradient.
 *
 *   W            after the I of its cells, and the last B of its stage
 *   F, R         after the last W that reads the slot which they fill; so does COPY.up
 *   B            after the last W of its stage; so does a MOVE of gradients off the device
 *   AR, RS       after the last B and the last W of their stage, posted on the lane of the later
 *   U, BAR       after all W of the stage, of the rank
 *
 * A W in an overlapped pair runs on the lane of the pair. */
#pragma once

#include "schedules/program/program.h"

/* Indexed by instruction of the program. */
struct pp_weight_stream {
    bool *is_on;      /* runs, or is posted, on the second lane */
    int32_t *after;   /* instruction of the other lane that it waits for; -1: none, or implied by an
                       * earlier wait. Of an overlapped pair: at its first op */
    bool *is_awaited; /* an instruction of the other lane waits for it */
};

/* Returns the lanes of a lowered program; NULL if no W could run concurrently. */
struct pp_weight_stream *pp_weight_stream_create(struct pp_arena *arena,
                                                 const struct pp_program *program);

/* Is true if the instruction is on the second lane; without lanes, none is. */
static inline bool pp_weight_stream_has(const struct pp_program *program, int instruction)
{
    return program->weight_stream && program->weight_stream->is_on[instruction];
}
static inline const bool *pp_weight_stream_map(const struct pp_program *program)
{
    return program->weight_stream ? program->weight_stream->is_on : NULL;
}
static inline int pp_weight_stream_after(const struct pp_program *program, int instruction)
{
    return program->weight_stream ? program->weight_stream->after[instruction] : -1;
}
