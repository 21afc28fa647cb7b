/* pipesim program and pipesim verify. */
#include "sim/command/commands.h"
#include "sim/config/tiers.h"
#include "sim/resolve/resolve.h"
#include "sim/resolve/subjects.h"

#include "core/text/output.h"
#include "schedules/search/eager.h"
#include "schedules/verify/verify.h"

#include <string.h>

/* Several copies of weights. */
static enum pp_status check_versions(const struct pp_program *compute, int zero,
                                     const struct pp_state_spec *state, struct pp_error *err)
{
    if (zero > 1 && (compute->pipelines > 1 || compute->versions > 1))
        return pp_error_set(err, PP_EINVAL,
                            "--zero %d: %s keeps several copies of its weights, so only the "
                            "optimizer state can be cut; nearest: --zero 1",
                            zero, compute->name);
    if (pp_state_is_away(state, PP_STATE_PARAMS) && compute->versions > 1)
        return pp_error_set(err, PP_EINVAL,
                            "--offload p: %s updates its weights while it uses several versions of "
                            "them; nearest: --offload os=host",
                            compute->name);
    return PP_OK;
}

static enum pp_status lower_options(const struct pp_request *request,
                                    const struct pp_program *compute, struct pp_arena *arena,
                                    struct pp_lower_options *options, struct pp_error *err)
{
    const struct pp_option_value *post = pp_request_get(request, "post", NULL);
    const struct pp_option_value *sync = pp_request_get(request, "grad-sync", NULL);
    const char *recompute = pp_request_text(request, "recompute", "none");
    const int zero = pp_request_int(request, "zero", 0);
    const int count = pp_request_int(request, "buckets", 1);
    int *buckets = PP_ARRAY(arena, int, compute->stages);
    const struct pp_mesh replicas = {pp_request_int(request, "dp", 1) * compute->pipelines, 1};

    *options = (struct pp_lower_options){.post = post ? (enum pp_post)post->integer : PP_POST_EARLY,
                                         .recv_slots = pp_request_int(request, "recv-slots", 2),
                                         .grad_sync =
                                             sync ? (enum pp_grad_sync)sync->integer : PP_SYNC_END,
                                         .has_sync = pp_mesh_size(replicas) > 1,
                                         .has_optimizer = true,
                                         .state = pp_state_spec_zero(zero, replicas),
                                         .buckets = buckets};
    options->state.buffers = pp_request_int(request, "gather-buffers", 2);
    PP_TRY(pp_tiers_resolve(request, NULL, &options->state, err));
    if (!options->has_sync && (zero || sync || count > 1))
        return pp_error_set(err, PP_EINVAL,
                            "--%s has no effect with one replica of each stage; give --dp",
                            zero   ? "zero"
                            : sync ? "grad-sync"
                                   : "buckets");
    PP_TRY(check_versions(compute, zero, &options->state, err));
    options->has_sync &= !pp_state_is_gathered(&options->state);
    for (int s = 0; s < compute->stages; s++)
        buckets[s] = count;
    if (!strcmp(recompute, "full") || !strcmp(recompute, "selective")) {
        double *frac = PP_ARRAY(arena, double, compute->stages);
        for (int s = 0; s < compute->stages; s++)
            frac[s] = 1;
        options->recompute_frac = frac;
    } else if (strcmp(recompute, "none") != 0) {
        return pp_error_set(
            err, PP_EINVAL,
            "--recompute %s: expected none, selective or full (the share by stage needs a model)",
            recompute);
    }
    return PP_OK;
}

/* Costs for an order that depends on them: --unit, or F=1,I=1,W=1. */
static enum pp_status unit_costs(struct pp_arena *arena, const struct pp_request *request,
                                 const struct pp_config *config, const struct pp_costs **costs,
                                 struct pp_error *err)
{
    const struct pp_shape *shape = &config->shape;
    const char *text = pp_request_text(request, "unit", NULL);
    struct pp_unit_costs unit;

    if (!config->is_eager && !(config->schedule && config->schedule->generate))
        return text ? pp_error_set(err, PP_EINVAL, "--unit %s has no effect: %s does not search",
                                   text, config->schedule_name)
                    : PP_OK;
    PP_TRY(pp_unit_costs_parse(text ? text : "F=1,I=1,W=1", &unit, err));
    *costs = pp_costs_unit(arena, &unit, shape->ranks, pp_shape_stages(shape), shape->splits,
                           shape->granules);
    return PP_OK;
}

/* What the schedule leaves to `auto`, at the same costs. */
static enum pp_status choose(struct pp_arena *arena, const struct pp_request *request,
                             struct pp_config *config, struct pp_error *err)
{
    struct pp_prepared prepared = {0};
    struct pp_result ignored;

    config->is_unit = config->engine_options.plan.is_buffered = true;
    PP_TRY(
        pp_unit_costs_parse(pp_request_text(request, "unit", "F=1,I=1,W=1"), &config->unit, err));
    return pp_resolve_choice(arena, config, &prepared, &ignored, err);
}

