/* Gradient sums. Every stage has one sum over the ranks (and replicas) that hold it, posted once by
 * each. It is AR, or RS and, after the update, AG for ZeRO 1. A tied embedding adds one AR over the
 * ranks of the first and the last stage. A rank runs its collectives in the order of its posts. All
 * ranks post in one common order, so that none waits in a circle. A post is after the last backward
 * of its chunk and after the rank's earlier posts in that order.
 *
 *   end        all posts after the rank's last backward: tied, then stages from last to first
 *              (as in DeepSpeed)
 *   eager      after the chunk's last backward. Common order: by the slot (one per compute
 *              instruction, messages free) in which the last member is done, then from the last
 *              stage to the first; tied directly before stage 0
 *   eager-opt  Chimera (Li & Hoefler, SC'21, section 3.2): eager if idle time follows, else end.
 *              Idle follows if, on every rank of the group, fewer compute instructions than slots
 *              are left after the chunk's last backward. For Chimera with direct concatenation
 *              these are the stages s > D/2; every other stage ends the list of its ranks or is
 *              followed without a gap
 *
 * With sharded parameters a tied sum is always after the rank's last backward.
 *
 * A sum that is cut into buckets is posted bucket by bucket, at one place. Directly after the
 * backward, the first buckets start while it still runs (pp_program_posted_inside). The tied sum
 * then follows them: directly after stage 0, or last.
 *
 * WAITs are at the end of the list, in the order of the posts. */
#include "schedules/lower/lists.h"
#include "schedules/lower/lower.h"
#include "schedules/lower/messages.h"

#include <stdlib.h>

/* One sum, in the common order. */
struct sum {
    int stage; /* 0 for the tied one */
    bool is_tied, is_late;
    int32_t slot;
    int turn; /* among sums of its slot and stage */
};

struct sync {
    struct pp_arena *arena;
    const struct pp_program_head *head;
    const struct pp_lower_options *options;
    struct pp_orders *lists;
    bool has_tied;
    int32_t *last_unit, *last_at; /* [pipe * stages + stage] last backward, -1 = none */
    int *end;                     /* [rank] index after the last compute instruction */
    struct sum *sums;
    int sum_count;
    struct pp_inserts *posts; /* [rank] */
    int *latest;              /* [stage]: last post that its update waits for */
};

/* Is true for a backward, or the scatter of its gradients if parameters are sharded. */
static bool is_backward(const struct pp_op *op)
{
    return op->kind == PP_B || op->kind == PP_I || op->kind == PP_W ||
           (op->kind == PP_RS && op->purpose != PP_FOR_STEP);
}

static int held_by(const struct sync *s, int pipe, int stage)
{
    return s->head->rank_of[pipe * s->head->stages + stage];
}

static void find_last(struct sync *s)
{
    const struct pp_program_head *head = s->head;
    const int places = head->pipelines * head->stages;

    s->last_at = PP_ARRAY(s->arena, int32_t, places);
    s->end = PP_ARRAY(s->arena, int, head->ranks);
    for (int i = 0; i < places; i++)
        s->last_at[i] = -1;
    for (int rank = 0; rank < head->ranks; rank++) {
        s->end[rank] = pp_lists_compute_end(s->lists, rank);
        for (int i = 0; i < s->lists->count[rank]; i++) {
            const struct pp_op *op = &s->lists->ops[rank][i];

            if (!is_backward(op))
                continue;
            s->last_at[op->pipe * head->stages + op->stage] = i;
            s->end[rank] = i < s->end[rank] ? s->end[rank] : i + 1;
        }
    }
}

/* Index after the last backward of a chunk, its SENDs and the scatters of its gradients. */
static int ready_at(const struct sync *s, int pipe, int stage)
{
    const int rank = held_by(s, pipe, stage);
    int at = s->last_at[pipe * s->head->stages + stage] + 1;

    if (at == 0) /* no micro-batch runs this stage: its empty sum can wait */
        return s->end[rank];
    while (at < s->lists->count[rank] && pp_op_is_send(s->lists->ops[rank][at].kind))
        at++;
    return at;
}

/* ---- the common order ------------------------------------------------------------------------ */

static bool is_sum_tied(const struct sync *s)
{
    bool is_apart = s->options->joins_tied && s->head->stages > 1;

    for (int pipe = 0; pipe < s->head->pipelines; pipe++)
        is_apart |= held_by(s, pipe, 0) != held_by(s, pipe, s->head->stages - 1);
    return s->has_tied && is_apart;
}

