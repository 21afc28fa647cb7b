/* pipesim program and pipesim verify. */
#include "sim/command/commands.h"
#include "sim/config/tiers.h"
#include "sim/resolve/mode.h"
#include "sim/resolve/resolve.h"

#include "core/printable.h"
#include "core/text/output.h"
#include "schedules/lower/cache.h"
#include "schedules/program/uses.h"
#include "schedules/select/source.h"
#include "schedules/verify/verify.h"

#include <string.h>

/* Refuses sharding or offload that several copies or versions of weights do not allow. */
static enum pp_status check_versions(const struct pp_program *compute, int zero,
                                     const struct pp_state_spec *state, struct pp_error *err)
{
    if (zero > 1 && compute->versions > 1)
        return pp_error_set(err, PP_EINVAL,
                            "--zero %d: %s keeps several versions of its weights, so only the "
                            "optimizer state can be cut; nearest: --zero 1",
                            zero, compute->name);
    if (zero > 1 && compute->pipelines > 1 && pp_state_cut(state, PP_STATE_GRADS) == 1)
        return pp_error_set(err, PP_EINVAL,
                            "--zero %d: %s uses a stage at different times in its pipelines, so "
                            "gradients are cut over replicas of one pipeline; give --dp 2, or "
                            "--zero 1",
                            zero, compute->name);
    if (pp_state_is_away(state, PP_STATE_PARAMS) && compute->versions > 1)
        return pp_error_set(err, PP_EINVAL,
                            "--offload p: %s updates its weights while it uses several versions of "
                            "them; nearest: --offload os=host",
                            compute->name);
    if (pp_state_is_away(state, PP_STATE_GRADS) && compute->versions > 1)
        return pp_error_set(err, PP_EINVAL,
                            "--offload g: %s updates its weights while others of its gradients "
                            "add up; nearest: --offload os=host",
                            compute->name);
    return PP_OK;
}

/* Takes --cache and --evict, where each chunk is a unit. */
static enum pp_status take_cache(const struct pp_wish *wish, struct pp_build *build,
                                 struct pp_error *err)
{
    const struct pp_program *p = build->given;
    const struct pp_given *typed =
        wish->given.cache.count ? &wish->given.cache : &wish->given.evict;
    struct pp_state_spec *state = &build->state;

    PP_TRY(pp_cache_take(wish, state, err));
    if (typed->count && !pp_state_is_fetched(state))
        return pp_error_set(err, PP_EINVAL,
                            "%s has no effect: parameters are neither gathered nor loaded; "
                            "nearest: --zero 3, --offload p=host",
                            typed->typed);
    if (state->cached < 0 || state->cache_bytes > 0)
        return pp_error_set(err, PP_EINVAL,
                            "--cache %s needs the sizes of a model; without one each chunk is a "
                            "unit: --cache 2",
                            typed->text);
    return pp_cache_check(state, pp_program_most_chunks(p), err);
}

static enum pp_status take_lowering(struct pp_arena *arena, const struct pp_wish *wish,
                                    struct pp_build *build, struct pp_error *err)
{
    struct pp_recompute_choice again = {.how = PP_RECOMPUTE_NONE};
    const int zero = wish->zero;
    const int count = wish->buckets;
    const bool has_sync = wish->given.grad_sync.count;
    int *buckets = PP_ARRAY(arena, int, build->given->stages);

