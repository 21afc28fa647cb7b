/* Makes the space: candidates of axes, orders, frames, and the rules of orders at each pp and N. */
#include "core/cost/measured/file.h"
#include "schedules/registry.h"
#include "sim/cli/wish.h"
#include "sim/config/inputs.h"
#include "sim/plan/search.h"
#include "sim/resolve/resolve.h"

#include <stdlib.h>

enum { LEAST_TOKENS = 1024, MOST_MBS = 8, MOST_FRAMES = 1 << 24 };

static bool is_power(int n)
{
    return (n & (n - 1)) == 0;
}

/* ---- candidates ------------------------------------------------------------------------------ */

static bool is_tp(const struct pp_search_space *s, int tp)
{
    return tp <= s->fixed.cluster.gpus_per_node && s->fixed.model.heads % tp == 0 &&
           s->gpus % tp == 0;
}

static bool is_cp(const struct pp_search_space *s, int cp)
{
    const int seq = s->fixed.layout.seq;

    return is_power(cp) && seq % cp == 0 && (cp == 1 || seq / cp >= LEAST_TOKENS) &&
           s->gpus % cp == 0 && (cp == 1 || !s->fixed.tool || s->fixed.tool->has_ring);
}

/* Embedding and head may fill a stage each. */
static int most_stages(const struct pp_search_space *s)
{
    return s->fixed.model.layers + (s->fixed.costs.head == PP_HEAD_COUNTED ? 2 : 0);
}

static bool is_pp(const struct pp_search_space *s, int pp)
{
    return s->gpus % pp == 0 && pp <= most_stages(s);
}

static bool is_ep(const struct pp_search_space *s, int ep)
{
    const int experts = s->fixed.model.experts.count;

    return ep == 1 || (experts > 0 && experts % ep == 0);
}

static bool is_vp(const struct pp_search_space *s, int vp)
{
    return vp >= 2 && 2 * vp <= most_stages(s) && (is_power(vp) || s->fixed.model.layers % vp == 0);
}

static bool is_mbs(const struct pp_search_space *s, int mbs)
{
    (void)s;
    return is_power(mbs) && mbs <= MOST_MBS;
}

static bool is_zero(const struct pp_search_space *s, int zero)
{
    const struct pp_tool *tool = s->fixed.tool;

    return zero == pp_tool_mild_zero(tool, false) || zero == pp_tool_next_zero(tool, false) ||
           zero == pp_tool_mild_zero(tool, true) || zero == pp_tool_next_zero(tool, true);
}

/* Selective recomputation frees nothing where a fused kernel keeps no scores. */
static bool is_recompute(const struct pp_search_space *s, int recompute)
{
    return recompute < PP_RECOMPUTE_STAGE &&
           pp_tool_recomputes(s->fixed.tool, (enum pp_recompute)recompute, 0, false) &&
           (recompute != PP_RECOMPUTE_SELECTIVE || s->fixed.cluster.device.is_attention_unfused ||
            s->fixed.costs.framework->is_selective_per_op);
}

static const struct axis {
    const char *option;
    int least; /* also the value if neither given nor free */
    bool (*is_candidate)(const struct pp_search_space *space, int value);
} AXES[PP_SEARCH_AXES] = {
    [PP_SEARCH_CP] = {"cp", 1, is_cp},     [PP_SEARCH_EP] = {"ep", 1, is_ep},
    [PP_SEARCH_MBS] = {"mbs", 1, is_mbs},  [PP_SEARCH_PP] = {"pp", 1, is_pp},
    [PP_SEARCH_TP] = {"tp", 1, is_tp},     [PP_SEARCH_VP] = {"vp", 2, is_vp},
    [PP_SEARCH_ZERO] = {NULL, 0, is_zero}, [PP_SEARCH_RECOMPUTE] = {NULL, 0, is_recompute},
};

static void add_value(struct pp_search_values *values, int value)
{
    if (values->count < PP_SEARCH_VALUES)
        values->list[values->count++] = value;
}

/* Sets an axis that is not free to its given value, else to its least. */
static void fix_axis(const struct pp_wish *wish, struct pp_search_space *s, int i)
{
    const int dp_alone = i == PP_SEARCH_PP && s->dp && !wish->given.pp.count;
    int value = AXES[i].least;

    if (AXES[i].option)
        value = pp_request_int(&wish->request, AXES[i].option, value);
    else if (i == PP_SEARCH_RECOMPUTE)
        value = pp_search_again_value(
            (struct pp_search_again){s->fixed.costs.recompute, s->fixed.costs.again});
    else
        value = s->fixed.wanted_zero < 0 ? PP_SEARCH_AS_GIVEN : s->fixed.wanted_zero;
    if (!dp_alone)
        add_value(&s->axis[i], value);
    for (int pp = 1; dp_alone && pp <= s->gpus; pp++) /* all pp that dp allows */
        if (s->gpus % pp == 0 && s->gpus / pp % s->dp == 0)
            add_value(&s->axis[i], pp);
}

