/* schedules/generate.c — generation: the loops through the stages are tokens.
 *
 * Stage v = t S + s is stage s of the model in pass t. A micro-batch is a group of sequences. Pass
 * 0 reads their prompts, piece by piece; granules are these pieces. Pass t makes token t of a whole
 * group, because an op reads all weights, whatever the number of its sequences. */
#include "schedules/order/closed_form.h"

#include <math.h>

/* Adds F of stage v on groups or pieces: all, ascending. */
static void add_pass(struct pp_arena *arena, const struct pp_shape *shape, struct pp_orders *out,
                     int rank, int pass)
{
    const int step = pass == 0 ? 1 : shape->granules;
    struct pp_op op = pp_stage_op(PP_F, pass * shape->ranks + rank, 0);

    op.granules = (uint8_t)step;
    for (op.mb = 0; op.mb < shape->micro_batches * shape->granules; op.mb += step)
        pp_orders_add(arena, out, rank, op);
}

static enum pp_status generate(struct pp_arena *arena, const struct pp_shape *shape,
                               const struct pp_costs *costs, struct pp_orders *out,
                               struct pp_error *err)
{
    const int groups = shape->micro_batches;

    (void)costs, (void)err;
    for (int rank = 0; rank < shape->ranks; rank++) {
        pp_orders_reserve(arena, out, rank, groups * (shape->chunks - 1 + shape->granules));
        for (int pass = 0; pass < shape->chunks; pass++)
            add_pass(arena, shape, out, rank, pass);
    }
    return PP_OK;
}

/* Pass 0 of group m ends on the last stage at (m + 1) f0 + (D-1) f0/q. A later pass takes max(N, D)
 * f, and the first of them leaves a rank idle until the pieces have passed. */
static double bubble(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    const double ranks = shape->ranks, groups = shape->micro_batches, f = unit->f,
                 prompt = unit->has_p ? unit->p : f, piece = prompt / shape->granules,
                 later = shape->chunks - 1;
    const bool is_unit = prompt == f && shape->granules == 1;
    const double work = groups * (prompt + later * f);

    (void)rank;
    if (unit->c > 0 || (later > 0 && !is_unit && (groups < ranks || prompt < f)))
        return (double)NAN;
    const double span = is_unit ? f * (groups + ranks - 1 + later * PP_MAX(groups, ranks))
                                : groups * prompt +
                                      (ranks - 1) * (later > 0 ? PP_MAX(piece, f) : piece) +
                                      later * groups * f;
    return 1 - work / span;
}

const struct pp_schedule pp_schedule_generate = {
    .name = "generate",
    .summary = "prompts, then one token of every group after another; forwards only",
    .rule = "pass 0: the prompts of all groups, piece by piece; pass t: token t of all groups, "
            "ascending; the last stage sends tokens to the first",
    .when = "--mode infer: as many groups as ranks keep all of them busy",
    .source =
        "Aminabadi et al., DeepSpeed Inference, SC'22, section 4 (hybrid scheduling: a prompt "
        "in pieces)",
    .aliases = PP_NAMES("decode", "infer"),
    .placement = PP_PLACE_LOOP,
    .sizes = PP_SIZE_CHUNKS | PP_SIZE_GRANULES,
    .is_forward_only = true,
    .limits = "none",
    .generate = generate,
    .bubble_frac = {"1 - N(f0+(T-1)f)/x, x = N f0 + (D-1)max(f0/q,f) + (T-1)N f for N >= D; unit "
                    "costs: x = N+D-1 + (T-1)max(N,D)",
                    true, bubble},
};
