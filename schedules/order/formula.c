/* Time of a step by the closed form of its schedule. */
#include "schedules/order/formula.h"

#include "core/units.h"

#include <math.h>

/* Returns the mean over the stages of a kind's duration for a whole micro-batch, in seconds. */
static double mean_s(const struct pp_costs *costs, int kind)
{
    double sum_s = 0;

    for (int at = 0; costs->op[kind] && at < costs->stages * costs->splits; at++)
        sum_s += pp_units_s(costs->op[kind][at].ps);
    return sum_s / costs->stages;
}

static struct pp_unit_costs unit_costs(const struct pp_costs *costs)
{
    const double f = mean_s(costs, PP_F), i = mean_s(costs, PP_I), w = mean_s(costs, PP_W);
    const double b = mean_s(costs, PP_B) > 0 ? mean_s(costs, PP_B) : i + w;

    return (struct pp_unit_costs){
        .f = f, .b = b, .i = i > 0 ? i : b / 2, .w = w > 0 ? w : b / 2, .fb = f + b};
}

static double bubble_frac(const struct pp_program *program, const struct pp_schedule *schedule,
                          const struct pp_costs *costs)
{
    struct pp_shape shape = pp_program_shape(program);
    const struct pp_unit_costs unit = unit_costs(costs);
    const double n = (double)shape.micro_batches * shape.splits * shape.chunks;
    double sum = schedule && schedule->bubble_frac.value ? 0 : (double)NAN;

    pp_schedule_option_defaults(schedule, &shape);
    for (int rank = 0; rank < program->ranks && !isnan(sum); rank++)
        sum += schedule->bubble_frac.value(&shape, &unit, rank);
    return isnan(sum) ? (program->ranks - 1) / (n + program->ranks - 1) : sum / program->ranks;
}

double pp_formula_step_s(const struct pp_program *program, const struct pp_schedule *schedule,
                         const struct pp_costs *costs)
{
    double work_s = 0;

    for (int i = 0; i < pp_program_size(program); i++) {
        const struct pp_op op = pp_program_op(program, i);
        struct pp_op second = {0};

        if (!pp_op_is_compute(op.kind) || op.aux == PP_FUSED_SECOND)
            continue;
        if (op.aux == PP_FUSED_FIRST)
            second = pp_program_op(program, i + 1);
        work_s += pp_units_s(pp_costs_op(costs, &op, op.aux == PP_FUSED_FIRST ? &second : NULL).ps);
    }
    return work_s / program->ranks / (1 - bubble_frac(program, schedule, costs));
}
