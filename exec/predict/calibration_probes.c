/* The delay of probes. On a device, events between layers keep kernels from following each other
 * closely. So parts of an op add up to more than the op takes without events. */
#include "exec/predict/calibration.h"

#include <string.h>

/* Adds the ratio of an instruction; of a fused pair, for both kinds. */
static void add_ratio(struct pp_calibration *c, const struct pp_program *p, int i, double ratio)
{
    pp_samples_add(c, &c->unprobed[p->kind[i]], ratio);
    if (p->aux[i] == PP_FUSED_FIRST)
        pp_samples_add(c, &c->unprobed[p->kind[i + 1]], ratio);
}

void pp_calibration_probes(struct pp_calibration *c, const struct pp_program *p,
                           const struct pp_step_times *times, bool has_probes)
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
            if (probed_ps[row] > 0)
                add_ratio(c, p, i, (double)unprobed_ps[row] / (double)probed_ps[row]);
        }
    }
    memcpy(c->before_ps, times->nominal_ps, rows * sizeof(int64_t)); /* the machine reuses them */
    c->before_has_probes = has_probes;
}

double pp_calibration_unprobed(const struct pp_calibration *c, int kind)
{
    return c->unprobed[kind].count > 0 ? pp_samples_median(&c->unprobed[kind]) : 1;
}
