/* Writes a program as the CSV file of a PyTorch pipeline schedule. */
#include "sim/export/export.h"

#include "core/map64.h"
#include "schedules/build/build.h"

/* Format: torch/distributed/pipelining/schedules.py of PyTorch 2.15, "compute_only" and
 * "compute_comms". PyTorch completes the first itself, and runs the second as it stands. So that
 * one says where gradients are scaled and summed (REDUCE_GRAD), and parameters gathered (UNSHARD).
 */

#define BIT(kind) (UINT64_C(1) << PP_##kind)
#define COMPUTE   (BIT(F) | BIT(B) | BIT(I) | BIT(W))
#define MESSAGES  (BIT(SEND_F) | BIT(RECV_F) | BIT(SEND_B) | BIT(RECV_B))
#define STATE     (BIT(AR) | BIT(AG) | BIT(DROP))
#define WEIGHTS   (BIT(B) | BIT(W))

enum { RESIDENT = 3 }; /* stages that PyTorch keeps unsharded, its max_active_stages */

/* Additions of a copy. GATHERS has sums, too. */
enum added { NOTHING, SUMS, GATHERS, WAITS };
/* Copy of a list, with what PyTorch's passes add. */
struct waiter {
    struct pp_arena *arena;
    struct pp_orders *orders;
    int rank;
    enum added added;
    struct pp_map64 open; /* forward sends without a wait: position in `orders` */
    struct pp_map64 last; /* stage: position of its last B or W */
    struct pp_op reduced; /* AR: a stage whose sum is to be added */
    int *resident;        /* stages whose parameters are unsharded, the oldest first */
    int resident_count;
};

static uint64_t key_of(const struct pp_op *op)
{
    return (uint64_t)op->stage << 32 | (uint32_t)op->mb;
}

static void wait_for(struct waiter *w, struct pp_op send)
{
    send = pp_op_wait(send);
    send.arg = send.slot = -1;
    pp_orders_add(w->arena, w->orders, w->rank, send);
}

/* Waits for a forward's send after its backward, which shows that the receiver has it. */
static void wait_after(struct waiter *w, const struct pp_op *op)
{
    int32_t *at = op->kind == PP_B || op->kind == PP_I ? pp_map64_find(&w->open, key_of(op)) : NULL;

    if (!at || *at < 0)
        return;
    wait_for(w, w->orders->ops[w->rank][*at]);
    *at = -1;
}

/* ---- state: _add_reduce_grad and _add_unshard_reshard of PyTorch 2.15 -------------------------
 */

static void add_state(struct waiter *w, int kind, int stage)
{
    pp_orders_add(
        w->arena, w->orders, w->rank,
        (struct pp_op){
            .kind = (uint8_t)kind, .stage = (uint16_t)stage, .mb = -1, .arg = -1, .slot = -1});
}

static void find_last(struct waiter *w, const struct pp_op *ops, int count)
{
    for (int k = 0; k < count; k++)
        if (WEIGHTS >> ops[k].kind & 1u)
            *pp_map64_at(&w->last, ops[k].stage, -1) = k;
}

/* Adds the sum of a stage whose last B or W has been copied, with what it sends, and a wait. */
static void reduce(struct waiter *w)
{
    if (w->reduced.kind != PP_AR)
        return;
    add_state(w, PP_AR, w->reduced.stage);
    wait_for(w, w->orders->ops[w->rank][w->orders->count[w->rank] - 1]);
    w->reduced.kind = PP_F;
}

/* Lists the stages of the next ops, RESIDENT or one more where a pair has two. Returns how many. */
static int next_stages(const struct pp_op *ops, int count, int k, int stages[RESIDENT + 1])
{
    int found = 0;

    for (; k < count; k++) {
        bool is_known = !(COMPUTE >> ops[k].kind & 1u);
        for (int s = 0; s < found; s++)
            is_known |= stages[s] == ops[k].stage;
        if (!is_known)
            stages[found++] = ops[k].stage;
        if (found >= RESIDENT && ops[k].aux != PP_FUSED_FIRST)
            return found;
    }
    return found;
}

static bool is_in(const int *stages, int count, int stage)
{
    while (count > 0 && stages[count - 1] != stage)
        count--;
    return count > 0;
}

/* Makes the stages of the next ops resident, and those alone. */
static void unshard(struct waiter *w, const struct pp_op *ops, int count, int k)
{
    int stages[RESIDENT + 1], kept = 0;
    const int next = next_stages(ops, count, k, stages);

    for (int s = 0; s < w->resident_count; s++)
        if (is_in(stages, next, w->resident[s]))
            w->resident[kept++] = w->resident[s];
        else
            add_state(w, PP_DROP, w->resident[s]);
    w->resident_count = kept;
    for (int s = 0; s < next; s++)
        if (!is_in(w->resident, w->resident_count, stages[s])) {
            add_state(w, PP_AG, stages[s]);
            w->resident[w->resident_count++] = stages[s];
        }
}

