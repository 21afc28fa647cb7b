/* Bounds change no answer. Over small spaces the best and all its ties are the same with and
 * without them, for any number of jobs. */
#include "tests/property/search_case.h"

#include <criterion/criterion.h>

enum { SHORT_LINES = 8 };

static const char *const LINES[] = {
    "--gpus 8 --model llama2-7b --gbs 16 --seq 2048",
    "--gpus 16 --model llama2-13b --gbs 32 --framework megatron --free tp,pp,schedule,vp,zero",
    "--gpus 16 --model gpt-18b --cluster a100 --micro-batches 8 --free tp,pp,schedule,zero,mbs",
    "--gpus 8 --model llama2-70b --gbs 8 --seq 2048 --free tp,pp,cp,schedule",
    "--gpus 16 --model llama2-7b --gbs 32 --zero 3 --free tp,pp,cp,mbs,schedule",
    "--gpus 16 --model llama2-13b --gbs 64 --seq 4096 --framework amsp --free "
    "tp,pp,mbs,schedule,zero",
    "--gpus 8 --model llama2-7b --gbs 64 --seq 2048 --schedule gpipe,1f1b",
    "--gpus 4 --model gemma-2b --layers 4 --seq 4096 --gbs 32 --cluster v100-dgx1 --head ignored",
    /* With PIPESIM_LONG=1 only: these take most of the time. */
    "--gpus 16 --model gpt2-64 --seq 512 --gbs 64 --cluster v100-dgx1",
    "--gpus 12 --model llama2-7b --gbs 24 --seq 2048 --cluster a800~gpu:6",
    "--gpus 16 --model mixtral-8x7b --gbs 32 --seq 4096 --free pp,ep,mbs,schedule,zero,recompute",
    "--gpus 8 --model llama3-8b --gbs 16 --cluster a100 --framework torchtitan",
};

static struct pp_search *search_of(struct pp_arena *arena, const char *line, bool is_exhaustive,
                                   int jobs)
{
    struct pp_search *search = PP_NEW(arena, struct pp_search);
    struct pp_error err;

    cr_assert_eq(search_open(arena, line, search, &err), PP_OK, "%s: %s", line, err.message);
    search->is_exhaustive = is_exhaustive;
    search->jobs = jobs;
    cr_assert_eq(pp_search_run(arena, search, &err), PP_OK, "%s: %s", line, err.message);
    return search;
}

static void expect_same_row(const struct pp_search_row *x, const struct pp_search_row *y,
                            const char *line)
{
    cr_assert_eq(x->point, y->point, "%s", line);
    cr_assert_eq(x->outcome.step_s, y->outcome.step_s, "%s", line);
    cr_assert_eq(x->outcome.peak_bytes, y->outcome.peak_bytes, "%s", line);
    cr_assert_eq(x->twin_count, y->twin_count, "%s", line);
    for (int i = 0; i < x->twin_count; i++)
        cr_assert_eq(x->twins[i].point, y->twins[i].point, "%s", line);
}

/* The next tie from row `at` on. */
static int next_tie(const struct pp_search *search, int at)
{
    while (at < search->count && !search->rows[at].is_tie)
        at++;
    return at;
}

static void expect_same_ties(const struct pp_search *a, const struct pp_search *b, const char *line)
{
    cr_assert_eq(a->ties, b->ties, "%s: %d ties, %d", line, a->ties, b->ties);
    for (int i = 0, k = 0, n = 0; n < a->ties; n++, i++, k++) {
        i = next_tie(a, i), k = next_tie(b, k);
        expect_same_row(&a->rows[i], &b->rows[k], line);
    }
    if (a->count)
        cr_assert_eq(a->rows[a->safest].point, b->rows[b->safest].point, "%s", line);
}

/* No row without room stands before a tie of it that has room; returns their number. The first row
 * is simulated by another engine than the others. */
static int count_tight(const struct pp_search *search, const char *line)
{
    const struct pp_search_row *rows = search->rows;
    int tight = 0;

    for (int i = 1; i < search->count; i++) {
        if (pp_search_has_room(&rows[i].outcome))
            continue;
        tight++;
        for (int k = i + 1; k < search->count; k++)
            cr_assert(!pp_search_has_room(&rows[k].outcome) ||
                          rows[k].outcome.s_per_sample >
                              rows[i].outcome.s_per_sample * (1 + search->margin_frac),
                      "%s: row %d stands before %d", line, i, k);
    }
    return tight;
}

/* Twins are not simpler than their row; rows are no twins of each other. Returns the twins. */
static int count_twins(const struct pp_search *search, const char *line)
{
    int twins = 0;

    for (int i = 0; i < search->count; i++) {
        const struct pp_search_row *row = &search->rows[i];
        const struct pp_search_frame *f = pp_search_point(&search->space, row->point).frame;
        cr_assert(i < 2 || row->outcome.step_s != row[-1].outcome.step_s ||
                      row->outcome.peak_bytes != row[-1].outcome.peak_bytes,
                  "%s: row %d", line, i);
        for (int k = 0; k < row->twin_count; k++) {
            const struct pp_search_row *twin = &row->twins[k];
            cr_assert_eq(twin->outcome.step_s, row->dag_s, "%s", line);
            cr_assert_eq(twin->outcome.peak_bytes, row->outcome.peak_bytes, "%s", line);
            cr_assert_leq(f->cp, pp_search_point(&search->space, twin->point).frame->cp);
        }
        twins += row->twin_count;
    }
    return twins;
}

