/* A call of all devices of a group, one after the other. */
#include "exec/reference/turn.h"

struct pp_turn pp_turn_make(struct pp_arena *arena, int devices, int most)
{
    struct pp_turn turn = {.devices = devices,
                           .works = PP_ARRAY(arena, struct pp_stage_work, devices),
                           .exchanges = PP_ARRAY(arena, struct pp_group_exchange *, devices),
                           .from = PP_ARRAY(arena, const void *, devices)};

    for (int t = 0; t < devices; t++)
        turn.exchanges[t] = PP_ARRAY(arena, struct pp_group_exchange, most + 1);
    return turn;
}

/* Makes exchange `number` of a call for all devices. */
static void exchange(const struct pp_kernels *k, void *stream, const struct pp_turn *turn,
                     int number)
{
    for (int t = 0; t < turn->devices; t++)
        turn->from[t] = turn->exchanges[t][number].from;
    for (int t = 0; t < turn->devices; t++)
        pp_group_exchange_run(k, stream, &turn->exchanges[t][number], turn->devices, turn->from);
}

void pp_turn_call(const struct pp_kernels *k, void *stream, struct pp_turn *turn,
                  enum pp_stage_call_kind kind)
{
    int exchanges = 0;

    for (int t = 0; t < turn->devices; t++)
        exchanges = pp_stage_exchanges(&turn->works[t], kind, turn->exchanges[t]);
    for (int segment = 0; segment <= exchanges; segment++) {
        for (int t = 0; t < turn->devices; t++) {
            turn->works[t].segment = segment;
            pp_stage_calls[kind](k, stream, &turn->works[t]);
        }
        if (segment < exchanges)
            exchange(k, stream, turn, segment);
    }
}
