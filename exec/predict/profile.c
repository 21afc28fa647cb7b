/* Runs the calls of a group in one thread, segment by segment, and notes their times. */
#include "exec/host/host.h"
#include "exec/predict/profile_parts.h"

#include <string.h>

static const double PS_PER_S = 1e12;

static void close_device(void *profile)
{
    const struct pp_profile *p = profile;

    p->options->backend->close(p->device);
}

enum pp_status pp_profile_create(struct pp_arena *arena, const struct pp_machine_options *options,
                                 struct pp_profile **profile, struct pp_error *err)
{
    const struct pp_device_options device = {
        .kernels = options->kernels, .streams = 1, .events = 1, .workers = 1};
    struct pp_profile *p = PP_NEW(arena, struct pp_profile);

    if (!options->backend->is_immediate)
        return pp_error_set(
            err, PP_EINVAL,
            "layers of another layout are profiled on the CPU alone: give --backend cpu");
    *p = (struct pp_profile){.arena = arena,
                             .options = options,
                             .tp = options->tp > 1 ? options->tp : 1,
                             .ep = options->ep > 1 ? options->ep : 1,
                             .stages = options->program->stages};
    p->members = PP_ARRAY(arena, struct pp_profile_member, p->tp * p->ep);
    p->from = PP_ARRAY(arena, const void *, p->tp * p->ep);
    PP_TRY(options->backend->open(arena, &device, &p->device, err));
    pp_arena_defer(arena, close_device, p);
    *profile = p;
    return pp_profile_take(p, err);
}

/* ---- exchanges ------------------------------------------------------------------------------- */

