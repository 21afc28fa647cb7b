/* Code that tests of lowering share: every schedule over many shapes, and an executor of lowered
 * lists. The executor has no times, only ranks with a program counter, channels and reduce
 * streams. */
#ifndef PP_TESTS_LOWER_CASES_H
#define PP_TESTS_LOWER_CASES_H

#include "schedules/lower/lower.h"
#include "schedules/order/concat.h"
#include "schedules/registry.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Call `visit` with the compute program of every schedule and shape that is accepted. Without
 * PIPESIM_LONG=1 it is one case of CASE_STRIDE, and the next schedule begins at another one. */
enum { CASE_STRIDE = 5 };
typedef void (*case_visit)(struct pp_arena *arena, const struct pp_program *compute, void *context);

static inline int for_each_case(case_visit visit, void *context)
{
    static const int ranks[] = {1, 2, 3, 4, 6, 8}, batches[] = {1, 2, 3, 4, 6, 8, 12, 16};
    static const int chunks[] = {0, 1, 3}, pipelines[] = {0, 4}, splits[] = {0, 2};
    enum { CASES = 6 * 8 * 3 * 2 * 2 };
    const int stride = getenv("PIPESIM_LONG") ? 1 : CASE_STRIDE;
    int count = 0;

    for (int s = 0; pp_schedules[s]; s++)
        for (int at = s % stride; at < CASES * PP_CONCAT_AUTO; at += stride) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            struct pp_shape shape = {.ranks = ranks[at % 6],
                                     .micro_batches = batches[at / 6 % 8],
                                     .chunks = chunks[at / 48 % 3],
                                     .pipelines = pipelines[at / 144 % 2],
                                     .splits = splits[at / 288 % 2]};
            struct pp_program *program;

            shape.option[PP_CONCAT_AT] = at / CASES;
            if (pp_schedule_program(arena, pp_schedules[s], &shape, NULL, &program, NULL) != PP_OK)
                continue;
            visit(arena, program, context);
            count++;
        }
    return count;
}

/* ---- executor --------------------------------------------------------------------------------*/

enum { NO_WINDOW = 1 << 30 };

struct machine {
    const struct pp_program *p;
    int *pc;                  /* [rank] instructions passed */
    int *sent, *received;     /* [channel] posts so far */
    int *waited;              /* [channel] RECVs the destination has waited for */
    int *channel_of;          /* [message] */
    int *queue, *queue_count; /* [rank * collectives + k]: collectives in post order */
    int *queue_head;
    bool *is_summed; /* [collective] */
    bool is_strict;  /* a WAIT for a SEND must find the WAIT of the receiver passed */
    int stalls;      /* WAITs for SENDs that did not, while compute was left */
    int *compute_left;
};

static inline struct machine machine_make(struct pp_arena *arena, const struct pp_program *p)
{
    struct machine m = {.p = p,
                        .pc = PP_ARRAY(arena, int, p->ranks),
                        .sent = PP_ARRAY(arena, int, p->channel_count + 1),
                        .received = PP_ARRAY(arena, int, p->channel_count + 1),
                        .waited = PP_ARRAY(arena, int, p->message_count + 1),
                        .channel_of = PP_ARRAY(arena, int, p->message_count + 1),
                        .queue = PP_ARRAY(arena, int, p->ranks * p->collective_count + 1),
                        .queue_count = PP_ARRAY(arena, int, p->ranks),
                        .queue_head = PP_ARRAY(arena, int, p->ranks),
                        .is_summed = PP_ARRAY(arena, bool, p->collective_count + 1),
                        .compute_left = PP_ARRAY(arena, int, p->ranks)};

    for (int c = 0; c < p->channel_count; c++)
        for (int k = 0; k < p->channels[c].count; k++)
            m.channel_of[p->channels[c].first + k] = c;
    for (int r = 0; r < p->ranks; r++)
        for (int i = p->begin[r]; i < p->begin[r + 1]; i++)
            m.compute_left[r] += pp_op_is_compute(p->kind[i]) && p->kind[i] != PP_U;
    return m;
}

/* Start every collective that is next on all its members. */
static inline bool machine_sum(struct machine *m)
{
    const struct pp_program *p = m->p;
    bool is_moved = false;

    for (int id = 0; id < p->collective_count; id++) {
        const struct pp_group *group = &p->groups[p->collectives[id].group];
        bool is_next = !m->is_summed[id];

        for (int k = 0; k < group->count && is_next; k++) {
            const int r = p->members[group->first + k];
            is_next = m->queue_head[r] < m->queue_count[r] &&
                      m->queue[r * p->collective_count + m->queue_head[r]] == id;
        }
        for (int k = 0; k < group->count && is_next; k++)
            m->queue_head[p->members[group->first + k]]++;
        m->is_summed[id] |= is_next;
        is_moved |= is_next;
    }
    return is_moved;
}

static inline bool machine_step(struct machine *m, int rank)
{
    const struct pp_program *p = m->p;
    const int i = p->begin[rank] + m->pc[rank];

    if (i == p->begin[rank + 1])
        return false;
    if (p->kind[i] == PP_WAIT) {
        const int target = p->begin[rank] + p->arg[i], id = p->arg[target];
        if (pp_op_is_move(p->aux[i])) {
            /* no other rank takes part */
        } else if (pp_op_is_collective(p->aux[i])) {
            if (!m->is_summed[id])
                return false;
        } else {
            const int c = m->channel_of[id], k = id - p->channels[c].first;
            if (k >= m->sent[c] || k >= m->received[c])
                return false;
            if (pp_op_is_recv(p->aux[i]))
                m->waited[id] = 1;
            else if (!m->waited[id] && m->compute_left[rank] > 0)
                m->stalls++;
        }
    } else if (pp_op_is_send(p->kind[i])) {
        m->sent[m->channel_of[p->arg[i]]]++;
    } else if (pp_op_is_recv(p->kind[i])) {
        m->received[m->channel_of[p->arg[i]]]++;
    } else if (pp_op_is_collective(p->kind[i])) {
        m->queue[rank * p->collective_count + m->queue_count[rank]++] = p->arg[i];
    } else if (pp_op_is_compute(p->kind[i]) && p->kind[i] != PP_U) {
        m->compute_left[rank]--;
    }
    m->pc[rank]++;
    return true;
}

/* Run ranks as far as they go, first ranks first (or last first). True when all finish. */
static inline bool machine_run(struct machine *m, bool is_downwards)
{
    const struct pp_program *p = m->p;
    bool is_moved = true;

    while (is_moved) {
        is_moved = false;
        for (int k = 0; k < p->ranks; k++) {
            const int rank = is_downwards ? p->ranks - 1 - k : k;
            while (machine_step(m, rank))
                is_moved = true;
        }
        is_moved |= machine_sum(m);
    }
    for (int rank = 0; rank < p->ranks; rank++)
        if (m->pc[rank] < p->begin[rank + 1] - p->begin[rank])
            return false;
    return true;
}

#endif
