/* Optimizer state and updated parameters on another memory tier.
 *
 *   updated by the host     MOVE.grads after the sum of a stage's gradients, or its last backward
 *                           without a sum; its WAIT before U, the host's work: the rank has
 *                           nothing else to do by then. MOVE.params after U, unless they stay
 *   updated by the device   MOVE.fetch, the first bucket of state, after the last backward and its
 *                           WAIT before U; MOVE.store, the last one, after U. The buckets between
 *                           them stream through U and are part of its cost
 *   parameters elsewhere    MOVE.home after U, or after the gather of others' updates. If updates
 * are in buffers, at most as many as these are on their way. Those that read parameters load them
 * before, and drop them when they are home
 *
 *   updated on a stream     MOVE.update, the host's work, after MOVE.grads, or after the last
 *   of the host             MOVE.part if each visit's gradients go down. With an early update that
 *                           is after the stage's sum or last backward, else before U, which is the
 *                           device's share. MOVE.params follows it, but after all other copies up:
 *                           those would wait for the host. Gathers of updated parameters come when
 *                           the host has all its work
 *
 * The WAIT for MOVE.params, and for the host's stream, is before the next use of the stage's
 * parameters, a gather included. That for MOVE.store is before the next update. All are at the end
 * of the list at the latest. Runs when the list is complete. Source: Ren et al. 2021, ZeRO-Offload,
 * section 4; Singh and Bhatele 2022, AxoNN, section IV-B; Rajbhandari et al. 2021, ZeRO-Infinity,
 * section 5; Li et al. 2022, Harmony, section 3 (updates just in time). */
#include "schedules/lower/lists.h"
#include "schedules/lower/lower.h"

#include <string.h>

static struct pp_op move_of(const struct pp_op *update, enum pp_purpose purpose)
{
    return pp_op_for(purpose, update->stage, update->pipe);
}

static bool is_of(const struct pp_op *op, const struct pp_op *update)
{
    return op->stage == update->stage && op->pipe == update->pipe;
}

/* Is true for a visit's gradients on their way down; also, on request, for their arrival. */
static bool is_part(const struct pp_op *op, bool has_arrived)
{
    return op->purpose == PP_FOR_GRAD_DOWN &&
           (op->kind == PP_MOVE || (has_arrived && op->kind == PP_WAIT));
}

/* Index before which gradients (or, without sums, buffers) are ready for the update at `at`. The
 * host's stream waits for copies down; what comes up has arrived below. */
