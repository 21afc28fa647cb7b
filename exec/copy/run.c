/* The work of a copy: bytes between the device and another tier. */
#include "exec/copy/parts.h"

void pp_copy_add(struct pp_arena *arena, struct pp_bound_copy *copy, struct pp_copy_piece piece)
{
    struct pp_copy_piece *pieces = PP_ARRAY(arena, struct pp_copy_piece, copy->count + 1);

    for (int k = 0; k < copy->count; k++)
        pieces[k] = copy->pieces[k];
    pieces[copy->count++] = piece;
    copy->pieces = pieces;
    copy->bytes += piece.is_here ? 0 : piece.bytes;
}

void pp_copy_run(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_bound_copy *copy = argument;
    struct pp_worker *w = copy->worker;
    const struct pp_program *p = w->machine->p;
    const int i = copy->instruction, purpose = p->purpose[i];
    const bool is_up = pp_move_is_up(purpose);

    for (int n = 0; n < copy->count; n++) {
        const struct pp_copy_piece *piece = &copy->pieces[n];

        if (!piece->away)
            pp_copy_file(k, stream, copy, piece, piece->device, is_up);
        else
            k->copy(stream, piece->bytes, is_up ? piece->away : piece->device,
                    is_up ? piece->device : piece->away);
        if (!w->machine->is_forward && !piece->is_here)
            atomic_fetch_add(&w->copied_bytes[pp_move_cause(p->kind[i], purpose)][is_up],
                             piece->bytes);
    }
}
