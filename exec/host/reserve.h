/* exec/host/reserve.h — addresses that have memory only while it is needed. Memory is given from
 * the begin of a reservation, in whole pages, and is zero at first. */
#pragma once

#include "core/arena.h"

#include <stdbool.h>

/* Reserves addresses for as long as the arena lives; any access to them is a fault. NULL: no
 * addresses are left (ulimit -v). */
void *pp_host_reserve(struct pp_arena *arena, size_t bytes);
/* Gives memory to the first `bytes`; what has memory keeps it. False: there is not enough. */
bool pp_host_commit(void *reserved, size_t bytes);
/* Takes it back. */
void pp_host_release(void *reserved, size_t bytes);
