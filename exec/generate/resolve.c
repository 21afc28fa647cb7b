/* Resolves a run that generates: model, machine, prompts, program. */
#include "exec/generate/generate.h"

#include "exec/resolve/what_if.h"
#include "exec/stage/generate.h"
#include "schedules/select/offload.h"

/* ---- model ----------------------------------------------------------------------------------- */

/* Takes the weights of the checkpoint. They may be computed with in another precision. */
static enum pp_status take_checkpoint(struct pp_arena *arena, struct pp_generate *g,
                                      struct pp_error *err)
{
    struct pp_exec_config *c = &g->config;
    const struct pp_checkpoint *from = c->resumed;
    struct pp_identity own = pp_identity_of(&c->net, c->kernels);

    own.value[PP_IDENTITY_PRECISION] = from->manifest.identity.value[PP_IDENTITY_PRECISION];
    PP_TRY(pp_identity_check(from->path, &from->manifest.identity, &own, err));
    const struct pp_stage *whole = pp_stage_whole(arena, &c->net, 1, 1, c->kernels);
    PP_TRY(pp_checkpoint_source(arena, from, whole, &c->source, err));
    c->recipe.source = &c->source;
    g->weights = from->path;
    return PP_OK;
}

/* A checkpoint has as many learned positions as its samples had tokens: other ones are refused. */
static enum pp_status check_positions(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                      const struct pp_checkpoint *from, struct pp_error *err)
{
    const struct pp_given *given = &wish->given.positions;
    const int stored = from ? (int)from->manifest.identity.value[PP_IDENTITY_POSITIONS] : 0;
    const char *recorded = from ? pp_manifest_value(&from->manifest, "positions") : NULL;

    if (!from || !given->count || (recorded && strcmp(given->text, recorded) == 0) ||
        strcmp(given->text, pp_arena_printf(arena, "%d", stored)) == 0)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL, "%s: %s has %d learned positions; leave it out",
                        given->typed, from->path, stored);
}

/* Settings of training keep their defaults: nothing reads them. */
static enum pp_status take_config(struct pp_arena *arena, struct pp_exec_wish *with,
                                  const struct pp_checkpoint *resumed, struct pp_generate *g,
                                  struct pp_error *err)
{
    struct pp_exec_wish *whole = PP_NEW(arena, struct pp_exec_wish);

    *whole = *with;
    whole->steps = 1;
    whole->warmup = 1;
    PP_TRY(pp_exec_resolve(arena, whole, resumed, &g->config, err));
    g->weights = g->config.weights;
    return resumed ? take_checkpoint(arena, g, err) : PP_OK;
}

/* ---- what is refused ------------------------------------------------------------------------- */

/* Classes on other tiers: those that a run has are simulated, and others are of training. */
static enum pp_status check_wish(const struct pp_exec_wish *wish, struct pp_error *err)
{
    static const struct pp_offload_scope SCOPE = {.generates = true, .has_peers = true};
    static const char *const WORDS[] = {NULL, "weights on another tier are",
                                        "the cache on another tier is",
                                        "weights and the cache on another tier are"};
    struct pp_state_spec state = {0};

    if (!wish->given.offload.count)
        return PP_OK;
    PP_TRY(pp_offload_parse(wish->offload, &SCOPE, &state, err));
    for (int class = 0; class < PP_STATE_CLASSES; class ++)
        if (pp_state_is_away(&state, (enum pp_state_class) class) && class != PP_STATE_PARAMS &&
            class != PP_STATE_CACHE)
            return pp_error_set(err, PP_EINVAL,
                                "%s: %s is of training; a run that generates has p (parameters) "
                                "and kv (keys and values)",
                                wish->given.offload.typed, pp_state_class_names[class]);
    const int away =
        pp_state_is_away(&state, PP_STATE_PARAMS) + 2 * pp_state_is_away(&state, PP_STATE_CACHE);
    return pp_error_set(err, PP_EINVAL, "%s: %s only simulated; nearest: pipesim --mode infer %s%s",
                        wish->given.offload.typed, WORDS[away], wish->given.offload.typed,
                        pp_state_has_home(&state, PP_TIER_PEER) ? " --peers 1" : "");
}

