/* A profile computes what its machine trains. Whatever the layouts of both, the loss of the same
 * samples is the same but for rounding. So experts get the tokens that they get in training. */
#include "exec/predict/profile_parts.h"
#include "tests/exec/typed.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define SMALL                                                                                      \
    "--layers 4 --hidden 32 --heads 4 --seq 16 --np 2 --mbs 2 --micro-batches 4 --steps 3 --lr "   \
    "0.01 --no-check "

struct side {
    struct pp_training training;
    struct pp_machine *machine;
};

static void open_side(struct pp_arena *arena, const char *line, struct side *side)
{
    struct typed typed;
    struct pp_error err = {0};

    cr_assert_eq(typed_resolve(arena, pp_arena_printf(arena, SMALL "%s", line), &typed, &err),
                 PP_OK, "%s: %s", line, err.message);
    side->training = typed.training;
    cr_assert_eq(pp_machine_create(arena, &side->training.machine, &side->machine, &err), PP_OK,
                 "%s: %s", line, err.message);
}

enum { TOKENS = 2 * 16 };

/* Returns the loss of step 1 in the layout of `to`, with the weights of `from`. */
static double loss_of(struct pp_arena *arena, const struct side *from, const struct side *to)
{
    const struct pp_profiled weights = {from->machine, &from->training.machine};
    struct pp_profile *profile;
    struct pp_error err = {0};
    double sum = 0;

    cr_assert_eq(pp_profile_create(arena, &to->training.machine, &profile, &err), PP_OK, "%s",
                 err.message);
    const int granules = 4 * to->training.machine.batch->replicas / profile->ep;
    for (int number = 0; number < granules; number++) {
        cr_assert_eq(pp_profile_run(profile, weights, &to->training.text, 1, number, &err), PP_OK,
                     "%s", err.message);
        for (int k = 0; k < profile->ep * TOKENS; k++)
            sum += profile->members[k / TOKENS].losses[k % TOKENS];
    }
    for (int pass = PP_TIMED_BI; pass <= PP_TIMED_BW; pass++)
        cr_assert_gt(profile->group[pass][PP_PART_HEAD].count, 0);
    return sum / (granules * profile->ep * TOKENS);
}

/* Trains a machine, and compares its loss with that of a profile of each layout. */
static void same_loss(struct pp_arena *arena, struct side *sides, int count, int f)
{
    const struct pp_text *text = &sides[f].training.text;
    struct pp_step_result result;
    struct pp_error err = {0};
    double loss;

    cr_assert(pp_machine_step(sides[f].machine, text, 0, &result, &err) == PP_OK &&
                  pp_machine_forward(sides[f].machine, text, 1, &loss, &err) == PP_OK,
              "%s", err.message);
    for (int t = 0; t < count; t++) {
        const double profiled = loss_of(arena, &sides[f], &sides[t]);
        cr_expect_float_eq(profiled, loss, 1e-5 * loss, "layout %d from %d: %.7g, machine %.7g", t,
                           f, profiled, loss);
    }
}

static void all_pairs(const char *const *lines, int count)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct side sides[8];

    for (int k = 0; k < count; k++)
        open_side(arena, lines[k], &sides[k]);
    for (int f = 0; f < count; f++)
        same_loss(arena, sides, count, f);
    for (int k = 0; k < count; k++)
        pp_machine_destroy(sides[k].machine);
}

Test(profile, of_another_tp_has_the_loss_of_its_machine)
{
    static const char *const lines[] = {"--schedule 1f1b --recompute full",
                                        "--schedule 1f1b --tp 2",
                                        "--schedule 1f1b --tp 2 --sequence-parallel on",
                                        "--schedule 1f1b --tp 4 --recompute stage-aware=0.5",
                                        "--schedule gpipe --recompute selective"};

    all_pairs(lines, PP_COUNT(lines));
}

Test(profile, of_another_ep_has_the_loss_of_its_machine)
{
    static const char *const lines[] = {
        "--schedule 1f1b --experts 4 --moe-ffn 16 --dp 2",
        "--schedule 1f1b --experts 4 --moe-ffn 16 --dp 2 --ep 2",
        "--schedule gpipe --experts 4 --moe-ffn 16 --dp 2 --ep 2 --tp 4",
        "--schedule 1f1b --experts 4 --moe-ffn 16 --dp 2 --tp 2 --ep 4 --etp 1",
        "--schedule 1f1b --experts 4 --moe-ffn 16 --dp 2 --tp 2 --ep 2 --recompute full"};

    all_pairs(lines, PP_COUNT(lines));
}

/* Each replica holds some of the parameters. */
Test(profile, takes_weights_from_shares)
{
    static const char *const lines[] = {"--schedule 1f1b --dp 2 --zero 3",
                                        "--schedule 1f1b --dp 2 --tp 2 --zero 3",
                                        "--schedule 1f1b --dp 2"};
    static const char *const experts[] = {
        "--schedule 1f1b --experts 4 --moe-ffn 16 --dp 4 --ep 2 --zero 3",
        "--schedule gpipe --experts 4 --moe-ffn 16 --dp 4 --ep 4"};

    all_pairs(lines, PP_COUNT(lines));
    all_pairs(experts, PP_COUNT(experts));
}
