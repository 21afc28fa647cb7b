/* The layout of a rank's memory: blocks with a place for each slot, state and buffer. */
#include "exec/program/memory.h"

size_t pp_slot_pitch(const struct pp_stage *stage, enum pp_slot_class class, bool is_recompute)
{
    switch (class) {
    case PP_SLOT_KEPT:
        return stage->kept_bytes;
    case PP_SLOT_SAVED:
        return (is_recompute ? 0 : stage->kept_bytes) + stage->saved_bytes;
    default:
        return stage->boundary_bytes;
    }
}

struct layout {
    struct pp_arena *arena;
    const struct pp_program *p;
    const struct pp_stage *const *stages;
    const struct pp_kernels *kernels;
    const int8_t *class_of;
    const struct pp_cuts *cuts;
    const struct pp_wholes *wholes;
    const struct pp_away *away;
    bool is_exact;
};

static size_t take(struct pp_rank_layout *rank, size_t bytes)
{
    const size_t offset = rank->block_bytes;

    rank->block_bytes += pp_whole_lines(bytes);
    return offset;
}

/* Takes bytes of a class in the block of a tier. */
static struct pp_tier_place take_at(struct pp_rank_layout *rank, enum pp_tier tier,
                                    enum pp_state_class class, size_t bytes)
{
    if (tier == PP_TIER_DEVICE)
        return (struct pp_tier_place){tier, take(rank, bytes)};
    const size_t offset = rank->tier_bytes[tier];
    rank->tier_bytes[tier] = pp_tier_end(tier, offset + bytes);
    rank->away_bytes[tier][class] += bytes;
    return (struct pp_tier_place){tier, offset};
}

/* Places the classes of a chunk's state: one after the other on the device, or each in the block of
 * its home. */
static void place_state(const struct layout *l, int k, struct pp_rank_layout *rank)
{
    const struct pp_state_bytes bytes = pp_state_bytes(l->stages[k % l->p->stages], l->kernels,
                                                       l->is_exact, l->cuts[k % l->p->stages]);
    const size_t of[PP_STATE_SHARDED] = {[PP_STATE_PARAMS] = bytes.weights,
                                         [PP_STATE_GRADS] = bytes.gradients,
                                         [PP_STATE_OPTIMIZER] = bytes.optimizer};
    size_t *const on_device[PP_STATE_SHARDED] = {[PP_STATE_PARAMS] = &rank->params_bytes,
                                                 [PP_STATE_GRADS] = &rank->grads_bytes,
                                                 [PP_STATE_OPTIMIZER] = &rank->optimizer_bytes};
    const size_t all = bytes.weights + bytes.gradients + bytes.optimizer;
    size_t at = rank->is_scattered ? 0 : take(rank, all), from = 0;

    rank->state_offset[k] = rank->state_bytes;
    rank->state_bytes += pp_whole_lines(all);
    for (int c = 0; c < PP_STATE_SHARDED; at += of[c], from += of[c], c++) {
        const enum pp_tier tier = l->p->state.spec.home[c];

        rank->home[k][c] = rank->is_scattered ? take_at(rank, tier, (enum pp_state_class)c, of[c])
                                              : (struct pp_tier_place){PP_TIER_DEVICE, at};
        *on_device[c] += tier == PP_TIER_DEVICE ? of[c] : 0;
        rank->pieces[rank->piece_count++] =
            (struct pp_state_piece){rank->state_offset[k] + from, of[c], rank->home[k][c]};
    }
}

static void place_states(const struct layout *l, int r, struct pp_rank_layout *rank)
{
    const struct pp_program *p = l->p;
    const int places = p->pipelines * p->stages;

    rank->state_offset = PP_ARRAY(l->arena, size_t, places);
    rank->home = pp_arena_alloc(l->arena, sizeof(*rank->home) * (size_t)places);
    rank->pieces = PP_ARRAY(l->arena, struct pp_state_piece, places * PP_STATE_SHARDED);
    for (int c = 0; c < PP_STATE_SHARDED; c++)
        rank->is_scattered |= p->state.spec.home[c] != PP_TIER_DEVICE;
    for (int k = 0; k < places; k++) {
        rank->state_offset[k] = SIZE_MAX;
        if (p->rank_of[k] == r)
            place_state(l, k, rank);
    }
}

static size_t most_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Returns where the places of a COPY.down end. */
static struct pp_moved ends_of(const struct layout *l, int down)
{
    const struct pp_program *p = l->p;
    struct pp_moved ends = {0};

