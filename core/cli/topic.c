/* The command help: topics, commands, the man page, completions. */
#include "core/cli/table.h"
#include "core/text/terminal.h"

enum { SHELLS_COUNT = 3 };
static const char *const SHELLS[SHELLS_COUNT] = {"bash", "zsh", "fish"};

static int topic_count(const struct pp_cli *cli)
{
    int count = 0;

    while (cli->topics && cli->topics[count].name)
        count++;
    return count;
}

static const struct pp_topic *topic_by_name(const struct pp_cli *cli, const char *name)
{
    for (int i = 0; i < topic_count(cli); i++)
        if (!strcmp(cli->topics[i].name, name))
            return &cli->topics[i];
    return NULL;
}

/* Prints a topic, with a blank line between paragraphs and around literal lines. */
static void explain(const struct pp_topic *topic, FILE *out, int width)
{
    bool was_line = false;

    fprintf(out, "%s: ", topic->name);
    pp_text_wrap(out, width, (int)strlen(topic->name) + 2, 0, topic->title);
    for (const char *const *line = topic->lines; *line; line++) {
        const bool is_line = **line == ' ';
        if (!(is_line && was_line))
            fputc('\n', out);
        if (is_line)
            fprintf(out, "%s\n", *line);
        else
            pp_text_wrap(out, width, 0, 0, *line);
        was_line = is_line;
    }
    if (topic->more)
        topic->more(out, width);
}

static enum pp_status unknown_topic(const struct pp_cli *cli, const char *topic,
                                    struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const int topics = topic_count(cli);
    const char **names =
        PP_ARRAY(scratch, const char *, cli->command_count + topics + SHELLS_COUNT + 2);
    int count = 0;

    for (int i = 0; i < cli->command_count; i++)
        names[count++] = cli->commands[i].name;
    for (int i = 0; i < topics; i++)
        if (pp_cli_command(cli, cli->topics[i].name) < 0)
            names[count++] = cli->topics[i].name;
    for (int i = 0; i < SHELLS_COUNT; i++)
        names[count++] = SHELLS[i];
    names[count] = "man";
    pp_error_set(err, PP_EINVAL, "help %s: no such command%s or option", topic,
                 topics ? ", topic" : "");
    if (pp_cli_name_other_command(cli, topic, err) || pp_cli_name_other_option(cli, topic, err))
        return PP_EINVAL;
    for (int i = 0; i < cli->command_count; i++)
        for (int k = 0; cli->commands[i].offered && cli->commands[i].offered(k); k++)
            if (pp_same_name(cli->commands[i].offered(k), topic))
                return pp_error_append(err, "; did you mean \"%s %s %s\"?", cli->program,
                                       cli->commands[i].name, cli->commands[i].offered(k));
    return pp_suggest_or_list(err, topic, names);
}

static enum pp_status print_topic(const struct pp_cli *cli, const char *topic, FILE *out, int width,
                                  struct pp_error *err)
{
    if (topic && !strcmp(topic, "man")) {
        pp_options_man(cli, PP_VERSION, out);
        return PP_OK;
    }
    for (int i = 0; topic && i < SHELLS_COUNT; i++)
        if (!strcmp(topic, SHELLS[i])) {
            pp_options_completion(cli, (enum pp_shell)i, out);
            return PP_OK;
        }
    const struct pp_topic *explained = topic ? topic_by_name(cli, topic) : NULL;
    const int command = topic ? pp_cli_command(cli, topic) : -1;
    if (topic && command < 0 && !explained)
        return pp_option_help(cli, topic, out, width) ? PP_OK : unknown_topic(cli, topic, err);
    if (explained)
        explain(explained, out, width);
    if (explained && command < 0)
        return PP_OK;
    if (explained)
        fputc('\n', out);
    if (command >= 0)
        pp_options_short_help(cli, command, out, width);
    else
        pp_options_help(cli, command, out, width);
    return PP_OK;
}

enum pp_status pp_options_answer(const struct pp_parsed *parsed, FILE *out, int width,
                                 bool *is_answered, struct pp_error *err)
{
    const struct pp_cli *cli = parsed->cli;
    const char *first = parsed->operand_count ? parsed->operands[0] : NULL;
    const bool wants_help = parsed->wants_short_help || parsed->wants_help;

    *is_answered = true;
    if (wants_help && !parsed->has_command && first && topic_by_name(cli, first))
        return print_topic(cli, first, out, width, err); /* "--help tiers" */
    if (parsed->wants_short_help)
        pp_options_short_help(cli, parsed->has_command ? parsed->command : -1, out, width);
    else if (parsed->wants_help)
        pp_options_help(cli, parsed->command == 0 ? -1 : parsed->command, out, width);
    else if (!strcmp(cli->commands[parsed->command].name, "help"))
        return print_topic(cli, first, out, width, err);
    else
        *is_answered = false;
    return PP_OK;
}
