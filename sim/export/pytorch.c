/* Writes a program as the CSV file of a PyTorch pipeline schedule. */
#include "sim/export/export.h"

#include "core/map64.h"
#include "schedules/build/build.h"

/* Format: torch/distributed/pipelining/schedules.py, "compute_only" and "compute_comms". */

#define BIT(kind) (UINT64_C(1) << PP_##kind)
#define COMPUTE   (BIT(F) | BIT(B) | BIT(I) | BIT(W))
#define MESSAGES  (BIT(SEND_F) | BIT(RECV_F) | BIT(SEND_B) | BIT(RECV_B))

/* Copy of a list, with waits. */
struct waiter {
    struct pp_arena *arena;
    struct pp_orders *orders;
    int rank;
    struct pp_map64 open; /* forward sends without a wait: position in `orders` */
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

static void copy_list(struct waiter *w, const struct pp_op *ops, int count, uint64_t kinds)
{
    for (int k = 0; k < count; k++) {
        struct pp_op op = ops[k];
        op.slot = op.arg = -1;
        if (!(kinds >> op.kind & 1u))
            continue;
        if (op.kind == PP_SEND_F)
            *pp_map64_at(&w->open, key_of(&op), -1) = w->orders->count[w->rank];
        pp_orders_add(w->arena, w->orders, w->rank, op);
        wait_after(w, &op);
    }
    for (int k = 0, sent = w->orders->count[w->rank]; k < sent; k++) {
        const struct pp_op *op = &w->orders->ops[w->rank][k];
        const int32_t *at = op->kind == PP_SEND_F ? pp_map64_find(&w->open, key_of(op)) : NULL;
        if (op->kind == PP_SEND_B || (at && *at == k))
            wait_for(w, *op);
    }
}

/* Copies the program with ops of `kinds` alone; COMPUTE: the schedule's own order. Sends get waits
 * as by PyTorch's own pass: a forward's after its backward, others at the end. */
static enum pp_status copy(struct pp_arena *arena, const struct pp_program *lowered, uint64_t kinds,
                           struct pp_program **program, struct pp_error *err)
{
    struct pp_program_head head = pp_program_head_of(lowered);
    struct pp_orders *all = pp_program_thaw(arena, lowered),
                     *kept = pp_orders_create(arena, lowered->ranks);

    for (int r = 0; r < lowered->ranks; r++) {
        struct waiter w = {arena, kept, r, pp_map64_create(arena, all->count[r])};
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
    static const uint64_t KINDS[] = {COMPUTE, COMPUTE | MESSAGES, COMPUTE | MESSAGES | BIT(WAIT)};
    struct pp_build build = {.wishes = {.post = PP_POST_SENDER}};
    struct pp_program *printed;

    *warning = foreign(program);
    PP_TRY(copy(arena, program, COMPUTE, &printed, err));
    build.given = printed;
    if (list != PP_PYTORCH_COMPUTE)
        PP_TRY(pp_build(arena, &build, &printed, err));
    if (list == PP_PYTORCH_WAITS)
        PP_TRY(copy(arena, printed, COMPUTE | MESSAGES, &printed, err));
    pp_program_print_kinds(printed, KINDS[list], out);
    return PP_OK;
}
