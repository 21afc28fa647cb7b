/* States of workers on the host. Each process draws the initial weights of its own workers. Copies
 * of what is on the device, on other tiers or in other processes have memory only while they are
 * read. */
#include "core/hash.h"
#include "exec/backend/poison.h"
#include "exec/copy/reach.h"
#include "exec/host/host.h"
#include "exec/machine/parts.h"

struct pp_staging pp_block_staging(const struct pp_machine *m, struct pp_arena *arena,
                                   const struct pp_worker *w, size_t offset, size_t bytes)
{
    return pp_staging_make(arena, m->backend, m->device, w->block + offset, bytes);
}

enum pp_status pp_states_refuse(const struct pp_machine *m, const char *what,
                                const struct pp_worker *w, size_t bytes, struct pp_error *err)
{
    pp_error_set(err, PP_EFAIL, "the host has no %s for %.0f MiB of rank %d", what,
                 (double)bytes / (1 << 20), w->rank);
    return m->replicas > 1 ? pp_error_append(err, " of replica %d", w->replica) : PP_EFAIL;
}

/* ---- states on the host ---------------------------------------------------------------------- */

bool pp_has_copies_of_states(const struct pp_worker *w)
{
    return w->machine->backend->is_apart || w->machine->layout[w->rank].is_scattered;
}

/* Other processes' states, and those that are not in one piece of the host's memory. */
static bool is_copy(const struct pp_worker *w)
{
    return pp_has_copies_of_states(w) || pp_is_elsewhere(w->machine, w);
}

/* Sums of other processes' parts are made in the block itself, of which states are the begin. */
static char *parts_of(const struct pp_worker *w)
{
    return w->machine->layout[w->rank].is_scattered ? w->block : w->staging.on_host;
}

static enum pp_status commit(struct pp_worker *w, char *memory, size_t bytes, bool *has,
                             struct pp_error *err)
{
    if (!*has && !pp_host_commit(memory, bytes))
        return pp_states_refuse(w->machine, "memory", w, bytes, err);
    *has = true;
    return PP_OK;
}

enum pp_status pp_states_open(struct pp_worker *w, struct pp_error *err)
{
    const bool has_memory = !is_copy(w);

    w->has_states |= has_memory;
    return commit(w, w->staging.on_host, w->staging.bytes, &w->has_states, err);
}

enum pp_status pp_states_open_parts(struct pp_worker *w, struct pp_error *err)
{
    const bool is_scattered = w->machine->layout[w->rank].is_scattered,
               has_memory = is_scattered ? !pp_is_elsewhere(w->machine, w) : !is_copy(w);

    w->has_parts |= has_memory;
    return commit(w, parts_of(w), w->machine->layout[w->rank].parts_bytes, &w->has_parts, err);
}

static void close_states(struct pp_worker *w)
{
    const bool is_kept = w->has_parts && parts_of(w) == w->staging.on_host;

    if (w->has_states && !is_kept && is_copy(w))
        pp_host_release(w->staging.on_host, w->staging.bytes);
    w->has_states = false;
}

void pp_states_close(struct pp_machine *m)
{
    for (int k = 0; k < m->worker_count; k++)
        close_states(&m->workers[k]);
    m->read->fetched_at = -1;
}

static enum pp_status fetch_all(const struct pp_machine *m,
                                enum pp_status (*fetch)(const struct pp_worker *,
                                                        struct pp_error *),
                                struct pp_error *err)
{
    for (int k = 0; k < m->worker_count; k++) {
        if (pp_is_elsewhere(m, &m->workers[k]))
            continue;
        PP_TRY(pp_states_open(&m->workers[k], err));
        PP_TRY(fetch(&m->workers[k], err));
    }
    return PP_OK;
}

enum pp_status pp_states_fetch(const struct pp_machine *m, struct pp_error *err)
{
    return fetch_all(m, pp_reach_fetch, err);
}

enum pp_status pp_states_fetch_gradients(const struct pp_machine *m, struct pp_error *err)
{
    return fetch_all(m, pp_reach_fetch_gradients, err);
}

enum pp_status pp_states_push(const struct pp_machine *m, struct pp_error *err)
{
    for (int k = 0; k < m->worker_count; k++)
        if (m->workers[k].has_states && !pp_is_elsewhere(m, &m->workers[k]))
            PP_TRY(pp_reach_push(&m->workers[k], err));
    return PP_OK;
}

/* ---- initial weights ------------------------------------------------------------------------- */

