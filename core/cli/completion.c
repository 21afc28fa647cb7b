/* Completions of shells, written from the table of options: bash, zsh, fish. */
#include "core/cli/table.h"

#include <ctype.h>

/* Words that a shell may offer after an option. */
enum offer { OFFER_NOTHING, OFFER_CHOICES, OFFER_FILES };
typedef const char *name_of_fn(int i);

static enum offer offer_of(const struct pp_option *option)
{
    if (option->type == PP_OPTION_CHOICE || option->name_of)
        return OFFER_CHOICES;
    if (option->type != PP_OPTION_STRING)
        return OFFER_NOTHING;
    /* A text may be a file unless its argument is named for something else. */
    const char *argument = option->argument ? option->argument : "FILE";
    return strstr(argument, "FILE") || strstr(argument, "DIR") || strstr(argument, "PATH")
               ? OFFER_FILES
           : option->offered ? OFFER_CHOICES
                             : OFFER_NOTHING;
}

static void print_identifier(const struct pp_cli *cli, FILE *out)
{
    for (const char *letter = cli->program; *letter; letter++)
        fputc(isalnum((unsigned char)*letter) ? *letter : '_', out);
}

/* Prints text for single quotes; `special` characters get a backslash. */
static void print_quoted(FILE *out, const char *text, const char *special)
{
    for (; *text; text++) {
        if (strchr(special, *text))
            fprintf(out, "\\%c", *text);
        else if (*text == '\'')
            fputs("'\\''", out);
        else if (*text == '\n')
            fputc(' ', out);
        else
            fputc(*text, out);
    }
}

/* Prints names separated by blanks; none contains a blank or a quote. */
static void print_names(FILE *out, name_of_fn *name_of)
{
    for (int i = 0; name_of && name_of(i); i++)
        fprintf(out, "%s%s", i ? " " : "", name_of(i));
}

static void print_choices(FILE *out, const struct pp_option *option)
{
    if (option->type != PP_OPTION_CHOICE)
        print_names(out, option->name_of ? option->name_of : option->offered);
    else
        for (const char *letter = option->choices; *letter; letter++)
            fputc(*letter == '|' ? ' ' : *letter, out);
}

static void print_commands(const struct pp_cli *cli, FILE *out, const char *separator)
{
    for (int i = 0; i < cli->command_count; i++)
        fprintf(out, "%s%s", i ? separator : "", cli->commands[i].name);
}

static bool is_help(const struct pp_command *command)
{
    return !strcmp(command->name, "help");
}

/* Prints operands of a command other than files; those of help are commands, topics, formats. */
static void print_operands(const struct pp_cli *cli, int command, FILE *out)
{
    print_names(out, cli->commands[command].offered);
    if (!is_help(&cli->commands[command]))
        return;
    print_commands(cli, out, " ");
    for (const struct pp_topic *topic = cli->topics; topic && topic->name; topic++)
        fprintf(out, " %s", topic->name);
    fputs(" man bash zsh fish", out);
}

/* Is true if operands of the command are files. */
static bool takes_operands(const struct pp_command *command)
{
    return command->max_operands != 0 && !is_help(command);
}

/* ---- bash ------------------------------------------------------------------------------------ */

/* Prints "--name|-name|-o". */
static void bash_pattern(FILE *out, const struct pp_option *option)
{
    const char *letter = pp_option_letter(option);

    fprintf(out, "--%s|-%s", option->name, option->name);
    if (letter)
        fprintf(out, "|-%s", letter);
    for (const char *const *alias = option->aliases; alias && *alias; alias++)
        if ((*alias)[1])
            fprintf(out, "|--%s|-%s", *alias, *alias);
}

