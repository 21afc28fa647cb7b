/* Finds options by their names, and the command among the words of a command line. */
#include "core/cli/table.h"

#include <ctype.h>

static bool is_name(const char *name, const char *typed, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (name[i] != (typed[i] == '_' ? '-' : typed[i]) && name[i] != typed[i])
            return false;
    return name[length] == '\0';
}

bool pp_cli_is_option_name(const struct pp_option *option, const char *typed, size_t length)
{
    const char *letter = length == 1 ? pp_option_letter(option) : NULL;

    if (is_name(option->name, typed, length) || (letter && is_name(letter, typed, length)))
        return true;
    for (const char *const *alias = option->aliases; alias && *alias; alias++)
        if (is_name(*alias, typed, length))
            return true;
    return false;
}

int pp_cli_option(const struct pp_cli *cli, int command, const char *name, size_t length)
{
    for (int i = 0; i < cli->option_count; i++)
        if (pp_option_is_in(&cli->options[i], command) &&
            pp_cli_is_option_name(&cli->options[i], name, length))
            return i;
    return -1;
}

static bool is_number(const char *text)
{
    text += *text == '-';
    return isdigit((unsigned char)text[0]) || (text[0] == '.' && isdigit((unsigned char)text[1]));
}

bool pp_cli_is_option(const char *word)
{
    return word[0] == '-' && word[1] && !is_number(word);
}

/* Moves from an option to the next word that is not its argument. */
static int skip_option(const struct pp_cli *cli, int argc, char *const *argv, int at)
{
    const char *name = argv[at] + 1 + (argv[at][1] == '-');
    const size_t length = strcspn(name, "=");
    const int own = pp_cli_option(cli, 0, name, length),
              index = own >= 0 ? own : pp_cli_option(cli, -1, name, length);

    at++;
    if (index < 0 || name[length] == '=' || !pp_option_has_argument(&cli->options[index]))
        return at;
    if (!pp_option_takes_words(&cli->options[index], argv[at - 1]))
        return at + 1;
    while (at < argc && argv[at][0] != '-')
        at++;
    return at;
}

int pp_cli_find_command(const struct pp_cli *cli, int argc, char *const *argv)
{
    int at = 1;

    while (at < argc && pp_cli_is_option(argv[at]) && strcmp(argv[at], "--") != 0)
        at = skip_option(cli, argc, argv, at);
    return at < argc && pp_cli_command(cli, argv[at]) >= 0 ? at : 0;
}
