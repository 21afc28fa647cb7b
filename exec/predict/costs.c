/* Costs of a program before anything is measured: the network of the virtual clock, and memory of
 * the stages. A collective is a ring over the members of its group in all replicas. */
#include "core/units.h"
#include "exec/predict/costs_of_updates.h"

#include <assert.h>
#include <math.h>

struct builder {
    struct pp_arena *arena;
    const struct pp_program *p;
    const struct pp_stage *const *stages;
    const struct pp_batch *batch;
    const struct pp_kernels *kernels;
    const struct pp_exec_wires *wires;
    const struct pp_cuts *cuts; /* [stage] */
    bool is_exact;
    struct pp_costs *costs;
};

static double gradient_bytes(const struct builder *b, int64_t elements)
{
    return (double)elements * (double)(b->is_exact ? sizeof(int64_t) : b->kernels->gradient_bytes);
}

static const struct pp_group *group_of(const struct pp_program *p, bool is_tied, int stage)
{
    for (int c = 0; c < p->collective_count; c++)
        if (p->collectives[c].tied == is_tied && p->collectives[c].pipe < 0 &&
            (is_tied || p->collectives[c].stage == stage))
            return &p->groups[p->collectives[c].group];
    return NULL;
}

/* Returns the bandwidth of a ring's slowest wire, which limits all members. Wires lead from rank to
 * rank of the group, and from its last rank to the first of the next replica. */
static double ring_bytes_per_s(const struct builder *b, const struct pp_group *group)
{
    double slowest = (double)INFINITY;

    for (int k = 0; b->wires->factors && group && k < group->count; k++) {
        const uint16_t *members = &b->p->members[group->first];
        const int source = members[k], to = members[(k + 1) % group->count];
        slowest = fmin(slowest, b->wires->factors[source * b->p->ranks + to]);
    }
    return b->wires->bytes_per_s * (isfinite(slowest) ? slowest : 1);
}

/* Returns the cost of a ring: n - 1 steps of bytes / n a turn; a sum has two turns (Patarasuk and
 * Yuan 2009). */
static struct pp_cost ring_of(const struct builder *b, int kind, const struct pp_group *group,
                              int members, double bytes)
{
    const int steps = pp_ring_turns(kind) * (members - 1);
    const int64_t alpha_ps = pp_units_ps(b->wires->alpha_s);
    const int64_t share_ps = pp_units_ps(bytes / members / ring_bytes_per_s(b, group));

    return (struct pp_cost){
        .ps = steps * (alpha_ps + share_ps), .latency_ps = steps * alpha_ps, .bytes = bytes};
}

static int members_of(const struct builder *b, const struct pp_group *group)
{
    return group ? group->count * b->batch->replicas : 1;
}

/* If groups of sharers hold the state of a stage, its scatters and gathers are within a group.
 * Sums are between them, of a share. If the optimizer state is cut more finely than parameters,
 * those of visits are among the copies that gather together. Those of an update are among the
 * copies of a part of the parameters. */
static struct pp_cost ring(const struct builder *b, int kind, int purpose, int stage, double bytes)
{
    const struct pp_group *group = group_of(b->p, false, stage);
    const struct pp_cuts cuts = b->cuts[stage];
    const int all = members_of(b, group), sharers = cuts.optimizer, parts = cuts.params;

    if (parts > 1 && parts < sharers && kind != PP_AR)
        return purpose == PP_FOR_STEP ? ring_of(b, kind, group, sharers / parts, bytes / parts)
                                      : ring_of(b, kind, group, parts, bytes);
    if (sharers == 1 || sharers == all)
        return ring_of(b, kind, group, all, bytes);
    return kind == PP_AR ? ring_of(b, kind, group, all / sharers, bytes / sharers)
                         : ring_of(b, kind, group, sharers, bytes);
}

/* Collectives with a purpose of their own have all elements of a stage. */
static void add_purposes(const struct builder *b)
{
    for (int purpose = PP_FOR_STEP + 1; purpose < PP_PURPOSES; purpose++) {
        const int kind = pp_purposes[purpose].kind;

        if (!pp_op_is_collective(kind))
            continue;
        b->costs->purpose[purpose] = PP_ARRAY(b->arena, struct pp_cost, b->p->stages);
        for (int s = 0; s < b->p->stages; s++) {
            const int64_t elements = b->stages[s]->elements;
            const double bytes = kind == PP_AG
                                     ? (double)elements * (double)b->kernels->element_bytes
                                     : gradient_bytes(b, elements);
            b->costs->purpose[purpose][s] = ring(b, kind, purpose, s, bytes);
        }
    }
}

static void add_sums(const struct builder *b)
{
    static const int collectives[] = {PP_AR, PP_RS, PP_AG};
    struct pp_costs *costs = b->costs;
    const struct pp_group *tied = group_of(b->p, true, 0);

    for (size_t k = 0; k < PP_COUNT(collectives); k++)
        costs->op[collectives[k]] = PP_ARRAY(b->arena, struct pp_cost, b->p->stages);
    costs->ring_alpha_ps = PP_ARRAY(b->arena, int64_t, b->p->stages);
    costs->sync_ranks = b->batch->replicas * b->p->pipelines;
    for (int s = 0; s < b->p->stages; s++) {
        const struct pp_param *shared = tied ? pp_stage_tied(b->stages[s]) : NULL;
        const double bytes =
            gradient_bytes(b, b->stages[s]->elements - (shared ? shared->count : 0));
        const int all = members_of(b, group_of(b->p, false, s)), sharers = b->cuts[s].optimizer,
                  summed = sharers < all ? all / sharers : all;

        costs->op[PP_AR][s] = ring(b, PP_AR, PP_FOR_STEP, s, bytes);
        costs->op[PP_RS][s] = ring(b, PP_RS, PP_FOR_STEP, s, bytes);
        costs->op[PP_AG][s] =
            ring(b, PP_AG, PP_FOR_STEP, s,
                 (double)b->stages[s]->elements * (double)b->kernels->element_bytes);
        if (costs->op[PP_AR][s].ps > 0)
            costs->ring_alpha_ps[s] = costs->op[PP_AR][s].ps / (2 * (int64_t)(summed - 1));
    }
    const struct pp_param *shared = pp_stage_tied(b->stages[0]);
    if (!tied || !shared)
        return;
    costs->tied = PP_NEW(b->arena, struct pp_cost);
    *costs->tied = ring_of(b, PP_AR, tied, members_of(b, tied), gradient_bytes(b, shared->count));
}

