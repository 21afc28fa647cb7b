/* Generates by the program: the machine of a run, its prompts, its tokens. */
#include "exec/generate/parts.h"

#include "exec/plan/plan.h"
#include "exec/program/stages.h"
#include "exec/tcp/launch.h"

/* ---- options --------------------------------------------------------------------------------- */

static enum pp_status make_stages(struct pp_arena *arena, const struct pp_generate *g,
                                  const struct pp_stage ***stages, struct pp_error *err)
{
    const struct pp_exec_config *c = &g->config;
    int *blocks;

    PP_TRY(pp_exec_blocks(arena, c->net.layers, pp_program_model_stages(g->program), &blocks, err));
    *stages = pp_stages_make(arena, g->program,
                             &(struct pp_stages_wish){.net = &c->net,
                                                      .kernels = c->kernels,
                                                      .batch = &g->batch,
                                                      .blocks = blocks,
                                                      .generation = &g->of,
                                                      .shape = {.tp = c->tp, .etp = c->etp}});
    return PP_OK;
}

static int32_t choose(void *closure, int sequence, int position, const double *logits, int words)
{
    return pp_sampler_choose(closure, sequence, position, logits, words);
}

static void take_tokens(void *closure, int group, int pass, const int32_t *ids)
{
    (void)pass;
    if (group == 0)
        pp_speaker_token(closure, ids[0]);
}

static struct pp_machine_options options_of(const struct pp_generate *g,
                                            const struct pp_stage *const *stages,
                                            const struct pp_costs *costs)
{
    const struct pp_exec_config *c = &g->config;

    return (struct pp_machine_options){.program = g->program,
                                       .stages = stages,
                                       .tp = c->tp,
                                       .ep = c->expert_replicas,
                                       .batch = &g->batch,
                                       .recipe = &c->recipe,
                                       .kernels = c->kernels,
                                       .backend = c->backend,
                                       .transport = c->transport,
                                       .tiers = c->tiers,
                                       .nccl = c->nccl,
                                       .ipc = c->ipc,
                                       .may_choose_transport = c->may_choose_transport,
                                       .timeout_s = c->timeout_s,
                                       .inject = c->inject,
                                       .meeting = c->meeting,
                                       .words = c->words,
                                       .costs = costs,
                                       .clock = c->clock,
                                       .mode = c->mode,
                                       .uses_graphs = c->uses_graphs,
                                       .cores = c->cores,
                                       .kept_steps = 1,
                                       .is_poisoned = true,
                                       .seed = c->recipe.seed};
}

/* ---- processes ------------------------------------------------------------------------------- */

static enum pp_status check_input(const struct pp_exec_wish *wish, const char *transport,
                                  struct pp_error *err)
{
    const char *typed = wish->prompt_file && wish->prompt_file[0] == '-' ? "--prompt-file -" : NULL;

    for (int i = 0; i < wish->given.prompt.count; i++)
        if (wish->given.prompt.all[i][0] == '-' && !wish->given.prompt.all[i][1])
            typed = "--prompt -";
    return !typed ? PP_OK
                  : pp_error_set(err, PP_EINVAL,
                                 "%s: with --transport %s every process reads it, which standard "
                                 "input allows once; give --prompt-file FILE",
                                 typed, transport);
}

/* Starts a process for each worker, if the transport needs them and no launcher has done so. */
static enum pp_status launch(struct pp_arena *arena, const struct pp_exec_wish *wish,
                             struct pp_generate *g, struct pp_tcp_launched **others,
                             struct pp_error *err)
{
    struct pp_exec_config *c = &g->config;
    const int count = g->program->ranks * c->replicas * c->tp;

    PP_TRY(pp_rendezvous_open(arena, &c->meeting, err));
    if (!c->transport->is_apart || c->meeting.count > 1)
        return PP_OK;
    if (count == 1)
        return pp_error_set(
            err, PP_EINVAL,
            "--transport %s: one rank has no peer to send to; use --transport local",
            c->transport->name);
    PP_TRY(check_input(wish, c->transport->name, err));
    return pp_tcp_launch(arena, count, &c->meeting, others, err);
}

/* ---- a run ----------------------------------------------------------------------------------- */

static enum pp_status conduct(struct pp_arena *arena, struct pp_generate *g,
                              struct pp_machine *machine, const struct pp_machine_options *options,
                              struct pp_speaker *speaker, FILE *out, struct pp_error *err)
{
    struct pp_generate_result *r = &g->result;
    struct pp_generated generated;

    pp_speaker_begin(speaker, g, out);
    const enum pp_status status = pp_machine_generate(
        machine, pp_generate_prompts_of(arena, g, 0, pp_generate_sequences(g)), &generated, err);
    pp_speaker_end(speaker);
    PP_TRY(status);
    r->tokens = generated.tokens;
    r->logits = generated.logits;
    r->total_s = generated.step.step_s;
    r->machinery_frac = generated.machinery_frac;
    return pp_generate_figures(arena, g, machine, options, err);
}

static void destroy(void *machine)
{
    pp_machine_destroy(machine);
}

enum pp_status pp_generate_run(struct pp_arena *arena, const struct pp_exec_wish *wish,
                               struct pp_generate *g, FILE *out, struct pp_error *err)
{
    struct pp_speaker *speaker = PP_NEW(arena, struct pp_speaker);
    struct pp_machine_generation *generation = PP_NEW(arena, struct pp_machine_generation);
    struct pp_tcp_launched *others = NULL;
    const struct pp_stage **stages;
    struct pp_machine *machine;

    PP_TRY(make_stages(arena, g, &stages, err));
    PP_TRY(launch(arena, wish, g, &others, err));
    struct pp_machine_options options =
        options_of(g, stages,
                   pp_exec_costs(arena, g->program, stages, &g->batch, g->config.kernels,
                                 &g->config.wires, false));
    *generation = (struct pp_machine_generation){.of = g->of,
                                                 .choose = choose,
                                                 .choose_closure = &g->sampler,
                                                 .on_tokens = take_tokens,
                                                 .tokens_closure = speaker,
                                                 .hashes_logits = g->is_checked};
    options.generation = generation;
    options.on_stuck = pp_generate_on_stuck;
    options.stuck_closure = g;
    enum pp_status status = pp_machine_create(arena, &options, &machine, err);
    if (status == PP_OK) {
        pp_arena_defer(arena, destroy, machine);
        g->result.is_member = pp_machine_is_member(machine);
        status = g->result.is_member ? pp_machine_serve(machine, err)
                                     : conduct(arena, g, machine, &options, speaker, out, err);
    }
    pp_launched_end(others, status == PP_OK ? NULL : err);
    return status;
}
