/* Optimizer state and updated parameters on another memory tier.
 *
 *   updated by the host     MOVE.grads after the sum of a stage's gradients, or its last backward
 *                           without a sum; its WAIT before U, the host's work: the rank has
 *                           nothing else to do by then. MOVE.params after U, unless they stay
 *   updated by the device   MOVE.fetch, the first bucket of state, after the last backward and its
 *                           WAIT before U; MOVE.store, the last one, after U. The buckets between
 *                           them stream through U and are part of its cost
 *   parameters elsewhere    MOVE.home after U, or after the gather of others' updates
 *
 * The WAIT for MOVE.params is before the next use of the stage's parameters, a gather included.
 * That for MOVE.store is before the next update. All three are at the end of the list at the
 * latest. Runs when the list is complete. Source: Ren et al. 2021, ZeRO-Offload, section 4; Singh
 * and Bhatele 2022, AxoNN, section IV-B; Rajbhandari et al. 2021, ZeRO-Infinity, section 5. */
#include "schedules/lower/lists.h"
#include "schedules/lower/lower.h"

static struct pp_op move_of(const struct pp_op *update, enum pp_purpose purpose)
{
    return pp_op_for(purpose, update->stage, update->pipe);
}

static bool is_of(const struct pp_op *op, const struct pp_op *update)
{
    return op->stage == update->stage && op->pipe == update->pipe;
}

/* Index before which gradients (or, without sums, buffers) are ready for the update at `at`. */
static int ready_at(const struct pp_op *ops, int count, int at, bool needs_sums)
{
    int i = at;

    while (i > 0) {
        const struct pp_op *op = &ops[i - 1];
        const bool is_backward = (op->kind == PP_B || op->kind == PP_W) && is_of(op, &ops[at]);
        if (is_backward || (needs_sums && pp_lists_waits_for_sum(op, ops[at].stage)))
            break;
        i--;
    }
    while (i < count && i < at && pp_op_is_send(ops[i].kind))
        i++;
    return i;
}

static bool uses_params(const struct pp_op *op)
{
    return op->kind == PP_F || op->kind == PP_B || op->kind == PP_I || op->kind == PP_R;
}

/* Returns the index before which a move after the update at `at` must have arrived. */
static int needed_at(const struct pp_op *ops, int count, int at, bool is_params)
{
    int i = at + 1;

    for (; i < count; i++) {
        const struct pp_op *op = &ops[i];
        const bool is_gather = op->kind == PP_AG || op->kind == PP_BC;
        const bool is_use =
            (is_gather && op->stage == ops[at].stage) || (uses_params(op) && is_of(op, &ops[at]));
        if ((is_params && is_use) || (op->kind == PP_U && is_of(op, &ops[at])))
            break;
    }
    return i < count && ops[i].aux == PP_FUSED_SECOND && ops[i].kind == PP_B ? i - 1 : i;
}

/* Index after the gather of the weights updated at `at` (its last bucket), or after the update. */
static int whole_at(const struct pp_op *ops, int count, int at)
{
    int whole = at + 1;

    for (int i = at + 1; i < count && !(ops[i].kind == PP_U && is_of(&ops[i], &ops[at])); i++)
        if (ops[i].kind == PP_WAIT && (ops[i].aux == PP_AG || ops[i].aux == PP_BC) &&
            ops[i].purpose == PP_FOR_STEP && ops[i].stage == ops[at].stage)
            whole = i + 1;
    return whole;
}

static void move_update(const struct pp_lowering *l, const struct pp_op *ops, int count, int at,
                        struct pp_inserts *inserts)
{
    struct pp_arena *arena = l->arena;

    for (int purpose = 0; purpose < PP_PURPOSES; purpose++) {
        const struct pp_purpose_row *row = &pp_purposes[purpose];
        const struct pp_op move = move_of(&ops[at], (enum pp_purpose)purpose);
        if (row->when == PP_WITH_USE ||
            !pp_state_moves(&l->options->state, (enum pp_purpose)purpose))
            continue;
        if (purpose == PP_FOR_HOME) { /* nothing needs it: its WAIT is last */
            pp_inserts_add(arena, inserts, whole_at(ops, count, at), move);
        } else if (row->when == PP_AFTER_UPDATE) {
            const int needed = needed_at(ops, count, at, row->what == PP_STATE_PARAMS);
            pp_inserts_add(arena, inserts, at + 1, move);
            pp_inserts_add(arena, inserts, needed, pp_op_wait(move));
        } else {
            const int ready = ready_at(ops, count, at, row->what == PP_STATE_GRADS);
            pp_inserts_add(arena, inserts, ready, move);
            pp_inserts_add(arena, inserts, at, pp_op_wait(move));
        }
    }
}

static void move_rank(const struct pp_lowering *l, int rank)
{
    const struct pp_op *ops = l->lists->ops[rank];
    const int count = l->lists->count[rank];
    struct pp_inserts inserts = {0};

    for (int i = 0; i < count; i++)
        if (ops[i].kind == PP_U)
            move_update(l, ops, count, i, &inserts);
    for (int i = 0; i < count && pp_state_moves(&l->options->state, PP_FOR_HOME); i++)
        if (ops[i].kind == PP_U)
            pp_inserts_add(l->arena, &inserts, count, pp_op_wait(move_of(&ops[i], PP_FOR_HOME)));
    pp_inserts_apply(l->arena, l->lists, rank, &inserts);
}

/* Is true for a move of this pass, not a load of parameters, in lists that bring their own. */
static bool is_own(const struct pp_op *op)
{
    return op->kind == PP_MOVE && !pp_move_is_load(op->purpose);
}

enum pp_status pp_lower_state_moves(const struct pp_lowering *l)
{
    if (!pp_state_is_offloaded(&l->options->state) || l->head->mode == PP_MODE_INFER ||
        pp_lists_any(l->lists, is_own))
        return PP_OK;
    for (int rank = 0; rank < l->head->ranks; rank++)
        move_rank(l, rank);
    return PP_OK;
}