static void bash_command(const struct pp_cli *cli, int command, FILE *out)
{
    fprintf(out, "    %s)\n        case $prev in\n", cli->commands[command].name);
    for (int i = 0; i < cli->option_count; i++) {
        const struct pp_option *option = &cli->options[i];

        if (!pp_option_is_in(option, command) || !pp_option_has_argument(option))
            continue;
        fputs("        ", out);
        bash_pattern(out, option);
        fputs(") ", out);
        if (offer_of(option) == OFFER_CHOICES) {
            fputs("COMPREPLY=($(compgen -W '", out);
            print_choices(out, option);
            fputs("' -- \"$cur\")); ", out);
        } else if (offer_of(option) == OFFER_FILES) {
            fputs("compopt -o filenames; COMPREPLY=($(compgen -W '", out);
            print_names(out, option->offered);
            fputs("' -f -- \"$cur\")); ", out);
        }
        fputs("return ;;\n", out);
    }
    fputs("        esac\n        options='-h --help --version", out);
    for (int i = 0; i < cli->option_count; i++)
        if (pp_option_is_in(&cli->options[i], command))
            fprintf(out, " %s%s", pp_option_dashes(cli->options[i].name), cli->options[i].name);
    fputs("'\n        names='", out);
    print_operands(cli, command, out);
    fprintf(out, "'\n        files=%d ;;\n", takes_operands(&cli->commands[command]));
}

static void print_bash(const struct pp_cli *cli, FILE *out)
{
    fprintf(out, "# bash completion for %s\n_", cli->program);
    print_identifier(cli, out);
    fprintf(out,
            "()\n{\n"
            "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
            "    local command=%s options= names= files=0\n"
            "    COMPREPLY=()\n"
            "    # bash cuts --name=value into three words\n"
            "    if [[ $cur == '=' ]]; then\n"
            "        cur=\n"
            "    elif [[ $prev == '=' && COMP_CWORD -ge 2 ]]; then\n"
            "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
            "    fi\n"
            "    if [[ COMP_CWORD -gt 1 ]]; then\n"
            "        case ${COMP_WORDS[1]} in\n        ",
            cli->commands[0].name);
    print_commands(cli, out, "|");
    fputs(") command=${COMP_WORDS[1]} ;;\n        esac\n    fi\n    case $command in\n", out);
    for (int i = 0; i < cli->command_count; i++)
        bash_command(cli, i, out);
    fputs("    esac\n"
          "    if [[ $cur == -* ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
          "    elif [[ COMP_CWORD -eq 1 ]]; then\n"
          "        COMPREPLY=($(compgen -W '",
          out);
    print_commands(cli, out, " ");
    fputs("' -- \"$cur\"))\n"
          "    elif [[ $files -eq 1 ]]; then\n"
          "        compopt -o filenames\n"
          "        COMPREPLY=($(compgen -W \"$names\" -f -- \"$cur\"))\n"
          "    else\n"
          "        COMPREPLY=($(compgen -W \"$names\" -- \"$cur\"))\n"
          "    fi\n}\ncomplete -F _",
          out);
    print_identifier(cli, out);
    fprintf(out, " %s\n", cli->program);
}

/* ---- zsh ------------------------------------------------------------------------------------- */

static void zsh_option(FILE *out, const struct pp_option *option)
{
    struct pp_option_text text;
    const char *letter = pp_option_letter(option);
    const char *spellings[] = {option->name, letter};

    pp_option_describe(option, &text);
    for (int i = 0; i < 2; i++) {
        const char *name = spellings[i];

        if (!name || (i == 1 && !strcmp(name, option->name)))
            continue;
        fprintf(out, "            '*%s%s", pp_option_dashes(name), name);
        if (pp_option_has_argument(option) && name[1])
            fputc('=', out);
        fputc('[', out);
        print_quoted(out, text.bytes, "[]\\:");
        fputc(']', out);
        if (pp_option_has_argument(option)) {
            fputc(':', out);
            print_quoted(out, option->argument ? option->argument : option->name, "[]\\:");
            fputc(':', out);
        }
        if (offer_of(option) == OFFER_CHOICES) {
            fputc('(', out);
            print_choices(out, option);
            fputc(')', out);
        } else if (pp_option_has_argument(option)) {
            fputs(offer_of(option) == OFFER_FILES ? "_files" : " ", out);
        }
        fputs("'\n", out);
    }
}

