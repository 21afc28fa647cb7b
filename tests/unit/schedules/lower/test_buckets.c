/* Gradient sums in buckets: text, order, the rule of posting inside a backward, times against
 * closed forms. Random programs with buckets run in test_evaluate_oracle, mutants in
 * test_verify_mutants. */
#include "tests/unit/support/lower_cases.h"

#include "schedules/evaluate/evaluate.h"
#include "schedules/memory/memory.h"
#include "schedules/verify/verify.h"
#include "tests/unit/support/cells.h"
#include "tests/unit/support/state_specs.h"

enum { MAX_STAGES = 64 };

static const uint16_t line_of_ranks[] = {0, 1, 2, 3};
static struct pp_program_head line_head(int ranks, int stages, int micro_batches)
{
    static const uint16_t all_on_one[MAX_STAGES];

    return (struct pp_program_head){.name = "test",
                                    .level = PP_LEVEL_LOWERED,
                                    .ranks = ranks,
                                    .stages = stages,
                                    .pipelines = 1,
                                    .micro_batches = micro_batches,
                                    .granules = 1,
                                    .splits = 1,
                                    .versions = 1,
                                    .rank_of = ranks == 1 ? all_on_one : line_of_ranks};
}

static struct pp_program *freeze(struct pp_arena *arena, struct pp_program_head head,
                                 const char *text)
{
    struct pp_program *p = NULL;
    struct pp_error err;

    cr_assert_eq(pp_program_freeze(arena, &head, cells_orders(arena, text, head.ranks), &p, &err),
                 PP_OK, "%s: %s", text, err.message);
    return p;
}

static struct pp_program *lower(struct pp_arena *arena, const struct pp_program *compute,
                                const struct pp_lower_options *options)
{
    struct pp_program *p = NULL;
    struct pp_error err;

    cr_assert_eq(pp_lower(arena, compute, options, &p, &err), PP_OK, "%s", err.message);
    return p;
}

/* ---- structure ------------------------------------------------------------------------------- */

static const struct {
    const char *text, *part;
} badly_cut[] = {
    {"0F0 0B0 0AR#1/2 0AR#0/2", "expected bucket 0 before it"},
    {"0F0 0B0 0AR#0/2 0AR#0/2", "expected bucket 1 of 2"},
    {"0F0 0B0 0AR#0/2 0AR#1/3 0AR#2/3", "expected bucket 1 of 2"},
    {"0F0 0B0 0AR#0/2 0AR", "expected bucket 1 of 2"},
    {"0F0 0B0 0AR#0/3 0AR#1/3", "only the first 2 of 3 buckets"},
    {"0F0 0B0 0AR#0/2 0AR#1/2 (0AR)WAIT", "other buckets"},
    {"0F0 0B0 0AR#0/2 0AR#1/2 (0AR#0/3)WAIT", "other buckets"},
    {"0F0 0B0 0AR#0/2 0AR#1/2 (0AR#2/3)WAIT", "nothing of this name"},
    {"0F0 0B0 0AR (0AR#0/2)WAIT", "other buckets"},
};

Test(buckets, are_posted_in_order_and_all)
{
    for (size_t i = 0; i < sizeof(badly_cut) / sizeof(*badly_cut); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_program_head head = line_head(1, 1, 1);
        struct pp_program *p;
        struct pp_error err = {0};

        cr_assert_eq(
            pp_program_freeze(arena, &head, cells_orders(arena, badly_cut[i].text, 1), &p, &err),
            PP_EPROGRAM, "%s", badly_cut[i].text);
        cr_assert(strstr(err.message, badly_cut[i].part), "%s: %s", badly_cut[i].text, err.message);
    }
}

Test(buckets, are_the_same_on_all_members)
{
    static const uint16_t rank_of[] = {0, 1, 1, 0}, pipe_of[] = {0, 1};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_program_head head = line_head(2, 2, 2);
    struct pp_program *p;
    struct pp_error err = {0};

    head.pipelines = 2;
    head.rank_of = rank_of;
    head.pipe_of = pipe_of;
    cr_assert_eq(pp_program_freeze(arena, &head,
                                   cells_orders(arena,
                                                "0F0 1F1 1B1 0B0 0AR@0#0/2 0AR@0#1/2\n"
                                                "1F0 0F1 0B1 1B0 0AR@1 0AR@1",
                                                2),
                                   &p, &err),
                 PP_EPROGRAM);
    cr_assert(strstr(err.message, "rank 0 cuts this collective into other buckets"), "%s",
              err.message);
}

