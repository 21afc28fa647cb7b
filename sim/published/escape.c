/* Command lines made fit for a shell. */
#include "sim/published/published.h"

#include <limits.h>
#include <string.h>

static const char *quoted(struct pp_arena *arena, const char *word)
{
    const char *quote = strpbrk(word, " ()'\"*;&|<>$") ? "\"" : "";

    return pp_arena_printf(arena, "%s%s%s", quote, word, quote);
}

const char *pp_measure_command_lines(struct pp_arena *arena,
                                     const struct pp_measure_command *command, int width,
                                     int indent)
{
    const char *lines = "";
    int column = indent;

    for (int i = 0; i < command->argc; i++) {
        const char *word = quoted(arena, command->argv[i]), *gap = i ? " " : "";
        int need = 1 + (int)strlen(word);
        /* an option and its value stay together */
        if (!strncmp(word, "--", 2) && i + 1 < command->argc)
            need += 1 + (int)strlen(quoted(arena, command->argv[i + 1]));
        if (i && column + need + 2 > width && column > indent) {
            gap = pp_arena_printf(arena, " \\\n%*s", indent, "");
            column = indent - 1;
        }
        lines = pp_arena_printf(arena, "%s%s%s", lines, gap, word);
        column += 1 + (int)strlen(word);
    }
    return lines;
}

const char *pp_measure_command_line(struct pp_arena *arena,
                                    const struct pp_measure_command *command)
{
    return pp_measure_command_lines(arena, command, INT_MAX / 2, 0);
}