/* Returns the unit that contains index `at` of a list: the last one that begins there or before. */
static int32_t unit_at(const struct pp_unit_list *units, int32_t at)
{
    int32_t low = 0, high = units->count;

    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;

        if (units->first[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Returns the work of a rank up to the end of each of its units, in slots. */
static int32_t *work_of(struct pp_arena *arena, const struct pp_messages *m, int rank)
{
    int32_t *work = PP_ARRAY(arena, int32_t, m->units[rank].count + 1), sum = 0;

    for (int32_t u = 0; u < m->units[rank].count; u++)
        work[u] = sum += pp_messages_weight(m, rank, u);
    return work;
}

static enum pp_status find_slots(struct sync *s, struct pp_error *err)
{
    int32_t **work = PP_ARRAY(s->arena, int32_t *, s->head->ranks);
    struct pp_messages *m;

    PP_TRY(pp_messages_build(s->arena, s->head, s->lists, &m, err));
    int32_t *const *slots = pp_messages_slots(s->arena, m);
    for (int rank = 0; rank < s->head->ranks; rank++)
        work[rank] = work_of(s->arena, m, rank);
    for (int i = 0; i < s->sum_count; i++)
        for (int pipe = 0; pipe < s->head->pipelines; pipe++) {
            struct sum *sum = &s->sums[i];
            const int32_t at = s->last_at[pipe * s->head->stages + sum->stage];
            const int rank = held_by(s, pipe, sum->stage);

            if (at < 0) {
                sum->is_late = true;
                continue;
            }
            const int32_t unit = unit_at(&m->units[rank], at), last = m->units[rank].count - 1;
            const int32_t left = slots[rank][last] - slots[rank][unit];
            if (slots[rank][unit] > sum->slot)
                sum->slot = slots[rank][unit];
            if (s->options->grad_sync == PP_SYNC_EAGER_OPT &&
                left <= work[rank][last] - work[rank][unit])
                sum->is_late = true;
        }
    return PP_OK;
}

static int compare_sums(const void *a, const void *b)
{
    const struct sum *x = a, *y = b;

    if (x->is_late != y->is_late)
        return x->is_late - y->is_late;
    if (x->slot != y->slot)
        return (x->slot > y->slot) - (x->slot < y->slot);
    if (x->stage != y->stage)
        return y->stage - x->stage;
    return x->turn - y->turn;
}

static bool has_buckets(const struct sync *s)
{
    for (int stage = 0; stage < s->head->stages; stage++)
        if (pp_lower_buckets(s->options, stage) > 0)
            return true;
    return false;
}

/* Is true if all sums come after the backwards. Those of several pipelines would delay the gathers
 * and scatters of one pipeline until the others have posted them. */
static bool are_late(const struct sync *s)
{
    const struct pp_state_spec *state = &s->options->state;

    return s->options->grad_sync == PP_SYNC_END ||
           (s->head->pipelines > 1 && (pp_state_is_gathered(state) || pp_state_has_parts(state)));
}

static enum pp_status order_sums(struct sync *s, struct pp_error *err)
{
    const bool is_tied = is_sum_tied(s), is_end = are_late(s);
    /* The tied sum alone spans several ranks of one pipeline. Posted early, it would delay the
     * gathers posted after it until the last of these ranks has posted it. */
    const struct sum tied = {.is_tied = true,
                             .is_late = is_end || pp_state_is_gathered(&s->options->state),
                             .turn = has_buckets(s) ? 1 : -1};

    s->sums = PP_ARRAY(s->arena, struct sum, s->head->stages + 1);
    if (is_tied && tied.turn < 0)
        s->sums[s->sum_count++] = tied;
    for (int stage = s->head->stages - 1; stage >= 0 && s->options->has_sync; stage--)
        s->sums[s->sum_count++] = (struct sum){.stage = stage, .is_late = is_end};
    if (is_tied && tied.turn > 0)
        s->sums[s->sum_count++] = tied;
    if (is_end)
        return PP_OK;
    PP_TRY(find_slots(s, err));
    qsort(s->sums, (size_t)s->sum_count, sizeof(*s->sums), compare_sums);
    return PP_OK;
}

/* ---- posts and waits ------------------------------------------------------------------------- */

static struct pp_op sum_op(const struct sync *s, const struct sum *sum, int pipe)
{
    const bool is_scatter = !sum->is_tied && pp_state_is_spread(&s->options->state);
    struct pp_op op = pp_stage_op(is_scatter ? PP_RS : PP_AR, sum->stage, pipe);

    op.aux = sum->is_tied ? PP_TIED : 0;
    op.last_stage = sum->is_tied ? (uint16_t)(s->head->stages - 1) : 0;
    return op;
}

/* Ranks that post one sum, and the places of their posts. */
struct members {
    int *ranks, count;
    int *at, *pipe, *owner; /* [rank]; valid if owner is 1 + index of the sum */
};

static void add_member(const struct sync *s, struct members *members, int sum, int pipe, int stage)
{
    const int rank = held_by(s, pipe, stage);
    const int at = s->sums[sum].is_late ? s->end[rank] : ready_at(s, pipe, stage);

    if (members->owner[rank] == sum + 1) {
        members->at[rank] = at > members->at[rank] ? at : members->at[rank];
        return;
    }
    members->owner[rank] = sum + 1;
    members->ranks[members->count++] = rank;
    members->at[rank] = at;
    members->pipe[rank] = pipe;
}

/* Returns the sum of a scatter's result over the groups of shards, which runs after it. */
static struct pp_op rest_of(struct pp_op scatter)
{
    scatter.kind = PP_AR;
    scatter.purpose = PP_FOR_REST;
    return scatter;
}

/* Returns the place of the buckets before the last. If a chunk is gathered in several units, all
 * gradients except those of its last unit are scattered inside the backward. These buckets then
 * need not wait for the scatter after it. */
static int inside_at(const struct sync *s, const struct sum *sum, int rank, int at, int before)
{
    const struct pp_op *ops = s->lists->ops[rank];

    if (sum->is_tied || !pp_state_is_gathered(&s->options->state) ||
        pp_lower_units(s->options, sum->stage) < 2)
        return at;
    while (at > before && ops[at - 1].kind == PP_RS && ops[at - 1].purpose == PP_FOR_VISIT &&
           ops[at - 1].stage == sum->stage)
        at--;
    return at;
}

/* Posts all buckets of a sum, each with the sum of its scatter's results. */
static void post_sum(struct sync *s, const struct sum *sum, int rank, int at, int before, int pipe)
{
    const int inside = inside_at(s, sum, rank, at, before);
    struct pp_op op = sum_op(s, sum, pipe);

    op.buckets = sum->is_tied ? 0 : (uint8_t)pp_lower_buckets(s->options, sum->stage);
    do {
        const int place = op.bucket + 1 < op.buckets ? inside : at;
        pp_inserts_add(s->arena, &s->posts[rank], place, op);
        if (op.kind == PP_RS && pp_state_has_rest(&s->options->state))
            pp_inserts_add(s->arena, &s->posts[rank], place, rest_of(op));
    } while (++op.bucket < op.buckets);
}

static void post_sums(struct sync *s)
{
    const int ranks = s->head->ranks;
    struct members members = {.ranks = PP_ARRAY(s->arena, int, ranks),
                              .at = PP_ARRAY(s->arena, int, ranks),
                              .pipe = PP_ARRAY(s->arena, int, ranks),
                              .owner = PP_ARRAY(s->arena, int, ranks)};

    for (int i = 0; i < s->sum_count; i++) {
        members.count = 0;
        for (int pipe = 0; pipe < s->head->pipelines; pipe++) {
            add_member(s, &members, i, pipe, s->sums[i].stage);
            if (s->sums[i].is_tied)
                add_member(s, &members, i, pipe, s->head->stages - 1);
        }
        for (int k = 0; k < members.count; k++) {
            const int rank = members.ranks[k];
            const struct pp_inserts *posts = &s->posts[rank];
            const int before = posts->count ? posts->data[posts->count - 1].before : 0;

            post_sum(s, &s->sums[i], rank, members.at[rank] > before ? members.at[rank] : before,
                     before, members.pipe[rank]);
        }
    }
}

static int add_gather(struct pp_arena *arena, struct pp_inserts *posts, int post, int tail)
{
    struct pp_op gather = posts->data[post].op;

    if (gather.kind != PP_RS)
        return 0;
    gather.kind = PP_AG;
    pp_inserts_add(arena, posts, tail, gather);
    return 1;
}

/* Finds the last post of a rank that the update of a stage waits for: a bucket or the tied sum. */
static void find_latest(struct sync *s, const struct pp_inserts *posts)
{
    for (int i = 0; i < posts->count; i++) {
        s->latest[posts->data[i].op.stage] = i;
        if (posts->data[i].op.aux == PP_TIED)
            s->latest[posts->data[i].op.peer] = i;
    }
}

/* Adds WAITs for all posts of a rank. The gathers of updated weights are after the last WAIT for
 * the sums that this update needs. */
static void add_waits(struct sync *s, struct pp_inserts *posts, int tail)
{
    const int count = posts->count;
    int gathers = 0;

    find_latest(s, posts);
    for (int i = 0; i < count; i++) {
        const struct pp_op op = posts->data[i].op;
        pp_inserts_add(s->arena, posts, tail, pp_op_wait(op));
        if (op.aux != PP_TIED && s->latest[op.stage] != i)
            continue;
        for (int k = 0; k <= i; k++)
            if (s->latest[posts->data[k].op.stage] == i)
                gathers += add_gather(s->arena, posts, k, tail);
    }
    for (int i = 0; i < count && gathers > 0; i++) {
        struct pp_op gather = posts->data[i].op;

        if (gather.kind != PP_RS)
            continue;
        gather.kind = PP_AG;
        pp_inserts_add(s->arena, posts, tail, pp_op_wait(gather));
    }
}

/* ---- sums of the program itself -------------------------------------------------------------- */

/* none; the sum of a tied embedding alone, which tells nothing of other weights; sums of stages */
enum own_sums { OWN_NONE, OWN_TIED, OWN_STAGES };

static bool is_sum(const struct pp_op *op)
{
    return (op->kind == PP_AR || op->kind == PP_RS) && op->purpose == PP_FOR_STEP;
}

static bool is_sum_of_stage(const struct pp_op *op)
{
    return is_sum(op) && !pp_op_is_tied(op);
}

static enum own_sums own_sums_of(const struct pp_orders *lists)
{
    if (!pp_lists_any(lists, is_sum))
        return OWN_NONE;
    return pp_lists_any(lists, is_sum_of_stage) ? OWN_STAGES : OWN_TIED;
}

/* Adds WAITs for the sums of ranks that wait for none: PyTorch's REDUCE_GRAD has no WAIT. */
static void wait_for_own_sums(const struct pp_lowering *l)
{
    struct pp_orders *lists = l->lists;

    for (int rank = 0; rank < lists->ranks; rank++) {
        const struct pp_op *ops = lists->ops[rank];
        const int tail = pp_lists_tail(lists, rank);
        struct pp_inserts waits = {0};
        bool has_wait = false;

        for (int i = 0; i < lists->count[rank]; i++) {
            has_wait |= ops[i].kind == PP_WAIT && pp_op_is_collective(ops[i].aux);
            if (is_sum(&ops[i]))
                pp_inserts_add(l->arena, &waits, tail, pp_op_wait(ops[i]));
        }
        if (has_wait)
            continue;
        for (int i = 0; i < waits.count; i++) {
            struct pp_op *wait = &waits.data[i].op;
            const bool is_tied = pp_op_is_tied(wait);

            wait->last_stage = is_tied ? (uint16_t)(l->head->stages - 1) : 0;
            wait->arg = -1;
        }
        pp_inserts_apply(l->arena, lists, rank, &waits);
    }
}

/* ---- the pass -------------------------------------------------------------------------------- */

static bool is_update(const struct pp_op *op)
{
    return op->kind == PP_U;
}

/* Is true for a move that depends on sums of gradients, or on the update. */
static bool is_move_of_update(const struct pp_op *op)
{
    const struct pp_purpose_row *row = &pp_purposes[op->purpose];

    return op->kind == PP_MOVE && (row->what == PP_STATE_GRADS || row->when != PP_WITH_USE);
}

enum pp_status pp_lower_sync(const struct pp_lowering *l)
{
    const struct pp_lower_options *options = l->options;
    const enum own_sums own = own_sums_of(l->lists);
    struct sync s = {.arena = l->arena,
                     .head = l->head,
                     .options = options,
                     .lists = l->lists,
                     .has_tied = options->has_tied || own == OWN_TIED};

    if (own == OWN_STAGES || (own == OWN_TIED && !options->has_sync)) {
        wait_for_own_sums(l);
        return PP_OK;
    }
    if (l->head->mode == PP_MODE_INFER || !(options->has_sync || options->has_tied))
        return PP_OK;
    /* updates with moves of their own stay where they are: pp_lower_tied() adds the sum */
    if (own == OWN_NONE && !options->has_sync && pp_lists_any(l->lists, is_move_of_update))
        return PP_OK;
    if (own == OWN_TIED) /* all sums are placed in the common order */
        pp_lists_drop(l->lists, pp_op_is_tied);
    /* the optimizer pass adds updates again, after the sums */
    if (options->has_optimizer && pp_lists_have(l->lists, PP_U))
        pp_lists_drop(l->lists, is_update);
    find_last(&s);
    PP_TRY(order_sums(&s, l->err));
    s.posts = PP_ARRAY(l->arena, struct pp_inserts, l->head->ranks);
    s.latest = PP_ARRAY(l->arena, int, l->head->stages);
    post_sums(&s);
    for (int rank = 0; rank < l->head->ranks; rank++) {
        add_waits(&s, &s.posts[rank], pp_lists_tail(l->lists, rank));
        pp_inserts_apply(l->arena, l->lists, rank, &s.posts[rank]);
    }
    return PP_OK;
}
