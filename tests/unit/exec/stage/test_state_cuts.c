/* States whose copies keep a share of the gradients, or of the weights too, against a whole one. */
#include "tests/unit/exec/stage/state_case.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(cuts, .init = set_up, .fini = tear_down);

enum { GUARD = 64 };

struct cut {
    struct pp_state state;
    char *memory;
    size_t bytes;
};

static struct cut cut_of(const struct copy *whole, bool is_exact, int copy, struct pp_cuts cuts)
{
    const struct pp_state_bytes bytes = pp_state_bytes(&whole->stage, k, is_exact, cuts);
    struct cut c = {.bytes = bytes.weights + bytes.gradients + bytes.optimizer};

    c.memory = pp_arena_alloc(arena, c.bytes + GUARD);
    memset(c.memory, 0x5a, c.bytes + GUARD);
    c.state = pp_state_at(&whole->stage, k, is_exact, copy, cuts, c.memory);
    pp_state_init(&whole->stage, k, &(struct pp_recipe){.seed = 1}, &c.state, cuts);
    return c;
}

/* Gives a copy the gradients that it keeps. */
static void take_gradients(const struct copy *whole, const struct cut *c)
{
    const struct pp_range summed = c->state.summed;
    const size_t element = whole->state.fixed ? sizeof(int64_t) : sizeof(double);

    if (summed.from < summed.until)
        memcpy(pp_state_gradient(&c->state, k, summed.from),
               pp_state_gradient(&whole->state, k, summed.from),
               (size_t)(summed.until - summed.from) * element);
}

static void expect_same_weights(const struct copy *whole, const struct cut *c)
{
    const struct pp_range share = c->state.share, held = c->state.held;

    cr_assert(share.from >= share.until || (held.from <= share.from && share.until <= held.until));
    for (int64_t i = share.from; i < share.until; i++)
        if (memcmp(pp_state_weight(&c->state, k, i), pp_state_weight(&whole->state, k, i),
                   k->element_bytes))
            cr_assert_fail("element %d", (int)i);
    for (size_t i = c->bytes; i < c->bytes + GUARD; i++)
        cr_assert_eq(c->memory[i], 0x5a);
}

static void expect_no_gradients(const struct cut *c, bool is_exact, const struct copy *whole,
                                struct pp_cuts cuts)
{
    const size_t bytes = pp_state_bytes(&whole->stage, k, is_exact, cuts).gradients;
    const char *gradients = is_exact ? (const char *)c->state.fixed : c->state.sum;

    cr_assert(bytes == 0 ||
              (gradients[0] == 0 && memcmp(gradients, gradients + 1, bytes - 1) == 0));
}

/* One step of all copies: their blocks of squares, weights and cleared gradients. */
static void check_step(bool is_exact, struct pp_cuts cuts)
{
    struct copy *whole = make(0, BLOCKS, true, true, is_exact);
    const size_t count = (size_t)pp_squares_blocks(&whole->stage);
    double *expected = PP_ARRAY(arena, double, count), *got = PP_ARRAY(arena, double, count);
    struct pp_adamw_step now = {.grad_scale = 0.5};
    int64_t held = 0;

    pp_recipe_adamw_step(&recipe, 1, &now);
    pp_state_init(&whole->stage, k, &(struct pp_recipe){.seed = 1}, &whole->state, pp_cuts_none());
    set_gradients(whole);
    pp_state_squares(k, NULL, &whole->stage, &whole->state, whole->scratch, expected);
    struct copy *before = make(0, BLOCKS, true, true, is_exact);
    set_gradients(before);
    pp_state_update(k, NULL, &whole->stage, &whole->state, &recipe, &now);
    for (int copy = 0; copy < cuts.optimizer; copy++) {
        const struct cut c = cut_of(whole, is_exact, copy, cuts);
        cr_assert_eq(
            pp_state_hash(&whole->stage, k, &c.state, 1),
            pp_state_drawn_hash(&whole->stage, k, &(struct pp_recipe){.seed = 1}, &c.state, 1));
        take_gradients(before, &c);
        pp_state_squares(k, NULL, &whole->stage, &c.state, whole->scratch, got);
        pp_state_update(k, NULL, &whole->stage, &c.state, &recipe, &now);
        expect_no_gradients(&c, is_exact, whole, cuts);
        held += c.state.held.until > c.state.held.from ? c.state.held.until - c.state.held.from : 0;
        if (cuts.params > 1)
            expect_same_weights(whole, &c);
    }
    cr_assert_eq(held, cuts.optimizer / cuts.params * whole->stage.elements);
    cr_assert_eq(memcmp(got, expected, sizeof(double) * count), 0);
}

