/* The interpreter: every rank runs its list of instructions over shared links. */
#include "sim/engine/interpret.h"

#include "core/units.h"
#include "sim/engine/interpret_parts.h"

#include <string.h>

static size_t column_of(const struct pp_program *program, int replicas, int steps)
{
    return (size_t)pp_program_size(program) * (size_t)replicas * (size_t)steps;
}

size_t pp_job_bytes(const struct pp_program *program, int replicas, int steps)
{
    return sizeof(int64_t) * (3 * column_of(program, replicas, steps) + (size_t)steps);
}

void pp_job_place(const struct pp_program *program, int replicas, int steps, void *block,
                  struct pp_times *t)
{
    const size_t column = column_of(program, replicas, steps);
    int64_t *at = block;

    t->replicas = replicas;
    t->steps = steps;
    t->step_end_ps = at;
    t->start_ps = at += steps;
    t->end_ps = at += column;
    t->posted_ps = at + column;
}

/* ---- instances ------------------------------------------------------------------------------- */

static void record(struct pp_run *r, const struct pp_instance *in, int i, int64_t start_ps,
                   int64_t end_ps)
{
    const size_t at = pp_run_at(r, in->step, i, in->replica);

    r->times->start_ps[at] = start_ps;
    r->times->end_ps[at] = end_ps;
}

/* Functions of `run_stream` run the instruction at in->pc; true if the rank continues. */

static bool run_compute(struct pp_run *r, struct pp_instance *in)
{
    const size_t at = pp_run_at(r, in->step, in->pc, in->replica);

    if (r->times->start_ps[at] == PP_UNKNOWN_PS) {
        r->times->start_ps[at] = in->clock_ps;
        if (!pp_compute_start(r, in, in->pc))
            return false;
    } /* else it has ended now */
    r->times->end_ps[at] = in->clock_ps;
    if (pp_op_is_compute(r->p->kind[in->pc]) && r->p->aux[in->pc] == PP_FUSED_FIRST) {
        in->pc++;
        record(r, in, in->pc, r->times->start_ps[at], in->clock_ps);
    }
    return true;
}

static bool run_channel(struct pp_run *r, struct pp_instance *in)
{
    pp_messages_post(r, in, in->pc);
    return true;
}

static bool run_collective(struct pp_run *r, struct pp_instance *in)
{
    if (!r->is_posted_inside || !r->is_posted_inside[in->pc])
        pp_collectives_post(r, in, in->pc, in->clock_ps);
    return true;
}

static bool run_copy(struct pp_run *r, struct pp_instance *in)
{
    const int purpose = r->p->purpose[in->pc];
    const int64_t other_ps = in->copy_ps[pp_move_after(purpose)];
    int64_t *copy_ps = &in->copy_ps[pp_move_stream(purpose)];
    int64_t start_ps = *copy_ps > other_ps ? *copy_ps : other_ps;

    start_ps = start_ps > in->clock_ps ? start_ps : in->clock_ps;
    *copy_ps = start_ps + pp_compute_ps(r, in->rank, in->pc);
    record(r, in, in->pc, start_ps, *copy_ps);
    r->times->posted_ps[pp_run_at(r, in->step, in->pc, in->replica)] = in->clock_ps;
    return true;
}

static bool run_wait(struct pp_run *r, struct pp_instance *in)
{
    const int target = r->p->begin[in->rank] + r->p->arg[in->pc];
    const int64_t end_ps = r->times->end_ps[pp_run_at(r, in->step, target, in->replica)];

    if (end_ps == PP_UNKNOWN_PS) {
        in->waits_for = (int64_t)in->step * r->size + target;
        return false;
    }
    const int64_t start_ps = in->clock_ps;
    in->clock_ps = end_ps > start_ps ? end_ps : start_ps;
    record(r, in, in->pc, start_ps, in->clock_ps);
    return true;
}

/* Opens the BAR that all ranks have reached; all but the caller continue from here. */
static void open_barrier(struct pp_run *r, const struct pp_instance *last, int64_t at_ps)
{
    for (int k = 0; k < r->p->ranks * r->replicas; k++) {
        struct pp_instance *in = &r->instance[k];
        record(r, in, in->pc, in->clock_ps, at_ps);
        in->clock_ps = at_ps;
        in->barriers++;
        if (in == last)
            continue;
        in->pc++;
        pp_run_push(r, &r->ready, in);
    }
}

