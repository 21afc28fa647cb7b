/* The search for what serves, against the same runs typed by hand. */
#include "sim/serving/serving.h"

#include "sim/inference/inference.h"
#include "tests/unit/support/sim_run.h"

#include <criterion/criterion.h>
#include <math.h>

/* Finds what serves, from the words of a command line. */
static struct pp_serving search(struct pp_arena *arena, const char *line)
{
    enum { WORDS = 32 };
    char *text = pp_arena_printf(arena, "pipesim plan %s", line), *words[WORDS];
    struct pp_parsed *parsed = PP_NEW(arena, struct pp_parsed);
    struct pp_wish *wish = PP_NEW(arena, struct pp_wish);
    struct pp_serving serving;
    struct pp_error err = {0};
    int count = 0;

    for (char *word = strtok(text, " "); word && count < WORDS; word = strtok(NULL, " "))
        words[count++] = word;
    cr_assert_eq(pp_options_parse(arena, &pp_sim_cli, count, words, parsed, &err), PP_OK, "%s: %s",
                 line, err.message);
    cr_assert_eq(pp_wish_open(arena, parsed, wish, &err), PP_OK, "%s: %s", line, err.message);
    cr_assert_eq(pp_serving_run(arena, wish, &serving, &err), PP_OK, "%s: %s", line, err.message);
    return serving;
}

/* A layout and a batch, typed. */
static void typed(struct pp_arena *arena, const char *line, int gpus, int tp, int pp, int batch,
                  struct pp_result *r, struct pp_inference **f)
{
    struct pp_error err = {0};
    const char *whole = pp_arena_printf(arena, "%s --gpus %d --tp %d --pp %d --batch %d", line,
                                        gpus, tp, pp, batch);

    cr_assert_eq(sim_run_at(arena, whole, PP_METRICS, r, &err), PP_OK, "%s: %s", whole,
                 err.message);
    cr_assert_eq(pp_inference_find(arena, r, f, &err), PP_OK, "%s: %s", whole, err.message);
}

static const char *const LINE = "--mode infer --model llama3-8b --cluster a100-40 --tokens 16";
enum { GPUS = 4, MOST_BATCH = 1024 };

/* Returns the best score of all layouts of GPUS devices and all powers of two, typed one by one. */
static double best_typed(struct pp_arena *arena, enum pp_serving_objective objective,
                         double max_token_s, int *count)
{
    double best = INFINITY;

    *count = 0;
    for (int tp = 1; tp <= GPUS; tp *= 2)
        for (int pp = 1; pp <= GPUS / tp; pp *= 2)
            for (int batch = 1; batch <= MOST_BATCH; batch *= 2) {
                struct pp_result r;
                struct pp_inference *f;
                typed(arena, LINE, GPUS, tp, pp, batch, &r, &f);
                ++*count;
                const double score = objective == PP_SERVE_THROUGHPUT ? -f->tokens_per_s_per_gpu
                                     : objective == PP_SERVE_LATENCY  ? f->token_s
                                                                      : f->first_token_s;
                if (r.fits && f->token_s <= max_token_s && score < best)
                    best = score;
            }
    return best;
}

Test(serving, the_best_is_that_of_all_runs_typed)
{
    static const struct {
        const char *options;
        enum pp_serving_objective objective;
        double max_token_s;
    } searches[] = {{"", PP_SERVE_THROUGHPUT, INFINITY},
                    {"--objective latency", PP_SERVE_LATENCY, INFINITY},
                    {"--objective first-token", PP_SERVE_FIRST_TOKEN, INFINITY},
                    {"--max-token-s 12ms", PP_SERVE_THROUGHPUT, 0.012}};

    for (size_t i = 0; i < PP_COUNT(searches); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        int count;
        const struct pp_serving s = search(
            arena, pp_arena_printf(arena, "%s --gpus %d %s", LINE, GPUS, searches[i].options));
        const double best =
            best_typed(arena, searches[i].objective, searches[i].max_token_s, &count);
        const struct pp_serving_point *p = &s.points[0];
        const double found = searches[i].objective == PP_SERVE_THROUGHPUT ? -p->tokens_per_s_per_gpu
                             : searches[i].objective == PP_SERVE_LATENCY  ? p->token_s
                                                                          : p->first_token_s;
        cr_expect(p->meets);
        cr_expect_leq(s.count, count);
        cr_expect_eq(found, best, "%s: %.17g, typed %.17g", searches[i].options, found, best);
    }
}

