/* Gradients on another tier: numbers of moves in closed form, and laws over all schedules. */
#include "schedules/verify/verify.h"
#include "tests/unit/schedules/lower/lower_by_hand.h"
#include "tests/unit/support/lower_cases.h"
#include "tests/unit/support/random_program.h"
#include "tests/unit/support/state_specs.h"

enum { STAGES_MAX = 64, TEXT_BYTES = 1 << 15 };

static int moves_of(const struct pp_program *p, int purpose)
{
    int moves = 0;

    for (int i = 0; i < pp_program_size(p); i++)
        moves += p->kind[i] == PP_MOVE && p->purpose[i] == purpose;
    return moves;
}

static struct pp_program *lower(struct pp_arena *arena, const struct pp_program *compute,
                                const struct pp_lower_options *options)
{
    struct pp_program *p;
    struct pp_error err;

    cr_assert_eq(pp_lower(arena, compute, options, &p, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_verify(p, NULL, &err), PP_OK, "%s: %s", compute->name, err.message);
    return p;
}

/* ---- one rank -------------------------------------------------------------------------------- */

static const uint16_t one_rank[STAGES_MAX] = {0};

/* V chunks of one rank: each micro-batch down and up, or all micro-batches of a chunk together. */
static struct pp_program *line(struct pp_arena *arena, bool is_grouped, int v, int m)
{
    const struct pp_program_head head = {.name = "line",
                                         .ranks = 1,
                                         .stages = v,
                                         .pipelines = 1,
                                         .micro_batches = m,
                                         .granules = 1,
                                         .splits = 1,
                                         .versions = 1,
                                         .rank_of = one_rank};
    struct pp_orders *orders = pp_orders_create(arena, 1);
    struct pp_program *program;
    struct pp_error err;

    for (int k = 0; k < (is_grouped ? 1 : m); k++)
        for (int at = 0; at < 2 * v; at++)
            for (int mb = 0; mb < (is_grouped ? m : 1); mb++) {
                struct pp_op op =
                    pp_stage_op(at < v ? PP_F : PP_B, at < v ? at : 2 * v - 1 - at, 0);
                op.mb = is_grouped ? mb : k;
                op.granules = 1;
                pp_orders_add(arena, orders, 0, op);
            }
    cr_assert_eq(pp_program_freeze(arena, &head, orders, &program, &err), PP_OK, "%s", err.message);
    return program;
}

/* All state lives on the host; a chunk is a unit. */
static struct pp_lower_options host_options(bool is_cpu_update, bool is_summed_on_device)
{
    struct pp_lower_options options = {.has_optimizer = true, .state = specs_cut(1, 1, 1, 1)};

    for (int class = PP_STATE_PARAMS; class <= PP_STATE_OPTIMIZER; class ++)
        options.state.home[class] = PP_TIER_HOST;
    options.state.is_cpu_update = is_cpu_update;
    options.state.is_summed_on_device = is_summed_on_device;
    return options;
}

static int loads_of(const struct pp_program *p)
{
    return moves_of(p, PP_FOR_LOAD) + moves_of(p, PP_FOR_RELOAD);
}

/* Grouped: V down; per micro-batch m V down and, where the device adds, (m - 1) V up. */
Test(grads, harmony_counts)
{
    for (int v = 2; v <= 24; v += v < 8 ? 1 : 8)
        for (int m = 1; m <= 8; m++)
            for (int buffers = 1; buffers <= 3; buffers++) {
                PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
                struct pp_lower_options host = host_options(true, false),
                                        device = host_options(false, true);
                host.state.buffers = device.state.buffers = buffers;
                const struct pp_program *grouped = lower(arena, line(arena, true, v, m), &host),
                                        *each = lower(arena, line(arena, false, v, m), &device),
                                        *added = lower(arena, line(arena, false, v, m), &host);
                cr_assert_eq(moves_of(grouped, PP_FOR_GRAD_DOWN), v);
                cr_assert_eq(moves_of(grouped, PP_FOR_GRAD_UP), 0);
                /* 3 V - 1 moves of a chunk in all */
                cr_assert_eq(loads_of(grouped) + v, 3 * v - 1);
                cr_assert_eq(moves_of(grouped, PP_FOR_HOME) + moves_of(grouped, PP_FOR_PARAMS) +
                                 moves_of(grouped, PP_FOR_GRADS),
                             0);
                cr_assert_eq(moves_of(added, PP_FOR_GRAD_DOWN), m * v);
                cr_assert_eq(moves_of(added, PP_FOR_GRAD_UP), 0);
                cr_assert_eq(moves_of(each, PP_FOR_GRAD_DOWN), m * v);
                cr_assert_eq(moves_of(each, PP_FOR_GRAD_UP), (m - 1) * v);
                /* (4 m + 1) V - 2 m + 1 with those of the update: gradients up, parameters down */
                cr_assert_eq(loads_of(each) + moves_of(each, PP_FOR_GRAD_DOWN) +
                                 moves_of(each, PP_FOR_GRAD_UP) + moves_of(each, PP_FOR_FETCH) +
                                 moves_of(each, PP_FOR_HOME),
                             (4 * m + 1) * v - 2 * m + 1);
            }
}

/* At most so many parts are under way as there are buffers for them. */
Test(grads, buffers_bound_what_is_under_way)
{
    for (int buffers = 1; buffers <= 4; buffers++)
        for (int grouped = 0; grouped < 2; grouped++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            struct pp_lower_options options = host_options(true, false);
            options.state.buffers = buffers;
            const struct pp_program *p = lower(arena, line(arena, grouped, 12, 4), &options);
            int open = 0, most = 0;
            for (int i = 0; i < pp_program_size(p); i++) {
                open += p->kind[i] == PP_MOVE && p->purpose[i] == PP_FOR_GRAD_DOWN;
                open -= p->kind[i] == PP_WAIT && p->aux[i] == PP_MOVE &&
                        p->purpose[i] == PP_FOR_GRAD_DOWN;
                most = open > most ? open : most;
            }
            cr_assert_eq(most, buffers < 2 ? 1 : buffers - 1, "%d buffers: %d", buffers, most);
        }
}

/* ---- all schedules --------------------------------------------------------------------------- */

static const int unit_counts[STAGES_MAX] = {2, 1, 3, 2, 1, 1, 2, 3, 1, 2, 2, 1, 3, 1, 2, 1};

/* Visits of gradients of all chunks: runs of B and W of a chunk with one unit, else each of them.
 */
static int visits_of(const struct pp_program *p, const int *units, bool is_summed)
{
    int visits = 0;

    for (int rank = 0; rank < p->ranks; rank++) {
        int open[2] = {-1, -1}, next[2];
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
            const bool is_pair = p->kind[i] == PP_F && p->aux[i] == PP_FUSED_FIRST;
            next[0] = next[1] = -1;
            for (int k = 0; k <= is_pair; k++) {
                const int stage = p->stage[i + k], chunk = p->pipe[i + k] * p->stages + stage;
                const bool is_counted = p->kind[i + k] == PP_B || p->kind[i + k] == PP_W,
                           is_layered = units && units[stage] > 1 && !is_summed;
                /* an op of the chunk without gradients neither begins nor ends a run of them */
                if (!is_counted) {
                    if (open[0] == chunk || open[1] == chunk)
                        next[k] = chunk;
                    continue;
                }
                const bool is_open = open[0] == chunk || open[1] == chunk || next[0] == chunk;
                visits += is_layered || !is_open;
                next[k] = chunk;
            }
            open[0] = next[0];
            open[1] = next[1];
            i += is_pair;
        }
    }
    return visits;
}

