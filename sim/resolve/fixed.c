/* Model, cluster, state, communication, engine: the parts of a run that no layout changes. */
#include "sim/resolve/resolve.h"

#include "core/model/options.h"
#include "core/units.h"
#include "sim/config/buckets.h"
#include "sim/simgrid/engines.h"
#include "sim/simgrid/platform_file.h"

#include <string.h>

static const char *const DIMENSIONS[] = {"model",     "layers",  "hidden", "heads",
                                         "kv-heads",  "ffn",     "mlp",    "vocab",
                                         "embedding", "experts", "mtp",    "positions"};

static enum pp_status model_by_params(struct pp_arena *arena, const struct pp_request *request,
                                      double params, struct pp_config *config, struct pp_error *err)
{
    char typed[PP_REQUEST_TYPED_BYTES];

    for (size_t i = 0; i < sizeof(DIMENSIONS) / sizeof(*DIMENSIONS); i++) {
        enum pp_origin origin;
        if (pp_request_get(request, DIMENSIONS[i], &origin) && origin == PP_FROM_FLAG)
            return pp_error_set(
                err, PP_EINVAL,
                "%s contradicts --params, which stands for a model known only by its size",
                pp_request_typed(request, DIMENSIONS[i], typed));
    }
    return pp_model_from_params(arena, params, &config->model, err);
}

static enum pp_status resolve_model(struct pp_arena *arena, const struct pp_request *request,
                                    struct pp_config *config, struct pp_error *err)
{
    enum pp_origin params_origin;
    const struct pp_option_value *params = pp_request_get(request, "params", &params_origin);

    if (params)
        return model_by_params(arena, request, params->number, config, err);
    if (!pp_request_has(request, "model"))
        config->chosen |= PP_CHOSE_MODEL;
    PP_TRY(pp_model_take(arena, request, "gpt3-175b", &config->model, err));
    return pp_model_take_experts(arena, request, &config->model, err);
}

/* Modules that no block of the model has: to compute them again would change nothing. */
static enum pp_status check_again(const struct pp_model *model, unsigned again,
                                  struct pp_error *err)
{
    const bool is_experts_only =
        model->layers > 0 && pp_model_moe_blocks(model, 0, model->layers) == model->layers;
    const struct {
        bool is_missing;
        unsigned module;
        const char *why;
    } MODULES[] = {{model->latent.kv_rank == 0, PP_AGAIN_LATENT, "has no latent attention"},
                   {is_experts_only, PP_AGAIN_MLP, "has experts in every block, and no dense MLP"}};

    for (size_t i = 0; i < sizeof(MODULES) / sizeof(*MODULES); i++)
        for (const struct pp_again_name *n = pp_again_names; n->name; n++)
            if (MODULES[i].is_missing && n->module == (again & MODULES[i].module))
                return pp_error_set(err, PP_EINVAL,
                                    "--recompute selective: %s has no effect here: %s %s", n->name,
                                    model->name, MODULES[i].why);
    return PP_OK;
}

static enum pp_status resolve_recompute(const struct pp_request *request, struct pp_config *config,
                                        struct pp_error *err)
{
    const char *text = pp_request_text(request, "recompute", NULL);
    static const char STAGE[] = "stage-aware=", SELECTIVE[] = "selective=";

    config->costs.recompute = PP_RECOMPUTE_NONE;
    if (!text) {
        config->chosen |= PP_CHOSE_RECOMPUTE;
        return PP_OK;
    }
    if (!strncmp(text, STAGE, sizeof(STAGE) - 1)) {
        config->costs.recompute = PP_RECOMPUTE_STAGE;
        PP_TRY(pp_units_parse(text + sizeof(STAGE) - 1, PP_UNIT_FRAC,
                              &config->costs.first_stage_ratio, err) == PP_OK
                   ? PP_OK
                   : pp_error_prefix(err, "--recompute %s: ", text));
        if (config->costs.first_stage_ratio > 1)
            return pp_error_set(err, PP_EINVAL, "--recompute %s: the ratio lies between 0 and 1",
                                text);
        return PP_OK;
    }
    if (!strncmp(text, SELECTIVE, sizeof(SELECTIVE) - 1)) {
        config->costs.recompute = PP_RECOMPUTE_SELECTIVE;
        if (pp_again_read(text + sizeof(SELECTIVE) - 1, &config->costs.again, err) != PP_OK)
            return pp_error_prefix(err, "--recompute selective=");
        return check_again(&config->model, config->costs.again, err);
    }
    for (int i = 0; i < PP_RECOMPUTE_STAGE; i++)
        if (!strcmp(text, pp_recompute_names[i])) {
            config->costs.recompute = (enum pp_recompute)i;
            return PP_OK;
        }
    return pp_error_set(
        err, PP_EINVAL,
        "--recompute %s: expected none, selective, selective=MODULES, full or stage-aware=R with R "
        "from 0 to 1",
        text);
}

