/* The planner: tensors that live at the same time share no bytes, in any pass of any net. In
 * scratch they begin where vectors do. Scratch is no smaller than what lives at once. */
#include "exec/stage/graph.h"
#include "tests/unit/exec/stage/stage_rig.h"

#include "core/cost/recompute.h"

#include <criterion/criterion.h>
#include <limits.h>

enum { LAYERS = 3, ROWS = 2 };
static const enum pp_call_pass passes[] = {PP_PASS_F, PP_PASS_I, PP_PASS_B, PP_PASS_KEEP};

/* When a tensor holds its value in a call, in steps. */
struct life {
    const struct pp_tensor *tensor;
    int from, until;
};

/* What F has left lives from the begin of a backward, what I leaves for W to its end. */
static bool life_of(const struct pp_tensor *t, enum pp_call_pass pass, struct life *life)
{
    const bool is_backward = pass == PP_PASS_I || pass == PP_PASS_B;
    const bool is_lasting = t->place[pass].base == PP_SAVED || t->place[pass].base == PP_KEPT;

    *life = (struct life){t, t->made[pass], t->read[pass]};
    if (life->from < 0 && is_backward && is_lasting && !t->is_grad)
        life->from = 0;
    if (is_backward && pass == PP_PASS_I && t->is_for_w)
        life->until = INT_MAX;
    if (!is_backward && is_lasting)
        life->until = INT_MAX;
    if (life->until < life->from)
        life->until = life->from;
    return life->from >= 0 && t->place[pass].base != PP_NOWHERE &&
           (t->read[pass] >= 0 || t->made[pass] >= 0 || life->until == INT_MAX);
}

static bool meet(const struct life *a, const struct life *b)
{
    return a->from <= b->until && b->from <= a->until;
}

static bool overlap(const struct life *a, const struct life *b, enum pp_call_pass pass)
{
    const struct pp_tensor_place x = a->tensor->place[pass], y = b->tensor->place[pass];

    return x.base == y.base && x.at < y.at + b->tensor->bytes && y.at < x.at + a->tensor->bytes;
}

/* Returns the most bytes of scratch that live at one step. */
static size_t peak_bytes(const struct life *lives, int count, enum pp_call_pass pass)
{
    size_t most = 0;

    for (int i = 0; i < count; i++) {
        size_t bytes = 0;
        for (int j = 0; j < count; j++)
            if (lives[j].tensor->place[pass].base == PP_SCRATCH && lives[j].from <= lives[i].from &&
                lives[i].from <= lives[j].until)
                bytes += lives[j].tensor->bytes;
        most = bytes > most ? bytes : most;
    }
    return most;
}

static void check_vectors(const struct pp_tensor *t, enum pp_call_pass pass, int variant)
{
    const struct pp_tensor_place place = t->place[pass];

    cr_assert(place.base != PP_SCRATCH || place.at % 16 == 0, "variant %d, pass %d: at %d", variant,
              (int)pass, (int)place.at);
}

/* Returns the peak of scratch in a pass. */
static size_t check_pass(struct pp_arena *arena, const struct pp_stage *stage,
                         enum pp_call_pass pass, int variant)
{
    const struct pp_stage_graph *g = stage->graph;
    struct life *lives = PP_ARRAY(arena, struct life, g->tensor_count);
    int count = 0;

    for (int i = 0; i < g->tensor_count; i++)
        count += life_of(&g->tensors[i], pass, &lives[count]);
    for (int i = 0; i < count; i++)
        check_vectors(lives[i].tensor, pass, variant);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            cr_assert(!meet(&lives[i], &lives[j]) || !overlap(&lives[i], &lives[j], pass),
                      "variant %d, pass %d: tensors %d and %d share bytes", variant, (int)pass,
                      (int)(lives[i].tensor - g->tensors), (int)(lives[j].tensor - g->tensors));
    return peak_bytes(lives, count, pass);
}

static void check_stage(const struct pp_stage_shape *shape, int variant)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_net net = rig_variant(LAYERS, variant);
    size_t most = 0;
    struct pp_stage_shape s = *shape;

    if (net.is_encoder)
        s.splits = 1;
    if (net.experts > 0)
        s.again = (struct pp_stage_again){0};
    s.tokens = net.seq / s.splits;
    const struct pp_stage *stage = pp_stage_create(arena, &net, &s, &pp_kernels_reference);
    for (size_t p = 0; p < PP_COUNT(passes); p++) {
        const bool is_called = passes[p] == PP_PASS_KEEP ? s.has_r
                               : passes[p] == PP_PASS_I  ? s.has_w
                                                         : true;
        const size_t bytes = is_called ? check_pass(arena, stage, passes[p], variant) : 0;
        most = bytes > most ? bytes : most;
    }
    cr_assert_geq(stage->scratch_bytes, most, "variant %d", variant);
}

/* Also with experts that two replicas share. */
static void check(const struct pp_stage_shape *shape, int variant)
{
    struct pp_stage_shape shared = *shape;

    shared.ep = 2;
    check_stage(shape, variant);
    if (rig_variant(LAYERS, variant).experts > 0)
        check_stage(&shared, variant);
}

Test(stage_places, what_lives_at_once_shares_no_bytes)
{
    static const struct pp_stage_again again[] = {
        {0}, {.modules = PP_AGAIN_CORE}, {.modules = PP_AGAIN_NORM | PP_AGAIN_MLP}, {.blocks = 2}};

    for (int variant = 0; variant < RIG_VARIANTS; variant = rig_next(variant, 5))
        for (int bits = 0; bits < 64; bits++)
            for (size_t a = 0; a < PP_COUNT(again); a++)
                check(&(struct pp_stage_shape){.blocks = LAYERS,
                                               .has_embedding = bits & 1,
                                               .has_head = bits & 2,
                                               .has_w = bits & 4 && bits < 32,
                                               .act_bits = bits < 32 ? 0 : 8,
                                               .is_rounded = bits & 4,
                                               .has_r = bits & 8 || a > 0,
                                               .again = again[a],
                                               .rows = ROWS,
                                               .splits = bits & 16 ? 2 : 1,
                                               .is_moved = bits & 32},
                      variant);
}
