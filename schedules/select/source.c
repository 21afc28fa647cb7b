/* Schedules from outside: words of a text, commands and files, their programs. */
#include "schedules/select/source.h"

#include "core/process/memo.h"
#include "core/process/shell.h"
#include "schedules/registry.h"
#include "schedules/verify/verify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct outside {
    const char *text; /* as typed */
    enum pp_dialect dialect;
    const struct pp_schedule *schedule;
    struct pp_arena *held;   /* of the last program */
    const char *name;        /* of the last program; NULL = none */
    struct pp_program *last; /* most shapes are asked for several times in a row */
};

bool pp_source_is_command(const char *text)
{
    return *text == '!';
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Sizes of a shape by their words; the others are options of schedules. */
static const struct size {
    const char *word;
    size_t offset;
} SIZES[] = {
    {"pp", offsetof(struct pp_shape, ranks)},
    {"vp", offsetof(struct pp_shape, chunks)},
    {"micro_batches", offsetof(struct pp_shape, micro_batches)},
    {"splits", offsetof(struct pp_shape, splits)},
    {"pipelines", offsetof(struct pp_shape, pipelines)},
};
#define LETTERS "abcdefghijklmnopqrstuvwxyz_"

/* Finds the next word; returns its first letter, or NULL. */
static const char *next_word(const char *text, int *length)
{
    for (const char *at = text; (at = strchr(at, '{')) != NULL;) {
        const bool is_shells = at > text && at[-1] == '$';
        const size_t letters = strspn(++at, LETTERS);
        *length = (int)letters;
        if (letters > 0 && at[letters] == '}' && !is_shells)
            return at;
    }
    return NULL;
}

bool pp_source_has_words(const char *text)
{
    int length;

    return next_word(text, &length) != NULL;
}

static bool is_word(const char *text, int length, const char *name)
{
    if ((int)strlen(name) != length)
        return false;
    for (int i = 0; i < length; i++)
        if (text[i] != (name[i] == '-' ? '_' : name[i]))
            return false;
    return true;
}

static const struct size *find_size(const char *word, int length)
{
    for (size_t i = 0; i < PP_COUNT(SIZES); i++)
        if (is_word(word, length, SIZES[i].word))
            return &SIZES[i];
    return NULL;
}

static const struct pp_schedule_option *find_option(const char *word, int length)
{
    for (int i = 0; pp_schedule_option(i); i++)
        if (is_word(word, length, pp_schedule_option(i)->name))
            return pp_schedule_option(i);
    return NULL;
}

static enum pp_status unknown_word(const char *text, const char *word, int length,
                                   struct pp_error *err)
{
    pp_error_set(err, PP_EINVAL, "--schedule '%s': {%.*s} is unknown; known words:", text, length,
                 word);
    for (size_t i = 0; i < PP_COUNT(SIZES); i++)
        pp_error_append(err, " {%s}", SIZES[i].word);
    for (int i = 0; pp_schedule_option(i); i++) {
        pp_error_append(err, " {");
        for (const char *at = pp_schedule_option(i)->name; *at; at++)
            pp_error_append(err, "%c", *at == '-' ? '_' : *at);
        pp_error_append(err, "}");
    }
    return PP_EINVAL;
}

/* Takes the words of the text as sizes and options of the schedule. */
static enum pp_status take_words(const char *text, struct pp_schedule *schedule, int *chunks,
                                 struct pp_error *err)
{
    int length, options = 0;

    for (const char *word = text; (word = next_word(word, &length)) != NULL; word += length) {
        const struct size *size = find_size(word, length);
        const struct pp_schedule_option *option = find_option(word, length);
        if (!size && !option)
            return unknown_word(text, word, length, err);
        if (size && size->offset == offsetof(struct pp_shape, chunks)) {
            schedule->sizes |= PP_SIZE_CHUNKS;
            *chunks = 2;
        }
        if (size || pp_schedule_option_at(schedule, option->name) >= 0)
            continue;
        if (options == PP_SHAPE_OPTIONS)
            return pp_error_set(err, PP_EINVAL,
                                "--schedule '%s': more than %d options of schedules", text,
                                PP_SHAPE_OPTIONS);
        schedule->options[options++] = option;
    }
    return PP_OK;
}

/* Returns the value of a word; a size that is not given is 1. */
static const char *value_of(struct pp_arena *arena, const struct pp_schedule *schedule,
                            const struct pp_shape *shape, const char *word, int length)
{
    const struct size *size = find_size(word, length);
    const struct pp_schedule_option *option = find_option(word, length);

    if (size) {
        const int value = *(const int *)(const void *)((const char *)shape + size->offset);
        return pp_arena_printf(arena, "%d", value ? value : 1);
    }
    const int value = shape->option[pp_schedule_option_at(schedule, option->name)];
    if (!option->choices)
        return pp_arena_printf(arena, "%d", value);
    const char *choice = option->choices;
    for (int i = 0; i < value && strchr(choice, '|'); i++)
        choice = strchr(choice, '|') + 1;
    return pp_arena_printf(arena, "%.*s", (int)strcspn(choice, "|"), choice);
}

static const char *fill(struct pp_arena *arena, const struct outside *outside,
                        const struct pp_shape *shape)
{
    const char *from = outside->text, *filled = "";
    int length;

    for (const char *word; (word = next_word(from, &length)) != NULL; from = word + length + 1)
        filled = pp_arena_printf(arena, "%s%.*s%s", filled, (int)(word - from - 1), from,
                                 value_of(arena, outside->schedule, shape, word, length));
    return pp_arena_printf(arena, "%s%s", filled, from);
}

/* ---- programs -------------------------------------------------------------------------------- */

#define BLANKS " \t\r\n"

static enum pp_status run(struct pp_arena *arena, const char *name, struct pp_bytes *text,
                          struct pp_error *err)
{
    const struct pp_shell_command command = {.text = name + 1};

    if (!command.text[strspn(command.text, BLANKS)])
        return pp_error_set(err, PP_EINVAL, "--schedule '%s': no command after '!'", name);
    PP_TRY(pp_shell_run(arena, &command, text, err));
    if (strspn(text->data, BLANKS) < text->length)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "the command '%s' printed nothing; it prints one row of cells like "
                        "0F0,0B0 for each rank",
                        command.text);
}

