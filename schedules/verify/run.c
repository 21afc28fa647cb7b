/* schedules/verify/run.c — no deadlock on the strictest machine: rendezvous, channels in order, one
 * reduce stream per rank.
 *
 * A program is a Kahn network: the same instructions can run with any timing. So one maximal
 * execution decides, and the instructions that it leaves waiting contain a cycle. Linear: a rank is
 * visited again only after one of the few instructions that it can wait for. */
#include "schedules/verify/run.h"

#include <string.h>

static void wake(struct pp_verify_run *run, int rank)
{
    if (run->is_waiting[rank])
        return;
    run->is_waiting[rank] = true;
    run->stack[run->depth++] = rank;
}

static bool is_ready(const struct pp_verify_run *run, int rank, int i)
{
    const struct pp_program *p = run->p;

    if (p->kind[i] == PP_BAR)
        return run->barrier > run->bars[rank];
    if (p->kind[i] == PP_WAIT) {
        const int target = p->begin[rank] + p->arg[i];
        if (pp_op_kinds[p->kind[target]].stream == PP_STREAM_CHANNEL) {
            const int c = run->channel_of[p->arg[target]];
            const int k = p->arg[target] - p->channels[c].first;
            return run->sent[c] > k && run->received[c] > k;
        }
        return p->arg[target] < 0 || run->is_summed[p->arg[target]]; /* a COPY or A2A always ends */
    }
    if (p->level == PP_LEVEL_LOWERED || !pp_op_kinds[p->kind[i]].has_mb)
        return true; /* earlier checks have proved that the inputs of a compute op have arrived */
    return pp_verify_run_lacks(run, i) < 0;
}

/* Counts the collective at the front of a rank's reduce stream as arrived there. A collective that
 * all members have at the front is done, and the next ones move to the front. */
static void advance_reduce(struct pp_verify_run *run, int rank)
{
    const struct pp_program *p = run->p;
    int *todo = run->todo, count = 0;

    todo[count++] = rank; /* a rank is in `todo` at most once */
    run->is_todo[rank] = true;
    while (count) {
        const int r = todo[--count];
        run->is_todo[r] = false;
        if (run->front[r] == run->posted[r] || run->is_counted[r])
            continue;
        const int c = p->arg[run->reduce[run->front[r]]];
        const struct pp_group *group = &p->groups[p->collectives[c].group];
        run->is_counted[r] = true;
        if (++run->arrived[c] < group->count)
            continue;
        run->is_summed[c] = true;
        for (int k = 0; k < group->count; k++) {
            const int member = p->members[group->first + k];
            run->front[member]++;
            run->is_counted[member] = false;
            if (!run->is_todo[member])
                todo[count++] = member;
            run->is_todo[member] = true;
            wake(run, member);
        }
    }
}

static void meet_barrier(struct pp_verify_run *run)
{
    if (++run->at_barrier < run->p->ranks)
        return;
    run->at_barrier = 0;
    run->barrier++;
    for (int rank = 0; rank < run->p->ranks; rank++)
        wake(run, rank);
}

static void finish(struct pp_verify_run *run, int rank, int i)
{
    const struct pp_program *p = run->p;
    const int kind = p->kind[i], stage = p->stage[i];

    run->done++;
    run->is_done[i] = true;
    if (pp_op_kinds[kind].stream == PP_STREAM_CHANNEL) {
        const int c = run->channel_of[p->arg[i]];
        ++*(pp_op_is_send(kind) ? &run->sent[c] : &run->received[c]);
        wake(run, p->peer[i]);
    } else if (pp_op_is_collective(kind) && p->arg[i] >= 0) {
        run->reduce[run->posted[rank]++] = i;
        advance_reduce(run, rank);
    } else if (kind == PP_BAR) {
        run->bars[rank]++;
    } else if (p->level == PP_LEVEL_COMPUTE && kind == PP_F && stage + 1 < p->stages) {
        wake(run, pp_program_rank_of(p, p->pipe[i], stage + 1));
    } else if (p->level == PP_LEVEL_COMPUTE && (kind == PP_B || kind == PP_I) && stage > 0) {
        wake(run, pp_program_rank_of(p, p->pipe[i], stage - 1));
    }
}

static void execute(struct pp_verify_run *run, int rank)
{
    const struct pp_program *p = run->p;

    while (run->next[rank] < p->begin[rank + 1]) {
        const int i = run->next[rank];
        const bool is_pair = pp_op_is_compute(p->kind[i]) && p->aux[i] == PP_FUSED_FIRST;
        if (p->kind[i] == PP_BAR && !run->is_at_barrier[rank]) {
            run->is_at_barrier[rank] = true;
            meet_barrier(run);
        }
        if (!is_ready(run, rank, i) || (is_pair && !is_ready(run, rank, i + 1)))
            return;
        run->is_at_barrier[rank] = false;
        run->next[rank] += 1 + is_pair;
        finish(run, rank, i);
        if (is_pair)
            finish(run, rank, i + 1);
    }
}

static void prepare(struct pp_verify_run *run)
{
    const struct pp_program *p = run->p;
    struct pp_arena *arena = run->v->arena;

    run->is_waiting = PP_ARRAY(arena, bool, p->ranks);
    run->is_at_barrier = PP_ARRAY(arena, bool, p->ranks);
    run->is_counted = PP_ARRAY(arena, bool, p->ranks);
    run->stack = PP_ARRAY(arena, int, p->ranks);
    run->next = PP_ARRAY(arena, int, p->ranks);
    run->bars = PP_ARRAY(arena, int, p->ranks);
    run->front = PP_ARRAY(arena, int, p->ranks);
    run->posted = PP_ARRAY(arena, int, p->ranks);
    run->is_done = PP_ARRAY(arena, bool, pp_program_size(p));
    run->reduce = pp_arena_alloc_raw(arena, sizeof(int) * (size_t)pp_program_size(p));
    run->todo = PP_ARRAY(arena, int, p->ranks);
    run->is_todo = PP_ARRAY(arena, bool, p->ranks);
    run->sent = PP_ARRAY(arena, int, p->channel_count);
    run->received = PP_ARRAY(arena, int, p->channel_count);
    run->channel_of = PP_ARRAY(arena, int, p->message_count);
    run->arrived = PP_ARRAY(arena, int, p->collective_count);
    run->is_summed = PP_ARRAY(arena, bool, p->collective_count);
    for (int rank = 0; rank < p->ranks; rank++)
        run->next[rank] = run->front[rank] = run->posted[rank] = p->begin[rank];
    for (int c = 0; c < p->channel_count; c++)
        for (int k = 0; k < p->channels[c].count; k++)
            run->channel_of[p->channels[c].first + k] = c;
}

enum pp_status pp_verify_run(struct pp_verify *v)
{
    struct pp_verify_run run = {.v = v, .p = v->p};

    prepare(&run);
    for (int rank = 0; rank < v->p->ranks; rank++)
        wake(&run, rank);
    while (run.depth > 0) {
        const int rank = run.stack[--run.depth];
        run.is_waiting[rank] = false;
        execute(&run, rank);
    }
    return run.done == pp_program_size(v->p) ? PP_OK : pp_verify_deadlock(&run);
}
