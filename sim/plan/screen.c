/* Screens all points by closed forms: bounds of time and memory over flat arrays of stage costs. */
#include "sim/plan/layer_table.h"
#include "sim/plan/levels.h"

#include <math.h>

/* ---- bounds of a point ----------------------------------------------------------------------- */

/* Most devices over which a class of state may be cut, which gives its least bytes. */
struct cuts {
    double params, grads, optimizer;
};

/* Returns the parts of a class on which each device has some; none if the class may move whole. */
static double cut_or_away(const struct pp_state_spec *wanted, enum pp_state_class class, double cut)
{
    return pp_state_moved(wanted, class) >= 1 ? (double)INFINITY : cut;
}

static struct cuts cuts_of(const struct pp_search_space *s, const struct pp_search_frame *f,
                           int zero, double copies)
{
    const struct pp_state_spec *wanted = &s->tiers.list[f->tiers].wanted;

    const struct pp_mesh *shard = s->fixed.wanted.shard;
    struct cuts cuts = {zero >= 3 ? copies : 1, zero >= 2 ? copies : 1, zero >= 1 ? copies : 1};

    if (zero == PP_SEARCH_AS_GIVEN) {
        cuts.params = pp_mesh_size(shard[PP_STATE_PARAMS]);
        cuts.grads = fmax(cuts.params, pp_mesh_size(shard[PP_STATE_GRADS]));
        cuts.optimizer = fmax(cuts.grads, pp_mesh_size(shard[PP_STATE_OPTIMIZER]));
    }
    cuts.params = cut_or_away(wanted, PP_STATE_PARAMS, cuts.params);
    cuts.grads = cut_or_away(wanted, PP_STATE_GRADS, cuts.grads);
    cuts.optimizer = cut_or_away(wanted, PP_STATE_OPTIMIZER, cuts.optimizer);
    return cuts;
}

static void cut_state(struct pp_stage_sums *sums, int stages, struct cuts cuts)
{
    const double *params = sums->term[PP_TERM_PARAMS], *grads = sums->term[PP_TERM_GRADS],
                 *optimizer = sums->term[PP_TERM_OPTIMIZER];
    const double params_frac = 1 / cuts.params, grads_frac = 1 / cuts.grads,
                 optimizer_frac = 1 / cuts.optimizer;

    for (int i = 0; i < stages; i++)
        sums->state_bytes[i] =
            params[i] * params_frac + grads[i] * grads_frac + optimizer[i] * optimizer_frac;
}

static struct pp_bound_stages stages_of(const struct pp_stage_sums *sums, int stages,
                                        double other_bytes)
{
    return (struct pp_bound_stages){
        .stages = stages,
        .times = {sums->term[PP_TERM_FORWARD], sums->term[PP_TERM_INPUT],
                  sums->term[PP_TERM_WEIGHT]},
        .hidden = {sums->term[PP_TERM_HIDDEN_FORWARD], sums->term[PP_TERM_HIDDEN_INPUT],
                   sums->term[PP_TERM_HIDDEN_WEIGHT]},
        .again_s = sums->term[PP_TERM_AGAIN],
        .state_bytes = sums->state_bytes,
        .kept_bytes = sums->term[PP_TERM_KEPT],
        .weights_bytes = sums->term[PP_TERM_WEIGHTS],
        .other_bytes = other_bytes,
    };
}

/* ---- a walk over the space ------------------------------------------------------------------- */

struct division { /* of the layers into stages */
    int *first;   /* [stages + 1]; NULL: unknown */
    struct pp_stage_sums sums;
    int64_t filled_for; /* first point of the frame and recomputation in `sums` */
};

struct pp_search_screener {
    struct pp_arena *arena;
    const struct pp_search_space *s;
    struct pp_search_board *board;
    bool is_exhaustive;
    bool *is_rough;                /* [frame * levels + level]: see pp_search_refine() */
    const double *nothing;         /* [stages]: 0 */
    struct division *divisions;    /* [stages] */
    struct pp_layer_table *tables; /* [tp][cp][dp of experts][ep][mbs][recompute] */
    uint8_t *has_table;            /* 0 = not tried, 1 = made, 2 = refused */
};

