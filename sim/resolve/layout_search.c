/* The quick planner chooses the degrees, the ZeRO stage and the recomputation that the user left
 * open. Candidates are ordered by a lower bound of the step, the compute of the busiest rank. They
 * are simulated until no bound can beat the best that has room. Ties go to fewer pipeline ranks. */
#include "sim/resolve/resolve.h"

#include "core/units.h"
#include "sim/config/auto_share.h"

#include <math.h>
#include <stdlib.h>

enum {
    MAX_CANDIDATES = 512,
    KEPT_SIZE = 1 << 18, /* instructions of the largest program that is kept for the run */
};

struct candidate {
    struct pp_config config;
    double bound_s_per_sample; /* lower bound for all programs of this layout */
    double floor_bytes;        /* lower bound for all states that may be chosen */
    bool is_beyond;            /* cannot fit, by a bound of its order */
};

struct search {
    struct pp_arena *arena;
    const struct pp_wish *wish;
    struct candidate *list;
    int count, capacity;
    struct pp_error first_refusal;
    struct pp_layout refused;
    /* best so far */
    struct pp_config best;
    struct pp_trials *trials;     /* copy of the best one's trials, whose memory may be released */
    struct pp_prepared *prepared; /* of the best, unless its program is large */
    struct pp_outcome outcome;    /* of the best; refused = there is none yet */
    int best_at;                  /* its index in the list */
};

static void refuse(struct search *s, const struct candidate *c, const struct pp_error *err)
{
    if (s->first_refusal.status != PP_OK)
        return;
    s->first_refusal = *err;
    s->refused = c->config.layout;
}

/* Computes compute of the busiest rank from the cost tables alone. */
static void bound(struct candidate *c, const struct pp_costs *costs, const uint16_t *rank_of)
{
    const struct pp_shape *shape = &c->config.shape;
    const int stages = pp_shape_stages(shape);
    double worst_s = 0;

    for (int r = 0; r < shape->ranks; r++) {
        double busy_s = 0;
        for (int p = 0; p < shape->pipelines; p++)
            for (int s = 0; s < stages; s++) {
                if (rank_of[p * stages + s] != r)
                    continue;
                const double share = (double)shape->micro_batches / shape->pipelines;
                for (int k = 0; k < 2; k++) {
                    const struct pp_cost *row = costs->op[k ? PP_B : PP_F];
                    const struct pp_cost *op = row ? &row[s * costs->splits] : NULL;
                    if (op) /* an overlapped pair may hide the exchanges of experts */
                        busy_s += share * pp_units_s(op->ps - op->ep_ps);
                }
            }
        worst_s = busy_s > worst_s ? busy_s : worst_s;
    }
    c->bound_s_per_sample = worst_s / pp_config_compared(&c->config);
}

static void consider(struct search *s, const struct pp_config *base,
                     const struct pp_degrees *degrees)
{
    struct candidate c = {.config = *base};
    struct pp_error err;
    struct pp_costs *costs;

    if (s->count == MAX_CANDIDATES)
        return;
    if (pp_resolve_layout(s->arena, s->wish, degrees, &c.config, &err) != PP_OK) {
        refuse(s, &c, &err);
        return;
    }
    struct pp_config least = c.config;
    const uint16_t *rank_of;
    least.state = pp_auto_share_at(&least.state, 0);
    if (pp_resolve_bare_costs(s->arena, &least, &rank_of, &costs, &err) != PP_OK) {
        refuse(s, &c, &err);
        return;
    }
    bound(&c, costs, rank_of);
    *PP_PUSH(s->arena, s->list, s->count, s->capacity) = c;
}

/* Largest number of stages; --head counted may give embedding and head a stage each. */
static int most_stages(const struct pp_config *config)
{
    return config->model.layers + (config->costs.head == PP_HEAD_COUNTED ? 2 : 0);
}

