/* Stages of a program, and the least memory with saved activations in few bits. */
#include "exec/program/stages.h"
#include "exec/program/edges.h"
#include "exec/program/memory.h"

static int parts_of(const struct pp_stages_wish *wish)
{
    return (wish->shape.tp > 1 ? wish->shape.tp : 1) * (wish->shape.ep > 1 ? wish->shape.ep : 1);
}

static struct pp_stage_shape shape_of(const struct pp_program *p, const struct pp_stages_wish *wish,
                                      int stage, bool is_rounded)
{
    struct pp_stage_shape shape = wish->shape;

    shape.blocks = wish->blocks[stage];
    shape.has_embedding = stage == 0;
    shape.has_head = stage == p->stages - 1;
    shape.is_moved = pp_edges_are_apart(p, stage);
    shape.has_edge = !shape.is_moved && pp_program_has_edge(p, stage);
    shape.has_w = pp_program_has_kind(p, PP_W);
    shape.has_r = pp_program_has_kind(p, PP_R);
    shape.again = wish->again[stage];
    shape.is_rounded = is_rounded;
    shape.rows = wish->batch->mbs / wish->batch->granules;
    shape.tokens = wish->net->seq / wish->batch->splits;
    shape.splits = wish->batch->splits;
    return shape;
}

/* Stages of a generating program: pass 0 has pieces of prompts, a later one tokens of groups. */
static struct pp_stage_shape shape_of_pass(const struct pp_program *p,
                                           const struct pp_stages_wish *wish, int stage)
{
    const struct pp_generation *g = wish->generation;
    const int model = pp_program_model_stages(p), pieces = pp_generation_pieces(g);
    struct pp_stage_shape shape = wish->shape;

    shape.blocks = wish->blocks[stage % model];
    shape.has_embedding = stage % model == 0;
    shape.has_head = stage % model == model - 1;
    shape.rows = g->batch / g->groups / (stage < model ? pieces : 1);
    shape.tokens = stage < model ? g->prompt_tokens : 1;
    shape.splits = 1;
    shape.context = pp_generation_context(g, g->passes - 1);
    return shape;
}

static void make_passes(struct pp_arena *arena, const struct pp_program *p,
                        const struct pp_stages_wish *wish, int part, const struct pp_stage **stages)
{
    const int model = pp_program_model_stages(p), ep = wish->shape.ep > 1 ? wish->shape.ep : 1;

    for (int s = 0, first = 0; s < p->stages; first += wish->blocks[s++ % model]) {
        first = s % model == 0 ? 0 : first;
        struct pp_stage_shape shape = shape_of_pass(p, wish, s);
        shape.first_block = first;
        shape.tp_index = part / ep;
        shape.ep_index = part % ep;
        stages[s] = s < 2 * model ? pp_stage_create(arena, wish->net, &shape, wish->kernels)
                                  : stages[s - model];
    }
}

static const struct pp_stage **make_generating(struct pp_arena *arena, const struct pp_program *p,
                                               const struct pp_stages_wish *wish)
{
    const int parts = parts_of(wish);
    const struct pp_stage **stages = PP_ARRAY(arena, const struct pp_stage *, parts * p->stages);

    for (int part = 0; part < parts; part++)
        make_passes(arena, p, wish, part, stages + part * p->stages);
    return stages;
}

static const struct pp_stage **make(struct pp_arena *arena, const struct pp_program *p,
                                    const struct pp_stages_wish *wish, bool is_rounded)
{
    const int parts = parts_of(wish), ep = wish->shape.ep > 1 ? wish->shape.ep : 1;
    const struct pp_stage **stages = PP_ARRAY(arena, const struct pp_stage *, parts * p->stages);

    for (int s = 0, first = 0; s < p->stages; first += wish->blocks[s++]) {
        struct pp_stage_shape shape = shape_of(p, wish, s, is_rounded);

        shape.first_block = first;
        for (int part = 0; part < parts; part++) {
            shape.tp_index = part / ep;
            shape.ep_index = part % ep;
            stages[part * p->stages + s] = pp_stage_create(arena, wish->net, &shape, wish->kernels);
        }
    }
    return stages;
}

/* ---- few bits -------------------------------------------------------------------------------- */

static const struct pp_rank_layout *layout_of(struct pp_arena *arena, const struct pp_program *p,
                                              const struct pp_stages_wish *wish,
                                              const struct pp_stage *const *stages)
{
    const struct pp_cuts *cuts = pp_memory_cuts(arena, p, stages, wish->batch);

    return pp_memory_layout(arena, p, stages, wish->kernels, wish->is_exact, cuts,
                            pp_wholes_find(arena, p, stages, cuts), pp_away_find(arena, p));
}

/* Takes the stages of a rank that round; returns whether one of them is new. */
static bool round_on(const struct pp_program *p, int rank, int parts,
                     const struct pp_stage *const *rounded, const struct pp_stage **stages)
{
    bool is_new = false;

    for (int place = 0; place < p->pipelines * p->stages; place++)
        for (int part = 0; part < parts && p->rank_of[place] == rank; part++) {
            const int at = part * p->stages + place % p->stages;
            is_new |= stages[at] != rounded[at];
            stages[at] = rounded[at];
        }
    return is_new;
}

/* A stage may be on several ranks. */
static void round_where_less(struct pp_arena *arena, const struct pp_program *p,
                             const struct pp_stages_wish *wish, const struct pp_stage **stages)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_stage *const *rounded =
        (const struct pp_stage *const *)make(arena, p, wish, true);
    const struct pp_rank_layout *most = layout_of(scratch, p, wish, rounded);

    for (bool is_new = true; is_new;) {
        const struct pp_rank_layout *layout = layout_of(scratch, p, wish, stages);

        is_new = false;
        for (int rank = 0; rank < p->ranks; rank++)
            if (layout[rank].peak_bytes > most[rank].peak_bytes)
                is_new |= round_on(p, rank, parts_of(wish), rounded, stages);
    }
}

const struct pp_stage **pp_stages_make(struct pp_arena *arena, const struct pp_program *program,
                                       const struct pp_stages_wish *wish)
{
    if (wish->generation)
        return make_generating(arena, program, wish);
    const struct pp_stage **stages = make(arena, program, wish, false);

    if (wish->shape.act_bits > 0)
        round_where_less(arena, program, wish, stages);
    return stages;
}
