/* schedules/lower/posting.h — where receives are posted and waited for, one function a policy. */
#pragma once

#include "schedules/lower/lower.h"
#include "schedules/lower/messages.h"

/* Fill `post` and `wait` of every message, and `posts` of every rank. The batched policy fills
 * `done` too. The sender policy fails with PP_EPROGRAM when the compute order itself is cyclic. */
typedef enum pp_status (*pp_posting)(struct pp_arena *arena, struct pp_messages *messages,
                                     int recv_slots, struct pp_error *err);
extern const pp_posting pp_postings[]; /* by enum pp_post */
