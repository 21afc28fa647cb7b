/* tests/exec/typed.h — a training as a command line of pipeexec says it, for tests and benchmarks.
 */
#ifndef PP_TESTS_EXEC_TYPED_H
#define PP_TESTS_EXEC_TYPED_H

#include "core/arena.h"
#include "exec/cli.h"
#include "exec/plan/plan.h"

#include <string.h>

struct typed {
    struct pp_exec_plan *plan;
    struct pp_training training;
};

/* Resolves `line`: options with spaces between them, at most 126 words. Memory is the arena's. */
static inline enum pp_status typed_resolve(struct pp_arena *arena, const char *line,
                                           struct typed *out, struct pp_error *err)
{
    char *words[128] = {pp_arena_strdup(arena, "pipeexec")}, *rest = pp_arena_strdup(arena, line);
    struct pp_parsed *parsed = PP_NEW(arena, struct pp_parsed);
    struct pp_exec_wish *wish = PP_NEW(arena, struct pp_exec_wish);
    struct pp_exec_config *config = PP_NEW(arena, struct pp_exec_config);
    struct pp_subject subject = {.name = NULL};
    int count = 1;

    for (char *word; (word = strsep(&rest, " ")) != NULL && count < 127;)
        if (*word)
            words[count++] = word;
    PP_TRY(pp_options_parse(arena, &pp_exec_cli, count, words, parsed, err));
    wish->request = (struct pp_request){.flags = parsed};
    pp_wish_bind(arena, &wish->request);
    PP_TRY(pp_exec_resolve(arena, wish, NULL, config, err));
    out->plan = PP_NEW(arena, struct pp_exec_plan);
    if (wish->schedule)
        PP_TRY(pp_subject_open_typed(arena, &wish->request, wish->schedule, &subject, err));
    PP_TRY(pp_exec_plan_make(arena, wish, config, subject, out->plan, err));
    out->training = pp_exec_training(wish, config, out->plan);
    return PP_OK;
}

#endif
