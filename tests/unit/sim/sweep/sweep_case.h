/* A sweep or a run from the words of its command line. */
#ifndef PP_TESTS_UNIT_SWEEP_CASE_H
#define PP_TESTS_UNIT_SWEEP_CASE_H

#include "sim/sweep/sweep.h"

#include <criterion/criterion.h>
#include <string.h>

/* Words are parted by blanks; '~' is a blank inside a word. */
static inline enum pp_status sc_parse(struct pp_arena *arena, const char *command, const char *line,
                                      struct pp_parsed *parsed, struct pp_error *err)
{
    char *words = pp_arena_strdup(arena, line);
    char **argv = PP_ARRAY(arena, char *, strlen(line) + 3);
    int argc = 0;

    argv[argc++] = pp_arena_strdup(arena, "pipesim");
    argv[argc++] = pp_arena_strdup(arena, command);
    for (char *word; (word = strsep(&words, " ")) != NULL;) {
        if (!*word)
            continue;
        argv[argc++] = word;
        for (; *word; word++)
            if (*word == '~')
                *word = ' ';
    }
    return pp_options_parse(arena, &pp_sim_cli, argc, argv, parsed, err);
}

static inline enum pp_status sc_open(struct pp_arena *arena, const char *line, struct pp_grid *grid,
                                     struct pp_error *err)
{
    struct pp_parsed *parsed = PP_NEW(arena, struct pp_parsed);

    PP_TRY(sc_parse(arena, "sweep", line, parsed, err));
    return pp_grid_open(arena, parsed, grid, err);
}

static inline struct pp_grid sc_grid(struct pp_arena *arena, const char *line)
{
    struct pp_grid grid;
    struct pp_error err = {0};

    cr_assert_eq(sc_open(arena, line, &grid, &err), PP_OK, "%s: %s", line, err.message);
    return grid;
}

#endif
