/* schedules/memory/memory.h — memory as lifetimes over the program, in program order. */
#pragma once

#include "core/cost/cost.h"
#include "schedules/program/program.h"

struct pp_rank_memory {
    double params_bytes, grads_bytes, optimizer_bytes; /* all chunks of the rank, all pipelines */
    /* at the peak instruction; kv: the cache of keys and values */
    double activations_bytes, kv_bytes, buffers_bytes, other_bytes;
    double peak_bytes;    /* sum of the above */
    double most_kv_bytes; /* at the peak of the cache alone */
    double cached_bytes;  /* blocks of passes or update that the allocator keeps while the other has
                           * its peak: nvidia-smi counts them, up to the capacity */
    double away_bytes[PP_TIERS]; /* on other tiers: state, and activations at their own peak */
    double peak_activations;     /* chunk activations; a split counts 1/q, a granule its share */
    int peak_at;                 /* global index of the instruction at the peak */
    bool is_strained;            /* no room for all waste of the allocator: it releases blocks */
};

/* Splits peak_bytes into its seven parts in whole bytes, in the order above. Each is rounded at the
 * running sum, so that they add up to llround(peak_bytes). */
enum { PP_MEMORY_PARTS = 7 };
extern const char *const pp_memory_part_keys[PP_MEMORY_PARTS]; /* "params_bytes", ... */
void pp_memory_whole_parts(const struct pp_rank_memory *memory, int64_t parts[PP_MEMORY_PARTS]);

static inline double pp_memory_state_bytes(const struct pp_rank_memory *memory)
{
    return memory->params_bytes + memory->grads_bytes + memory->optimizer_bytes;
}
/* Returns peak_bytes without context, libraries and waste. */
static inline double pp_memory_tensor_bytes(const struct pp_rank_memory *memory)
{
    return pp_memory_state_bytes(memory) + memory->activations_bytes + memory->kv_bytes +
           memory->buffers_bytes;
}
bool pp_memory_is_strained(const struct pp_rank_memory *memory, int ranks);
double pp_memory_most_activations(const struct pp_rank_memory *memory, int ranks);

/* Walks every rank's list once; returns [ranks] in the arena. `costs->memory` NULL (unit mode):
 * only peak_activations. Works on compute-only programs too (no buffers). Never fails. */
struct pp_rank_memory *pp_memory_peaks(struct pp_arena *arena, const struct pp_program *program,
                                       const struct pp_costs *costs);
/* Bytes that each instruction takes when it starts and releases when it ends, on top of the
 * constant part. A rank's running sum has its maximum in peak_bytes, reached before the release. */
struct pp_memory_changes {
    double *base_bytes;                /* [rank] parameters, gradients, optimizer, other */
    double *taken_bytes, *given_bytes; /* [instruction] */
    /* On other tiers: state that stays, and saved activations at costs->saved_home. */
    double (*away_base_bytes)[PP_TIERS];         /* [rank] */
    double *away_taken_bytes, *away_given_bytes; /* [instruction]; NULL: none move */
};
struct pp_memory_changes pp_memory_changes(struct pp_arena *arena, const struct pp_program *program,
                                           const struct pp_costs *costs);

/* Returns the saved bytes of each stage while the instruction of `rank` at global index `position`
 * runs: [stages]. At peak_at their sum is activations_bytes. */
double *pp_memory_saved_by_stage(struct pp_arena *arena, const struct pp_program *program,
                                 const struct pp_costs *costs, int rank, int position);
