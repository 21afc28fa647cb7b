/* Buffer slots, assigned last and once: the smallest that is free, per rank and class.
 *
 *   kept                 F all of whose granules have an R: input of R, until the B (or W)
 *   saved activation     any other F; and R; until the B (or W) has run; none in inference
 *   both                 COPY.up takes one like the F's, from its post; the slot that a COPY.down
 *                        moves is free behind its WAIT
 *   activation received  RECV_F, from the post until the last F that reads it has run
 *   gradient received    RECV_B, from the post until the last B or I that reads it has run
 *   activation sent      SEND_F, from the start of its F until the WAIT for the SEND
 *   gradient sent        SEND_B, from the start of its B or I until the WAIT for the SEND
 *
 * Stages share slots. A slot is as large as the largest tensor that it ever carries, so ranks whose
 * stages are of one size waste nothing. A SEND without a WAIT keeps its slot. An overlapped pair
 * takes the slots of both ops before either releases any. */
#include "schedules/lower/lower.h"
#include "schedules/memory/lifetimes.h"

#include <string.h>

/* Free slots of one class: a bit each, 1 = free. Slots from `used` on were never taken. */
struct slot_class {
    uint64_t *is_free;
    int used, capacity; /* capacity in words */
    int lowest;         /* first word that may have a free slot */
};

static int take_slot(struct pp_arena *arena, struct slot_class *c)
{
    for (int words = (c->used + 63) / 64; c->lowest < words; c->lowest++)
        if (c->is_free[c->lowest]) {
            const int bit = __builtin_ctzll(c->is_free[c->lowest]);

            c->is_free[c->lowest] &= ~((uint64_t)1 << bit);
            return c->lowest * 64 + bit;
        }
    if (c->used % 64 == 0) {
        int words = c->used / 64;
        *PP_PUSH(arena, c->is_free, words, c->capacity) = 0;
    }
    return c->used++;
}

static void give_slot(struct slot_class *c, int slot)
{
    c->is_free[slot / 64] |= (uint64_t)1 << (slot % 64);
    if (slot / 64 < c->lowest)
        c->lowest = slot / 64;
}

/* Tensors of a rank by the instruction that carries their slot. Chains are lists of instructions,
 * each as 1 + position; 0 ends them. */
struct tensors {
    uint8_t *class;              /* [position] 1 + class, 0 = carries no slot */
    int32_t *begin, *next_begin; /* [position] those whose life begins here; the next one */
    int32_t *end, *next_end;     /* [position] those whose life ends here; the next one */
};

static struct tensors make_tensors(struct pp_arena *arena, const struct pp_program *p)
{
    size_t longest = 0;

    for (int rank = 0; rank < p->ranks; rank++) {
        const size_t count = (size_t)(p->begin[rank + 1] - p->begin[rank]);
        longest = count > longest ? count : longest;
    }
    int32_t *all = pp_arena_alloc_raw(arena, sizeof(*all) * 4 * (longest + 1));
    return (struct tensors){.class = pp_arena_alloc_raw(arena, longest + 1),
                            .begin = all,
                            .next_begin = all + longest + 1,
                            .end = all + 2 * (longest + 1),
                            .next_end = all + 3 * (longest + 1)};
}

/* Returns 1 + the class of the slot that instruction i carries; 0 if it carries none. */
static int class_of(const struct pp_program *p, const struct pp_memory_place *place, int i)
{
    static const uint8_t of_kind[PP_OP_KINDS] = {
        [PP_F] = 1 + PP_SLOT_SAVED,       [PP_R] = 1 + PP_SLOT_SAVED,
        [PP_RECV_F] = 1 + PP_SLOT_RECV_F, [PP_RECV_B] = 1 + PP_SLOT_RECV_B,
        [PP_SEND_F] = 1 + PP_SLOT_SEND_F, [PP_SEND_B] = 1 + PP_SLOT_SEND_B,
        [PP_COPY] = 1 + PP_SLOT_SAVED};
    const int class = of_kind[p->kind[i]];

    if (class != 1 + PP_SLOT_SAVED)
        return class;
    if (p->mode == PP_MODE_INFER || (p->kind[i] == PP_COPY && p->purpose[i] != PP_FOR_UP))
        return 0;
    return p->kind[i] != PP_R && place->again == p->granule_count[i] ? 1 + PP_SLOT_KEPT : class;
}

int8_t *pp_slot_classes(struct pp_arena *arena, const struct pp_program *p)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_memory_place *places = pp_memory_places(scratch, p);
    int8_t *class = PP_ARRAY(arena, int8_t, pp_program_size(p) + 1);

    for (int i = 0; i < pp_program_size(p); i++)
        class[i] = (int8_t)(class_of(p, &places[i], i) - 1);
    return class;
}

/* Collects the tensors of a rank in reverse, so that chains run in list order. */
static void collect(const struct pp_program *p, const struct pp_memory_place *places, int rank,
                    const struct tensors *t)
{
    const int first = p->begin[rank], count = p->begin[rank + 1] - first;

    memset(t->begin, 0, sizeof(*t->begin) * ((size_t)count + 1));
    memset(t->end, 0, sizeof(*t->end) * ((size_t)count + 1));
    for (int at = count - 1; at >= 0; at--) {
        const struct pp_memory_place *place = &places[first + at];
        const int class = class_of(p, place, first + at);

        t->class[at] = (uint8_t) class;
        if (class == 0)
            continue;
        const bool is_saved = class == 1 + PP_SLOT_SAVED || class == 1 + PP_SLOT_KEPT;
        const int begin = is_saved ? at : place->taken,
                  end = is_saved ? place->freed : place->given;
        t->next_begin[at] = t->begin[begin];
        t->next_end[at] = t->end[end];
        t->begin[begin] = t->end[end] = at + 1;
    }
}

static void assign(struct pp_arena *arena, const struct tensors *t, int count, int32_t *slot,
                   struct slot_class *classes)
{
    for (int c = 0; c < PP_SLOT_CLASSES;
         c++) /* the next rank starts anew, with the memory of the last */
        classes[c].used = classes[c].lowest = 0;
    for (int at = 0; at < count; at++) {
        for (int i = t->begin[at]; i; i = t->next_begin[i - 1])
            slot[i - 1] = take_slot(arena, &classes[t->class[i - 1] - 1]);
        for (int i = t->end[at]; i; i = t->next_end[i - 1])
            give_slot(&classes[t->class[i - 1] - 1], slot[i - 1]);
    }
}

static bool has_slots(const struct pp_program *p)
{
    for (int i = 0; i < pp_program_size(p); i++)
        if (p->slot[i] >= 0)
            return true;
    return false;
}

void pp_lower_slots(struct pp_program *p)
{
    if (has_slots(p))
        return;
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_memory_place *places = pp_memory_places(scratch, p);
    struct slot_class classes[PP_SLOT_CLASSES] = {0};
    const struct tensors tensors = make_tensors(scratch, p);

    for (int rank = 0; rank < p->ranks; rank++) {
        const int first = p->begin[rank];
        collect(p, places, rank, &tensors);
        assign(scratch, &tensors, p->begin[rank + 1] - first, p->slot + first, classes);
    }
}