static const struct {
    const char *text, *part;
} illegal[] = {
    {"0F0 0B0 0AR#0/2 0AR#1/2 (0AR#0/2)WAIT 0U (0AR#1/2)WAIT", "0U is listed before (0AR#1/2)WAIT"},
    {"0F0 0B0 0AR#0/2 0AR#1/2 (0AR#1/2)WAIT 0U", "(0AR#0/2)WAIT is missing"},
    {"0F0 0B0 0AR#0/2 0AR#1/2 (0AR#0/2)WAIT 0U", "(0AR#1/2)WAIT is missing"},
    {"0F0 0AR#0/2 0B0 0AR#1/2 (0AR#0/2)WAIT (0AR#1/2)WAIT 0U",
     "0AR#0/2 is listed before 0B0, which it needs"},
    {"0F0 0B0 0RS#0/2 0RS#1/2 (0RS#0/2)WAIT (0RS#1/2)WAIT 0AG#0/2 0U 0AG#1/2",
     "0AG#0/2 gathers weights that 0U has not updated yet"},
    {"0F0 0B0 0AR#0/2 0AR#1/2 0AR#0/2 0AR#1/2", "0AR#0/2 is listed twice"},
    {"0F0 0B0 0AR#0/2 0AR#1/2 (0AR#0/2)WAIT (0AR#1/2)WAIT 0U", NULL},
    {"0F0 0B0 0AR#0/2 0AR#1/2 (0AR#1/2)WAIT (0AR#0/2)WAIT 0U", NULL},
};

Test(buckets, an_update_waits_for_all)
{
    for (size_t i = 0; i < sizeof(illegal) / sizeof(*illegal); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_program *p = freeze(arena, line_head(1, 1, 1), illegal[i].text);
        struct pp_error err = {0};

        cr_assert_eq(pp_verify(p, NULL, &err), illegal[i].part ? PP_EPROGRAM : PP_OK, "%s: %s",
                     illegal[i].text, err.message);
        cr_assert(!illegal[i].part || strstr(err.message, illegal[i].part), "%s: %s",
                  illegal[i].text, err.message);
    }
}

/* ---- the rule -------------------------------------------------------------------------------- */

/* `inside` names the backward, "" = none; `at` is the position of the bucket asked for. */
static const struct {
    const char *text;
    int at, inside, numerator, denominator;
} posts[] = {
    {"0F0 0B0 0AR#0/4 0AR#1/4 0AR#2/4 0AR#3/4", 2, 1, 1, 4},
    {"0F0 0B0 0AR#0/4 0AR#1/4 0AR#2/4 0AR#3/4", 3, 1, 2, 4},
    {"0F0 0B0 0AR#0/4 0AR#1/4 0AR#2/4 0AR#3/4", 4, 1, 3, 4},
    {"0F0 0B0 0AR#0/4 0AR#1/4 0AR#2/4 0AR#3/4", 5, -1, 0, 0}, /* its time is the end */
    {"0F0 0B0 0RS#0/2 0RS#1/2", 2, 1, 1, 2},
    {"0F0 0I0 0W0 0AR#0/2 0AR#1/2", 3, 2, 1, 2},
    {"0F0 0I0 0AR#0/2 0AR#1/2 0W0", 2, -1, 0, 0}, /* no weight gradients in it */
    {"0F0 0B0 0AG#0/2 0AG#1/2", 2, -1, 0, 0},     /* no sum */
    {"0F0 0B0 0AR", 2, -1, 0, 0},
    {"0F0 1F0 1B0 0B0 1AR#0/2 1AR#1/2 0AR#0/2 0AR#1/2", 4, -1, 0, 0}, /* another stage's */
    {"0F0 1F0 1B0 0B0 1AR#0/2 1AR#1/2 0AR#0/2 0AR#1/2", 6, -1, 0, 0}, /* another sum between */
    {"0F0 1F0 1B0 1AR#0/2 1AR#1/2 0B0 0AR#0/2 0AR#1/2", 3, 2, 1, 2},
    {"0F0 1F0 1B0 1AR#0/2 1AR#1/2 0B0 0AR#0/2 0AR#1/2", 6, 5, 1, 2},
    {"0F0 0F1 0B0 (0F1;0B1)OVERLAP_F_B 0AR#0/2 0AR#1/2", 5, 4, 1, 2},
    {"0F0 0B0 0AR#0/2 0AR#1/2 (0AR#0/2)WAIT 0AR#0/2 0AR#1/2", 5, -1, 0, 0}, /* a WAIT between */
    {"0F0 0B0 0AR#0/2 0AR#1/2 0AR#0/2 0AR#1/2", 4, -1, 0, 0},               /* a second sum */
    {"0F0 0B0 0BAR 0AR#0/2 0AR#1/2", 3, -1, 0, 0},
};

