/* Inserts into the lists of ranks, and queries of the lists. */
#include "schedules/lower/lists.h"

#include <string.h>

void pp_inserts_add(struct pp_arena *arena, struct pp_inserts *inserts, int before, struct pp_op op)
{
    *PP_PUSH(arena, inserts->data, inserts->count, inserts->capacity) =
        (struct pp_insert){.before = before, .op = op};
}

/* Returns room for all inserts. */
static struct pp_insert *spare_of(struct pp_arena *arena, struct pp_inserts *inserts)
{
    if (inserts->spare_capacity < inserts->count) {
        inserts->spare_capacity = inserts->capacity;
        inserts->spare =
            pp_arena_alloc_raw(arena, sizeof *inserts->spare * (size_t)inserts->capacity);
    }
    return inserts->spare;
}

/* Sorts stably: by counting, unless they are in order already. */
static void sort_inserts(struct pp_arena *arena, struct pp_inserts *inserts, int places)
{
    bool is_sorted = true;

    for (int i = 1; i < inserts->count; i++)
        is_sorted = is_sorted && inserts->data[i - 1].before <= inserts->data[i].before;
    if (is_sorted)
        return;
    int *begin = PP_ARRAY(arena, int, places + 2);
    struct pp_insert *sorted = spare_of(arena, inserts);
    for (int i = 0; i < inserts->count; i++)
        begin[inserts->data[i].before + 1]++;
    for (int p = 0; p <= places; p++)
        begin[p + 1] += begin[p];
    for (int i = 0; i < inserts->count; i++)
        sorted[begin[inserts->data[i].before]++] = inserts->data[i];
    inserts->spare = inserts->data;
    inserts->data = sorted;
    const int capacity = inserts->capacity;
    inserts->capacity = inserts->spare_capacity;
    inserts->spare_capacity = capacity;
}

/* Makes room for the inserts, and for as many ops as there are: other passes will add some. */
static void make_room(struct pp_arena *arena, struct pp_orders *lists, int rank, int count)
{
    const int old_count = lists->count[rank];

    if (lists->capacity[rank] - old_count >= count)
        return;
    const size_t capacity = 2 * ((size_t)old_count + (size_t)count);
    struct pp_op *ops = pp_arena_alloc_raw(arena, sizeof *ops * capacity);
    if (old_count > 0)
        memcpy(ops, lists->ops[rank], sizeof *ops * (size_t)old_count);
    lists->ops[rank] = ops;
    lists->capacity[rank] = (int)capacity;
}

void pp_inserts_apply(struct pp_arena *arena, struct pp_orders *lists, int rank,
                      struct pp_inserts *inserts)
{
    const int old_count = lists->count[rank], count = old_count + inserts->count;

    if (inserts->count == 0)
        return;
    sort_inserts(arena, inserts, old_count);
    make_room(arena, lists, rank, inserts->count);
    /* From the end, so that ops before the first insert are not moved. */
    struct pp_op *ops = lists->ops[rank];
    for (int next = inserts->count, from = old_count, to = count; next > 0;) {
        if (inserts->data[next - 1].before == from)
            ops[--to] = inserts->data[--next].op;
        else
            ops[--to] = ops[--from];
    }
    lists->count[rank] = count;
    inserts->count = 0;
}

void pp_lists_drop(struct pp_orders *lists, bool (*rule)(const struct pp_op *op))
{
    for (int rank = 0; rank < lists->ranks; rank++) {
        int kept = 0;

        for (int i = 0; i < lists->count[rank]; i++)
            if (!rule(&lists->ops[rank][i]))
                lists->ops[rank][kept++] = lists->ops[rank][i];
        lists->count[rank] = kept;
    }
}

bool pp_lists_have(const struct pp_orders *lists, int kind)
{
    for (int rank = 0; rank < lists->ranks; rank++)
        for (int i = 0; i < lists->count[rank]; i++)
            if (lists->ops[rank][i].kind == kind)
                return true;
    return false;
}

int pp_lists_longest(const struct pp_orders *lists)
{
    int longest = 0;

    for (int rank = 0; rank < lists->ranks; rank++)
        longest = lists->count[rank] > longest ? lists->count[rank] : longest;
    return longest;
}

int pp_lists_moments(const struct pp_orders *lists, int rank, struct pp_moment *moments)
{
    const int length = lists->count[rank];
    int count = 0;

    for (int i = 0; i < length; i++) {
        const struct pp_op *op = &lists->ops[rank][i];
        if (!pp_op_has_cell(op->kind))
            continue;
        const bool is_pair = op->aux == PP_FUSED_FIRST && op->kind == PP_F && i + 1 < length;
        moments[count++] = (struct pp_moment){
            .at = i, .end = i + 1 + is_pair, .count = 1 + is_pair, .op = {op, op + is_pair}};
        i += is_pair;
    }
    return count;
}

int pp_lists_compute_end(const struct pp_orders *lists, int rank)
{
    const struct pp_op *ops = lists->ops[rank];
    int end = lists->count[rank];

    while (end > 0 && (!pp_op_is_compute(ops[end - 1].kind) || ops[end - 1].kind == PP_U))
        end--;
    while (end < lists->count[rank] && pp_op_is_send(ops[end].kind))
        end++;
    return end;
}

int pp_lists_next_update(const struct pp_orders *lists, int rank, int at)
{
    while (at < lists->count[rank] && lists->ops[rank][at].kind != PP_U)
        at++;
    return at;
}

int pp_lists_tail(const struct pp_orders *lists, int rank)
{
    return pp_lists_next_update(lists, rank, pp_lists_compute_end(lists, rank));
}