static void print_zsh(const struct pp_cli *cli, FILE *out)
{
    fprintf(out, "#compdef %s\n# zsh completion for %s\n\nlocal -a specs commands\n", cli->program,
            cli->program);
    fprintf(out, "local command=%s\ncommands=(\n", cli->commands[0].name);
    for (int i = 0; i < cli->command_count; i++) {
        fprintf(out, "    '%s:", cli->commands[i].name);
        print_quoted(out, cli->commands[i].summary, "\\:");
        fputs("'\n", out);
    }
    fputs(")\nif (( CURRENT > 2 )); then\n    case $words[2] in\n        ", out);
    print_commands(cli, out, "|");
    fputs(") command=$words[2] ;;\n    esac\nfi\ncase $command in\n", out);
    for (int i = 0; i < cli->command_count; i++) {
        fprintf(out, "    %s)\n        specs=(\n", cli->commands[i].name);
        for (int j = 0; j < cli->option_count; j++)
            if (pp_option_is_in(&cli->options[j], i))
                zsh_option(out, &cli->options[j]);
        fputs("            '-h[one screen of help]' '--help[all help]' '--version[the version]'\n",
              out);
        if (takes_operands(&cli->commands[i]))
            fputs("            '*:file:_files'\n", out);
        fputs("        ) ;;\n", out);
    }
    fputs("esac\n"
          "if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
          "    _describe command commands\n"
          "else\n"
          "    if [[ $words[2] == $command ]]; then\n"
          "        shift words\n"
          "        (( CURRENT-- ))\n"
          "    fi\n"
          "    _arguments $specs\n"
          "fi\n",
          out);
}

/* ---- fish ------------------------------------------------------------------------------------ */

static void fish_option(const struct pp_cli *cli, const struct pp_option *option, FILE *out)
{
    struct pp_option_text text;
    const char *letter = pp_option_letter(option);

    fprintf(out, "complete -c %s -n 'contains -- (__", cli->program);
    print_identifier(cli, out);
    fputs("_command)", out);
    for (int i = 0; i < cli->command_count; i++)
        if (pp_option_is_in(option, i))
            fprintf(out, " %s", cli->commands[i].name);
    fputc('\'', out);
    if (option->name[1])
        fprintf(out, " -l %s", option->name);
    if (letter || !option->name[1])
        fprintf(out, " -s %s", letter ? letter : option->name);
    if (pp_option_has_argument(option))
        fputs(offer_of(option) == OFFER_FILES ? " -r -F" : " -x", out);
    if (offer_of(option) == OFFER_CHOICES || option->offered) {
        fputs(" -a '", out);
        print_choices(out, option);
        fputc('\'', out);
    }
    pp_option_describe(option, &text);
    fputs(" -d '", out);
    print_quoted(out, text.bytes, "'\\");
    fputs("'\n", out);
}

static void print_fish(const struct pp_cli *cli, FILE *out)
{
    fprintf(out, "# fish completion for %s\nfunction __", cli->program);
    print_identifier(cli, out);
    fputs("_command\n    set -l words (commandline -opc)\n    if contains -- \"$words[2]\" ", out);
    print_commands(cli, out, " ");
    fprintf(out, "\n        echo $words[2]\n    else\n        echo %s\n    end\nend\n",
            cli->commands[0].name);
    for (int i = 0; i < cli->command_count; i++) {
        fprintf(out, "complete -c %s -f -n '__fish_is_first_token' -a %s -d '", cli->program,
                cli->commands[i].name);
        print_quoted(out, cli->commands[i].summary, "'\\");
        fputs("'\n", out);
        if (takes_operands(&cli->commands[i]))
            continue;
        fprintf(out, "complete -c %s -f -n 'contains -- (__", cli->program);
        print_identifier(cli, out);
        fprintf(out, "_command) %s'\n", cli->commands[i].name);
    }
    fprintf(out, "complete -c %s -s h -d 'one screen of help'\n", cli->program);
    fprintf(out, "complete -c %s -l help -d 'all help'\n", cli->program);
    fprintf(out, "complete -c %s -l version -d 'the version'\n", cli->program);
    for (int i = 0; i < cli->option_count; i++)
        fish_option(cli, &cli->options[i], out);
}

void pp_options_completion(const struct pp_cli *cli, enum pp_shell shell, FILE *out)
{
    static void (*const print[])(const struct pp_cli *, FILE *) = {
        [PP_SHELL_BASH] = print_bash,
        [PP_SHELL_ZSH] = print_zsh,
        [PP_SHELL_FISH] = print_fish,
    };

    print[shell](cli, out);
}
