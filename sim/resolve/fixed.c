/* Model, cluster, state, communication, engine: the parts of a run that no layout changes. */
#include "sim/resolve/resolve.h"

#include "core/cost/fitted.h"
#include "core/cost/measured/file.h"
#include "core/model/options.h"
#include "core/units.h"
#include "sim/cli/emit_tools.h"
#include "sim/config/buckets.h"
#include "sim/config/price.h"
#include "sim/resolve/mode.h"
#include "sim/simgrid/engines.h"
#include "sim/simgrid/platform_file.h"

#include <string.h>

static enum pp_status model_by_params(struct pp_arena *arena, const struct pp_wish *wish,
                                      struct pp_config *config, struct pp_error *err)
{
    const struct pp_given *const dimensions[] = {
        &wish->given.model,     &wish->given.layers,  &wish->given.hidden, &wish->given.heads,
        &wish->given.kv_heads,  &wish->given.ffn,     &wish->given.mlp,    &wish->given.vocab,
        &wish->given.embedding, &wish->given.experts, &wish->given.mtp,    &wish->given.positions};

    for (size_t i = 0; i < PP_COUNT(dimensions); i++)
        if (dimensions[i]->origin == PP_FROM_FLAG)
            return pp_error_set(
                err, PP_EINVAL,
                "%s contradicts --params, which describes a model by its size alone",
                dimensions[i]->typed);
    return pp_model_from_params(arena, wish->params, &config->model, err);
}

static enum pp_status resolve_model(struct pp_arena *arena, const struct pp_wish *wish,
                                    struct pp_config *config, struct pp_error *err)
{
    if (wish->given.params.count)
        return model_by_params(arena, wish, config, err);
    if (!wish->given.model.count)
        config->origin.chosen |= PP_CHOSE_MODEL;
    PP_TRY(pp_model_take(arena, &wish->request, "gpt3-175b", &config->model, err));
    pp_model_take_mtp(arena, &wish->request, &config->model);
    return pp_model_take_experts(arena, &wish->request, &config->model, err);
}

static void take_recompute(const struct pp_recompute_choice *choice, struct pp_config *config)
{
    config->costs.recompute = choice->how;
    config->costs.again = choice->again;
    config->costs.first_stage_ratio = choice->first_stage_ratio;
    config->lower.again = choice->words;
}

static enum pp_status resolve_recompute(const struct pp_wish *wish, struct pp_config *config,
                                        struct pp_error *err)
{
    struct pp_recompute_choice choice = {.how = PP_RECOMPUTE_NONE};

    if (wish->recompute)
        PP_TRY(pp_recompute_read(wish->recompute, &config->model, &choice, err));
    else
        config->origin.chosen |= PP_CHOSE_RECOMPUTE;
    take_recompute(&choice, config);
    return PP_OK;
}

/* Unit mode recomputes at the price R. Without R a preset's recomputation has no effect. */
static enum pp_status resolve_unit(const struct pp_wish *wish, struct pp_config *config,
                                   struct pp_error *err)
{
    struct pp_recompute_choice choice = {.how = PP_RECOMPUTE_NONE};

    config->is_unit = true;
    PP_TRY(pp_resolve_unit_costs(wish, &config->unit, err));
    if (wish->recompute && (config->unit.has_r || wish->given.recompute.origin == PP_FROM_FLAG))
        PP_TRY(pp_recompute_read(wish->recompute, NULL, &choice, err));
    take_recompute(&choice, config);
    return pp_resolve_generation(wish, config, err);
}

static enum pp_status resolve_p2p(const struct pp_wish *wish, struct pp_eval_options *plan,
                                  struct pp_error *err)
{
    const char *text = wish->p2p;
    static const char BUFFERED[] = "buffered:";
    int64_t slots;

    if (!strcmp(text, "rendezvous"))
        return PP_OK;
    if (strncmp(text, BUFFERED, sizeof(BUFFERED) - 1) != 0 ||
        pp_units_parse_int(text + sizeof(BUFFERED) - 1, 0, 1 << 20, &slots, err) != PP_OK)
        return pp_error_set(err, PP_EINVAL,
                            "--p2p %s: expected rendezvous, or buffered:K with K messages a "
                            "channel, such as buffered:2",
                            text);
    plan->is_buffered = true;
    plan->buffered = (int)slots;
    return PP_OK;
}

