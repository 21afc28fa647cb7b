/* Model, data, recipe, machine: the parts of a run that no schedule changes. */
#include "exec/resolve/parts.h"

#include "core/model/options.h"
#include "exec/resolve/what_if.h"
#include "exec/resolve/wires.h"
#include "exec/transport/transports.h"

enum { USUAL_STEPS = 20, USUAL_WARMUP = 2, USUAL_TIMEOUT_S = 600 };

/* In the order of the choices of --transport. */
static const struct pp_transport *const TRANSPORTS[] = {&pp_transport_local, &pp_transport_shm,
                                                        &pp_transport_tcp, &pp_transport_nccl,
                                                        &pp_transport_ipc};

/* A launcher starts a process for each rank of each replica. */
static enum pp_status take_ranks(struct pp_exec_config *config, struct pp_error *err)
{
    const int count = config->meeting.count;

    if (count % config->replicas != 0)
        return pp_error_set(err, PP_EINVAL,
                            "the launcher has started %d processes (%s), which --dp %d does not "
                            "divide",
                            count, config->meeting.source, config->replicas);
    if (config->ranks == 0)
        config->ranks = count / config->replicas;
    if (config->ranks * config->replicas != count)
        return pp_error_set(err, PP_EINVAL,
                            "the launcher has started %d processes (%s), the layout has %d ranks "
                            "in %d replica%s: leave out --np, or start as many",
                            count, config->meeting.source, config->ranks, config->replicas,
                            config->replicas == 1 ? "" : "s");
    return PP_OK;
}

/* Memory of a device is reached by threads of its process, by those who map it, or over the network
 * by NCCL. */
static enum pp_status check_memory(const struct pp_request *request,
                                   const struct pp_exec_config *config, struct pp_error *err)
{
    const bool is_apart = config->transport->is_apart;
    char typed[PP_REQUEST_TYPED_BYTES];

    if (config->transport == &pp_transport_local || (config->backend->is_immediate && !is_apart) ||
        (config->cuda && is_apart))
        return PP_OK;
    if (is_apart)
        return pp_error_set(err, PP_EINVAL,
                            "%s: it is for what lies on GPUs; give --backend cuda, or "
                            "--transport tcp",
                            pp_request_typed(request, "transport", typed));
    return pp_error_set(
        err, PP_EINVAL, "%s: backend %s runs all ranks in one process; use --transport %s%s",
        pp_request_typed(request, "transport", typed), config->backend->name,
        pp_transport_local.name,
        config->cuda ? ", or ipc (on one host) or nccl for a process for each" : "");
}

static enum pp_status resolve_transport(const struct pp_request *request,
                                        struct pp_exec_config *config, struct pp_error *err)
{
    const bool is_given = pp_request_has(request, "transport");
    const struct pp_transport *given = TRANSPORTS[pp_request_int(request, "transport", 0)];
    const char *rendezvous = pp_request_text(request, "rendezvous", NULL);
    struct pp_meeting meeting = {.count = 1};
    char typed[PP_REQUEST_TYPED_BYTES];

    if (!is_given || given->remote)
        PP_TRY(pp_meeting_find(rendezvous, &meeting, err));
    else if (rendezvous)
        return pp_error_set(err, PP_EINVAL,
                            "%s: with --transport %s one process starts all ranks; use --transport "
                            "tcp or nccl",
                            pp_request_typed(request, "rendezvous", typed), given->name);
    config->meeting = meeting;
    if (meeting.count <= 1)
        pp_meeting_doubt(is_given && !given->remote ? pp_request_typed(request, "transport", typed)
                                                    : NULL,
                         config->doubt, sizeof(config->doubt));
    config->transport = is_given || meeting.count <= 1 ? given
                        : config->cuda                 ? &pp_transport_nccl
                                                       : &pp_transport_tcp;
    PP_TRY(check_memory(request, config, err));
    if (config->transport->is_apart)
        PP_TRY(pp_exec_device_alone(request, config, err));
    return meeting.count > 1 ? take_ranks(config, err) : PP_OK;
}

/* A fault that has no effect on this transport is refused. */
static enum pp_status check_fault(const struct pp_exec_config *config, struct pp_error *err)
{
    const struct pp_inject_kind *kind = config->inject.kind;

    if (kind && kind->needs_remote && !config->transport->remote)
        return pp_error_set(err, PP_EINVAL,
                            "with --transport %s ranks have neither connections nor clocks of "
                            "their own; use --transport tcp",
                            config->transport->name);
    if (kind && kind->needs_wall && config->clock != PP_CLOCK_WALL)
        return pp_error_set(err, PP_EINVAL,
                            "the virtual clock looks at no watch; use --clock wall");
    return PP_OK;
}

static enum pp_status resolve_faults(const struct pp_request *request,
                                     struct pp_exec_config *config, struct pp_error *err)
{
    const struct pp_option_value *injected = pp_request_get(request, "inject", NULL);
    const char *fault = NULL;

