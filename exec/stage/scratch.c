/* Packs tensors into scratch: two share bytes if one is read last before the other is made. All
 * begin at multiples of 16 bytes, as in other places: kernels of CUDA read whole vectors there, and
 * else add in another order. */
#include "exec/stage/graph.h"

#include <limits.h>
#include <stdlib.h>

enum { VECTOR_BYTES = 16 };

struct item {
    struct pp_tensor *tensor;
    int from, until; /* steps */
    size_t at;
};

/* Gradients that I leaves in scratch are copied at its end. */
static struct item item_of(struct pp_tensor *t, enum pp_call_pass pass)
{
    const int from = t->made[pass], read = t->read[pass] > from ? t->read[pass] : from;
    const bool is_copied = pass == PP_PASS_I && t->is_grad && t->is_for_w;

    return (struct item){t, from, is_copied ? INT_MAX : read, 0};
}

/* Short lives come first, so that long ones are above them: buffers of kernels, which live in one
 * step, are at the begin. Of equally long ones the larger come first, then in the given order. */
static int compare(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    const int x_steps = x->until - x->from, y_steps = y->until - y->from;

    if (x_steps != y_steps)
        return x_steps < y_steps ? -1 : 1;
    if (x->tensor->bytes != y->tensor->bytes)
        return x->tensor->bytes > y->tensor->bytes ? -1 : 1;
    return x->tensor < y->tensor ? -1 : 1;
}

/* Returns where vectors begin again after an item in the way of `x`; 0 = none is. */
static size_t in_the_way(const struct item *items, const struct item *x)
{
    for (const struct item *i = items; i < x; i++) {
        const size_t end = i->at + i->tensor->bytes;
        if (i->from <= x->until && x->from <= i->until && i->at < x->at + x->tensor->bytes &&
            x->at < end)
            return (end + VECTOR_BYTES - 1) / VECTOR_BYTES * VECTOR_BYTES;
    }
    return 0;
}

size_t pp_stage_scratch(struct pp_arena *arena, struct pp_stage_graph *g, enum pp_call_pass pass)
{
    struct item *items = PP_ARRAY(arena, struct item, g->tensor_count);
    int count = 0;
    size_t bytes = 0;

    for (int i = 0; i < g->tensor_count; i++)
        if (g->tensors[i].place[pass].base == PP_SCRATCH && g->tensors[i].made[pass] >= 0)
            items[count++] = item_of(&g->tensors[i], pass);
    qsort(items, (size_t)count, sizeof(*items), compare);
    for (struct item *x = items; x < items + count; x++) {
        for (size_t end = 0; (end = in_the_way(items, x)) > 0;)
            x->at = end;
        x->tensor->place[pass].at = x->at;
        if (x->at + x->tensor->bytes > bytes)
            bytes = x->at + x->tensor->bytes;
    }
    return bytes;
}
