/* Makes the space: the candidates of its axes, its orders, its batch and its machine. */
#include "core/cost/measured/file.h"
#include "schedules/registry.h"
#include "sim/cli/wish.h"
#include "sim/config/inputs.h"
#include "sim/plan/search.h"
#include "sim/resolve/resolve.h"

#include <stdlib.h>

enum { LEAST_TOKENS = 1024, MOST_MBS = 8 };

/* ---- candidates ------------------------------------------------------------------------------ */

static bool is_tp(const struct pp_search_space *s, int tp)
{
    return tp <= s->fixed.cluster.gpus_per_node && s->fixed.model.heads % tp == 0 &&
           s->gpus % tp == 0;
}

static bool is_cp(const struct pp_search_space *s, int cp)
{
    const int seq = s->fixed.layout.seq;

    return pp_search_is_power(cp) && seq % cp == 0 && (cp == 1 || seq / cp >= LEAST_TOKENS) &&
           s->gpus % cp == 0 && (cp == 1 || !s->fixed.tool || s->fixed.tool->has_ring);
}

static bool is_pp(const struct pp_search_space *s, int pp)
{
    return s->gpus % pp == 0 && pp <= pp_search_most_stages(s);
}

static bool is_ep(const struct pp_search_space *s, int ep)
{
    const int experts = s->fixed.model.experts.count;

    return ep == 1 || (experts > 0 && experts % ep == 0);
}

static bool is_vp(const struct pp_search_space *s, int vp)
{
    return vp >= 2 && 2 * vp <= pp_search_most_stages(s) &&
           (pp_search_is_power(vp) || s->fixed.model.layers % vp == 0);
}

static bool is_mbs(const struct pp_search_space *s, int mbs)
{
    (void)s;
    return pp_search_is_power(mbs) && mbs <= MOST_MBS;
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
        pp_search_add_value(&s->axis[i], value);
    for (int pp = 1; dp_alone && pp <= s->gpus; pp++) /* all pp that dp allows */
        if (s->gpus % pp == 0 && s->gpus / pp % s->dp == 0)
            pp_search_add_value(&s->axis[i], pp);
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
            pp_search_add_value(
                &s->axis[PP_SEARCH_RECOMPUTE],
                pp_search_again_value((struct pp_search_again){PP_RECOMPUTE_SELECTIVE, modules}));
}

static void fill_axes(const struct pp_wish *wish, struct pp_search_space *s)
{
    const int most = s->gpus > pp_search_most_stages(s) ? s->gpus : pp_search_most_stages(s);

    s->has_levels = s->is_free[PP_SEARCH_RECOMPUTE] && !s->is_free[PP_SEARCH_MODULES];
    for (int i = 0; i < PP_SEARCH_AXES; i++) {
        if (i == PP_SEARCH_SCHEDULE || i == PP_SEARCH_MODULES ||
            (i == PP_SEARCH_RECOMPUTE && s->has_levels))
            continue;
        if (!s->is_free[i])
            fix_axis(wish, s, i);
        for (int value = AXES[i].least; s->is_free[i] && value <= most + 1; value++)
            if (AXES[i].is_candidate(s, value))
                pp_search_add_value(&s->axis[i], value);
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
    pp_inputs_take(arena, wish, &s->fixed);
    s->fixed.tool = s->tool ? s->tool : s->fixed.tool;
    s->dp = wish->dp;
    PP_TRY(pp_resolve_gpus(wish, &s->fixed, &s->gpus, err));
    PP_TRY(pp_resolve_fabric(arena, &s->fixed, s->gpus, err));
    PP_TRY(rescale(&s->scale, &s->fixed, err));
    set_gbs(wish, s);
    fill_axes(wish, s);
    return pp_tier_choices(arena, wish, &s->fixed, s->is_tier_free, &s->tiers, err);
}

enum pp_status pp_search_fill(struct pp_arena *arena, struct pp_search_space *s,
                              struct pp_error *err)
{
    PP_TRY(fill_orders(arena, s->wish, s, err));
    PP_TRY(pp_search_fill_frames(arena, s, err));
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