/* Of very many copies the last ones have nothing. In a short run these are tried with one cut. */
Test(cuts, copies_with_shares_make_the_step_of_a_whole_copy)
{
    for (int is_exact = 0; is_exact <= 1; is_exact++)
        for (int copies = 2; copies < 700; copies = 3 * copies + 1) {
            const struct pp_cuts all[] = {{1, copies, copies},
                                          {copies, copies, copies},
                                          {2, 2, 2 * copies},
                                          {copies, copies, 3 * copies}};
            const bool is_short = copies > 30 && !getenv("PIPESIM_LONG");
            for (int c = 0; c < (int)PP_COUNT(all); c++)
                if (!is_short || c == (copies / 3 + is_exact) % 2)
                    check_step(is_exact, all[c]);
        }
}

Test(cuts, a_share_takes_its_part_of_the_memory)
{
    const struct copy *whole = make(0, BLOCKS, true, true, false);
    const struct pp_state_bytes all = pp_state_bytes(&whole->stage, k, false, pp_cuts_none()),
                                cut = pp_state_bytes(&whole->stage, k, false,
                                                     (struct pp_cuts){4, 4, 4});

    cr_assert_leq(cut.weights, all.weights / 4 + 16 * sizeof(double));
    cr_assert_leq(cut.gradients, all.gradients / 4 + (16 + PP_SQUARES_BLOCK) * sizeof(double));
    cr_assert_eq(cut.optimizer, 2 * cut.weights);
}

/* Finding the most walks all copies, so a run does it once for a stage. */
Test(cuts, known_gradients_of_the_fullest_copy_give_the_same_bytes)
{
    const struct copy *whole = make(0, BLOCKS, true, true, false);

    for (int copies = 2; copies < 1000; copies = 3 * copies + 1) {
        struct pp_cuts cuts = {.params = 1, .grads = copies, .optimizer = copies};
        const size_t searched = pp_state_bytes(&whole->stage, k, false, cuts).gradients;

        cuts.most_grads[PP_OF_ALL] = pp_most_grads(&whole->stage, PP_OF_ALL, cuts);
        cr_assert_eq(pp_state_bytes(&whole->stage, k, false, cuts).gradients, searched);
        cr_assert_eq(searched, (size_t)cuts.most_grads[PP_OF_ALL] * k->gradient_bytes);
    }
    cr_assert_eq(pp_most_grads(&whole->stage, PP_OF_ALL, pp_cuts_none()), whole->stage.elements);
}

/* Of `copies`, each `ep` share experts: here the tensors of the second block and of the head. */
static void check_experts(const struct pp_stage *stage, int copies, int ep)
{
    const struct pp_cuts cuts = {copies, copies, copies, .ep = ep};
    const int of_experts = pp_cuts_of(cuts, PP_OF_EXPERTS).optimizer;
    char *memory = pp_arena_alloc(arena, pp_state_bytes(stage, k, true, cuts).weights);
    int64_t covered = stage->experts_from;

    cr_assert_eq(of_experts, copies > ep ? copies / ep : 1);
    for (int copy = 0; copy < of_experts; copy++) {
        const struct pp_state state = pp_state_of_copy(
            stage, k, true, (const int[PP_STATE_PARTS]){copy * ep, copy}, cuts, memory);
        const struct pp_range all = pp_state_held(&state, PP_OF_ALL),
                              experts = pp_state_held(&state, PP_OF_EXPERTS);

        cr_assert_eq(experts.from, covered, "copy %d of %d / %d", copy, copies, ep);
        covered = experts.until;
        cr_assert_eq(pp_state_part_of(&state, experts.from), PP_OF_EXPERTS);
        cr_assert_leq((char *)pp_state_weight(&state, k, all.until - 1),
                      (char *)pp_state_weight(&state, k, experts.from) - k->element_bytes);
        cr_assert_leq((char *)pp_state_weight(&state, k, experts.until - 1) + k->element_bytes,
                      (char *)state.fixed);
        cr_assert_leq((char *)pp_state_gradient(&state, k, experts.until - 1) + sizeof(int64_t),
                      (char *)state.m);
        cr_assert_leq((char *)pp_state_in_share(&state, k, state.m, experts.until - 1) +
                          k->gradient_bytes,
                      (char *)state.v);
    }
    cr_assert_eq(covered, stage->elements);
}

Test(cuts, shared_experts_are_cut_over_the_copies_that_have_them)
{
    struct copy *whole = make(0, BLOCKS, true, true, false);

    whole->stage.experts_from = param_of(whole, 4)->offset;
    for (int ep = 2; ep <= 8; ep *= 2)
        for (int copies = 2; copies <= 32; copies *= 2)
            check_experts(&whole->stage, copies, ep);
}
