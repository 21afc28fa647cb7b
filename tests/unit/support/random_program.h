/* Random lowered programs and costs, from a seed. Most are legal; now and then a SEND, a WAIT or a
 * collective stands where it makes the program deadlock. With granules, an F covers a whole
 * micro-batch and a backward one granule. */
#ifndef PP_TESTS_RANDOM_PROGRAM_H
#define PP_TESTS_RANDOM_PROGRAM_H

#include "core/cost/cost.h"
#include "schedules/program/placement.h"
#include "schedules/program/program.h"

#include <criterion/criterion.h>
#include <string.h>

struct rng {
    uint64_t state;
};
static inline uint64_t rng_next(struct rng *r)
{
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return r->state * 0x2545f4914f6cdd1du >> 11;
}
static inline int rng_int(struct rng *r, int low, int high) /* inclusive */
{
    return low + (int)(rng_next(r) % (uint64_t)(high - low + 1));
}
static inline bool rng_chance(struct rng *r, int percent)
{
    return rng_int(r, 1, 100) <= percent;
}

enum { RP_MAX_OPS = 4096 };
struct random_program {
    struct pp_arena *arena;
    struct rng rng;
    struct pp_program_head head;
    bool is_odd; /* may deadlock */
    struct pp_orders *compute, *lists;
    int *buckets; /* [stage]: of its sum, 0 = not cut */
    bool is_summed_first;
    bool *forward, *backward, *weight, *is_split; /* done; [stage][mb][split] */
    struct pp_op sends[RP_MAX_OPS];               /* of all ranks in their order of posting */
    int send_rank[RP_MAX_OPS], send_count;
};

static inline int rp_ids(const struct random_program *g)
{
    return g->head.micro_batches * g->head.granules;
}
static inline int rp_cell(const struct random_program *g, int stage, int mb, int split)
{
    return (stage * rp_ids(g) + mb) * g->head.splits + split;
}
static inline int rp_rank(const struct random_program *g, int mb, int stage)
{
    return g->head.rank_of[g->head.pipe_of[mb] * g->head.stages + stage];
}

/* ---- compute ops in an order in which they could run -------------------------------------- */

static inline bool rp_is_ready(const struct random_program *g, const struct pp_op *op)
{
    const int s = op->stage, m = op->mb, q = op->split, at = rp_cell(g, s, m, q);

    if (op->kind == PP_F)
        return !g->forward[at] && (s == 0 || g->forward[rp_cell(g, s - 1, m, q)]) &&
               (q == 0 || g->forward[rp_cell(g, s, m, q - 1)]);
    if (op->kind == PP_W)
        return !g->weight[at] && g->backward[at];
    return !g->backward[at] && g->forward[rp_cell(g, s, m, g->head.splits - 1)] &&
           (s == g->head.stages - 1 || g->backward[rp_cell(g, s + 1, m, q)]) &&
           (q == g->head.splits - 1 || g->backward[rp_cell(g, s, m, q + 1)]);
}

/* All ready ops, or those of one kind on one rank. */
static inline int rp_ready(const struct random_program *g, int kind, int rank, struct pp_op *ready)
{
    int count = 0;

    for (int s = 0; s < g->head.stages; s++)
        for (int m = 0; m < rp_ids(g); m++)
            for (int q = 0; q < g->head.splits; q++) {
                const bool is_split = g->is_split[rp_cell(g, s, m, q)];
                const int kinds[] = {PP_F, is_split ? PP_I : PP_B, PP_W};
                for (int k = m % g->head.granules ? 1 : 0; k < (is_split ? 3 : 2); k++) {
                    const int granules = kinds[k] == PP_F ? g->head.granules : 1;
                    const struct pp_op op = {.kind = (uint8_t)kinds[k],
                                             .stage = (uint16_t)s,
                                             .split = (uint8_t)q,
                                             .granules = (uint8_t)granules,
                                             .pipe = g->head.pipe_of[m],
                                             .mb = m,
                                             .arg = -1,
                                             .slot = -1};
                    if ((kind < 0 || (kinds[k] == kind && rp_rank(g, m, s) == rank)) &&
                        rp_is_ready(g, &op))
                        ready[count++] = op;
                }
            }
    return count;
}

