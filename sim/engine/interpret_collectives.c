/* Collectives in turn on a rank's reduce stream, at one cost for all or hop by hop on a ring. */
#include "sim/engine/interpret_parts.h"

/* ---- preparation ----------------------------------------------------------------------------- */

/* Ring of a hop-by-hop collective, else NULL: tied ones and those with a purpose have one cost. */
static const struct pp_ring *ring_of(const struct pp_run *r, int kind, int stage, bool is_other)
{
    const struct pp_ring *rings = r->options->eval.ring_flows ? r->costs->rings : NULL;

    return rings && !is_other && stage < r->costs->stages && rings[stage].positions > 1 &&
                   pp_ring_turns(kind) > 0
               ? &rings[stage]
               : NULL;
}

/* One cost for all members: that of the table, or of a ring whose members start together. */
static int64_t collective_ps(const struct pp_run *r, const struct pp_op *op)
{
    const struct pp_ring *ring = ring_of(r, op->kind, op->stage, op->aux == PP_TIED || op->purpose);

    return ring ? pp_ring_together_ps(ring, op->kind, op->granules)
                : pp_costs_op(r->costs, op, NULL).ps;
}

static int64_t instruction_ps(const struct pp_run *r, int i)
{
    const struct pp_op op = pp_program_op(r->p, i);

    return collective_ps(r, &op);
}

static void open_buckets(struct pp_run *r)
{
    r->buckets_first = PP_ARRAY(r->arena, int32_t, r->size + 1);
    r->bucket_next = PP_ARRAY(r->arena, int32_t, r->size + 1);
    r->is_posted_inside = PP_ARRAY(r->arena, bool, r->size + 1);
    for (int i = 0; i < r->size; i++)
        r->buckets_first[i] = PP_NO_INSTRUCTION;
}

static void prepare_buckets(struct pp_run *r)
{
    const struct pp_program *p = r->p;

    for (int i = r->size - 1; i >= 0; i--) {
        const struct pp_op op = pp_program_op(p, i);
        int numerator, denominator;
        if (!pp_op_is_collective(op.kind))
            continue;
        int inside = pp_program_posted_inside(p, i, &numerator, &denominator);
        if (inside < 0)
            continue;
        inside -= p->aux[inside] == PP_FUSED_SECOND;
        if (!r->buckets_first)
            open_buckets(r);
        r->is_posted_inside[i] = true;
        r->bucket_next[i] = r->buckets_first[inside];
        r->buckets_first[inside] = i;
    }
}

static void prepare_ring(struct pp_run *r, int stage)
{
    const struct pp_ring *ring = &r->costs->rings[stage];
    struct pp_ring_state *state = &r->ring[stage];
    const int wires = ring->positions * r->wires->ring_lanes;

    state->step = PP_ARRAY(r->arena, int32_t, wires);
    state->joined_ps = PP_ARRAY(r->arena, int64_t, wires);
    state->is_receiving = PP_ARRAY(r->arena, bool, wires);
    state->first_of = PP_ARRAY(r->arena, int32_t, r->p->ranks * r->replicas);
    state->next_of = PP_ARRAY(r->arena, int32_t, ring->positions);
    for (int k = 0; k < r->p->ranks * r->replicas; k++)
        state->first_of[k] = -1;
    for (int i = ring->positions - 1; i >= 0; i--) {
        int32_t *first = &state->first_of[ring->rank[i] * r->replicas + ring->replica[i]];
        state->next_of[i] = *first;
        *first = i;
    }
    for (int w = 0; w < wires; w++)
        r->stage_of_ring[r->wires->ring_first[stage] - r->first_ring_wire + w] = stage;
}

static void prepare_rings(struct pp_run *r)
{
    if (!r->wires || !r->wires->ring_first)
        return;
    r->first_ring_wire = r->p->channel_count * r->replicas * r->wires->lanes;
    r->ring = PP_ARRAY(r->arena, struct pp_ring_state, r->costs->stages);
    r->stage_of_ring = PP_ARRAY(r->arena, int32_t, r->wires->count - r->first_ring_wire + 1);
    for (int s = 0; s < r->costs->stages; s++)
        if (r->wires->ring_first[s] >= 0)
            prepare_ring(r, s);
}

