/* Reads the tables of tests/golden: whole files and option columns. */
#ifndef PP_TESTS_GOLDEN_H
#define PP_TESTS_GOLDEN_H

#include "schedules/order/schedule.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline char *golden_slurp(struct pp_arena *arena, const char *name)
{
    char *path = pp_arena_printf(arena, "%s/golden/%s", PP_TESTS_DIR, name);
    FILE *in = fopen(path, "rb");
    cr_assert_not_null(in, "%s", path);
    char *text = pp_arena_alloc(arena, 1 << 20);
    text[fread(text, 1, (1 << 20) - 1, in)] = '\0';
    fclose(in);
    return text;
}

/* A word or a number of the value of an option. */
static inline int golden_value(const struct pp_schedule_option *option, const char *text)
{
    const size_t length = strlen(text);
    int index = 0;

    for (const char *at = option->choices; at; at = strchr(at, '|'), index++) {
        at += *at == '|';
        if (!strncmp(at, text, length) && (at[length] == '|' || at[length] == '\0'))
            return index;
    }
    cr_assert_null(option->choices, "%s", text);
    return atoi(text);
}

/* "--group 4 --extra-warmup 1" into the shape. Cuts `options` up. */
static inline void golden_options(const struct pp_schedule *schedule, struct pp_shape *shape,
                                  char *options)
{
    for (char *rest = NULL, *word = strtok_r(options, " ", &rest); word;
         word = strtok_r(NULL, " ", &rest)) {
        const char *value = strtok_r(NULL, " ", &rest);
        const int at = pp_schedule_option_at(schedule, word + strlen("--"));
        cr_assert_not_null(value, "%s", word);
        if (!strcmp(word, "--pipelines"))
            shape->pipelines = atoi(value);
        else if (!strcmp(word, "--splits"))
            shape->splits = atoi(value);
        else if (at >= 0)
            shape->option[at] = golden_value(schedule->options[at], value);
        else
            cr_assert_fail("%s", word);
    }
}

#endif