    build->wishes = pp_resolve_lowering(wish);
    build->has_update = true;
    pp_build_take_zero(build, zero, wish->dp ? wish->dp : 1);
    build->state.buffers = wish->gather_buffers ? wish->gather_buffers : 2;
    PP_TRY(pp_tiers_resolve(wish, NULL, &build->state, err));
    PP_TRY(take_cache(wish, build, err));
    if (pp_build_copies(build) == 1 && (zero || has_sync || count > 1))
        return pp_error_set(err, PP_EINVAL,
                            "--%s has no effect with one replica of each stage; give --dp",
                            zero       ? "zero"
                            : has_sync ? "grad-sync"
                                       : "buckets");
    PP_TRY(check_versions(build->given, zero, &build->state, err));
    for (int s = 0; s < build->given->stages; s++)
        buckets[s] = count;
    build->buckets = buckets;
    if (wish->recompute)
        PP_TRY(pp_recompute_read(wish->recompute, NULL, &again, err));
    if (again.how == PP_RECOMPUTE_STAGE)
        return pp_error_set(err, PP_EINVAL,
                            "--recompute %s: expected none, selective or full (the share by stage "
                            "needs a model)",
                            wish->recompute);
    build->is_recomputed = again.how != PP_RECOMPUTE_NONE;
    build->wishes.again = again.words;
    return PP_OK;
}

/* Durations for an order that depends on them: those of --unit, or the usual ones. */
static enum pp_status take_unit(const struct pp_wish *wish, const struct pp_config *config,
                                struct pp_unit_costs *unit, struct pp_error *err)
{
    const char *text = wish->unit;
    const bool is_used = config->order.rule != PP_ORDER_STRICT || pp_resolve_is_open(config) ||
                         (config->schedule && config->schedule->generate);

    *unit = pp_unit_costs_usual;
    if (text && !is_used)
        return pp_error_set(err, PP_EINVAL, "--unit %s has no effect: %s does not search", text,
                            config->schedule_name);
    return text ? pp_resolve_unit_costs(wish, unit, err) : PP_OK;
}

/* Chooses the options that the schedule leaves to `auto`, at the costs of `config->unit`. */
static enum pp_status choose(struct pp_arena *arena, struct pp_config *config, struct pp_error *err)
{
    struct pp_prepared prepared = {0};
    struct pp_result ignored;

    if (!pp_resolve_is_open(config))
        return PP_OK;
    config->engine_options.eval.is_buffered = true;
    return pp_resolve_choice(arena, config, &prepared, &ignored, err);
}

static enum pp_status given_shape(const struct pp_wish *wish, const struct pp_schedule *schedule,
                                  struct pp_config *config, struct pp_error *err)
{
    struct pp_shape *shape = &config->shape;

    shape->ranks = wish->pp;
    shape->micro_batches = wish->micro_batches;
    if (shape->ranks && config->generation.passes)
        PP_TRY(pp_resolve_groups(wish, config, err));
    if (!shape->ranks || !shape->micro_batches)
        return pp_error_set(err, PP_EINVAL, "--%s is needed",
                            shape->ranks ? "micro-batches" : "pp");
    return pp_schedule_check(schedule, shape, err);
}

static enum pp_status order_of(struct pp_arena *arena, const struct pp_wish *wish,
                               const struct pp_subject *subject, struct pp_build *build,
                               struct pp_error *err)
{
    struct pp_config config = {.is_unit = true, .layout = {.dp = 1}};

    PP_TRY(pp_resolve_generation(wish, &config, err));
    PP_TRY(pp_resolve_shape(wish, subject, &config, err));
    if (!subject->file)
        PP_TRY(given_shape(wish, subject->schedule, &config, err));
    PP_TRY(take_unit(wish, &config, &config.unit, err));
    PP_TRY(choose(arena, &config, err));
    *build = (struct pp_build){.schedule = subject->schedule,
                               .shape = config.shape,
                               .given = subject->file,
                               .unit = &config.unit,
                               .order = config.order};
    PP_TRY(pp_build_order(arena, build, err));
    build->unit = NULL;
    return PP_OK;
}

static enum pp_status check_compute_flags(const struct pp_wish *wish, struct pp_error *err)
{
    const struct pp_given *const lowering[] = {
        &wish->given.post,     &wish->given.recv_slots,     &wish->given.grad_sync,
        &wish->given.zero,     &wish->given.recompute,      &wish->given.dp,
        &wish->given.buckets,  &wish->given.offload,        &wish->given.cpu_optimizer,
        &wish->given.act_bits, &wish->given.gather_buffers, &wish->given.update_barrier,
        &wish->given.cache,    &wish->given.evict,          &wish->given.update,
        &wish->given.sum};