static inline void rp_done(struct random_program *g, const struct pp_op *op)
{
    for (int id = op->mb; id < op->mb + op->granules; id++) {
        const int at = rp_cell(g, op->stage, id, op->split);
        *(op->kind == PP_F   ? &g->forward[at]
          : op->kind == PP_W ? &g->weight[at]
                             : &g->backward[at]) = true;
    }
}

static inline void rp_compute(struct random_program *g)
{
    static _Thread_local struct pp_op ready[RP_MAX_OPS];
    int count;

    while ((count = rp_ready(g, -1, 0, ready)) > 0) {
        struct pp_op op = ready[rng_int(&g->rng, 0, count - 1)];
        const int rank = rp_rank(g, op.mb, op.stage);
        const int partners = op.kind == PP_F ? rp_ready(g, PP_B, rank, ready) : 0;
        if (partners > 0 && rng_chance(&g->rng, 25)) {
            struct pp_op second = ready[rng_int(&g->rng, 0, partners - 1)];
            op.aux = PP_FUSED_FIRST;
            second.aux = PP_FUSED_SECOND;
            pp_orders_add(g->arena, g->compute, rank, op);
            pp_orders_add(g->arena, g->compute, rank, second);
            rp_done(g, &second);
        } else {
            pp_orders_add(g->arena, g->compute, rank, op);
        }
        rp_done(g, &op);
    }
}

/* ---- messages -------------------------------------------------------------------------------- */

static inline struct pp_op rp_wait(struct pp_op op)
{
    op.aux = op.kind;
    op.kind = PP_WAIT;
    return op;
}

/* The SEND after a compute op; false when its result stays on the rank. */
static inline bool rp_send_of(const struct random_program *g, int rank, struct pp_op op,
                              struct pp_op *send)
{
    const int next = op.stage + (op.kind == PP_F ? 1 : -1);

    if (op.kind == PP_W || next < 0 || next >= g->head.stages || rp_rank(g, op.mb, next) == rank)
        return false;
    *send = op;
    send->aux = 0;
    send->kind = op.kind == PP_F ? PP_SEND_F : PP_SEND_B;
    send->peer = (uint16_t)rp_rank(g, op.mb, next);
    return true;
}

static inline void rp_add(struct random_program *g, struct pp_orders *o, int rank, struct pp_op op)
{
    pp_orders_add(g->arena, o, rank, op);
    if (pp_op_is_send(op.kind)) {
        g->send_rank[g->send_count] = rank;
        g->sends[g->send_count++] = op;
    }
}

/* Compute ops and SENDs: usually right after the producer, in an odd program sometimes later. */
static inline struct pp_orders *rp_with_sends(struct random_program *g)
{
    struct pp_orders *out = pp_orders_create(g->arena, g->head.ranks);

    for (int r = 0; r < g->head.ranks; r++) {
        struct pp_op pending[RP_MAX_OPS];
        int count = 0;
        for (int k = 0; k < g->compute->count[r]; k++) {
            const struct pp_op op = g->compute->ops[r][k];
            rp_add(g, out, r, op);
            count += rp_send_of(g, r, op, &pending[count]);
            if (op.aux == PP_FUSED_FIRST || (g->is_odd && rng_chance(&g->rng, 3)))
                continue;
            for (int j = 0; j < count; j++)
                rp_add(g, out, r, pending[j]);
            count = 0;
        }
        for (int j = 0; j < count; j++)
            rp_add(g, out, r, pending[j]);
    }
    return out;
}

struct rp_rank_state {
    int rank;
    bool *is_posted; /* [send]: its RECV stands in this rank's list */
    struct pp_op unwaited[RP_MAX_OPS];
    int unwaited_count;
};

static inline struct pp_op rp_recv_of(struct pp_op send)
{
    send.stage = (uint16_t)(send.stage + (send.kind == PP_SEND_F ? 1 : -1));
    send.kind = send.kind == PP_SEND_F ? PP_RECV_F : PP_RECV_B;
    send.peer = 0;
    return send;
}

