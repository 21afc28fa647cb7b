/* Suggestions for misspelled words: the nearest name of a list. */
#include "core/cli/table.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

enum { WORD_BYTES = 64, PREFIX_MIN = 3, PART_MIN = 2 };

/* Copies in lower case without dashes and underscores, cut at WORD_BYTES - 1; returns length. */
static int fold(const char *text, char folded[WORD_BYTES])
{
    int length = 0;

    for (; *text && length < WORD_BYTES - 1; text++)
        if (*text != '-' && *text != '_')
            folded[length++] = (char)tolower((unsigned char)*text);
    folded[length] = '\0';
    return length;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Returns the number of edits (insert, delete, replace, swap of neighbours) that turn a into b.
 * Optimal string alignment with three rows of the matrix. */
static int distance(const char *a, int a_length, const char *b, int b_length)
{
    int rows[3][WORD_BYTES];

    for (int j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (int i = 1; i <= a_length; i++) {
        int *now = rows[i % 3], *before = rows[(i + 2) % 3], *swapped = rows[(i + 1) % 3];

        now[0] = i;
        for (int j = 1; j <= b_length; j++) {
            const int change = before[j - 1] + (a[i - 1] != b[j - 1]);

            now[j] = least(change, 1 + least(before[j], now[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], swapped[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

/* Returns the edits that are allowed: a third of the word, but never all of a short one. */
static int tolerance(int length)
{
    return length < 2 ? 0 : length < 5 ? 1 : length < 9 ? 2 : 3;
}

static bool is_dash(char c)
{
    return c == '-' || c == '_';
}

/* Is true for a name that a longer word begins or ends with, up to a dash: gpus of num-gpus. */
static bool is_part(const char *name, const char *word)
{
    const size_t length = strlen(name), most = strlen(word);

    if (length < PART_MIN || most < length + 2)
        return false;
    return (is_dash(word[length]) && !strncasecmp(word, name, length)) ||
           (is_dash(word[most - length - 1]) && !strcasecmp(word + most - length, name));
}

const char *pp_suggest(const char *word, const char *const *names)
{
    char wanted[WORD_BYTES], name[WORD_BYTES];
    const int length = fold(word, wanted);
    const char *best = NULL;
    int best_score = 2 * tolerance(length) + 2;

    for (; *names && length > 0; names++) {
        const int name_length = fold(*names, name);
        const bool is_prefix = length >= PREFIX_MIN && !strncmp(name, wanted, (size_t)length);
        const int edits = distance(wanted, length, name, name_length);
        /* In halves of an edit: "llama3" begins llama3-8b, but llama-30b only without its dash. */
        const bool is_near = is_prefix || is_part(*names, word);
        const int most = !is_near ? INT_MAX : strncmp(*names, word, strlen(word)) ? 3 : 2;
        const int score = least(2 * edits, most);

        /* "ab" must not become "cd" by two edits, nor "pp" the unrelated "x" by one of each. */
        if (score < best_score && (is_near || edits < name_length)) {
            best = *names;
            best_score = score;
        }
    }
    return best;
}

enum pp_status pp_suggest_or_list(struct pp_error *err, const char *word, const char *const *names)
{
    const char *near = pp_suggest(word, names);

    if (near)
        return pp_error_append(err, "; did you mean %s?", near);
    for (int i = 0; names[i]; i++)
        pp_error_append(err, "%s%s",
                        i == 0         ? "; known are "
                        : names[i + 1] ? ", "
                                       : " and ",
                        names[i]);
    return err->status;
}

const char *pp_cli_suggest_value(struct pp_arena *arena, const struct pp_parsed *parsed,
                                 const char *word, bool may_differ)
{
    const struct pp_cli *cli = parsed->cli;
    const char **names = NULL;
    int count = 0, capacity = 0;

    for (int i = 0; i < cli->option_count; i++) {
        const struct pp_option *option = &cli->options[i];
        const char *name;
        if (!option->offered || !pp_option_is_in(option, parsed->command))
            continue;
        const char *before = option->takes_list ? parsed->values[i].text : NULL;
        for (int k = 0; (name = option->offered(k)) != NULL; k++) {
            if (pp_same_name(name, word))
                return pp_arena_printf(arena, "%s%s %s%s%s", pp_option_dashes(option->name),
                                       option->name, before ? before : "", before ? "," : "", name);
            *PP_PUSH(arena, names, count, capacity) = name;
        }
    }
    *PP_PUSH(arena, names, count, capacity) = NULL;
    const char *near = may_differ ? pp_suggest(word, names) : NULL;
    return near ? pp_cli_suggest_value(arena, parsed, near, false) : NULL;
}

bool pp_same_name(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a == '-' || *a == '_')
            a++;
        while (*b == '-' || *b == '_')
            b++;
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (*a == '\0')
            return true;
    }
}

bool pp_name_fits(const char *pattern, const char *name)
{
    const char *star = NULL, *retry = NULL;

    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            retry = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}