/* Adds every set of the model's modules, without those that would change nothing. */
static void add_modules(struct pp_search_space *s)
{
    const struct pp_model *m = &s->fixed.model;
    unsigned none = m->latent.kv_rank == 0 ? PP_AGAIN_LATENT : 0;

    if (pp_model_moe_blocks(m, 0, m->layers) == m->layers)
        none |= PP_AGAIN_MLP;
    if (!s->fixed.cluster.device.is_attention_unfused)
        none |= PP_AGAIN_CORE; /* fused: keeps no scores */
    if (m->experts.count == 0)
        none |= PP_AGAIN_MOE;
    for (unsigned modules = 1; modules <= PP_AGAIN_ALL; modules++)
        if (!(modules & none) &&
            pp_tool_recomputes(s->fixed.tool, PP_RECOMPUTE_SELECTIVE, modules,
                               pp_model_moe_blocks(m, 0, m->layers) == m->layers))
            add_value(&s->axis[PP_SEARCH_RECOMPUTE], pp_search_again_value((struct pp_search_again){
                                                         PP_RECOMPUTE_SELECTIVE, modules}));
}

static void fill_axes(const struct pp_wish *wish, struct pp_search_space *s)
{
    const int most = s->gpus > most_stages(s) ? s->gpus : most_stages(s);

    s->has_levels = s->is_free[PP_SEARCH_RECOMPUTE] && !s->is_free[PP_SEARCH_MODULES];
    for (int i = 0; i < PP_SEARCH_AXES; i++) {
        if (i == PP_SEARCH_SCHEDULE || i == PP_SEARCH_MODULES ||
            (i == PP_SEARCH_RECOMPUTE && s->has_levels))
            continue;
        if (!s->is_free[i])
            fix_axis(wish, s, i);
        for (int value = AXES[i].least; s->is_free[i] && value <= most + 1; value++)
            if (AXES[i].is_candidate(s, value))
                add_value(&s->axis[i], value);
    }
    if (s->is_free[PP_SEARCH_MODULES])
        add_modules(s);
}

/* ---- orders ---------------------------------------------------------------------------------- */

static bool chooses_chunks(const struct pp_schedule *schedule)
{
    return schedule->sizes & PP_SIZE_CHUNKS && schedule->chunks == 0;
}

static enum pp_status add_orders(struct pp_arena *arena, const struct pp_wish *wish,
                                 const struct pp_subject *subject, struct pp_search_space *s,
                                 struct pp_error *err)
{
    const struct pp_search_values *vp = &s->axis[PP_SEARCH_VP];
    struct pp_config base = s->fixed;

    if (!subject->schedule)
        return pp_error_set(err, PP_EINVAL,
                            "--schedule %s: one program fixes its layout; plan chooses among "
                            "schedules by name, and texts with words such as {pp} and "
                            "{micro_batches}",
                            subject->name);
    PP_TRY(pp_resolve_shape(wish, subject, &base, err));
    for (int i = 0; i < (chooses_chunks(subject->schedule) ? vp->count : 1); i++) {
        struct pp_search_order *order =
            PP_PUSH(arena, s->orders, s->order_count, s->order_capacity);
        *order = (struct pp_search_order){.base = base};
        if (!chooses_chunks(subject->schedule))
            continue;
        order->vp = order->base.shape.chunks = vp->list[i];
        if (s->is_free[PP_SEARCH_VP])
            order->base.origin.chosen &= ~(unsigned)PP_CHOSE_VP;
    }
    return PP_OK;
}

/* Adds orders of --schedule; if it is free without a list, of all executable schedules that the
 * framework runs. */
static enum pp_status fill_orders(struct pp_arena *arena, const struct pp_wish *wish,
                                  struct pp_search_space *s, struct pp_error *err)
{
    struct pp_subject *subjects;
    int count = 0;

    if (!s->is_free[PP_SEARCH_SCHEDULE] || wish->given.schedule.origin == PP_FROM_FLAG) {
        PP_TRY(pp_subjects_open(arena, wish, &subjects, &count, err));
        for (int i = 0; i < count; i++)
            PP_TRY(add_orders(arena, wish, &subjects[i], s, err));
        return s->order_count
                   ? PP_OK
                   : pp_error_set(err, PP_EINVAL,
                                  "--schedule: chunks are needed, and %d layers are too few for 2 "
                                  "ranks with 2 each; give --vp, or other schedules",
                                  s->fixed.model.layers);
    }
    for (int i = 0; pp_schedules[i]; i++) {
        const struct pp_subject subject = {
            .schedule = pp_schedules[i], .name = pp_schedules[i]->name, .is_listed = true};
        if (!pp_schedules[i]->is_simulated_only &&
            pp_schedule_runs_in(pp_schedules[i], NULL, s->fixed.tool))
            PP_TRY(add_orders(arena, wish, &subject, s, err));
    }
    return PP_OK;
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* Is false for free chunks that neither leave stages of equal size nor are a power of two. */
static bool is_there(const struct pp_search_space *s, const struct pp_search_order *order, int pp)
{
    const int stages = pp * order->base.shape.chunks;

    return !order->vp || !s->is_free[PP_SEARCH_VP] ||
           (stages <= most_stages(s) &&
            (is_power(order->vp) || s->fixed.model.layers % stages == 0));
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
                    frame->mbs % shape.granules == 0 && pp_shape_stages(&shape) <= most_stages(s);
    if (!rule.is_legal)
        return rule;
    rule.is_there = is_run(s, order, &shape);
    rule.stages = pp_shape_stages(&shape);
    rule.bound = pp_bound_rule_make(arena, base->schedule, &shape,
                                    plan->is_barrier_free ? plan->steps : 1, base->is_eager);
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
        add_value(values, pp_search_again_value(
                              (struct pp_search_again){levels[i].recompute, levels[i].again}));
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
            if (!s->is_free[PP_SEARCH_EP] || has_room(&f, f.ep))
                PP_TRY(add_frame(arena, s, f, err));
        }
    return PP_OK;
}