/* Post the RECVs of a channel in the order of its SENDs up to send number `last`. */
static inline void rp_post_up_to(struct random_program *g, struct rp_rank_state *s, int last)
{
    for (int k = 0; k <= last; k++)
        if (!s->is_posted[k] && g->sends[k].peer == s->rank &&
            g->send_rank[k] == g->send_rank[last] && g->sends[k].pipe == g->sends[last].pipe &&
            g->sends[k].kind == g->sends[last].kind) {
            pp_orders_add(g->arena, g->lists, s->rank, rp_recv_of(g->sends[k]));
            s->is_posted[k] = true;
        }
}

/* RECV (perhaps posted before) and WAIT in front of a consumer. */
static inline void rp_receive(struct random_program *g, struct rp_rank_state *s, struct pp_op op)
{
    for (int k = 0; k < g->send_count && op.kind != PP_W; k++) {
        const struct pp_op recv = rp_recv_of(g->sends[k]);
        if (g->sends[k].peer != s->rank || recv.mb != op.mb || recv.split != op.split ||
            recv.stage != op.stage || (recv.kind == PP_RECV_F) != (op.kind == PP_F))
            continue;
        rp_post_up_to(g, s, k);
        pp_orders_add(g->arena, g->lists, s->rank, rp_wait(recv));
    }
}

static inline void rp_lower_rank(struct random_program *g, const struct pp_orders *with_sends,
                                 struct rp_rank_state *s)
{
    const struct pp_op *ops = with_sends->ops[s->rank];

    for (int k = 0; k < with_sends->count[s->rank]; k++) {
        if (ops[k].aux != PP_FUSED_SECOND && g->send_count > 0 &&
            rng_chance(&g->rng, 30)) { /* a RECV ahead of its time */
            const int ahead = rng_int(&g->rng, 0, g->send_count - 1);
            if (g->sends[ahead].peer == s->rank)
                rp_post_up_to(g, s, ahead);
        }
        if (ops[k].aux != PP_FUSED_SECOND && !pp_op_is_send(ops[k].kind)) {
            rp_receive(g, s, ops[k]);
            if (ops[k].aux == PP_FUSED_FIRST)
                rp_receive(g, s, ops[k + 1]);
        }
        pp_orders_add(g->arena, g->lists, s->rank, ops[k]);
        if (pp_op_is_send(ops[k].kind))
            s->unwaited[s->unwaited_count++] = ops[k];
        if (s->unwaited_count > 0 && g->is_odd && rng_chance(&g->rng, 10) &&
            ops[k].aux != PP_FUSED_FIRST) {
            pp_orders_add(g->arena, g->lists, s->rank, rp_wait(s->unwaited[0]));
            memmove(s->unwaited, s->unwaited + 1,
                    sizeof(s->unwaited[0]) * (size_t)--s->unwaited_count);
        }
    }
}

static inline void rp_wait_for_sends(struct random_program *g, const struct rp_rank_state *s)
{
    for (int k = 0; k < s->unwaited_count; k++)
        pp_orders_add(g->arena, g->lists, s->rank, rp_wait(s->unwaited[k]));
}

/* ---- gradients and optimizer ----------------------------------------------------------------- */

/* All buckets of a collective, or WAITs for them. */
static inline void rp_add_cut(struct random_program *g, int rank, struct pp_op op, bool is_wait)
{
    op.granules = (uint8_t)g->buckets[op.stage];
    do
        pp_orders_add(g->arena, g->lists, rank, is_wait ? rp_wait(op) : op);
    while (++op.split < op.granules);
}

