/* Few micro-batches of a shape, whose lists stand for those of all. */
#include "schedules/order/order.h"

static int64_t common_multiple(int64_t a, int64_t b)
{
    int64_t rest = a, divisor = b;

    while (rest > 0) {
        const int64_t next = divisor % rest;
        divisor = rest, rest = next;
    }
    return a / divisor * b;
}

int pp_order_left_out(const struct pp_schedule *schedule, const struct pp_shape *shape)
{
    const int steps = shape->steps > 1 ? shape->steps : 1;
    struct pp_shape few = *shape;
    int64_t turn = shape->ranks;

    if (shape->least == 0 || (!schedule->phases && !schedule->key))
        return 0;
    for (int i = 0; i < PP_SHAPE_OPTIONS && turn < shape->micro_batches; i++)
        turn = shape->option[i] > 1 ? common_multiple(turn, shape->option[i]) : turn;
    turn *= (int64_t)shape->pipelines * steps;
    if (shape->micro_batches - shape->least < turn)
        return 0;
    const int left_out = (int)((shape->micro_batches - shape->least) / turn * turn);
    few.micro_batches -= left_out;
    return schedule->accepts && schedule->accepts(&few, NULL) != PP_OK ? 0 : left_out;
}
