/* schedules/lower/sync_own.h — gradient sums that a program brings itself. Private to lower/. */
#pragma once

#include "schedules/lower/lower.h"

/* none; that of a tied embedding alone, which says nothing of the other weights; those of stages */
enum pp_own_sums { PP_OWN_NONE, PP_OWN_TIED, PP_OWN_STAGES };
enum pp_own_sums pp_own_sums(const struct pp_orders *lists);

/* WAITs for the sums of ranks that wait for none: PyTorch's REDUCE_GRAD has no WAIT. */
void pp_own_sums_wait(const struct pp_lowering *l);
