/* Costs of a run's stages from measured durations of layers. */
#include "core/cost/measured/parts.h"
#include "core/units.h"

#include <math.h>
#include <string.h>

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
                            struct pp_error *err)
{
    const char *what = pp_measured_obstacle(in);

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

static enum pp_status check_ep(const struct pp_cost_file *file, const struct pp_cost_inputs *in,
                               struct pp_error *err)
{
    const int ep = pp_measured_shape_of(in).ep;

    for (int k = 0; k < file->set_count; k++)
        if (file->sets[k].shape.ep == ep)
            return PP_OK;
    return pp_error_set(err, PP_EINVAL, "%s has no durations of --ep %d: --ep %d, as was measured",
                        file->path, ep, file->sets[0].shape.ep);
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
        /* durations were measured without bits */
        *cost = (struct pp_cost){.ps = pp_units_ps(s_each * in->granules) + cost->bits_ps,
                                 .bits_ps = cost->bits_ps,
                                 .flops = cost->flops,
                                 .bytes = cost->bytes};
    }
    return PP_OK;
}

/* Where gradients are cut, a backward zeroes those that it scatters. */
static void put_zeroed(const struct pp_cost_file *file, const struct pp_cost_inputs *in,
                       struct pp_costs *costs)
{
    static const int kinds[] = {PP_B, PP_W};

    for (int k = 0; k < 2 * in->stages * costs->splits; k++) {
        const int kind = kinds[k % 2], at = k / 2, stage = at / costs->splits;
        if (costs->op[kind])
            costs->op[kind][at].ps +=
                pp_units_ps(pp_measured_zeroed(in, stage) * file->update_param_s);
    }
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
    put_zeroed(file, in, costs);
    return PP_OK;
}

static void put_updates(const struct pp_cost_file *file, const struct pp_cost_inputs *in,
                        struct pp_costs *costs)
{
    for (int s = 0; costs->op[PP_U] && s < in->stages; s++) {
        struct pp_cost *cost = &costs->op[PP_U][s];
        *cost =
            (struct pp_cost){.ps = pp_units_ps(pp_measured_updated(in, s) * file->update_param_s +
                                               file->update_op_s),
                             .flops = cost->flops,
                             .bytes = cost->bytes};
    }
}

enum pp_status pp_cost_file_apply(struct pp_arena *arena, const struct pp_cost_file *file,
                                  const struct pp_cost_inputs *in, struct pp_costs *costs,
                                  struct pp_error *err)
{
    PP_TRY(check(file, in, err));
    PP_TRY(check_tp(file, in, err));
    PP_TRY(check_ep(file, in, err));
    PP_TRY(check_precision(file, in, err));
    PP_TRY(pp_measured_check_channels(file, in, costs, err));
    PP_TRY(put_compute(file, in, costs, err));
    put_updates(file, in, costs);
    pp_measured_put_sums(file, in, costs);
    pp_measured_put_wires(arena, file, in, costs);
    costs->origin = "measured";
    costs->is_calibrated = true;
    costs->source = pp_arena_printf(arena, "%s: %d trace%s, %s", file->path, file->trace_count,
                                    file->trace_count == 1 ? "" : "s", file->machine);
    return PP_OK;
}