Test(buckets, are_posted_inside_the_backward_that_they_follow)
{
    for (size_t i = 0; i < sizeof(posts) / sizeof(*posts); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_program *p = freeze(arena, line_head(1, 2, 2), posts[i].text);
        int numerator = 0, denominator = 0;

        cr_assert_eq(pp_program_posted_inside(p, posts[i].at, &numerator, &denominator),
                     posts[i].inside, "%s, %d", posts[i].text, posts[i].at);
        cr_assert(posts[i].inside < 0 ||
                      (numerator == posts[i].numerator && denominator == posts[i].denominator),
                  "%s, %d: %d/%d", posts[i].text, posts[i].at, numerator, denominator);
    }
}

Test(buckets, messages_may_stand_between_and_other_ranks_do_not_count)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_program *p = freeze(arena, line_head(2, 2, 1),
                                        "0F0 0SEND_F0 0RECV_B0 (0RECV_B0)WAIT 0B0 0AR#0/2 0AR#1/2\n"
                                        "1RECV_F0 (1RECV_F0)WAIT 1F0 1B0 1SEND_B0 1AR#0/2 1AR#1/2");
    int numerator, denominator;

    cr_assert_eq(pp_program_posted_inside(p, 12, &numerator, &denominator), 10);
    /* The list of rank 1 begins with the sum of the stage that rank 0 ends with. */
    static const uint16_t rank_of[] = {0, 0, 1, 1}, pipe_of[] = {0, 1};
    struct pp_program_head head = line_head(2, 2, 2);
    head.pipelines = 2;
    head.rank_of = rank_of;
    head.pipe_of = pipe_of;
    p = freeze(arena, head,
               "0F0 1F0 1B0 0AR@0#0/2 0AR@0#1/2 0B0\n0AR@1#0/2 0AR@1#1/2 0F1 1F1 1B1 0B1");
    cr_assert_eq(pp_program_posted_inside(p, 6, &numerator, &denominator), -1);
}

/* ---- lowering -------------------------------------------------------------------------------- */

/* The tied sum comes after the buckets, so that these may begin early. */
Test(buckets, lowering_by_hand)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const int buckets[] = {2, 3};
    struct pp_program_head head = line_head(2, 2, 1);
    struct pp_lower_options options = {.post = PP_POST_JIT,
                                       .has_sync = true,
                                       .has_optimizer = true,
                                       .has_tied = true,
                                       .buckets = buckets};

    head.level = PP_LEVEL_COMPUTE;
    const struct pp_program *compute = freeze(arena, head, "0F0 0B0\n1F0 1B0");
    cells_text_is(lower(arena, compute, &options),
                  "0F0 0SEND_F0 0RECV_B0 (0RECV_B0)WAIT (0SEND_F0)WAIT 0B0 0AR#0/2 0AR#1/2 (0;1)AR "
                  "(0AR#0/2)WAIT (0AR#1/2)WAIT ((0;1)AR)WAIT 0U\n"
                  "1RECV_F0 (1RECV_F0)WAIT 1F0 1B0 1SEND_B0 1AR#0/3 1AR#1/3 1AR#2/3 (0;1)AR "
                  "(1SEND_B0)WAIT (1AR#0/3)WAIT (1AR#1/3)WAIT (1AR#2/3)WAIT ((0;1)AR)WAIT 1U\n");
    options.state = specs_zero(1);
    options.has_tied = false;
    cells_text_is(
        lower(arena, compute, &options),
        "0F0 0SEND_F0 0RECV_B0 (0RECV_B0)WAIT (0SEND_F0)WAIT 0B0 0RS#0/2 0RS#1/2 "
        "(0RS#0/2)WAIT (0RS#1/2)WAIT 0U 0AG#0/2 0AG#1/2 (0AG#0/2)WAIT (0AG#1/2)WAIT\n"
        "1RECV_F0 (1RECV_F0)WAIT 1F0 1B0 1SEND_B0 1RS#0/3 1RS#1/3 1RS#2/3 (1SEND_B0)WAIT "
        "(1RS#0/3)WAIT (1RS#1/3)WAIT (1RS#2/3)WAIT 1U 1AG#0/3 1AG#1/3 1AG#2/3 (1AG#0/3)WAIT "
        "(1AG#1/3)WAIT (1AG#2/3)WAIT\n");
    options.update_every = 1;
    cells_text_is(
        lower(arena, compute, &options),
        "0F0 0SEND_F0 0RECV_B0 (0RECV_B0)WAIT (0SEND_F0)WAIT 0B0 0RS#0/2 0RS#1/2 "
        "(0RS#0/2)WAIT (0RS#1/2)WAIT 0U 0AG#0/2 0AG#1/2 (0AG#0/2)WAIT (0AG#1/2)WAIT\n"
        "1RECV_F0 (1RECV_F0)WAIT 1F0 1B0 1SEND_B0 1RS#0/3 1RS#1/3 1RS#2/3 (1RS#0/3)WAIT "
        "(1RS#1/3)WAIT (1RS#2/3)WAIT 1U 1AG#0/3 1AG#1/3 1AG#2/3 (1AG#0/3)WAIT (1AG#1/3)WAIT "
        "(1AG#2/3)WAIT (1SEND_B0)WAIT\n");
}

