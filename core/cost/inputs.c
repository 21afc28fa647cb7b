/* Names of the places of embedding and head. */
#include "core/cost/inputs.h"

const char *const pp_head_names[] = {"last",     "balanced",       "counted",    "ignored",
                                     "parallel", "parallel-twice", "interlaced", NULL};

bool pp_head_is_shared(enum pp_head head)
{
    return head >= PP_HEAD_PARALLEL;
}

int pp_head_flights(enum pp_head head, int ranks)
{
    const int flights[] = {[PP_HEAD_PARALLEL] = 1,
                           [PP_HEAD_PARALLEL_TWICE] = 2,
                           [PP_HEAD_INTERLACED] = (ranks + 1) / 2};

    return ranks > 1 ? flights[head] : 0;
}
