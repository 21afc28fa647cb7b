/* Gathers sharded parameters before they are used, visit by visit (schedules/lower/visits.h). The
 * program gathers for visits that begin with an op; units inside of an op are part of its cost
 * (core/cost/analytic/gathers.c).
 *
 * Before a visit: AG.forward or AG.backward, and its WAIT before the first use. R opens the visit
 * of the backward that it serves. With k buffers gathers run k - 1 units ahead, but only once the
 * previous visit of the same chunk has begun. After a visit: DROP. A cache joins visits
 * (schedules/lower/cache.h).
 *
 * Gradients: RS.visit after the last B or W of a visit. A visit is a run of ops of one chunk, or a
 * single B or W if the chunk has several units. The WAIT of RS.visit is before the scatter of the
 * unit k - 1 units later; with one buffer it directly follows.
 *
 * Gradients may have more shards than parameters (s_G > s_P). Then RS.part follows every backward
 * of a micro-batch (or visit, if parameters are sharded) except the last of its chunk. The sum at
 * the end of the step covers that one.
 *
 * A weight gradient needs no parameters. The two ops of an overlapped pair are used at once. Reads
 * F, B, I, W, R only; runs before messages are added. Source: Lamy-Poirier 2023, breadth-first
 * pipeline parallelism, section 4; Chen et al. 2024, AMSP, section 4; Rajbhandari et al. 2021,
 * ZeRO-Infinity, section 6.2. */
#include "schedules/lower/cache.h"
#include "schedules/lower/lists.h"
#include "schedules/lower/lower.h"

struct gathers {
    struct pp_visit_walk walk;
    const struct pp_lower_options *options;
    struct pp_visits gathered, scattered, parts;
    struct pp_inserts inserts;
};

/* ---- instructions ---------------------------------------------------------------------------- */

static struct pp_op post_of(enum pp_purpose purpose, const struct pp_visit *v)
{
    return pp_op_for(purpose, v->stage, v->pipe);
}

static void add(struct gathers *g, int before, struct pp_op op)
{
    pp_inserts_add(g->walk.arena, &g->inserts, before, op);
}

static void add_wait(struct gathers *g, int before, struct pp_op post)
{
    add(g, before, pp_op_wait(post));
}

static struct pp_op load_of(const struct pp_visit *v)
{
    return post_of(v->is_backward ? PP_FOR_RELOAD : PP_FOR_LOAD, v);
}

/* Returns the op that fetches parameters: a gather of all, or a load of this rank's share. */
static struct pp_op fetch_of(const struct gathers *g, const struct pp_visit *v)
{
    return !pp_state_is_gathered(&g->options->state)
               ? load_of(v)
               : post_of(v->is_backward ? PP_FOR_BACKWARD : PP_FOR_FORWARD, v);
}

/* Progress of the visits. */
struct written {
    int loaded, posted; /* loads of shards; fetches */
};

static bool has_loads(const struct gathers *g)
{
    const struct pp_state_spec *state = &g->options->state;

    return pp_state_is_away(state, PP_STATE_PARAMS) && pp_state_is_gathered(state);
}

static void post_load(struct gathers *g, int before, struct written *w)
{
    add(g, before, load_of(&g->gathered.list[w->loaded++]));
}

static void post_fetch(struct gathers *g, int before, struct written *w)
{
    const struct pp_visit *v = &g->gathered.list[w->posted];

    if (has_loads(g)) {
        if (w->loaded == w->posted)
            post_load(g, before, w);
        add_wait(g, before, load_of(v));
    }
    add(g, before, fetch_of(g, v));
    w->posted++;
}

/* Is true if visit number `next` may be fetched before number k. */
static bool has_buffer(const struct gathers *g, int next, int k)
{
    return next < g->gathered.count &&
           pp_visits_before(&g->gathered, next, g->options->state.buffers) <= k;
}

/* Is true if another load may be posted: at most `ahead` before their gathers, one of a chunk. */
static bool can_load(const struct pp_visits *visits, const struct written *w, int ahead)
{
    return w->loaded < visits->count && w->loaded < w->posted + ahead &&
           (w->loaded == w->posted ||
            visits->list[w->loaded].stage != visits->list[w->posted].stage);
}

/* Places the fetches. Each moment is followed by DROPs, scatters of its gradients and WAITs for the
 * fetches of the next one. Then come the fetches after that, and the load after these. Loads are
 * waited for before a gather is posted: two start together until the buffers are full. No WAIT is
 * for a fetch posted in the same place. */
static void place_fetches(struct gathers *g)
{
    const struct pp_visits *visits = &g->gathered;
    struct written w = {0};

    for (int k = 0; k < visits->count; k++) {
        const int before = g->walk.moments[visits->list[k].from].at,
                  ready = has_loads(g) ? w.loaded : visits->count;
        if (w.posted == k)
            post_fetch(g, before, &w);
        add_wait(g, before, fetch_of(g, &visits->list[k]));
        while (w.posted < ready && has_buffer(g, w.posted, k))
            post_fetch(g, before, &w);
        const int ahead = g->options->state.buffers < 2 ? 0 : 1 + has_buffer(g, w.posted, k);
        while (has_loads(g) && can_load(visits, &w, ahead))
            post_load(g, before, &w);
    }
}

