/* Costs of a run's stages from measured durations of layers. */
#include "core/cost/measured/file.h"
#include "core/units.h"

#include <math.h>
#include <string.h>

/* ---- channels -------------------------------------------------------------------------------- */

/* Returns the measured time of a message between two ranks; NULL if none was measured. */
static const struct pp_measured_line *wire_of(const struct pp_cost_file *file)
{
    const struct pp_measured_line *wire = pp_cost_file_line(file, "wire");

    return wire ? wire : pp_cost_file_line(file, "sendrecv");
}

/* Returns the measured time of an all-reduce; NULL if none was measured. */
static const struct pp_measured_line *sum_of(const struct pp_cost_file *file)
{
    const struct pp_measured_line *sum = pp_cost_file_line(file, "all_reduce");

    return sum && sum->ranks > 1 ? sum : NULL;
}

/* PP_EINVAL if the run sends messages or sums gradients and no channel for them was measured. */
static enum pp_status channels_check(const struct pp_cost_file *file,
                                     const struct pp_cost_inputs *in, const struct pp_costs *costs,
                                     struct pp_error *err)
{
    const bool is_summed = costs->op[PP_AR] && in->layout.dp * in->pipelines > 1;
    const char *what = wire_of(file)                ? NULL
                       : in->layout.pp > 1          ? "messages"
                       : is_summed && !sum_of(file) ? "gradient sums"
                                                    : NULL;

    return what ? pp_error_set(
                      err, PP_EINVAL,
                      "%s has no durations of %s: calibrate on traces of pipeexec --pp 2, or "
                      "--nccl-tests LOG with those",
                      file->path, what)
                : PP_OK;
}

double pp_cost_file_all_reduce_s(const struct pp_cost_file *file, int members, double bytes,
                                 double *latency_s)
{
    static const struct pp_measured_line nothing;
    const struct pp_measured_line *whole = sum_of(file), *wire = wire_of(file);
    const double steps = 2.0 * (members - 1);

    if (members < 2) {
        *latency_s = 0;
        return 0;
    }
    if (whole) { /* scales by the number of steps */
        const double measured = 2.0 * (whole->ranks - 1);
        *latency_s = whole->alpha_s * steps / measured;
        return *latency_s +
               bytes * whole->s_per_byte * (steps / members) / (measured / whole->ranks);
    }
    wire = wire ? wire : &nothing;
    *latency_s = steps * wire->alpha_s;
    return *latency_s + steps * bytes / members * wire->s_per_byte;
}

static struct pp_cost all_reduce(const struct pp_cost_file *file, int members, double bytes)
{
    double latency_s;
    const double s = pp_cost_file_all_reduce_s(file, members, bytes, &latency_s);

    return (struct pp_cost){
        .ps = pp_units_ps(s), .latency_ps = pp_units_ps(latency_s), .bytes = bytes};
}

static void put_sums(const struct pp_cost_file *file, const struct pp_cost_inputs *in,
                     struct pp_costs *costs)
{
    const int members = in->layout.dp * in->pipelines;
    const double tied_bytes =
        (double)in->model->hidden * in->model->vocab / in->layout.tp * file->gradient_bytes;

    for (int s = 0; costs->op[PP_AR] && s < in->stages; s++) {
        const bool is_end = s == 0 || s == in->stages - 1;
        double bytes = pp_cost_stage_params(in, s) * file->gradient_bytes;

        if (costs->tied && is_end)
            bytes -= tied_bytes;
        costs->op[PP_AR][s] = all_reduce(file, members, bytes);
        if (costs->ring_alpha_ps && members > 1)
            costs->ring_alpha_ps[s] = costs->op[PP_AR][s].ps / (2 * (members - 1));
    }
    if (costs->tied)
        *costs->tied = all_reduce(file, in->stages > 1 ? 2 * members : members, tied_bytes);
}

