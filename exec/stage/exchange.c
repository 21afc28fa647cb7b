/* Exchanges of a group: what they make of the parts of its members, and how long they take. */
#include "exec/stage/stage.h"

#include "core/units.h"

#include <assert.h>

/* ---- rules ----------------------------------------------------------------------------------- */

static void sum(const struct pp_kernels *k, void *stream, const struct pp_group_exchange *e,
                int members, const void *const *from)
{
    k->sum(stream, e->count, members, from, e->to);
}

static void sum_of_g(const struct pp_kernels *k, void *stream, const struct pp_group_exchange *e,
                     int members, const void *const *from)
{
    k->sum_of_g(stream, e->count, members, from, e->to);
}

static void max_of_g(const struct pp_kernels *k, void *stream, const struct pp_group_exchange *e,
                     int members, const void *const *from)
{
    k->max_of_g(stream, e->count, members, from, e->to);
}

static void scatter(const struct pp_kernels *k, void *stream, const struct pp_group_exchange *e,
                    int members, const void *const *from)
{
    const size_t share_bytes = (size_t)e->count * k->element_bytes;
    const void *shares[PP_GROUP_MEMBERS + 1];

    assert(members <= PP_GROUP_MEMBERS);
    for (int t = 0; t < members; t++)
        shares[t] = (const char *)from[t] + (size_t)e->index * share_bytes;
    shares[members] = e->base;
    k->sum(stream, e->count, members + (e->base != NULL), shares, e->to);
}

static void gather(const struct pp_kernels *k, void *stream, const struct pp_group_exchange *e,
                   int members, const void *const *from)
{
    const size_t share_bytes = (size_t)(e->count / members) * k->element_bytes;

    for (int t = 0; t < members; t++) {
        char *to = (char *)e->to + (size_t)t * share_bytes;

        if (from[t] != to)
            k->copy(stream, share_bytes, from[t], to);
    }
}

/* A ring takes as many steps as for these collectives of the program. */
static const struct {
    void (*run)(const struct pp_kernels *k, void *stream, const struct pp_group_exchange *e,
                int members, const void *const *from);
    bool is_of_g;
    enum pp_op_kind like;
} rules[PP_RULES] = {[PP_RULE_SUM] = {sum, false, PP_AR},
                     [PP_RULE_SUM_OF_G] = {sum_of_g, true, PP_AR},
                     [PP_RULE_MAX_OF_G] = {max_of_g, true, PP_AR},
                     [PP_RULE_SCATTER] = {scatter, false, PP_RS},
                     [PP_RULE_GATHER] = {gather, false, PP_AG}};

void pp_group_exchange_run(const struct pp_kernels *k, void *stream,
                           const struct pp_group_exchange *exchange, int members,
                           const void *const *from)
{
    if (exchange->rows.way != PP_ROWS_NONE)
        pp_rows_exchange_run(k, stream, &exchange->rows, from);
    else
        rules[exchange->rule].run(k, stream, exchange, members, from);
}

/* ---- what a member reads of the part of another: one range ----------------------------------- */

struct pp_piece pp_group_exchange_piece(const struct pp_kernels *k,
                                        const struct pp_group_exchange *e, int members, int from,
                                        int to)
{
    const size_t bytes = (size_t)e->count * pp_rule_element_bytes(k, e->rule);

    if (e->rows.way != PP_ROWS_NONE)
        return pp_rows_exchange_piece(&e->rows, from, to);
    return e->rule == PP_RULE_SCATTER  ? (struct pp_piece){(size_t)to * bytes, bytes}
           : e->rule == PP_RULE_GATHER ? (struct pp_piece){0, bytes / (size_t)members}
                                       : (struct pp_piece){0, bytes};
}

/* A second round takes as long as these bytes, at 10 Gb/s. */
enum { ROUND_BYTES = 32 << 10 };

/* In two rounds each of T members sends 2 (T - 1) / T parts, in one T - 1. */
static bool is_in_rounds(const struct pp_kernels *k, const struct pp_group_exchange *e, int members)
{
    const double part_bytes = (double)e->count * (double)k->element_bytes,
                 less_bytes = part_bytes * (members - 1) * (members - 2) / members;

    return e->rows.way == PP_ROWS_NONE && e->rule == PP_RULE_SUM && e->count % (2 * members) == 0 &&
           less_bytes >= ROUND_BYTES;
}

int pp_group_exchange_rounds(const struct pp_kernels *k, const struct pp_group_exchange *e,
                             int members, int index, struct pp_group_exchange *rounds)
{
    rounds[0] = *e;
    if (!is_in_rounds(k, e, members))
        return 1;
    const int64_t share = e->count / members;
    char *own = (char *)e->to + (size_t)(index * share) * k->element_bytes;
    rounds[0] = (struct pp_group_exchange){.count = share,
                                           .from = e->from,
                                           .to = own,
                                           .rule = PP_RULE_SCATTER,
                                           .index = index,
                                           .is_hidden = e->is_hidden};
    rounds[1] = (struct pp_group_exchange){.count = e->count,
                                           .from = own,
                                           .to = e->to,
                                           .rule = PP_RULE_GATHER,
                                           .is_hidden = e->is_hidden};
    return PP_ROUNDS;
}

/* All rows that one replica gets may be those of one other. */
size_t pp_group_exchange_most_bytes(const struct pp_kernels *k, const struct pp_group_exchange *e,
                                    int members)
{
    struct pp_group_exchange rounds[PP_ROUNDS];

    pp_group_exchange_rounds(k, e, members, 0, rounds);
    if (e->rows.way == PP_ROWS_NONE)
        return pp_group_exchange_piece(k, &rounds[0], members, 0, 0).bytes;
    return e->rows.way == PP_ROWS_COUNT ? e->rows.row_bytes : e->rows.room_bytes;
}

