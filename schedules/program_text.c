#include "schedules/program_private.h"
uint64_t pp_program_text_hash(const struct pp_program *p)
{
    (void)p;
    return 0;
}