    for (size_t i = 0; i < PP_COUNT(lowering); i++)
        if (lowering[i]->count)
            return pp_error_set(err, PP_EINVAL, "%s has no effect with --compute",
                                lowering[i]->typed);
    return PP_OK;
}

enum pp_status pp_command_program(struct pp_arena *arena, const struct pp_wish *typed, FILE *out,
                                  struct pp_error *err)
{
    struct pp_wish wish;
    struct pp_subject *subjects;
    const struct pp_program *program;
    struct pp_build build;
    int count;

    PP_TRY(pp_wish_open(arena, typed->request.flags, &wish, err));
    PP_TRY(pp_resolve_mode(&wish, err));
    PP_TRY(pp_subjects_open(arena, &wish, &subjects, &count, err));
    if (count != 1)
        return pp_error_set(err, PP_EINVAL,
                            "pipesim program prints one schedule, --schedule lists %d", count);
    PP_TRY(order_of(arena, &wish, &subjects[0], &build, err));
    program = build.given;
    if (wish.compute) {
        PP_TRY(check_compute_flags(&wish, err));
        if (program->level != PP_LEVEL_COMPUTE)
            return pp_error_set(err, PP_EINVAL, "--compute: %s is a lowered program",
                                subjects[0].name);
        if (program->pipelines > 1)
            pp_tell("pipesim: warning: PyTorch maps a stage to one rank and cannot load "
                    "bidirectional programs");
    } else {
        struct pp_program *lowered;
        PP_TRY(take_lowering(arena, &wish, &build, err));
        PP_TRY(pp_build(arena, &build, &lowered, err));
        program = lowered;
    }
    if (subjects[0].schedule && subjects[0].schedule->is_continuous)
        pp_tell("pipesim: warning: a file holds one step; run by name, %s updates without a flush",
                subjects[0].name);
    if (!wish.output || !strcmp(wish.output, "-")) {
        pp_program_print(program, out);
        return PP_OK;
    }
    struct pp_output output;
    PP_TRY(pp_output_open(arena, wish.output, &output, err));
    pp_program_print(program, output.file);
    return pp_output_commit(&output, err);
}

/* Reads a file, or the output of "!COMMAND". */
static enum pp_status read_program(struct pp_arena *arena, const char *name,
                                   const struct pp_wish *wish, struct pp_program **program,
                                   struct pp_error *err)
{
    const enum pp_dialect dialect = (enum pp_dialect)wish->dialect;

    if (!pp_source_is_command(name))
        return pp_program_read(arena, name, dialect, program, err);
    return pp_source_has_words(name)
               ? pp_error_set(err, PP_EINVAL,
                              "verify %s: a command to verify has no words in braces; write the "
                              "numbers",
                              name)
               : pp_source_read(arena, name, dialect, program, err);
}

enum pp_status pp_command_verify(struct pp_arena *arena, const struct pp_wish *wish, FILE *out,
                                 struct pp_error *err)
{
    enum pp_status worst = PP_OK;

    for (int i = 0; i < wish->request.flags->operand_count; i++) {
        const char *path = wish->request.flags->operands[i];
        struct pp_program *program;
        struct pp_error one = {0};
        enum pp_status status = read_program(arena, path, wish, &program, &one);
        if (status == PP_OK)
            status = pp_verify(program, NULL, &one);
        if (status == PP_OK) {
            fprintf(out, "%s: legal: %d rank%s, %d stage%s, %d micro-batch%s, %d instructions\n",
                    path, program->ranks, program->ranks == 1 ? "" : "s", program->stages,
                    program->stages == 1 ? "" : "s", program->micro_batches,
                    program->micro_batches == 1 ? "" : "es", pp_program_size(program));
            continue;
        }
        if (worst == PP_OK)
            *err = one;
        else
            pp_error_append(err, "\n%s", one.message);
        err->status = worst = status > worst ? status : worst;
    }
    return worst;
}
