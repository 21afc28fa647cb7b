/* tests/unit/support/golden.h — reading the tables of tests/golden: whole files and option columns. */
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

/* "--group 4 --extra-warmup 1" into the shape. Cuts `options` up. */
static inline void golden_options(struct pp_shape *shape, char *options)
{
    for (char *rest = NULL, *word = strtok_r(options, " ", &rest); word;
         word = strtok_r(NULL, " ", &rest)) {
        const char *value = strtok_r(NULL, " ", &rest);
        const struct {
            const char *name;
            int *field;
        } table[] = {{"--pipelines", &shape->pipelines},
                     {"--group", &shape->group},
                     {"--extra-warmup", &shape->extra_warmup},
                     {"--splits", &shape->splits},
                     {"--depth-first", &shape->depth_first},
                     {"--max-activations", &shape->max_activations}};
        bool known = strcmp(word, "--bfs-backward") == 0;
        cr_assert_not_null(value, "%s", word);
        shape->backward_descending |= known && strcmp(value, "descending") == 0;
        if (strcmp(word, "--concat") == 0 && strcmp(value, "doubling") == 0)
            shape->concat = PP_CONCAT_DOUBLING, known = true;
        for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
            if (strcmp(word, table[i].name) == 0)
                *table[i].field = atoi(value), known = true;
        cr_assert(known, "%s", word);
    }
}

#endif