Test(search, bounds_cost_no_answer)
{
    const size_t count = getenv("PIPESIM_LONG") ? sizeof(LINES) / sizeof(*LINES) : SHORT_LINES;
    int64_t skipped = 0, none = 0, strained = 0, tight = 0, twins = 0;

    for (size_t i = 0; i < count; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_search *all = search_of(arena, LINES[i], true, 2),
                               *some = search_of(arena, LINES[i], false, 2);
        cr_assert_eq(all->count == 0, some->count == 0, "%s", LINES[i]);
        expect_same_ties(all, some, LINES[i]);
        cr_assert_eq(all->counts[PP_SEARCH_OPEN], 0, "%s", LINES[i]);
        skipped += some->counts[PP_SEARCH_OPEN];
        none += all->count == 0;
        tight += count_tight(all, LINES[i]) + count_tight(some, LINES[i]);
        twins += count_twins(some, LINES[i]);
        for (int k = 0; k < some->count; k++)
            strained += some->rows[k].outcome.is_strained;
    }
    cr_assert_gt(tight, 0, "everything has room");
    cr_assert_gt(twins, 0, "no layouts are twins");
    cr_assert_gt(strained, 0, "everything has room");
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
        for (int k = 0; k < one->count; k++)
            expect_same_row(&one->rows[k], &three->rows[k], LINES[i]);
        for (int k = 0; k < PP_SEARCH_STATUSES; k++)
            cr_assert_eq(one->counts[k], three->counts[k], "%s: %s", LINES[i],
                         pp_search_status_names[k]);
        cr_assert_eq(memcmp(one->board.status, three->board.status, (size_t)one->space.points), 0,
                     "%s", LINES[i]);
    }
}

/* ---- other machines -------------------------------------------------------------------------- */

/* What a run on that machine says of a point: its machine is given by options. */
static struct pp_outcome run_of(struct pp_arena *arena, const char *line, int64_t point)
{
    struct pp_search *search = PP_NEW(arena, struct pp_search);
    struct pp_config config;
    struct pp_result result;
    struct pp_error err;

    cr_assert_eq(search_open(arena, line, search, &err), PP_OK, "%s: %s", line, err.message);
    cr_assert_eq(pp_search_config(arena, &search->space, point, &config, &err), PP_OK);
    cr_assert_eq(pp_simulate(arena, &config, PP_QUICK, NULL, &result, &err), PP_OK);
    return pp_outcome_of(&result);
}

Test(search, other_machines_are_those_that_options_describe)
{
    static const char line[] = "--gpus 16 --model llama2-7b --gbs 64 --seq 2048 --engine dag "
                               "--free tp,pp,schedule,mbs --cluster a100~gpu:4";
    static const struct {
        int what_if;
        const char *options;
    } MACHINES[] = {{0, " --link-bw network=0.5"},
                    {1, " --link-bw network=2"},
                    {2, " --link-bw node=0.5"},
                    {3, " --link-bw node=2"},
                    {4, "~memory:42.584GB"},
                    {6, "~peak:156TF"},
                    {7, "~peak:624TF"}};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_search *here = search_of(arena, line, false, 2);
    int flips = 0;

    for (size_t i = 0; i < sizeof(MACHINES) / sizeof(*MACHINES); i++) {
        const struct pp_search_flip *flip = &here->flips[MACHINES[i].what_if];
        const char *there = pp_arena_printf(arena, "%s%s", line, MACHINES[i].options),
                   *name = pp_search_what_ifs[MACHINES[i].what_if].name;
        cr_assert(flip->is_known, "%s", name);
        const struct pp_outcome best = run_of(arena, there, here->rows[0].point),
                                winner = run_of(arena, there, here->rows[flip->winner].point);
        cr_assert_eq(best.fits, flip->fits, "%s", name);
        cr_assert_eq(!pp_search_has_room(&best), flip->is_tight, "%s", name);
        cr_assert(winner.fits, "%s", name);
        if (best.fits)
            cr_assert_float_eq(best.step_s / winner.step_s - 1, flip->slower_frac, 1e-6, "%s",
                               name);
        for (int row = 0; row < here->count && row < 16; row++) {
            const struct pp_outcome other = run_of(arena, there, here->rows[row].point);
            cr_assert(!other.fits || pp_search_rank_s(here, &other) >=
                                         pp_search_rank_s(here, &winner) * (1 - 1e-9),
                      "%s: row %d is better", name, row);
        }
        flips += flip->winner > 0;
    }
    cr_assert_gt(flips, 0, "no other machine has another winner");
}

Test(search, what_was_published_is_a_point_of_the_space)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *line =
        "--gpus 64 --gbs 128 --model llama2-70b --engine dag --free tp,pp,vp,schedule";
    const struct pp_search *search = search_of(arena, line, false, 2);
    const struct pp_search_published *p = &search->published[0];

    cr_assert_geq(search->published_count, 1);
    cr_assert_geq(p->point, 0);
    const struct pp_search_point at = pp_search_point(&search->space, p->point);
    cr_assert_eq(at.frame->tp, p->recipe->tp);
    cr_assert_eq(at.frame->pp, p->recipe->pp);
    cr_assert_eq(at.order->vp, p->recipe->vp);
    cr_assert_str_eq(at.order->base.schedule_name, p->recipe->schedule);
    const struct pp_outcome outcome = run_of(arena, line, p->point);
    cr_assert_eq(outcome.step_s, p->outcome.step_s);
    cr_assert_eq(outcome.fits, p->outcome.fits);
}