static bool is_divided_evenly(const struct pp_search_screener *c)
{
    return c->s->fixed.costs.head == PP_HEAD_LAST || c->s->fixed.costs.head == PP_HEAD_IGNORED;
}

static struct division *division_of(struct pp_search_screener *c, int stages)
{
    struct division *d = &c->divisions[stages];
    const struct pp_config *fixed = &c->s->fixed;
    struct pp_error ignored;
    int *blocks;

    if (d->sums.state_bytes)
        return d;
    d->sums = pp_stage_sums_make(c->arena, stages);
    d->filled_for = -1;
    if (!is_divided_evenly(c) ||
        pp_partition_blocks(c->arena, fixed->model.layers, stages, fixed->first_stage_layers,
                            fixed->last_stage_layers, &blocks, &ignored) != PP_OK)
        return d;
    d->first = PP_ARRAY(c->arena, int, stages + 1);
    for (int s = 0; s < stages; s++)
        d->first[s + 1] = d->first[s] + blocks[s];
    return d;
}

static int at_value(const struct pp_search_values *values, int value)
{
    for (int i = 0; i < values->count; i++)
        if (values->list[i] == value)
            return i;
    return 0;
}

static const enum pp_search_axis KEYS[] = {PP_SEARCH_TP, PP_SEARCH_CP, PP_SEARCH_PP, PP_SEARCH_EP,
                                           PP_SEARCH_MBS};
enum { KEY_COUNT = PP_COUNT(KEYS) };

/* Returns the index of a table. Costs depend on pp only with experts: it leaves fewer devices. */
static size_t table_at(const struct pp_search_space *s, const struct pp_search_frame *f, int level)
{
    const int pp = s->fixed.model.experts.count > 0 ? at_value(&s->axis[PP_SEARCH_PP], f->pp) : 0;
    const int places[KEY_COUNT] = {
        at_value(&s->axis[PP_SEARCH_TP], f->tp), at_value(&s->axis[PP_SEARCH_CP], f->cp), pp,
        at_value(&s->axis[PP_SEARCH_EP], f->ep), at_value(&s->axis[PP_SEARCH_MBS], f->mbs)};
    size_t at = 0;

    for (int i = 0; i < KEY_COUNT; i++)
        at = at * (size_t)s->axis[KEYS[i]].count + (size_t)places[i];
    return at * (size_t)s->level_count + (size_t)level;
}

static size_t table_count(const struct pp_search_space *s)
{
    size_t count = (size_t)s->level_count;

    for (int i = 0; i < KEY_COUNT; i++)
        count *= (size_t)s->axis[KEYS[i]].count;
    return count;
}

static const struct pp_layer_table *table_of(struct pp_search_screener *c,
                                             const struct pp_search_frame *f, int level)
{
    const size_t at = table_at(c->s, f, level);
    struct pp_search_frame own = *f;
    struct pp_error ignored;

    if (c->s->fixed.model.experts.count == 0)
        own.dp = 1;
    if (!c->has_table[at])
        c->has_table[at] =
            pp_layer_table_make(c->arena, c->s, &own, pp_search_again(f->levels->list[level]),
                                &c->tables[at], &ignored) == PP_OK
                ? 1
                : 2;
    return c->has_table[at] == 1 ? &c->tables[at] : NULL;
}

static void fill(struct division *d, const struct pp_layer_table *table, int stages, int64_t key)
{
    if (d->filled_for == key)
        return;
    d->filled_for = key;
    if (d->first)
        pp_stage_sums_fill(&d->sums, table, d->first, stages);
    else
        pp_stage_sums_spread(&d->sums, table, stages);
}

/* Returns the rule of a division. If unknown, average work and state count, as if steps overlap. */
static struct pp_bound_rule rule_in(const struct division *d, const struct pp_search_rule *rule)
{
    struct pp_bound_rule bound = rule->bound;