void pp_collectives_prepare(struct pp_run *r)
{
    const struct pp_program *p = r->p;
    int count = 0;

    prepare_buckets(r);
    r->collectives = PP_ARRAY(r->arena, int32_t, r->size + 1);
    r->collectives_begin = PP_ARRAY(r->arena, int32_t, p->ranks + 1);
    for (int rank = 0; rank < p->ranks; rank++) {
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
            if (pp_op_is_collective(p->kind[i]))
                r->collectives[count++] = i;
        r->collectives_begin[rank + 1] = count;
    }
    r->collective = PP_ARRAY(r->arena, struct pp_collective_state, p->collective_count);
    prepare_rings(r);
}

void pp_collectives_reset(struct pp_run *r)
{
    for (int c = 0; c < r->p->collective_count; c++)
        r->collective[c] = (struct pp_collective_state){0};
    for (int s = 0; r->ring && s < r->costs->stages; s++)
        r->ring[s].collective = -1;
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* Instruction of an instance's collective number `number`; its step in `step`. */
static int instruction_of(const struct pp_run *r, const struct pp_instance *in, int number,
                          int *step)
{
    const int begin = r->collectives_begin[in->rank],
              count = r->collectives_begin[in->rank + 1] - begin;

    *step = number / count;
    return r->collectives[begin + number % count];
}

static void finish_member(struct pp_run *r, struct pp_instance *in, int64_t start_ps,
                          int64_t end_ps)
{
    int step;
    const int i = instruction_of(r, in, in->done, &step);
    const size_t at = pp_run_at(r, step, i, in->replica);

    r->times->start_ps[at] = start_ps;
    r->times->end_ps[at] = end_ps;
    in->done++;
    in->collective_ps = end_ps;
    pp_run_wake(r, in, step, i);
    pp_run_push(r, &r->heads, in);
}

/* Calls `act` for every member of a collective. */
static void for_members(struct pp_run *r, int c, int64_t start_ps, int64_t end_ps,
                        void (*act)(struct pp_run *, struct pp_instance *, int64_t, int64_t))
{
    const struct pp_group *group = &r->p->groups[r->p->collectives[c].group];

    for (int k = group->first; k < group->first + group->count; k++)
        for (int d = 0; d < r->replicas; d++)
            act(r, pp_run_instance(r, r->p->members[k], d), start_ps, end_ps);
}

static void end_of_slow(struct pp_run *r, struct pp_instance *in, int64_t start_ps, int64_t end_ps)
{
    (void)start_ps, (void)end_ps;
    pp_slow_end(r, in);
}

/* Runs a collective of one cost, which all members have joined. */
static void run_analytic(struct pp_run *r, int c, int64_t start_ps, int64_t ps)
{
    r->collective[c] = (struct pp_collective_state){0};
    for_members(r, c, start_ps, start_ps + ps, pp_slow_begin);
    for_members(r, c, start_ps, start_ps + ps, finish_member);
}

/* ---- rings ----------------------------------------------------------------------------------- */

static bool is_ring(const struct pp_run *r, int i)
{
    const struct pp_program *p = r->p;

    return r->ring &&
           ring_of(r, p->kind[i], p->stage[i], p->aux[i] == PP_TIED || p->purpose[i]) != NULL;
}

static void open_ring(struct pp_run *r, int i)
{
    const struct pp_op op = pp_program_op(r->p, i);
    struct pp_ring_state *ring = &r->ring[op.stage];
    const int positions = r->costs->rings[op.stage].positions;
    const int wires = positions * r->wires->ring_lanes;

    ring->collective = op.arg;
    ring->steps = pp_ring_turns(op.kind) * (positions - 1);
    ring->left = wires;
    ring->bytes = pp_costs_op(r->costs, &op, NULL).bytes / positions;
    for (int w = 0; w < wires; w++) {
        ring->step[w] = 0;
        ring->joined_ps[w] = PP_UNKNOWN_PS;
        ring->is_receiving[w] = false;
    }
}

/* Starts the next hop into a position, if it and the one before it have come that far. */
static void try_hop(struct pp_run *r, int stage, int w)
{
    struct pp_ring_state *ring = &r->ring[stage];
    const int positions = r->costs->rings[stage].positions, x = w % positions;
    const int before = w - x + (x > 0 ? x - 1 : positions - 1);
    int64_t start_ps = r->now_ps;

    if (ring->is_receiving[w] || ring->step[w] >= ring->steps ||
        ring->joined_ps[w] == PP_UNKNOWN_PS || ring->joined_ps[before] == PP_UNKNOWN_PS ||
        ring->step[before] < ring->step[w])
        return;
    if (ring->step[w] == 0) /* ranks run ahead of events */
        start_ps = ring->joined_ps[w] > ring->joined_ps[before] ? ring->joined_ps[w]
                                                                : ring->joined_ps[before];
    ring->is_receiving[w] = true;
    pp_express_start(r->express, r->wires->ring_first[stage] + w, ring->bytes, start_ps);
    r->transfers++;
}

static int after(int w, int positions)
{
    return w % positions == positions - 1 ? w - positions + 1 : w + 1;
}

static void join_ring(struct pp_run *r, const struct pp_instance *in, int i, int64_t at_ps)
{
    const int stage = r->p->stage[i], positions = r->costs->rings[stage].positions;
    struct pp_ring_state *ring = &r->ring[stage];

    if (ring->collective != r->p->arg[i])
        open_ring(r, i);
    for (int x = ring->first_of[in->rank * r->replicas + in->replica]; x >= 0; x = ring->next_of[x])
        for (int w = x; w < positions * r->wires->ring_lanes; w += positions)
            ring->joined_ps[w] = at_ps;
    for (int x = ring->first_of[in->rank * r->replicas + in->replica]; x >= 0; x = ring->next_of[x])
        for (int w = x; w < positions * r->wires->ring_lanes; w += positions) {
            try_hop(r, stage, w);
            try_hop(r, stage, after(w, positions));
        }
}

void pp_collectives_hop_end(struct pp_run *r, int wire)
{
    const int stage = r->stage_of_ring[wire - r->first_ring_wire];
    const int w = wire - r->wires->ring_first[stage];
    struct pp_ring_state *ring = &r->ring[stage];
    const int c = ring->collective;

    ring->is_receiving[w] = false;
    if (++ring->step[w] == ring->steps && --ring->left == 0) {
        const int64_t start_ps = r->collective[c].latest_ps;
        ring->collective = -1;
        r->collective[c] = (struct pp_collective_state){0};
        for_members(r, c, start_ps, r->now_ps, end_of_slow);
        for_members(r, c, start_ps, r->now_ps, finish_member);
        pp_collectives_turns(r);
        return;
    }
    try_hop(r, stage, w);
    try_hop(r, stage, after(w, r->costs->rings[stage].positions));
}

/* ---- posts ----------------------------------------------------------------------------------- */

static void join(struct pp_run *r, struct pp_instance *in, int i, int64_t at_ps)
{
    const int c = r->p->arg[i];

    if (pp_run_is_too_late(r, at_ps))
        return;
    if (c < 0) { /* inside the rank */
        const int64_t end_ps = at_ps + instruction_ps(r, i);
        pp_slow_begin(r, in, at_ps, end_ps);
        finish_member(r, in, at_ps, end_ps);
        return;
    }
    struct pp_collective_state *state = &r->collective[c];
    const int members = r->p->groups[r->p->collectives[c].group].count * r->replicas;
    state->latest_ps = at_ps > state->latest_ps ? at_ps : state->latest_ps;
    state->joined++;
    if (is_ring(r, i)) {
        if (state->joined == members)
            for_members(r, c, state->latest_ps, INT64_MAX, pp_slow_begin);
        join_ring(r, in, i, at_ps);
    } else if (state->joined == members) {
        run_analytic(r, c, state->latest_ps, instruction_ps(r, i));
    }
}

void pp_collectives_turns(struct pp_run *r)
{
    while (r->heads.count > 0) {
        struct pp_instance *in = &r->instance[r->heads.number[--r->heads.count]];
        int step;
        if (in->joined == in->posted || in->joined > in->done)
            continue;
        const int i = instruction_of(r, in, in->joined++, &step);
        const int64_t posted_ps = r->times->posted_ps[pp_run_at(r, step, i, in->replica)];
        join(r, in, i, posted_ps > in->collective_ps ? posted_ps : in->collective_ps);
    }
}

void pp_collectives_post(struct pp_run *r, struct pp_instance *in, int i, int64_t at_ps)
{
    r->times->posted_ps[pp_run_at(r, in->step, i, in->replica)] = at_ps;
    in->posted++;
    pp_run_push(r, &r->heads, in);
}