/* Considers the given pp, or every divisor from `least` on that leaves a block for each stage. */
static void each_pipeline(struct search *s, const struct pp_config *base, int gpus, int least,
                          struct pp_degrees d)
{
    const int rest = gpus / (d.tp * d.cp);
    const int pp = base->file_program ? base->file_program->ranks : s->wish->pp;
    const int dp = s->wish->dp;
    const int chunks = base->generation.passes ? 1 : base->shape.chunks;
    if (gpus % (d.tp * d.cp))
        return;
    for (int ranks = least; ranks <= rest && ranks <= 65535; ranks++) {
        if (rest % ranks || (pp && ranks != pp) || (dp && rest / ranks != dp))
            continue;
        const int stages = ranks * (chunks ? chunks : 1);
        if (!pp && !dp && stages > most_stages(base))
            break;
        d.pp = ranks;
        d.dp = rest / ranks;
        int ep[PP_EXPERT_DEGREES];
        const int count = pp_resolve_expert_degrees(s->wish, base, &d, ep);
        for (int i = 0; i < count; i++) {
            d.ep = ep[i];
            consider(s, base, &d);
        }
    }
}

static void each_degree(struct search *s, const struct pp_config *base, int gpus, int least)
{
    const int tp = s->wish->tp, cp = s->wish->cp;
    const int node = base->cluster.gpus_per_node;

    for (int t = tp ? tp : 1; t <= (tp ? tp : node); t *= 2) {
        if (!tp && base->model.heads % t)
            break;
        each_pipeline(s, base, gpus, least, (struct pp_degrees){.tp = t, .cp = cp});
    }
}

static int by_bound(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->bound_s_per_sample != y->bound_s_per_sample)
        return x->bound_s_per_sample < y->bound_s_per_sample ? -1 : 1;
    return x->config.layout.pp - y->config.layout.pp;
}

/* Is true if the outcome is better; of equals the one first in the list is. */
static bool is_better(const struct search *s, int at, const struct pp_outcome *outcome)
{
    return pp_outcome_is_better(outcome, &s->outcome) ||
           (at < s->best_at && !pp_outcome_is_better(&s->outcome, outcome));
}

/* Tries a candidate. One that needs more than `most_bytes` (0 = no limit), or with `needs_fit` does
 * not fit, for certain, is left for try_hopeless(). */
static void try_candidate(struct search *s, int at, double most_bytes, bool needs_fit)
{
    struct candidate *c = &s->list[at];
    const struct pp_arena_mark mark = pp_arena_mark(s->arena);
    struct pp_config config = c->config;
    struct pp_prepared prepared = {.programs = s->prepared->programs,
                                   .is_alone = s->count == 1,
                                   .is_by_fit = true,
                                   .most_bytes = most_bytes,
                                   .needs_fit = needs_fit};
    struct pp_result result;
    struct pp_error err;

    if (pp_resolve_choice(s->arena, &config, &prepared, &result, &err) != PP_OK) {
        refuse(s, c, &err);
    } else if (!result.program) {
        c->is_beyond = true;
        if (!pp_state_is_away(&config.state, PP_STATE_ACTIVATIONS)) /* else its tier may be full */
            c->floor_bytes = fmax(c->floor_bytes, nextafter(most_bytes, INFINITY));
    } else {
        const struct pp_outcome outcome = pp_outcome_of(&result);
        if (is_better(s, at, &outcome)) {
            s->best = config;
            if (config.origin.trials) {
                *s->trials = *config.origin.trials;
                s->best.origin.trials = s->trials;
            }
            s->best_at = at;
            s->outcome = outcome;
            *s->prepared = (struct pp_prepared){.programs = prepared.programs};
            if (pp_program_size(result.program) <= KEPT_SIZE) {
                *s->prepared = prepared;
                return; /* keeps what the run starts from */
            }
        }
    }
    pp_arena_release(s->arena, mark);
}

/* Reports the first refusal, with its layout if the tool chose it. */
static enum pp_status no_layout(const struct search *s, const struct pp_config *config,
                                struct pp_error *err)
{
    *err = s->first_refusal;
    if (err->status == PP_OK)
        return pp_error_set(
            err, PP_EINVAL,
            "no layout of these GPUs works: tp * cp * pp * dp must be their number, and "
            "%s has %d layers for pp * vp stages",
            config->model.name, config->model.layers);
    if (!s->wish->pp && !config->file_program)
        pp_error_prefix(err, "no layout works; the first one tried, tp %d x pp %d x dp %d: ",
                        s->refused.tp, s->refused.pp, s->refused.dp);
    return err->status;
}