static int ready_at(const struct pp_op *ops, int count, int at, bool needs_sums)
{
    int i = at;

    while (i > 0) {
        const struct pp_op *op = &ops[i - 1];
        const bool is_made = op->kind == PP_B || op->kind == PP_W || is_part(op, !needs_sums);
        if ((is_made && is_of(op, &ops[at])) ||
            (needs_sums && pp_lists_waits_for_sum(op, ops[at].stage)))
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

/* Is true for an op that must come after a move of `what` for the update before it. */
static bool needs(const struct pp_op *op, const struct pp_op *update, enum pp_state_class what)
{
    const bool is_gather = op->kind == PP_AG || op->kind == PP_BC;

    if (is_gather && op->stage == update->stage)
        return what != PP_STATE_OPTIMIZER;
    if (!is_of(op, update))
        return false;
    if (op->kind == PP_U || (op->kind == PP_W && what == PP_STATE_GRADS))
        return true;
    const bool is_load = op->kind == PP_MOVE && pp_move_is_load(op->purpose);
    return what != PP_STATE_OPTIMIZER && (uses_params(op) || is_load);
}

/* Returns the index before which a move after the update at `at` must have arrived. */
static int needed_at(const struct pp_op *ops, int count, int at, enum pp_state_class what)
{
    int i = at + 1;

    while (i < count && !needs(&ops[i], &ops[at], what))
        i++;
    return i < count && ops[i].aux == PP_FUSED_SECOND && ops[i].kind == PP_B ? i - 1 : i;
}

/* Index from `at` on after the last copy up before `end`, alone or inside of an op. */
static int free_at(const struct pp_state_spec *state, const struct pp_op *ops, int at, int end)
{
    const bool has_loads = pp_state_is_away(state, PP_STATE_PARAMS);
    int free = at;

    for (int i = at; i < end; i++)
        if ((pp_op_is_move(ops[i].kind) && pp_move_is_up(ops[i].purpose)) ||
            (has_loads && uses_params(&ops[i])))
            free = i + 1;
    return free;
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

/* Is true for a stage whose gradients are complete at the BAR before updates only. */
static bool is_tied_at_bar(const struct pp_lowering *l, int stage)
{
    const int last = l->head->stages - 1;

    return l->options->ties_at_bar && last > 0 && (stage == 0 || stage == last) &&
           !pp_lists_any(l->lists, pp_op_is_tied);
}

/* Index at which the first bucket of an update has a buffer, which other updates of the rank had.
 * That is before the last update, or after it with one buffer. */
static int fetched_at(const struct pp_lowering *l, const struct pp_op *ops, int at, int ready)
{
    int before = at - 1;

    if (!l->options->has_whole_updates)
        return ready;
    while (before >= 0 && ops[before].kind != PP_U)
        before--;
    return l->options->state.update_buckets == 1 || before < ready ? at : before;
}

/* Places of the moves of the update at `at`. */
struct places {
    int ready;  /* gradients, or buffers of state */
    int begun;  /* the host's stream; or the end of U */
    int needed; /* what the host updates */
    int free;   /* copies of it up */
};

static struct places places_of(const struct pp_lowering *l, const struct pp_op *ops, int count,
                               int at)
{
    const struct pp_state_spec *state = &l->options->state;
    const bool has_stream = pp_state_has_host_stream(state);
    struct places p = {.ready = is_tied_at_bar(l, ops[at].stage)
                                    ? at
                                    : ready_at(ops, count, at, state->is_cpu_update),
                       .needed = needed_at(ops, count, at, PP_STATE_PARAMS)};

    p.begun = !has_stream ? at + 1 : state->has_early_update ? p.ready : at;
    p.free = has_stream ? free_at(state, ops, p.begun, p.needed) : p.begun;
    return p;
}

/* Adds the moves of the update at `at` in the order in which they run. */
static void move_update(const struct pp_lowering *l, const struct pp_op *ops, int count, int at,
                        struct pp_inserts *inserts)
{
    const struct pp_state_spec *state = &l->options->state;
    const bool has_stream = pp_state_has_host_stream(state);
    const struct places p = places_of(l, ops, count, at);
    const int stored = needed_at(ops, count, at, PP_STATE_OPTIMIZER),
              gone = has_stream ? needed_at(ops, count, at, PP_STATE_GRADS) : at;
    const struct {
        enum pp_purpose purpose;
        int post, wait;
    } moves[] = {{PP_FOR_GRADS, p.ready, gone},
                 {PP_FOR_FETCH, fetched_at(l, ops, at, p.ready), at},
                 {PP_FOR_UPDATE, p.begun, p.needed},
                 {PP_FOR_PARAMS, p.free, p.needed},
                 {PP_FOR_STORE, at + 1, stored},
                 {PP_FOR_HOME, whole_at(ops, count, at), -1}}; /* nothing needs it: WAIT is last */

    for (size_t i = 0; i < PP_COUNT(moves); i++) {
        const struct pp_op move = move_of(&ops[at], moves[i].purpose);
        if (!pp_state_moves(state, moves[i].purpose))
            continue;
        pp_inserts_add(l->arena, inserts, moves[i].post, move);
        if (moves[i].wait >= 0)
            pp_inserts_add(l->arena, inserts, moves[i].wait, pp_op_wait(move));
    }
}

/* Is true for a gather of updated parameters, and for its WAIT. */
static bool is_spread(const struct pp_op *op)
{
    const int kind = op->kind == PP_WAIT ? op->aux : op->kind;

    return (kind == PP_AG || kind == PP_BC) && op->purpose == PP_FOR_STEP;
}

/* Moves gathers of updated parameters after the last update and sum of a list. They come after
 * all sums on their stream. */
static void delay_gathers(const struct pp_lowering *l, int rank)
{
    const int count = l->lists->count[rank], update = pp_lists_next_update(l->lists, rank, 0);
    struct pp_op *ops = l->lists->ops[rank],
                 *gathers = PP_ARRAY(l->arena, struct pp_op, count - update + 1);
    int kept = update, gathered = 0;

    for (int i = update; i < count; i++)
        if (is_spread(&ops[i]))
            gathers[gathered++] = ops[i];
        else
            ops[kept++] = ops[i];
    memcpy(ops + kept, gathers, sizeof(*ops) * (size_t)gathered);
}

static void move_rank(const struct pp_lowering *l, int rank)
{
    const bool is_async = l->options->update_every > 0;
    const struct pp_op *ops = l->lists->ops[rank];
    const int count = l->lists->count[rank];
    struct pp_inserts inserts = {0};

    if (pp_state_has_host_stream(&l->options->state) && !is_async)
        delay_gathers(l, rank);
    for (int i = 0; i < count; i++)
        if (ops[i].kind == PP_U)
            move_update(l, ops, count, i, &inserts);
    if (pp_state_moves(&l->options->state, PP_FOR_HOME))
        pp_lower_homes(l, rank, &inserts);
    pp_inserts_apply(l->arena, l->lists, rank, &inserts);
}

/* Is true for a move of this pass in lists that bring their own. */
static bool is_own(const struct pp_op *op)
{
    return op->kind == PP_MOVE && pp_purposes[op->purpose].when != PP_WITH_USE;
}

/* Is true if ranks meet before an update, as clipping by the norm of all gradients needs. */
static bool meets_before_update(const struct pp_orders *lists)
{
    for (int rank = 0; rank < lists->ranks; rank++) {
        const struct pp_op *ops = lists->ops[rank];
        bool has_met = false;

        for (int i = 0; i < lists->count[rank]; i++) {
            has_met |= ops[i].kind == PP_BAR;
            if (has_met && ops[i].kind == PP_U)
                return true;
        }
    }
    return false;
}

enum pp_status pp_lower_state_moves(const struct pp_lowering *l)
{
    if (!pp_state_is_offloaded(&l->options->state) || l->head->mode == PP_MODE_INFER ||
        pp_lists_any(l->lists, is_own))
        return PP_OK;
    if (l->options->state.has_early_update && !l->options->has_whole_updates &&
        meets_before_update(l->lists))
        return pp_error_set(l->err, PP_EINVAL,
                            "--update jit: all ranks meet before their first update (clipping), as "
                            "the norm of all gradients is known at the end only; nearest: "
                            "--update end, or --update-barrier off");
    PP_TRY(pp_lower_check_homes(l));
    for (int rank = 0; rank < l->head->ranks; rank++)
        move_rank(l, rank);
    return PP_OK;
}
