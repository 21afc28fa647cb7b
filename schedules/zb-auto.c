/* schedules/zb-auto.c — zero-bubble order for given costs and memory, the best of several passes.
 *
 * A pass gives a word over F, I, W per rank (zb_search.h): three fixed rules, and several greedy
 * passes in order of time. The result has the smallest sum of span (a step without a barrier) and
 * makespan (a step with one). 1F1B within the limit is one of the rules. No result has a longer
 * makespan.
 *
 * A greedy pass runs an input gradient as soon as it has arrived, else a forward if the limit
 * allows one, else a weight gradient. Passes differ in the share of a weight gradient that must fit
 * before the next known input (fit). They differ in the caps of zb-h2's ramp: on forwards ahead of
 * their input gradients and on pending weight gradients. They differ in whether forwards below the
 * cap go first.
 *
 * No order has a shorter span than pp_zb_bound(), where the search stops. For equal stages it is N
 * T + max(0, (D-1)(F+I+2C) - (min(M,N)-1) W), T = F+I+W. */
#include "schedules/order/closed_form.h"
#include "schedules/order/order.h"
#include "schedules/search/zb_search.h"

#include <math.h>
#include <string.h>

enum { OPS_BUDGET = 2 << 20 }; /* ops of all greedy passes together; the first pass always runs */

struct ramp { /* [rank] */
    int *warmup, *keep;
};

static const struct pass {
    bool has_warmup, has_keep, forward_first;
    int fit_percent;
} passes[] = {
    /* the most useful first, because big problems run only the first ones */
    {.has_warmup = true, .has_keep = true, .forward_first = true, .fit_percent = 100},
    {.fit_percent = 50},
    {.fit_percent = 0},
    {.has_warmup = true, .forward_first = true, .fit_percent = 0},
    {.has_warmup = true, .fit_percent = 100},
    {.has_warmup = true, .fit_percent = 50},
    {.fit_percent = 100},
};

struct search {
    struct pp_zb *zb;
    char *word, *best;
    struct pp_zb_score score, bound, limit; /* of `best`; lower bound; of 1F1B */
};

/* Writes the phases of zb-h2.c: warmup - 1 times F, `keep` times F I, then F I W, then the rest. */
static void ramp_word(struct search *s, const struct ramp *ramp)
{
    const int n = s->zb->micro_batches;
    char *out = s->word;

    for (int r = 0; r < s->zb->ranks; r++) {
        int f = 0;
        for (; f < ramp->warmup[r] - 1; f++)
            *out++ = 'F';
        for (int i = 0, w = 0; i < n; i++) {
            if (f++ < n)
                *out++ = 'F';
            *out++ = 'I';
            if (i >= ramp->keep[r])
                *out++ = 'W', w++;
            for (; i == n - 1 && w < n; w++)
                *out++ = 'W';
        }
    }
}

static void keep_if_better(struct search *s, struct pp_zb_score score)
{
    char *const word = s->word;

    if (score.makespan > s->limit.makespan ||
        score.span + score.makespan >= s->score.span + s->score.makespan)
        return;
    s->score = score;
    s->word = s->best;
    s->best = word;
}

static void try_ramp(struct search *s, const struct ramp *ramp)
{
    ramp_word(s, ramp);
    keep_if_better(s, pp_zb_evaluate(s->zb, s->word));
}

/* Sets the ramp of zb-h2.c for `m` activations. */
static void set_ramp(struct ramp *ramp, const struct pp_zb *zb, int m)
{
    for (int r = 0; r < zb->ranks; r++) {
        const int from_here = zb->ranks - r;
        const int extra = PP_MAX(0, PP_MIN(from_here - 1, m - zb->ranks));
        ramp->warmup[r] = PP_MIN(from_here + extra, zb->limit);
        ramp->keep[r] = PP_MIN(PP_MAX(0, m - ramp->warmup[r]), zb->micro_batches);
    }
}

/* Scores s->word with whole backwards: a gradient is sent after its weight gradient. */
static struct pp_zb_score evaluate_unsplit(struct pp_arena *arena, const struct search *s)
{
    struct pp_zb whole = *s->zb;

    whole.i = PP_ARRAY(arena, int64_t, whole.ranks);
    whole.w = PP_ARRAY(arena, int64_t, whole.ranks);
    for (int r = 0; r < whole.ranks; r++)
        whole.i[r] = s->zb->i[r] + s->zb->w[r];
    return pp_zb_evaluate(&whole, s->word);
}

