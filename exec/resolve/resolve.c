/* Model, data, recipe, machine: the parts of a run that no schedule changes. */
#include "exec/resolve/parts.h"

#include "core/model/options.h"
#include "exec/resolve/resume.h"
#include "exec/resolve/what_if.h"
#include "exec/transport/transports.h"

#include <math.h>

static enum pp_status check_fault(const struct pp_exec_config *config, struct pp_error *err)
{
    const struct pp_inject_kind *kind = config->inject.kind;

    if (kind && kind->needs_remote && !config->transport->remote)
        return pp_error_set(err, PP_EINVAL,
                            "with --transport %s ranks have neither connections nor clocks of "
                            "their own; use --transport tcp",
                            config->transport->name);
    if (kind && kind->needs_cache && !config->backend->is_immediate)
        return pp_error_set(err, PP_EINVAL,
                            "with --backend %s a cache is written later than an op begins; use "
                            "--backend cpu",
                            config->backend->name);
    if (kind && kind->needs_wall && config->clock != PP_CLOCK_WALL)
        return pp_error_set(err, PP_EINVAL,
                            "the virtual clock looks at no watch; use --clock wall");
    return PP_OK;
}

static enum pp_status resolve_faults(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                                     struct pp_error *err)
{
    const struct pp_given *injected = &wish->given.inject;
    const char *fault = NULL;

    config->timeout_s = wish->timeout;
    for (int i = 0; i < injected->count; i++) {
        if (pp_exec_is_what_if(injected->all[i]))
            continue;
        if (fault)
            return pp_error_set(err, PP_EINVAL, "--inject \"%s\": \"%s\" is one fault already",
                                injected->all[i], fault);
        fault = injected->all[i];
    }
    if (fault && config->backend->is_deferred)
        return pp_error_set(err, PP_EINVAL, "--inject: backend %s only records work",
                            config->backend->name);
    if (pp_inject_parse(fault, config->first_step, &config->inject, err) != PP_OK ||
        check_fault(config, err) != PP_OK)
        return pp_error_prefix(err, "--inject \"%s\": ", fault);
    return PP_OK;
}

static enum pp_status resolve_machine(const struct pp_exec_wish *wish,
                                      struct pp_exec_config *config, struct pp_error *err)
{
    PP_TRY(pp_exec_device(wish, config, err));
    PP_TRY(pp_exec_transport(wish, config, err));
    PP_TRY(pp_exec_weight_stream(wish, config, err));
    PP_TRY(resolve_faults(wish, config, err));
    config->cores = wish->cores;
    if (config->cores > 0 && (!config->backend->is_immediate || config->clock == PP_CLOCK_WALL))
        return pp_error_set(err, PP_EINVAL,
                            "%s has no effect %s: it says how many ops of ranks on CPUs compute "
                            "at a time on the virtual clock",
                            wish->given.cores.typed,
                            config->backend->is_immediate ? "with --clock wall"
                            : config->cuda                ? "with --backend cuda"
                                                          : "with --backend fake");
    if (config->clock == PP_CLOCK_WALL && wish->given.link.count)
        return pp_error_set(err, PP_EINVAL,
                            "%s has no effect with --clock wall: messages take real time",
                            wish->given.link.typed);
    if (pp_wires_parse(wish->link, &config->wires, err) != PP_OK)
        return pp_error_prefix(err, "--link \"%s\": ", wish->link);
    return pp_exec_tiers(wish, config, err);
}

/* Returns [MASK] of BERT's vocabularies; one of bytes has none, so its last token. */
static int mask_of(int vocab)
{
    enum { MASK = 103, BYTES = 256 };

    return vocab > BYTES ? MASK : vocab - 1;
}

enum pp_status pp_exec_text(struct pp_arena *arena, const struct pp_exec_wish *wish,
                            const struct pp_given *given, const struct pp_exec_config *config,
                            struct pp_text *text, struct pp_error *err)
{
    const struct pp_net *net = &config->net;
    const char *data = given->count ? given->text : NULL;
    const struct pp_text_wish what = {data, (enum pp_token_kind)wish->tokens, net->seq, net->vocab};
    const char *where = wish->tokenizer;
    struct pp_tokenizer *tokenizer;

