/* Builds the command line of a row, and its text for a shell. */
#include "core/cli/options.h"
#include "sim/published/parts.h"

#include <inttypes.h>
#include <string.h>

void pp_measure_note(struct pp_measure_writer *w, const char *note)
{
    if (w->command->note_count < PP_MEASURE_NOTES)
        w->command->notes[w->command->note_count++] = note;
}

void pp_measure_infer(struct pp_measure_writer *w, const char *option, int64_t value,
                      const char *reason)
{
    const char *before = w->command->inferred;
    const char *text = pp_arena_printf(w->arena, "%s %" PRId64, option, value);

    w->command->inferred = before ? pp_arena_printf(w->arena, "%s, %s", before, text) : text;
    pp_measure_note(
        w, pp_arena_printf(w->arena, "%s: %s; the errors of this row count apart", text, reason));
}

void pp_measure_put_word(struct pp_measure_writer *w, const char *word)
{
    if (w->command->argc < PP_MEASURE_WORDS)
        w->command->argv[w->command->argc++] = pp_arena_strdup(w->arena, word);
}

const char *pp_measure_given(const struct pp_measure_writer *w, const char *option)
{
    char **argv = w->command->argv;

    for (int i = 0; i + 1 < w->command->argc; i++)
        if (!strncmp(argv[i], "--", 2) && !strcmp(argv[i] + 2, option))
            return argv[i + 1];
    return NULL;
}

bool pp_measure_is_void(const struct pp_measure_writer *w, const char *option)
{
    const bool is_state =
        !strcmp(option, "zero") || !strcmp(option, "shard") || !strcmp(option, "secondary");

    return ((!strcmp(option, "sequence-parallel") || !strcmp(option, "tp-overlap")) &&
            w->tp == 1) ||
           ((!strcmp(option, "ep-dispatch") || !strcmp(option, "etp")) && w->ep == 1) ||
           (is_state && w->dp * w->cp == 1);
}

void pp_measure_put(struct pp_measure_writer *w, const char *option, const char *value)
{
    if (pp_measure_given(w, option))
        return;
    pp_measure_put_word(w, pp_arena_printf(w->arena, "--%s", option));
    if (value)
        pp_measure_put_word(w, value);
}

void pp_measure_put_int(struct pp_measure_writer *w, const char *option, int64_t value)
{
    pp_measure_put(w, option, pp_arena_printf(w->arena, "%" PRId64, value));
}

const char *pp_measure_command_lines(struct pp_arena *arena,
                                     const struct pp_measure_command *command, int width,
                                     int indent)
{
    const char *words[PP_MEASURE_WORDS + 1];
    int count = 0;

    for (int i = 0; i < command->argc; i++) {
        const bool is_value = i > 0 && !strncmp(command->argv[i - 1], "--", 2) &&
                              strncmp(command->argv[i], "--", 2) != 0;
        const char *word = pp_command_quoted(arena, command->argv[i]);
        if (is_value) /* an option and its value stay on one line */
            words[count - 1] = pp_arena_printf(arena, "%s %s", words[count - 1], word);
        else
            words[count++] = word;
    }
    words[count] = NULL;
    return pp_command_lines(arena, words, width, indent);
}
