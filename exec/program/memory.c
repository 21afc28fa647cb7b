/* The layout of a rank's memory: blocks with a place for each slot, state and buffer. */
#include "exec/program/parts.h"

/* Places the classes of a chunk's state, each in the block of its home. */
static void scatter_state(const struct pp_placing *l, int k, struct pp_state_bytes bytes,
                          struct pp_rank_layout *rank)
{
    const enum pp_tier *home = l->p->state.spec.home;
    const size_t of[] = {[PP_STATE_PARAMS] = bytes.weights, [PP_STATE_GRADS] = bytes.gradients};
    size_t *const on_device[] = {
        [PP_STATE_PARAMS] = &rank->params_bytes, [PP_STATE_GRADS] = &rank->grads_bytes};
    size_t from = 0;

    for (int c = 0; c < PP_STATE_OPTIMIZER; from += of[c], c++) {
        rank->home[k][c] = pp_layout_take_at(rank, home[c], (enum pp_state_class)c, of[c]);
        pp_layout_note(rank, k, from, of[c], rank->home[k][c]);
        *on_device[c] += home[c] == PP_TIER_DEVICE ? of[c] : 0;
    }
    pp_update_place(l, bytes, k, rank);
}

/* Places a chunk's state on the device, one class after the other. */
static void gather_state(int k, struct pp_state_bytes bytes, struct pp_rank_layout *rank)
{
    const size_t of[PP_STATE_SHARDED] = {[PP_STATE_PARAMS] = bytes.weights,
                                         [PP_STATE_GRADS] = bytes.gradients,
                                         [PP_STATE_OPTIMIZER] = bytes.optimizer};
    const size_t all = bytes.weights + bytes.gradients + bytes.optimizer;
    size_t at = pp_layout_take(rank, all);

    pp_layout_note(rank, k, 0, all, (struct pp_tier_place){PP_TIER_DEVICE, at});
    for (int c = 0; c < PP_STATE_SHARDED; at += of[c], c++)
        rank->home[k][c] = (struct pp_tier_place){PP_TIER_DEVICE, at};
    rank->params_bytes += bytes.weights;
    rank->grads_bytes += bytes.gradients;
    rank->optimizer_bytes += bytes.optimizer;
}

static void place_state(const struct pp_placing *l, int k, struct pp_rank_layout *rank)
{
    const struct pp_state_bytes bytes = pp_state_bytes(l->stages[k % l->p->stages], l->kernels,
                                                       l->is_exact, l->cuts[k % l->p->stages]);

    rank->state_offset[k] = rank->state_bytes;
    rank->state_bytes += pp_whole_lines(bytes.weights + bytes.gradients + bytes.optimizer);
    if (rank->is_scattered)
        scatter_state(l, k, bytes, rank);
    else
        gather_state(k, bytes, rank);
}

static void place_states(const struct pp_placing *l, int r, struct pp_rank_layout *rank)
{
    const struct pp_program *p = l->p;
    const int places = p->pipelines * pp_program_model_stages(p);

    rank->state_offset = PP_ARRAY(l->arena, size_t, places);
    rank->home = pp_arena_alloc(l->arena, sizeof(*rank->home) * (size_t)places);
    rank->pieces = PP_ARRAY(l->arena, struct pp_state_piece, places * PP_STATE_PIECES);
    rank->updates = PP_ARRAY(l->arena, struct pp_update_layout, places);
    for (int c = 0; c < PP_STATE_SHARDED; c++)
        rank->is_scattered |= p->state.spec.home[c] != PP_TIER_DEVICE;
    for (int k = 0; k < places; k++) {
        rank->state_offset[k] = SIZE_MAX;
        if (p->rank_of[k] == r)
            place_state(l, k, rank);
    }
    pp_update_place_bucket(l, rank);
}

/* Begins a buffer that a file fills, or that fills it, without a copy of the host's between. */
static void begin_page(const struct pp_placing *l, enum pp_state_class class,
                       struct pp_rank_layout *rank)
{
    enum { PAGE = 4096 };

    if (l->p->state.spec.home[class] == PP_TIER_NVME)
        rank->block_bytes = (rank->block_bytes + PAGE - 1) / PAGE * PAGE;
}

