/* Options that make a run fit. Each is tried: the run is planned anew, and its memory laid out. */
#include "exec/fit/parts.h"
#include "exec/plan/plan.h"

#include "schedules/select/offload.h"

#include <string.h>

static const double MIB = 1024.0 * 1024.0;
enum { MOST_TOLD = 6 };

/* ---- options --------------------------------------------------------------------------------- */

/* A change of a wish. Is false if the run has it already; what cannot be planned is left out. */
struct row;
typedef bool apply_fn(struct pp_arena *arena, const struct row *row,
                      const struct pp_state_spec *spec, struct pp_exec_wish *wish);
struct row {
    apply_fn *apply;
    /* of `move`: class and its home; whether the host updates, and parameters come by layer */
    enum pp_state_class class;
    enum pp_tier home;
    bool is_cpu_update, is_by_layer;
    bool is_lossy; /* it changes the training a little */
};

static void give(struct pp_given *given)
{
    given->count = 1;
}

/* Gives a class another home. Gradients need optimizer state that is off the device, too. */
static bool move(struct pp_arena *arena, const struct row *row, const struct pp_state_spec *spec,
                 struct pp_exec_wish *wish)
{
    struct pp_state_spec wanted = *spec;

    if (wanted.home[row->class] >= row->home)
        return false;
    wanted.home[row->class] = row->home;
    wanted.moved_frac[row->class] = 0;
    if (row->class == PP_STATE_GRADS && wanted.home[PP_STATE_OPTIMIZER] == PP_TIER_DEVICE)
        wanted.home[PP_STATE_OPTIMIZER] = row->home;
    wish->offload = (char *)pp_offload_print(arena, &wanted);
    give(&wish->given.offload);
    if (row->is_cpu_update && !wish->cpu_optimizer) {
        wish->cpu_optimizer = true;
        give(&wish->given.cpu_optimizer);
    }
    if (row->is_by_layer && !wish->given.gather.count) {
        wish->gather = PP_GATHER_LAYER;
        give(&wish->given.gather);
    }
    if (row->home == PP_TIER_NVME && !wish->nvme) {
        wish->nvme = "DIR";
        give(&wish->given.nvme);
    }
    return true;
}

static bool recompute(struct pp_arena *arena, const struct row *row,
                      const struct pp_state_spec *spec, struct pp_exec_wish *wish)
{
    (void)arena;
    (void)row;
    (void)spec;
    if (wish->given.recompute.count)
        return false;
    wish->recompute = "full";
    give(&wish->given.recompute);
    return true;
}

static bool quantise(struct pp_arena *arena, const struct row *row,
                     const struct pp_state_spec *spec, struct pp_exec_wish *wish)
{
    enum { EIGHT = 2 }; /* of 2, 4 and 8 bits */
    (void)arena;
    (void)row;
    (void)spec;
    if (wish->given.act_bits.count)
        return false;
    wish->act_bits = EIGHT;
    give(&wish->given.act_bits);
    return true;
}

static bool share(struct pp_arena *arena, const struct row *row, const struct pp_state_spec *spec,
                  struct pp_exec_wish *wish)
{
    (void)arena;
    (void)row;
    (void)spec;
    if (wish->given.zero.count || wish->given.shard.count)
        return false;
    wish->zero = 1;
    give(&wish->given.zero);
    return true;
}

static bool halve(struct pp_arena *arena, const struct row *row, const struct pp_state_spec *spec,
                  struct pp_exec_wish *wish)
{
    enum { BF16 = 2 }; /* of fp32, double and bf16 */
    (void)arena;
    (void)row;
    (void)spec;
    if (wish->given.precision.count)
        return false;
    wish->precision = BF16;
    give(&wish->given.precision);
    return true;
}

/* clang-format off */
static const struct row ROWS[] = {
    {move, PP_STATE_ACTIVATIONS, PP_TIER_HOST},
    {move, PP_STATE_OPTIMIZER, PP_TIER_HOST},
    {move, PP_STATE_GRADS, PP_TIER_HOST},
    {move, PP_STATE_PARAMS, PP_TIER_HOST},
    {move, PP_STATE_OPTIMIZER, PP_TIER_HOST, .is_cpu_update = true},
    {move, PP_STATE_GRADS, PP_TIER_HOST, .is_cpu_update = true},
    {move, PP_STATE_PARAMS, PP_TIER_HOST, .is_by_layer = true},
    {.apply = quantise, .is_lossy = true},
    {.apply = recompute},
    {.apply = share},
    {.apply = halve, .is_lossy = true},
    {move, PP_STATE_ACTIVATIONS, PP_TIER_NVME},
    {move, PP_STATE_OPTIMIZER, PP_TIER_NVME},
    {move, PP_STATE_GRADS, PP_TIER_NVME},
    {move, PP_STATE_PARAMS, PP_TIER_NVME},
};
/* clang-format on */

/* ---- trials ---------------------------------------------------------------------------------- */

/* A wish that differs from the run's, and what it needs. */
struct trial {
    struct pp_exec_wish wish;
    struct pp_state_spec spec; /* of its program */
    struct pp_fit_needs needs;
    const struct row *row; /* the last one */
    const char *text;      /* options that it adds; a class has replaced --offload */
    bool fits;
};

struct search {
    struct pp_arena *arena;
    const struct pp_exec_wish *wish;
    const struct pp_exec_run *run;
    enum pp_tier tier;
};

