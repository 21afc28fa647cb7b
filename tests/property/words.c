#include "tests/property/words.h"

#include "sim/cli/cli.h"
#include "sim/resolve/resolve.h"

#include <math.h>
#include <string.h>

struct words words_begin(struct pp_arena *arena, const char *schedule, const char *cluster)
{
    struct words w = {.arena = arena, .word = {"pipesim"}, .count = 1};

    words_say(&w, "--schedule", "%s", schedule);
    words_say(&w, "--cluster", "%s", cluster);
    return w;
}

void words_say(struct words *w, const char *option, const char *format, ...)
{
    char text[256];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    cr_assert_leq(w->count + 2, MAX_WORDS);
    w->word[w->count++] = pp_arena_strdup(w->arena, option);
    if (text[0])
        w->word[w->count++] = pp_arena_strdup(w->arena, text);
}

static int find(const struct words *w, const char *option)
{
    int at = 1;

    while (at < w->count && strcmp(w->word[at], option))
        at++;
    return at;
}

static bool has_value(const struct words *w, int at)
{
    return at + 1 < w->count && strncmp(w->word[at + 1], "--", 2) != 0;
}

struct words words_with(const struct words *w, const char *option, const char *text)
{
    struct words other = *w;
    const int at = find(w, option), length = at == w->count ? 0 : has_value(w, at) ? 2 : 1;

    memmove(&other.word[at], &other.word[at + length],
            sizeof(other.word[0]) * (size_t)(w->count - at - length));
    other.count -= length;
    if (text)
        words_say(&other, option, "%s", text);
    return other;
}

const char *words_of(const struct words *w, const char *option)
{
    const int at = find(w, option);

    return at == w->count ? NULL : has_value(w, at) ? w->word[at + 1] : "";
}

const char *words_line(const struct words *w)
{
    const char *line = "pipesim";

    for (int i = 1; i < w->count; i++)
        line = pp_arena_printf(w->arena, strchr(w->word[i], ' ') ? "%s '%s'" : "%s %s", line,
                               w->word[i]);
    return line;
}

const char *words_one_of(struct rng *rng, const char *const *list)
{
    int count = 0;

    while (list[count])
        count++;
    return list[rng_int(rng, 0, count - 1)];
}

bool words_run(const struct words *w, const char *engine, struct pp_result *result,
               struct pp_error *err)
{
    const struct words line = words_with(w, "--engine", engine);
    struct pp_parsed *parsed = PP_NEW(w->arena, struct pp_parsed);
    struct pp_wish *wish = PP_NEW(w->arena, struct pp_wish);
    struct pp_config *config = PP_NEW(w->arena, struct pp_config);
    struct pp_subject *subjects;
    char **argv = (char **)PP_ARRAY(w->arena, char *, line.count + 1);
    int count;

    memcpy(argv, line.word, sizeof(char *) * (size_t)line.count);
    cr_assert_eq(pp_options_parse(w->arena, &pp_sim_cli, line.count, argv, parsed, err), PP_OK,
                 "%s: %s", words_line(&line), err->message);
    cr_assert_eq(pp_wish_open(w->arena, parsed, wish, err), PP_OK, "%s: %s", words_line(&line),
                 err->message);
    cr_assert_eq(pp_subjects_open(w->arena, wish, &subjects, &count, err), PP_OK, "%s: %s",
                 words_line(&line), err->message);
    const enum pp_status status = pp_resolve(w->arena, wish, &subjects[0], config, NULL, err);
    if (status != PP_OK) {
        cr_assert(status == PP_EINVAL || status == PP_EPROGRAM, "%s: status %d, %s",
                  words_line(&line), (int)status, err->message);
        cr_assert_gt(strlen(err->message), 10, "%s: %s", words_line(&line), err->message);
        return false;
    }
    cr_assert_eq(pp_simulate(w->arena, config, PP_FULL, NULL, result, err), PP_OK, "%s: %s",
                 words_line(&line), err->message);
    return true;
}

double words_makespan_s(const struct pp_result *result)
{
    double latest_s = 0;

    for (int i = 0; i < result->trace->count; i++)
        latest_s = fmax(latest_s, result->trace->events[i].end_s);
    return latest_s;
}

bool words_same_program(const struct pp_program *a, const struct pp_program *b)
{
    const size_t count = (size_t)pp_program_size(a);

    return pp_program_size(b) == (int)count &&
           !memcmp(a->kind, b->kind, count * sizeof(*a->kind)) &&
           !memcmp(a->stage, b->stage, count * sizeof(*a->stage)) &&
           !memcmp(a->mb, b->mb, count * sizeof(*a->mb));
}
