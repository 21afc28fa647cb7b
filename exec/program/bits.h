/* exec/program/bits.h — saved activations in few bits: which stages leave them in few bits, and
 * which round them in place. Both compute the same. */
#pragma once

#include "exec/stage/batch.h"
#include "exec/stage/stage.h"
#include "schedules/program/program.h"

/* Stages of a program, [parts][stages], alike but for shape.is_rounded. */
struct pp_few_bits {
    const struct pp_stage *const *packed, *const *rounded;
    int parts;
};
/* Chooses packed stages, but rounded ones on ranks whose device would need more with packed ones.
 * There little rests, and more is in full for a while. Writes them to `chosen`, [parts][stages]. So
 * no rank needs more than with full activations. */
void pp_few_bits_choose(const struct pp_program *program, const struct pp_few_bits *few,
                        const struct pp_batch *batch, const struct pp_kernels *kernels,
                        bool is_exact, const struct pp_stage **chosen);