/* ---- bytes and time -------------------------------------------------------------------------- */

size_t pp_rule_element_bytes(const struct pp_kernels *kernels, enum pp_exchange_rule rule)
{
    return rules[rule].is_of_g ? kernels->gradient_bytes : kernels->element_bytes;
}

double pp_group_exchange_bytes(const struct pp_kernels *kernels, int members,
                               const struct pp_group_exchange *exchange)
{
    return (double)exchange->count * (exchange->rule == PP_RULE_SCATTER ? members : 1) *
           (double)pp_rule_element_bytes(kernels, exchange->rule);
}

/* Each turn of a ring has members - 1 steps, each with 1 / members of the bytes (Patarasuk and Yuan
 * 2009). */
static int64_t ring_ps(const struct pp_costs *costs, const struct pp_kernels *kernels, int members,
                       const struct pp_group_exchange *exchange)
{
    const int steps = pp_ring_turns(rules[exchange->rule].like) * (members - 1);
    const double bytes = pp_group_exchange_bytes(kernels, members, exchange);

    return costs->is_unit
               ? 0
               : steps * (costs->alpha_ps[0] + pp_units_ps(bytes / members * costs->s_per_byte[0]));
}

/* An all-to-all has a step for each other member. */
int64_t pp_group_exchange_ps(const struct pp_costs *costs, const struct pp_kernels *kernels,
                             const struct pp_group_exchange *exchange, int members)
{
    const struct pp_rows_exchange *rows = &exchange->rows;

    if (rows->way == PP_ROWS_NONE)
        return ring_ps(costs, kernels, members, exchange);
    return costs->is_unit ? 0
                          : (members - 1) * (costs->alpha_ps[0] +
                                             pp_units_ps(rows->step_bytes * costs->s_per_byte[0]));
}

/* ---- all exchanges of a call ----------------------------------------------------------------- */

/* Lists the exchanges of a call that has an output; their places are not those of a call. */
static int list_any(const struct pp_stage *stage, enum pp_stage_call_kind kind,
                    struct pp_group_exchange *exchanges)
{
    char memory; /* any: nothing is read */
    void *at = &memory;

    return pp_stage_exchanges(&(struct pp_stage_work){.stage = stage,
                                                      .kept = &at,
                                                      .saved = &at,
                                                      .in = at,
                                                      .out = at,
                                                      .grad_in = at,
                                                      .grad_out = at,
                                                      .scratch = at,
                                                      .logits = at},
                              kind, exchanges);
}

enum pp_exchange_among pp_group_exchange_among(const struct pp_group_exchange *exchange)
{
    return exchange->rows.way != PP_ROWS_NONE ? PP_AMONG_EP : PP_AMONG_TP;
}

static int members_of(const struct pp_stage *stage, const struct pp_group_exchange *exchange)
{
    return pp_group_exchange_among(exchange) == PP_AMONG_EP ? stage->shape.ep : stage->shape.tp;
}

int pp_stage_exchange_count(const struct pp_stage *stage, enum pp_stage_call_kind kind)
{
    return list_any(stage, kind, NULL);
}

int64_t pp_stage_exchanges_ps(struct pp_arena *arena, const struct pp_stage *stage,
                              enum pp_stage_call_kind kind, enum pp_exchange_among among,
                              const struct pp_kernels *kernels, const struct pp_costs *costs)
{
    const int count = list_any(stage, kind, NULL);
    struct pp_group_exchange *exchanges = PP_ARRAY(arena, struct pp_group_exchange, count + 1);
    int64_t sum_ps = 0;

    list_any(stage, kind, exchanges);
    for (int i = 0; i < count; i++)
        if (pp_group_exchange_among(&exchanges[i]) == among && !exchanges[i].is_hidden)
            sum_ps += pp_group_exchange_ps(costs, kernels, &exchanges[i],
                                           members_of(stage, &exchanges[i]));
    return sum_ps;
}

static size_t most_of(const struct pp_stage *stage, const struct pp_kernels *kernels,
                      size_t (*bytes_of)(const struct pp_kernels *kernels,
                                         const struct pp_group_exchange *exchange, int members))
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    size_t most = 0;

    for (int kind = 0; kind < PP_CALLS; kind++) {
        const int count = list_any(stage, (enum pp_stage_call_kind)kind, NULL);
        struct pp_group_exchange *exchanges =
            PP_ARRAY(scratch, struct pp_group_exchange, count + 1);

        list_any(stage, (enum pp_stage_call_kind)kind, exchanges);
        for (int i = 0; i < count; i++) {
            const size_t bytes = bytes_of(kernels, &exchanges[i], members_of(stage, &exchanges[i]));
            most = bytes > most ? bytes : most;
        }
    }
    return most;
}

size_t pp_stage_most_piece_bytes(const struct pp_stage *stage, const struct pp_kernels *kernels)
{
    return most_of(stage, kernels, pp_group_exchange_most_bytes);
}

static size_t slot_bytes(const struct pp_kernels *kernels, const struct pp_group_exchange *exchange,
                         int members)
{
    (void)kernels;
    (void)members;
    return pp_rows_slot_bytes(&exchange->rows);
}

size_t pp_stage_most_slot_bytes(const struct pp_stage *stage, const struct pp_kernels *kernels)
{
    return most_of(stage, kernels, slot_bytes);
}

static size_t tensor_bytes(const struct pp_kernels *kernels,
                           const struct pp_group_exchange *exchange, int members)
{
    return (size_t)pp_group_exchange_bytes(kernels, members, exchange);
}

size_t pp_stage_most_exchanged_bytes(const struct pp_stage *stage, const struct pp_kernels *kernels)
{
    return most_of(stage, kernels, tensor_bytes);
}
