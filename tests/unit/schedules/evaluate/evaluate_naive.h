/* An evaluator that shares only its options with schedules/evaluate/evaluate.h. Every rank of every
 * replica steps through its list, and checks again and again whether it may continue. */
#ifndef PP_TESTS_EVALUATE_NAIVE_H
#define PP_TESTS_EVALUATE_NAIVE_H

#include "tests/unit/support/random_program.h"

#include "schedules/evaluate/eval.h"
#include "schedules/evaluate/evaluate.h"

static const int64_t UNKNOWN = -1;

struct naive {
    struct pp_arena *arena;
    const struct pp_program *p;
    const struct pp_costs *costs;
    const struct pp_eval_options *options;
    const struct pp_times
        *durations; /* compute ops last as long as here; NULL = as the table says */
    int replicas;
    int *pc;                                 /* [replica][rank] */
    int64_t *clock;                          /* [replica][rank] */
    int64_t *start, *end, *posted, *matched; /* [instruction * replicas + replica] */
    int *send, *recv;                        /* [message]: instruction */
    int64_t *meet_start, *meet_end;          /* [collective] */
    int *barrier_of, barrier_ranks;          /* ranks that have come to the barrier */
    bool is_stuck;
};

static int64_t *at(const struct naive *x, int64_t *column, int i, int replica)
{
    return &column[(size_t)i * (size_t)x->replicas + (size_t)replica];
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- transfers ------------------------------------------------------------------------------- */

static int previous_send(const struct naive *x, int rank, int i)
{
    for (int k = i - 1; k >= x->p->begin[rank]; k--)
        if (pp_op_is_send(x->p->kind[k]))
            return k;
    return -1;
}

/* When has the receiver taken message m out of its buffer? */
static int64_t received(const struct naive *x, int m, int replica)
{
    const int64_t end = *at(x, x->end, x->recv[m], replica),
                  post = *at(x, x->posted, x->recv[m], replica);

    return end == UNKNOWN || post == UNKNOWN ? UNKNOWN : max64(end, post);
}

/* The first moment from `t` on at which fewer than K of the channel's earlier messages are in the
 * buffer. UNKNOWN if that is still open. */
static int64_t has_room(const struct naive *x, const struct pp_channel *c, int m, int replica,
                        int64_t t)
{
    for (;;) {
        int unreceived = 0;
        int64_t next = INT64_MAX;
        for (int k = c->first; k < m; k++) {
            const int64_t when = received(x, k, replica);
            if (when == UNKNOWN || when > t) {
                unreceived++;
                next = when != UNKNOWN && when < next ? when : next;
            }
        }
        if (unreceived < x->options->buffered)
            return t;
        if (next == INT64_MAX)
            return UNKNOWN;
        t = next;
    }
}

static bool try_message(struct naive *x, const struct pp_channel *c, int m, int replica)
{
    const int send = x->send[m], recv = x->recv[m];
    const int64_t post_send = *at(x, x->posted, send, replica);
    const int64_t post_recv = *at(x, x->posted, recv, replica);
    int64_t start = post_send;

    if (*at(x, x->end, send, replica) != UNKNOWN || post_send == UNKNOWN)
        return false;
    if (!x->options->is_buffered) {
        if (post_recv == UNKNOWN)
            return false;
        start = max64(start, post_recv);
    }
    if (m > c->first) {
        const int64_t before = *at(x, x->end, x->send[m - 1], replica);
        if (before == UNKNOWN)
            return false;
        start = max64(start, before);
    }
    const int previous = x->options->nic_fifo ? previous_send(x, c->source, send) : -1;
    if (previous >= 0) {
        const int64_t before = *at(x, x->end, previous, replica);
        if (before == UNKNOWN)
            return false;
        start = max64(start, before);
    }
    if (x->options->is_buffered && x->options->buffered > 0)
        start = has_room(x, c, m, replica, start);
    if (start == UNKNOWN)
        return false;
    const struct pp_op op = pp_program_op(x->p, send);
    const int64_t end = start + pp_costs_p2p(x->costs, &op, c->source).ps;
    *at(x, x->start, send, replica) = *at(x, x->start, recv, replica) = start;
    *at(x, x->end, send, replica) = *at(x, x->end, recv, replica) = end;
    return true;
}

/* ---- collectives ----------------------------------------------------------------------------- */

static int previous_collective(const struct naive *x, int rank, int i)
{
    for (int k = i - 1; k >= x->p->begin[rank]; k--)
        if (pp_op_is_collective(x->p->kind[k]))
            return x->p->arg[k];
    return -1;
}

/* `hop_ps` per position, or the same for all. */
static int64_t ring_end(const struct naive *x, const int64_t *ready, int count,
                        const int64_t *hop_ps, int steps)
{
    int64_t *now = PP_ARRAY(x->arena, int64_t, count), *next = PP_ARRAY(x->arena, int64_t, count);

    for (int i = 0; i < count; i++)
        now[i] = ready[i];
    for (int s = 0; s < steps; s++) {
        for (int i = 0; i < count; i++)
            next[i] = max64(now[i], now[(i + count - 1) % count]) + hop_ps[i];
        int64_t *swap = now;
        now = next;
        next = swap;
    }
    int64_t end = 0;
    for (int i = 0; i < count; i++)
        end = max64(end, now[i]);
    return end;
}

/* All members on a ring, replica by replica, with equal hops. */
static void run_plain_ring(struct naive *x, int c, const int64_t *ready, int count, int turns)
{
    const int64_t alpha_ps = x->costs->ring_alpha_ps[x->p->collectives[c].stage];
    const int steps = turns * (x->costs->sync_ranks - 1);
    int64_t *hop_ps = PP_ARRAY(x->arena, int64_t, count);

    for (int i = 0; i < count; i++)
        hop_ps[i] = alpha_ps;
    x->meet_end[c] = ring_end(x, ready, count, hop_ps, steps);
    x->meet_start[c] = x->meet_end[c] - steps * alpha_ps;
}

/* The devices of a ring; `ready` is by replica and rank. */
static void run_listed_ring(struct naive *x, int c, const int64_t *ready_of, int turns)
{
    const struct pp_ring *ring = &x->costs->rings[x->p->collectives[c].stage];
    int64_t *ready = PP_ARRAY(x->arena, int64_t, ring->positions),
            *hop_ps = PP_ARRAY(x->arena, int64_t, ring->positions);

    for (int i = 0; i < ring->positions; i++) {
        ready[i] = ready_of[ring->replica[i] * x->p->ranks + ring->rank[i]];
        hop_ps[i] =
            pp_ring_hop_ps(ring, x->p->collectives[c].kind, i, x->p->collectives[c].buckets);
    }
    x->meet_end[c] = ring_end(x, ready, ring->positions, hop_ps, turns * (ring->positions - 1));
}

static bool try_collective(struct naive *x, int c)
{
    const struct pp_collective *coll = &x->p->collectives[c];
    int64_t *ready = PP_ARRAY(x->arena, int64_t, x->p->ranks * x->replicas),
            *ready_of = PP_ARRAY(x->arena, int64_t, x->p->ranks * x->replicas), latest = 0;
    int count = 0, instruction = -1;

    if (x->meet_end[c] != UNKNOWN)
        return false;
    for (int replica = 0; replica < x->replicas; replica++)
        for (int r = 0; r < x->p->ranks; r++)
            for (int i = x->p->begin[r]; i < x->p->begin[r + 1]; i++) {
                if (!pp_op_is_collective(x->p->kind[i]) || x->p->arg[i] != c)
                    continue;
                const int before = previous_collective(x, r, i);
                const int64_t post = *at(x, x->posted, i, replica);
                if (post == UNKNOWN || (before >= 0 && x->meet_end[before] == UNKNOWN))
                    return false;
                ready[count] = max64(post, before >= 0 ? x->meet_end[before] : 0);
                ready_of[replica * x->p->ranks + r] = ready[count];
                latest = max64(latest, ready[count++]);
                instruction = i;
            }
    const struct pp_op op = pp_program_op(x->p, instruction);
    const int turns = coll->kind == PP_AR ? 2 : 1;
    x->meet_start[c] = latest;
    if (x->options->ring_flows && x->costs->rings) {
        run_listed_ring(x, c, ready_of, turns);
    } else if (x->options->ring_flows && x->costs->sync_ranks > 1) {
        run_plain_ring(x, c, ready, count, turns);
    } else {
        x->meet_end[c] = latest + pp_costs_op(x->costs, &op, NULL).ps;
    }
    return true;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static int64_t duration(const struct naive *x, int i, int replica)
{
    const struct pp_op op = pp_program_op(x->p, i), second = pp_program_op(x->p, i + 1);

    if (x->durations)
        return *at(x, x->durations->end_ps, i, replica) -
               *at(x, x->durations->start_ps, i, replica);
    return pp_costs_op(x->costs, &op, op.aux == PP_FUSED_FIRST ? &second : NULL).ps;
}

static void set(struct naive *x, int i, int replica, int64_t start, int64_t end)
{
    *at(x, x->start, i, replica) = start;
    *at(x, x->end, i, replica) = end;
}

/* Where all ranks have come to the barrier, let them go. */
static bool pass_barrier(struct naive *x)
{
    int64_t latest = 0;

    for (int k = 0; k < x->replicas * x->p->ranks; k++) {
        const int rank = k % x->p->ranks;
        if (x->pc[k] >= x->p->begin[rank + 1] || x->p->kind[x->pc[k]] != PP_BAR)
            return false;
        latest = max64(latest, x->clock[k]);
    }
    for (int k = 0; k < x->replicas * x->p->ranks; k++) {
        set(x, x->pc[k]++, k / x->p->ranks, x->clock[k], latest);
        x->clock[k] = latest;
    }
    return true;
}

/* The time of a post: `now`. For a bucket of a sum after the backward of its stage, the end of its
 * part of that backward. */
static int64_t post_time(const struct naive *x, int rank, int i, int replica, int64_t now)
{
    const struct pp_program *p = x->p;
    int backward = -1;

    if ((p->kind[i] != PP_AR && p->kind[i] != PP_RS) || p->granule_count[i] < 2)
        return now;
    for (int k = p->begin[rank]; k < i; k++) {
        const bool is_own =
            p->kind[k] == p->kind[i] && p->stage[k] == p->stage[i] && p->split[k] < p->split[i];
        if (p->kind[k] == PP_B || p->kind[k] == PP_W)
            backward = k;
        else if (!is_own && !pp_op_is_send(p->kind[k]) && !pp_op_is_recv(p->kind[k]))
            backward = -1;
    }
    if (backward < 0 || p->stage[backward] != p->stage[i])
        return now;
    const int64_t start = *at(x, x->start, backward, replica);
    const int64_t whole = *at(x, x->end, backward, replica) - start, of = p->granule_count[i];
    return start + (whole * (p->split[i] + 1) + of / 2) / of;
}

/* One instruction; false when it has to wait. */
static bool advance(struct naive *x, int replica, int rank)
{
    int *pc = &x->pc[replica * x->p->ranks + rank];
    int64_t *clock = &x->clock[replica * x->p->ranks + rank];
    const int i = *pc;

    if (i == x->p->begin[rank + 1] || x->p->kind[i] == PP_BAR)
        return false;
    if (pp_op_is_compute(x->p->kind[i])) {
        const int64_t end = *clock + duration(x, i, replica);
        set(x, i, replica, *clock, end);
        if (x->p->aux[i] == PP_FUSED_FIRST)
            set(x, ++*pc, replica, *clock, end);
        *clock = end;
    } else if (x->p->kind[i] == PP_WAIT) {
        const int target = x->p->begin[rank] + x->p->arg[i];
        const int64_t end = pp_op_is_collective(x->p->kind[target])
                                ? x->meet_end[x->p->arg[target]]
                                : *at(x, x->end, target, replica);
        if (end == UNKNOWN)
            return false;
        set(x, i, replica, *clock, max64(*clock, end));
        *clock = max64(*clock, end);
    } else {
        *at(x, x->posted, i, replica) = post_time(x, rank, i, replica, *clock);
    }
    ++*pc;
    return true;
}

static bool sweep(struct naive *x)
{
    bool is_moving = pass_barrier(x);

    for (int replica = 0; replica < x->replicas; replica++) {
        for (int r = 0; r < x->p->ranks; r++)
            while (advance(x, replica, r))
                is_moving = true;
        for (int c = 0; c < x->p->channel_count; c++)
            for (int m = 0; m < x->p->channels[c].count; m++)
                is_moving |=
                    try_message(x, &x->p->channels[c], x->p->channels[c].first + m, replica);
    }
    for (int c = 0; c < x->p->collective_count; c++)
        is_moving |= try_collective(x, c);
    return is_moving;
}

static int64_t *unknowns(struct pp_arena *arena, size_t count)
{
    int64_t *column = PP_ARRAY(arena, int64_t, count);

    for (size_t k = 0; k < count; k++)
        column[k] = UNKNOWN;
    return column;
}

static void simulate(struct naive *x)
{
    const size_t size = (size_t)pp_program_size(x->p) * (size_t)x->replicas;

    x->pc = PP_ARRAY(x->arena, int, x->replicas * x->p->ranks);
    x->clock = PP_ARRAY(x->arena, int64_t, x->replicas * x->p->ranks);
    for (int k = 0; k < x->replicas * x->p->ranks; k++)
        x->pc[k] = x->p->begin[k % x->p->ranks];
    x->start = unknowns(x->arena, size);
    x->end = unknowns(x->arena, size);
    x->posted = unknowns(x->arena, size);
    x->meet_start = unknowns(x->arena, (size_t)x->p->collective_count);
    x->meet_end = unknowns(x->arena, (size_t)x->p->collective_count);
    x->send = PP_ARRAY(x->arena, int, x->p->message_count);
    x->recv = PP_ARRAY(x->arena, int, x->p->message_count);
    for (int i = 0; i < pp_program_size(x->p); i++) {
        if (pp_op_is_send(x->p->kind[i]))
            x->send[x->p->arg[i]] = i;
        if (pp_op_is_recv(x->p->kind[i]))
            x->recv[x->p->arg[i]] = i;
    }
    while (sweep(x))
        ;
    for (int k = 0; k < x->replicas * x->p->ranks; k++)
        x->is_stuck |= x->pc[k] != x->p->begin[k % x->p->ranks + 1];
}

#endif