    for (int g = p->mb[down]; g < p->mb[down] + p->granule_count[down]; g++) {
        struct pp_moved_piece pieces[PP_MOVED_PIECES];
        pp_moved_pieces(p, l->stages[p->stage[down]], pp_away_cell(l->away, p, down, g)->is_again,
                        &ends, pieces);
    }
    return ends;
}

/* Places what COPY.down moves, and what it leaves; a place is as large as the largest of them. */
static void place_away(const struct layout *l, int r, struct pp_rank_layout *rank)
{
    const struct pp_program *p = l->p;
    const enum pp_tier tier = p->state.spec.home[PP_STATE_ACTIVATIONS];
    const int count = l->away->count[r];
    struct pp_moved *most = pp_arena_alloc(l->arena, sizeof(*most) * 2 * ((size_t)count + 1)),
                    *ends = most + count + 1;

    for (int i = p->begin[r]; i < p->begin[r + 1]; i++)
        if (l->away->of[i] >= 0) {
            const struct pp_moved moved = pp_moved_by(p, l->stages, l->away, i),
                                  end = ends_of(l, i);
            const int k = l->away->of[i];
            most[k] = (struct pp_moved){most_of(most[k].away, moved.away),
                                        most_of(most[k].here, moved.here)};
            ends[k].away = most_of(ends[k].away, end.away);
        }
    rank->away = pp_arena_alloc(l->arena, sizeof(*rank->away) * ((size_t)count + 1));
    rank->here_offset = PP_ARRAY(l->arena, size_t, count + 1);
    for (int k = 0; k < count; k++) {
        rank->away[k] = take_at(rank, tier, PP_STATE_ACTIVATIONS, ends[k].away);
        rank->away_bytes[tier][PP_STATE_ACTIVATIONS] -= ends[k].away - most[k].away; /* padding */
        rank->here_offset[k] = take(rank, most[k].here);
        rank->activations_bytes += most[k].here;
    }
}

/* Places edges apart from slots; counted as buffers. */
static void place_edges(const struct layout *l, int r, struct pp_rank_layout *rank)
{
    const struct pp_program *p = l->p;
    const struct pp_edges *edges = &l->away->edges;
    const int count = edges->count[r];
    size_t *bytes = PP_ARRAY(l->arena, size_t, count + 1);

    rank->edge_offset = PP_ARRAY(l->arena, size_t, count + 1);
    for (int i = p->begin[r]; count > 0 && i < p->begin[r + 1]; i++) {
        const int stage = pp_edges_filled(edges, p, i);
        for (int g = p->mb[i]; stage >= 0 && g < p->mb[i] + p->granule_count[i]; g++) {
            size_t *most = &bytes[pp_edges_place(edges, p, i, g)];
            *most =
                l->stages[stage]->boundary_bytes > *most ? l->stages[stage]->boundary_bytes : *most;
        }
    }
    for (int k = 0; k < count; k++) {
        rank->edge_offset[k] = take(rank, bytes[k]);
        rank->buffers_bytes += bytes[k];
    }
}

/* Counted as buffers. */
static void place_wholes(const struct layout *l, int r, struct pp_rank_layout *rank)
{
    const size_t element_bytes[PP_WHOLES] = {
        [PP_WHOLE_PARAMS] = l->kernels->element_bytes,
        [PP_WHOLE_GRADS] = l->is_exact ? sizeof(int64_t) : l->kernels->gradient_bytes};

    for (int what = 0; what < PP_WHOLES; what++) {
        const int count = l->wholes->count[what][r];

        rank->whole_offset[what] = PP_ARRAY(l->arena, size_t, count + 1);
        for (int k = 0; k < count; k++) {
            const size_t bytes = (size_t)l->wholes->elements[what][r][k] * element_bytes[what];
            rank->whole_offset[what][k] = take(rank, bytes);
            rank->buffers_bytes += bytes;
        }
    }
    rank->parts_bytes = rank->block_bytes;
}

/* Bytes of a slot: all, and those that are written. What a COPY.down moves out of the slot of an F
 * was never in a backward. */
struct slot_bytes {
    size_t all;
    struct pp_extents written;
};

static void write_slot(const struct layout *l, int i, bool is_moved, struct slot_bytes *slot)
{
    const struct pp_program *p = l->p;
    const struct pp_stage *stage = l->stages[p->stage[i]];
    const enum pp_slot_class class = (enum pp_slot_class)l->class_of[i];
    const size_t pitch = pp_slot_pitch(stage, class, p->kind[i] == PP_R),
                 all = p->granule_count[i] * pitch;
    struct pp_extent ranges[PP_MOVED_RANGES] = {{0, pitch}};
    const int count = is_moved ? pp_moved_ranges(stage, class == PP_SLOT_KEPT, ranges) : 1;

    slot->all = all > slot->all ? all : slot->all;
    for (int g = 0; g < p->granule_count[i]; g++)
        for (int k = 0; k < count; k++)
            pp_extents_add(l->arena, &slot->written, (size_t)g * pitch + ranges[k].from,
                           (size_t)g * pitch + ranges[k].until);
}

