/* Samples of the durations of ops and of their parts, collected over the steps of a calibration. */
#include "exec/predict/calibration.h"

#include <assert.h>

static const double PS_PER_S = 1e12;

struct pp_calibration *pp_calibration_create(struct pp_arena *arena, const struct pp_batch *batch)
{
    struct pp_calibration *c = PP_NEW(arena, struct pp_calibration);

    c->arena = arena;
    c->batch = *batch;
    for (int kind = 0; kind < PP_OP_KINDS; kind++)
        c->delay[kind].is_signed = true;
    for (int pass = 0; pass < PP_TIMED_PASSES; pass++)
        for (int part = 0; part < PP_PARTS; part++)
            c->part[pass][part] = PP_ARRAY(arena, struct pp_samples, batch->splits);
    return c;
}

void pp_calibration_begin(struct pp_calibration *c, const struct pp_program *program)
{
    static const int kinds[] = {PP_F, PP_B, PP_I, PP_W, PP_R, PP_U};
    const uint64_t hash = pp_program_hash(program);

    if (c->stages > 0 && c->program_hash == hash)
        return;
    c->program_hash = hash;
    c->update_frac = pp_update_frac(program, c->batch.replicas * program->pipelines);
    c->zeroed_frac = pp_zeroed_frac(program);
    c->before_ps = NULL;
    c->stages = program->stages;
    for (size_t k = 0; k < PP_COUNT(kinds); k++) {
        const int cells = c->stages * c->batch.splits;
        c->whole[kinds[k]] = PP_ARRAY(c->arena, struct pp_samples, cells);
        c->in_pair[kinds[k]] = PP_ARRAY(c->arena, struct pp_samples, cells);
    }
    c->pair = PP_ARRAY(c->arena, struct pp_samples, c->stages * c->stages);
}

/* ---- what was measured ----------------------------------------------------------------------- */

/* Adds samples of all parts; returns the time of all layers. */
static double add_parts(struct pp_calibration *c, const struct pp_timed_op *m)
{
    double inside_ps = 0;

    for (int pass = 0; pass < PP_TIMED_PASSES; pass++)
        for (int part = 0; part < PP_PARTS && pp_passes[pass].kind == m->op.kind; part++) {
            const double ps = m->probe->s[pp_passes[pass].row][part] * PS_PER_S;
            const int layers = pp_calibration_layers(m->stage, m->op.kind, part);

            if (layers == 0)
                continue;
            inside_ps += ps;
            pp_samples_add(c, &c->part[pass][part][m->op.split], ps / layers / m->op.granules);
        }
    return inside_ps;
}

static int cell_of(const struct pp_calibration *c, const struct pp_op *op)
{
    return op->stage * c->batch.splits + op->split;
}

static void add_update(struct pp_calibration *c, const struct pp_timed_op *m, double ps)
{
    pp_samples_add(c, &c->whole[PP_U][cell_of(c, &m->op)], ps);
    if (m->stage->elements > 0)
        pp_samples_add(
            c, pp_sized(c->arena, &c->updates, (double)m->stage->elements * c->update_frac), ps);
}

static void add_pair(struct pp_calibration *c, const struct pp_timed_op *ops, double ps)
{
    const double cells = 2.0 * c->batch.granules * c->batch.splits;

    pp_samples_add(c, &c->pair[ops[0].op.stage * c->stages + ops[1].op.stage],
                   ps * cells / (ops[0].op.granules + ops[1].op.granules));
}

static void add_whole(struct pp_calibration *c, const struct pp_timed_op *ops, int count, double ps)
{
    if (count == 2)
        add_pair(c, ops, ps);
    else
        pp_samples_add(c, &c->whole[ops[0].op.kind][cell_of(c, &ops[0].op)],
                       ps / ops[0].op.granules);
}

void pp_calibration_add(struct pp_calibration *c, const struct pp_timed_op *ops, int count,
                        int64_t duration_ps)
{
    double inside_ps[2] = {0}, outside_ps = (double)duration_ps;

    assert(count == 1 || count == 2);
    pp_layout_note(c, ops[0].stage, ops[0].op.kind);
    if (ops[0].op.kind == PP_U) {
        add_update(c, ops, (double)duration_ps);
        return;
    }
    if (!ops[0].probe || !ops[count - 1].probe) {
        add_whole(c, ops, count, (double)duration_ps);
        return;
    }
    for (int k = 0; k < count; k++) {
        inside_ps[k] = add_parts(c, &ops[k]);
        outside_ps -= inside_ps[k] + (double)ops[k].exchanged_ps;
    }
    for (int k = 0; k < count; k++) {
        const struct pp_op *op = &ops[k].op;
        const double share_ps = outside_ps / count; /* time outside layers cannot be told apart */

        pp_samples_add(c, &c->outside[op->kind], share_ps / op->granules);
        if (count == 2)
            pp_samples_add(c, &c->in_pair[op->kind][cell_of(c, op)],
                           (inside_ps[k] + (double)ops[k].exchanged_ps + share_ps) / op->granules);
    }
}

/* Returns the time that an op spends in exchanges of its group. */
static int64_t exchanged_ps(const struct pp_costs *costs, const struct pp_op *op)
{
    const struct pp_cost cost = pp_costs_op(costs, op, NULL);

    return cost.tp_ps + cost.ep_ps;
}

void pp_calibration_take(struct pp_calibration *c, const struct pp_machine *machine,
                         const struct pp_machine_options *options)
{
    const struct pp_program *p = options->program;
    const int replicas = options->batch->replicas;
    const struct pp_step_times times = pp_machine_step_times(machine, pp_machine_kept(machine) - 1);
    const bool has_probes = pp_machine_has_probes(machine);

    pp_calibration_begin(c, p);
    c->omits_exchanges = options->clock == PP_CLOCK_VIRTUAL && !options->has_durations;
    pp_calibration_probes(c, p, options->stages, &times, has_probes);
    if (options->clock == PP_CLOCK_WALL) {
        pp_calibration_gaps(c, p, &times);
        pp_calibration_wires(c, p, options->costs, &times);
        pp_calibration_copies(c, p, options->costs, &times);
    }
    for (int i = 0; i < pp_program_size(p); i++) {
        const bool is_fused = p->aux[i] == PP_FUSED_FIRST;

        if (!pp_op_is_compute(p->kind[i]) || p->aux[i] == PP_FUSED_SECOND)
            continue;
        for (int replica = 0; replica < replicas; replica++) {
            struct pp_timed_op ops[2];

            for (int k = 0; k <= is_fused; k++) {
                ops[k] = (struct pp_timed_op){.op = pp_program_op(p, i + k),
                                              .stage = options->stages[p->stage[i + k]],
                                              .probe = pp_machine_probe(machine, i + k, replica)};
                if (c->omits_exchanges)
                    ops[k].exchanged_ps = exchanged_ps(options->costs, &ops[k].op);
            }
            pp_calibration_add(c, ops, 1 + is_fused,
                               times.nominal_ps[(size_t)i * (size_t)replicas + (size_t)replica]);
        }
    }
}