static void try_fixed_rules(struct pp_arena *arena, struct search *s, struct ramp *ramp, int m)
{
    const int ranks = s->zb->ranks;

    for (int r = 0; r < ranks; r++) {
        ramp->warmup[r] = PP_MIN(ranks - r, s->zb->limit);
        ramp->keep[r] = 0;
    }
    ramp_word(s, ramp);
    s->limit = evaluate_unsplit(arena, s);
    s->score = pp_zb_evaluate(s->zb, s->word);
    memcpy(s->best, s->word, 3 * (size_t)ranks * (size_t)s->zb->micro_batches);
    const int most = PP_MIN(2 * ranks - 1, PP_MAX(ranks, s->zb->micro_batches));
    const int held[] = {PP_MIN(m, ranks), PP_MIN(m, most), m};
    for (int k = 0; k < 3; k++) {
        set_ramp(ramp, s->zb, held[k]);
        try_ramp(s, ramp);
    }
}

static bool is_done(const struct search *s)
{
    return s->score.span == s->bound.span && s->score.makespan == s->bound.makespan;
}

static void emit(struct pp_arena *arena, const struct search *s, struct pp_orders *out)
{
    const int n = s->zb->micro_batches;
    const char *word = s->best;

    for (int r = 0; r < s->zb->ranks; r++) {
        const struct pp_slot slot = {.stage = (uint16_t)r};
        int f = 0, i = 0, w = 0;
        pp_orders_reserve(arena, out, r, 3 * n);
        for (int k = 0; k < 3 * n; k++, word++) {
            const int kind = *word == 'F' ? PP_F : *word == 'I' ? PP_I : PP_W;
            int *mb = *word == 'F' ? &f : *word == 'I' ? &i : &w;
            pp_orders_add(arena, out, r, pp_compute_op(kind, slot, (*mb)++, 0));
        }
    }
}

static enum pp_status generate(struct pp_arena *arena, const struct pp_shape *shape,
                               const struct pp_costs *costs, struct pp_orders *out,
                               struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const size_t cells = 3 * (size_t)shape->ranks * (size_t)shape->micro_batches;
    struct search s = {.zb = pp_zb_create(scratch, shape, costs),
                       .word = pp_arena_alloc_raw(scratch, cells),
                       .best = pp_arena_alloc_raw(scratch, cells)};
    struct ramp ramp = {PP_ARRAY(scratch, int, shape->ranks), PP_ARRAY(scratch, int, shape->ranks)};
    size_t spent = 0;

    (void)err;
    s.bound = pp_zb_bound(s.zb);
    try_fixed_rules(scratch, &s, &ramp, shape->option[PP_LIMIT_AT]);
    for (size_t k = 0; k < PP_COUNT(passes) && !is_done(&s); k++) {
        const struct pass *pass = &passes[k];
        const struct pp_zb_policy policy = {.warmup = pass->has_warmup ? ramp.warmup : NULL,
                                            .keep = pass->has_keep ? ramp.keep : NULL,
                                            .forward_first = pass->forward_first,
                                            .fit_percent = pass->fit_percent};
        if (k > 0 && (spent += cells) > OPS_BUDGET)
            break;
        keep_if_better(&s, pp_zb_greedy(s.zb, &policy, s.word));
    }
    emit(arena, &s, out);
    return PP_OK;
}

static void defaults(struct pp_shape *shape)
{
    if (shape->option[PP_LIMIT_AT] == 0)
        shape->option[PP_LIMIT_AT] = shape->ranks;
}

static double no_formula(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    (void)shape, (void)unit, (void)rank;
    return NAN;
}

static double peak(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    (void)unit, (void)rank;
    return PP_MIN(shape->option[PP_LIMIT_AT], shape->micro_batches);
}

const struct pp_schedule pp_schedule_zb_auto = {
    .name = "zb-auto",
    .summary = "split backward, ordered for the given costs within a memory limit",
    .rule = "the best of ZB-H1, ZB-H2, 1F1B and greedy passes (I before F before W) that hold at "
            "most M activations",
    .when = "times of F, I, W or of stages differ, or memory lies between that of 1f1b and zb-h2",
    .source = "Qi et al., Zero Bubble Pipeline Parallelism, ICLR'24, section 3.1; passes our own",
    .aliases = PP_NAMES("zero-bubble-heuristic", "zero-bubble-auto"),
    .placement = PP_PLACE_LOOP,
    .splits_backward = true,
    .chunks = 1,
    .options = {[PP_LIMIT_AT] = &pp_limit_option},
    .limits = "none; M is --max-activations, from F to the end of W, by default D as in 1f1b",
    .defaults = defaults,
    .generate = generate,
    .bubble_frac = {"none: found by a search", false, no_formula},
    .peak = {"at most min(M, N)", false, peak},
};
