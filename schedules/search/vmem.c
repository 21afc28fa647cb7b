/* The best order of several passes for the V schedules with controllable memory. */
#include "schedules/search/vmem.h"

#include "schedules/order/closed_form.h"
#include "schedules/order/order.h"

#include <string.h>

enum { POLICIES = 12 };
static const int64_t EFFORT_MAX = 1000000;        /* ops scheduled by all policies together */
static const int64_t BLOCKS_EFFORT_MAX = 4000000; /* ops of all blocks tried */

/* Few micro-batches: enough for the steady state to repeat. */
enum { FEW_EACH_RANK = 8, FEW_LEAST = 24 };

/* Merges copies of a block, `period` apart, by their starts [kind * ranks + rank]. */
static void merge_blocks(int kinds, const int64_t *start, int64_t period,
                         struct pp_vmem_lists *lists)
{
    const int n = lists->micro_batches;

    for (int rank = 0; rank < lists->ranks; rank++) {
        int32_t *out = pp_vmem_row(lists, rank);
        int64_t next[PP_VMEM_KINDS];
        int mb[PP_VMEM_KINDS] = {0};
        for (int kind = 0; kind < kinds; kind++)
            next[kind] = start[kind * lists->ranks + rank];
        lists->count[rank] = kinds * n;
        for (int i = 0; i < kinds * n; i++) {
            int best = -1;
            for (int kind = 0; kind < kinds; kind++)
                if (mb[kind] < n && (best < 0 || next[kind] < next[best]))
                    best = kind;
            out[i] = pp_vmem_op(best, mb[best]++);
            next[best] += period;
        }
    }
}

/* Sets keys of the list scheduling: the published blocks, or backwards first. */
static void keys_of(const struct pp_vmem *vmem, bool is_backward_first, int64_t *key)
{
    const int ranks = vmem->shape->ranks;

    for (int i = 0; i < PP_VMEM_CHAIN * ranks; i++)
        key[i] = is_backward_first ? -(i / ranks) * (INT64_C(1) << 40) : vmem->block[i];
}

/* Sets the most activations of chunk 0 on a rank in the published order. */
static void chunk_0_of(const struct pp_vmem *vmem, const struct pp_vmem_lists *lists, int *limit)
{
    for (int rank = 0; rank < lists->ranks; rank++) {
        const int32_t *ops = pp_vmem_row(lists, rank);
        limit[rank] = 1;
        for (int i = 0, held = 0; i < lists->count[rank]; i++) {
            held += ops[i] % 8 == PP_VMEM_F0;
            held -= ops[i] % 8 == (vmem->rule->is_split ? PP_VMEM_W0 : PP_VMEM_I0);
            limit[rank] = PP_MAX(limit[rank], held);
        }
    }
}

/* Returns the number of all ops. */
static int64_t size_of(const struct pp_vmem *vmem)
{
    return (int64_t)vmem->shape->ranks * vmem->shape->micro_batches * pp_vmem_kinds(vmem->rule);
}

static void try_lists(struct pp_arena *arena, struct pp_vmem *vmem)
{
    const int ranks = vmem->shape->ranks;
    int64_t *key = PP_ARRAY(arena, int64_t, PP_VMEM_CHAIN * ranks), effort = 0;
    int *limit = PP_ARRAY(arena, int, ranks), tried[4] = {0}; /* tried: activations */

    chunk_0_of(vmem, &vmem->best, limit);
    for (int i = 0; i < POLICIES && effort < EFFORT_MAX; i++, effort += size_of(vmem)) {
        const struct pp_vmem_policy policy = {.cap = vmem->score.peak,
                                              .chunk_0 = i & 1 ? limit : NULL,
                                              .key = key,
                                              .period = PP_VMEM_PERIOD,
                                              .patience = i / 4 * 2};
        if (!vmem->rule->is_split && tried[i % 4] == policy.cap)
            continue; /* without W there is no patience */
        tried[i % 4] = policy.cap;
        keys_of(vmem, i & 2, key);
        pp_vmem_try_list(arena, vmem, &policy);
    }
}

/* Writes an order by a rule: few micro-batches if its steady state repeats. False if the rule has
 * none for the shape. */
typedef bool order_rule(struct pp_arena *arena, const struct pp_vmem *vmem,
                        struct pp_vmem_lists *lists);