static enum pp_status resolve_p2p(const struct pp_request *request, struct pp_eval_options *plan,
                                  struct pp_error *err)
{
    const char *text = pp_request_text(request, "p2p", "rendezvous");
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

static void resolve_comm(const struct pp_request *request, struct pp_config *config)
{
    const struct pp_option_value *post = pp_request_get(request, "post", NULL);
    const struct pp_option_value *sync = pp_request_get(request, "grad-sync", NULL);
    const struct pp_option_value *nic = pp_request_get(request, "nic", NULL);
    const struct pp_option_value *flows = pp_request_get(request, "collectives", NULL);
    const struct pp_option_value *algorithm = pp_request_get(request, "collective-algorithm", NULL);

    config->lower.post = post ? (enum pp_post)post->integer : PP_POST_EARLY;
    config->lower.recv_slots = pp_request_int(request, "recv-slots", 2);
    config->lower.grad_sync = sync ? (enum pp_grad_sync)sync->integer : PP_SYNC_END;
    config->engine_options.plan.nic_fifo = nic && nic->integer == 1;
    config->engine_options.plan.ring_flows = flows && flows->integer == 1;
    config->costs.algorithm = algorithm ? (enum pp_algorithm)algorithm->integer : PP_ALGORITHM_AUTO;
}

static void resolve_what_if(const struct pp_request *request, struct pp_config *config)
{
    const struct pp_option_value *jitter = pp_request_get(request, "jitter", NULL);
    const struct pp_option_value *seed = pp_request_get(request, "seed", NULL);
    const struct pp_option_value *slow = pp_request_get(request, "slow", NULL);
    const struct pp_option_value *share = pp_request_get(request, "sync-share", NULL);

    config->jitter_frac = jitter ? jitter->number : 0;
    config->engine_options.perturbation.jitter_frac = config->jitter_frac;
    config->engine_options.perturbation.seed = seed ? (uint64_t)seed->integer : 0;
    config->engine_options.sync_share = share ? share->number : 0;
    config->slow = slow ? slow->all : NULL;
    config->slow_count = slow ? slow->count : 0;
    config->no_fold = pp_request_has(request, "no-fold");
}

static enum pp_status check_sync_share(const struct pp_request *request,
                                       const struct pp_config *config, struct pp_error *err)
{
    char typed[PP_REQUEST_TYPED_BYTES];

    if (config->engine_options.sync_share < 1)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s: expected less than 1 (100 %%): compute would stand still",
                        pp_request_typed(request, "sync-share", typed));
}

static enum pp_status check_jitter(const struct pp_request *request, const struct pp_config *config,
                                   struct pp_error *err)
{
    char typed[PP_REQUEST_TYPED_BYTES];

    if (config->jitter_frac >= 1)
        return pp_error_set(err, PP_EINVAL, "%s: expected less than 1 (100 %%)",
                            pp_request_typed(request, "jitter", typed));
    if (pp_request_has(request, "seed") && config->jitter_frac == 0)
        return pp_error_set(err, PP_EINVAL, "%s has no effect without --jitter",
                            pp_request_typed(request, "seed", typed));
    return PP_OK;
}

static bool chooses_layers(enum pp_head head)
{
    return head == PP_HEAD_BALANCED || head == PP_HEAD_COUNTED;
}

/* --head balanced and counted choose the layers of all stages; flags for the ends win over a
 * preset's. */
static enum pp_status resolve_ends(const struct pp_request *request, struct pp_config *config,
                                   struct pp_error *err)
{
    static const char *const ENDS[] = {"first-stage-layers", "last-stage-layers"};
    enum pp_origin origin, end_origin;
    const struct pp_option_value *head = pp_request_get(request, "head", &origin);
    char typed[PP_REQUEST_TYPED_BYTES];

    config->costs.head = head ? (enum pp_head)head->integer : PP_HEAD_LAST;
    config->first_stage_layers = pp_request_int(request, ENDS[0], 0);
    config->last_stage_layers = pp_request_int(request, ENDS[1], 0);
    for (int i = 0; i < 2 && chooses_layers(config->costs.head); i++) {
        if (!pp_request_get(request, ENDS[i], &end_origin))
            continue;
        if (origin == end_origin)
            return pp_error_set(
                err, PP_EINVAL, "%s contradicts --head %s, which chooses the layers of every stage",
                pp_request_typed(request, ENDS[i], typed), pp_head_names[config->costs.head]);
        if (origin == PP_FROM_PRESET)
            config->costs.head = PP_HEAD_LAST;
        else
            config->first_stage_layers = config->last_stage_layers = 0;
    }
    return PP_OK;
}

