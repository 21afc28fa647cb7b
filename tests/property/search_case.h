/* A layout search from the words of its command line, for tests. */
#ifndef PP_TESTS_SEARCH_CASE_H
#define PP_TESTS_SEARCH_CASE_H

#include "sim/cli/cli.h"
#include "sim/command/commands.h"
#include "sim/plan/search.h"
#include "sim/plan/state.h"

#include <string.h>

/* Request and knobs, or also the space, of "pipesim plan LINE". Words are parted by blanks; '~' is
 * a blank inside of one. */
static inline enum pp_status search_request(struct pp_arena *arena, const char *line,
                                            struct pp_search *search, struct pp_error *err)
{
    enum { WORDS = 64 };
    static const char *const arguments[] = {"--schedule", "1f1b", NULL};
    static const struct pp_preset usual = {.name = "plan", .arguments = arguments};
    char *text = pp_arena_printf(arena, "pipesim plan %s", line), *words[WORDS];
    struct pp_parsed *parsed = PP_NEW(arena, struct pp_parsed);
    struct pp_wish *wish = PP_NEW(arena, struct pp_wish);
    int count = 0;

    for (char *word = strtok(text, " "); word && count < WORDS; word = strtok(NULL, " "))
        words[count++] = word;
    for (int i = 0; i < count; i++)
        for (char *at = words[i]; (at = strchr(at, '~'));)
            *at = ' ';
    *search = (struct pp_search){.jobs = 1, .top = 1, .margin_frac = PP_PLANNER_TIE_FRAC};
    PP_TRY(pp_options_parse(arena, &pp_sim_cli, count, words, parsed, err));
    PP_TRY(pp_wish_open(arena, parsed, wish, err));
    if (!wish->request.preset_row)
        PP_TRY(pp_wish_defaults(arena, wish, &usual, err));
    search->space.wish = wish;
    return pp_search_free(wish, &search->space, err);
}

static inline enum pp_status search_open(struct pp_arena *arena, const char *line,
                                         struct pp_search *search, struct pp_error *err)
{
    PP_TRY(search_request(arena, line, search, err));
    return pp_search_open(arena, search->space.wish, &search->space, err);
}

#endif