    if (wish->given.tokens.count && where)
        return pp_error_set(err, PP_EINVAL,
                            "--tokens and --tokenizer both say what the tokens of --data are; give "
                            "one of them");
    if (what.kind > PP_TOKENS_BYTES && !data)
        return pp_error_set(err, PP_EINVAL,
                            "--tokens %s: the built-in text is read by bytes; give "
                            "--data FILE",
                            wish->given.tokens.text);
    if (where && pp_tokenizer_open(arena, where, &tokenizer, err) != PP_OK) {
        pp_error_prefix(err, "--tokenizer: ");
        return pp_exec_resume_explain(&wish->given.tokenizer, config->resumed, err);
    }
    if ((where ? pp_text_encode(arena, &what, tokenizer, text, err)
               : pp_text_load(arena, &what, text, err)) != PP_OK)
        return pp_exec_resume_explain(given, config->resumed, err);
    if (net->is_encoder)
        text->masking =
            (struct pp_masking){pp_net_targets(net), mask_of(net->vocab), (uint64_t)wish->seed};
    return PP_OK;
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

/* A factor stands for a number of choices of a sample, at least 1. */
static enum pp_status take_capacity(const struct pp_exec_wish *wish, struct pp_net *net,
                                    struct pp_error *err)
{
    enum { MOST = 16 };
    const double factor = wish->capacity_factor;

    if (!wish->given.capacity_factor.count)
        return PP_OK;
    if (net->experts == 0)
        return pp_error_set(err, PP_EINVAL, "%s: %s has no experts; give --experts",
                            wish->given.capacity_factor.typed, net->name);
    if (!(factor > 0) || factor > MOST)
        return pp_error_set(err, PP_EINVAL, "%s: expected more than 0, at most %d",
                            wish->given.capacity_factor.typed, MOST);
    net->capacity = (int)ceil(factor * net->top_k * net->seq / net->experts);
    return PP_OK;
}

static bool generates(const struct pp_exec_wish *wish)
{
    return wish->request.flags->command == PP_EXEC_GENERATE;
}

/* Returns the tokens of a sample. Generation has none: its prompts say how many tokens they have,
 * and positions limit them. */
static int tokens_of(const struct pp_exec_wish *wish, const struct pp_model *m)
{
    const int most = m->positions - m->numerics.position_offset;

    if (wish->seq)
        return wish->seq;
    return generates(wish) && m->positions > 0 && most < m->seq ? most : m->seq;
}

static enum pp_status resolve_model(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                    struct pp_exec_config *config, struct pp_error *err)
{
    if (pp_model_take(arena, &wish->request, "tiny", &config->model, err) != PP_OK)
        return pp_exec_resume_explain(&wish->given.model, config->resumed, err);
    PP_TRY(pp_model_take_experts(arena, &wish->request, &config->model, err));
    PP_TRY(pp_net_from_model(&config->model, tokens_of(wish, &config->model), &config->net, err));
    PP_TRY(pp_hub_check_class(&config->model, err));
    PP_TRY(take_capacity(wish, &config->net, err));
    PP_TRY(pp_exec_balance(wish, config, err));
    if (config->net.is_encoder) { /* trained by hidden words */
        config->model.has_pooler = false;
        config->model.has_mlm_head = true;
    }
    PP_TRY(check_heads(config, err));
    PP_TRY(pp_net_check_kernels(&config->net, config->kernels, config->backend->name, err));
    PP_TRY(pp_exec_weights(arena, wish, config, err));
    if (generates(wish)) /* it has prompts */
        return PP_OK;
    PP_TRY(pp_exec_text(arena, wish, &wish->given.data, config, &config->text, err));
    config->text.order = (struct pp_sample_order){
        .kind = wish->given.shuffle.count ? (enum pp_sample_order_kind)wish->shuffle
                                          : pp_text_usual_order(&config->text),
        .seed = config->recipe.seed};
    return PP_OK;
}

/* The first step warms caches up and the last is judged; those between may calibrate. */
static enum pp_status resolve_steps(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                                    struct pp_error *err)
{
    const int total = wish->steps, first = config->first_step, steps = total - first;
    const int most = steps > 3 ? steps - 2 : 1;
    const bool is_given = wish->given.warmup.count;
    const int warmup = is_given || most >= wish->warmup ? wish->warmup : most;

