/* Walks each list once, over the memory that its instructions take and release. */
#include "schedules/memory/changes.h"

#include <math.h>

/* Returns the weight versions of every chunk, by pipeline and stage. */
static int *count_versions(struct pp_arena *scratch, const struct pp_program *p)
{
    int *versions = PP_ARRAY(scratch, int, (size_t)p->pipelines *(size_t)p->stages);

    for (int k = 0; k < p->pipelines * p->stages; k++)
        versions[k] = 1;
    for (int i = 0; i < pp_program_size(p) && p->versions > 1; i++) {
        int *count = &versions[p->pipe[i] * p->stages + p->stage[i]];
        if (p->kind[i] == PP_F && p->version[i] >= *count)
            *count = p->version[i] + 1;
    }
    return versions;
}

/* Adds the state of every chunk, with as many versions of its weights as it uses. */
static void add_states(struct pp_arena *scratch, const struct pp_memory_walk *w,
                       struct pp_rank_memory *memory)
{
    const struct pp_program *p = w->p;
    const int *versions = count_versions(scratch, p);

    for (int pipe = 0; pipe < p->pipelines && w->has_bytes; pipe++)
        for (int stage = 0; stage < p->stages && stage < w->costs->stages; stage++) {
            const struct pp_stage_memory *chunk = &w->costs->memory[stage];
            struct pp_rank_memory *m = &memory[pp_program_rank_of(p, pipe, stage)];

            m->params_bytes += chunk->params_bytes * versions[pipe * p->stages + stage];
            m->grads_bytes += chunk->grads_bytes;
            m->optimizer_bytes += chunk->optimizer_bytes;
            for (int tier = 0; tier < PP_TIERS; tier++)
                m->away_bytes[tier] += chunk->away_bytes[tier];
        }
}

/* Without room the allocator releases whole blocks (PyTorch, CUDACachingAllocator.cpp,
 * release_cached_blocks); the rest is stuck. */
double pp_memory_wasted_bytes(const struct pp_costs *costs, double tensors)
{
    const double room = costs->capacity_bytes > 0
                            ? floor(costs->capacity_bytes - costs->other_bytes - tensors)
                            : HUGE_VAL;

    return rint(fmax(costs->stuck_frac * tensors, fmin(costs->fragment_frac * tensors, room)));
}

/* Adds context, libraries and the allocator's waste for all tensors at the peak. */
static void add_other(const struct pp_memory_walk *w, struct pp_rank_memory *memory)
{
    const double tensors = pp_memory_tensor_bytes(memory);

    memory->other_bytes =
        w->has_bytes ? w->costs->other_bytes + pp_memory_wasted_bytes(w->costs, tensors) : 0;
    memory->peak_bytes = tensors + memory->other_bytes;
    memory->is_strained =
        w->has_bytes &&
        memory->other_bytes < w->costs->other_bytes + rint(w->costs->fragment_frac * tensors);
}

/* Bytes and cells that are held at an instruction. */
struct held {
    double saved, kv, buffers, away;
    int64_t cells;
};

/* Adds what periods that are left out take or release at a place. Each changes as much as the one
 * before the place, so that a peak lies in the period before or after the gap. */
static void pass_gap(const struct pp_memory_walk *w, int i, const struct pp_cut_place **place,
                     struct held *before, struct held *held)
{
    const double periods = w->p->cut->periods;

    if (i == (*place)->at - (*place)->length)
        *before = *held;
    if (i != (*place)->at)
        return;
    held->saved += periods * (held->saved - before->saved);
    held->kv += periods * (held->kv - before->kv);
    held->buffers += periods * (held->buffers - before->buffers);
    held->away += periods * (held->away - before->away);
    held->cells += w->p->cut->periods * (held->cells - before->cells);
    ++*place;
}

