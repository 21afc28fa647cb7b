/* Pieces of copies in a worker's file. A device does not reach the file: its bytes go by two
 * buffers in host memory. While the device copies one, the host reads or writes the other. All is
 * in the order of the copy's stream, and the thread that runs the copy waits for nothing. */
#include "exec/copy/parts.h"

#include <assert.h>

enum { SLOTS = 2 };

struct pp_file_call {
    const struct pp_bound_copy *copy;
    size_t offset, bytes;
    char *memory;
    bool is_read;
};

/* Reads or writes now. */
static void transfer(void *argument)
{
    const struct pp_file_call *c = argument;
    struct pp_worker *w = c->copy->worker;
    struct pp_machine *m = w->machine;
    struct pp_error err = {0};
    char text[PP_OP_TEXT_BYTES];
    const enum pp_status status =
        c->is_read ? pp_tier_file_read(w->file, c->offset, c->bytes, c->memory, &err)
                   : pp_tier_file_write(w->file, c->offset, c->bytes, c->memory, &err);

    if (status == PP_OK)
        return;
    pp_program_print_op(m->p, c->copy->instruction, text);
    pp_error_prefix(&err, "step %d, op %d, %s: ", m->step + 1, pp_place_of(w, c->copy->instruction),
                    text);
    pp_machine_try(m, status, &err);
}

/* Bytes of a call: some calls for each piece, so that both ways have work at once. */
static size_t call_bytes(size_t bytes)
{
    enum { CALLS = 8, MOST = 4 << 20 };
    const size_t share = pp_tier_round((bytes + CALLS - 1) / CALLS);

    return share < MOST ? share : MOST;
}

static int calls_of(size_t bytes)
{
    const size_t each = call_bytes(bytes);

    return bytes > 0 ? (int)((bytes + each - 1) / each) : 0;
}

void pp_copy_count_calls(struct pp_copier *c, const struct pp_bound_copy *copy)
{
    for (int n = 0; n < copy->count; n++) {
        const size_t bytes = copy->pieces[n].away ? 0 : copy->pieces[n].bytes;

        c->call_count += 2 * calls_of(bytes);
        c->buffer_bytes = call_bytes(bytes) > c->buffer_bytes ? call_bytes(bytes) : c->buffer_bytes;
    }
}

enum pp_status pp_copy_take_buffers(struct pp_worker *w, struct pp_error *err)
{
    const struct pp_machine *m = w->machine;

    for (int s = 0; s < PP_COPY_STREAMS; s++) {
        struct pp_copier *c = &w->copiers[s];
        void *buffers;

        if (!m->backend->call_host || c->call_count == 0)
            continue;
        PP_TRY(pp_tier_take(&w->budget, PP_TIER_HOST, SLOTS * c->buffer_bytes,
                            pp_arena_printf(m->arena, "rank %d", w->rank), err));
        PP_TRY(m->backend->alloc_host(m->device, SLOTS * c->buffer_bytes, &buffers, err));
        c->buffers = buffers;
        c->calls = PP_ARRAY(m->arena, struct pp_file_call, c->call_count);
    }
    return PP_OK;
}

/* ---- by way of buffers ----------------------------------------------------------------------- */

/* Calls [count] for a piece. They move what is at `memory` by way of the buffers. */
struct staged {
    const struct pp_kernels *k;
    void *stream;
    void (*call_host)(void *stream, int slot, void (*call)(void *argument), void *argument);
    void (*join_host)(void *stream, int slot);
    struct pp_file_call *calls;
    int count;
    char *memory;
};

static char *memory_of(const struct staged *s, int n)
{
    return s->memory + (s->calls[n].offset - s->calls[0].offset);
}

static void start(const struct staged *s, int n)
{
    if (n < s->count)
        s->call_host(s->stream, n % SLOTS, transfer, &s->calls[n]);
}

/* A buffer is read into again once its last bytes have been copied: a call begins after that. */
static void read_file(const struct staged *s)
{
    start(s, 0);
    for (int n = 0; n < s->count; n++) {
        start(s, n + 1);
        s->join_host(s->stream, n % SLOTS);
        s->k->copy(s->stream, s->calls[n].bytes, s->calls[n].memory, memory_of(s, n));
    }
}

static void write_file(const struct staged *s)
{
    for (int n = 0; n < s->count; n++) {
        s->join_host(s->stream, n % SLOTS);
        s->k->copy(s->stream, s->calls[n].bytes, memory_of(s, n), s->calls[n].memory);
        start(s, n);
    }
    for (int slot = 0; slot < SLOTS; slot++)
        s->join_host(s->stream, slot);
}

/* Returns the calls for a piece. */
static struct pp_file_call *next_calls(const struct pp_file_call *all)
{
    struct pp_worker *w = all->copy->worker;
    struct pp_copier *c =
        &w->copiers[pp_move_stream(w->machine->p->purpose[all->copy->instruction])];
    struct pp_file_call *calls = &c->calls[c->called];
    const size_t each = call_bytes(all->bytes);

    for (size_t at = 0; at < all->bytes; at += each) {
        const size_t rest = all->bytes - at;

        assert(c->called < c->call_count);
        c->calls[c->called++] =
            (struct pp_file_call){all->copy, all->offset + at, rest < each ? rest : each,
                                  c->buffers + (at / each % SLOTS) * c->buffer_bytes, all->is_read};
    }
    return calls;
}

void pp_copy_file(const struct pp_kernels *k, void *stream, const struct pp_bound_copy *copy,
                  const struct pp_copy_piece *piece, void *memory, bool is_read)
{
    const struct pp_backend *backend = copy->worker->machine->backend;
    struct pp_file_call all = {copy, piece->offset, piece->bytes, memory, is_read};

    if (!backend->call_host) {
        transfer(&all);
        return;
    }
    (is_read ? read_file
             : write_file)(&(struct staged){k, stream, backend->call_host, backend->join_host,
                                            next_calls(&all), calls_of(piece->bytes), memory});
}