/* A fault of a run: what would only be slower is simulated, and no tier has files. */
static enum pp_status check_fault(const struct pp_exec_wish *wish, const struct pp_generate *g,
                                  struct pp_error *err)
{
    const struct pp_exec_config *c = &g->config;
    const struct pp_given *injected = &wish->given.inject;

    for (int i = 0; i < injected->count; i++)
        if (pp_exec_is_what_if(injected->all[i]))
            return pp_error_set(err, PP_EINVAL,
                                "--inject \"%s\": speeds of a run that generates are only "
                                "simulated; nearest: pipesim --mode infer --slow",
                                injected->all[i]);
    if (c->inject.kind && c->inject.kind->needs_file)
        return pp_error_set(
            err, PP_EINVAL,
            "--inject \"%s\": a run that generates has no file on a drive; nearest: "
            "--inject hang",
            injected->text);
    if (pp_inject_check(&c->inject, g->program, c->replicas, c->tp, 0, 1, err) != PP_OK)
        return pp_error_prefix(err, "--inject: ");
    return PP_OK;
}

static enum pp_status take_sampler(const struct pp_exec_wish *wish, struct pp_generate *g,
                                   struct pp_error *err)
{
    struct pp_sampler *s = &g->sampler;

    g->sampling = wish->sampling ? wish->sampling : "greedy";
    if (pp_sampler_read(g->sampling, s, err) != PP_OK)
        return pp_error_prefix(err, "--sampling %s: ", g->sampling);
    s->temperature = wish->given.temperature.count ? wish->temperature : 1;
    s->seed = (uint64_t)wish->seed;
    if (!(s->temperature > 0))
        return pp_error_set(err, PP_EINVAL,
                            "%s: a temperature is above 0; nearest: --sampling greedy, which is "
                            "the limit at 0",
                            wish->given.temperature.typed);
    if (wish->given.temperature.count && !(s->top_p > 0))
        return pp_error_set(err, PP_EINVAL,
                            "%s has no effect on --sampling greedy; give --sampling top-p=0.9",
                            wish->given.temperature.typed);
    return PP_OK;
}

/* Prompt and tokens may be longer than a sample of training, if no position is learned. */
static enum pp_status take_context(struct pp_generate *g, struct pp_error *err)
{
    struct pp_exec_config *c = &g->config;
    const int context = g->of.prompt_tokens + g->of.passes;

    if (context > c->net.seq && !c->net.has_positions) {
        PP_TRY(pp_net_take_seq(&c->net, &c->model, context, err));
        PP_TRY(pp_net_check_kernels(&c->net, c->kernels, c->backend->name, err));
    }
    return pp_net_check_context(&c->net, context, err);
}

static enum pp_status check_encoder(const struct pp_generate *g, struct pp_error *err)
{
    if (!g->config.net.is_encoder)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "model '%.80s' is an encoder: its tokens meet those after them, so it does "
                        "not generate; nearest: --model tiny, or pipesim --mode infer --tokens 1",
                        g->config.net.name);
}

enum pp_status pp_generate_resolve(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                   struct pp_generate *g, struct pp_error *err)
{
    struct pp_exec_wish *with = PP_NEW(arena, struct pp_exec_wish);
    const struct pp_checkpoint *resumed;

    *g = (struct pp_generate){.is_checked = wish->check};
    PP_TRY(check_wish(wish, err));
    PP_TRY(take_sampler(wish, g, err));
    PP_TRY(pp_exec_resume_open(arena, wish, with, &resumed, err));
    PP_TRY(check_positions(arena, wish, resumed, err));
    PP_TRY(take_config(arena, with, resumed, g, err));
    PP_TRY(check_encoder(g, err));
    PP_TRY(pp_generate_prompts(arena, with, g, err));
    PP_TRY(pp_generate_program(arena, with, g, err));
    PP_TRY(check_fault(wish, g, err));
    return take_context(g, err);
}