static bool run_barrier(struct pp_run *r, struct pp_instance *in)
{
    int64_t *at_ps = &r->barrier_ps[in->barriers];

    *at_ps = in->clock_ps > *at_ps ? in->clock_ps : *at_ps;
    if (++r->arrivals[in->barriers] < r->p->ranks * r->replicas)
        return false;
    open_barrier(r, in, *at_ps);
    return true;
}

static bool run_control(struct pp_run *r, struct pp_instance *in)
{
    if (r->p->kind[in->pc] == PP_BAR)
        return run_barrier(r, in);
    if (r->p->kind[in->pc] == PP_WAIT && r->p->arg[in->pc] >= 0)
        return run_wait(r, in);
    record(r, in, in->pc, in->clock_ps, in->clock_ps);
    return true;
}

static bool (*const run_stream[])(struct pp_run *r, struct pp_instance *in) = {
    [PP_STREAM_COMPUTE] = run_compute,   [PP_STREAM_CHANNEL] = run_channel,
    [PP_STREAM_REDUCE] = run_collective, [PP_STREAM_COPY] = run_copy,
    [PP_STREAM_CONTROL] = run_control,
};

static int64_t latest_ps(const struct pp_instance *in)
{
    int64_t ps = in->clock_ps;

    for (int k = 0; k < PP_COPY_STREAMS; k++)
        ps = in->copy_ps[k] > ps ? in->copy_ps[k] : ps;
    return ps;
}

static void run_instance(struct pp_run *r, struct pp_instance *in)
{
    const int begin = r->p->begin[in->rank], end = r->p->begin[in->rank + 1];

    for (; in->step < r->steps; in->step++, in->pc = begin)
        for (; in->pc < end; in->pc++, ++*r->job->executed) {
            if (in == r->marked)
                pp_marks_meet(r, in);
            if (pp_run_is_too_late(r, latest_ps(in)) ||
                !run_stream[pp_op_kinds[r->p->kind[in->pc]].stream](r, in))
                return;
        }
}

/* Runs ranks and collectives as far as the known times allow. */
static void settle(struct pp_run *r)
{
    while (!r->is_too_late && (r->ready.count > 0 || r->heads.count > 0)) {
        if (r->ready.count > 0)
            run_instance(r, &r->instance[r->ready.number[--r->ready.count]]);
        pp_collectives_turns(r);
    }
}