enum rp_pass { RP_SUMS, RP_WAITS, RP_UPDATES };
static inline void rp_finish_pass(struct random_program *g, int rank, enum rp_pass pass,
                                  bool is_reversed)
{
    const int stages = g->head.stages, pipes = g->head.pipelines;
    struct pp_op op = {.mb = -1, .arg = -1, .slot = -1};

    for (int k = 0; k < stages * pipes; k++) {
        const int at = is_reversed ? stages * pipes - 1 - k : k;
        op.stage = (uint16_t)(at / pipes);
        op.pipe = (uint16_t)(at % pipes);
        if (g->head.rank_of[op.pipe * stages + op.stage] != rank)
            continue;
        op.kind = op.stage % 3 == 2 ? PP_RS : PP_AR;
        if (pass != RP_UPDATES) {
            rp_add_cut(g, rank, op, pass == RP_WAITS);
            continue;
        }
        op.kind = PP_U;
        pp_orders_add(g->arena, g->lists, rank, op);
        op.kind = PP_AG;
        if (op.stage % 3 == 2)
            rp_add_cut(g, rank, op, false);
    }
}

/* Sums before the WAITs for SENDs may begin while the last backward runs. */
static inline void rp_finish_rank(struct random_program *g, const struct rp_rank_state *s)
{
    const bool is_reversed = g->is_odd && rng_chance(&g->rng, 10);
    const struct pp_op bar = {.kind = PP_BAR, .mb = -1, .arg = -1, .slot = -1};

    if (!g->is_summed_first)
        rp_wait_for_sends(g, s);
    rp_finish_pass(g, s->rank, RP_SUMS, is_reversed);
    if (g->is_summed_first)
        rp_wait_for_sends(g, s);
    rp_finish_pass(g, s->rank, RP_WAITS, is_reversed);
    rp_finish_pass(g, s->rank, RP_UPDATES, is_reversed);
    if (g->head.stages % 2 == 0)
        pp_orders_add(g->arena, g->lists, s->rank, bar);
}

/* `program` in the arena; also the compute-only form. */
static inline struct random_program *random_program(struct pp_arena *arena, uint64_t seed,
                                                    struct pp_program **lowered,
                                                    struct pp_program **compute)
{
    struct random_program *g = PP_NEW(arena, struct random_program);
    struct pp_error err;

    g->arena = arena;
    g->rng.state = seed * 0x9e3779b97f4a7c15u + 88172645463325252u;
    g->is_odd = rng_chance(&g->rng, 40);
    const bool is_two_way = rng_chance(&g->rng, 30);
    const int ranks = is_two_way ? 2 * rng_int(&g->rng, 1, 3) : rng_int(&g->rng, 1, 5);
    const int chunks = is_two_way ? 1 : rng_int(&g->rng, 1, 3);
    const int pipes = is_two_way ? 2 : 1, n = rng_int(&g->rng, pipes, 7);
    const int granules = rng_chance(&g->rng, 30) ? 2 : 1;
    uint16_t *pipe_of = PP_ARRAY(arena, uint16_t, n * granules);
    for (int id = 0; id < n * granules; id++)
        pipe_of[id] = (uint16_t)(id / granules % pipes);
    const enum pp_placement_kind kind = is_two_way                ? PP_PLACE_TWO_WAY
                                        : rng_chance(&g->rng, 50) ? PP_PLACE_LOOP
                                                                  : PP_PLACE_WAVE;
    g->head =
        (struct pp_program_head){.name = "random",
                                 .level = PP_LEVEL_COMPUTE,
                                 .ranks = ranks,
                                 .stages = ranks * chunks,
                                 .pipelines = pipes,
                                 .micro_batches = n,
                                 .granules = granules,
                                 .splits = rng_chance(&g->rng, 25) ? 2 : 1,
                                 .versions = 1,
                                 .rank_of = pp_placement_make(arena, kind, ranks, chunks, pipes),
                                 .pipe_of = pipe_of};
    const int cells = rp_cell(g, g->head.stages, 0, 0);
    g->forward = PP_ARRAY(arena, bool, cells);
    g->backward = PP_ARRAY(arena, bool, cells);
    g->weight = PP_ARRAY(arena, bool, cells);
    g->is_split = PP_ARRAY(arena, bool, cells);
    for (int k = 0; k < cells; k++)
        g->is_split[k] = rng_chance(&g->rng, 30);
    g->compute = pp_orders_create(arena, ranks);
    g->lists = pp_orders_create(arena, ranks);
    rp_compute(g);
    const struct pp_orders *with_sends = rp_with_sends(g);
    const bool is_cut = rng_chance(&g->rng, 50);
    g->is_summed_first = rng_chance(&g->rng, 60);
    g->buckets = PP_ARRAY(arena, int, g->head.stages);
    for (int s = 0; s < g->head.stages; s++)
        g->buckets[s] = is_cut && rng_chance(&g->rng, 70) ? rng_int(&g->rng, 2, 5) : 0;
    for (int r = 0; r < ranks; r++) {
        struct rp_rank_state *s = PP_NEW(arena, struct rp_rank_state);
        s->rank = r;
        s->is_posted = PP_ARRAY(arena, bool, g->send_count + 1);
        rp_lower_rank(g, with_sends, s);
        rp_finish_rank(g, s);
    }
    cr_assert_eq(pp_program_freeze(arena, &g->head, g->compute, compute, &err), PP_OK,
                 "seed %llu: %s", (unsigned long long)seed, err.message);
    g->head.level = PP_LEVEL_LOWERED;
    cr_assert_eq(pp_program_freeze(arena, &g->head, g->lists, lowered, &err), PP_OK,
                 "seed %llu: %s", (unsigned long long)seed, err.message);
    return g;
}

