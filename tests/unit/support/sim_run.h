/* A run of the simulator from the words of its command line, for tests of what is made from it. A
 * `~` is a space inside a word. */
#ifndef PP_TESTS_SIM_RUN_H
#define PP_TESTS_SIM_RUN_H

#include "sim/cli/cli.h"
#include "sim/resolve/resolve.h"

#include <string.h>

static inline enum pp_status sim_run_at(struct pp_arena *arena, const char *line,
                                        enum pp_depth depth, struct pp_result *result,
                                        struct pp_error *err)
{
    enum { WORDS = 64 };
    char *text = pp_arena_printf(arena, "pipesim %s", line), *words[WORDS];
    const size_t length = strlen(text);
    int count = 0, subject_count;
    struct pp_parsed *parsed = PP_NEW(arena, struct pp_parsed);
    struct pp_wish *wish = PP_NEW(arena, struct pp_wish);
    struct pp_config *config = PP_NEW(arena, struct pp_config);
    struct pp_prepared *prepared = PP_NEW(arena, struct pp_prepared);
    struct pp_subject *subjects;

    for (char *word = strtok(text, " "); word && count < WORDS; word = strtok(NULL, " "))
        words[count++] = word;
    for (char *c = text; c < text + length; c++)
        *c = *c == '~' ? ' ' : *c;
    PP_TRY(pp_options_parse(arena, &pp_sim_cli, count, words, parsed, err));
    PP_TRY(pp_wish_open(arena, parsed, wish, err));
    PP_TRY(pp_subjects_open(arena, wish, &subjects, &subject_count, err));
    PP_TRY(pp_resolve(arena, wish, &subjects[0], config, prepared, err));
    return pp_simulate(arena, config, depth, prepared, result, err);
}

static inline enum pp_status sim_run(struct pp_arena *arena, const char *line,
                                     struct pp_result *result, struct pp_error *err)
{
    return sim_run_at(arena, line, PP_FULL, result, err);
}

#endif
