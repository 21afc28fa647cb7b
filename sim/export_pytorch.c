#include "sim/export.h"

#include "schedules/lower/lower.h"

/* Format: torch/distributed/pipelining/schedules.py, "compute_only" and "compute_comms". */

#define BIT(kind) (UINT64_C(1) << PP_##kind)
static const uint64_t COMPUTE = BIT(F) | BIT(B) | BIT(I) | BIT(W);
static const uint64_t MESSAGES = BIT(SEND_F) | BIT(RECV_F) | BIT(SEND_B) | BIT(RECV_B);

/* The order of the schedule, before anything was added. */
static enum pp_status strip(struct pp_arena *arena, const struct pp_program *lowered,
                            struct pp_program **program, struct pp_error *err)
{
    struct pp_program_head head = pp_program_head_of(lowered);
    struct pp_orders *all = pp_program_thaw(arena, lowered),
                     *kept = pp_orders_create(arena, lowered->ranks);

    for (int r = 0; r < lowered->ranks; r++)
        for (int k = 0; k < all->count[r]; k++) {
            struct pp_op op = all->ops[r][k];
            op.slot = op.arg = -1;
            if (COMPUTE >> op.kind & 1u)
                pp_orders_add(arena, kept, r, op);
        }
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
                                 bool has_messages, FILE *out, const char **warning,
                                 struct pp_error *err)
{
    const struct pp_lower_options options = {.post = PP_POST_SENDER};
    struct pp_program *compute, *lowered;

    *warning = foreign(program);
    PP_TRY(strip(arena, program, &compute, err));
    if (!has_messages) {
        pp_program_print_kinds(compute, COMPUTE, out);
        return PP_OK;
    }
    PP_TRY(pp_lower(arena, compute, &options, &lowered, err));
    pp_program_print_kinds(lowered, COMPUTE | MESSAGES, out);
    return PP_OK;
}
