#include "sim/streams.h"

#include <stdlib.h>
#include <string.h>

static int by_ranks(const void *a, const void *b)
{
    const struct pp_rank_pair *x = a, *y = b;

    return x->source != y->source ? (x->source < y->source ? -1 : 1)
                                  : (x->dest > y->dest) - (x->dest < y->dest);
}

/* Payload of every channel, [channel]. */
static double *channel_bytes(struct pp_arena *arena, const struct pp_program *p,
                             const struct pp_costs *costs)
{
    double *bytes = PP_ARRAY(arena, double, p->channel_count + 1);
    int32_t *channel_of = PP_ARRAY(arena, int32_t, p->message_count + 1);

    for (int c = 0; c < p->channel_count; c++)
        for (int m = 0; m < p->channels[c].count; m++)
            channel_of[p->channels[c].first + m] = c;
    for (int i = 0; costs && i < pp_program_size(p); i++)
        if (pp_op_is_send(p->kind[i])) {
            const struct pp_op op = pp_program_op(p, i);
            bytes[channel_of[op.arg]] += pp_costs_message_bytes(costs, &op);
        }
    return bytes;
}

struct pp_rank_pair *pp_rank_pairs(struct pp_arena *arena, const struct pp_program *program,
                                   const struct pp_costs *costs, int *count)
{
    struct pp_rank_pair *pairs = PP_ARRAY(arena, struct pp_rank_pair, program->channel_count + 1);
    const double *bytes = channel_bytes(arena, program, costs);
    int used = 0;

    for (int c = 0; c < program->channel_count; c++)
        pairs[c] = (struct pp_rank_pair){.source = program->channels[c].source,
                                         .dest = program->channels[c].dest,
                                         .channels = 1,
                                         .message_bytes = bytes[c]};
    qsort(pairs, (size_t)program->channel_count, sizeof(*pairs), by_ranks);
    for (int c = 0; c < program->channel_count; c++)
        if (used && by_ranks(&pairs[used - 1], &pairs[c]) == 0) {
            pairs[used - 1].channels++;
            pairs[used - 1].message_bytes += pairs[c].message_bytes;
        } else {
            pairs[used++] = pairs[c];
        }
    *count = used;
    return pairs;
}

static void rehash(struct pp_link_set *set, uint32_t size)
{
    set->slots = PP_ARRAY(set->arena, int32_t, size);
    set->mask = size - 1;
    for (int i = 0; i < set->count; i++) {
        uint32_t at = (uint32_t)set->link[i] * UINT32_C(0x9e3779b1);
        for (at = (at ^ at >> 16) & set->mask; set->slots[at]; at = (at + 1) & set->mask)
            ;
        set->slots[at] = i + 1;
    }
}

struct pp_link_set pp_link_set_make(struct pp_arena *arena, const struct pp_fabric *fabric,
                                    int expected)
{
    struct pp_link_set set = {.arena = arena, .fabric = fabric, .capacity = 64};
    uint32_t size = 128;

    while (set.capacity < expected && set.capacity < 1 << 28) {
        set.capacity *= 2;
        size *= 2;
    }
    set.link = PP_ARRAY(arena, int32_t, set.capacity);
    set.value = PP_ARRAY(arena, struct pp_fabric_link, set.capacity);
    rehash(&set, size);
    return set;
}

static void grow(struct pp_link_set *set)
{
    int32_t *link = PP_ARRAY(set->arena, int32_t, 2 * set->capacity);
    struct pp_fabric_link *value = PP_ARRAY(set->arena, struct pp_fabric_link, 2 * set->capacity);

    memcpy(link, set->link, (size_t)set->count * sizeof(*link));
    memcpy(value, set->value, (size_t)set->count * sizeof(*value));
    set->link = link;
    set->value = value;
    set->capacity *= 2;
    rehash(set, 2 * (set->mask + 1));
}

int pp_link_set_at(struct pp_link_set *set, int32_t link)
{
    uint32_t at = (uint32_t)link * UINT32_C(0x9e3779b1);

    for (at = (at ^ at >> 16) & set->mask; set->slots[at]; at = (at + 1) & set->mask)
        if (set->link[set->slots[at] - 1] == link)
            return set->slots[at] - 1;
    if (set->count == set->capacity) {
        grow(set);
        return pp_link_set_at(set, link);
    }
    set->link[set->count] = link;
    set->value[set->count] = pp_fabric_link(set->fabric, link);
    set->slots[at] = ++set->count;
    return set->count - 1;
}
