/* Turns the number of a point into its coordinates and its complete configuration. */
#include "sim/config/auto_share.h"
#include "sim/plan/search.h"

const char *const pp_search_status_names[PP_SEARCH_STATUSES] = {
    [PP_SEARCH_ABSENT] = "absent",       [PP_SEARCH_BATCH] = "illegal",
    [PP_SEARCH_SHAPE] = "illegal",       [PP_SEARCH_REFUSED] = "illegal",
    [PP_SEARCH_LOST] = "lost",           [PP_SEARCH_NO_ROOM] = "too large",
    [PP_SEARCH_MILDER] = "slower",       [PP_SEARCH_OPEN] = "slower",
    [PP_SEARCH_TOO_LARGE] = "too large", [PP_SEARCH_FITS] = "fits",
};

int pp_search_level(const struct pp_search_space *s, int64_t k)
{
    return (int)(k / s->order_count / s->axis[PP_SEARCH_ZERO].count % s->level_count);
}

int64_t pp_search_at_level(const struct pp_search_space *s, int64_t k, int level)
{
    const int64_t stride = (int64_t)s->order_count * s->axis[PP_SEARCH_ZERO].count;

    return k + (level - pp_search_level(s, k)) * stride;
}

struct pp_search_point pp_search_point(const struct pp_search_space *s, int64_t k)
{
    const struct pp_search_values *zero = &s->axis[PP_SEARCH_ZERO];
    const int order = (int)(k % s->order_count);
    const int64_t rest = k / s->order_count;
    const struct pp_search_frame *frame =
        &s->frames[rest / zero->count / s->level_count % s->frame_count];
    const int level = pp_search_level(s, k);

    return (struct pp_search_point){
        .frame = frame,
        .order = &s->orders[order],
        .rule = frame->rules ? &frame->rules[order] : NULL,
        .again = pp_search_again(frame->levels->list[level < frame->levels->count ? level : 0]),
        .zero = zero->list[rest % zero->count],
    };
}

static unsigned chosen_bits(const struct pp_search_space *s)
{
    static const unsigned BITS[PP_SEARCH_AXES] = {
        [PP_SEARCH_CP] = PP_CHOSE_CP, [PP_SEARCH_EP] = PP_CHOSE_EP, [PP_SEARCH_MBS] = PP_CHOSE_MBS,
        [PP_SEARCH_PP] = PP_CHOSE_PP, [PP_SEARCH_TP] = PP_CHOSE_TP, [PP_SEARCH_VP] = PP_CHOSE_VP,
    };
    unsigned bits = (s->dp ? 0 : PP_CHOSE_DP) | (s->is_gbs_chosen ? PP_CHOSE_GBS : 0) |
                    (s->fixed_n ? 0 : PP_CHOSE_MICRO_BATCHES);

    for (int i = 0; i < PP_SEARCH_AXES; i++)
        bits |= s->is_free[i] ? BITS[i] : 0;
    return bits;
}

const char *pp_search_again_text(const struct pp_search_space *s, struct pp_search_again again,
                                 char text[PP_RECOMPUTE_TEXT_BYTES])
{
    pp_recompute_print(again.recompute, again.modules, text);
    return pp_recompute_add_words(s->fixed.lower.again, text);
}

enum pp_status pp_search_open_config(struct pp_arena *arena, const struct pp_search_space *s,
                                     int64_t k, struct pp_config *config, struct pp_error *err)
{
    const struct pp_search_point point = pp_search_point(s, k);
    const struct pp_search_frame *f = point.frame;
    const struct pp_degrees degrees = {.tp = f->tp,
                                       .cp = f->cp,
                                       .pp = f->pp,
                                       .dp = f->dp,
                                       .ep = f->ep,
                                       .mbs = f->mbs,
                                       .gbs = s->fixed_n ? 0 : f->gbs};

    *config = point.order->base;
    config->wanted = s->tiers.list[f->tiers].wanted;
    config->costs.recompute = point.again.recompute;
    config->costs.again = point.again.modules;
    if (point.zero != PP_SEARCH_AS_GIVEN)
        config->wanted_zero =
            s->is_free[PP_SEARCH_ZERO] && f->dp * f->cp * config->shape.pipelines == 1 ? 0
                                                                                       : point.zero;
    config->origin.chosen &= ~(unsigned)(PP_CHOSE_RECOMPUTE | PP_CHOSE_ZERO);
    config->origin.chosen |= chosen_bits(s);
    PP_TRY(pp_resolve_layout(arena, s->wish, &degrees, config, err));
    if (!pp_resolve_is_open(config))
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s leaves its order to auto, which is no layout: give a value",
                        config->schedule_name);
}

enum pp_status pp_search_settle(struct pp_arena *arena, struct pp_config *config,
                                struct pp_prepared *prepared, struct pp_error *err)
{
    const unsigned choices = PP_CHOSE_RECOMPUTE | PP_CHOSE_ZERO, chosen = config->origin.chosen;
    struct pp_result ignored;

    if (pp_auto_share_last(&config->state) == 0 && config->state.cached >= 0)
        return PP_OK;
    config->origin.chosen &= ~choices; /* the point has them */
    prepared->is_alone = true;
    PP_TRY(pp_resolve_state(arena, config, prepared, &ignored, err));
    config->origin.chosen = chosen;
    return PP_OK;
}

enum pp_status pp_search_config(struct pp_arena *arena, const struct pp_search_space *s, int64_t k,
                                struct pp_config *config, struct pp_error *err)
{
    struct pp_prepared prepared = {0};

    PP_TRY(pp_search_open_config(arena, s, k, config, err));
    return pp_search_settle(arena, config, &prepared, err);
}

enum pp_status pp_search_try(struct pp_arena *arena, const struct pp_search_space *s, int64_t k,
                             enum pp_depth depth, struct pp_outcome *outcome, struct pp_error *err)
{
    struct pp_config config;
    struct pp_result result;

    PP_TRY(pp_search_config(arena, s, k, &config, err));
    PP_TRY(pp_simulate(arena, &config, depth, NULL, &result, err));
    *outcome = pp_outcome_of(&result);
    return PP_OK;
}
