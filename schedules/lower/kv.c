/* Keys and values of a generating program live on another tier.
 *
 *   before a later pass   COPY.kv-up and its WAIT. It is posted before the previous forward of the
 *                         rank (one ahead), once the forwards have run whose keys it brings
 *   after a pass          COPY.kv-down. Its WAIT is after the next forward: one is on its way down
 *                         while compute runs
 *
 * With one buffer nothing is ahead, and the WAIT follows COPY.kv-down. A COPY.kv-up begins when
 * earlier copies down have ended (pp_move_after()). Reads F; runs before messages are added. */
#include "schedules/lower/lists.h"
#include "schedules/lower/lower.h"

struct kv {
    const struct pp_lowering *l;
    struct pp_moment *moments;
    int moment_count;
    int model_stages, granules;
    int32_t *passes; /* [model stage][granule]: passes that have run */
    bool is_ahead;
    struct pp_inserts inserts;
};

static int32_t *passes_of(const struct kv *kv, const struct pp_op *op)
{
    return &kv->passes[op->stage % kv->model_stages * kv->granules + op->mb];
}

/* Is true for a forward that reads what earlier passes have made. */
static bool reads(const struct kv *kv, const struct pp_op *op)
{
    return op->stage >= kv->model_stages;
}

/* Is true if all keys that a forward reads have been made. */
static bool has_keys(const struct kv *kv, const struct pp_op *op)
{
    const int32_t *passes = passes_of(kv, op);

    for (int g = 0; g < op->granules; g++)
        if (passes[g] < op->stage / kv->model_stages)
            return false;
    return true;
}

static void note(struct kv *kv, const struct pp_op *op)
{
    int32_t *passes = passes_of(kv, op);

    for (int g = 0; g < op->granules; g++)
        passes[g] = op->stage / kv->model_stages + 1;
}

static void add(struct kv *kv, int before, struct pp_op op)
{
    pp_inserts_add(kv->l->arena, &kv->inserts, before, op);
}

static const struct pp_op *forward(const struct kv *kv, int k)
{
    return kv->moments[k].op[0];
}

/* Writes the copies up at moment k; `is_up`: its own is posted. Returns whether the next one's is.
 */
static bool write_before(struct kv *kv, int k, bool is_up)
{
    const struct pp_op *op = forward(kv, k),
                       *next = k + 1 < kv->moment_count ? forward(kv, k + 1) : NULL;
    const int before = kv->moments[k].at;

    if (reads(kv, op)) {
        if (!is_up)
            add(kv, before, pp_op_copy(*op, PP_FOR_KV_UP));
        add(kv, before, pp_op_wait(pp_op_copy(*op, PP_FOR_KV_UP)));
    }
    if (!kv->is_ahead || !next || !reads(kv, next) || !has_keys(kv, next))
        return false;
    add(kv, before, pp_op_copy(*next, PP_FOR_KV_UP));
    return true;
}

static void wait_down(struct kv *kv, int before, int k)
{
    add(kv, before, pp_op_wait(pp_op_copy(*forward(kv, k), PP_FOR_KV_DOWN)));
}

static void write_after(struct kv *kv, int k)
{
    const int end = kv->moments[k].end;

    if (kv->is_ahead && k > 0)
        wait_down(kv, end, k - 1);
    add(kv, end, pp_op_copy(*forward(kv, k), PP_FOR_KV_DOWN));
    if (!kv->is_ahead)
        wait_down(kv, end, k);
}

static void move_rank(struct kv *kv, int rank)
{
    bool is_up = false;

    kv->moment_count = pp_lists_moments(kv->l->lists, rank, kv->moments);
    for (int k = 0; k < kv->moment_count; k++) {
        is_up = write_before(kv, k, is_up);
        note(kv, forward(kv, k));
        write_after(kv, k);
    }
    if (kv->is_ahead && kv->moment_count > 0)
        wait_down(kv, kv->l->lists->count[rank], kv->moment_count - 1);
    pp_inserts_apply(kv->l->arena, kv->l->lists, rank, &kv->inserts);
}

enum pp_status pp_lower_kv(const struct pp_lowering *l)
{
    const struct pp_program_head *head = l->head;
    struct kv kv = {.l = l,
                    .model_stages = pp_head_model_stages(head),
                    .granules = head->micro_batches * head->granules,
                    .is_ahead = l->options->state.buffers > 1};

    if (head->passes == 0 || !pp_state_is_away(&l->options->state, PP_STATE_CACHE) ||
        pp_lists_have(l->lists, PP_COPY))
        return PP_OK;
    kv.moments = PP_ARRAY(l->arena, struct pp_moment, pp_lists_longest(l->lists) + 1);
    kv.passes = PP_ARRAY(l->arena, int32_t, (size_t)kv.model_stages * (size_t)kv.granules);
    for (int rank = 0; rank < head->ranks; rank++)
        move_rank(&kv, rank);
    return PP_OK;
}
