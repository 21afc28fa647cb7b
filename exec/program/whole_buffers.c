/* The buffers of a rank while its list is walked. */
#include "exec/program/none.h"
#include "exec/program/wholes_walk.h"

int32_t pp_whole_take(struct pp_wholes_walk *w, enum pp_whole_class what, int64_t count)
{
    struct pp_wholes_buffers *b = &w->buffers[what];
    int64_t **elements = &w->wholes->elements[what][w->rank];
    int at = 0;

    while (at < b->count && b->is_taken[at])
        at++;
    if (at == b->count) {
        *PP_PUSH(w->arena, *elements, b->sizes, b->capacity) = 0;
        b->freed[b->count] = PP_NONE;
        b->is_taken[b->count++] = false;
        w->wholes->count[what][w->rank] = b->count;
    }
    b->is_taken[at] = true;
    (*elements)[at] = count > (*elements)[at] ? count : (*elements)[at];
    return at;
}

void pp_whole_release(struct pp_wholes_walk *w, enum pp_whole_class what, int32_t buffer,
                      int32_t by)
{
    if (buffer < 0)
        return;
    w->buffers[what].is_taken[buffer] = false;
    w->buffers[what].freed[buffer] = by;
}
