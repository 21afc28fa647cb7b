/* Posts of gradient sums. They come after the compute of their gradients, in one order on all
 * ranks, and are added to programs that lack them. */
#include "tests/unit/schedules/lower/lower_by_hand.h"

#include "schedules/order/concat.h"
#include "schedules/registry.h"
#include "schedules/verify/verify.h"
#include "tests/unit/support/state_specs.h"

/* Compute instructions that follow the post of (stage)'s sum on `rank`. */
static int compute_after_sum(const struct pp_program *p, int rank, int stage)
{
    int after = -1;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        if (p->kind[i] == PP_AR && p->stage[i] == stage)
            after = 0;
        after += after >= 0 && pp_op_is_compute(p->kind[i]) && p->kind[i] != PP_U;
    }
    return after;
}

/* In the paper stages at the two ends of the pipeline post before the tail, the middle ones after
 * it. In the authors' runtime a rank posts early for its stage > D/2. */
Test(lower_sums, eager_opt_is_that_of_chimera)
{
    for (int ranks = 2; ranks <= 32; ranks += 2)
        for (int at = 0; at < 3 * PP_CONCAT_AUTO; at++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            const int concat = at % PP_CONCAT_AUTO;
            const int units = (1 + at / PP_CONCAT_AUTO) * (concat == PP_CONCAT_DOUBLING ? 2 : 1);
            const struct pp_shape shape = {.ranks = ranks,
                                           .micro_batches = units * ranks,
                                           .chunks = 1,
                                           .option[PP_CONCAT_AT] = concat};
            struct pp_lower_options options = {.recv_slots = 2, .has_sync = true};
            struct pp_program *compute, *by[3];

            cr_assert_eq(pp_schedule_program(arena, pp_schedule_find("chimera"), &shape, NULL,
                                             &compute, NULL),
                         PP_OK);
            for (int sync = 0; sync < 3; sync++) {
                options.grad_sync = sync;
                cr_assert_eq(pp_lower(arena, compute, &options, &by[sync], NULL), PP_OK);
            }
            for (int rank = 0; rank < ranks; rank++)
                for (int k = 0; k < 2; k++) {
                    const int stage = k ? ranks - 1 - rank : rank;
                    const int eager = compute_after_sum(by[PP_SYNC_EAGER], rank, stage);
                    const int opt = compute_after_sum(by[PP_SYNC_EAGER_OPT], rank, stage);

                    cr_assert_eq(compute_after_sum(by[PP_SYNC_END], rank, stage), 0);
                    cr_assert_eq(eager > 0, stage >= ranks / 2, "D%d N%d stage %d", ranks,
                                 units * ranks, stage);
                    cr_assert_eq(opt, stage > ranks / 2 ? eager : 0, "D%d N%d stage %d: %d", ranks,
                                 units * ranks, stage, opt);
                }
        }
}

/* Rank 1 finishes stage 0 before stage 1, rank 0 the other way round. In the order of their own
 * backwards, each would wait for the other's second post. */
Test(lower_sums, all_ranks_post_sums_in_one_order)
{
    static const uint16_t rank_of[] = {0, 1, 1, 0}, pipe_of[] = {0, 1};
    struct pp_program_head head = line_head(2, 2);

    head.pipelines = 2;
    head.rank_of = rank_of;
    head.pipe_of = pipe_of;
    for (int at = 0; at < 12; at++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_lower_options options = {.grad_sync = at % 3,
                                                 .has_sync = true,
                                                 .has_optimizer = true,
                                                 .has_tied = at / 3 % 2,
                                                 .state = specs_zero(at / 6)};
        struct pp_program *p =
            lower_text(arena, head, "0F0 1F1 1B1 0B0\n1F0 1I0 0F1 0B1 1W0", &options);
        struct pp_error err;
        int stalls;

        cr_assert(can_run(arena, p, &stalls), "case %d", at);
        cr_assert_eq(pp_verify(p, NULL, &err), PP_OK, "%s", err.message);
        cr_assert_eq(count_kind(p, PP_U), 4);
    }
}

/* A lowered program has no information on the replicas and the model of its run. A second lowering
 * adds the sums that these need. Where all sums are at the end, the result equals that of a single
 * lowering. */
static void lower_twice(struct pp_arena *arena, const struct pp_program *compute, void *context)
{
    int *eager = context;

    if (compute->stages == 1)
        return;
    for (int at = 0; at < 6; at++) {
        const struct pp_arena_mark mark = pp_arena_mark(arena);
        const bool has_sums = at >= 3;
        struct pp_lower_options options = {
            .recv_slots = 2, .grad_sync = at % 3, .has_sync = has_sums, .has_optimizer = true};
        struct pp_program *bare, *twice, *once;
        struct pp_error err;
        int stalls;

        cr_assert_eq(pp_lower(arena, compute, &options, &bare, &err), PP_OK, "%s", err.message);
        options.has_sync = options.has_tied = true;
        cr_assert_eq(pp_lower(arena, bare, &options, &twice, &err), PP_OK, "%s", err.message);
        cr_assert_eq(pp_lower(arena, compute, &options, &once, &err), PP_OK, "%s", err.message);
        cr_assert(can_run(arena, twice, &stalls), "%s %d", compute->name, at);
        cr_assert_eq(pp_verify(twice, NULL, &err), PP_OK, "%s %d: %s", compute->name, at,
                     err.message);
        cr_assert_eq(pp_program_size(twice), pp_program_size(once), "%s %d", compute->name, at);
        if (at % 3 == PP_SYNC_END)
            cr_assert_str_eq(pp_program_text(arena, twice), pp_program_text(arena, once));
        else
            (*eager)++;
        pp_arena_release(arena, mark);
    }
}

Test(lower_sums, a_file_gets_the_sums_it_lacks)
{
    int eager = 0;

    for_each_case(lower_twice, &eager);
    cr_assert_gt(eager, 0);
}