    if (!d->first && bound.steps == 1)
        bound.steps = 2;
    return bound;
}

/* Returns a lower bound of the time of a micro-batch in splits over that of a whole one. Only
 * unfused causal attention takes less, whose kernels compute whole rectangles: (q + 1) / 2q of the
 * keys in q splits. */
static double least_frac(const struct pp_search_space *s, const struct pp_bound_rule *bound)
{
    const double splits = bound->shape.splits;
    const bool is_cut = s->fixed.model.is_causal && s->fixed.cluster.device.is_attention_unfused;

    return is_cut ? (splits + 1) / (2 * splits) : 1;
}

/* Is true for a ZeRO stage that is a choice. One copy has nothing to share: the first one stands
 * for all. A framework may have others with a pipeline than without. */
static bool is_zero_there(const struct pp_search_space *s, const struct pp_search_frame *f,
                          double copies, int z)
{
    const struct pp_search_values *zero = &s->axis[PP_SEARCH_ZERO];

    if (!s->is_free[PP_SEARCH_ZERO])
        return true;
    return copies == 1 ? z == 0 : pp_tool_has_zero(s->fixed.tool, f->pp > 1, zero->list[z]);
}

static int64_t stride_of(const struct pp_search_space *s)
{
    return (int64_t)s->axis[PP_SEARCH_ZERO].count * s->order_count;
}

static void put(struct pp_search_screener *c, int64_t k, double step_s, double bytes)
{
    struct pp_search_board *b = c->board;

    b->bound_s[k] = nextafterf((float)step_s, 0);
    b->bound_bytes[k] = nextafterf((float)bytes, 0);
    b->status[k] =
        !c->is_exhaustive && (double)b->bound_bytes[k] > pp_config_capacity_bytes(&c->s->fixed)
            ? PP_SEARCH_NO_ROOM
            : PP_SEARCH_OPEN;
}

/* Screens the points of one frame, recomputation and order: one for each ZeRO stage. With `more`
 * levels after this one, these get its time and its state. */
static void screen_order(struct pp_search_screener *c, const struct pp_search_frame *f,
                         const struct pp_layer_table *table, int64_t first, int order, int more)
{
    const struct pp_search_space *s = c->s;
    const struct pp_search_values *zero = &s->axis[PP_SEARCH_ZERO];
    const struct pp_search_rule *rule = &f->rules[order];
    struct division *d = division_of(c, rule->stages);
    const double copies = (double)f->dp * f->cp * rule->bound.shape.pipelines;

    fill(d, table, rule->stages, first);
    struct pp_bound_stages stages = stages_of(&d->sums, rule->stages, table->other_bytes);
    if (pp_state_is_quantised(&s->tiers.list[f->tiers].wanted) ||
        pp_state_is_away(&s->tiers.list[f->tiers].wanted, PP_STATE_ACTIVATIONS))
        stages.kept_bytes = stages.weights_bytes = c->nothing;
    const struct pp_bound_rule bound = rule_in(d, rule);
    const double step_s = least_frac(s, &bound) * pp_bound_step_s(&bound, &stages) / (double)f->gbs;
    struct pp_bound_stages bare = stages;
    bare.kept_bytes = bare.weights_bytes = c->nothing;
    for (int z = 0; z < zero->count; z++) {
        const int64_t k = first + (int64_t)z * s->order_count + order;
        cut_state(&d->sums, rule->stages, cuts_of(s, f, zero->list[z], copies));
        if (!is_zero_there(s, f, copies, z)) {
            for (int l = 0; l <= more; l++)
                c->board->status[k + l * stride_of(s)] = PP_SEARCH_ABSENT;
            continue;
        }
        put(c, k, step_s, pp_bound_peak_bytes(&bound, &stages));
        const double bytes = more ? pp_bound_peak_bytes(&bound, &bare) : 0;
        for (int l = 1; l <= more; l++)
            put(c, k + l * stride_of(s), step_s, bytes);
    }
}