static void put_wires(struct pp_arena *arena, const struct pp_cost_file *file,
                      const struct pp_cost_inputs *in, struct pp_costs *costs)
{
    static const char *const names[] = {"wire"};
    const struct pp_measured_line *wire = wire_of(file);
    const int share = pp_measured_shape_of(in).is_sequence ? in->layout.tp : 1;

    costs->links = 1;
    costs->link = NULL;
    costs->link_names = names;
    costs->alpha_ps = PP_ARRAY(arena, int64_t, 1);
    costs->s_per_byte = PP_ARRAY(arena, double, 1);
    costs->alpha_ps[0] = wire ? pp_units_ps(wire->alpha_s) : 0;
    costs->s_per_byte[0] = wire ? wire->s_per_byte : 0;
    for (int s = 0; costs->memory && s + 1 < in->stages; s++)
        costs->memory[s].boundary_bytes =
            (double)in->layout.mbs * in->layout.seq * in->model->hidden * file->value_bytes / share;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static const struct pp_measured_set *find_set(const struct pp_cost_file *file,
                                              const struct pp_measured_shape *shape)
{
    for (int k = 0; k < file->set_count; k++)
        if (pp_measured_shape_is_same(&file->sets[k].shape, shape))
            return &file->sets[k];
    return NULL;
}

/* ---- checks of what was measured ------------------------------------------------------------- */

static enum pp_status check(const struct pp_cost_file *file, const struct pp_cost_inputs *in,
                            const struct pp_costs *costs, struct pp_error *err)
{
    const char *obstacle = pp_measured_obstacle(in);
    const char *what = obstacle ? obstacle
                       : costs->gathers || pp_state_cut(&in->state, PP_STATE_OPTIMIZER) > 1
                           ? "sharded or moved state: --zero 0"
                       : pp_head_is_shared(in->head) ? "a head in parts: --head last"
                       : in->head == PP_HEAD_IGNORED ? "stages without their head: --head last"
                                                     : NULL;

    return what ? pp_error_set(err, PP_EINVAL, "%s has no durations of %s", file->path, what)
                : PP_OK;
}

static enum pp_status check_tp(const struct pp_cost_file *file, const struct pp_cost_inputs *in,
                               struct pp_error *err)
{
    const int tp = in->layout.tp, measured = file->sets[0].shape.tp;

    for (int k = 0; k < file->set_count; k++)
        if (file->sets[k].shape.tp == tp)
            return PP_OK;
    return measured == 1
               ? pp_error_set(err, PP_EINVAL, "%s has no durations of tensor parallelism: --tp 1",
                              file->path)
               : pp_error_set(err, PP_EINVAL,
                              "%s has no durations of --tp %d: --tp %d, as was measured",
                              file->path, tp, measured);
}

static enum pp_status check_precision(const struct pp_cost_file *file,
                                      const struct pp_cost_inputs *in, struct pp_error *err)
{
    const char *measured = pp_cost_file_precision(file->value_bytes),
               *wanted = pp_precision_names[in->cluster->device.precision];

    return strcmp(measured, wanted) != 0
               ? pp_error_set(err, PP_EINVAL,
                              "%s has no durations of %s: --precision %s, as was measured",
                              file->path, wanted, measured)
               : PP_OK;
}

/* ---- compute --------------------------------------------------------------------------------- */

static double measured_s(const struct pp_measured_op *op, const struct pp_measured_layers *layers)
{
    return op->part_s[PP_MEASURED_BLOCK] * layers->blocks +
           op->part_s[PP_MEASURED_EMBEDDING] * layers->has_embedding +
           op->part_s[PP_MEASURED_HEAD] * layers->has_head + op->part_s[PP_MEASURED_OP];
}

/* A full backward is the sum of its halves, and each half is half of it if only the whole was
 * measured. A recomputation of blocks repeats their forward. */
const struct pp_stand_in pp_stand_ins[PP_OP_KINDS] = {
    [PP_B] = {{PP_I, PP_W}, 1},
    [PP_I] = {{PP_B, PP_B}, 0.25},
    [PP_W] = {{PP_B, PP_B}, 0.25},
    [PP_R] = {{PP_F, PP_F}, 0.5},
};

/* Returns NAN if nothing was measured. A forward stands for whole blocks, not for their parts. */
static double op_s(const struct pp_measured_set *set, int kind,
                   const struct pp_measured_layers *layers)
{
    const struct pp_stand_in *other = &pp_stand_ins[kind];

    if (set->op[kind].samples > 0)
        return measured_s(&set->op[kind], layers);
    if (other->factor == 0 || (kind == PP_R && set->shape.again) ||
        set->op[other->kind[0]].samples == 0 || set->op[other->kind[1]].samples == 0)
        return (double)NAN;
    return other->factor * (measured_s(&set->op[other->kind[0]], layers) +
                            measured_s(&set->op[other->kind[1]], layers));
}

static enum pp_status put_stage(const struct pp_cost_file *file, const struct pp_measured_set *set,
                                const struct pp_cost_inputs *in, int s, struct pp_costs *costs,
                                struct pp_error *err)
{
    for (int k = 0; k < PP_MEASURED_KINDS; k++) {
        const int kind = pp_measured_kinds[k];
        if (!costs->op[kind])
            continue;
        struct pp_cost *cost = &costs->op[kind][s * costs->splits + set->shape.split];
        const struct pp_measured_layers layers = pp_measured_layers_of(in, kind, s);
        const double s_each = op_s(set, kind, &layers);
        if (isnan(s_each))
            return pp_error_set(err, PP_EINVAL,
                                "%s has no durations of %s: calibrate with a schedule that runs it",
                                file->path, pp_op_kinds[kind].text);
        *cost = (struct pp_cost){
            .ps = pp_units_ps(s_each * in->granules), .flops = cost->flops, .bytes = cost->bytes};
    }
    return PP_OK;
}

static enum pp_status put_compute(const struct pp_cost_file *file, const struct pp_cost_inputs *in,
                                  struct pp_costs *costs, struct pp_error *err)
{
    struct pp_measured_shape shape = pp_measured_shape_of(in);

    for (shape.split = 0; shape.split < in->splits; shape.split++) {
        const struct pp_measured_set *set = find_set(file, &shape);
        if (!set)
            return pp_measured_fail_shape(file, &shape, err);
        for (int s = 0; s < in->stages; s++)
            PP_TRY(put_stage(file, set, in, s, costs, err));
    }
    costs->overlap = costs->overlap_all = NULL;
    return PP_OK;
}

static void put_updates(const struct pp_cost_file *file, const struct pp_cost_inputs *in,
                        struct pp_costs *costs)
{
    for (int s = 0; costs->op[PP_U] && s < in->stages; s++) {
        struct pp_cost *cost = &costs->op[PP_U][s];
        *cost =
            (struct pp_cost){.ps = pp_units_ps(pp_cost_stage_params(in, s) * file->update_param_s +
                                               file->update_op_s),
                             .flops = cost->flops,
                             .bytes = cost->bytes};
    }
}

enum pp_status pp_cost_file_apply(struct pp_arena *arena, const struct pp_cost_file *file,
                                  const struct pp_cost_inputs *in, struct pp_costs *costs,
                                  struct pp_error *err)
{
    PP_TRY(check(file, in, costs, err));
    PP_TRY(check_tp(file, in, err));
    PP_TRY(check_precision(file, in, err));
    PP_TRY(channels_check(file, in, costs, err));
    PP_TRY(put_compute(file, in, costs, err));
    put_updates(file, in, costs);
    put_sums(file, in, costs);
    put_wires(arena, file, in, costs);
    costs->origin = "measured";
    costs->is_calibrated = true;
    costs->source = pp_arena_printf(arena, "%s: %d trace%s, %s", file->path, file->trace_count,
                                    file->trace_count == 1 ? "" : "s", file->machine);
    return PP_OK;
}