struct pp_build_wishes pp_resolve_lowering(const struct pp_wish *wish)
{
    return (struct pp_build_wishes){.post = (enum pp_post)wish->post,
                                    .recv_slots = wish->recv_slots,
                                    .grad_sync = (enum pp_grad_sync)wish->grad_sync,
                                    .has_clip = wish->update_barrier == 1};
}

static void resolve_comm(const struct pp_wish *wish, struct pp_config *config)
{
    config->lower = pp_resolve_lowering(wish);
    if (!wish->given.update_barrier.count)
        config->lower.has_clip = config->cost && config->cost->is_clipped;
    config->engine_options.eval.nic_fifo = wish->nic == 1;
    config->engine_options.eval.ring_flows = wish->collectives == 1;
    config->costs.algorithm = (enum pp_algorithm)wish->collective_algorithm;
}

static void resolve_what_if(const struct pp_wish *wish, struct pp_config *config)
{
    config->engine_options.perturbation.jitter_frac = wish->jitter;
    config->engine_options.perturbation.seed = (uint64_t)wish->seed;
    config->engine_options.sync_share = wish->sync_share;
    config->costs.is_sum_share_given = wish->sync_share > 0;
    config->slow = wish->given.slow.all;
    config->slow_count = wish->given.slow.count;
    config->no_fold = wish->no_fold;
}

static enum pp_status check_what_if(const struct pp_wish *wish, struct pp_error *err)
{
    const struct pp_given *const of_jitter[] = {&wish->given.seed, &wish->given.seeds};

    if (wish->jitter >= 1)
        return pp_error_set(err, PP_EINVAL, "%s: expected less than 1 (100 %%)",
                            wish->given.jitter.typed);
    for (size_t i = 0; i < PP_COUNT(of_jitter) && wish->jitter == 0; i++)
        if (of_jitter[i]->count)
            return pp_error_set(err, PP_EINVAL, "%s has no effect without --jitter",
                                of_jitter[i]->typed);
    if (wish->sync_share >= 1)
        return pp_error_set(err, PP_EINVAL,
                            "%s: expected less than 1 (100 %%): compute would stand still",
                            wish->given.sync_share.typed);
    return PP_OK;
}

static bool chooses_layers(enum pp_head head)
{
    return head == PP_HEAD_BALANCED || head == PP_HEAD_COUNTED;
}

/* Resolves the layers of the end stages. --head balanced and counted choose the layers of all
 * stages; flags for the ends win over a preset's --head. */
static enum pp_status resolve_ends(const struct pp_wish *wish, struct pp_config *config,
                                   struct pp_error *err)
{
    const struct pp_given *const ends[] = {&wish->given.first_stage_layers,
                                           &wish->given.last_stage_layers};
    const enum pp_origin origin = wish->given.head.origin;

    config->costs.head = (enum pp_head)wish->head;
    config->first_stage_layers = wish->first_stage_layers;
    config->last_stage_layers = wish->last_stage_layers;
    for (int i = 0; i < 2 && chooses_layers(config->costs.head); i++) {
        if (!ends[i]->count)
            continue;
        if (origin == ends[i]->origin)
            return pp_error_set(err, PP_EINVAL,
                                "%s contradicts --head %s, which chooses the layers of every stage",
                                ends[i]->typed, pp_head_names[config->costs.head]);
        if (origin == PP_FROM_PRESET)
            config->costs.head = PP_HEAD_LAST;
        else
            config->first_stage_layers = config->last_stage_layers = 0;
    }
    return PP_OK;
}

/* Chooses the dag for --nic fifo: one send at a time is its approximation of shared links. */
static enum pp_status resolve_nic(const struct pp_wish *wish, struct pp_config *config,
                                  struct pp_error *err)
{
    if (!config->engine_options.eval.nic_fifo || !config->engine->shares_links)
        return PP_OK;
    if (wish->given.engine.count)
        return pp_error_set(err, PP_EINVAL,
                            "--nic fifo is an approximation of shared links for --engine dag; "
                            "--engine %s simulates them",
                            config->engine->name);
    return pp_engine_find("dag", &config->engine, err);
}