static void add_before(struct waiter *w, const struct pp_op *ops, int count, int k)
{
    if (!(COMPUTE >> ops[k].kind & 1u) || ops[k].aux == PP_FUSED_SECOND)
        return;
    reduce(w);
    if (w->added == GATHERS)
        unshard(w, ops, count, k);
}

static void add_after(struct waiter *w, const struct pp_op *op, int k)
{
    const int32_t *last = WEIGHTS >> op->kind & 1u ? pp_map64_find(&w->last, op->stage) : NULL;

    if (last && *last == k)
        w->reduced = (struct pp_op){.kind = PP_AR, .stage = op->stage};
}

static void add_end(struct waiter *w)
{
    reduce(w);
    for (int s = 0; s < w->resident_count; s++)
        add_state(w, PP_DROP, w->resident[s]);
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* Waits for all sends without a wait, at the end. */
static void wait_for_rest(struct waiter *w)
{
    for (int k = 0, sent = w->orders->count[w->rank]; k < sent; k++) {
        const struct pp_op *op = &w->orders->ops[w->rank][k];
        const int32_t *at = op->kind == PP_SEND_F ? pp_map64_find(&w->open, key_of(op)) : NULL;
        if (op->kind == PP_SEND_B || (at && *at == k))
            wait_for(w, *op);
    }
}

static void copy_list(struct waiter *w, const struct pp_op *ops, int count, uint64_t kinds)
{
    const bool has_state = w->added == SUMS || w->added == GATHERS;

    if (has_state)
        find_last(w, ops, count);
    for (int k = 0; k < count; k++) {
        struct pp_op op = ops[k];
        if (!(kinds >> op.kind & 1u) || (op.kind == PP_WAIT && op.aux != PP_AR))
            continue;
        if (has_state)
            add_before(w, ops, count, k);
        op.slot = op.arg = -1;
        if (op.kind == PP_SEND_F)
            *pp_map64_at(&w->open, key_of(&op), -1) = w->orders->count[w->rank];
        pp_orders_add(w->arena, w->orders, w->rank, op);
        if (w->added == WAITS)
            wait_after(w, &op);
        add_after(w, &op, k);
    }
    add_end(w);
    if (w->added == WAITS)
        wait_for_rest(w);
}

/* Copies the program with ops of `kinds` alone. */
static enum pp_status copy(struct pp_arena *arena, const struct pp_program *from, uint64_t kinds,
                           enum added added, struct pp_program **program, struct pp_error *err)
{
    struct pp_program_head head = pp_program_head_of(from);
    struct pp_orders *all = pp_program_thaw(arena, from),
                     *kept = pp_orders_create(arena, from->ranks);

    for (int r = 0; r < from->ranks; r++) {
        struct waiter w = {.arena = arena,
                           .orders = kept,
                           .rank = r,
                           .added = added,
                           .open = pp_map64_create(arena, all->count[r]),
                           .last = pp_map64_create(arena, all->count[r]),
                           .resident = PP_ARRAY(arena, int, from->stages + RESIDENT + 1)};
        copy_list(&w, all->ops[r], all->count[r], kinds);
    }
    if (kinds == COMPUTE)
        head.level = PP_LEVEL_COMPUTE;
    head.state = (struct pp_program_state){0};
    head.line = head.column = NULL;
    return pp_program_freeze(arena, &head, kept, program, err);
}

static const char *foreign(const struct pp_program *p)
{
    if (p->pipelines > 1)
        return "PyTorch maps a stage to one rank and cannot load bidirectional programs";
    if (p->splits > 1)
        return "PyTorch does not split sequences and cannot load their parts (0F3s1)";
    if (p->versions > 1)
        return "PyTorch keeps one version of the weights: it would run this order with another "
               "training";
    return NULL;
}

enum pp_status pp_export_pytorch(struct pp_arena *arena, const struct pp_program *program,
                                 enum pp_pytorch_list list, FILE *out, const char **warning,
                                 struct pp_error *err)
{
    static const uint64_t KINDS[] = {COMPUTE, COMPUTE | MESSAGES,
                                     COMPUTE | MESSAGES | STATE | BIT(WAIT)};
    const bool is_sharded = pp_state_cut(&program->state.spec, PP_STATE_PARAMS) > 1;
    const enum added added = list != PP_PYTORCH_WAITS ? NOTHING : is_sharded ? GATHERS : SUMS;
    struct pp_build build = {.wishes = {.post = PP_POST_SENDER}};
    struct pp_program *printed;

    *warning = foreign(program);
    PP_TRY(copy(arena, program, COMPUTE, added, &printed, err));
    build.given = printed;
    if (list != PP_PYTORCH_COMPUTE)
        PP_TRY(pp_build(arena, &build, &printed, err));
    if (list == PP_PYTORCH_WAITS)
        PP_TRY(copy(arena, printed, KINDS[list], WAITS, &printed, err));
    pp_program_print_kinds(printed, KINDS[list], out);
    return PP_OK;
}