/* Costs for the laws: multiples of 8 ps, so that up to 8 buckets have whole shares; collectives
 * without latency. */
static struct pp_costs *whole_costs(struct pp_arena *arena, const struct pp_program *p)
{
    static const int kinds[] = {PP_F, PP_B, PP_I, PP_W, PP_U, PP_AR, PP_RS, PP_AG};
    struct pp_costs *c = PP_NEW(arena, struct pp_costs);
    uint64_t random = 88172645463325252u + (uint64_t)pp_program_size(p);

    *c = (struct pp_costs){.stages = p->stages,
                           .splits = p->splits,
                           .granules = 1, /* durations of one granule */
                           .ranks = p->ranks,
                           .links = 1,
                           .sync_ranks = 2,
                           .alpha_ps = PP_ARRAY(arena, int64_t, 1),
                           .s_per_byte = PP_ARRAY(arena, double, 1),
                           .tied = PP_NEW(arena, struct pp_cost),
                           .memory = PP_ARRAY(arena, struct pp_stage_memory, p->stages)};
    c->alpha_ps[0] = 7;
    c->tied->ps = 40;
    for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
        c->op[kinds[k]] = PP_ARRAY(arena, struct pp_cost, p->stages * p->splits);
        for (int s = 0; s < p->stages * p->splits; s++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            c->op[kinds[k]][s].ps = 8 * (1 + (int64_t)(random >> 33) % 100);
        }
    }
    for (int s = 0; s < p->stages; s++)
        c->memory[s] = (struct pp_stage_memory){.params_bytes = 10 + s,
                                                .grads_bytes = 20 + s,
                                                .saved_bytes = 300 + s,
                                                .checkpoint_bytes = 300 + s,
                                                .boundary_bytes = 30};
    return c;
}

static const struct pp_times *run(struct pp_arena *arena, const struct pp_program *p,
                                  const struct pp_costs *costs)
{
    const struct pp_eval_options options = {0};
    struct pp_eval *plan;
    struct pp_error err;

    cr_assert_eq(pp_eval_create(arena, p, costs, &options, &plan, &err), PP_OK, "%s", err.message);
    return pp_eval_run(arena, plan, 1, NULL, PP_TIMES_ALL);
}

struct found { /* over all cases */
    int cases, inside, earlier;
};

static void check_buckets(struct pp_arena *arena, const struct pp_program *compute, int grad_sync,
                          struct found *found)
{
    int buckets[MAX_STAGES];
    struct pp_lower_options options = {.recv_slots = 2,
                                       .grad_sync = (enum pp_grad_sync)grad_sync,
                                       .has_sync = true,
                                       .has_optimizer = true,
                                       .state = specs_zero(compute->ranks % 2)};
    const struct pp_program *whole = lower(arena, compute, &options);
    const struct pp_costs *costs = whole_costs(arena, compute);
    const struct pp_rank_memory *needs = pp_memory_peaks(arena, whole, costs);
    int64_t before = run(arena, whole, costs)->makespan_ps;
    const char *text = pp_program_text(arena, whole);

