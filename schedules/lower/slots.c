/* Buffer slots, assigned last and once: the smallest that is free, per rank and class.
 *
 *   kept                 F all of whose granules have an R: input of R, until the B (or W)
 *   saved activation     any other F; and R; until the B (or W) has run; none in inference
 *   activation received  RECV_F, from the post until the last F that reads it has run
 *   gradient received    RECV_B, from the post until the last B or I that reads it has run
 *   activation sent      SEND_F, from the start of its F until the WAIT for the SEND
 *   gradient sent        SEND_B, from the start of its B or I until the WAIT for the SEND
 *
 * Stages share slots. A slot is as large as the largest tensor that it ever carries, so ranks whose
 * stages are of one size waste nothing. A SEND without a WAIT keeps its slot. An overlapped pair
 * takes the slots of both ops before either releases any. */
#include "schedules/lower/lists.h"
#include "schedules/lower/lower.h"
#include "schedules/memory/lifetimes.h"

#include <string.h>

enum { CLASS_KEPT, CLASS_SAVED, CLASS_RECV_F, CLASS_RECV_B, CLASS_SEND_F, CLASS_SEND_B, CLASSES };

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

/* Life of one tensor; positions are inclusive. Both chains run through `next_...`. */
struct life {
    int from, until;
    int at; /* instruction that carries the slot */
    int next_from, next_until;
    uint8_t class;
};

struct rank_lives {
    struct life *lives;
    int count;
    int *from, *until; /* [position] 1 + first of a chain of lives, 0 = none */
};

/* Finds the life of the tensor that instruction `at` carries; false if it carries none. */
static bool life_of(const struct pp_lifetimes *lifetimes, const struct pp_op *ops, int at,
                    bool is_infer, struct life *life)
{
    const struct pp_op *op = &ops[at];

    *life = (struct life){.from = at, .until = -1, .at = at};
    if ((op->kind == PP_F || op->kind == PP_R) && !is_infer) {
        const bool is_kept = op->kind == PP_F && pp_lifetimes_is_recomputed(lifetimes, op);
        life->class = is_kept ? CLASS_KEPT : CLASS_SAVED;
        life->until = pp_lifetimes_freed(lifetimes, op);
        return true;
    }
    if (pp_op_is_recv(op->kind)) {
        const int direction = op->kind == PP_RECV_B;
        life->class = direction ? CLASS_RECV_B : CLASS_RECV_F;
        life->until = pp_lifetimes_read(lifetimes, op, op->stage, direction);
        return true;
    }
    if (pp_op_is_send(op->kind)) {
        const int made = pp_lifetimes_made(lifetimes, op);
        life->class = op->kind == PP_SEND_F ? CLASS_SEND_F : CLASS_SEND_B;
        life->from = made >= 0 && made < at ? made : at;
        life->until = pp_lifetimes_sent(lifetimes, op);
        return true;
    }
    return false;
}

/* Collects lives in reverse, so that chains run in list order. */
static void collect_lives(const struct pp_lifetimes *lifetimes, const struct pp_op *ops, int count,
                          bool is_infer, struct rank_lives *r)
{
    r->count = 0;
    memset(r->from, 0, sizeof(int) * ((size_t)count + 1));
    memset(r->until, 0, sizeof(int) * ((size_t)count + 1));
    for (int at = count - 1; at >= 0; at--) {
        struct life life;

        if (!life_of(lifetimes, ops, at, is_infer, &life))
            continue;
        if (life.until >= 0 && life.until < count && ops[life.until].aux == PP_FUSED_FIRST &&
            ops[life.until].kind == PP_F)
            life.until++;
        if (life.until < life.at || life.until >= count) /* never given back */
            life.until = count;
        life.next_from = r->from[life.from];
        life.next_until = r->until[life.until];
        r->lives[r->count++] = life;
        r->from[life.from] = r->until[life.until] = r->count;
    }
}

static void assign_rank(struct pp_arena *arena, const struct rank_lives *r, struct pp_op *ops,
                        int count, struct slot_class *classes)
{
    for (int c = 0; c < CLASSES; c++) /* the next rank starts anew, with the memory of the last */
        classes[c].used = classes[c].lowest = 0;
    for (int at = 0; at < count; at++) {
        for (int i = r->from[at]; i; i = r->lives[i - 1].next_from) {
            const struct life *life = &r->lives[i - 1];
            ops[life->at].slot = take_slot(arena, &classes[life->class]);
        }
        for (int i = r->until[at]; i; i = r->lives[i - 1].next_until) {
            const struct life *life = &r->lives[i - 1];
            give_slot(&classes[life->class], ops[life->at].slot);
        }
    }
}

static struct rank_lives rank_lives_make(struct pp_arena *arena, const struct pp_orders *lists)
{
    const size_t room = (size_t)pp_lists_longest(lists) + 1;

    return (struct rank_lives){.lives = pp_arena_alloc_raw(arena, sizeof(struct life) * room),
                               .from = pp_arena_alloc_raw(arena, sizeof(int) * room),
                               .until = pp_arena_alloc_raw(arena, sizeof(int) * room)};
}

static bool has_slot(const struct pp_op *op)
{
    return op->slot >= 0;
}

static struct pp_lifetimes note_all(struct pp_arena *arena, const struct pp_program_head *head,
                                    const struct pp_orders *lists)
{
    int64_t covered = 0;

    for (int rank = 0; rank < lists->ranks; rank++)
        for (int i = 0; i < lists->count[rank]; i++)
            covered +=
                pp_op_is_compute(lists->ops[rank][i].kind) ? lists->ops[rank][i].granules : 0;
    struct pp_lifetimes lives = pp_lifetimes_create(
        arena, head->stages, head->micro_batches * head->granules, head->splits, covered);
    for (int rank = 0; rank < lists->ranks; rank++)
        for (int i = 0; i < lists->count[rank]; i++)
            pp_lifetimes_note(&lives, &lists->ops[rank][i], i);
    return lives;
}

enum pp_status pp_lower_slots(const struct pp_lowering *l)
{
    struct pp_orders *lists = l->lists;

    if (l->options->no_slots || pp_lists_any(lists, has_slot))
        return PP_OK;
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_lifetimes lifetimes = note_all(scratch, l->head, lists);
    struct slot_class classes[CLASSES] = {0};
    struct rank_lives r = rank_lives_make(scratch, lists);

    for (int rank = 0; rank < lists->ranks; rank++) {
        const int count = lists->count[rank];

        collect_lives(&lifetimes, lists->ops[rank], count, l->head->mode == PP_MODE_INFER, &r);
        assign_rank(scratch, &r, lists->ops[rank], count, classes);
    }
    return PP_OK;
}