static const char *text_of(const struct search *s, const struct pp_exec_wish *wish)
{
    const struct pp_exec_wish *old = s->wish;
    const char *text = "";
    const struct {
        const struct pp_given *now, *before;
        const char *text;
    } words[] = {
        {&wish->given.recompute, &old->given.recompute, " --recompute full"},
        {&wish->given.act_bits, &old->given.act_bits, " --act-bits 8"},
        {&wish->given.zero, &old->given.zero, " --zero 1"},
        {&wish->given.precision, &old->given.precision, " --precision bf16"},
        {&wish->given.cpu_optimizer, &old->given.cpu_optimizer, " --cpu-optimizer"},
        {&wish->given.gather, &old->given.gather, " --gather layer"},
        {&wish->given.nvme, &old->given.nvme, " --nvme DIR"},
    };

    if (wish->offload != old->offload)
        text = pp_arena_printf(s->arena, " --offload %s", wish->offload);
    for (size_t i = 0; i < PP_COUNT(words); i++)
        if (words[i].now->count > words[i].before->count)
            text = pp_arena_printf(s->arena, "%s%s", text, words[i].text);
    return text + 1;
}

/* Plans a wish. Is false if it is refused, and if it needs no less of the tier than `before`. */
static bool try(const struct search *s, struct trial *trial, const struct pp_fit_needs *before)
{
    struct pp_exec_config *config = PP_NEW(s->arena, struct pp_exec_config);
    struct pp_exec_plan *plan = PP_NEW(s->arena, struct pp_exec_plan);
    struct pp_error unread;

    if (pp_exec_revise(&trial->wish, &s->run->config, config, &unread) != PP_OK ||
        pp_exec_plan_make(s->arena, &trial->wish, config, s->run->plan.subject, plan, &unread) !=
            PP_OK)
        return false;
    trial->spec = plan->program->state.spec;
    trial->needs = pp_fit_needs_of(s->arena, config, plan);
    trial->text = text_of(s, &trial->wish);
    trial->fits = pp_fit_beyond(&trial->needs, config->tiers.most_bytes) == PP_TIERS;
    return trial->needs.bytes[s->tier] < before->bytes[s->tier];
}

/* Tries each row after what `from` has; those that need least come first. Returns their number. */
static int try_rows(const struct search *s, const struct trial *from, struct trial *trials)
{
    int count = 0;

    for (size_t i = 0; i < PP_COUNT(ROWS); i++) {
        struct trial trial = {.wish = from->wish, .row = &ROWS[i]};
        int at = count;
        if (!ROWS[i].apply(s->arena, &ROWS[i], &from->spec, &trial.wish) ||
            !try(s, &trial, &from->needs))
            continue;
        for (; at > 0 && trial.needs.bytes[s->tier] < trials[at - 1].needs.bytes[s->tier]; at--)
            trials[at] = trials[at - 1];
        trials[at] = trial;
        count++;
    }
    return count;
}

static void tell(const struct search *s, const char *separator, const struct trial *trial,
                 struct pp_error *err)
{
    pp_error_append(err, "%s%s (%.1f MiB)", separator, trial->text,
                    (double)trial->needs.bytes[s->tier] / MIB);
}

/* Is true if a class fits by a trial before it, or on a nearer tier: it is told once. So is what
 * moves more for the same bytes. */
static bool is_told(const struct trial *trials, int count, enum pp_tier tier, int at)
{
    const struct row *row = trials[at].row;
    bool is = false;

    for (int i = 0; i < count; i++)
        is |= trials[i].fits && trials[i].row->apply == move &&
              (trials[i].row->class == row->class ||
               (i < at && trials[i].needs.bytes[tier] == trials[at].needs.bytes[tier])) &&
              (trials[i].row->home < row->home || (i < at && trials[i].row->home == row->home));
    return is && row->apply == move;
}

static int tell_alone(const struct search *s, const struct trial *trials, int count,
                      struct pp_error *err)
{
    int told = 0;

    for (int i = 0; i < count && told < MOST_TOLD; i++)
        if (trials[i].fits && !is_told(trials, count, s->tier, i))
            tell(s, told++ ? ", " : "\n  try: ", &trials[i], err);
    return told;
}

/* Returns the trial that saves most, of those that lose nothing if there are any. */
static const struct trial *best_of(const struct trial *trials, int count)
{
    for (int i = 0; i < count; i++)
        if (!trials[i].row->is_lossy)
            return &trials[i];
    return &trials[0];
}

/* Adds what saves most until the run fits. A run that fits nowhere is told what is the least. */
static void tell_together(const struct search *s, struct trial *trials, int count,
                          struct pp_error *err)
{
    struct trial best = *best_of(trials, count);

    while (!best.fits && (count = try_rows(s, &best, trials)) > 0)
        best = *best_of(trials, count);
    if (best.fits)
        tell(s, "\n  none does alone; try together: ", &best, err);
    else
        tell(s,
             "\n  no options fit; try fewer --layers, a lower --hidden, or a higher --np; the "
             "least is that of ",
             &best, err);
}

void pp_exec_advise(const struct pp_exec_wish *wish, const struct pp_exec_run *run,
                    enum pp_tier tier, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct search s = {arena, wish, run, tier};
    struct trial *trials = PP_ARRAY(arena, struct trial, PP_COUNT(ROWS)),
                 *now = PP_NEW(arena, struct trial);

    *now = (struct trial){.wish = *wish,
                          .spec = run->plan.program->state.spec,
                          .needs = pp_fit_needs_of(arena, &run->config, &run->plan)};
    const int count = try_rows(&s, now, trials);
    if (count == 0)
        pp_error_append(err, "\n  try fewer --layers, a lower --hidden, or a higher --np");
    else if (tell_alone(&s, trials, count, err) == 0)
        tell_together(&s, trials, count, err);
}