static void find_peak(const struct pp_memory_walk *w, int rank, struct pp_rank_memory *memory)
{
    const struct pp_program_cut *cut = w->p->cut;
    const struct pp_cut_place *place = cut ? &cut->places[cut->begin[rank]] : NULL,
                              *last = cut ? &cut->places[cut->begin[rank + 1]] : NULL;
    double peak_away = 0, peak = -1, update_bytes = 0, other_bytes = 0;
    int64_t peak_cells = 0;
    struct held held = {0}, before = {0};
    bool is_updating = false; /* an update has begun and is not over */

    memory->peak_at = -1;
    for (int at = 0; at < w->count; at++) {
        const struct pp_memory_change *change = &w->changes[at];

        if (place < last)
            pass_gap(w, w->begin + at, &place, &before, &held);
        if (at > 0 && !is_updating && pp_memory_takes_none(w->p, w->begin + at)) {
            held.buffers -= change->buffer_given;
            continue;
        }
        is_updating = at < w->last_update && (is_updating || w->p->kind[w->begin + at] == PP_U);
        held.saved += change->saved_taken;
        held.kv += change->kv_taken;
        held.buffers += change->buffer_taken;
        held.cells += change->cells_taken;
        if (w->away) {
            held.away += w->away[at].taken;
            peak_away = held.away > peak_away ? held.away : peak_away;
            held.away -= w->away[at].given;
        }
        if (held.cells > peak_cells) {
            peak_cells = held.cells;
            if (!w->has_bytes)
                memory->peak_at = w->begin + at;
        }
        memory->most_kv_bytes = fmax(memory->most_kv_bytes, held.kv);
        const double bytes = held.saved + held.kv + held.buffers;
        if (w->has_bytes && bytes > peak) {
            peak = bytes;
            memory->activations_bytes = held.saved;
            memory->kv_bytes = held.kv;
            memory->buffers_bytes = held.buffers;
            memory->peak_at = w->begin + at;
        }
        if (w->p->kind[w->begin + at] == PP_U)
            update_bytes = bytes > update_bytes ? bytes : update_bytes;
        else
            other_bytes = bytes > other_bytes ? bytes : other_bytes;
        held.saved -= change->saved_given;
        held.kv -= change->kv_given;
        held.buffers -= change->buffer_given;
        held.cells -= change->cells_given;
    }
    if (w->has_bytes)
        memory->away_bytes[w->costs->saved_home] += peak_away;
    memory->peak_activations = (double)peak_cells / ((double)w->p->granules * w->p->splits);
    memory->cached_bytes = fmin(update_bytes, other_bytes);
    add_other(w, memory);
}

struct pp_rank_memory *pp_memory_peaks(struct pp_arena *arena, const struct pp_program *program,
                                       const struct pp_costs *costs)
{
    struct pp_rank_memory *memory = PP_ARRAY(arena, struct pp_rank_memory, program->ranks);
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_memory_walk w = pp_memory_walk_make(scratch, program, costs);

    add_states(scratch, &w, memory);
    for (int rank = 0; rank < program->ranks; rank++) {
        pp_memory_walk_rank(&w, rank);
        find_peak(&w, rank, &memory[rank]);
    }
    return memory;
}

static void copy_away(struct pp_arena *arena, const struct pp_memory_walk *w,
                      struct pp_memory_changes *all)
{
    const int size = pp_program_size(w->p) + 1;

    if (!w->away)
        return;
    if (!all->away_taken_bytes) {
        all->away_taken_bytes = PP_ARRAY(arena, double, size);
        all->away_given_bytes = PP_ARRAY(arena, double, size);
    }
    for (int at = 0; at < w->count; at++) {
        all->away_taken_bytes[w->begin + at] = w->away[at].taken;
        all->away_given_bytes[w->begin + at] = w->away[at].given;
    }
}

