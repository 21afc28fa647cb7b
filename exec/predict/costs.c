/* Costs of a program before anything is measured: the network of the virtual clock, and memory of
 * the stages. */
#include "core/units.h"
#include "exec/predict/costs_parts.h"

#include <assert.h>
#include <math.h>

/* Returns the class of a factor; adds it if it is new. */
static int class_of(const struct pp_cost_builder *b, double factor)
{
    struct pp_costs *costs = b->costs;
    const double s_per_byte = 1 / (b->wires->bytes_per_s * factor);

    for (int k = 0; k < costs->links; k++)
        if (costs->s_per_byte[k] == s_per_byte)
            return k;
    costs->alpha_ps[costs->links] = pp_units_ps(b->wires->alpha_s);
    costs->s_per_byte[costs->links] = s_per_byte;
    return costs->links++;
}

static void add_wires(const struct pp_cost_builder *b)
{
    enum { MOST = 256 };
    struct pp_costs *costs = b->costs;
    const int pairs = b->p->ranks * b->p->ranks;
    const char **names = PP_ARRAY(b->arena, const char *, MOST);

    for (int k = 0; k < MOST; k++)
        names[k] = "wire";
    costs->link_names = names;
    costs->alpha_ps = PP_ARRAY(b->arena, int64_t, MOST);
    costs->s_per_byte = PP_ARRAY(b->arena, double, MOST);
    class_of(b, 1);
    if (!b->wires->factors)
        return;
    unsigned char *link = PP_ARRAY(b->arena, unsigned char, pairs);
    for (int k = 0; k < pairs; k++) {
        link[k] = (unsigned char)class_of(b, b->wires->factors[k]);
        assert(costs->links < MOST);
    }
    costs->link = link;
}

static size_t output_bytes(const struct pp_cost_builder *b, int stage)
{
    return b->p->passes > 0 ? pp_output_pitch(b->p, b->stages, stage)
                            : b->stages[stage]->boundary_bytes;
}

/* W frees all saved tensors (weight_grad_frac 1), because I replaces them by those that W needs. */
static void add_memory(const struct pp_cost_builder *b)
{
    const double cells = (double)b->p->granules * b->p->splits;
    double other_bytes = 0;

    b->costs->memory = PP_ARRAY(b->arena, struct pp_stage_memory, b->p->stages);
    for (int s = 0; s < b->p->stages; s++) {
        const struct pp_stage *stage = b->stages[s];
        const struct pp_state_bytes state =
            pp_state_bytes(stage, b->kernels, b->is_exact, b->cuts[s]);

        b->costs->memory[s] = (struct pp_stage_memory){
            .params_bytes = (double)state.weights,
            .grads_bytes = (double)state.gradients,
            .optimizer_bytes = (double)state.optimizer,
            .saved_bytes = cells * (double)(stage->kept_bytes + stage->saved_bytes),
            .checkpoint_bytes = cells * (double)stage->kept_bytes,
            .weight_grad_frac = 1,
            .boundary_bytes = s + 1 < b->p->stages ? cells * (double)output_bytes(b, s) : 0};
        if (s >= pp_program_model_stages(b->p)) /* it has the weights of an earlier pass */
            b->costs->memory[s].params_bytes = 0;
        else if (b->p->passes > 0)
            b->costs->memory[s].kv_bytes = (double)pp_stage_cache_bytes(stage, b->batch->mbs);
        other_bytes = fmax(other_bytes, (double)(stage->scratch_bytes +
                                                 (b->is_exact ? stage->grad_scratch_bytes : 0)));
    }
    b->costs->other_bytes = other_bytes;
}

/* Calls of an op on a micro-batch: of each granule, but in later passes of generation of all. */
static int calls_of(const struct pp_cost_builder *b, int stage)
{
    return stage < pp_program_model_stages(b->p) ? b->p->granules : 1;
}

/* Time of the exchanges between devices that share blocks or experts, in an op of a micro-batch. */
static void add_exchanges(const struct pp_cost_builder *b)
{
    static const struct {
        int kind;
        enum pp_stage_call_kind call;
    } calls[] = {{PP_F, PP_CALL_FORWARD},
                 {PP_R, PP_CALL_RECOMPUTE},
                 {PP_I, PP_CALL_INPUT_GRAD},
                 {PP_W, PP_CALL_WEIGHT_GRAD},
                 {PP_B, PP_CALL_BACKWARD}};

    for (int k = 0; k < (int)PP_COUNT(calls) * b->p->stages * b->p->splits; k++) {
        const int at = k % (b->p->stages * b->p->splits), call = k / (b->p->stages * b->p->splits);
        const struct pp_stage *stage = b->stages[at / b->p->splits];
        struct pp_cost *cost = &b->costs->op[calls[call].kind][at];
        int64_t *const ps[PP_AMONG] = {[PP_AMONG_TP] = &cost->tp_ps, [PP_AMONG_EP] = &cost->ep_ps};

        for (int among = 0; among < PP_AMONG && (stage->shape.tp > 1 || stage->shape.ep > 1);
             among++)
            *ps[among] = calls_of(b, at / b->p->splits) *
                         pp_stage_exchanges_ps(b->arena, stage, calls[call].call,
                                               (enum pp_exchange_among)among, b->kernels, b->costs);
    }
}

struct pp_costs *pp_exec_costs(struct pp_arena *arena, const struct pp_program *program,
                               const struct pp_stage *const *stages, const struct pp_batch *batch,
                               const struct pp_kernels *kernels, const struct pp_exec_wires *wires,
                               bool is_exact)
{
    static const int compute[] = {PP_F, PP_B, PP_I, PP_W, PP_R, PP_U};
    struct pp_costs *costs = PP_NEW(arena, struct pp_costs);
    const struct pp_cost_builder b = {.arena = arena,
                                      .p = program,
                                      .stages = stages,
                                      .batch = batch,
                                      .kernels = kernels,
                                      .wires = wires,
                                      .cuts = pp_memory_cuts(arena, program, stages, batch),
                                      .is_exact = is_exact,
                                      .costs = costs};

    *costs = (struct pp_costs){.stages = program->stages,
                               .splits = program->splits,
                               .granules = program->granules,
                               .ranks = program->ranks,
                               .origin = "measured",
                               .source = "the wires of this run; nothing is measured yet"};
    for (size_t k = 0; k < PP_COUNT(compute); k++)
        costs->op[compute[k]] = PP_ARRAY(arena, struct pp_cost, program->stages * program->splits);
    add_wires(&b);
    pp_cost_add_sums(&b);
    add_exchanges(&b);
    add_memory(&b);
    pp_cost_add_copies(&b);
    pp_cost_add_updates(&b);
    return costs;
}
