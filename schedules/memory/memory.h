/* schedules/memory/memory.h — memory as lifetimes over the program, in program order. */
#pragma once

#include "core/cost/cost.h"
#include "schedules/program/program.h"

struct pp_rank_memory {
    double params_bytes, grads_bytes, optimizer_bytes; /* all chunks of the rank, all pipelines */
    double activations_bytes, buffers_bytes, other_bytes; /* at the peak instruction */
    double peak_bytes;                                    /* sum of the above */
    double cached_bytes; /* blocks of one phase, passes or update, that the allocator keeps while
                          * the other has its peak: nvidia-smi counts them, up to the capacity */
    double away_bytes[PP_TIERS]; /* on other tiers: state, and activations at their own peak */
    double peak_activations;     /* chunk activations, split counts 1/q, granule its share */
    int peak_at;                 /* global index of the instruction at which the peak is reached */
    bool is_strained; /* there is no room for all that the allocator wastes: it gives blocks back */
};

/* The six parts in whole bytes, in the order above, rounded where their running sum is: they add up
 * to llround(peak_bytes). */
enum { PP_MEMORY_PARTS = 6 };
extern const char *const pp_memory_part_keys[PP_MEMORY_PARTS]; /* "params_bytes", ... */
void pp_memory_whole_parts(const struct pp_rank_memory *memory, int64_t parts[PP_MEMORY_PARTS]);

static inline double pp_memory_state_bytes(const struct pp_rank_memory *memory)
{
    return memory->params_bytes + memory->grads_bytes + memory->optimizer_bytes;
}
/* Whether any rank is strained. */
bool pp_memory_is_strained(const struct pp_rank_memory *memory, int ranks);
/* The most chunk activations of any rank. */
double pp_memory_most_activations(const struct pp_rank_memory *memory, int ranks);

/* Walk every rank's list once. `costs->memory` NULL (unit mode): only peak_activations.
 * Works on compute-only programs too (no buffers). [ranks] in the arena. Never fails. */
struct pp_rank_memory *pp_memory_peaks(struct pp_arena *arena, const struct pp_program *program,
                                       const struct pp_costs *costs);
/* Bytes that each instruction takes when it starts and releases when it ends, on top of the
 * constant part. A rank's running sum has its maximum in peak_bytes, reached before the release. */
struct pp_memory_changes {
    double *base_bytes;                /* [rank] parameters, gradients, optimizer, other */
    double *taken_bytes, *given_bytes; /* [instruction] */
};
struct pp_memory_changes pp_memory_changes(struct pp_arena *arena, const struct pp_program *program,
                                           const struct pp_costs *costs);

/* What is saved of each stage while an instruction of `rank` runs, at global index `position`:
 * [stages]. At peak_at their sum is activations_bytes. */
double *pp_memory_saved_by_stage(struct pp_arena *arena, const struct pp_program *program,
                                 const struct pp_costs *costs, int rank, int position);