static void mark_all(struct pp_search_screener *c, int64_t first, int order,
                     enum pp_search_status status)
{
    for (int z = 0; z < c->s->axis[PP_SEARCH_ZERO].count; z++)
        c->board->status[first + (int64_t)z * c->s->order_count + order] = (uint8_t)status;
}

static void screen_frame(struct pp_search_screener *c, const struct pp_search_frame *f, int level,
                         int64_t first)
{
    const bool is_there = level < f->levels->count;
    const struct pp_layer_table *table = is_there && f->rules ? table_of(c, f, level) : NULL;
    const int more = level == 0 && table && !c->is_exhaustive && pp_search_levels_add(c->s)
                         ? f->levels->count - 1
                         : 0;

    for (int o = 0; o < c->s->order_count; o++) {
        const struct pp_search_rule *rule = f->rules ? &f->rules[o] : NULL;
        const enum pp_search_status status = !is_there         ? PP_SEARCH_ABSENT
                                             : !rule           ? PP_SEARCH_BATCH
                                             : !rule->is_there ? PP_SEARCH_ABSENT
                                             : !rule->is_legal ? PP_SEARCH_SHAPE
                                             : !table          ? PP_SEARCH_REFUSED
                                                               : PP_SEARCH_OPEN;
        if (status == PP_SEARCH_OPEN)
            screen_order(c, f, table, first, o, more);
        else
            for (int l = 0; l <= more; l++)
                mark_all(c, first + l * stride_of(c->s), o, status);
    }
    for (int l = 1; l <= more; l++)
        c->is_rough[first / stride_of(c->s) + l] = true;
}

/* ---- the board ------------------------------------------------------------------------------- */

bool pp_search_refine(struct pp_search_board *board, int64_t k)
{
    struct pp_search_screener *c = board->screener;
    const int64_t at = k / stride_of(c->s);

    if (!c->is_rough[at])
        return false;
    c->is_rough[at] = false;
    screen_frame(c, &c->s->frames[at / c->s->level_count], (int)(at % c->s->level_count),
                 at * stride_of(c->s));
    return true;
}

enum pp_status pp_search_screen(struct pp_arena *arena, const struct pp_search_space *s,
                                bool is_exhaustive, struct pp_search_board *board,
                                struct pp_error *err)
{
    enum { MOST_POINTS = 1 << 28 };
    struct pp_search_screener *c = PP_NEW(arena, struct pp_search_screener);

    if (s->points > MOST_POINTS)
        return pp_error_set(err, PP_EINVAL, "--free: %lld combinations are more than %d",
                            (long long)s->points, MOST_POINTS);
    *board = (struct pp_search_board){.status = PP_ARRAY(arena, uint8_t, s->points),
                                      .bound_s = PP_ARRAY(arena, float, s->points),
                                      .bound_bytes = PP_ARRAY(arena, float, s->points),
                                      .is_own = PP_ARRAY(arena, bool, s->points),
                                      .screener = c};
    *c = (struct pp_search_screener){
        .arena = arena,
        .s = s,
        .board = board,
        .is_exhaustive = is_exhaustive,
        .is_rough = PP_ARRAY(arena, bool, (size_t)s->frame_count *(size_t)s->level_count),
        .nothing = PP_ARRAY(arena, double, UINT16_MAX + 1),
        .divisions = PP_ARRAY(arena, struct division, UINT16_MAX + 1),
        .tables = PP_ARRAY(arena, struct pp_layer_table, table_count(s)),
        .has_table = PP_ARRAY(arena, uint8_t, table_count(s))};
    for (int f = 0; f < s->frame_count; f++)
        for (int l = 0; l < s->level_count; l++) {
            const int64_t at = (int64_t)f * s->level_count + l;
            if (!c->is_rough[at])
                screen_frame(c, &s->frames[f], l, at * stride_of(s));
        }
    return PP_OK;
}