static enum pp_status fill_frames(struct pp_arena *arena, struct pp_search_space *s,
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

/* ---- another machine ------------------------------------------------------------------------- */

/* Scales the bandwidth of a class of links, in the cluster's figures and in the fabric's. */
static enum pp_status scale_links(const struct pp_fabric *fabric, const char *class, double factor,
                                  double *links, struct pp_error *err)
{
    if (factor == 0)
        return PP_OK;
    *links *= factor;
    return pp_fabric_scale((struct pp_fabric *)(uintptr_t)fabric, class, factor, err);
}

static void scale_device(const struct pp_search_scale *scale, struct pp_device *device)
{
    if (scale->memory > 0)
        device->memory_bytes *= scale->memory;
    if (scale->peak > 0)
        pp_device_scale_peak(device, scale->peak * device->peak_flops_per_s);
}

static enum pp_status rescale(const struct pp_search_scale *scale, struct pp_config *config,
                              struct pp_error *err)
{
    PP_TRY(scale_links(config->costs.fabric, "network", scale->network, &config->costs.inter_factor,
                       err));
    PP_TRY(
        scale_links(config->costs.fabric, "node", scale->node, &config->costs.intra_factor, err));
    scale_device(scale, &config->cluster.device);
    return PP_OK;
}

/* ---- the whole space ------------------------------------------------------------------------- */

/* Returns a batch within an eighth of the usual one: a multiple of `unit`, else of half of it, and
 * so on. In the end it is a multiple of the odd part, at any distance. */
static int64_t shared_gbs(int64_t usual, int64_t unit)
{
    for (;; unit /= 2) {
        const int64_t gbs = (usual + unit / 2) / unit * unit;

        if (unit % 2)
            return gbs ? gbs : unit;
        if (llabs(gbs - usual) <= usual / 8)
            return gbs;
    }
}

/* Sets one batch for all layouts, so that steps compare. */
static void set_gbs(const struct pp_wish *wish, struct pp_search_space *s)
{
    const int64_t replicas = s->dp ? s->dp : s->gpus;

    if (wish->given.micro_batches.origin == PP_FROM_FLAG || !wish->gbs)
        s->fixed_n = wish->micro_batches;
    s->gbs = wish->gbs;
    if (wish->gbs || wish->micro_batches)
        return;
    s->is_gbs_chosen = true;
    s->gbs = shared_gbs(pp_resolve_usual_gbs(s->fixed.layout.seq),
                        replicas * (wish->mbs ? wish->mbs : MOST_MBS));
}

enum pp_status pp_search_begin(struct pp_arena *arena, const struct pp_wish *wish,
                               struct pp_search_space *s, struct pp_error *err)
{
    s->wish = wish;
    PP_TRY(pp_resolve_fixed(arena, wish, &s->fixed, err));
    PP_TRY(pp_resolve_cost_check(&s->fixed, err));
    s->fixed.lower.has_clip = s->fixed.cost && s->fixed.cost->is_clipped;
    pp_inputs_take(arena, wish, &s->fixed);
    s->fixed.tool = s->tool ? s->tool : s->fixed.tool;
    s->dp = wish->dp;
    PP_TRY(pp_resolve_gpus(wish, &s->fixed, &s->gpus, err));
    PP_TRY(pp_resolve_fabric(arena, &s->fixed, s->gpus, err));
    PP_TRY(rescale(&s->scale, &s->fixed, err));
    set_gbs(wish, s);
    fill_axes(wish, s);
    return PP_OK;
}

enum pp_status pp_search_fill(struct pp_arena *arena, struct pp_search_space *s,
                              struct pp_error *err)
{
    PP_TRY(fill_orders(arena, s->wish, s, err));
    PP_TRY(fill_frames(arena, s, err));
    s->points =
        (int64_t)s->frame_count * s->level_count * s->axis[PP_SEARCH_ZERO].count * s->order_count;
    return PP_OK;
}

enum pp_status pp_search_open(struct pp_arena *arena, const struct pp_wish *wish,
                              struct pp_search_space *space, struct pp_error *err)
{
    PP_TRY(pp_search_begin(arena, wish, space, err));
    return pp_search_fill(arena, space, err);
}
