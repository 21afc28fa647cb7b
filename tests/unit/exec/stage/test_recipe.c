/* Rates, clipping, and sums of losses. */
#include "tests/unit/exec/stage/state_case.h"

#include "exec/nodes/loss.h"

#include <criterion/criterion.h>
#include <float.h>

Test(recipe, rate_rises_over_the_warmup_and_falls_to_its_end)
{
    cr_assert_float_eq(pp_recipe_rate(&recipe, 0), 0.005, 1e-15);
    cr_assert_float_eq(pp_recipe_rate(&recipe, 1), 0.01, 1e-15);
    cr_assert_float_eq(pp_recipe_rate(&recipe, 2), 0.01, 1e-15);
    for (int step = 3; step < 10; step++)
        cr_assert_lt(pp_recipe_rate(&recipe, step), pp_recipe_rate(&recipe, step - 1));
    cr_assert_float_eq(pp_recipe_rate(&recipe, 9), 0.001, 1e-15);
    cr_assert_float_eq(pp_recipe_rate(&recipe, 1000), 0.001, 1e-15);

    struct pp_recipe no_warmup = recipe, one_step = recipe;
    no_warmup.warmup_steps = 0;
    cr_assert_float_eq(pp_recipe_rate(&no_warmup, 0), 0.01, 1e-15);
    one_step.warmup_steps = 0;
    one_step.steps = 1;
    cr_assert_float_eq(pp_recipe_rate(&one_step, 0), 0.01, 1e-15);
}

static double scale_of(const struct pp_recipe *with, const double *squares)
{
    return pp_recipe_grad_scale(with, pp_squares_norm(squares, BLOCKS));
}

Test(recipe, gradients_are_scaled_to_the_clip_and_never_up)
{
    const double squares[LAYERS] = {4, 0, 9, 3}; /* norm 4 */
    struct pp_recipe clipped = recipe;

    cr_assert_eq(pp_squares_norm(squares, BLOCKS), 4);
    cr_assert_eq(scale_of(&clipped, squares), 1);
    clipped.clip = 1;
    cr_assert_eq(scale_of(&clipped, squares), 0.25);
    clipped.clip = 5;
    cr_assert_eq(scale_of(&clipped, squares), 1);
    const double broken[LAYERS] = {4, HUGE_VAL, 9, 3}, worse[LAYERS] = {4, 0, NAN, 3};
    cr_assert(isnan(scale_of(&clipped, broken)));
    cr_assert(isnan(scale_of(&clipped, worse)));
}

Test(loss, sums_do_not_depend_on_order_and_know_what_is_no_number)
{
    double loss[1000], reversed[1000];
    struct pp_loss_sum there = {.is_finite = true}, back = {.is_finite = true};
    double sum = 0;

    for (int i = 0; i < 1000; i++) {
        loss[i] = reversed[999 - i] = 5 + sin(i);
        sum += loss[i];
    }
    pp_loss_add(&there, loss, 1000);
    for (int i = 0; i < 1000; i += 100)
        pp_loss_add(&back, reversed + i, 100);
    cr_assert_eq(there.fixed, back.fixed);
    cr_assert_eq(pp_loss_mean(&there, 1000), pp_loss_mean(&back, 1000));
    cr_assert_float_eq(pp_loss_mean(&there, 1000), sum / 1000, 1e-9);
    for (int i = 0; i < 3; i++) {
        struct pp_loss_sum broken = there;

        pp_loss_add(&broken, (const double[]){NAN, HUGE_VAL, 1e300} + i, 1);
        cr_assert(!broken.is_finite && isnan(pp_loss_mean(&broken, 1000)));
    }
}