/* Counted as buffers. */
static void place_wholes(const struct pp_placing *l, int r, struct pp_rank_layout *rank)
{
    const size_t element_bytes[PP_WHOLES] = {
        [PP_WHOLE_PARAMS] = l->kernels->element_bytes,
        [PP_WHOLE_GRADS] = l->is_exact ? sizeof(int64_t) : l->kernels->gradient_bytes};

    for (int what = 0; what < PP_WHOLES; what++) {
        const int count = l->wholes->count[what][r];

        rank->whole_offset[what] = PP_ARRAY(l->arena, size_t, count + 1);
        for (int k = 0; k < count; k++) {
            const size_t bytes = (size_t)l->wholes->elements[what][r][k] * element_bytes[what];
            begin_page(l, what == PP_WHOLE_PARAMS ? PP_STATE_PARAMS : PP_STATE_GRADS, rank);
            rank->whole_offset[what][k] = pp_layout_take(rank, bytes);
            rank->buffers_bytes += bytes;
        }
    }
    rank->parts_bytes = rank->block_bytes;
}

/* Places the largest sum that the host has to read from a file, add to and write. */
static void place_sum(const struct pp_placing *l, int r, struct pp_rank_layout *rank)
{
    const struct pp_program *p = l->p;
    size_t most = 0;

    for (int i = p->begin[r]; i < p->begin[r + 1]; i++) {
        const struct pp_tier_place *home =
            l->wholes->is_added[i]
                ? &rank->home[p->pipe[i] * p->stages + p->stage[i]][PP_STATE_GRADS]
                : NULL;
        if (!home || home->tier != PP_TIER_NVME)
            continue;
        const size_t bytes =
            pp_state_bytes(l->stages[p->stage[i]], l->kernels, l->is_exact, l->cuts[p->stage[i]])
                .gradients;
        most = bytes > most ? bytes : most;
    }
    if (most > 0)
        rank->sum_offset = pp_layout_take_at(rank, PP_TIER_HOST, PP_STATE_GRADS, most).offset;
}

/* Places scratch of stages (or sums of squares) and of exact gradients, losses of tokens, and
 * tokens of experts. */
static void place_scratch(const struct pp_placing *l, int r, struct pp_rank_layout *rank)
{
    const struct pp_program *p = l->p;
    size_t tensor_bytes = 0;

    for (int k = 0; k < p->pipelines * p->stages; k++) {
        const struct pp_stage *stage = l->stages[k % p->stages];
        if (p->rank_of[k] != r)
            continue;
        if (stage->scratch_bytes > rank->scratch_bytes)
            rank->scratch_bytes = stage->scratch_bytes;
        if (stage->grad_scratch_bytes > tensor_bytes)
            tensor_bytes = stage->grad_scratch_bytes;
        const size_t squares_bytes =
            p->passes > 0 ? 0 : sizeof(double) * (size_t)pp_squares_blocks(stage);
        if (squares_bytes > rank->scratch_bytes)
            rank->scratch_bytes = squares_bytes;
    }
    rank->tensor_bytes = l->is_exact ? tensor_bytes : 0;
    rank->weights_bytes = p->weight_stream ? rank->tensor_bytes : 0;
    for (int i = p->begin[r]; i < p->begin[r + 1]; i++) {
        const struct pp_stage_shape *shape = &l->stages[p->stage[i]]->shape;
        if (p->kind[i] == PP_F && shape->has_head && p->passes == 0)
            rank->loss_bytes +=
                sizeof(double) * p->granule_count[i] * (size_t)shape->rows * (size_t)shape->tokens;
    }
    rank->scratch_offset = pp_layout_take(rank, rank->scratch_bytes);
    rank->tensor_offset = pp_layout_take(rank, rank->tensor_bytes);
    rank->weights_offset = pp_layout_take(rank, rank->weights_bytes);
    rank->expert_bytes =
        p->passes > 0 ? 0 : sizeof(double) * pp_net_expert_tokens(l->stages[0]->net);
    rank->loss_offset = pp_layout_take(rank, rank->loss_bytes + rank->expert_bytes);
    rank->other_bytes = rank->scratch_bytes + rank->tensor_bytes + rank->weights_bytes +
                        rank->loss_bytes + rank->expert_bytes;
}

