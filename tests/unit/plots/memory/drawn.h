/* What a picture looks like as a script or as characters, and scripts that are kept as they should
 * be: tests/data/plots/NAME.gp, rewritten with UPDATE=1. */
#ifndef PP_TESTS_DRAWN_H
#define PP_TESTS_DRAWN_H

#include "core/text/file.h"
#include "plots/figure.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct drawn {
    struct pp_plot_target target;
    char folder[32], path[64];
    char *text;
    size_t length;
};

/* The target that collects: a script, or the terminal. */
static inline void drawn_open(struct drawn *d, bool is_script)
{
    *d = (struct drawn){.target = {.format = is_script ? PP_PLOT_SCRIPT : PP_PLOT_TERMINAL,
                                   .terminal = {.width = 80}}};
    snprintf(d->folder, sizeof(d->folder), "/tmp/test_drawn.XXXXXX");
    cr_assert_not_null(mkdtemp(d->folder));
    snprintf(d->path, sizeof(d->path), "%s/drawn.gp", d->folder);
    d->target.path = is_script ? d->path : NULL;
    d->target.out = is_script ? NULL : open_memstream(&d->text, &d->length);
}

/* The text of a script without its beginning, which is alike in all: version, terminal, styles. */
static inline const char *drawn_text(struct pp_arena *arena, struct drawn *d)
{
    char *text;
    size_t length;

    if (d->target.out) {
        fclose(d->target.out);
        rmdir(d->folder);
        text = pp_arena_strdup(arena, d->text);
        free(d->text);
        return text;
    }
    cr_assert_eq(pp_file_read(arena, d->path, &text, &length, NULL), PP_OK);
    unlink(d->path);
    rmdir(d->folder);
    const char *end = strstr(text, "set key noautotitle\n");
    cr_assert_not_null(end);
    return strchr(end, '\n') + 1;
}

static inline void drawn_is(struct pp_arena *arena, const char *text, const char *name)
{
    const char *path = pp_arena_printf(arena, PP_TESTS_DIR "/data/plots/%s", name);
    const char *update = getenv("UPDATE");
    char *want;
    size_t length;

    if (update && !strcmp(update, "1")) {
        FILE *file = fopen(path, "w");
        cr_assert_not_null(file, "%s", path);
        fputs(text, file);
        cr_assert_eq(fclose(file), 0);
    }
    cr_assert_eq(pp_file_read(arena, path, &want, &length, NULL), PP_OK, "%s", path);
    cr_assert_str_eq(text, want, "%s differs (UPDATE=1 rewrites it)", path);
}

#endif