    options.buckets = buckets;
    for (int k = 1; k <= 8; k *= 2) {
        int numerator, denominator;
        struct pp_program *read;
        struct pp_error err = {0};

        for (int s = 0; s < compute->stages; s++)
            buckets[s] = k;
        const struct pp_program *p = lower(arena, compute, &options);
        const char *cut = pp_program_text(arena, p);
        cr_assert_eq(strcmp(text, cut) == 0, k == 1);
        cr_assert_eq(pp_verify(p, NULL, &err), PP_OK, "%s", err.message);
        cr_assert_eq(
            pp_program_parse(arena, "text", cut, strlen(cut), PP_DIALECT_2025, &read, &err), PP_OK,
            "%s", err.message);
        cr_assert_str_eq(pp_program_text(arena, read), cut);
        struct machine m = machine_make(arena, p);
        cr_assert(machine_run(&m, k == 2));
        const struct pp_rank_memory *cut_needs = pp_memory_peaks(arena, p, costs);
        for (int r = 0; r < p->ranks; r++)
            cr_assert(cut_needs[r].peak_bytes == needs[r].peak_bytes &&
                      cut_needs[r].peak_activations == needs[r].peak_activations);
        for (int i = 0; i < pp_program_size(p); i++)
            found->inside += pp_program_posted_inside(p, i, &numerator, &denominator) >= 0;
        const int64_t after = run(arena, p, costs)->makespan_ps;
        cr_assert_leq(after, before, "%s, %d buckets: %lld ps, before %lld", compute->name, k,
                      (long long)after, (long long)before);
        found->earlier += after < before;
        before = after;
    }
    found->cases++;
}

static void visit(struct pp_arena *arena, const struct pp_program *compute, void *context)
{
    for (int grad_sync = 0; grad_sync < 3 && compute->stages <= MAX_STAGES; grad_sync++) {
        const struct pp_arena_mark mark = pp_arena_mark(arena);
        check_buckets(arena, compute, grad_sync, context);
        pp_arena_release(arena, mark);
    }
}

/* Every schedule: legal, read as printed, one bucket is none, memory unchanged, and without latency
 * twice the buckets are never later. */
Test(buckets, without_latency_more_are_never_later)
{
    struct found found = {0};

    for_each_case(visit, &found);
    cr_log_info("%d cases, %d posts inside a backward, %d times earlier", found.cases, found.inside,
                found.earlier);
    cr_assert_gt(found.cases, 1000);
    cr_assert_gt(found.inside, 1000);
    cr_assert_gt(found.earlier, 1000);
}

/* ---- times ----------------------------------------------------------------------------------- */

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* One rank: a backward of `backward_ps`, then its sum in k buckets, each with all of the latency. A
 * bucket waits for its part of the backward and for the bucket before it. So the end is the latest
 * over j of this: bucket j is posted, and the k - j buckets from it on follow one another. */
static int64_t closed_form_ps(int64_t start_ps, int64_t backward_ps, int64_t latency_ps,
                              int64_t bytes_ps, int k)
{
    int64_t end_ps = 0;

    for (int j = 0; j < k; j++)
        end_ps = max64(end_ps, start_ps + backward_ps * (j + 1) / k +
                                   (k - j) * (latency_ps + bytes_ps / k));
    return end_ps;
}

static struct pp_costs *one_rank_costs(struct pp_arena *arena, int64_t backward_ps,
                                       int64_t latency_ps, int64_t bytes_ps)
{
    const struct {
        int kind;
        struct pp_cost cost;
    } rows[] = {{PP_F, {.ps = 1000}},
                {PP_B, {.ps = backward_ps}},
                {PP_AR, {.ps = latency_ps + bytes_ps, .latency_ps = latency_ps, .bytes = 1e6}}};
    struct pp_costs *c = PP_NEW(arena, struct pp_costs);

    *c = (struct pp_costs){.stages = 1, .splits = 1, .granules = 1, .ranks = 1, .links = 1};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        c->op[rows[i].kind] = PP_ARRAY(arena, struct pp_cost, 1);
        c->op[rows[i].kind][0] = rows[i].cost;
    }
    c->alpha_ps = PP_ARRAY(arena, int64_t, 1);
    c->s_per_byte = PP_ARRAY(arena, double, 1);
    return c;
}

static int64_t evaluated_ps(struct pp_arena *arena, const struct pp_costs *costs, int k)
{
    struct pp_program_head head = line_head(1, 1, 2);
    const struct pp_lower_options options = {.has_sync = true, .buckets = &k};

    head.level = PP_LEVEL_COMPUTE;
    return run(arena, lower(arena, freeze(arena, head, "0F0 0F1 0B0 0B1"), &options), costs)
        ->makespan_ps;
}