static int chunks_of(const struct pp_program *p)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    bool *is_used = PP_ARRAY(arena, bool, p->pipelines * p->stages);
    int chunks = 0;

    for (int i = 0; i < pp_program_size(p); i++) {
        bool *used = &is_used[p->pipe[i] * p->stages + p->stage[i]];
        if (p->kind[i] != PP_B && p->kind[i] != PP_W)
            continue;
        chunks += !*used;
        *used = true;
    }
    return chunks;
}

/* Without copies of a stage all parts leave at once. With a sum over copies the last visit waits
 * for it, and brings up what the others have left. */
static void check_case(struct pp_arena *arena, const struct pp_program *compute, void *context)
{
    int *checked = context;
    const bool is_summed = *checked % 2, is_summed_on_device = *checked / 2 % 2;
    struct pp_lower_options options = {
        .recv_slots = 2,
        .has_optimizer = true,
        .has_sync = is_summed,
        .grad_sync = (enum pp_grad_sync)(*checked % 3),
        .units = *checked % 5 ? unit_counts : NULL,
        .state = specs_cut(1, 1, 1, 2),
    };

    if (compute->stages > STAGES_MAX || compute->versions > 1)
        return;
    options.state.buffers = 1 + *checked % 3;
    options.state.home[PP_STATE_GRADS] = options.state.home[PP_STATE_OPTIMIZER] = PP_TIER_HOST;
    options.state.is_cpu_update = *checked % 7 < 4;
    options.state.is_summed_on_device = is_summed_on_device;
    const struct pp_program *p = lower(arena, compute, &options);
    const int visits = visits_of(compute, options.units, is_summed), chunks = chunks_of(compute);
    const int downs = moves_of(p, PP_FOR_GRAD_DOWN), ups = moves_of(p, PP_FOR_GRAD_UP);
    cr_assert_eq(downs, visits, "%s: %d parts, %d visits", compute->name, downs, visits);
    if (is_summed_on_device)
        cr_assert_eq(ups, visits - chunks, "%s: %d sums", compute->name, ups);
    else
        cr_assert(is_summed ? ups <= chunks && (ups > 0) == (visits > chunks) : ups == 0,
                  "%s: %d sums", compute->name, ups);
    cr_assert_eq(moves_of(p, PP_FOR_GRADS), 0);
    (*checked)++;
}

Test(grads, every_visit_leaves_once)
{
    int checked = 0;

    for_each_case(check_case, &checked);
    cr_assert_gt(checked, 500, "%d", checked);
}