static enum pp_status resolve_cluster(struct pp_arena *arena, const struct pp_wish *wish,
                                      struct pp_config *config, struct pp_error *err)
{
    const char *cluster = wish->cluster;

    if (!cluster)
        config->origin.chosen |= PP_CHOSE_CLUSTER;
    else if (pp_platform_is_file(cluster))
        return pp_platform_reuse(arena, wish->request.platforms, cluster, &config->platform,
                                 &config->cluster, err);
    cluster = cluster ? cluster : "h100";
    return pp_platform_hint(cluster, pp_cluster_load(arena, cluster, &config->cluster, err), err);
}

static enum pp_status resolve_margin(const struct pp_wish *wish, struct pp_config *config,
                                     struct pp_error *err)
{
    config->memory_margin_frac = wish->memory_margin;
    if (config->memory_margin_frac < 1)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s: a share from 0 to less than 1 (100 %%) can stay free; nearest: 99%%",
                        wish->given.memory_margin.typed);
}

enum { ATTENTION_FUSED, ATTENTION_FIRST, ATTENTION_UNFUSED }; /* choices of --attention */

/* One of the two says how tensor-parallel exchanges overlap; a flag wins over a preset. */
static enum pp_status resolve_tp_overlap(const struct pp_wish *wish, struct pp_config *config,
                                         struct pp_error *err)
{
    const struct pp_given *share = &wish->given.tp_overlap, *split = &wish->given.tp_split;
    const bool has_both = wish->tp_overlap > 0 && wish->tp_split > 1;

    if (wish->tp_overlap > 1)
        return pp_error_set(err, PP_EINVAL, "--tp-overlap %s: a share lies between 0 and 1",
                            share->text);
    if (has_both && share->origin == split->origin)
        return pp_error_set(err, PP_EINVAL,
                            "%s and %s both say how exchanges overlap with products; give one of "
                            "the two",
                            split->typed, share->typed);
    if (!has_both || share->origin == PP_FROM_FLAG)
        config->costs.tp_overlap_frac = wish->tp_overlap;
    if (!has_both || split->origin == PP_FROM_FLAG)
        config->costs.tp_split = wish->tp_split;
    return PP_OK;
}

/* Resolves --precision, --attention, --sequence-parallel, --cuda-graphs and --tp-overlap; after the
 * cluster. */
static enum pp_status resolve_kernels(const struct pp_wish *wish, struct pp_config *config,
                                      struct pp_error *err)
{
    struct pp_device *device = &config->cluster.device;

    if (wish->given.precision.count)
        PP_TRY(pp_device_set_precision(device, (enum pp_precision)wish->precision, err));
    if (wish->given.attention.count) {
        device->is_attention_unfused = wish->attention == ATTENTION_UNFUSED;
        device->is_attention_first = wish->attention == ATTENTION_FIRST;
    }
    config->costs.is_tp_only = wish->sequence_parallel == 1;
    config->costs.is_graph = wish->cuda_graphs == 1;
    return resolve_tp_overlap(wish, config, err);
}

/* Returns the framework if the user names none: that of --constants, or that which --emit writes
 * for, so that the result fits there. */
static const char *default_framework(const struct pp_wish *wish, const struct pp_fitted *fitted)
{
    const struct pp_framework *emitted;
    struct pp_error ignored;

    if (fitted && fitted->framework)
        return fitted->framework;
    return wish->emit && pp_framework_find(wish->emit, &emitted, &ignored) == PP_OK ? emitted->name
                                                                                    : "plain";
}

#define TOOL_NAME(name) #name,

/* Finds the framework. Software that only --emit knows is said to be that. */
static enum pp_status find_framework(const char *name, struct pp_config *config,
                                     struct pp_error *err)
{
    static const char *const emitted[] = {PP_EMIT_TOOLS(TOOL_NAME) NULL};
    const enum pp_status status = pp_framework_find(name, &config->costs.framework, err);

