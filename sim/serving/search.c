/* Simulates layouts and batches that serve, and orders them by the objective. */
#include "core/units.h"
#include "sim/fit/change.h"
#include "sim/inference/inference.h"
#include "sim/run/simulate.h"
#include "sim/serving/serving.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_BATCH = 1024, MOST_NODES = 8 };

const char *const pp_serving_objective_names[] = {[PP_SERVE_THROUGHPUT] = "throughput",
                                                  [PP_SERVE_LATENCY] = "latency",
                                                  [PP_SERVE_FIRST_TOKEN] = "first-token"};

/* ---- options --------------------------------------------------------------------------------- */

static enum pp_status read_seconds(const struct pp_given *given, double *seconds,
                                   struct pp_error *err)
{
    if (!given->count)
        return PP_OK;
    if (pp_units_parse(given->text, PP_UNIT_SECONDS, seconds, err) != PP_OK)
        return pp_error_prefix(err, "%s: ", given->spelled);
    return *seconds > 0
               ? PP_OK
               : pp_error_set(err, PP_EINVAL, "%s: a time above 0 is expected, such as 50ms",
                              given->typed);
}

static enum pp_status read_options(const struct pp_wish *wish, struct pp_serving *s,
                                   struct pp_error *err)
{
    enum { FIRST = 2 }; /* choices of --objective before those that serve */

    if (wish->given.objective.count && wish->objective < FIRST)
        return pp_error_set(err, PP_EINVAL,
                            "%s is of training; with --mode infer: throughput, latency or "
                            "first-token",
                            wish->given.objective.typed);
    if (wish->given.objective.count)
        s->objective = (enum pp_serving_objective)(wish->objective - FIRST);
    PP_TRY(read_seconds(&wish->given.max_token_s, &s->max_token_s, err));
    return read_seconds(&wish->given.max_first_token_s, &s->max_first_token_s, err);
}

/* ---- points ---------------------------------------------------------------------------------- */

static bool meets(const struct pp_serving *s, const struct pp_serving_point *p)
{
    return p->fits && (s->max_token_s == 0 || !(p->token_s > s->max_token_s)) &&
           (s->max_first_token_s == 0 || p->first_token_s <= s->max_first_token_s);
}

static enum pp_status simulate(struct pp_arena *arena, const struct pp_parsed *command,
                               struct pp_config *config, struct pp_serving_point *p,
                               struct pp_error *err)
{
    struct pp_result result;
    struct pp_inference *f;

    PP_TRY(pp_change_resolve(arena, command, config, NULL, err));
    PP_TRY(pp_simulate(arena, config, PP_METRICS, NULL, &result, err));
    PP_TRY(pp_inference_find(arena, &result, &f, err));
    *p = (struct pp_serving_point){.layout = config->layout,
                                   .batch = config->generation.batch,
                                   .groups = config->generation.groups,
                                   .first_token_s = f->first_token_s,
                                   .token_s = f->token_s,
                                   .tokens_per_s = f->tokens_per_s,
                                   .tokens_per_s_per_gpu = f->tokens_per_s_per_gpu,
                                   .peak_bytes = result.memory[result.peak_rank].peak_bytes,
                                   .fits = result.fits};
    return PP_OK;
}

/* Adds the point of a command; false if it is refused or does not fit, so that no larger batch of
 * its layout does. Keeps the first refusal in `err`. */
static bool add_point(struct pp_arena *arena, struct pp_serving *s, const struct pp_parsed *command,
                      struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_serving_point p;
    struct pp_config config;
    struct pp_error refusal;

    if (simulate(scratch, command, &config, &p, &refusal) != PP_OK) {
        if (s->refused++ == 0)
            *err = refusal;
        return false;
    }
    p.meets = meets(s, &p);
    *PP_PUSH(arena, s->points, s->count, s->capacity) = p;
    return p.fits;
}

static void each_batch(struct pp_arena *arena, struct pp_serving *s, const struct pp_wish *wish,
                       struct pp_parsed *command, struct pp_error *err)
{
    const int least = wish->prompt_groups ? wish->prompt_groups : wish->groups ? wish->groups : 1;
    struct pp_error ignored;

    if (wish->batch) {
        add_point(arena, s, command, err);
        return;
    }
    for (int batch = least; batch <= MOST_BATCH; batch *= 2) {
        pp_command_set_int(arena, command, "batch", batch, &ignored);
        if (!add_point(arena, s, command, err))
            break;
    }
}

static void each_layout(struct pp_arena *arena, struct pp_serving *s, const struct pp_wish *wish,
                        int gpus, int node, struct pp_error *err)
{
    struct pp_error ignored;

    for (int tp = wish->tp ? wish->tp : 1; tp <= (wish->tp ? wish->tp : node) && gpus % tp == 0;
         tp *= 2)
        for (int pp = wish->pp ? wish->pp : 1; pp <= (wish->pp ? wish->pp : gpus / tp); pp++) {
            const int rest = gpus / tp;
            if (rest % pp || (wish->dp && rest / pp != wish->dp))
                continue;
            struct pp_parsed *command = pp_command_copy(arena, wish->request.flags);
            pp_command_drop(command, "nodes");
            pp_command_set_int(arena, command, "gpus", gpus, &ignored);
            pp_command_set_int(arena, command, "tp", tp, &ignored);
            pp_command_set_int(arena, command, "pp", pp, &ignored);
            each_batch(arena, s, wish, command, err);
        }
}