struct pp_cuts *pp_memory_cuts(struct pp_arena *arena, const struct pp_program *p,
                               const struct pp_stage *const *stages, const struct pp_batch *batch)
{
    const struct pp_state_spec *spec = &p->state.spec;
    const bool is_gathered = pp_state_is_gathered(spec);
    const int sharers = batch->sharers > 0 ? batch->sharers : batch->replicas * p->pipelines,
              most = pp_state_cut(spec, PP_STATE_PARAMS),
              params = most < pp_state_cut(spec, PP_STATE_OPTIMIZER) ? most : sharers;
    struct pp_cuts *cuts = PP_ARRAY(arena, struct pp_cuts, p->stages);

    for (int stage = 0; stage < p->stages; stage++)
        cuts[stage] = pp_cuts_none();
    for (int c = 0; c < p->collective_count; c++)
        if (p->collectives[c].kind == PP_RS)
            cuts[p->collectives[c].stage] =
                (struct pp_cuts){.params = is_gathered ? params : 1,
                                 .grads = is_gathered                ? params
                                          : pp_state_has_parts(spec) ? sharers
                                                                     : 1,
                                 .optimizer = sharers};
    for (int stage = 0; stage < p->stages; stage++) {
        cuts[stage].ep = stages[stage]->shape.ep;
        cuts[stage].has_weights_alone = p->passes > 0;
        for (int part = 0; part < PP_STATE_PARTS; part++)
            cuts[stage].most_grads[part] =
                pp_most_grads(stages[stage], (enum pp_state_part)part, cuts[stage]);
    }
    return cuts;
}

struct pp_sharer pp_memory_sharer(struct pp_cuts cuts, enum pp_state_part part, int pipelines,
                                  int replica, int pipe)
{
    replica /= part == PP_OF_EXPERTS && cuts.ep > 1 ? cuts.ep : 1;
    cuts = pp_cuts_of(cuts, part);
    const int each = cuts.optimizer, runs = cuts.params, copy = replica * pipelines + pipe,
              place = cuts.grads > 1 ? replica % each : copy % each, run = place % runs,
              group = cuts.grads > 1 ? replica / each * pipelines + pipe : copy / each;

    return (struct pp_sharer){.index = run * (each / runs) + place / runs,
                              .group = group,
                              .visit = group * (each / runs) + place / runs,
                              .update = group * runs + run};
}

struct pp_rank_layout *pp_memory_layout(struct pp_arena *arena, const struct pp_program *program,
                                        const struct pp_stage *const *stages,
                                        const struct pp_kernels *kernels, bool is_exact,
                                        const struct pp_cuts *cuts, const struct pp_wholes *wholes,
                                        const struct pp_away *away)
{
    struct pp_rank_layout *ranks = PP_ARRAY(arena, struct pp_rank_layout, program->ranks);
    const struct pp_placing l = {.arena = arena,
                                 .p = program,
                                 .stages = stages,
                                 .kernels = kernels,
                                 .class_of = pp_slot_classes(arena, program),
                                 .cuts = cuts,
                                 .wholes = wholes,
                                 .away = away,
                                 .is_exact = is_exact};

    for (int r = 0; r < program->ranks; r++) {
        place_states(&l, r, &ranks[r]);
        place_wholes(&l, r, &ranks[r]);
        pp_layout_buckets(&l, r, &ranks[r]);
        pp_layout_slots(&l, r, &ranks[r]);
        pp_layout_away(&l, r, &ranks[r]);
        pp_layout_edges(&l, r, &ranks[r]);
        place_sum(&l, r, &ranks[r]);
        place_scratch(&l, r, &ranks[r]);
        pp_layout_generation(&l, r, &ranks[r]);
        ranks[r].peak_bytes = ranks[r].params_bytes + ranks[r].grads_bytes +
                              ranks[r].optimizer_bytes + ranks[r].activations_bytes +
                              ranks[r].buffers_bytes + ranks[r].other_bytes +
                              ranks[r].generating.cache_bytes;
    }
    return ranks;
}

size_t pp_memory_host_bytes(const struct pp_rank_layout *rank)
{
    return rank->tier_bytes[PP_TIER_HOST] +
           pp_tier_file_memory_bytes(rank->tier_bytes[PP_TIER_NVME]);
}