static bool take_event(struct pp_run *r, bool *needs_solver)
{
    const struct pp_express_event event = pp_express_next(r->express);

    r->now_ps = event.at_ps;
    *needs_solver = event.kind == PP_EXPRESS_SOLVER;
    if (pp_run_is_too_late(r, event.at_ps))
        return false;
    switch (event.kind) {
    case PP_EXPRESS_END:
        if (r->ring && event.wire >= r->first_ring_wire)
            pp_collectives_hop_end(r, event.wire);
        else
            pp_messages_end(r, event.wire);
        return true;
    case PP_EXPRESS_CALL:
        if (event.wire < r->p->ranks * r->replicas)
            pp_compute_event(r, &r->instance[event.wire]);
        else
            pp_marks_event(r, event.wire);
        return true;
    default:
        return false;
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void reset(struct pp_run *r, int64_t at_ps)
{
    for (int k = 0; k < r->p->ranks * r->replicas; k++) {
        struct pp_instance *in = &r->instance[k];
        *in = (struct pp_instance){.clock_ps = at_ps,
                                   .collective_ps = at_ps,
                                   .copy_ps = {at_ps, at_ps},
                                   .waits_for = PP_NO_ROW,
                                   .rank = k / r->replicas,
                                   .replica = k % r->replicas,
                                   .pc = r->p->begin[k / r->replicas],
                                   .slow = in->slow,
                                   .slow_capacity = in->slow_capacity};
        pp_run_push(r, &r->ready, in);
    }
    pp_messages_reset(r, at_ps);
    pp_collectives_reset(r);
    memset(r->barrier_ps, 0, sizeof(*r->barrier_ps) * (size_t)r->barriers);
    memset(r->arrivals, 0, sizeof(*r->arrivals) * (size_t)r->barriers);
}

static int64_t latest_end(const struct pp_run *r, int step)
{
    const size_t count = (size_t)r->size * (size_t)r->replicas;
    const int64_t *end_ps = r->times->end_ps + (size_t)step * count;
    int64_t latest_ps = 0;

    for (size_t k = 0; k < count; k++)
        latest_ps = end_ps[k] > latest_ps ? end_ps[k] : latest_ps;
    return latest_ps;
}

static enum pp_status deadlock(const struct pp_run *r, struct pp_error *err)
{
    enum { MAX_LINES = 8 };
    int lines = 0;

    pp_error_set(err, PP_EPROGRAM, "the program deadlocks:");
    for (int k = 0; k < r->p->ranks * r->replicas; k++) {
        const struct pp_instance *in = &r->instance[k];
        char text[PP_OP_TEXT_BYTES];
        if (in->step == r->steps)
            continue;
        if (lines++ == MAX_LINES) {
            pp_error_append(err, "\n  ...");
            break;
        }
        pp_program_print_op(r->p, in->pc, text);
        pp_error_append(err, "\n  rank %d of replica %d stands at position %d: %s", in->rank,
                        in->replica, in->pc - r->p->begin[in->rank], text);
    }
    return PP_EPROGRAM;
}

static void begin_steps(struct pp_run *r, int first, int count)
{
    r->first_step = first;
    r->steps = count;
    r->is_under_way = true;
    reset(r, first > 0 ? r->times->step_end_ps[first - 1] : 0);
}

static enum pp_status end_steps(struct pp_run *r, struct pp_error *err)
{
    if (r->is_too_late)
        return pp_error_set(err, PP_EFAIL, "%s more than %.3g s; times above that overflow",
                            r->times->steps > 1 ? "the steps take" : "the step takes",
                            pp_units_s(PP_LATEST_PS));
    for (int k = 0; k < r->p->ranks * r->replicas; k++)
        if (r->instance[k].step < r->steps)
            return deadlock(r, err);
    for (int s = r->first_step; s < r->first_step + r->steps; s++)
        r->times->makespan_ps = r->times->step_end_ps[s] = latest_end(r, s);
    r->first_step += r->steps;
    r->is_under_way = false;
    return PP_OK;
}

static void prepare(struct pp_run *r)
{
    const struct pp_program *p = r->p;

    r->instance = PP_ARRAY(r->arena, struct pp_instance, p->ranks * r->replicas);
    pp_messages_prepare(r);
    pp_collectives_prepare(r);
    int64_t *ps = r->replicas > 1 ? PP_ARRAY(r->arena, int64_t, r->size + 1) : NULL;
    for (int rank = 0; rank < p->ranks; rank++)
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
            const int kind = p->kind[i];
            if (ps && (pp_op_is_compute(kind) || pp_op_is_move(kind)))
                ps[i] = pp_compute_ps(r, rank, i);
            r->barriers += kind == PP_BAR ? r->times->steps : 0;
        }
    r->ps = ps;
    r->barrier_ps = PP_ARRAY(r->arena, int64_t, r->barriers);
    r->arrivals = PP_ARRAY(r->arena, int32_t, r->barriers);
    pp_marks_prepare(r);
}

struct pp_run *pp_interpret_begin(struct pp_arena *arena, struct pp_job *job)
{
    static const struct pp_wires no_wires = {.lanes = 1, .ring_lanes = 1};
    struct pp_times *t = job->times;
    struct pp_run *r = PP_NEW(arena, struct pp_run);

    *r = (struct pp_run){.arena = arena,
                         .job = job,
                         .p = job->program,
                         .costs = job->costs,
                         .options = job->options,
                         .wires = job->wires,
                         .times = t,
                         .size = pp_program_size(job->program),
                         .replicas = t->replicas};
    memset(t->step_end_ps, 0xff, pp_job_bytes(job->program, t->replicas, t->steps));
    r->express =
        pp_express_make(arena, job->wires ? job->wires : &no_wires, job->options->is_plain);
    prepare(r);
    return r;
}

enum pp_status pp_interpret_go(struct pp_run *r, const struct pp_solver *solver, bool *needs_solver,
                               struct pp_error *err)
{
    const int at_once = r->options->eval.is_barrier_free ? r->times->steps : 1;

    if (solver)
        pp_express_set_solver(r->express, solver);
    *needs_solver = false;
    while (r->is_under_way || r->first_step < r->times->steps) {
        if (!r->is_under_way)
            begin_steps(r, r->first_step, at_once);
        do
            settle(r);
        while (take_event(r, needs_solver));
        if (*needs_solver && !r->is_too_late)
            return PP_OK;
        PP_TRY(end_steps(r, err));
    }
    pp_express_stats(r->express, r->job->stats);
    r->job->stats->transfers = r->transfers;
    pp_marks_stats(r, r->job->stats);
    return PP_OK;
}