static enum pp_status given_shape(const struct pp_request *request,
                                  const struct pp_schedule *schedule, struct pp_shape *shape,
                                  struct pp_error *err)
{
    shape->ranks = pp_request_int(request, "pp", 0);
    shape->micro_batches = pp_request_int(request, "micro-batches", 0);
    if (!shape->ranks || !shape->micro_batches)
        return pp_error_set(err, PP_EINVAL, "--%s is needed",
                            shape->ranks ? "micro-batches" : "pp");
    return pp_schedule_check(schedule, shape, err);
}

static enum pp_status compute_program(struct pp_arena *arena, const struct pp_request *request,
                                      const struct pp_subject *subject, struct pp_program **program,
                                      struct pp_error *err)
{
    struct pp_config config = {0};
    const struct pp_costs *costs = NULL;

    PP_TRY(pp_resolve_shape(request, subject, &config, err));
    if (!subject->file)
        PP_TRY(given_shape(request, subject->schedule, &config.shape, err));
    const bool is_open = !subject->file && pp_resolve_is_open(&config);
    if (is_open)
        PP_TRY(choose(arena, request, &config, err));
    if (!is_open || config.is_eager)
        PP_TRY(unit_costs(arena, request, &config, &costs, err));
    *program = (struct pp_program *)(uintptr_t)subject->file;
    if (!subject->file)
        PP_TRY(pp_schedule_program(arena, subject->schedule, &config.shape, costs, program, err));
    if (!config.is_eager)
        return PP_OK;
    const struct pp_eager_options options = {.limit = config.eager_limit};
    return pp_eager_program(arena, *program, costs, &options, program, err);
}

static enum pp_status check_compute_flags(const struct pp_request *request, struct pp_error *err)
{
    static const char *const LOWERING[] = {
        "post",    "recv-slots", "grad-sync",     "zero",     "recompute",     "dp",
        "buckets", "offload",    "cpu-optimizer", "act-bits", "gather-buffers"};
    char typed[PP_REQUEST_TYPED_BYTES];

    for (size_t i = 0; i < sizeof(LOWERING) / sizeof(*LOWERING); i++)
        if (pp_request_has(request, LOWERING[i]))
            return pp_error_set(err, PP_EINVAL, "%s has no effect with --compute",
                                pp_request_typed(request, LOWERING[i], typed));
    return PP_OK;
}

enum pp_status pp_command_program(struct pp_arena *arena, const struct pp_parsed *parsed, FILE *out,
                                  struct pp_error *err)
{
    struct pp_request request = {.flags = parsed};
    struct pp_subject *subjects;
    struct pp_program *program;
    int count;

    PP_TRY(pp_subjects_open(arena, &request, &subjects, &count, err));
    if (count != 1)
        return pp_error_set(err, PP_EINVAL,
                            "pipesim program prints one schedule, --schedule lists %d", count);
    PP_TRY(compute_program(arena, &request, &subjects[0], &program, err));
    if (pp_request_has(&request, "compute")) {
        PP_TRY(check_compute_flags(&request, err));
        if (program->level != PP_LEVEL_COMPUTE)
            return pp_error_set(err, PP_EINVAL, "--compute: %s is a lowered program",
                                subjects[0].name);
        if (program->pipelines > 1)
            fprintf(stderr, "pipesim: warning: PyTorch maps a stage to one rank and cannot load "
                            "bidirectional programs\n");
    } else {
        struct pp_lower_options options;
        PP_TRY(lower_options(&request, program, arena, &options, err));
        options.update_every =
            pp_schedule_update_every(subjects[0].schedule, program->micro_batches);
        PP_TRY(pp_lower(arena, program, &options, &program, err));
    }
    if (subjects[0].schedule && subjects[0].schedule->is_continuous)
        fprintf(
            stderr,
            "pipesim: warning: a file holds one step; run by name, %s updates without a flush\n",
            subjects[0].name);
    const char *path = pp_request_text(&request, "output", "-");
    if (!strcmp(path, "-")) {
        pp_program_print(program, out);
        return PP_OK;
    }
    struct pp_output output;
    PP_TRY(pp_output_open(arena, path, &output, err));
    pp_program_print(program, output.file);
    return pp_output_commit(&output, err);
}

enum pp_status pp_command_verify(struct pp_arena *arena, const struct pp_parsed *parsed, FILE *out,
                                 struct pp_error *err)
{
    const struct pp_option_value *dialect = pp_options_get(parsed, "dialect");
    const struct pp_verify_options options = {0};
    enum pp_status worst = PP_OK;
    struct pp_error all = {0};

    for (int i = 0; i < parsed->operand_count; i++) {
        const char *path = parsed->operands[i];
        struct pp_program *program;
        struct pp_error one = {0};
        enum pp_status status = pp_program_read(
            arena, path, dialect->count ? (enum pp_dialect)dialect->integer : PP_DIALECT_2025,
            &program, &one);
        if (status == PP_OK)
            status = pp_verify(program, &options, &one);
        if (status == PP_OK) {
            fprintf(out, "%s: legal: %d ranks, %d stages, %d micro-batches, %d instructions\n",
                    path, program->ranks, program->stages, program->micro_batches,
                    pp_program_size(program));
            continue;
        }
        if (worst == PP_OK)
            all = one;
        else
            pp_error_append(&all, "\n%s", one.message);
        worst = status > worst ? status : worst;
    }
    if (worst != PP_OK) {
        *err = all;
        err->status = worst;
    }
    return worst;
}
