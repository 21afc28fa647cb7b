/* exec/program/stages.h — the stages of a program: what each worker of a rank computes of a chunk
 * of the net, or of one of its layers. */
#pragma once

#include "core/model/generation.h"
#include "exec/stage/batch.h"
#include "exec/stage/stage.h"
#include "schedules/program/program.h"

struct pp_stages_wish {
    const struct pp_net *net;
    const struct pp_kernels *kernels;
    const struct pp_batch *batch;
    const int *blocks;                      /* [stages]; of the model, if the program generates */
    const struct pp_stage_again *again;     /* [stages] what R computes; not of generation */
    const struct pp_generation *generation; /* NULL: the program trains */
    struct pp_stage_shape shape; /* of all: tp, etp, ep, act_bits and how tokens are shared */
    bool is_exact;
};
/* Returns [tp][ep][stages] in the arena. Later passes of a generating program have the same ones.
 * With few bits of saved activations, stages pack them. Where little rests, more may be in full for
 * a while. If a rank's device would need more so, its stages round in place. So no rank needs more
 * than with full activations. */
const struct pp_stage **pp_stages_make(struct pp_arena *arena, const struct pp_program *program,
                                       const struct pp_stages_wish *wish);