    config->timeout_s = pp_request_int(request, "timeout", USUAL_TIMEOUT_S);
    for (int i = 0; injected && i < injected->count; i++) {
        if (pp_exec_is_what_if(injected->all[i]))
            continue;
        if (fault)
            return pp_error_set(err, PP_EINVAL, "--inject \"%s\": \"%s\" is one fault already",
                                injected->all[i], fault);
        fault = injected->all[i];
    }
    if (fault && config->backend->is_deferred)
        return pp_error_set(err, PP_EINVAL, "--inject: backend %s only writes down what it is told",
                            config->backend->name);
    if (pp_inject_parse(fault, config->first_step, &config->inject, err) != PP_OK ||
        check_fault(config, err) != PP_OK)
        return pp_error_prefix(err, "--inject \"%s\": ", fault);
    return PP_OK;
}

static enum pp_status resolve_machine(const struct pp_request *request,
                                      struct pp_exec_config *config, struct pp_error *err)
{
    char typed[PP_REQUEST_TYPED_BYTES];

    PP_TRY(pp_exec_device(request, config, err));
    PP_TRY(resolve_transport(request, config, err));
    PP_TRY(pp_exec_weight_stream(request, config, err));
    PP_TRY(resolve_faults(request, config, err));
    config->cores = pp_request_int(request, "cores", 0);
    if (config->cores > 0 && (!config->backend->is_immediate || config->clock == PP_CLOCK_WALL))
        return pp_error_set(err, PP_EINVAL,
                            "%s has no effect %s: it says how many ops of ranks on CPUs compute "
                            "at a time on the virtual clock",
                            pp_request_typed(request, "cores", typed),
                            config->backend->is_immediate ? "with --clock wall"
                            : config->cuda                ? "with --backend cuda"
                                                          : "with --backend fake");
    if (config->clock == PP_CLOCK_WALL && pp_request_has(request, "link"))
        return pp_error_set(err, PP_EINVAL,
                            "%s has no effect with --clock wall: messages take what they take",
                            pp_request_typed(request, "link", typed));
    const char *link = pp_request_text(request, "link", NULL);
    return pp_wires_parse(link, &config->wires, err) == PP_OK
               ? PP_OK
               : pp_error_prefix(err, "--link \"%s\": ", link);
}

static enum pp_status resolve_text(struct pp_arena *arena, const struct pp_request *request,
                                   struct pp_exec_config *config, struct pp_error *err)
{
    const enum pp_token_kind tokens =
        (enum pp_token_kind)pp_request_int(request, "tokens", PP_TOKENS_BYTES);
    const char *data = pp_request_text(request, "data", NULL),
               *where = pp_request_text(request, "tokenizer", NULL);
    const struct pp_net *net = &config->net;
    struct pp_tokenizer *tokenizer;

    if (tokens != PP_TOKENS_BYTES && !data)
        return pp_error_set(err, PP_EINVAL,
                            "--tokens %s: the built-in text is read by bytes; give "
                            "--data FILE",
                            pp_request_text(request, "tokens", ""));
    if (!where)
        return pp_text_load(arena, data, tokens, net->seq, net->vocab, &config->text, err);
    if (pp_tokenizer_open(arena, where, &tokenizer, err) != PP_OK)
        return pp_error_prefix(err, "--tokenizer: ");
    return pp_text_encode(arena, data, tokenizer, net->seq, net->vocab, &config->text, err);
}

static enum pp_status check_heads(const struct pp_exec_config *config, struct pp_error *err)
{
    const int limit = config->kernels->head_dim_limit, head_dim = config->net.head_dim;

    if (limit > 0 && head_dim > limit)
        return pp_error_set(err, PP_EINVAL,
                            "--backend %s: heads of model '%.80s' have %d elements, and here at "
                            "most %d; more --heads, or --backend cpu",
                            config->backend->name, config->net.name, head_dim, limit);
    return PP_OK;
}

static enum pp_status resolve_model(struct pp_arena *arena, const struct pp_request *request,
                                    struct pp_exec_config *config, struct pp_error *err)
{
    PP_TRY(pp_model_take(arena, request, "tiny", &config->model, err));
    const int seq = pp_request_int(request, "seq", config->model.seq);
    PP_TRY(pp_net_from_model(&config->model, seq, &config->net, err));
    PP_TRY(check_heads(config, err));
    return resolve_text(arena, request, config, err);
}

static double number(const struct pp_request *request, const char *name, double usual)
{
    const struct pp_option_value *value = pp_request_get(request, name, NULL);

    return value ? value->number : usual;
}