/* Returns [instruction] of the rank, from its first one on: a COPY.down moves what it leaves. */
static bool *find_moved(const struct layout *l, int r)
{
    const struct pp_program *p = l->p;
    bool *is_moved = PP_ARRAY(l->arena, bool, p->begin[r + 1] - p->begin[r] + 1);

    for (int i = p->begin[r]; i < p->begin[r + 1]; i++)
        for (int g = p->mb[i]; l->away->of[i] >= 0 && g < p->mb[i] + p->granule_count[i]; g++)
            is_moved[pp_away_cell(l->away, p, i, g)->slot - p->begin[r]] = true;
    return is_moved;
}

static void place_slots(const struct layout *l, int r, struct pp_rank_layout *rank)
{
    const struct pp_program *p = l->p;
    const bool *is_moved = find_moved(l, r);
    struct slot_bytes *slots[PP_SLOT_CLASSES];

    for (int i = p->begin[r]; i < p->begin[r + 1]; i++)
        if (l->class_of[i] >= 0 && p->slot[i] >= rank->slots[l->class_of[i]])
            rank->slots[l->class_of[i]] = p->slot[i] + 1;
    for (int c = 0; c < PP_SLOT_CLASSES; c++) {
        rank->offset[c] = PP_ARRAY(l->arena, size_t, rank->slots[c] + 1);
        slots[c] = pp_arena_alloc(l->arena, sizeof(**slots) * ((size_t)rank->slots[c] + 1));
    }
    for (int i = p->begin[r]; i < p->begin[r + 1]; i++)
        if (l->class_of[i] >= 0 && p->slot[i] >= 0) /* else refused after the layout */
            write_slot(l, i, is_moved[i - p->begin[r]], &slots[l->class_of[i]][p->slot[i]]);
    for (int c = 0; c < PP_SLOT_CLASSES; c++)
        for (int s = 0; s < rank->slots[c]; s++) {
            rank->offset[c][s] = take(rank, slots[c][s].all);
            *(c <= PP_SLOT_SAVED ? &rank->activations_bytes : &rank->buffers_bytes) +=
                pp_extents_bytes(&slots[c][s].written);
        }
}

/* Places scratch of stages (or sums of squares) and of exact gradients, losses of tokens, and
 * tokens of experts. */
static void place_scratch(const struct layout *l, int r, struct pp_rank_layout *rank)
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
        const size_t squares_bytes = sizeof(double) * (size_t)pp_squares_blocks(stage);
        if (squares_bytes > rank->scratch_bytes)
            rank->scratch_bytes = squares_bytes;
    }
    rank->tensor_bytes = l->is_exact ? tensor_bytes : 0;
    rank->weights_bytes = p->weight_stream ? rank->tensor_bytes : 0;
    for (int i = p->begin[r]; i < p->begin[r + 1]; i++) {
        const struct pp_stage_shape *shape = &l->stages[p->stage[i]]->shape;
        if (p->kind[i] == PP_F && shape->has_head)
            rank->loss_bytes +=
                sizeof(double) * p->granule_count[i] * (size_t)shape->rows * (size_t)shape->tokens;
    }
    rank->scratch_offset = take(rank, rank->scratch_bytes);
    rank->tensor_offset = take(rank, rank->tensor_bytes);
    rank->weights_offset = take(rank, rank->weights_bytes);
    rank->expert_bytes = sizeof(double) * pp_net_expert_tokens(l->stages[0]->net);
    rank->loss_offset = take(rank, rank->loss_bytes + rank->expert_bytes);
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
    const struct layout l = {.arena = arena,
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
        place_slots(&l, r, &ranks[r]);
        place_away(&l, r, &ranks[r]);
        place_edges(&l, r, &ranks[r]);
        place_scratch(&l, r, &ranks[r]);
        ranks[r].peak_bytes = ranks[r].params_bytes + ranks[r].grads_bytes +
                              ranks[r].optimizer_bytes + ranks[r].activations_bytes +
                              ranks[r].buffers_bytes + ranks[r].other_bytes;
    }
    return ranks;
}

size_t pp_memory_host_bytes(const struct pp_rank_layout *rank)
{
    return rank->tier_bytes[PP_TIER_HOST] +
           pp_tier_file_memory_bytes(rank->tier_bytes[PP_TIER_NVME]);
}
