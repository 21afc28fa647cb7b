/* First tokens, later tokens, rates and bounds of a run that generates. */
#include "sim/inference/inference.h"

#include "core/cost/generation/cache.h"
#include "core/units.h"

#include <math.h>
#include <stdlib.h>

const char *const pp_limit_names[] = {[PP_LIMIT_COMPUTE] = "compute",
                                      [PP_LIMIT_MEMORY] = "memory",
                                      [PP_LIMIT_COMMUNICATION] = "communication",
                                      [PP_LIMIT_HOST] = "host",
                                      [PP_LIMIT_COPIES] = "copies",
                                      [PP_LIMIT_WAITING] = "waiting",
                                      [PP_LIMIT_NONE] = NULL};

/* A rank that computes less than this share of the time waits for others. */
static const double BUSY_FRAC = 0.5;

/* ---- times ----------------------------------------------------------------------------------- */

/* Ends of the first and the last pass of each group on the last stage; the latest of all replicas.
 */
static void find_ends(const struct pp_result *r, int64_t *first_ps, int64_t *last_ps)
{
    const struct pp_program *p = r->program;
    const struct pp_times *times = r->times;
    const int passes = r->config.generation.passes, stages = p->stages / passes;

    for (int i = 0; i < pp_program_size(p); i++) {
        const struct pp_op op = pp_program_op(p, i);
        const int v = op.stage, group = op.mb / p->granules;
        if (op.kind != PP_F || v % stages != stages - 1)
            continue;
        for (int k = 0; k < times->replicas; k++) {
            const int64_t end_ps = times->end_ps[(size_t)i * (size_t)times->replicas + (size_t)k];
            if (v == stages - 1 && end_ps > first_ps[group])
                first_ps[group] = end_ps;
            if (v == p->stages - 1 && end_ps > last_ps[group])
                last_ps[group] = end_ps;
        }
    }
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Returns the value below which a share of them lies; the mean of both in the middle. */
static double quantile(const double *sorted, int count, double frac)
{
    const double place = frac * (count - 1);
    const int below = (int)place;

    return below + 1 < count ? sorted[below] + (place - below) * (sorted[below + 1] - sorted[below])
                             : sorted[below];
}

static void set_times(struct pp_arena *arena, const struct pp_result *r, struct pp_inference *f)
{
    const int groups = r->program->micro_batches, passes = r->config.generation.passes;
    int64_t *first_ps = PP_ARRAY(arena, int64_t, groups),
            *last_ps = PP_ARRAY(arena, int64_t, groups);
    double *first_s = PP_ARRAY(arena, double, groups), *token_s = PP_ARRAY(arena, double, groups);

    find_ends(r, first_ps, last_ps);
    for (int m = 0; m < groups; m++) {
        first_s[m] = pp_units_s(first_ps[m]);
        token_s[m] = passes > 1 ? pp_units_s(last_ps[m] - first_ps[m]) / (passes - 1) : (double)NAN;
    }
    qsort(first_s, (size_t)groups, sizeof(*first_s), by_size);
    qsort(token_s, (size_t)groups, sizeof(*token_s), by_size);
    f->first_token_s = quantile(first_s, groups, 0.5);
    f->first_token_p90_s = quantile(first_s, groups, 0.9);
    f->prompts_s = first_s[groups - 1];
    f->token_s = quantile(token_s, groups, 0.5);
    f->token_p90_s = quantile(token_s, groups, 0.9);
    f->latency_s = r->metrics.iteration_s;
}

/* ---- rates and bounds ------------------------------------------------------------------------ */

static void set_rates(const struct pp_result *r, struct pp_inference *f)
{
    const struct pp_config *c = &r->config;
    const struct pp_generation *g = &c->generation;
    const double sequences = (double)c->layout.gbs;

    f->tokens_per_s = sequences * g->passes / f->latency_s;
    f->tokens_per_s_per_gpu = f->tokens_per_s / c->layout.gpus;
    f->prompt_tokens_per_s = sequences * g->prompt_tokens / f->prompts_s;
    f->kv_bytes_per_token = pp_kv_bytes_per_token(&c->model, g);
    f->kv_bytes = pp_kv_replica_bytes(&r->cost_inputs);
}

/* A pass of a group, of pass 0 of a piece, over one stage. */
struct stage_pass {
    struct pp_pass_cost cost;
    struct pp_pass_copies copies;
};

static double pass_s(const struct stage_pass *p)
{
    return fmax(p->cost.s, p->copies.s);
}

/* Returns the copies of stage v in one direction: of `pieces` ops those of one. */
static struct pp_pass_copies copies_of(const struct pp_result *r, int v, double pieces, bool is_up)
{
    const struct pp_costs *c = r->costs;
    const struct pp_stage_gathers *g = c->gathers && is_up ? &c->gathers[v] : NULL;
    const struct pp_cost *inner = c->cached[is_up ? PP_COPY_UP : PP_COPY_DOWN],
                         *first = c->purpose[is_up ? PP_FOR_KV_UP : PP_FOR_KV_DOWN];
    const bool has_loads = g && g->load_ps > 0;
    const double cache_s = inner ? pp_units_s(inner[v].ps + first[v].ps) / pieces : 0,
                 load_s = has_loads ? pp_units_s(g->load_ps + c->purpose[PP_FOR_LOAD][v].ps) : 0;
    const enum pp_state_class most = cache_s > load_s ? PP_STATE_CACHE : PP_STATE_PARAMS;
    const struct pp_cost_inputs *in = &r->cost_inputs;
    const enum pp_tier tier = in->state.home[most];

    return (struct pp_pass_copies){.s = cache_s + load_s,
                                   .tier = tier,
                                   .bytes_per_s = pp_tier_rate(in->cluster->tiers,
                                                               pp_tier_route(PP_TIER_DEVICE, tier),
                                                               pp_analytic_node_devices(in))};
}

static struct stage_pass stage_pass(const struct pp_result *r, int stage, int pass)
{
    const double pieces = pass == 0 ? pp_generation_pieces(&r->config.generation) : 1;
    const int v = pass * r->cost_inputs.stages + stage;
    const struct pp_pass_copies up = copies_of(r, v, pieces, true),
                                down = copies_of(r, v, pieces, false);

    return (struct stage_pass){.cost = pp_generation_pass(&r->cost_inputs, stage, pass),
                               .copies = up.s >= down.s ? up : down};
}

static enum pp_limit bound_of(const struct stage_pass *p)
{
    const double size[] = {[PP_LIMIT_COMPUTE] = p->cost.compute_s,
                           [PP_LIMIT_MEMORY] = p->cost.memory_s,
                           [PP_LIMIT_COMMUNICATION] = p->cost.tp_s + p->cost.ep_s,
                           [PP_LIMIT_HOST] = p->cost.host_s};
    int most = 0;

    for (int i = 1; i < (int)PP_COUNT(size); i++)
        most = size[i] > size[most] ? i : most;
    return p->copies.s > p->cost.s ? PP_LIMIT_COPIES : (enum pp_limit)most;
}

static void set_token_bound(const struct pp_result *r, const struct stage_pass *token,
                            struct pp_inference *f)
{
    const struct pp_generation *g = &r->config.generation;
    const double read_bytes = token->cost.weight_bytes + token->cost.cache_bytes;

    const bool waits = r->program->ranks > 1 && g->groups * pass_s(token) < BUSY_FRAC * f->token_s;
    f->token_bound = waits ? PP_LIMIT_WAITING : bound_of(token);
    f->token_copies = token->copies;
    f->memory_bandwidth_frac =
        g->groups * read_bytes / (f->token_s * r->config.cluster.device.memory_bytes_per_s);
    f->weights_frac = token->cost.weight_bytes / read_bytes;
}

/* Adds the parts of a pass, `count` times. */
static void add_parts(const struct pp_pass_cost *pass, double count, struct pp_inference *f)
{
    f->matrix_frac += count * pass->matrix_s;
    f->attention_frac += count * pass->attention_s;
    f->kernels_frac += count * pass->kernels_s;
    f->host_frac += count * pass->host_s;
}

/* Takes the pass in the middle for all later ones: their cost is linear in the keys that they meet,
 * but for windows. */
static void set_bounds(const struct pp_result *r, struct pp_inference *f)
{
    const struct pp_cost_inputs *in = &r->cost_inputs;
    const struct pp_generation *g = &r->config.generation;
    struct stage_pass most[2] = {0};

    for (int s = 0; s < in->stages; s++)
        for (int k = 0; k < (g->passes > 1 ? 2 : 1); k++) {
            const struct stage_pass pass = stage_pass(r, s, k ? g->passes / 2 : 0);
            add_parts(&pass.cost, k ? g->passes - 1 : pp_generation_pieces(g), f);
            if (pass_s(&pass) > pass_s(&most[k]))
                most[k] = pass;
        }
    f->prompt_bound = bound_of(&most[0]);
    f->prompt_copies = most[0].copies;
    if (g->passes > 1)
        set_token_bound(r, &most[1], f);
    const double sum = f->matrix_frac + f->attention_frac + f->kernels_frac + f->host_frac;
    f->matrix_frac /= sum, f->attention_frac /= sum, f->kernels_frac /= sum, f->host_frac /= sum;
}

/* Returns the most times that jitter and --slow can make a pass faster. */
static double hurry(const struct pp_result *r)
{
    const struct pp_perturbation *p = &r->config.engine_options.perturbation;
    const int lanes = r->program->ranks * r->times->replicas;
    double most = 1;

    for (int k = 0; p->slow && k < lanes; k++)
        most = fmax(most, p->slow[k]);
    return most * pp_config_hurry(&r->config);
}

static enum pp_status check_laws(const struct pp_result *r, const struct pp_inference *f,
                                 struct pp_error *err)
{
    static const double ROUNDING = 1e-9;

    if (!(f->memory_bandwidth_frac > hurry(r) * (1 + ROUNDING)))
        return PP_OK;
    return pp_error_set(err, PP_EFAIL,
                        "internal check failed: a token reads memory at %.1f %% of the bandwidth",
                        100 * f->memory_bandwidth_frac);
}

enum pp_status pp_inference_find(struct pp_arena *arena, const struct pp_result *r,
                                 struct pp_inference **inference, struct pp_error *err)
{
    const double none = (double)NAN;
    struct pp_inference *f = PP_NEW(arena, struct pp_inference);

    *inference = f;
    *f = (struct pp_inference){.memory_bandwidth_frac = none,
                               .weights_frac = none,
                               .prompt_bound = PP_LIMIT_NONE,
                               .token_bound = PP_LIMIT_NONE};
    set_times(arena, r, f);
    if (r->config.is_unit) {
        f->tokens_per_s = f->tokens_per_s_per_gpu = f->prompt_tokens_per_s = none;
        f->kv_bytes_per_token = f->kv_bytes = none;
        f->matrix_frac = f->attention_frac = f->kernels_frac = f->host_frac = none;
        return PP_OK;
    }
    set_rates(r, f);
    set_bounds(r, f);
    return check_laws(r, f, err);
}
