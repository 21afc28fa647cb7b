/* The recipe of a training: learning rate by step, clipping, constants of AdamW. */
#include "exec/state/state.h"

#include <math.h>

double pp_recipe_rate(const struct pp_recipe *recipe, int step)
{
    if (step < recipe->warmup_steps)
        return recipe->rate * (step + 1) / recipe->warmup_steps;
    const int span = recipe->steps - recipe->warmup_steps;
    const double passed = span > 1 ? (double)(step - recipe->warmup_steps) / (span - 1) : 0;
    const double share = passed < 1 ? passed : 1;

    return recipe->end_rate + (recipe->rate - recipe->end_rate) * 0.5 * (1 + cos(M_PI * share));
}

double pp_squares_norm(const double *squares, int layers)
{
    double sum = 0;

    for (int layer = 0; layer < layers + 2; layer++)
        sum += squares[layer];
    return sqrt(sum);
}

void pp_recipe_adamw_step(const struct pp_recipe *recipe, int step, struct pp_adamw_step *now)
{
    now->rate = pp_recipe_rate(recipe, step);
    now->correction1 = 1 - pow(recipe->beta1, step + 1);
    now->correction2 = 1 - pow(recipe->beta2, step + 1);
}

double pp_recipe_grad_scale(const struct pp_recipe *recipe, double norm)
{
    if (recipe->clip <= 0)
        return 1;
    if (!isfinite(norm))
        return (double)NAN;
    return norm > recipe->clip ? recipe->clip / norm : 1;
}