static bool make_order(struct pp_arena *arena, const struct pp_vmem *vmem, order_rule *rule,
                       struct pp_vmem_lists *lists)
{
    for (int wanted = vmem->few; wanted; wanted = pp_vmem_wanted(vmem, lists, lists->period)) {
        *lists = pp_vmem_lists_make(arena, vmem, wanted);
        if (!rule(arena, vmem, lists))
            return false;
        pp_vmem_find_period(vmem, lists);
    }
    return true;
}

static bool merge_starts(struct pp_arena *arena, const struct pp_vmem *vmem,
                         struct pp_vmem_lists *lists)
{
    (void)arena;
    merge_blocks(pp_vmem_kinds(vmem->rule), vmem->start, vmem->period, lists);
    return true;
}

/* Tries blocks made for the current durations: as they are, and as keys of the list scheduling. */
static void try_modulo(struct pp_arena *arena, struct pp_vmem *vmem)
{
    struct pp_vmem_lists blocks;

    vmem->start = PP_ARRAY(arena, int64_t, PP_VMEM_KINDS * vmem->shape->ranks);
    vmem->period = pp_vmem_modulo(arena, vmem, vmem->score.peak, vmem->start);
    if (vmem->period == 0)
        return;
    make_order(arena, vmem, merge_starts, &blocks);
    pp_vmem_try_order(arena, vmem, &blocks);
    if (vmem->rule->is_split)
        pp_vmem_try_fills(arena, vmem, &blocks);
    for (int patience = 0, tried = 0; patience <= 4; patience += 2) {
        const struct pp_vmem_policy policy = {.cap = vmem->score.peak,
                                              .key = vmem->start,
                                              .period = vmem->period,
                                              .patience = patience};
        if (vmem->rule->is_split || tried != policy.cap)
            pp_vmem_try_list(arena, vmem, &policy);
        tried = policy.cap;
    }
}

/* Published orders; `best` begins as the first. */
struct published {
    struct pp_vmem_lists lists[2];
    int count;
};

/* Improves `best` under the current durations. */
static void improve(struct pp_arena *arena, struct pp_vmem *vmem, const struct published *published)
{
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    struct pp_vmem_lists timed = vmem->best;

    vmem->score = (struct pp_vmem_score){.makespan = INT64_MAX, .span = INT64_MAX};
    vmem->score = pp_vmem_time(arena, vmem, &timed);
    if (timed.ops != vmem->best.ops)
        pp_vmem_lists_copy(&vmem->best, &timed);
    pp_vmem_take_period(vmem);
    vmem->score.peak = PP_MAX(vmem->score.peak, vmem->rule->cap);
    if (vmem->rule->is_split)
        pp_vmem_try_fills(arena, vmem, &vmem->best);
    for (int i = 0; vmem->rule->is_split && i < published->count; i++) {
        pp_vmem_try_order(arena, vmem, &published->lists[i]);
        pp_vmem_try_fills(arena, vmem, &published->lists[i]);
    }
    try_lists(arena, vmem);
    pp_arena_release(arena, mark);
}

static void publish(struct pp_arena *arena, struct pp_vmem *vmem, struct published *out)
{
    order_rule *const rules[] = {pp_vmem_ticks, pp_vmem_squeeze};

    for (int i = vmem->rule->is_split ? 0 : 1; i < 2; i++)
        out->count += make_order(arena, vmem, rules[i], &out->lists[out->count]);
    if (out->count == 0) {
        const struct pp_vmem_fill fill = {.cap = INT32_MAX, .is_eager = true};
        struct pp_vmem_lists blocks = pp_vmem_lists_make(arena, vmem, vmem->shape->micro_batches);
        int64_t *key = PP_ARRAY(arena, int64_t, PP_VMEM_CHAIN * vmem->shape->ranks);
        keys_of(vmem, false, key);
        merge_blocks(PP_VMEM_CHAIN, key, PP_VMEM_PERIOD, &blocks);
        out->lists[out->count] = pp_vmem_lists_make(arena, vmem, vmem->shape->micro_batches);
        pp_vmem_run(arena, vmem, &blocks, &fill, &out->lists[out->count++]);
    }
    pp_vmem_lists_copy(&vmem->best, &out->lists[0]);
}

