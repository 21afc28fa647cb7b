/* Makes the frames of the space, with the rules of the orders at each pp and number of
 * micro-batches, and the levels of recomputation. */
#include "sim/cli/wish.h"
#include "sim/plan/search.h"
#include "sim/resolve/resolve.h"

enum { MOST_FRAMES = 1 << 24 };

/* ---- rules ----------------------------------------------------------------------------------- */

/* Is false for free chunks that neither leave stages of equal size nor are a power of two. */
static bool is_there(const struct pp_search_space *s, const struct pp_search_order *order, int pp)
{
    const int stages = pp * order->base.shape.chunks;

    return !order->vp || !s->is_free[PP_SEARCH_VP] ||
           (stages <= pp_search_most_stages(s) &&
            (pp_search_is_power(order->vp) || s->fixed.model.layers % stages == 0));
}

/* Is false for options or stages with which the framework does not run a schedule of its own. */
static bool is_run(const struct pp_search_space *s, const struct pp_search_order *order,
                   const struct pp_shape *shape)
{
    const struct pp_tool *tool = s->fixed.tool;
    const bool is_chosen =
        s->is_free[PP_SEARCH_SCHEDULE] && s->wish->given.schedule.origin != PP_FROM_FLAG;

    if (!tool || shape->ranks == 1)
        return true;
    return (!is_chosen || pp_schedule_runs_in(order->base.schedule, shape, tool)) &&
           (!s->is_free[PP_SEARCH_PP] || tool->has_uneven_stages ||
            s->fixed.model.layers % pp_shape_stages(shape) == 0);
}

static struct pp_search_rule rule_of(struct pp_arena *arena, const struct pp_search_space *s,
                                     const struct pp_search_order *order,
                                     const struct pp_search_frame *frame)
{
    const struct pp_config *base = &order->base;
    const struct pp_eval_options *plan = &base->engine_options.eval;
    struct pp_search_rule rule = {.is_there = is_there(s, order, frame->pp)};
    struct pp_shape shape = base->shape;
    struct pp_error ignored;

    if (!rule.is_there)
        return rule;
    shape.ranks = frame->pp;
    shape.micro_batches = frame->micro_batches;
    rule.is_legal = pp_schedule_check(base->schedule, &shape, &ignored) == PP_OK &&
                    !pp_schedule_variants(base->schedule, &shape) &&
                    frame->mbs % shape.granules == 0 &&
                    pp_shape_stages(&shape) <= pp_search_most_stages(s);
    if (!rule.is_legal)
        return rule;
    rule.is_there = is_run(s, order, &shape);
    rule.stages = pp_shape_stages(&shape);
    rule.bound =
        pp_bound_rule_make(arena, base->schedule, &shape, plan->is_barrier_free ? plan->steps : 1,
                           base->order.rule != PP_ORDER_STRICT);
    return rule;
}

/* Is true if `a` cuts a step into fewer parts, or into as many and holds less. */
static bool is_plainer(const struct pp_search_rule *a, const struct pp_search_rule *b)
{
    const struct pp_shape *x = &a->bound.shape, *y = &b->bound.shape;
    const int parts = a->stages * x->splits * x->granules,
              other_parts = b->stages * y->splits * y->granules;

    return parts != other_parts ? parts < other_parts : a->bound.held[0] < b->bound.held[0];
}

/* Leaves the plainest order alone: without a pipeline there is nothing to schedule. */
static void leave_plainest(struct pp_search_rule *rules, int count)
{
    int plainest = -1;

    for (int i = 0; i < count; i++)
        if (rules[i].is_legal && (plainest < 0 || is_plainer(&rules[i], &rules[plainest])))
            plainest = i;
    for (int i = 0; plainest >= 0 && i < count; i++)
        rules[i].is_there = i == plainest;
}