/* The first step warms caches up and the last is judged; those between may calibrate. */
static enum pp_status resolve_steps(const struct pp_request *request, struct pp_exec_config *config,
                                    struct pp_error *err)
{
    const int total = pp_request_int(request, "steps", USUAL_STEPS), first = config->first_step,
              steps = total - first;
    const int most = steps > 3 ? steps - 2 : 1;
    const int warmup = pp_request_int(request, "warmup", most < USUAL_WARMUP ? most : USUAL_WARMUP);
    char typed[PP_REQUEST_TYPED_BYTES];

    if (steps < 1)
        return pp_error_set(err, PP_EINVAL,
                            "%s: %d of %d steps are done; give --steps K with K beyond %d",
                            config->resumed->path, first, total, first);
    config->steps = total;
    config->warmup = warmup;
    config->is_warmup_short = !pp_request_has(request, "warmup") && warmup < USUAL_WARMUP;
    if (warmup > most)
        return pp_error_set(
            err, PP_EINVAL, "%s leaves none of %d step%s to be judged; nearest: --warmup %d",
            pp_request_typed(request, "warmup", typed), steps, steps == 1 ? "" : "s", most);
    return PP_OK;
}

static enum pp_status resolve_recipe(const struct pp_request *request,
                                     struct pp_exec_config *config, struct pp_error *err)
{
    const struct pp_option_value *seed = pp_request_get(request, "seed", NULL);
    struct pp_recipe *r = &config->recipe;
    char typed[PP_REQUEST_TYPED_BYTES];

    *r = (struct pp_recipe){.seed = seed ? (uint64_t)seed->integer : 0,
                            .is_exact = pp_request_has(request, "exact-grad"),
                            .rate = number(request, "lr", 0.001),
                            .warmup_steps = pp_request_int(request, "lr-warmup", 0),
                            .steps = config->steps,
                            .beta1 = 0.9,
                            .beta2 = 0.95,
                            .epsilon = 1e-8,
                            .decay = number(request, "weight-decay", 0.1),
                            .clip = number(request, "clip", 0)};
    r->end_rate = number(request, "min-lr", r->rate / 10);
    if (r->end_rate > r->rate)
        return pp_error_set(err, PP_EINVAL, "%s is more than the learning rate, %g",
                            pp_request_typed(request, "min-lr", typed), r->rate);
    if (r->warmup_steps > config->steps)
        return pp_error_set(err, PP_EINVAL, "%s: training ends after %d steps; nearest: %d",
                            pp_request_typed(request, "lr-warmup", typed), config->steps,
                            config->steps);
    return pp_exec_kernels(request, config, err);
}

static enum pp_status check_pairs(const struct pp_request *request, struct pp_error *err)
{
    static const struct {
        const char *a, *b, *reason;
    } PAIRS[] = {
        {"check", "no-check", "say opposite things"},
        {"json", "quiet", "say opposite things"},
        {"unit", "calibrate-on", "both say how long ops take"},
        {"tokens", "tokenizer", "both say what the tokens of --data are"},
    };

    for (size_t i = 0; i < sizeof(PAIRS) / sizeof(*PAIRS); i++)
        if (pp_request_has(request, PAIRS[i].a) && pp_request_has(request, PAIRS[i].b))
            return pp_error_set(err, PP_EINVAL, "--%s and --%s %s; give one of them", PAIRS[i].a,
                                PAIRS[i].b, PAIRS[i].reason);
    return PP_OK;
}

static const struct {
    const char *option;
    unsigned bit;
} CHOICES[] = {
    {"model", PP_EXEC_CHOSE_MODEL},
    {"seq", PP_EXEC_CHOSE_SEQ},
    {"warmup", PP_EXEC_CHOSE_WARMUP},
};

enum pp_status pp_exec_resolve(struct pp_arena *arena, const struct pp_request *request,
                               const struct pp_checkpoint *resumed, struct pp_exec_config *config,
                               struct pp_error *err)
{
    const struct pp_option_value *gbs = pp_request_get(request, "gbs", NULL);

    *config = (struct pp_exec_config){
        .resumed = resumed,
        .first_step = resumed ? resumed->manifest.step : 0,
        .ranks = pp_request_int(request, "np", 0),
        .micro_batches = pp_request_int(request, "micro-batches", 0),
        .replicas = pp_request_int(request, "dp", 1),
        .mbs = pp_request_int(request, "mbs", 0),
        .gbs = gbs ? gbs->integer : 0,
        .has_recompute = pp_request_int(request, "recompute", 0) == 1,
    };
    for (size_t i = 0; i < sizeof(CHOICES) / sizeof(*CHOICES); i++)
        if (!pp_request_has(request, CHOICES[i].option))
            config->chosen |= CHOICES[i].bit;
    PP_TRY(check_pairs(request, err));
    PP_TRY(resolve_machine(request, config, err));
    PP_TRY(resolve_steps(request, config, err));
    PP_TRY(resolve_recipe(request, config, err));
    return resolve_model(arena, request, config, err);
}
