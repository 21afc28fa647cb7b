#include "schedules/lower/lower.h"

enum pp_status pp_lower_slots(struct pp_arena *arena, const struct pp_program_head *head,
                              const struct pp_lower_options *options, struct pp_orders *lists,
                              struct pp_error *err)
{
    (void)arena;
    (void)head;
    (void)options;
    (void)lists;
    (void)err;
    return PP_OK;
}
