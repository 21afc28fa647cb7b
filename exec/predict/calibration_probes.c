/* The delay of probes. On a device, events between layers keep kernels from following each other
 * closely. So parts of an op add up to more than the op takes without events. */
#include "exec/predict/calibration.h"

#include <string.h>

/* An op records an event when it begins, and one after each layer of a pass. */
static int events_of(const struct pp_op *op, const struct pp_stage *stage)
{
    int layers = 0;

    for (int part = 0; part < PP_PARTS; part++)
        layers += pp_calibration_layers(stage, op->kind, part);
    return op->granules * (1 + (op->kind == PP_B ? 2 : 1) * layers);
}

/* Adds the delay of an instruction; of a fused pair, for both kinds. */
static void add_delay(struct pp_calibration *c, const struct pp_program *p,
                      const struct pp_stage *const *stages, int i, int64_t delay_ps)
{
    const int count = p->aux[i] == PP_FUSED_FIRST ? 2 : 1;
    int events = 0;

    for (int k = 0; k < count; k++) {
        const struct pp_op op = pp_program_op(p, i + k);
        events += events_of(&op, stages[op.stage]);
    }
    for (int k = 0; k < count; k++)
        pp_samples_add(c, &c->delay[p->kind[i + k]], (double)delay_ps / events);
}

void pp_calibration_probes(struct pp_calibration *c, const struct pp_program *p,
                           const struct pp_stage *const *stages, const struct pp_step_times *times,
                           bool has_probes)
{
    const size_t rows = (size_t)pp_program_size(p) * (size_t)times->replicas;
    const bool is_pair_of_steps = c->before_ps && c->before_has_probes != has_probes;

    if (!c->before_ps)
        c->before_ps = PP_ARRAY(c->arena, int64_t, rows);
    const int64_t *probed_ps = has_probes ? times->nominal_ps : c->before_ps;
    const int64_t *unprobed_ps = has_probes ? c->before_ps : times->nominal_ps;
    for (int i = 0; i < pp_program_size(p) && is_pair_of_steps; i++) {
        if (!pp_op_is_compute(p->kind[i]) || p->kind[i] == PP_U || p->aux[i] == PP_FUSED_SECOND)
            continue;
        for (int replica = 0; replica < times->replicas; replica++) {
            const size_t row = pp_step_row(times, i, replica);
            add_delay(c, p, stages, i, probed_ps[row] - unprobed_ps[row]);
        }
    }
    memcpy(c->before_ps, times->nominal_ps, rows * sizeof(int64_t)); /* the machine reuses them */
    c->before_has_probes = has_probes;
}
