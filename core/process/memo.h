/* core/process/memo.h — texts by name, each made once in a process and all workers that it forks.
 * They lie in a file in memory that the processes share. */
#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "core/text/file.h"

/* Creates an empty memo, closed with the arena. Workers that are forked later share it. Returns
 * NULL with errno if the system refuses a file in memory. */
struct pp_memo;
struct pp_memo *pp_memo_create(struct pp_arena *arena);

/* Makes the text of a name. */
struct pp_memo_maker {
    enum pp_status (*make)(void *context, struct pp_arena *arena, const char *name,
                           struct pp_bytes *text, struct pp_error *err);
    void *context;
};
/* Returns the text of a name in the arena. If no process has made it, calls `make`; meanwhile other
 * processes that want the same name wait. A failure is kept, too, and returned again, but not
 * PP_EINTR. */
enum pp_status pp_memo_get(struct pp_memo *memo, struct pp_arena *arena, const char *name,
                           const struct pp_memo_maker *maker, struct pp_bytes *text,
                           struct pp_error *err);