static bool cannot_fit(const struct candidate *c)
{
    return c->is_beyond || c->floor_bytes > pp_config_capacity_bytes(&c->config);
}

static bool cannot_have_room(const struct candidate *c)
{
    return c->floor_bytes > pp_config_room_bytes(&c->config);
}

/* Tries the candidates that may have room, until no other can beat the best that has it. */
static void try_roomy(struct search *s)
{
    for (int i = 0; i < s->count; i++) {
        const struct candidate *c = &s->list[i];
        if (s->outcome.fits && !s->outcome.is_tight &&
            c->bound_s_per_sample >= s->outcome.s_per_sample)
            break;
        if (!cannot_have_room(c))
            try_candidate(s, i, pp_config_capacity_bytes(&c->config), true);
    }
}

/* Tries the candidates that fit only tightly, if none has room. */
static void try_tight(struct search *s)
{
    for (int i = 0; i < s->count; i++) {
        const struct candidate *c = &s->list[i];
        if (s->outcome.fits && c->bound_s_per_sample >= s->outcome.s_per_sample)
            break;
        if (cannot_have_room(c) && !cannot_fit(c))
            try_candidate(s, i, pp_config_capacity_bytes(&c->config), true);
    }
}

static int by_floor(const void *a, const void *b)
{
    const struct candidate *x = *(const struct candidate *const *)a,
                           *y = *(const struct candidate *const *)b;

    if (x->floor_bytes != y->floor_bytes)
        return x->floor_bytes < y->floor_bytes ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Finds the candidate that needs least memory, if none fits. Tries those with the lowest bounds
 * first, until no other can need less. */
static void try_hopeless(struct search *s)
{
    const struct candidate *list[MAX_CANDIDATES];
    int count = 0;

    for (int i = 0; i < s->count; i++)
        if (cannot_fit(&s->list[i]))
            list[count++] = &s->list[i];
    qsort(list, (size_t)count, sizeof(*list), by_floor);
    for (int i = 0;
         i < count && (s->outcome.is_refused || list[i]->floor_bytes <= s->outcome.peak_bytes); i++)
        try_candidate(s, (int)(list[i] - s->list),
                      s->outcome.is_refused ? 0 : s->outcome.peak_bytes, false);
}

static void try_all(struct search *s)
{
    for (int i = 0; i < s->count; i++)
        s->list[i].floor_bytes = pp_resolve_floor_bytes(s->arena, &s->list[i].config);
    if (s->count > 0)
        qsort(s->list, (size_t)s->count, sizeof(*s->list), by_bound);
    try_roomy(s);
    if (!s->outcome.fits || s->outcome.is_tight)
        try_tight(s);
    if (!s->outcome.fits)
        try_hopeless(s);
}

static enum pp_status pick(struct search *s, struct pp_config *config, struct pp_error *err)
{
    if (s->count == 1)
        try_candidate(s, 0, 0, false);
    else
        try_all(s);
    if (s->outcome.is_refused)
        return no_layout(s, config, err);
    *config = s->best;
    return PP_OK;
}

/* Returns the devices asked for, 0 = none: those of --gpus, or all of --nodes. */
static enum pp_status asked_gpus(const struct pp_wish *wish, const struct pp_config *config,
                                 int *gpus, struct pp_error *err)
{
    const int per_node = config->cluster.gpus_per_node;
    const int64_t of_nodes = (int64_t)wish->nodes * per_node;
    const bool is_over_preset =
        wish->given.gpus.count == 0 || wish->given.gpus.origin < wish->given.nodes.origin;

    *gpus = wish->gpus;
    if (wish->nodes == 0 || wish->gpus == of_nodes)
        return PP_OK;
    if (!is_over_preset)
        return pp_error_set(err, PP_EINVAL,
                            "%s contradicts %s: %d nodes x %d of %s are --gpus %lld",
                            wish->given.gpus.typed, wish->given.nodes.typed, wish->nodes, per_node,
                            config->cluster.name, (long long)of_nodes);
    if (of_nodes > PP_OPTION_BIG)
        return pp_error_set(err, PP_EINVAL, "%s: %d nodes x %d are more than %d GPUs",
                            wish->given.nodes.typed, wish->nodes, per_node, PP_OPTION_BIG);
    *gpus = (int)of_nodes;
    return PP_OK;
}

/* `degrees`: tp, cp, pp and dp, 0 = not given, without cp that of 1. All but cp together are as
 * many devices as there can be. `most`: GPUs of the cluster, 0 = any number. */
static enum pp_status check_degrees(int gpus, const int degrees[4], int64_t product, int64_t most,
                                    struct pp_error *err)
{
    const int64_t below = gpus / product * product;
    const bool has_all = degrees[0] && degrees[2] && degrees[3];

    if (gpus == product || (gpus % product == 0 && !has_all))
        return PP_OK;
    if (most && product > most)
        return pp_error_set(err, PP_EINVAL,
                            "tp * cp * pp * dp = %lld is more than the %lld GPUs of --cluster; "
                            "nearest: %lld",
                            (long long)product, (long long)most, (long long)most);
    pp_error_set(err, PP_EINVAL, "%d GPUs are not %stp * cp * pp * dp = %lld; nearest: --gpus ",
                 gpus, has_all ? "" : "a multiple of ", (long long)product);
    if (!has_all && below) {
        pp_error_append(err, "%lld", (long long)below);
        return most && below + product > most
                   ? err->status
                   : pp_error_append(err, " or %lld", (long long)(below + product));
    }
    pp_error_append(err, "%lld", (long long)product);
    return gpus % product
               ? err->status
               : pp_error_append(err, ", or --dp %lld", (long long)(gpus / product * degrees[3]));
}

static enum pp_status count_gpus(const struct pp_wish *wish, struct pp_config *config, int *gpus,
                                 struct pp_error *err)
{
    const int64_t most = (int64_t)config->cluster.nodes * config->cluster.gpus_per_node;
    const int pp = config->file_program ? config->file_program->ranks : wish->pp;
    const int degrees[] = {wish->tp, wish->given.cp.count ? wish->cp : 0, pp, wish->dp};
    int64_t product = 1;
    bool has_degrees = false;

    for (int i = 0; i < 4; i++) {
        if (product <= 1 << 20) /* a larger product stays larger, and cannot overflow */
            product *= degrees[i] ? degrees[i] : 1;
        has_degrees |= degrees[i] > 0;
    }
    if (product > 1 << 20)
        return pp_error_set(err, PP_EINVAL, "tp * cp * pp * dp is more than 1,048,576 GPUs");
    PP_TRY(asked_gpus(wish, config, gpus, err));
    if (*gpus > 0)
        return check_degrees(*gpus, degrees, product, most, err);
    config->origin.chosen |= PP_CHOSE_GPUS;
    if (most) {
        *gpus = (int)most;
        return check_degrees(*gpus, degrees, product, most, err);
    }
    if (has_degrees)
        *gpus = (int)product;
    else
        return pp_error_set(
            err, PP_EINVAL,
            "--gpus N is needed (or --tp, --pp, --dp; or --unit for abstract costs)");
    return PP_OK;
}

static enum pp_status too_many_gpus(const struct pp_wish *wish, const struct pp_config *config,
                                    int gpus, int64_t most, struct pp_error *err)
{
    const struct pp_cluster *c = &config->cluster;

    pp_error_set(err, PP_EINVAL,
                 "%s is more than the %lld of --cluster (%d nodes x %d): --gpus %lld",
                 wish->nodes ? wish->given.nodes.typed : wish->given.gpus.typed, (long long)most,
                 c->nodes, c->gpus_per_node, (long long)most);
    if (config->platform)
        return pp_error_append(err, ", or a file with more hosts");
    return pp_error_append(err, ", or node:%d in --cluster",
                           (gpus + c->gpus_per_node - 1) / c->gpus_per_node);
}

enum pp_status pp_resolve_gpus(const struct pp_wish *wish, struct pp_config *config, int *gpus,
                               struct pp_error *err)
{
    const int64_t most = (int64_t)config->cluster.nodes * config->cluster.gpus_per_node;

    PP_TRY(count_gpus(wish, config, gpus, err));
    if (most && *gpus > most)
        return too_many_gpus(wish, config, *gpus, most, err);
    return pp_resolve_peers(wish, config, *gpus, err);
}

static void mark_choices(const struct pp_wish *wish, struct pp_config *config)
{
    config->origin.chosen |=
        (wish->tp ? 0 : PP_CHOSE_TP) | (wish->pp ? 0 : PP_CHOSE_PP) | (wish->dp ? 0 : PP_CHOSE_DP) |
        (wish->given.cp.count ? 0 : PP_CHOSE_CP) | (wish->given.ep.count ? 0 : PP_CHOSE_EP);
    if (config->file_program)
        config->origin.chosen &= ~(unsigned)(PP_CHOSE_PP | PP_CHOSE_MICRO_BATCHES);
}

/* Searches the layouts of so many GPUs. Without a choice of pp, training takes several ranks. */
static void find_layouts(struct search *s, const struct pp_config *config, int gpus)
{
    const bool is_given = s->wish->pp || s->wish->dp || config->file_program;
    const bool may_be_one = is_given || config->generation.passes > 0;

    each_degree(s, config, gpus, may_be_one ? 1 : 2);
    if (s->count == 0 && !may_be_one) /* no pipeline is possible: run without one */
        each_degree(s, config, gpus, 1);
}

static enum pp_status plan_of(struct pp_arena *arena, const struct pp_wish *wish,
                              struct pp_config *config, struct pp_prepared *prepared,
                              struct pp_error *err)
{
    int gpus = 1;

    PP_TRY(pp_resolve_gpus(wish, config, &gpus, err));
    PP_TRY(pp_resolve_fabric(arena, config, gpus, err));
    struct search search = {.arena = arena,
                            .wish = wish,
                            .trials = PP_NEW(arena, struct pp_trials),
                            .prepared = prepared,
                            .outcome = {.is_refused = true}};
    find_layouts(&search, config, gpus);
    if (search.count == 1 && !(config->origin.chosen & (PP_CHOSE_ZERO | PP_CHOSE_RECOMPUTE)) &&
        !pp_resolve_is_open(config) && pp_auto_share_last(&config->wanted) == 0 &&
        config->wanted.cached >= 0)
        *config = search.list[0].config;
    else
        PP_TRY(pick(&search, config, err));
    mark_choices(wish, config);
    return PP_OK;
}

/* Is true if a run that generates may take the devices that it needs. */
static bool may_choose_gpus(const struct pp_wish *wish, const struct pp_config *config)
{
    return config->generation.passes > 0 && !wish->gpus && !wish->nodes && !wish->tp && !wish->pp &&
           !wish->dp && !config->file_program && config->cluster.nodes == 0;
}

static bool has_room(struct pp_arena *arena, const struct pp_config *config)
{
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    struct pp_result result;
    struct pp_error ignored;
    const bool fits =
        pp_simulate(arena, config, PP_MEMORY, NULL, &result, &ignored) == PP_OK && result.fits;

    pp_arena_release(arena, mark);
    return fits;
}

enum pp_status pp_resolve_plan(struct pp_arena *arena, const struct pp_wish *wish,
                               struct pp_config *config, struct pp_prepared *prepared,
                               struct pp_error *err)
{
    const struct pp_prepared before = *prepared;
    const struct pp_config open = *config;
    struct pp_wish *counted = PP_NEW(arena, struct pp_wish);

    if (!may_choose_gpus(wish, config))
        return plan_of(arena, wish, config, prepared, err);
    *counted = *wish;
    for (counted->gpus = 1;; counted->gpus *= 2) {
        *config = open, *prepared = before;
        PP_TRY(plan_of(arena, counted, config, prepared, err));
        config->origin.chosen |= PP_CHOSE_GPUS;
        if (2 * counted->gpus > config->cluster.gpus_per_node - wish->peers ||
            has_room(arena, config))
            return PP_OK;
    }
}
