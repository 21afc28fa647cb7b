/* The options that all processes of a run must share, for a message if they do not. */
#include "core/lines.h"
#include "exec/resolve/parts.h"

#include <string.h>

/* Options that may differ from process to process. */
static const char *const OWN[] = {
    "rendezvous",
    "timeout",
    "inject",
    "cores",
    "check",
    "no-check",
    "warmup",
    "data",
    "checkpoint",
    "checkpoint-keep",
    "json",
    "trace",
    "gantt",
    "plot",
    "paper",
    "predicted-trace",
    "quiet",
    "color",
    "device-mode",
    "cuda-graphs",
    "checkpoint-every",
    NULL,
};

static bool is_shared(struct pp_arena *arena, const char *word)
{
    return strncmp(word, "--", 2) == 0 &&
           !pp_is_one_of(pp_arena_printf(arena, "%.*s", (int)strcspn(word + 2, " "), word + 2),
                         OWN);
}

const char *pp_exec_words(struct pp_arena *arena, const struct pp_exec_wish *wish)
{
    const char *lines = "";

    for (const char *const *word = pp_command_words(arena, wish->request.flags); *word; word++)
        if (is_shared(arena, *word))
            lines = pp_arena_printf(arena, "%s%s\n", lines, *word);
    return lines;
}