enum pp_status pp_source_read(struct pp_arena *arena, const char *text, enum pp_dialect dialect,
                              struct pp_program **program, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_bytes printed;

    PP_TRY(run(scratch, text, &printed, err));
    return pp_program_parse(arena, text, printed.data, printed.length, dialect, program, err);
}

/* Refuses programs that only a file can give: they are more than the order of a training step. */
static enum pp_status check(const struct pp_program *p, struct pp_error *err)
{
    const char *fault = p->level != PP_LEVEL_COMPUTE ? "has more than F, B, I and W"
                        : p->mode != PP_MODE_TRAIN   ? "has no backward"
                        : p->versions > 1            ? "has several versions of weights"
                        : p->stages % p->ranks       ? "has ranks with more stages than others"
                                                     : NULL;

    return fault ? pp_error_set(err, PP_EPROGRAM,
                                "%s: the program %s; a text with words gives compute-only "
                                "programs, and one without words may give any",
                                p->file, fault)
                 : pp_verify(p, NULL, err);
}

/* Texts of programs, of all schedules of this process: a letter for the dialect, the filled text.
 */
static struct pp_memo *memo;

static enum pp_status open_memo(const char *text, struct pp_error *err)
{
    static struct pp_arena *arena; /* until the process ends */

    if (!arena)
        arena = pp_arena_create();
    if (!memo)
        memo = pp_memo_create(arena);
    return memo ? PP_OK : pp_error_set(err, PP_EFAIL, "--schedule '%s': %s", text, strerror(errno));
}

/* Makes the text of a program, for the memo. */
static enum pp_status make(void *context, struct pp_arena *arena, const char *key,
                           struct pp_bytes *text, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct outside *outside = context;
    const char *name = key + 1;
    struct pp_program *program;

    if (pp_source_is_command(name))
        PP_TRY(run(arena, name, text, err));
    else
        PP_TRY(pp_file_read(arena, name, &text->data, &text->length, err));
    PP_TRY(
        pp_program_parse(scratch, name, text->data, text->length, outside->dialect, &program, err));
    return check(program, err);
}

static enum pp_status program_of(const struct pp_schedule_programs *programs,
                                 const struct pp_shape *shape, const struct pp_program **program,
                                 struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct outside *outside = programs->context;
    const char *name = fill(scratch, outside, shape);
    const char *key = pp_arena_printf(scratch, "%c%s", 'a' + (int)outside->dialect, name);
    const struct pp_memo_maker maker = {make, outside};
    struct pp_bytes text;

    if (!outside->name || strcmp(outside->name, name) != 0) {
        PP_TRY(pp_memo_get(memo, scratch, key, &maker, &text, err));
        if (outside->held)
            pp_arena_destroy(outside->held);
        outside->held = pp_arena_create();
        outside->name = NULL;
        PP_TRY(pp_program_parse(outside->held, name, text.data, text.length, outside->dialect,
                                &outside->last, err));
        outside->name = outside->last->file;
    }
    *program = outside->last;
    return PP_OK;
}

static void forget(void *context)
{
    struct outside *outside = context;

    if (outside->held)
        pp_arena_destroy(outside->held);
}

enum pp_status pp_source_open(struct pp_arena *arena, const char *text, enum pp_dialect dialect,
                              const struct pp_schedule **schedule, struct pp_error *err)
{
    struct pp_schedule *own = PP_NEW(arena, struct pp_schedule);
    struct pp_schedule_programs *programs = PP_NEW(arena, struct pp_schedule_programs);
    struct outside *outside = PP_NEW(arena, struct outside);

    *own = (struct pp_schedule){
        .name = pp_arena_strdup(arena, text),
        .summary = pp_source_is_command(text) ? "printed by a command" : "in files",
        .rule = "the order of each program",
        .placement = PP_PLACE_FILE,
        .splits_backward = true, /* bounds hold for all programs */
        .has_pairs = true,
        .programs = programs,
    };
    *outside = (struct outside){.text = own->name, .dialect = dialect, .schedule = own};
    *programs = (struct pp_schedule_programs){.context = outside, .of = program_of};
    PP_TRY(take_words(text, own, &programs->chunks, err));
    PP_TRY(open_memo(text, err));
    pp_arena_defer(arena, forget, outside);
    *schedule = own;
    return PP_OK;
}