/* Returns the class of a factor; adds it if it is new. */
static int class_of(const struct builder *b, double factor)
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

static void add_wires(const struct builder *b)
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

/* W frees all saved tensors (weight_grad_frac 1), because I replaces them by those that W needs. */
static void add_memory(const struct builder *b)
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
            .boundary_bytes = s + 1 < b->p->stages ? cells * (double)stage->boundary_bytes : 0};
        other_bytes = fmax(other_bytes, (double)(stage->scratch_bytes +
                                                 (b->is_exact ? stage->grad_scratch_bytes : 0)));
    }
    b->costs->other_bytes = other_bytes;
}

/* Time of the exchanges between devices that share blocks or experts, in an op of a micro-batch. */
static void add_exchanges(const struct builder *b)
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
            *ps[among] = b->p->granules * pp_stage_exchanges_ps(b->arena, stage, calls[call].call,
                                                                (enum pp_exchange_among)among,
                                                                b->kernels, b->costs);
    }
}

static struct pp_cost copy_of(const struct builder *b, enum pp_tier tier, double bytes)
{
    return pp_exec_copy_cost(b->wires, tier, bytes);
}

/* Gradients of a visit, and the sum so far, are those of the whole chunk. */
static void add_parts(const struct builder *b)
{
    static const int purposes[] = {PP_FOR_GRAD_DOWN, PP_FOR_GRAD_UP};

    for (size_t k = 0; k < PP_COUNT(purposes); k++) {
        struct pp_cost *costs = PP_ARRAY(b->arena, struct pp_cost, b->p->stages);
        for (int s = 0; s < b->p->stages; s++)
            costs[s] = copy_of(b, b->p->state.spec.home[PP_STATE_GRADS],
                               gradient_bytes(b, b->stages[s]->elements));
        b->costs->purpose[purposes[k]] = costs;
    }
}

/* Copies of saved activations have the bytes of the first one of their stage. */
static void add_copies(const struct builder *b)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_program *p = b->p;

    if (!pp_program_has_kind(p, PP_COPY))
        return;
    const struct pp_away *away = pp_away_find(scratch, p);
    b->costs->op[PP_COPY] = PP_ARRAY(b->arena, struct pp_cost, p->stages * p->splits);
    for (int i = 0; i < pp_program_size(p); i++) {
        struct pp_cost *cost = &b->costs->op[PP_COPY][p->stage[i] * p->splits + p->split[i]];
        if (p->kind[i] != PP_COPY || cost->bytes > 0)
            continue;
        const double granules = (double)p->granules / p->granule_count[i];
        *cost = copy_of(b, p->state.spec.home[PP_STATE_ACTIVATIONS],
                        granules * (double)pp_moved_by(p, b->stages, away, i).away);
    }
}

/* Elements of a stage's parameters that go home: what the host updates is there. */
static double leaving_elements(const struct builder *b, int stage)
{
    const int64_t all = b->stages[stage]->elements;

    return (double)(pp_state_is_updated_at_home(&b->p->state.spec)
                        ? all - pp_update_moved(&b->p->state.spec, all)
                        : all);
}

/* Parameters of a chunk, from their home or to it. */
static void add_loads(const struct builder *b)
{
    static const int purposes[] = {PP_FOR_LOAD, PP_FOR_RELOAD, PP_FOR_HOME};
    const enum pp_tier home = b->p->state.spec.home[PP_STATE_PARAMS];

    for (size_t k = 0; k < PP_COUNT(purposes) && home != PP_TIER_DEVICE; k++) {
        struct pp_cost *costs = PP_ARRAY(b->arena, struct pp_cost, b->p->stages);

        for (int s = 0; s < b->p->stages; s++)
            costs[s] = copy_of(b, home,
                               (purposes[k] == PP_FOR_HOME ? leaving_elements(b, s)
                                                           : (double)b->stages[s]->elements) *
                                   (double)b->kernels->element_bytes);
        b->costs->purpose[purposes[k]] = costs;
    }
}

struct pp_costs *pp_exec_costs(struct pp_arena *arena, const struct pp_program *program,
                               const struct pp_stage *const *stages, const struct pp_batch *batch,
                               const struct pp_kernels *kernels, const struct pp_exec_wires *wires,
                               bool is_exact)
{
    static const int compute[] = {PP_F, PP_B, PP_I, PP_W, PP_R, PP_U};
    struct pp_costs *costs = PP_NEW(arena, struct pp_costs);
    const struct builder b = {.arena = arena,
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
    add_sums(&b);
    add_exchanges(&b);
    add_purposes(&b);
    add_copies(&b);
    add_loads(&b);
    if (pp_state_is_away(&program->state.spec, PP_STATE_GRADS))
        add_parts(&b);
    add_memory(&b);
    pp_exec_update_costs(arena, program, stages, kernels, wires, b.cuts, is_exact, costs);
    return costs;
}