/* Returns the rules of a frame, shared by frames of the same pp, N and mbs. */
static const struct pp_search_rule *rules_of(struct pp_arena *arena,
                                             const struct pp_search_space *s,
                                             const struct pp_search_frame *frame)
{
    struct pp_search_rule *rules;

    for (int i = s->frame_count - 1; i >= 0; i--) {
        const struct pp_search_frame *other = &s->frames[i];
        if (other->rules && other->pp == frame->pp && other->mbs == frame->mbs &&
            other->micro_batches == frame->micro_batches)
            return other->rules;
    }
    rules = PP_ARRAY(arena, struct pp_search_rule, s->order_count);
    for (int i = 0; i < s->order_count; i++)
        rules[i] = rule_of(arena, s, &s->orders[i], frame);
    if (frame->pp == 1 && s->is_free[PP_SEARCH_SCHEDULE])
        leave_plainest(rules, s->order_count);
    return rules;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static void set_batch(const struct pp_search_space *s, struct pp_search_frame *f)
{
    const int64_t unit = (int64_t)f->dp * f->mbs;

    if (s->gbs && s->fixed_n)
        f->micro_batches = unit * s->fixed_n == s->gbs ? s->fixed_n : 0;
    else if (s->fixed_n)
        f->micro_batches = s->fixed_n;
    else
        f->micro_batches = s->gbs % unit || s->gbs / unit > 1 << 20 ? 0 : (int)(s->gbs / unit);
    f->gbs = s->gbs ? s->gbs : unit * s->fixed_n;
}

/* ---- levels of recomputation ----------------------------------------------------------------- */

/* Returns the levels of a device's work. They follow the costs of a whole micro-batch; whatever
 * these are, each level frees more than the one before and takes more time. */
static void make_levels(struct pp_arena *arena, const struct pp_search_space *s,
                        struct pp_search_frame *f)
{
    struct pp_search_values *values = PP_NEW(arena, struct pp_search_values);
    double *least_frac = PP_ARRAY(arena, double, PP_RECOMPUTE_LEVELS);
    struct pp_recompute_level levels[PP_RECOMPUTE_LEVELS];
    struct pp_config c = s->fixed;
    struct pp_error ignored;

    c.shape = (struct pp_shape){.ranks = f->pp, .chunks = 1, .splits = 1, .pipelines = 1};
    c.layout = (struct pp_layout){.tp = f->tp,
                                  .pp = f->pp,
                                  .dp = f->dp,
                                  .cp = f->cp,
                                  .ep = f->ep,
                                  .mbs = f->mbs,
                                  .seq = s->fixed.layout.seq};
    if (pp_resolve_experts(s->wish, &c, &ignored) != PP_OK)
        c.layout.ep = 1;
    const int count = pp_resolve_levels(&c, levels);
    for (int i = 0; i < count; i++) {
        pp_search_add_value(values, pp_search_again_value((struct pp_search_again){
                                        levels[i].recompute, levels[i].again}));
        least_frac[i] = levels[i].least_frac;
    }
    f->levels = values;
    f->least_frac = least_frac;
}

/* Sets the levels of a frame, shared by frames with the same work of a device. */
static void set_levels(struct pp_arena *arena, const struct pp_search_space *s,
                       struct pp_search_frame *f)
{
    const struct pp_search_frame *like =
        s->same_levels ? &s->same_levels->frames[s->frame_count] : NULL;

    for (int i = s->frame_count - 1; i >= 0 && !like; i--) {
        const struct pp_search_frame *other = &s->frames[i];
        if (other->tp == f->tp && other->ep == f->ep && other->mbs * f->cp == f->mbs * other->cp)
            like = other;
    }
    f->levels = like ? like->levels : &s->axis[PP_SEARCH_RECOMPUTE];
    f->least_frac = like ? like->least_frac : NULL;
    if (!like && s->has_levels)
        make_levels(arena, s, f);
}

static enum pp_status add_frame(struct pp_arena *arena, struct pp_search_space *s,
                                struct pp_search_frame f, struct pp_error *err)
{
    if (s->frame_count == MOST_FRAMES)
        return pp_error_set(err, PP_EINVAL, "more than %d combinations of degrees; leave less free",
                            MOST_FRAMES);
    set_batch(s, &f);
    f.rules = f.micro_batches ? rules_of(arena, s, &f) : NULL;
    set_levels(arena, s, &f);
    s->level_count = f.levels->count > s->level_count ? f.levels->count : s->level_count;
    *PP_PUSH(arena, s->frames, s->frame_count, s->frame_capacity) = f;
    return PP_OK;
}

/* Experts lie on the devices of a pipeline rank's replicas. */
static bool has_room(const struct pp_search_frame *f, int ep)
{
    return (int64_t)f->tp * f->cp * f->dp % ep == 0;
}

static enum pp_status add_frames(struct pp_arena *arena, struct pp_search_space *s,
                                 struct pp_search_frame f, struct pp_error *err)
{
    const struct pp_search_values *ep = &s->axis[PP_SEARCH_EP], *mbs = &s->axis[PP_SEARCH_MBS];

    for (int e = 0; e < ep->count; e++)
        for (int m = 0; m < mbs->count; m++) {
            f.ep = ep->list[e];
            f.mbs = mbs->list[m];
            for (f.tiers = 0; f.tiers < s->tiers.count; f.tiers++)
                if (!s->is_free[PP_SEARCH_EP] || has_room(&f, f.ep))
                    PP_TRY(add_frame(arena, s, f, err));
        }
    return PP_OK;
}

enum pp_status pp_search_fill_frames(struct pp_arena *arena, struct pp_search_space *s,
                                     struct pp_error *err)
{
    const struct pp_search_values *tp = &s->axis[PP_SEARCH_TP], *cp = &s->axis[PP_SEARCH_CP],
                                  *pp = &s->axis[PP_SEARCH_PP];

    for (int t = 0; t < tp->count; t++)
        for (int c = 0; c < cp->count; c++)
            for (int p = 0; p < pp->count; p++) {
                struct pp_search_frame f = {
                    .tp = tp->list[t], .cp = cp->list[c], .pp = pp->list[p]};
                const int64_t inner = (int64_t)f.tp * f.cp * f.pp;
                if (s->gpus % inner)
                    continue;
                f.dp = (int)(s->gpus / inner);
                if (!s->dp || f.dp == s->dp)
                    PP_TRY(add_frames(arena, s, f, err));
            }
    return s->frame_count ? PP_OK
                          : pp_error_set(err, PP_EINVAL,
                                         "no layout of %d GPUs: tp * cp * pp * dp must be their "
                                         "number; give fewer degrees, or others",
                                         s->gpus);
}