static void set_block(struct pp_vmem *vmem)
{
    const int ranks = vmem->shape->ranks;

    for (int rank = 0; rank < ranks; rank++) {
        int64_t tick[PP_VMEM_CHAIN];
        vmem->rule->block(ranks, rank, tick);
        for (int kind = 0; kind < PP_VMEM_CHAIN; kind++)
            vmem->block[kind * ranks + rank] = tick[kind];
    }
}

/* Tries blocks that use the given memory, or a little less. */
static void try_blocks(struct pp_arena *arena, struct pp_vmem *vmem)
{
    const int64_t ops = size_of(vmem);
    struct pp_vmem_lists out;
    int64_t effort = ops > BLOCKS_EFFORT_MAX / 8 ? BLOCKS_EFFORT_MAX : 0;

    for (int spare = 0; spare < 2; spare++)
        for (int place = 0; effort < BLOCKS_EFFORT_MAX &&
                            pp_vmem_next_block(vmem, vmem->rule->cap - spare, &place);
             effort += ops) {
            const struct pp_arena_mark mark = pp_arena_mark(arena);
            if (make_order(arena, vmem, pp_vmem_tighten, &out)) {
                pp_vmem_try_order(arena, vmem, &out);
                pp_vmem_try_fills(arena, vmem, &out);
            }
            pp_arena_release(arena, mark);
        }
    set_block(vmem);
}

/* Searches with equal durations first: no result for others is worse than that order. */
static void search(struct pp_arena *arena, struct pp_vmem *vmem, const struct pp_costs *costs)
{
    struct published published = {.count = 0};

    vmem->costs = pp_vmem_costs_of(arena, vmem, NULL);
    publish(arena, vmem, &published);
    improve(arena, vmem, &published);
    if (costs) {
        vmem->costs = pp_vmem_costs_of(arena, vmem, costs);
        improve(arena, vmem, &published);
        try_modulo(arena, vmem);
    }
    if (vmem->rule->cap)
        try_blocks(arena, vmem);
}

/* Returns the micro-batches of the lists that are tried first. */
static int few_of(const struct pp_shape *shape)
{
    const int least = FEW_EACH_RANK * shape->ranks + FEW_LEAST, n = shape->micro_batches;

    return n < 2 * least ? n : least;
}

/* Returns how many micro-batches of the best order repeat, and are not asked for. */
static int left_out_of(const struct pp_vmem *vmem)
{
    const int period = vmem->best.period, all = vmem->shape->micro_batches;
    const int spare = all - PP_MAX(vmem->shape->least, vmem->best.micro_batches);

    return vmem->shape->least > 0 && period > 0 && spare > 0 ? spare / period * period : 0;
}

enum pp_status pp_vmem_decide(struct pp_arena *arena, const struct pp_shape *shape,
                              const struct pp_costs *costs, const struct pp_vmem_rule *rule,
                              int few, struct pp_orders *orders)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_vmem vmem = {.shape = shape, .rule = rule, .few = few};

    vmem.best = pp_vmem_lists_make(scratch, &vmem, shape->micro_batches);
    vmem.block = PP_ARRAY(scratch, int64_t, PP_VMEM_CHAIN * shape->ranks);
    vmem.score = (struct pp_vmem_score){.makespan = INT64_MAX, .span = INT64_MAX};
    set_block(&vmem);
    search(scratch, &vmem, costs);
    orders->left_out = left_out_of(&vmem);
    const int written = shape->micro_batches - orders->left_out;
    if (vmem.best.micro_batches < written)
        vmem.best = pp_vmem_expand(scratch, &vmem, &vmem.best, written);
    for (int rank = 0; rank < shape->ranks; rank++) {
        const int32_t *ops = pp_vmem_row(&vmem.best, rank);
        pp_orders_reserve(arena, orders, rank, vmem.best.count[rank]);
        for (int i = 0; i < vmem.best.count[rank]; i++)
            pp_orders_add(arena, orders, rank, pp_vmem_compute(&vmem, rank, ops[i]));
    }
    return PP_OK;
}

enum pp_status pp_vmem_generate(struct pp_arena *arena, const struct pp_shape *shape,
                                const struct pp_costs *costs, const struct pp_vmem_rule *rule,
                                struct pp_orders *orders)
{
    return pp_vmem_decide(arena, shape, costs, rule, few_of(shape), orders);
}