/* One send at a time per NIC is how the dag approximates shared links; others simulate them. */
static enum pp_status resolve_nic(const struct pp_request *request, struct pp_config *config,
                                  struct pp_error *err)
{
    if (!config->engine_options.plan.nic_fifo || !config->engine->shares_links)
        return PP_OK;
    if (pp_request_has(request, "engine"))
        return pp_error_set(err, PP_EINVAL,
                            "--nic fifo is an approximation of shared links for --engine dag; "
                            "--engine %s simulates them",
                            config->engine->name);
    return pp_engine_find("dag", &config->engine, err);
}

static enum pp_status resolve_cluster(struct pp_arena *arena, const struct pp_request *request,
                                      struct pp_config *config, struct pp_error *err)
{
    const char *cluster = pp_request_text(request, "cluster", NULL);

    if (!cluster)
        config->chosen |= PP_CHOSE_CLUSTER;
    else if (pp_platform_is_file(cluster))
        return pp_platform_reuse(arena, request->platforms, cluster, &config->platform,
                                 &config->cluster, err);
    cluster = cluster ? cluster : "h100";
    return pp_platform_hint(cluster, pp_cluster_load(arena, cluster, &config->cluster, err), err);
}

enum { ATTENTION_FUSED, ATTENTION_FIRST, ATTENTION_UNFUSED }; /* the choices of --attention */

static enum pp_status resolve_precision(const struct pp_request *request, struct pp_config *config,
                                        struct pp_error *err)
{
    const struct pp_option_value *value = pp_request_get(request, "precision", NULL);

    if (!value)
        return PP_OK;
    return pp_device_set_precision(&config->cluster.device, (enum pp_precision)value->integer, err);
}

/* --precision, --attention, --sequence-parallel, --tp-overlap; after the cluster. */
static enum pp_status resolve_kernels(const struct pp_request *request, struct pp_config *config,
                                      struct pp_error *err)
{
    const struct pp_option_value *attention = pp_request_get(request, "attention", NULL);
    const struct pp_option_value *sequence = pp_request_get(request, "sequence-parallel", NULL);
    const struct pp_option_value *overlap = pp_request_get(request, "tp-overlap", NULL);

    PP_TRY(resolve_precision(request, config, err));
    if (attention) {
        config->cluster.device.is_attention_unfused = attention->integer == ATTENTION_UNFUSED;
        config->cluster.device.is_attention_first = attention->integer == ATTENTION_FIRST;
    }
    config->costs.is_tp_only = sequence && sequence->integer == 1;
    config->costs.tp_overlap_frac = overlap ? overlap->number : 0;
    if (config->costs.tp_overlap_frac > 1)
        return pp_error_set(err, PP_EINVAL, "--tp-overlap %s: a share lies between 0 and 1",
                            overlap->text);
    return PP_OK;
}

enum pp_status pp_resolve_fixed(struct pp_arena *arena, const struct pp_request *request,
                                struct pp_config *config, struct pp_error *err)
{
    const struct pp_option_value *flops = pp_request_get(request, "flops", NULL);
    const char *unit = pp_request_text(request, "unit", NULL);
    const char *engine = pp_request_text(request, "engine", NULL);

    config->engine = pp_engine_default(unit != NULL);
    if (engine)
        PP_TRY(pp_engine_find(engine, &config->engine, err));
    config->flops = flops ? (enum pp_flops_rule)flops->integer : PP_FLOPS_MEGATRON;
    resolve_what_if(request, config);
    PP_TRY(check_jitter(request, config, err));
    PP_TRY(check_sync_share(request, config, err));
    if (unit) {
        config->is_unit = true;
        return pp_unit_costs_parse(unit, &config->unit, err);
    }
    PP_TRY(resolve_model(arena, request, config, err));
    PP_TRY(pp_resolve_exchanges(request, config, err));
    PP_TRY(resolve_cluster(arena, request, config, err));
    PP_TRY(resolve_kernels(request, config, err));
    PP_TRY(resolve_recompute(request, config, err));
    PP_TRY(resolve_p2p(request, &config->engine_options.plan, err));
    PP_TRY(pp_resolve_links(request, config, err));
    resolve_comm(request, config);
    PP_TRY(resolve_nic(request, config, err));
    PP_TRY(pp_map_parse(pp_request_text(request, "map", "tp,cp,dp,pp"), &config->map, err));
    PP_TRY(pp_framework_find(pp_request_text(request, "framework", "plain"),
                             &config->costs.framework, err));
    PP_TRY(pp_buckets_resolve(arena, request, config, err));
    PP_TRY(pp_resolve_wishes(request, config, err));
    PP_TRY(resolve_ends(request, config, err));
    config->layout.seq = pp_request_int(request, "seq", config->model.seq);
    if (!pp_request_has(request, "seq"))
        config->chosen |= PP_CHOSE_SEQ;
    return PP_OK;
}