    if (steps < 1)
        return pp_error_set(err, PP_EINVAL,
                            "%s: %d of %d steps are done; give --steps K with K beyond %d",
                            config->resumed->path, first, total, first);
    config->steps = total;
    config->warmup = warmup;
    config->is_warmup_short = warmup < wish->warmup;
    if (warmup > most)
        return pp_error_set(err, PP_EINVAL,
                            "%s leaves none of %d step%s to be judged; nearest: --warmup %d",
                            wish->given.warmup.typed, steps, steps == 1 ? "" : "s", most);
    return PP_OK;
}

static enum pp_status resolve_recipe(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                                     struct pp_error *err)
{
    struct pp_recipe *r = &config->recipe;

    *r = (struct pp_recipe){.seed = (uint64_t)wish->seed,
                            .is_exact = wish->exact_grad,
                            .rate = wish->lr,
                            .warmup_steps = wish->lr_warmup,
                            .steps = config->steps,
                            .beta1 = 0.9,
                            .beta2 = 0.95,
                            .epsilon = 1e-8,
                            .decay = wish->weight_decay,
                            .clip = wish->clip};
    r->end_rate = wish->given.min_lr.count ? wish->min_lr : r->rate / 10;
    if (r->end_rate > r->rate)
        return pp_error_set(err, PP_EINVAL, "%s is more than the learning rate, %g",
                            wish->given.min_lr.typed, r->rate);
    if (r->warmup_steps > config->steps)
        return pp_error_set(err, PP_EINVAL, "%s: training ends after %d steps; nearest: %d",
                            wish->given.lr_warmup.typed, config->steps, config->steps);
    return pp_exec_kernels(wish, config, err);
}

static enum pp_status check_pairs(const struct pp_exec_wish *wish, struct pp_error *err)
{
    const struct {
        const struct pp_given *a, *b;
        const char *reason;
    } pairs[] = {
        {&wish->given.check, &wish->given.no_check, "say opposite things"},
        {&wish->given.json, &wish->given.quiet, "say opposite things"},
        {&wish->given.unit, &wish->given.calibrate_on, "both say how long ops take"},
    };

    for (size_t i = 0; i < PP_COUNT(pairs); i++)
        if (pairs[i].a->count && pairs[i].b->count)
            return pp_error_set(err, PP_EINVAL, "%s and %s %s; give one of them",
                                pairs[i].a->option->dashed, pairs[i].b->option->dashed,
                                pairs[i].reason);
    return PP_OK;
}

enum pp_status pp_exec_resolve(struct pp_arena *arena, const struct pp_exec_wish *wish,
                               const struct pp_checkpoint *resumed, struct pp_exec_config *config,
                               struct pp_error *err)
{
    *config = (struct pp_exec_config){
        .resumed = resumed,
        .first_step = resumed && !generates(wish) ? resumed->manifest.step : 0,
        .ranks = wish->given.np.count ? wish->np : 0,
        .micro_batches = wish->micro_batches,
        .mbs = wish->given.mbs.count ? wish->mbs : 0,
        .gbs = wish->gbs,
        .words = pp_exec_words(arena, wish),
        .cluster = wish->cluster,
        .chosen = (wish->given.model.count ? 0 : PP_EXEC_CHOSE_MODEL) |
                  (wish->given.seq.count ? 0 : PP_EXEC_CHOSE_SEQ) |
                  (wish->given.warmup.count ? 0 : PP_EXEC_CHOSE_WARMUP),
    };
    PP_TRY(check_pairs(wish, err));
    PP_TRY(pp_exec_degrees(wish, config, err));
    PP_TRY(resolve_machine(wish, config, err));
    PP_TRY(resolve_steps(wish, config, err));
    PP_TRY(resolve_recipe(wish, config, err));
    PP_TRY(resolve_model(arena, wish, config, err));
    PP_TRY(pp_exec_recompute(wish, config, err));
    PP_TRY(pp_exec_ep(wish, config, err));
    return pp_exec_tp(wish, config, err);
}

enum pp_status pp_exec_revise(const struct pp_exec_wish *wish, const struct pp_exec_config *config,
                              struct pp_exec_config *revised, struct pp_error *err)
{
    *revised = *config;
    PP_TRY(pp_exec_kernels(wish, revised, err));
    return pp_exec_recompute(wish, revised, err);
}
