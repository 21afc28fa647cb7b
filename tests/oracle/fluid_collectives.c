/* Collectives of the fluid model: one cost for all members, or hop by hop around a ring. */
#include "tests/oracle/fluid_parts.h"

#include <math.h>

static const struct pp_ring *ring_of(const struct fluid *x, const struct pp_collective *c)
{
    if (x->o->replay_ps || !x->o->ring_flows || c->tied || c->purpose || !x->costs->rings ||
        (c->kind != PP_AR && c->kind != PP_RS && c->kind != PP_AG))
        return NULL;
    return x->costs->rings[c->stage].positions > 1 ? &x->costs->rings[c->stage] : NULL;
}

static int members_of(const struct fluid *x, int c)
{
    return x->p->groups[x->p->collectives[c].group].count * x->replicas;
}

/* The instruction with which an actor takes part in the sum it is to join next. */
static bool next_post(const struct fluid *x, const struct actor *a, int *round, int *i)
{
    if (a->head == a->posted_count)
        return false;
    *round = a->posted[a->head] / x->size;
    *i = a->posted[a->head] % x->size;
    return true;
}

static void sum_ended(struct fluid *x, int c, int round)
{
    struct sum *sum = &x->sums[round * x->p->collective_count + c];

    sum->is_ended = true;
    for (int k = 0; k < x->p->ranks * x->replicas; k++) {
        struct actor *a = &x->actors[k];
        int at, i;
        if (!next_post(x, a, &at, &i) || at != round || x->p->arg[i] != c)
            continue;
        x->t->end_s[fluid_row(x, round, i, a->replica)] = x->now;
        x->reducing[k] = a->has_joined = false;
        a->head++;
    }
}

static void hop_ended(struct fluid *x, int id, int at)
{
    struct sum *sum = &x->sums[id];

    sum->is_busy[at] = false;
    if (++sum->passed[at] == sum->steps && ++sum->finished == sum->lanes * sum->ring->positions)
        sum_ended(x, id % x->p->collective_count, id / x->p->collective_count);
}

/* Position i takes its share from i - 1 as soon as both are through with the step before. */
static bool try_hop(struct fluid *x, int id, int lane, int i)
{
    struct sum *sum = &x->sums[id];
    const struct pp_ring *ring = sum->ring;
    const int source = (i + ring->positions - 1) % ring->positions;
    const int at = lane * ring->positions + i, before = lane * ring->positions + source;

    if (sum->is_busy[at] || sum->passed[at] < 0 || sum->passed[at] == sum->steps ||
        sum->passed[before] < sum->passed[at])
        return false;
    sum->is_busy[at] = true;
    if (!x->o->network) {
        fluid_add_timer(x, (double)pp_ring_hop_ps(ring, sum->op.kind, i, sum->op.granules) * 1e-12,
                        hop_ended, id, at);
        return true;
    }
    const int offset = lane * x->o->network->map.stride[PP_AXIS_TP];
    fluid_add_flow(x, ring->device[source] + offset, ring->device[i] + offset,
                   pp_costs_op(x->costs, &sum->op, NULL).bytes / ring->positions, hop_ended, id,
                   at);
    return true;
}

static void prepare_sum(struct fluid *x, struct sum *sum, const struct pp_collective *c)
{
    const struct pp_network *n = x->o->network;

    sum->ring = ring_of(x, c);
    if (!sum->ring)
        return;
    sum->steps = (c->kind == PP_AR ? 2 : 1) * (sum->ring->positions - 1);
    sum->lanes = n && n->lanes > 1 ? n->layout.tp : 1;
    sum->passed = PP_ARRAY(x->arena, int, sum->lanes * sum->ring->positions);
    sum->is_busy = PP_ARRAY(x->arena, bool, sum->lanes * sum->ring->positions);
    for (int at = 0; at < sum->lanes * sum->ring->positions; at++)
        sum->passed[at] = -1;
}

/* The actor's reduce stream is free for its next sum: let it join. */
static void join_sum(struct fluid *x, int k, int round, int i)
{
    const struct actor *a = &x->actors[k];
    const int c = x->p->arg[i], id = round * x->p->collective_count + c;
    struct sum *sum = &x->sums[id];

    sum->op = pp_program_op(x->p, i);
    if (sum->ready++ == 0)
        prepare_sum(x, sum, &x->p->collectives[c]);
    for (int at = 0; sum->ring && at < sum->lanes * sum->ring->positions; at++) {
        const int position = at % sum->ring->positions;
        if (sum->ring->rank[position] == a->rank &&
            (x->replicas == 1 || sum->ring->replica[position] == a->replica))
            sum->passed[at] = 0;
    }
    if (sum->ready < members_of(x, c))
        return;
    for (int j = 0; j < x->p->ranks * x->replicas; j++) {
        int at, mine;
        if (!next_post(x, &x->actors[j], &at, &mine) || at != round || x->p->arg[mine] != c)
            continue;
        x->t->start_s[fluid_row(x, round, mine, x->actors[j].replica)] = x->now;
        x->reducing[j] = true;
    }
    if (!sum->ring)
        fluid_add_timer(
            x, fluid_duration(x, round, i, a->replica, pp_costs_op(x->costs, &sum->op, NULL).ps),
            sum_ended, c, round);
}

bool fluid_try_sums(struct fluid *x)
{
    bool is_moved = false;

    for (int k = 0; k < x->p->ranks * x->replicas; k++) {
        int round, i;
        if (x->actors[k].has_joined || !next_post(x, &x->actors[k], &round, &i))
            continue;
        x->actors[k].has_joined = is_moved = true;
        join_sum(x, k, round, i);
    }
    for (int id = 0; id < x->rounds * x->p->collective_count; id++)
        for (int at = 0; x->sums[id].ring && !x->sums[id].is_ended &&
                         at < x->sums[id].lanes * x->sums[id].ring->positions;
             at++)
            is_moved |=
                try_hop(x, id, at / x->sums[id].ring->positions, at % x->sums[id].ring->positions);
    return is_moved;
}