Test(serving, every_row_is_the_run_typed)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_serving s = search(arena, pp_arena_printf(arena, "%s --gpus %d", LINE, GPUS));

    for (int i = 0; i < s.count; i += 3) {
        const struct pp_serving_point *p = &s.points[i];
        struct pp_result r;
        struct pp_inference *f;
        typed(arena, LINE, p->layout.gpus, p->layout.tp, p->layout.pp, p->batch, &r, &f);
        cr_expect_eq(p->token_s, f->token_s);
        cr_expect_eq(p->first_token_s, f->first_token_s);
        cr_expect_eq(p->tokens_per_s, f->tokens_per_s);
        cr_expect_eq(p->peak_bytes, r.memory[r.peak_rank].peak_bytes);
        cr_expect_eq(p->fits, r.fits);
    }
}

Test(serving, rows_are_in_order_and_limits_are_kept)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_serving s =
        search(arena, pp_arena_printf(arena, "%s --gpus %d --max-token-s 12ms", LINE, GPUS));
    struct pp_error err = {0};

    for (int i = 0; i < s.count; i++) {
        const struct pp_serving_point *p = &s.points[i];
        cr_expect_eq(p->meets, p->fits && p->token_s <= 0.012);
        cr_expect(i == 0 || p->meets <= s.points[i - 1].meets);
        cr_expect(i == 0 || p->meets != s.points[i - 1].meets || p->fits != s.points[i - 1].fits ||
                  p->tokens_per_s_per_gpu <= s.points[i - 1].tokens_per_s_per_gpu);
    }
    cr_expect_eq(pp_serving_check(&s, true, &err), PP_OK);
    cr_expect_null(pp_serving_fewest(&s), "their number is given");
}

Test(serving, a_limit_beyond_reach_is_no_fit)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_serving s =
        search(arena, pp_arena_printf(arena, "%s --gpus %d --max-token-s 1us", LINE, GPUS));
    struct pp_error err = {0};

    cr_expect_not(s.points[0].meets);
    cr_expect_eq(pp_serving_check(&s, false, &err), PP_EFIT);
    for (int i = 1; i < s.count; i++)
        cr_expect(!s.points[i].fits || s.points[i].token_s >= s.points[0].token_s,
                  "the nearest to the limit comes first");
}

/* Without a number of devices each layout stands once, and more replicas of it are only more. */
Test(serving, replicas_with_the_figures_of_one_are_one_row)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_serving s = search(arena, LINE);
    int folded = 0;

    for (int i = 0; i < s.count; i++) {
        const struct pp_serving_point *p = &s.points[i];
        for (int k = 0; k < i; k++)
            cr_expect(p->layout.tp != s.points[k].layout.tp || p->batch != s.points[k].batch ||
                      p->layout.pp != s.points[k].layout.pp);
        if (p->most_replicas == p->layout.dp || folded++ % 8)
            continue;
        struct pp_result r;
        struct pp_inference *f;
        const int times = p->most_replicas / p->layout.dp;
        typed(arena, LINE, times * p->layout.gpus, p->layout.tp, p->layout.pp, p->batch, &r, &f);
        cr_expect_eq(f->token_s, p->token_s);
        cr_expect_eq(f->tokens_per_s, times * p->tokens_per_s);
    }
    cr_expect_gt(folded, 8);
    cr_expect_eq(pp_serving_fewest(&s)->layout.gpus, 1);
}

/* Copies from the host share the way of a node, so more replicas are slower: they stand apart. */
Test(serving, replicas_that_share_a_link_are_rows_of_their_own)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_serving s =
        search(arena, "--mode infer --model opt-30b --cluster a100 --batch 8 --tokens 4 --tp 1 "
                      "--pp 1 --offload p=host");
    const struct pp_serving_point *p = s.points;

    cr_assert_eq(s.count, 2, "%d", s.count);
    cr_expect_eq(p[0].layout.dp, 1);
    cr_expect_eq(p[0].most_replicas, 4);
    cr_expect_eq(p[1].layout.dp, 8);
    cr_expect_lt(p[1].tokens_per_s_per_gpu, p[0].tokens_per_s_per_gpu);
}
