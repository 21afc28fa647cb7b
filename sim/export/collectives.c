/* Makes tasks of collectives and barriers. */
#include "sim/export/walk.h"

#include <math.h>

/* Nodes of a collective: those of some ranks, in all replicas. */
struct party {
    const uint16_t *ranks; /* NULL: all */
    int count;             /* ranks */
    int size, own;         /* number of nodes; place of this one among them */
};

static struct party party_of(const struct pp_export_walk *w, const uint16_t *ranks, int count)
{
    struct party party = {.ranks = ranks, .count = count, .size = count * w->export->replicas};
    int k = 0;

    while (k < count && (ranks ? ranks[k] : k) != w->rank)
        k++;
    party.own = w->replica * count + k;
    return party;
}

static int node_of(const struct pp_export_walk *w, const struct party *party, int place)
{
    const int k = place % party->count, rank = party->ranks ? party->ranks[k] : k;

    return place / party->count * w->program->ranks + rank;
}

/* Makes the last task wait for `ready` (NULL: the node's clock) and the previous collective. */
static void need_start(struct pp_export_walk *w, const int *ready)
{
    if (ready)
        pp_walk_need(w, *ready);
    else
        pp_walk_need_clock(w);
    pp_walk_need(w, w->last_collective);
}

static int signal(struct pp_export_walk *w, enum pp_task_kind kind, int lane,
                  const struct party *party, int place, uint32_t tag)
{
    return pp_walk_token(w, kind, lane, node_of(w, party, place), lane, tag);
}

/* All nodes signal the first, which signals all `ps` after the last of them, in one lane. This node
 * waits for `ready` first (NULL: its clock). Returns the task whose end is the meeting's. */
static int meet(struct pp_export_walk *w, const struct party *party, int lane, const int *ready,
                int64_t ps, uint32_t tag, int instruction)
{
    if (party->own > 0) {
        signal(w, PP_TASK_SEND, lane, party, 0, tag);
        need_start(w, ready);
        return signal(w, PP_TASK_RECV, lane, party, 0, tag + 1);
    }
    const int first = w->tasks->count;
    for (int k = 1; k < party->size; k++)
        signal(w, PP_TASK_RECV, lane, party, k, tag);
    const int together = pp_walk_calc(w, lane, ps, instruction);
    need_start(w, ready);
    for (int k = 1; k < party->size; k++)
        pp_walk_need(w, first + k - 1);
    for (int k = 1; k < party->size; k++) {
        signal(w, PP_TASK_SEND, lane, party, k, tag + 1);
        pp_walk_need(w, together);
    }
    return together;
}

/* Returns the bytes of a ring's message by which its steps take as long as the collective took. The
 * reader does not charge the first byte. */
static int64_t step_bytes(const struct pp_export_walk *w, int steps)
{
    const double step_s = 1e-12 * (double)(pp_walk_lasted_ps(w) / steps - w->export->latency_ps);

    return w->export->s_per_byte > 0 && step_s > 0 ? 1 + llround(step_s / w->export->s_per_byte)
                                                   : 1;
}

/* Adds a ring, in which each step sends a share on and receives one. Returns the last RECV. */
static int ring(struct pp_export_walk *w, const struct party *party, const int *ready, int steps,
                uint32_t tag, int i)
{
    const int next = node_of(w, party, (party->own + 1) % party->size),
              last = node_of(w, party, (party->own + party->size - 1) % party->size);
    const struct pp_task task = {
        .lane = LANE_REDUCE, .bytes = step_bytes(w, steps), .port = RING_PORT, .instruction = i};
    int over = -1;

    for (int k = 0; k < steps; k++) {
        struct pp_task send = task, recv = task;
        send.kind = PP_TASK_SEND;
        send.peer = next;
        recv.kind = PP_TASK_RECV;
        recv.peer = last;
        send.tag = recv.tag = tag + (uint32_t)k;
        const int sent = pp_export_add(w, send);
        pp_walk_need(w, w->last_share); /* what comes before this node is ready stays here */
        w->last_share = sent;
        if (k > 0)
            pp_walk_need(w, over);
        else
            need_start(w, ready);
        over = pp_export_add(w, recv);
    }
    return over;
}

static int native(struct pp_export_walk *w, const int *ready, int i)
{
    const int task =
        pp_export_add(w, (struct pp_task){.kind = PP_TASK_COLLECTIVE,
                                          .lane = LANE_REDUCE,
                                          .bytes = llround(pp_walk_event(w)->bytes),
                                          .peer = w->program->collectives[w->program->arg[i]].group,
                                          .instruction = i});

    need_start(w, ready);
    return task;
}

int pp_walk_alone(struct pp_export_walk *w, int lane, int last, int i)
{
    const int task = pp_walk_calc(w, lane, pp_walk_lasted_ps(w), i);

    pp_walk_need_clock(w);
    pp_walk_need(w, last);
    return task;
}

void pp_walk_collective(struct pp_export_walk *w, int i)
{
    const struct pp_program *p = w->program;
    const int at = i - p->begin[w->rank], c = p->arg[i];

    if (c < 0) { /* of this rank alone */
        w->done[at] = w->last_collective = pp_walk_alone(w, LANE_REDUCE, w->last_collective, i);
        return;
    }
    const struct pp_group *group = &p->groups[p->collectives[c].group];
    const struct party party = party_of(w, &p->members[group->first], group->count);
    const int *ready = w->inside[at] >= 0 ? &w->inside[at] : NULL;
    const int steps = pp_ring_turns(p->kind[i]) * (party.size - 1);

    if (pp_walk_has_collectives(w) && party.size > 1)
        w->last_collective = native(w, ready, i);
    else if (w->export->wires == PP_WIRES_NETWORK && steps > 0)
        w->last_collective = ring(w, &party, ready, steps, w->export->tag0[c], i);
    else
        w->last_collective =
            meet(w, &party, LANE_REDUCE, ready, pp_walk_lasted_ps(w), w->export->tag0[c], i);
    w->done[at] = w->last_collective;
}

int pp_walk_barrier(struct pp_export_walk *w, int i)
{
    const struct party all = party_of(w, NULL, w->program->ranks);
    const uint32_t tag =
        w->export->tag0[w->program->collective_count] + 2 * (uint32_t)w->barriers++;
    const int collective = w->last_collective;

    w->last_collective = -1; /* sums of no member are waited for */
    const int over = meet(w, &all, LANE_COMPUTE, NULL, 0, tag, i);
    w->last_collective = collective;
    return over;
}
