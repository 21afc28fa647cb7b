/* The command line of a sweep, one argument a line. Its points are command lines of `run` that read
 * as the points, and their rows have the columns of the header. Files are left out. */
#include "core/text/csv.h"
#include "sim/sweep/sweep.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = 32, BYTES_MAX = 4096 };

static bool may_open_a_file(const char *text)
{
    return strchr(text, '/') || strstr(text, ".csv") || strstr(text, ".json") ||
           strstr(text, ".xml");
}

/* A line as a shell takes it apart: blanks, '...' and \' outside of them. */
static int split(char *line, char **words)
{
    int count = 0;
    char *to = line;

    for (const char *from = line; *from && count < WORDS * WORDS;) {
        bool is_quoted = false;
        words[count++] = to;
        for (; *from && (*from != ' ' || is_quoted); from++) {
            if (*from == '\'')
                is_quoted = !is_quoted;
            else if (*from == '\\' && !is_quoted && from[1])
                *to++ = *++from;
            else
                *to++ = *from;
        }
        from += *from == ' ';
        *to++ = '\0';
    }
    return count;
}

static void check_text(struct pp_arena *arena, const struct pp_grid *grid, int64_t point)
{
    char *line = pp_arena_printf(arena, "pipesim run %s ", pp_grid_text(arena, grid, point));
    char **words = PP_ARRAY(arena, char *, WORDS *WORDS + 1);
    struct pp_parsed want, got;
    struct pp_error err = {0};

    const int count = split(line, words);
    FUZZ_CHECK(pp_grid_point(arena, grid, point, &want, &err) == PP_OK);
    if (count >= WORDS * WORDS)
        return;
    FUZZ_CHECK(pp_options_parse(arena, &pp_sim_cli, count, words, &got, &err) == PP_OK);
    for (int i = 0; i < pp_sim_cli.option_count; i++) {
        const struct pp_option_value *a = &want.values[i], *b = &got.values[i];
        FUZZ_CHECK(a->count == b->count || pp_sim_cli.options[i].type == PP_OPTION_FLAG);
        FUZZ_CHECK(a->integer == b->integer && a->number == b->number);
        FUZZ_CHECK(a->count == 0 || !strcmp(a->text, b->text));
    }
}

static void check_row(struct pp_arena *arena, const struct pp_grid *grid, int64_t point)
{
    const struct pp_error refusal = {.status = PP_EINVAL, .message = "no,\n  \"one\""};
    char *text = NULL;
    size_t length = 0;
    struct pp_csv csv;
    FILE *out = open_memstream(&text, &length);

    FUZZ_CHECK(out);
    pp_sweep_header(grid, out);
    fputc('\n', out);
    pp_sweep_row(grid, point, NULL, &refusal, out);
    FUZZ_CHECK(fclose(out) == 0);
    FUZZ_CHECK(pp_csv_parse(arena, "row", text, length, &csv, NULL, NULL) == PP_OK);
    FUZZ_CHECK(csv.count == 2 && csv.rows[0].count == csv.rows[1].count);
    FUZZ_CHECK(csv.rows[1].line == 2 && text[length - 1] == '\n');
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > BYTES_MAX)
        return 0;
    struct pp_arena *arena = pp_arena_create();
    char *text = pp_arena_alloc(arena, size + 1),
         *argv[WORDS + 1] = {(char *)"pipesim", (char *)"sweep"};
    struct pp_parsed parsed;
    struct pp_grid grid;
    struct pp_error err = {0};
    char key[PP_SWEEP_KEY_BYTES];
    int argc = 2;

    if (size > 0)
        memcpy(text, data, size);
    const bool is_file = may_open_a_file(text);
    for (char *place = text; place && argc < WORDS; argc++)
        argv[argc] = strsep(&place, "\n");
    if (!is_file && pp_options_parse(arena, &pp_sim_cli, argc, argv, &parsed, &err) == PP_OK &&
        parsed.command == PP_CMD_SWEEP) {
        const enum pp_status status = pp_grid_open(arena, &parsed, &grid, &err);
        FUZZ_CHECK(status == PP_OK || (status == PP_EINVAL && err.message[0]));
        for (int i = 0; status == PP_OK && i < 3; i++) {
            const int64_t point = (grid.points - 1) * i / 2;
            check_text(arena, &grid, point);
            check_row(arena, &grid, point);
            FUZZ_CHECK(strlen(pp_grid_key(&grid, point, key)) == PP_SWEEP_KEY_BYTES - 1);
        }
        FUZZ_CHECK(status != PP_OK || (grid.points >= 1 && grid.points <= (int64_t)1 << 31));
    }
    pp_arena_destroy(arena);
    return 0;
}
