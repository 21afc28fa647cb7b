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

/* Moves a piece to or from the worker's file. */
static void run_file(struct pp_worker *w, int i, const struct pp_copy_piece *piece, bool is_up)
{
    struct pp_machine *m = w->machine;
    struct pp_error err = {0};
    char text[PP_OP_TEXT_BYTES];
    const enum pp_status status =
        is_up ? pp_tier_file_read(w->file, piece->offset, piece->bytes, piece->device, &err)
              : pp_tier_file_write(w->file, piece->offset, piece->bytes, piece->device, &err);

    pp_program_print_op(m->p, i, text);
    if (status != PP_OK)
        pp_error_prefix(&err, "step %d, op %d, %s: ", m->step + 1, pp_place_of(w, i), text);
    pp_machine_try(m, status, &err);
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
            run_file(w, i, piece, is_up);
        else
            k->copy(stream, piece->bytes, is_up ? piece->away : piece->device,
                    is_up ? piece->device : piece->away);
        if (!w->machine->is_forward && !piece->is_here)
            atomic_fetch_add(&w->copied_bytes[pp_move_cause(p->kind[i], purpose)][is_up],
                             piece->bytes);
    }
}
