#include "tests/unit/exec/reference/reference_case.h"

#include <math.h>
#include <string.h>

TestSuite(compare, .init = set_up, .fini = tear_down);

/* Blocks first .. first + blocks - 1 as a stage of their own. */
static struct pp_stage *cut(const struct pp_net *n, int first, int blocks, struct pp_state *state)
{
    const struct pp_stage_shape shape = {.first_block = first,
                                         .blocks = blocks,
                                         .has_embedding = first == 0,
                                         .has_head = first + blocks == n->layers,
                                         .rows = batch.mbs,
                                         .tokens = n->seq,
                                         .splits = 1};
    struct pp_stage *stage = pp_stage_create(arena, n, &shape, &pp_kernels_reference);

    *state = (struct pp_state){.weights = PP_ARRAY(arena, double, stage->elements),
                               .m = PP_ARRAY(arena, double, stage->elements),
                               .v = PP_ARRAY(arena, double, stage->elements),
                               .fixed = PP_ARRAY(arena, int64_t, stage->elements),
                               .share = pp_share_of(stage, 0, 1)};
    state->held = state->summed = state->share;
    return stage;
}

Test(compare, chunks_begin_with_the_weights_of_the_whole)
{
    const struct pp_net *const nets[] = {&net, &llama};

    for (int i = 0; i < 2; i++) {
        struct pp_reference *reference = make(nets[i], &pp_kernels_reference, &batch, &recipe);

        for (int first = 0; first < nets[i]->layers; first++) {
            struct pp_difference d = {0};
            struct pp_state state;
            const struct pp_stage *stage = cut(nets[i], first, 1, &state);

            pp_state_init(stage, &pp_kernels_reference, &recipe, &state, pp_cuts_none());
            pp_reference_compare(reference, stage, &state, PP_VECTOR_WEIGHTS, &d);
            cr_assert(d.differing == 0 && d.elements > 4000);
            pp_state_init(stage, &pp_kernels_reference,
                          &(struct pp_recipe){.seed = recipe.seed + 1}, &state, pp_cuts_none());
            pp_reference_compare(reference, stage, &state, PP_VECTOR_WEIGHTS, &d);
            cr_assert_gt(d.differing, 4000);
        }
    }
}

/* The reference's vectors, tensor by tensor. */
static void fill(const struct pp_reference *reference, const struct pp_stage *stage,
                 const struct pp_state *state)
{
    const struct pp_stage *whole = pp_reference_stage(reference, 0);
    const struct pp_state *theirs = pp_reference_state(reference, 0);

    for (int p = 0; p < stage->param_count; p++)
        for (int q = 0; q < whole->param_count; q++)
            if (stage->params[p].id == whole->params[q].id) {
                const struct pp_param *to = &stage->params[p], *from = &whole->params[q];

                memcpy(state->fixed + to->offset, theirs->fixed + from->offset,
                       (size_t)to->count * sizeof(int64_t));
                memcpy((double *)state->weights + to->offset,
                       (const double *)theirs->weights + from->offset,
                       (size_t)to->count * sizeof(double));
            }
}

Test(compare, finds_tensors_by_id_and_names_the_worst)
{
    struct pp_reference *reference = make(&net, &pp_kernels_reference, &batch, &recipe);
    struct pp_state state[2];
    struct pp_difference d = {0}, w = {0};

    gradients(reference, 0);
    const struct pp_stage *stages[] = {cut(&net, 0, 1, &state[0]), cut(&net, 1, 1, &state[1])};
    for (int s = 0; s < 2; s++) {
        fill(reference, stages[s], &state[s]);
        pp_reference_compare(reference, stages[s], &state[s], PP_VECTOR_GRADIENTS, &d);
    }
    int64_t elements = (int64_t)net.vocab * net.hidden; /* the second copy of the tied matrix */
    for (int p = 0; p < pp_reference_stage(reference, 0)->param_count; p++)
        elements += pp_reference_stage(reference, 0)->params[p].count;
    cr_assert_eq(d.elements, elements);
    cr_assert(d.differing == 0 && d.max_abs == 0 && d.worst == NULL && d.squares == 0);
    cr_assert(d.own_squares > 0 && d.own_squares == d.reference_squares);

    const struct pp_param *first = &stages[1]->params[0], *last = &stages[1]->params[1];
    state[1].fixed[first->offset + 1] += 3;
    state[1].fixed[last->offset + last->count - 1] -= 5;
    ((double *)state[1].weights)[first->offset] = -((double *)state[1].weights)[first->offset];
    ((double *)state[1].weights)[last->offset] = NAN;
    pp_reference_compare(reference, stages[1], &state[1], PP_VECTOR_GRADIENTS, &d);
    cr_assert_eq(d.differing, 2);
    cr_assert_eq(d.max_abs, ldexp(5, -PP_GRAD_BITS));
    cr_assert_eq(d.squares, ldexp(34, -2 * PP_GRAD_BITS));
    cr_assert_str_eq(d.worst, last->name);
    cr_assert_eq(d.worst_layer, 2);
    pp_reference_compare(reference, stages[1], &state[1], PP_VECTOR_WEIGHTS, &w);
    cr_assert_eq(w.differing, 2);
    cr_assert(isinf(w.max_abs) && isinf(w.squares));
    cr_assert_str_eq(w.worst, last->name);
}

/* Of a share, and of nothing else: weights are their rounding. */
Test(compare, weights_are_master_weights_where_there_are_some)
{
    const struct pp_kernels *k = &pp_kernels_bf16;
    struct pp_reference *reference = make(&net, k, &batch, &recipe);
    const struct pp_stage *whole = pp_reference_stage(reference, 0);
    const struct pp_cuts cuts = {1, 1, 2};
    const struct pp_state_bytes bytes = pp_state_bytes(whole, k, true, cuts);
    char *memory = pp_arena_alloc(arena, bytes.weights + bytes.gradients + bytes.optimizer);
    int64_t elements = 0;

    for (int copy = 0; copy < 2; copy++) {
        const struct pp_state state = pp_state_at(whole, k, true, copy, cuts, memory);
        const int64_t first = whole->params[copy ? whole->param_count - 1 : 0].offset;
        struct pp_difference d = {0};

        pp_state_init(whole, k, &recipe, &state, cuts);
        pp_reference_compare(reference, whole, &state, PP_VECTOR_WEIGHTS, &d);
        cr_assert(d.differing == 0 && d.elements > 4000);
        elements += d.elements;
        ((float *)state.master)[first - state.share.from] += 2;
        pp_reference_compare(reference, whole, &state, PP_VECTOR_WEIGHTS, &d);
        cr_assert_eq(d.differing, 1);
        cr_assert_float_eq(d.max_abs, 2, 1e-6);
        cr_assert_str_eq(d.worst, whole->params[copy ? whole->param_count - 1 : 0].name);
    }
    int64_t all = 0;
    for (int p = 0; p < whole->param_count; p++)
        all += whole->params[p].count;
    cr_assert_eq(elements, all);
}