/* Of a collective a part is latency. */
static inline struct pp_cost rp_cost(struct random_program *g, bool has_latency)
{
    struct pp_cost cost = {.ps = rng_int(&g->rng, 1, 1000)};

    if (has_latency)
        cost.latency_ps = rng_int(&g->rng, 0, (int)cost.ps);
    return cost;
}

/* Random durations between 1 and 1,000 ps for `replicas` replicas. */
static inline struct pp_costs *random_costs(struct random_program *g, int replicas)
{
    static const int kinds[] = {PP_F, PP_B, PP_I, PP_W, PP_U, PP_AR, PP_RS, PP_AG};
    struct pp_arena *arena = g->arena;
    const int stages = g->head.stages, splits = g->head.splits, ranks = g->head.ranks;
    struct pp_costs *c = PP_NEW(arena, struct pp_costs);
    unsigned char *link = PP_ARRAY(arena, unsigned char, ranks *ranks);

    *c = (struct pp_costs){.stages = stages,
                           .splits = splits,
                           .granules = g->head.granules,
                           .ranks = ranks,
                           .links = 2,
                           .link = link,
                           .sync_ranks = replicas * g->head.pipelines};
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        c->op[kinds[k]] = PP_ARRAY(arena, struct pp_cost, stages * splits);
        for (int s = 0; s < stages * splits; s++)
            c->op[kinds[k]][s] = rp_cost(g, pp_op_has_buckets(kinds[k]));
    }
    if (rng_chance(&g->rng, 50)) {
        c->overlap = PP_ARRAY(arena, struct pp_cost, stages * stages);
        for (int s = 0; s < stages * stages; s++)
            c->overlap[s].ps = rng_int(&g->rng, 1, 1000);
    }
    for (int k = 0; k < ranks * ranks; k++)
        link[k] = (unsigned char)rng_int(&g->rng, 0, 1);
    c->alpha_ps = PP_ARRAY(arena, int64_t, 2);
    c->s_per_byte = PP_ARRAY(arena, double, 2);
    c->ring_alpha_ps = PP_ARRAY(arena, int64_t, stages);
    c->memory = PP_ARRAY(arena, struct pp_stage_memory, stages);
    for (int k = 0; k < 2; k++) {
        c->alpha_ps[k] = rng_int(&g->rng, 0, 500);
        c->s_per_byte[k] = rng_int(&g->rng, 0, 3) * 1e-12;
    }
    for (int s = 0; s < stages; s++) {
        c->ring_alpha_ps[s] = rng_int(&g->rng, 1, 50);
        c->memory[s].boundary_bytes = rng_int(&g->rng, 0, 400);
    }
    return c;
}

#endif