Test(buckets, closed_form_of_one_rank)
{
    enum { WHOLE = 5040 }; /* divisible by 1 to 10 */
    static const int counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 60, 210, 252};

    for (int64_t backward = 0; backward <= 9; backward += 3)
        for (int64_t bytes = 0; bytes <= 12; bytes += 2)
            for (int64_t latency = 0; latency <= 5000; latency = 7 * latency + 11)
                for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
                    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
                    const int64_t b = backward * WHOLE, t = bytes * WHOLE;
                    const struct pp_costs *costs = one_rank_costs(arena, b, latency, t);

                    cr_assert_eq(evaluated_ps(arena, costs, counts[i]),
                                 closed_form_ps(2000 + b, b, latency, t, counts[i]),
                                 "B %lld, latency %lld, bytes %lld, %d buckets", (long long)b,
                                 (long long)latency, (long long)t, counts[i]);
                }
}

/* Few buckets begin late, many pay for their latencies. */
Test(buckets, with_latency_there_is_a_best_number)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_costs *costs = one_rank_costs(arena, 5040000, 20000, 5040000);
    int64_t before = INT64_MAX, least = INT64_MAX;
    int best = 0;

    for (int k = 1; k <= PP_MAX_BUCKETS; k++) {
        const int64_t ps = evaluated_ps(arena, costs, k);
        if (ps < least)
            least = ps, best = k;
        cr_assert(best == k || ps >= before - k, "%d buckets", k); /* down, then up */
        before = ps;
    }
    /* B/k + k (latency + bytes/k) is least at k = sqrt(B / latency) = 15.9 */
    cr_assert(best == 15 || best == 16, "%d", best);
    /* after the backwards' end at 10,082,000 ps */
    cr_assert_lt(5 * (least - 10082000), evaluated_ps(arena, costs, 1) - 10082000);
}

/* A slow or perturbed backward stretches all its parts. */
Test(buckets, a_slow_backward_posts_later)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_costs *costs = one_rank_costs(arena, 8000, 0, 0);
    const double slow[] = {0.5};
    const struct pp_perturbation perturbation = {.slow = slow};
    const struct pp_eval_options options = {0};
    const struct pp_program *p =
        freeze(arena, line_head(1, 1, 1), "0F0 0B0 0AR#0/4 0AR#1/4 0AR#2/4 0AR#3/4");
    struct pp_eval *plan;
    struct pp_error err;

    cr_assert_eq(pp_eval_create(arena, p, costs, &options, &plan, &err), PP_OK, "%s", err.message);
    const struct pp_times *t = pp_eval_run(arena, plan, 1, &perturbation, PP_TIMES_ALL);
    for (int j = 0; j < 4; j++)
        cr_assert_eq(t->posted_ps[2 + j], 2000 + 4000 * (j + 1));
}

/* ---- costs ----------------------------------------------------------------------------------- */

Test(buckets, a_bucket_pays_all_latency_and_its_share_of_the_bytes)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_costs *costs = one_rank_costs(arena, 1, 700, 1000);
    const struct pp_op whole = {.kind = PP_AR}, third = {.kind = PP_AR, .split = 2, .granules = 3};
    int64_t hop_ps[] = {1700}, alpha_ps[] = {700}, gather_ps[] = {1200};
    const struct pp_ring ring = {
        .positions = 1, .hop_ps = hop_ps, .alpha_ps = alpha_ps, .gather_ps = gather_ps};

    cr_assert_eq(pp_costs_op(costs, &whole, NULL).ps, 1700);
    cr_assert_eq(pp_costs_op(costs, &third, NULL).ps, 1033);
    cr_assert_float_eq(pp_costs_op(costs, &third, NULL).bytes, 1e6 / 3, 1e-6);
    cr_assert_eq(pp_ring_hop_ps(&ring, PP_AR, 0, 0), 1700);
    cr_assert_eq(pp_ring_hop_ps(&ring, PP_AR, 0, 1), 1700);
    cr_assert_eq(pp_ring_hop_ps(&ring, PP_AR, 0, 3), 1033);
    cr_assert_eq(pp_ring_hop_ps(&ring, PP_RS, 0, 0), 1700);
    cr_assert_eq(pp_ring_hop_ps(&ring, PP_AG, 0, 0), 1200);
    cr_assert_eq(pp_ring_hop_ps(&ring, PP_AG, 0, 5), 800);
    cr_assert_eq(pp_costs_share_ps(INT64_MAX / 2, 255, 255), INT64_MAX / 2);
    cr_assert_eq(pp_costs_share_ps(10, 1, 4), 3);
}
