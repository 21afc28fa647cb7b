/* From what was measured of layers to what the stages of a run take. */
#include "core/cost/measured/file.h"

#include "core/cost/measured/channels.h"
#include "core/units.h"

#include <math.h>
#include <string.h>

struct pp_measured_shape pp_measured_shape_of(const struct pp_cost_inputs *in)
{
    const struct pp_model *m = in->model;

    return (struct pp_measured_shape){.hidden = m->hidden,
                                      .heads = m->heads,
                                      .kv_heads = m->kv_heads,
                                      .ffn = m->ffn,
                                      .vocab = m->vocab,
                                      .is_gated = m->is_gated,
                                      .rows = in->layout.mbs / in->granules,
                                      .seq = in->layout.seq,
                                      .splits = in->splits};
}

bool pp_measured_shape_is_same(const struct pp_measured_shape *a, const struct pp_measured_shape *b)
{
    return memcmp(a, b, sizeof(*a)) == 0; /* ints alone */
}

/* ---- shapes ---------------------------------------------------------------------------------*/

static const struct pp_measured_set *find_set(const struct pp_cost_file *file,
                                              const struct pp_measured_shape *shape)
{
    for (int k = 0; k < file->set_count; k++)
        if (pp_measured_shape_is_same(&file->sets[k].shape, shape))
            return &file->sets[k];
    return NULL;
}

static void append_shape(const struct pp_measured_shape *s, struct pp_error *err)
{
    pp_error_append(err, "hidden %d, %d heads (%d of keys), ffn %d%s, vocab %d; %d sample%s of %d",
                    s->hidden, s->heads, s->kv_heads, s->ffn, s->is_gated ? " gated" : "", s->vocab,
                    s->rows, s->rows == 1 ? "" : "s", s->seq);
    pp_error_append(err, " tokens at a time");
    if (s->splits > 1)
        pp_error_append(err, " in %d splits", s->splits);
}

static enum pp_status fail_shape(const struct pp_cost_file *file,
                                 const struct pp_measured_shape *shape, struct pp_error *err)
{
    pp_error_set(err, PP_EINVAL, "%s: no durations for ", file->path);
    append_shape(shape, err);
    pp_error_append(err, "\n  measured: ");
    append_shape(&file->sets[0].shape, err);
    for (int k = 1; k < file->set_count; k++) {
        const struct pp_measured_shape *s = &file->sets[k].shape;
        if (s->split > 0)
            continue;
        pp_error_append(err, "\n  and:      ");
        append_shape(s, err);
    }
    return PP_EINVAL;
}

/* ---- what was never measured ----------------------------------------------------------------*/

static enum pp_status check(const struct pp_cost_file *file, const struct pp_cost_inputs *in,
                            const struct pp_costs *costs, struct pp_error *err)
{
    const struct pp_layout *l = &in->layout;
    const char *what = l->tp > 1   ? "tensor parallelism: --tp 1"
                       : l->cp > 1 ? "context parallelism: --cp 1"
                       : in->model->experts.count > 0 || in->model->mtp > 0
                           ? "experts, nor of blocks that predict further tokens"
                       : costs->gathers || pp_state_cut(&in->state, PP_STATE_OPTIMIZER) > 1
                           ? "sharded or moved state: --zero 0"
                       : in->head == PP_HEAD_PARALLEL ? "a head in parts: --head last"
                       : in->head == PP_HEAD_IGNORED  ? "stages without their head: --head last"
                       : in->recompute != PP_RECOMPUTE_NONE && in->recompute != PP_RECOMPUTE_FULL
                           ? "recomputation of parts: --recompute none or full"
                           : NULL;

    return what ? pp_error_set(err, PP_EINVAL, "%s has no durations of %s", file->path, what)
                : PP_OK;
}

static enum pp_status check_precision(const struct pp_cost_file *file,
                                      const struct pp_cost_inputs *in, struct pp_error *err)
{
    const char *measured = pp_cost_file_precision(file->value_bytes),
               *wanted = in->cluster->device.dtype;

    return strcmp(measured, wanted) != 0
               ? pp_error_set(err, PP_EINVAL,
                              "%s has no durations of %s: --precision %s, as was measured",
                              file->path, wanted, measured)
               : PP_OK;
}

/* ---- compute --------------------------------------------------------------------------------*/

struct stage {
    int blocks;
    bool has_embedding, has_head;
};

static double measured_s(const struct pp_measured_op *op, const struct stage *stage)
{
    return op->part_s[PP_MEASURED_BLOCK] * stage->blocks +
           op->part_s[PP_MEASURED_EMBEDDING] * stage->has_embedding +
           op->part_s[PP_MEASURED_HEAD] * stage->has_head + op->part_s[PP_MEASURED_OP];
}

/* A full backward is both its halves, each half as long as the other where they never ran apart; a
 * recomputation repeats the forward. */
const struct pp_stand_in pp_stand_ins[PP_OP_KINDS] = {
    [PP_B] = {{PP_I, PP_W}, 1},
    [PP_I] = {{PP_B, PP_B}, 0.25},
    [PP_W] = {{PP_B, PP_B}, 0.25},
    [PP_R] = {{PP_F, PP_F}, 0.5},
};

/* NAN: nothing says. */
static double op_s(const struct pp_measured_set *set, int kind, const struct stage *stage)
{
    const struct pp_stand_in *other = &pp_stand_ins[kind];

    if (set->op[kind].samples > 0)
        return measured_s(&set->op[kind], stage);
    if (other->factor == 0 || set->op[other->kind[0]].samples == 0 ||
        set->op[other->kind[1]].samples == 0)
        return (double)NAN;
    return other->factor * (measured_s(&set->op[other->kind[0]], stage) +
                            measured_s(&set->op[other->kind[1]], stage));
}

static enum pp_status put_stage(const struct pp_cost_file *file, const struct pp_measured_set *set,
                                const struct pp_cost_inputs *in, int s, struct pp_costs *costs,
                                struct pp_error *err)
{
    const struct stage stage = {.blocks = in->blocks_per_stage[s],
                                .has_embedding = s == 0,
                                .has_head = s == in->stages - 1};

    for (int k = 0; k < PP_MEASURED_KINDS; k++) {
        const int kind = pp_measured_kinds[k];
        if (!costs->op[kind])
            continue;
        struct pp_cost *cost = &costs->op[kind][s * costs->splits + set->shape.split];
        const double s_each = op_s(set, kind, &stage);
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
            return fail_shape(file, &shape, err);
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
    PP_TRY(check_precision(file, in, err));
    PP_TRY(pp_cost_channels_check(file, in, costs, err));
    PP_TRY(put_compute(file, in, costs, err));
    put_updates(file, in, costs);
    pp_cost_channels_put(arena, file, in, costs);
    costs->origin = "measured";
    costs->is_calibrated = true;
    costs->source = pp_arena_printf(arena, "%s: %d trace%s, %s", file->path, file->trace_count,
                                    file->trace_count == 1 ? "" : "s", file->machine);
    return PP_OK;
}
