/* A fragment of --emit in memory, and its settings by name, for tests that read it as the framework
 * would. */
#ifndef PP_TESTS_EMITTED_H
#define PP_TESTS_EMITTED_H

#include "sim/emit/emit.h"
#include "tests/unit/support/sim_run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

enum { EMITTED_SETTINGS = 128 };
struct emitted {
    struct pp_result result;
    char *text;
    int count;
    struct {
        const char *name, *value; /* "parallelism.seq_len"; "" for a bare flag */
    } settings[EMITTED_SETTINGS];
};

static inline const char *emitted_get(const struct emitted *e, const char *name)
{
    for (int i = 0; i < e->count; i++)
        if (!strcmp(e->settings[i].name, name))
            return e->settings[i].value;
    return NULL;
}

static inline int emitted_int(const struct emitted *e, const char *name, int fallback)
{
    const char *value = emitted_get(e, name);

    return value ? atoi(value) : fallback;
}

/* A setting; quotes around its value go. */
static inline void emitted_add(struct emitted *e, const char *name, char *value)
{
    const size_t length = strlen(value);

    if (length > 1 && strchr("'\"", *value) && value[length - 1] == *value) {
        value[length - 1] = '\0';
        value++;
    }
    cr_assert_lt(e->count, EMITTED_SETTINGS);
    e->settings[e->count].name = name;
    e->settings[e->count++].value = value;
}

/* "    --name value", or "[section]" and "name = value"; a value that opens a list goes on to the
 * line "]", and is the text from there on. */
static inline void emitted_read(struct pp_arena *arena, struct emitted *e)
{
    const char *section = "";
    char *lines = NULL, *copy = pp_arena_printf(arena, "%s", e->text);

    for (char *line = strtok_r(copy, "\n", &lines); line; line = strtok_r(NULL, "\n", &lines)) {
        char *at = line + strspn(line, " "), *equals = strstr(at, " = ");
        if (*at == '[' && !strchr(at, '"')) {
            at[strcspn(at, "]")] = '\0';
            section = pp_arena_printf(arena, "%s.", at + 1);
        } else if (!strncmp(at, "--", 2)) {
            char *blank = at + strcspn(at, " ");
            const bool is_bare = !*blank;
            *blank = '\0';
            emitted_add(e, at + 2, is_bare ? blank : blank + 1);
        } else if (*at != '#' && equals) {
            const bool is_list = !strcmp(equals, " = [");
            *equals = '\0';
            emitted_add(e, pp_arena_printf(arena, "%s%s", section, at),
                        is_list ? strstr(e->text, "= [\n") : equals + 3);
        }
    }
}

static inline enum pp_status emitted_try(struct pp_arena *arena, const char *tool, const char *line,
                                         struct emitted *e, struct pp_error *err)
{
    const struct pp_emit_tool *found;
    size_t size;

    *e = (struct emitted){.count = 0};
    PP_TRY(pp_emit_find(tool, &found, err));
    PP_TRY(sim_run_at(arena, pp_arena_printf(arena, "--engine dag %s", line), PP_METRICS,
                      &e->result, err));
    const struct pp_emit_run run = {&e->result.config, e->result.program, true, NULL};
    char *text;
    FILE *out = open_memstream(&text, &size);
    const enum pp_status status = pp_emit(arena, found, &run, out, err);
    fclose(out);
    e->text = pp_arena_printf(arena, "%s", text);
    free(text);
    if (status == PP_OK)
        emitted_read(arena, e);
    return status;
}

static inline void emitted_make(struct pp_arena *arena, const char *tool, const char *line,
                                struct emitted *e)
{
    struct pp_error err = {0};

    cr_assert_eq(emitted_try(arena, tool, line, e, &err), PP_OK, "%s: %s", line, err.message);
}

#endif