/* Makes the result of an exchange on member k. */
static void exchange_on(struct pp_profile *p, int k, int number)
{
    const struct pp_group_exchange *e = &p->members[k].exchanges[number];
    const bool is_of_rows = pp_group_exchange_among(e) == PP_AMONG_EP;
    const int count = is_of_rows ? p->ep : p->tp;

    for (int i = 0; i < count; i++) {
        const int member = is_of_rows ? k / p->ep * p->ep + i : i * p->ep + k % p->ep;
        p->from[i] = p->members[member].exchanges[number].from;
    }
    pp_group_exchange_run(p->options->kernels, NULL, e, count, p->from);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Runs a segment on a member. Returns its seconds, and those of its layers. */
static double run_segment(const struct pp_profile *p, struct pp_profile_member *m,
                          enum pp_stage_call_kind kind, int segment, double layers_s[3][PP_PARTS])
{
    double before_s[3][PP_PARTS] = {{0}};

    m->work.segment = segment;
    if (segment > 0)
        memcpy(before_s, m->probe.s, sizeof(before_s));
    const double begin_s = pp_host_thread_s();
    pp_stage_calls[kind](p->options->kernels, NULL, &m->work);
    const double spent_s = pp_host_thread_s() - begin_s;
    for (int row = 0; row < 3; row++)
        for (int part = 0; part < PP_PARTS; part++)
            layers_s[row][part] = m->probe.s[row][part] - before_s[row][part];
    return spent_s;
}

static void add(double sum_s[3][PP_PARTS], double more_s[3][PP_PARTS])
{
    for (int row = 0; row < 3; row++)
        for (int part = 0; part < PP_PARTS; part++)
            sum_s[row][part] += more_s[row][part];
}

/* Runs a segment on all members. It lasts as long as on the slowest. */
static void run_on_all(struct pp_profile *p, enum pp_stage_call_kind kind, int segment,
                       struct pp_profiled_call *call)
{
    double most_s = -1, slowest_s[3][PP_PARTS] = {{0}}, layers_s[3][PP_PARTS];

    for (int k = 0; k < p->tp * p->ep; k++) {
        const double s = run_segment(p, &p->members[k], kind, segment, layers_s);

        if (k == 0)
            add(call->first_s, layers_s);
        if (s > most_s) {
            most_s = s;
            memcpy(slowest_s, layers_s, sizeof(slowest_s));
        }
    }
    add(call->group_s, slowest_s);
    call->all_s += most_s;
}

static void bind(struct pp_profile *p, struct pp_profile_member *m, int split)
{
    const bool is_exact = p->options->recipe->is_exact;
    const struct pp_stage_shape *shape = &m->stage->shape;

    m->probe = (struct pp_probe){.now_s = pp_host_thread_s};
    m->work = (struct pp_stage_work){
        .stage = m->stage,
        .weights = m->state.weights,
        .grads = {.is_exact = is_exact,
                  .sum = is_exact ? NULL : m->state.sum,
                  .fixed = is_exact ? m->state.fixed : NULL,
                  .scratch = m->grad_scratch,
                  .status = &p->status},
        .split = split,
        .kept = m->kept,
        .saved = m->saved,
        .in = m->in[split],
        .out = shape->has_head ? NULL : m->out[split],
        .grad_in = shape->has_head ? NULL : m->grad[0],
        .grad_out = shape->has_embedding ? NULL : m->grad[1],
        .ids = m->ids,
        .targets = m->targets,
        .loss_scale = 1.0 / (double)pp_targets_of_step(p->options->batch, m->stage->net),
        .loss = m->losses,
        .scratch = m->scratch,
        .probe = &m->probe};
}

static void note(struct pp_profile *p, int op_kind, const struct pp_profiled_call *call)
{
    const struct pp_stage *stage = p->members[0].stage;
    double first_s = 0, group_s = 0;

    for (int pass = 0; pass < PP_TIMED_PASSES; pass++)
        for (int part = 0; part < PP_PARTS && pp_passes[pass].kind == op_kind; part++) {
            const int layers = pp_calibration_layers(stage, op_kind, part),
                      row = pp_passes[pass].row;

            if (layers == 0)
                continue;
            first_s += call->first_s[row][part];
            group_s += call->group_s[row][part];
            pp_samples_push(p->arena, &p->first[pass][part],
                            call->first_s[row][part] / layers * PS_PER_S);
            pp_samples_push(p->arena, &p->group[pass][part],
                            call->group_s[row][part] / layers * PS_PER_S);
        }
    pp_samples_push(p->arena, &p->outside_first[op_kind], (call->all_s - first_s) * PS_PER_S);
    pp_samples_push(p->arena, &p->outside_group[op_kind], (call->all_s - group_s) * PS_PER_S);
}

static void run_call(struct pp_profile *p, int op_kind, enum pp_stage_call_kind kind, int split)
{
    struct pp_profiled_call call = {.all_s = 0};
    int exchanges = 0;

    for (int k = 0; k < p->tp * p->ep; k++) {
        bind(p, &p->members[k], split);
        exchanges = pp_stage_exchanges(&p->members[k].work, kind, p->members[k].exchanges);
    }
    for (int k = 0; k < p->tp * p->ep; k++)
        pp_work_warm(p->options->kernels, &p->members[k].work, op_kind != PP_F && op_kind != PP_R);
    for (int segment = 0; segment <= exchanges; segment++) {
        run_on_all(p, kind, segment, &call);
        for (int k = 0; k < p->tp * p->ep && segment < exchanges; k++)
            exchange_on(p, k, segment);
    }
    note(p, op_kind, &call);
}

/* ---- stages ---------------------------------------------------------------------------------- */

static bool is_recomputed(const struct pp_program *program, int stage)
{
    for (int i = 0; i < pp_program_size(program); i++)
        if (program->kind[i] == PP_R && program->stage[i] == stage)
            return true;
    return false;
}

/* Runs what fills `saved`. */
static void run_forward(struct pp_profile *p, int stage)
{
    const int splits = p->options->batch->splits;
    const bool has_r = is_recomputed(p->options->program, stage);

    for (int split = 0; split < splits; split++)
        run_call(p, PP_F, has_r ? PP_CALL_KEEP : PP_CALL_FORWARD, split);
    for (int split = 0; split < splits && has_r; split++)
        run_call(p, PP_R, PP_CALL_RECOMPUTE, split);
}

/* The gradient of the output is the output: its values change no time. */
static void run_stage(struct pp_profile *p, int stage)
{
    static const struct {
        int op_kind[2];
        enum pp_stage_call_kind call[2];
        int calls;
    } backwards[] = {{{PP_B}, {PP_CALL_BACKWARD}, 1},
                     {{PP_I, PP_W}, {PP_CALL_INPUT_GRAD, PP_CALL_WEIGHT_GRAD}, 2}};

    for (size_t b = 0; b < PP_COUNT(backwards); b++) {
        if (!pp_program_has_kind(p->options->program, backwards[b].op_kind[0]))
            continue;
        run_forward(p, stage);
        for (int k = 0; k < p->tp * p->ep; k++)
            memcpy(p->members[k].grad[0], p->members[k].out[0],
                   p->members[k].stage->boundary_bytes);
        for (int split = p->options->batch->splits - 1; split >= 0; split--)
            for (int c = 0; c < backwards[b].calls; c++)
                run_call(p, backwards[b].op_kind[c], backwards[b].call[c], split);
    }
    for (int k = 0; k < p->tp * p->ep; k++) {
        void **out = p->members[k].out;
        p->members[k].out = p->members[k].in;
        p->members[k].in = out;
    }
}

/* Takes samples of a granule, those of a group of replicas after the other. Devices that share
 * blocks have those of their replica. */
static enum pp_status take_samples(struct pp_profile *p, const struct pp_text *text, int step,
                                   int number, struct pp_error *err)
{
    const struct pp_batch *batch = p->options->batch;
    const int rows = batch->mbs / batch->granules,
              granules = batch->micro_batches * batch->granules;

    for (int k = 0; k < p->tp * p->ep; k++)
        for (int row = 0; row < rows; row++) {
            const int replica = (number / granules * p->ep + k % p->ep) % batch->replicas;
            const int64_t granule = (int64_t)replica * granules + number % granules;
            const ptrdiff_t at = (ptrdiff_t)row * text->seq;

            PP_TRY(pp_text_sample(text, step, granule * rows + row, p->members[k].ids + at,
                                  p->members[k].targets + at, err));
        }
    return PP_OK;
}

enum pp_status pp_profile_run(struct pp_profile *profile, struct pp_profiled from,
                              const struct pp_text *text, int step, int number,
                              struct pp_error *err)
{
    PP_TRY(take_samples(profile, text, step, number, err));
    PP_TRY(pp_machine_fetch(from.machine, err));
    for (int s = 0; s < profile->stages; s++) {
        pp_profile_open_stage(profile, s, from);
        run_stage(profile, s);
    }
    return PP_OK;
}

/* ---- differences ----------------------------------------------------------------------------- */

double pp_profile_factor(const struct pp_profile *from, const struct pp_profile *to, int taken,
                         int wanted, int part)
{
    const struct pp_samples *before = &from->first[taken][part], *after = &to->group[wanted][part];

    if (before->count == 0 || after->count == 0 || pp_samples_mean(before) <= 0)
        return 1;
    return pp_samples_mean(after) / pp_samples_mean(before);
}

double pp_profile_more_ps(const struct pp_profile *from, const struct pp_profile *to, int taken,
                          int wanted)
{
    const struct pp_samples *before = &from->outside_first[taken],
                            *after = &to->outside_group[wanted];

    return before->count > 0 && after->count > 0 ? pp_samples_mean(after) - pp_samples_mean(before)
                                                 : 0;
}
