/* Updates of a state that is in a file. The host reads a bucket of each vector into its memory,
 * updates it there, and writes it back. */
#include "exec/worker/worker.h"

/* Bytes of a file, and the room for them. */
struct piece {
    size_t offset, bytes;
    char *memory;
    bool is_written; /* after the update */
};
enum { MOST_PIECES = PP_MOMENTS + 2 * PP_STATE_PARTS };

/* A window of the host's part of a state, and what of it is in the file. */
struct bucket {
    const struct pp_chunk *chunk;
    int place;
    struct pp_state part;
    struct piece pieces[MOST_PIECES];
    int count;
};

static const struct pp_rank_layout *layout_of(const struct pp_worker *w)
{
    return &w->machine->layout[w->rank];
}

/* Room of a vector; NULL: it is not in the file. */
static char *room(const struct bucket *b, enum pp_bucket_vector vector)
{
    const struct pp_worker *w = b->chunk->worker;
    const struct pp_tier_place at = layout_of(w)->bucket.at[vector];

    return at.tier == PP_TIER_HOST ? pp_tier_at(w, at) : NULL;
}

static void add(struct bucket *b, size_t offset, size_t bytes, char *memory, bool is_written)
{
    if (bytes > 0)
        b->pieces[b->count++] = (struct piece){offset, bytes, memory, is_written};
}

/* Adds m, v and master weights, which begin with the window. */
static void add_moments(struct bucket *b, struct pp_range window, size_t each)
{
    const struct pp_worker *w = b->chunk->worker;
    const struct pp_update_layout *update = &layout_of(w)->updates[b->place];
    void **const vectors[PP_MOMENTS] = {&b->part.m, &b->part.v, &b->part.master};
    const size_t from = (size_t)window.from * each, bytes = (size_t)window.until * each - from;

    for (int v = 0; v < PP_MOMENTS; v++) {
        struct pp_tier_place at = update->moved_at[v];

        if (v == PP_MOMENTS - 1 && !b->chunk->state.master)
            continue;
        at.offset += from;
        char *own = room(b, (enum pp_bucket_vector)(PP_BUCKET_M + v));
        *vectors[v] = own ? own : pp_tier_at(w, at);
        if (own)
            add(b, at.offset, bytes, own, true);
    }
}

typedef void *(*element_at)(const struct pp_state *, const struct pp_kernels *, int64_t);

/* Adds weights or gradients of the window, for which the part has a room. */
static void add_vector(struct bucket *b, enum pp_state_class class, element_at at, const void *base,
                       size_t each, bool is_written)
{
    const struct pp_worker *w = b->chunk->worker;
    const struct pp_kernels *k = w->machine->options.kernels;
    const size_t home = layout_of(w)->home[b->place][class].offset;

    for (int part = 0; part < PP_STATE_PARTS; part++) {
        const struct pp_range share = pp_state_share(&b->part, (enum pp_state_part)part);

        if (share.from < share.until)
            add(b, home + (size_t)((char *)at(&b->chunk->state, k, share.from) - (char *)base),
                (size_t)(share.until - share.from) * each, at(&b->part, k, share.from), is_written);
    }
}

static struct bucket open_bucket(const struct pp_chunk *chunk, int place, struct pp_range window)
{
    const struct pp_kernels *k = chunk->worker->machine->options.kernels;
    const struct pp_state *all = &chunk->state;
    struct bucket b = {
        .chunk = chunk, .place = place, .part = pp_state_window(&chunk->by_host, window)};

    add_moments(&b, window, k->gradient_bytes);
    if (room(&b, PP_BUCKET_WEIGHTS)) {
        pp_state_own_weights(&b.part, room(&b, PP_BUCKET_WEIGHTS));
        add_vector(&b, PP_STATE_PARAMS, pp_state_weight, all->weights, k->element_bytes, true);
    }
    if (room(&b, PP_BUCKET_GRADS)) {
        pp_state_own_gradients(&b.part, room(&b, PP_BUCKET_GRADS));
        add_vector(&b, PP_STATE_GRADS, pp_state_gradient,
                   all->fixed ? (void *)all->fixed : all->sum,
                   all->fixed ? sizeof(int64_t) : k->gradient_bytes, false);
    }
    return b;
}

static enum pp_status read_bucket(const struct bucket *b, struct pp_error *err)
{
    for (int n = 0; n < b->count; n++)
        PP_TRY(pp_tier_file_read(b->chunk->worker->file, b->pieces[n].offset, b->pieces[n].bytes,
                                 b->pieces[n].memory, err));
    return PP_OK;
}

static enum pp_status write_bucket(const struct bucket *b, struct pp_error *err)
{
    for (int n = 0; n < b->count; n++)
        if (b->pieces[n].is_written)
            PP_TRY(pp_tier_file_patch(b->chunk->worker->file, b->pieces[n].offset,
                                      b->pieces[n].bytes, b->pieces[n].memory, err));
    return PP_OK;
}

static enum pp_status update(const struct pp_chunk *chunk, int place, const struct pp_kernels *k,
                             struct pp_error *err)
{
    const struct pp_machine *m = chunk->worker->machine;
    const struct pp_rank_layout *layout = layout_of(chunk->worker);
    const int64_t moved = layout->updates[place].moved;

    for (int64_t from = 0; from < moved; from += layout->bucket.elements) {
        const int64_t left = moved - from;
        const struct bucket b = open_bucket(
            chunk, place,
            (struct pp_range){
                from, from + (left < layout->bucket.elements ? left : layout->bucket.elements)});
        PP_TRY(read_bucket(&b, err));
        pp_state_step(k, NULL, chunk->stage, &b.part, m->options.recipe, m->adamw);
        PP_TRY(write_bucket(&b, err));
    }
    return PP_OK;
}

void pp_update_run_file(const struct pp_kernels *k, const struct pp_chunk *chunk)
{
    struct pp_worker *w = chunk->worker;
    const int place = (int)(chunk - w->chunks);
    struct pp_error err = {0};

    const enum pp_status status = update(chunk, place, k, &err);
    if (status != PP_OK)
        pp_error_prefix(&err, "step %d, update of stage %d: ", w->machine->step + 1,
                        place % w->machine->stages);
    pp_machine_try(w->machine, status, &err);
}
