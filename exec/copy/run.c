/* The work of a copy: bytes between the device and another tier. */
#include "exec/copy/parts.h"

void pp_copy_add(struct pp_arena *arena, struct pp_bound_copy *copy, struct pp_copy_piece piece)
{
    struct pp_copy_piece *pieces = PP_ARRAY(arena, struct pp_copy_piece, copy->count + 1);

    if (piece.bytes == 0)
        return;
    for (int k = 0; k < copy->count; k++)
        pieces[k] = copy->pieces[k];
    pieces[copy->count++] = piece;
    copy->pieces = pieces;
    copy->bytes += piece.is_here ? 0 : piece.bytes;
}

void pp_copy_count(const struct pp_bound_copy *copy, size_t bytes)
{
    const struct pp_program *p = copy->worker->machine->p;
    const int i = copy->instruction, purpose = p->purpose[i];

    if (!copy->worker->machine->is_forward)
        atomic_fetch_add(
            &copy->worker->copied_bytes[pp_move_cause(p->kind[i], purpose)][pp_move_is_up(purpose)],
            bytes);
}

void pp_copy_run(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_bound_copy *copy = argument;
    const bool is_up = pp_move_is_up(copy->worker->machine->p->purpose[copy->instruction]);

    for (int n = 0; n < copy->count; n++) {
        const struct pp_copy_piece *piece = &copy->pieces[n];

        if (!piece->away)
            pp_copy_file(k, stream, copy, piece, piece->device, is_up);
        else
            k->copy(stream, piece->bytes, is_up ? piece->away : piece->device,
                    is_up ? piece->device : piece->away);
        if (!piece->is_here)
            pp_copy_count(copy, piece->bytes);
    }
}