static void place_drops(struct gathers *g)
{
    for (int k = 0; k < g->gathered.count; k++) {
        const struct pp_visit *v = &g->gathered.list[k];
        add(g, g->walk.moments[v->until].end, pp_stage_op(PP_DROP, v->stage, v->pipe));
    }
}

/* Posts sums after the visits, with WAITs before another sum takes the buffer, or at the end. */
static void place_sums(struct gathers *g, const struct pp_visits *visits, enum pp_purpose purpose,
                       int end)
{
    const int buffers = pp_lower_brings_sums(g->options) ? 1 : g->options->state.buffers;
    int waited = 0;

    for (int k = 0; k < visits->count; k++) {
        const int after = g->walk.moments[visits->list[k].until].end;
        for (; waited < k && waited <= pp_visits_before(visits, k, buffers); waited++)
            add_wait(g, after, post_of(purpose, &visits->list[waited]));
        add(g, after, post_of(purpose, &visits->list[k]));
        for (; buffers < 2 && waited <= k; waited++)
            add_wait(g, after, post_of(purpose, &visits->list[waited]));
    }
    for (; waited < visits->count; waited++)
        add_wait(g, end, post_of(purpose, &visits->list[waited]));
}

/* ---- the pass -------------------------------------------------------------------------------- */

/* Is true for an op of this pass in lists that bring their own. */
static bool is_own(const struct pp_op *op)
{
    return op->kind == PP_AG || op->kind == PP_DROP ||
           (op->kind == PP_MOVE && op->purpose != PP_FOR_STEP &&
            pp_purposes[op->purpose].when == PP_WITH_USE) ||
           (op->kind == PP_RS && op->purpose != PP_FOR_STEP);
}

static bool has_work(const struct pp_lower_options *options)
{
    return pp_state_is_fetched(&options->state) || pp_state_has_parts(&options->state) ||
           pp_state_is_away(&options->state, PP_STATE_GRADS);
}

struct pp_program_state pp_lower_state(struct pp_arena *arena, const struct pp_program_head *head,
                                       const struct pp_lower_options *options,
                                       const struct pp_orders *lists)
{
    struct pp_program_state state = {.spec = options->state};

    if (!has_work(options) || pp_lists_any(lists, is_own))
        return head->state;
    if (head->mode == PP_MODE_INFER) { /* inference has no gradients */
        state.spec.shard[PP_STATE_GRADS] = state.spec.shard[PP_STATE_PARAMS];
        state.spec.home[PP_STATE_GRADS] = PP_TIER_DEVICE;
    }
    if (!pp_state_is_fetched(&options->state))
        return state;
    uint16_t *units = PP_ARRAY(arena, uint16_t, head->stages);
    for (int s = 0; s < head->stages; s++) {
        const int count = pp_lower_units(options, s);
        units[s] = (uint16_t)(count < UINT16_MAX ? count : UINT16_MAX);
    }
    state.units = units;
    if (state.spec.buffers > UINT16_MAX) /* the most that a text can state */
        state.spec.buffers = UINT16_MAX;
    return state;
}

static void gather_rank(struct gathers *g, struct pp_orders *lists, int rank, int stages,
                        bool is_training)
{
    const struct pp_state_spec *state = &g->options->state;
    const bool is_cut = pp_state_is_gathered(state), is_fetched = pp_state_is_fetched(state);
    const int end = lists->count[rank];

    g->walk.moment_count = pp_lists_moments(lists, rank, g->walk.moments);
    if (is_fetched) {
        pp_cache_visits(&g->walk, state, stages, &g->gathered);
        place_drops(g);
    }
    if (is_cut && is_training) {
        pp_visits_of_grads(&g->walk, &g->scattered);
        place_sums(g, &g->scattered, PP_FOR_VISIT, end);
    }
    if (pp_state_has_parts(state) && is_training) {
        pp_visits_of_parts(&g->walk, is_cut ? &g->scattered : NULL, stages, &g->parts);
        place_sums(g, &g->parts, PP_FOR_PART, end);
    }
    if (is_fetched)
        place_fetches(g);
    pp_inserts_apply(g->walk.arena, lists, rank, &g->inserts);
}

enum pp_status pp_lower_gathers(const struct pp_lowering *l)
{
    const struct pp_lower_options *options = l->options;
    const struct pp_program_head *head = l->head;

    if (!has_work(options) || pp_lists_any(l->lists, is_own))
        return PP_OK;
    if (pp_state_is_fetched(&options->state) && pp_lists_have(l->lists, PP_U))
        return pp_error_set(l->err, PP_EPROGRAM,
                            "%s is complete, with messages and updates, but gathers no parameters: "
                            "for sharded ones give its F, B, I and W alone, as pipesim program "
                            "--compute prints them, or a file with gathers",
                            head->file ? head->file : head->name);
    struct gathers g = {.walk = {.arena = l->arena,
                                 .units = options->units,
                                 .model_stages = pp_head_model_stages(head)},
                        .options = options};
    g.walk.moments = PP_ARRAY(l->arena, struct pp_moment, pp_lists_longest(l->lists) + 1);
    for (int rank = 0; rank < head->ranks; rank++)
        gather_rank(&g, l->lists, rank, head->stages, head->mode != PP_MODE_INFER);
    return PP_OK;
}