struct pp_memory_changes pp_memory_changes(struct pp_arena *arena, const struct pp_program *program,
                                           const struct pp_costs *costs)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_memory_walk w = pp_memory_walk_make(scratch, program, costs);
    struct pp_rank_memory *states = PP_ARRAY(scratch, struct pp_rank_memory, program->ranks);
    struct pp_memory_changes all = {
        .base_bytes = PP_ARRAY(arena, double, program->ranks),
        .taken_bytes = PP_ARRAY(arena, double, pp_program_size(program) + 1),
        .given_bytes = PP_ARRAY(arena, double, pp_program_size(program) + 1),
        .away_base_bytes =
            pp_arena_alloc(arena, sizeof(*all.away_base_bytes) * (size_t)program->ranks)};

    add_states(scratch, &w, states);
    for (int rank = 0; rank < program->ranks; rank++) {
        struct pp_rank_memory *state = &states[rank];
        pp_memory_walk_rank(&w, rank);
        for (int tier = 0; tier < PP_TIERS; tier++)
            all.away_base_bytes[rank][tier] = state->away_bytes[tier];
        find_peak(&w, rank, state);
        all.base_bytes[rank] = pp_memory_state_bytes(state) + state->other_bytes;
        for (int at = 0; at < w.count; at++) {
            const struct pp_memory_change *change = &w.changes[at];
            all.taken_bytes[w.begin + at] =
                change->saved_taken + change->kv_taken + change->buffer_taken;
            all.given_bytes[w.begin + at] =
                change->saved_given + change->kv_given + change->buffer_given;
        }
        copy_away(arena, &w, &all);
    }
    return all;
}

/* Adds what the periods that are left out at a place keep. */
static void add_gap(const struct pp_memory_walk *w, const struct pp_cut_place *place, double *bytes)
{
    for (int i = place->at - place->length; i < place->at; i++) {
        const struct pp_memory_change *change = &w->changes[i - w->begin];
        bytes[w->p->stage[i]] += w->p->cut->periods * (change->saved_taken - change->saved_given);
    }
}

double *pp_memory_saved_by_stage(struct pp_arena *arena, const struct pp_program *program,
                                 const struct pp_costs *costs, int rank, int position)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_memory_walk w = pp_memory_walk_make(scratch, program, costs);
    const struct pp_program_cut *cut = program->cut;
    double *bytes = PP_ARRAY(arena, double, program->stages);
    int place = cut ? cut->begin[rank] : 0;

    pp_memory_walk_rank(&w, rank);
    for (int i = w.begin; i <= position; i++) {
        if (cut && place < cut->begin[rank + 1] && i == cut->places[place].at)
            add_gap(&w, &cut->places[place++], bytes);
        const struct pp_memory_change *change = &w.changes[i - w.begin];
        bytes[program->stage[i]] += change->saved_taken - (i < position ? change->saved_given : 0);
    }
    return bytes;
}

void pp_memory_whole_parts(const struct pp_rank_memory *memory, int64_t parts[PP_MEMORY_PARTS])
{
    const double bytes[] = {memory->params_bytes,      memory->grads_bytes, memory->optimizer_bytes,
                            memory->activations_bytes, memory->kv_bytes,    memory->buffers_bytes,
                            memory->other_bytes};
    double until_bytes = 0;

    for (int i = 0; i < PP_MEMORY_PARTS; i++) {
        const double from_bytes = until_bytes;
        until_bytes = i + 1 < PP_MEMORY_PARTS ? from_bytes + bytes[i] : memory->peak_bytes;
        parts[i] = llround(until_bytes) - llround(from_bytes);
    }
}

const char *const pp_memory_part_keys[PP_MEMORY_PARTS] = {
    "params_bytes", "grads_bytes",   "optimizer_bytes", "activations_bytes",
    "kv_bytes",     "buffers_bytes", "other_bytes"};

double pp_memory_most_activations(const struct pp_rank_memory *memory, int ranks)
{
    double most = 0;

    for (int i = 0; i < ranks; i++)
        most = fmax(most, memory[i].peak_activations);
    return most;
}

bool pp_memory_is_strained(const struct pp_rank_memory *memory, int ranks)
{
    bool is_any = false;

    for (int i = 0; i < ranks; i++)
        is_any |= memory[i].is_strained;
    return is_any;
}