/* Poisons a block, of the device or, `is_host`, in host memory. */
static enum pp_status poison(const struct pp_machine *m, char *block, size_t bytes, bool is_host,
                             struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const bool is_seen = is_host && m->backend->alloc_host != NULL;
    const struct pp_staging all =
        is_seen ? pp_staging_itself(block, bytes)
                : pp_staging_make(scratch, m->backend, m->device, block, bytes);

    pp_memory_poison(all.on_host, all.bytes);
    return pp_staging_push(&all, err);
}

static enum pp_status poison_blocks(const struct pp_worker *w, struct pp_error *err)
{
    const struct pp_machine *m = w->machine;
    const struct pp_rank_layout *layout = &m->layout[w->rank];

    PP_TRY(poison(m, w->block, layout->block_bytes, false, err));
    return w->host ? poison(m, w->host, layout->tier_bytes[PP_TIER_HOST], true, err) : PP_OK;
}

size_t pp_chunk_bytes(const struct pp_machine *m, int place)
{
    const struct pp_state_bytes bytes =
        pp_state_bytes(m->options.stages[place % m->stages], m->options.kernels,
                       m->options.recipe->is_exact, m->cuts[place % m->stages]);

    return bytes.weights + bytes.gradients + bytes.optimizer;
}

/* `is_zero`: the memory is, already. What stays zero takes no memory then. */
static void draw_chunk(struct pp_worker *w, int place, bool is_zero)
{
    const struct pp_machine *m = w->machine;
    const struct pp_chunk *chunk = &w->chunks[place];
    const struct pp_kernels *k = m->options.kernels;

    if (!is_zero)
        pp_state_clear(chunk->stage, k, &chunk->staged, m->cuts[place % m->stages]);
    if (!m->options.is_resumed)
        pp_state_fill(chunk->stage, k, m->options.recipe, &chunk->staged);
    w->drawn = pp_state_hash(chunk->stage, k, &chunk->staged, w->drawn);
}

static void draw_chunks(struct pp_worker *w)
{
    w->drawn = PP_HASH_OF_NOTHING;
    for (int place = 0; place < w->machine->places; place++)
        if (w->chunks[place].worker)
            draw_chunk(w, place, false);
}

/* Draws a chunk in the host's memory, writes it where it lives, and gives the memory back. */
static enum pp_status draw_away(struct pp_worker *w, int place, struct pp_error *err)
{
    enum { PAGE = 4096 };
    const struct pp_machine *m = w->machine;
    const size_t at = m->layout[w->rank].state_offset[place], from = at / PAGE * PAGE,
                 bytes = pp_chunk_bytes(m, place);
    char *memory = w->staging.on_host + from;

    if (!pp_host_commit(memory, at - from + bytes))
        return pp_states_refuse(m, "memory", w, bytes, err);
    draw_chunk(w, place, m->layout[w->rank].is_scattered);
    PP_TRY(pp_reach_write(w, at, bytes, w->staging.on_host + at, err));
    pp_host_release(memory, at - from + bytes);
    return PP_OK;
}

uint64_t pp_states_drawn(const struct pp_worker *w)
{
    const struct pp_machine *m = w->machine;
    uint64_t hash = PP_HASH_OF_NOTHING;

    for (int place = 0; place < m->places; place++) {
        const struct pp_chunk *chunk = &w->chunks[place];

        if (chunk->worker)
            hash = pp_state_drawn_hash(chunk->stage, m->options.kernels, m->options.recipe,
                                       &chunk->state, hash);
    }
    return hash;
}

/* Padding between states keeps its poison. */
enum pp_status pp_states_draw(struct pp_worker *w, struct pp_error *err)
{
    const struct pp_machine *m = w->machine;

    if (m->options.is_poisoned)
        PP_TRY(poison_blocks(w, err));
    if (!pp_has_copies_of_states(w)) {
        draw_chunks(w);
        return PP_OK;
    }
    w->drawn = PP_HASH_OF_NOTHING;
    for (int place = 0; place < m->places; place++)
        if (w->chunks[place].worker)
            PP_TRY(draw_away(w, place, err));
    return PP_OK;
}

enum pp_status pp_states_draw_others(const struct pp_machine *m, struct pp_error *err)
{
    for (int k = 0; k < m->worker_count; k++)
        if (pp_is_elsewhere(m, &m->workers[k])) {
            PP_TRY(pp_states_open(&m->workers[k], err));
            draw_chunks(&m->workers[k]);
        }
    return PP_OK;
}
