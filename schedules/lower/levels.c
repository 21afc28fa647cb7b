/* Slots: the order of compute instructions without times, each taking one slot. */
#include "schedules/lower/messages.h"

struct levels {
    const struct pp_messages *m;
    int32_t **slots;  /* [rank][unit] end of the unit */
    int32_t *reached; /* [rank] units placed */
    int32_t *next_in; /* [rank] in m->in: inputs of the units placed */
    int32_t *stack;   /* ranks that may advance; a rank is in it at most once */
    int depth;
    bool *is_waiting;
};

int pp_messages_weight(const struct pp_messages *m, int rank, int32_t unit)
{
    const struct pp_op *op = pp_unit_op(m, rank, unit, 0);

    return pp_op_is_compute(op->kind) && op->kind != PP_U ? pp_unit_length(op) : 0;
}

static void wake(struct levels *l, int rank)
{
    if (l->is_waiting[rank])
        return;
    l->is_waiting[rank] = true;
    l->stack[l->depth++] = rank;
}

/* Latest end of the units that feed the next unit of `rank`, or -1 if one has not been placed. */
static int32_t inputs_end(struct levels *l, int rank)
{
    const struct pp_messages *m = l->m;
    int32_t at = l->next_in[rank], end = 0;

    for (; at < m->in_begin[rank + 1]; at++) {
        const struct pp_message *message = &m->messages[m->in[at]];
        const int source = m->channels[message->channel].source;

        if (message->consumed != l->reached[rank])
            break;
        if (message->produced >= l->reached[source])
            return -1;
        if (l->slots[source][message->produced] > end)
            end = l->slots[source][message->produced];
    }
    l->next_in[rank] = at;
    return end;
}

static void wake_readers(struct levels *l, int rank, int32_t unit)
{
    const struct pp_messages *m = l->m;
    const struct pp_op *op;

    for (int i = 0; (op = pp_unit_op(m, rank, unit, i)); i++) {
        const int32_t id = pp_message_output(m, op);

        if (id >= 0)
            wake(l, m->channels[m->messages[id].channel].dest);
    }
}

static void run_rank(struct levels *l, int rank)
{
    const int32_t units = l->m->units[rank].count;

    while (l->reached[rank] < units) {
        const int32_t unit = l->reached[rank], inputs = inputs_end(l, rank);
        const int32_t before = unit ? l->slots[rank][unit - 1] : 0;

        if (inputs < 0)
            return;
        l->slots[rank][unit] =
            (inputs > before ? inputs : before) + pp_messages_weight(l->m, rank, unit);
        l->reached[rank]++;
        wake_readers(l, rank, unit);
    }
}

int32_t **pp_messages_slots(struct pp_arena *arena, const struct pp_messages *m)
{
    const int ranks = m->head->ranks;
    struct levels l = {.m = m,
                       .slots = PP_ARRAY(arena, int32_t *, ranks),
                       .reached = PP_ARRAY(arena, int32_t, ranks),
                       .next_in = PP_ARRAY(arena, int32_t, ranks),
                       .stack = PP_ARRAY(arena, int32_t, ranks),
                       .is_waiting = PP_ARRAY(arena, bool, ranks)};

    for (int rank = 0; rank < ranks; rank++) {
        l.slots[rank] = PP_ARRAY(arena, int32_t, m->units[rank].count + 1);
        l.next_in[rank] = m->in_begin[rank];
        wake(&l, rank);
    }
    while (l.depth > 0) {
        const int rank = l.stack[--l.depth];

        l.is_waiting[rank] = false;
        run_rank(&l, rank);
    }
    for (int rank = 0; rank < ranks; rank++)
        for (int32_t u = l.reached[rank] ? l.reached[rank] : 1; u < m->units[rank].count; u++)
            l.slots[rank][u] = l.slots[rank][u - 1];
    return l.slots;
}