    for (int i = 0; status != PP_OK && emitted[i]; i++)
        if (pp_same_name(name, emitted[i]))
            return pp_error_append(err,
                                   "\n  --emit %s writes its configuration; it has no costs of "
                                   "its own: leave --framework out",
                                   emitted[i]);
    return status;
}

/* The framework's copies may not reach the whole rate of a device's link to the host. A rate that
 * the user states is that of copies. */
static void slow_copies(struct pp_config *config)
{
    const double frac = config->costs.framework->host_link_frac;

    if (frac > 0 && !config->cluster.is_h2d_stated)
        config->cluster.tiers[PP_TIER_HOST].link_bytes_per_s *= frac;
}

/* The framework may store scores on devices with fused kernels, unless the user says how. */
static void take_attention(const struct pp_wish *wish, struct pp_config *config)
{
    struct pp_device *device = &config->cluster.device;

    if (!wish->given.attention.count && !device->is_attention_stated)
        device->is_attention_unfused |= config->costs.framework->has_unfused_attention;
}

/* Finds the framework, and replaces its constants and the cluster's by those of --constants. */
static enum pp_status resolve_constants(struct pp_arena *arena, const struct pp_wish *wish,
                                        struct pp_config *config, struct pp_error *err)
{
    struct pp_framework *own = PP_NEW(arena, struct pp_framework);
    const double eta_link = config->cluster.eta_link;
    struct pp_fitted *fitted = NULL;
    const char *name = wish->framework;

    if (wish->constants)
        PP_TRY(pp_fitted_read(arena, wish->constants, &fitted, err));
    if (!name)
        name = default_framework(wish, fitted);
    PP_TRY(find_framework(name, config, err));
    take_attention(wish, config);
    slow_copies(config);
    if (!fitted)
        return PP_OK;
    *own = *config->costs.framework;
    PP_TRY(pp_fitted_apply(fitted, &config->model, &config->cluster, own, err));
    if (config->costs.framework != pp_framework_plain)
        config->costs.framework = own;
    if (config->platform) /* its file has the speeds of links */
        config->cluster.eta_link = eta_link;
    config->fitted = fitted;
    return PP_OK;
}

enum pp_status pp_resolve_fixed(struct pp_arena *arena, const struct pp_wish *wish,
                                struct pp_config *config, struct pp_error *err)
{
    config->engine = pp_engine_default(wish->unit != NULL);
    if (wish->given.engine.count)
        PP_TRY(pp_engine_find(wish->given.engine.text, &config->engine, err));
    config->flops = (enum pp_flops_rule)wish->flops;
    config->origin.preset = wish->request.preset_row;
    resolve_what_if(wish, config);
    PP_TRY(check_what_if(wish, err));
    if (wish->unit)
        return resolve_unit(wish, config, err);
    if (wish->price)
        PP_TRY(pp_price_parse(wish->price, &config->origin.price, err));
    PP_TRY(resolve_model(arena, wish, config, err));
    PP_TRY(pp_resolve_exchanges(wish, config, err));
    PP_TRY(resolve_cluster(arena, wish, config, err));
    PP_TRY(resolve_margin(wish, config, err));
    PP_TRY(resolve_kernels(wish, config, err));
    resolve_comm(wish, config);
    PP_TRY(resolve_recompute(wish, config, err));
    PP_TRY(resolve_p2p(wish, &config->engine_options.eval, err));
    PP_TRY(pp_resolve_links(wish, config, err));
    PP_TRY(resolve_nic(wish, config, err));
    PP_TRY(pp_map_parse(wish->map, &config->map, err));
    PP_TRY(resolve_constants(arena, wish, config, err));
    config->tool = config->costs.framework->tool;
    if (!config->tool && wish->emit)
        config->tool = pp_tool_find(wish->emit);
    PP_TRY(pp_buckets_resolve(arena, wish, config, err));
    PP_TRY(pp_resolve_wishes(wish, config, err));
    PP_TRY(resolve_ends(wish, config, err));
    config->layout.seq = wish->seq ? wish->seq : config->model.seq;
    if (!wish->given.seq.count && !pp_wish_generates(wish))
        config->origin.chosen |= PP_CHOSE_SEQ;
    return pp_resolve_generation(wish, config, err);
}