/* Is true if one node has no room, and more have so many devices. */
static bool needs_nodes(const struct pp_serving *s, int gpus)
{
    const struct pp_cluster *c = &s->first.cluster;
    const int nodes = c->nodes > 0 && c->nodes < MOST_NODES ? c->nodes : MOST_NODES;

    for (int i = 0; i < s->count; i++)
        if (s->points[i].fits)
            return false;
    return gpus <= nodes * c->gpus_per_node;
}

/* ---- order ----------------------------------------------------------------------------------- */

static double score(enum pp_serving_objective objective, const struct pp_serving_point *p)
{
    return objective == PP_SERVE_THROUGHPUT ? -p->tokens_per_s_per_gpu
           : objective == PP_SERVE_LATENCY  ? p->token_s
                                            : p->first_token_s;
}

/* Orders points: within the limits, then fitting, then by score, or by memory if they do not fit.
 * Of equals the one with fewer devices comes first, then the one with more tokens. */
static int compare(const struct pp_serving_point *x, const struct pp_serving_point *y,
                   enum pp_serving_objective objective)
{
    const double a = score(objective, x), b = score(objective, y);

    if (x->meets != y->meets || x->fits != y->fits)
        return x->meets != y->meets ? (x->meets ? -1 : 1) : x->fits ? -1 : 1;
    if (!x->fits && x->peak_bytes != y->peak_bytes)
        return x->peak_bytes < y->peak_bytes ? -1 : 1;
    if (a != b)
        return a < b ? -1 : 1;
    if (x->layout.gpus != y->layout.gpus)
        return x->layout.gpus - y->layout.gpus;
    return (x->tokens_per_s < y->tokens_per_s) - (x->tokens_per_s > y->tokens_per_s);
}

#define BY(name, objective)                                                                        \
    static int name(const void *a, const void *b)                                                  \
    {                                                                                              \
        return compare(a, b, objective);                                                           \
    }
BY(by_throughput, PP_SERVE_THROUGHPUT)
BY(by_latency, PP_SERVE_LATENCY)
BY(by_first_token, PP_SERVE_FIRST_TOKEN)

/* ---- copies ---------------------------------------------------------------------------------- */

static bool are_equal(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Is true for two numbers of replicas with the same figures for each. */
static bool are_copies(const struct pp_serving_point *x, const struct pp_serving_point *y)
{
    return x->layout.tp == y->layout.tp && x->layout.pp == y->layout.pp && x->batch == y->batch &&
           x->groups == y->groups && are_equal(x->first_token_s, y->first_token_s) &&
           are_equal(x->token_s, y->token_s) && x->peak_bytes == y->peak_bytes &&
           x->fits == y->fits;
}

/* Leaves each layout once, from its fewest replicas to the most, whatever their order was. */
static void fold_copies(struct pp_serving *s)
{
    int kept = 0;

    for (int i = 0; i < s->count; i++) {
        const struct pp_serving_point p = s->points[i];
        int k = 0;
        while (k < kept && !are_copies(&s->points[k], &p))
            k++;
        const int most = k == kept ? 0 : s->points[k].most_replicas;
        if (k == kept || p.layout.dp < s->points[k].layout.dp)
            s->points[k] = p;
        kept += k == kept;
        s->points[k].most_replicas = p.layout.dp > most ? p.layout.dp : most;
    }
    s->count = kept;
}

enum pp_status pp_serving_run(struct pp_arena *arena, const struct pp_wish *wish,
                              struct pp_serving *s, struct pp_error *err)
{
    static int (*const order[])(const void *,
                                const void *) = {[PP_SERVE_THROUGHPUT] = by_throughput,
                                                 [PP_SERVE_LATENCY] = by_latency,
                                                 [PP_SERVE_FIRST_TOKEN] = by_first_token};
    struct pp_parsed *command = pp_command_copy(arena, wish->request.flags);
    struct pp_error refusal = {0};

    *s = (struct pp_serving){.objective = PP_SERVE_THROUGHPUT,
                             .has_gpus = wish->gpus || wish->nodes};
    PP_TRY(read_options(wish, s, err));
    if (!s->has_gpus && !wish->tp && !wish->pp && !wish->dp)
        pp_command_set_int(arena, command, "gpus", 1, err);
    PP_TRY(pp_change_resolve(arena, command, &s->first, NULL, err));
    const int node = s->first.cluster.gpus_per_node;
    if (s->has_gpus)
        each_layout(arena, s, wish, s->first.layout.gpus, node, &refusal);
    const int least =
        (wish->tp ? wish->tp : 1) * (wish->pp ? wish->pp : 1) * (wish->dp ? wish->dp : 1);
    for (int gpus = least; !s->has_gpus && (gpus == least || gpus <= node || needs_nodes(s, gpus));
         gpus *= 2)
        each_layout(arena, s, wish, gpus, node, &refusal);
    if (s->count == 0) {
        *err = refusal;
        return err->status != PP_OK
                   ? err->status
                   : pp_error_set(err, PP_EINVAL, "no layout has these degrees on these devices");
    }
    qsort(s->points, (size_t)s->count, sizeof(*s->points), order[s->objective]);
    if (!s->points[0].meets && s->max_token_s + s->max_first_token_s > 0) /* nearest to the limit */
        qsort(s->points, (size_t)s->count, sizeof(*s->points),
              s->max_token_s > 0 ? by_latency : by_first_token);
    fold_copies(s);
    return PP_OK;
}
