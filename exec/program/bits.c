/* The least memory with saved activations in few bits. */
#include "exec/program/bits.h"
#include "exec/program/memory.h"

static const struct pp_rank_layout *layout_of(struct pp_arena *arena, const struct pp_program *p,
                                              const struct pp_stage *const *stages,
                                              const struct pp_batch *batch,
                                              const struct pp_kernels *kernels, bool is_exact)
{
    const struct pp_cuts *cuts = pp_memory_cuts(arena, p, stages, batch);

    return pp_memory_layout(arena, p, stages, kernels, is_exact, cuts,
                            pp_wholes_find(arena, p, stages, cuts), pp_away_find(arena, p));
}

/* Rounds on a rank; returns whether a stage of it has not done so before. */
static bool round_on(const struct pp_program *p, int rank, const struct pp_few_bits *few,
                     const struct pp_stage **chosen)
{
    bool is_new = false;

    for (int place = 0; place < p->pipelines * p->stages; place++)
        for (int part = 0; part < few->parts && p->rank_of[place] == rank; part++) {
            const int at = part * p->stages + place % p->stages;
            is_new |= chosen[at] != few->rounded[at];
            chosen[at] = few->rounded[at];
        }
    return is_new;
}

void pp_few_bits_choose(const struct pp_program *program, const struct pp_few_bits *few,
                        const struct pp_batch *batch, const struct pp_kernels *kernels,
                        bool is_exact, const struct pp_stage **chosen)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_rank_layout *most =
        layout_of(arena, program, few->rounded, batch, kernels, is_exact);
    bool is_new = true;

    for (int k = 0; k < few->parts * program->stages; k++)
        chosen[k] = few->packed[k];
    while (is_new) {
        const struct pp_rank_layout *layout =
            layout_of(arena, program, chosen, batch, kernels, is_exact);

        is_new = false;
        for (int rank = 0; rank < program->ranks; rank++)
            if (layout[rank].peak_bytes > most[rank].peak_bytes)
                is_new |= round_on(program, rank, few, chosen);
    }
}
