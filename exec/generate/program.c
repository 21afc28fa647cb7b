/* The program of a run: that of the schedule which generates, or of a file. */
#include "exec/generate/generate.h"

#include "schedules/build/build.h"
#include "schedules/registry.h"
#include "schedules/select/select.h"
#include "schedules/verify/verify.h"

#define USUAL_SCHEDULE "generate"

static enum pp_status check_subject(const struct pp_subject *subject, struct pp_error *err)
{
    const struct pp_program *file = subject->file;

    if (file ? file->passes > 0 : subject->schedule->is_forward_only)
        return PP_OK;
    return pp_error_set(
        err, PP_EINVAL,
        "--schedule %s trains: its head states no passes; nearest: --schedule " USUAL_SCHEDULE
        ", or a file of 'pipesim program --mode infer'",
        subject->name);
}

/* An option that a file has, too, must say the same. */
static enum pp_status check_same(const struct pp_subject *subject, const struct pp_given *given,
                                 const char *what, int typed, int has, struct pp_error *err)
{
    if (given->count == 0 || typed == has)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL, "%s: the program of %s has %d %s; leave it out",
                        given->typed, subject->name, has, what);
}

/* Takes the sizes of a file; --batch follows from the prompts, or is given. */
static enum pp_status take_file(const struct pp_exec_wish *wish, const struct pp_subject *subject,
                                struct pp_exec_wish *with, struct pp_error *err)
{
    const struct pp_program *p = subject->file;

    PP_TRY(check_same(subject, &wish->given.np, "ranks", wish->np, p->ranks, err));
    PP_TRY(check_same(subject, &wish->given.groups, "groups", wish->groups, p->micro_batches, err));
    PP_TRY(check_same(subject, &wish->given.prompt_groups, "pieces of prompts", wish->prompt_groups,
                      p->micro_batches * p->granules, err));
    PP_TRY(check_same(subject, &wish->given.tokens, "tokens", wish->tokens, p->passes, err));
    with->np = p->ranks;
    with->groups = p->micro_batches;
    with->prompt_groups = p->micro_batches * p->granules;
    with->tokens = p->passes;
    with->given.tokens.count = 1;
    if (!wish->batch)
        with->batch = with->prompt_groups;
    return PP_OK;
}

/* A file may move state between memory tiers, which only a simulation does. */
static enum pp_status check_kinds(const struct pp_subject *subject, const struct pp_program *p,
                                  struct pp_error *err)
{
    static const bool IS_EXECUTED[PP_OP_KINDS] = {
        [PP_F] = true, [PP_SEND_F] = true, [PP_RECV_F] = true, [PP_WAIT] = true};

    for (int i = 0; i < pp_program_size(p); i++)
        if (!IS_EXECUTED[p->kind[i]])
            return pp_error_set(
                err, PP_EINVAL,
                "--schedule %s: nothing here executes its %s%s%s; nearest: pipesim "
                "--mode infer --schedule %s",
                subject->name, pp_op_kinds[p->kind[i]].text, p->purpose[i] ? "." : "",
                p->purpose[i] ? pp_purposes[p->purpose[i]].text : "", subject->name);
    return PP_OK;
}

enum pp_status pp_generate_program(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                   struct pp_generate *g, struct pp_error *err)
{
    struct pp_exec_wish *with = PP_NEW(arena, struct pp_exec_wish);
    struct pp_program *program;
    struct pp_subject subject;

    *with = *wish;
    PP_TRY(pp_subject_open_typed(arena, &wish->request,
                                 wish->schedule ? wish->schedule : USUAL_SCHEDULE, &subject, err));
    PP_TRY(pp_subjects_check_dialect(&wish->request, &subject, 1, err));
    PP_TRY(check_subject(&subject, err));
    if (subject.file)
        PP_TRY(take_file(wish, &subject, with, err));
    PP_TRY(pp_generate_sizes(with, g, err));
    struct pp_build build = {
        .schedule = subject.schedule,
        .shape = {.ranks = with->np,
                  .chunks = g->of.passes,
                  .micro_batches = g->of.groups,
                  .splits = 1,
                  .granules = pp_generation_pieces(&g->of),
                  .pipelines = 1,
                  .ranks_option = wish->given.np.spelled},
        .given = subject.file,
        .wishes = {.post = (enum pp_post)wish->post, .recv_slots = wish->recv_slots},
        .proves_given = true,
    };
    PP_TRY(pp_build_order(arena, &build, err));
    PP_TRY(pp_build(arena, &build, &program, err));
    PP_TRY(pp_verify(program, NULL, err));
    PP_TRY(check_kinds(&subject, program, err));
    g->program = program;
    g->batch = (struct pp_batch){.replicas = g->config.replicas,
                                 .micro_batches = g->of.groups,
                                 .mbs = g->of.batch / g->of.groups,
                                 .granules = program->granules,
                                 .splits = 1};
    return PP_OK;
}
