/* Exchanges of a group of devices: what they make of the parts, and how long they take. */
#include "exec/stage/stage.h"

#include "core/units.h"

size_t pp_tp_element_bytes(const struct pp_kernels *kernels, enum pp_tp_rule rule)
{
    return rule == PP_TP_SUM ? kernels->element_bytes : kernels->gradient_bytes;
}

double pp_tp_exchange_bytes(const struct pp_kernels *kernels, const struct pp_tp_exchange *exchange)
{
    return (double)exchange->count * (double)pp_tp_element_bytes(kernels, exchange->rule);
}

/* An all-reduce has two turns of tp - 1 steps, each with 1 / tp of the bytes (Patarasuk and Yuan
 * 2009). */
int64_t pp_tp_exchange_ps(const struct pp_costs *costs, int tp, double bytes)
{
    const int steps = pp_ring_turns(PP_AR) * (tp - 1);

    return costs->is_unit
               ? 0
               : steps * (costs->alpha_ps[0] + pp_units_ps(bytes / tp * costs->s_per_byte[0]));
}

/* An all-to-all has a step for each other device. */
int64_t pp_exchange_ps(const struct pp_costs *costs, const struct pp_kernels *kernels,
                       const struct pp_tp_exchange *exchange, int devices)
{
    const struct pp_rows_exchange *rows = &exchange->rows;

    if (rows->way == PP_ROWS_NONE)
        return pp_tp_exchange_ps(costs, devices, pp_tp_exchange_bytes(kernels, exchange));
    return costs->is_unit ? 0
                          : (devices - 1) * (costs->alpha_ps[0] +
                                             pp_units_ps(rows->step_bytes * costs->s_per_byte[0]));
}

void pp_tp_exchange_run(const struct pp_kernels *k, void *stream,
                        const struct pp_tp_exchange *exchange, int tp, const void *const *from)
{
    void (*const run[PP_TP_RULES])(void *, int64_t, int, const void *const *, void *) = {
        [PP_TP_SUM] = k->sum, [PP_TP_SUM_OF_G] = k->sum_of_g, [PP_TP_MAX_OF_G] = k->max_of_g};

    if (exchange->rows.way != PP_ROWS_NONE)
        pp_rows_exchange_run(k, stream, &exchange->rows, from);
    else
        run[exchange->rule](stream, exchange->count, tp, from, exchange->to);
}
