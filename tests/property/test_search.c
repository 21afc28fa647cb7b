/* Bounds cost no answer: over small spaces the best and all its ties are the same with and without
 * them, and whatever the number of jobs. */
#include "tests/property/search_case.h"

#include <criterion/criterion.h>

static const char *const LINES[] = {
    "--gpus 8 --model llama2-7b --gbs 16 --seq 2048",
    "--gpus 16 --model gpt2-64 --seq 512 --gbs 64 --cluster v100-dgx1",
    "--gpus 12 --model llama2-7b --gbs 24 --seq 2048 --cluster a800~gpu:6",
    "--gpus 16 --model mixtral-8x7b --gbs 32 --seq 4096 --free pp,ep,mbs,schedule,zero,recompute",
    "--gpus 16 --model llama2-13b --gbs 32 --framework megatron --free tp,pp,schedule,vp,zero",
    "--gpus 8 --model llama3-8b --gbs 16 --cluster a100 --framework torchtitan",
    "--gpus 16 --model gpt-18b --cluster a100 --micro-batches 8 --free tp,pp,schedule,zero,mbs",
    "--gpus 8 --model llama2-70b --gbs 8 --seq 2048 --free tp,pp,cp,schedule",
    "--gpus 16 --model llama2-7b --gbs 32 --zero 3 --free tp,pp,cp,mbs,schedule",
};

static struct pp_search *search_of(struct pp_arena *arena, const char *line, bool is_exhaustive,
                                   int jobs)
{
    struct pp_search *search = PP_NEW(arena, struct pp_search);
    char *text = pp_arena_strdup(arena, line);
    struct pp_error err;

    cr_assert_eq(search_open(arena, text, search, &err), PP_OK, "%s: %s", line, err.message);
    search->is_exhaustive = is_exhaustive;
    search->jobs = jobs;
    cr_assert_eq(pp_search_run(arena, search, &err), PP_OK, "%s: %s", line, err.message);
    return search;
}

static void expect_same_rows(const struct pp_search *a, const struct pp_search *b, int count,
                             const char *line)
{
    for (int i = 0; i < count; i++) {
        const struct pp_search_row *x = &a->rows[i], *y = &b->rows[i];
        cr_assert_eq(x->point, y->point, "%s: row %d", line, i);
        cr_assert_eq(x->step_s, y->step_s, "%s: row %d", line, i);
        cr_assert_eq(x->peak_bytes, y->peak_bytes, "%s: row %d", line, i);
    }
}

Test(search, bounds_cost_no_answer)
{
    int64_t skipped = 0, none = 0;

    for (size_t i = 0; i < sizeof(LINES) / sizeof(*LINES); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_search *all = search_of(arena, LINES[i], true, 2),
                               *some = search_of(arena, LINES[i], false, 2);
        cr_assert_eq(all->ties, some->ties, "%s: %d ties, pruned %d", LINES[i], all->ties,
                     some->ties);
        cr_assert_eq(all->count == 0, some->count == 0, "%s", LINES[i]);
        cr_assert_eq(all->safest, some->safest, "%s", LINES[i]);
        expect_same_rows(all, some, all->ties, LINES[i]);
        cr_assert_eq(all->counts[PP_SEARCH_OPEN], 0, "%s", LINES[i]);
        skipped += some->counts[PP_SEARCH_OPEN];
        none += all->count == 0;
    }
    cr_assert_gt(skipped, 1000, "hardly anything was pruned");
    cr_assert_geq(none, 1, "something always fits");
}

Test(search, jobs_change_nothing)
{
    for (size_t i = 0; i < 3; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_search *one = search_of(arena, LINES[i], false, 1),
                               *three = search_of(arena, LINES[i], false, 3);
        cr_assert_eq(one->count, three->count, "%s", LINES[i]);
        expect_same_rows(one, three, one->count, LINES[i]);
        for (int k = 0; k < PP_SEARCH_STATUSES; k++)
            cr_assert_eq(one->counts[k], three->counts[k], "%s: %s", LINES[i],
                         pp_search_status_names[k]);
        cr_assert_eq(memcmp(one->board.status, three->board.status, (size_t)one->space.points), 0,
                     "%s", LINES[i]);
    }
}
