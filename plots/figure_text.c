/* Text that fits: how much of it a line holds, and where it is broken. */
#include "plots/figure.h"

#include <string.h>

int pp_figure_characters(const struct pp_figure *figure, double length_in)
{
    const double USUAL = 0.5; /* of the height; capitals are wider */

    return figure->target->format == PP_PLOT_TERMINAL
               ? (int)length_in
               : (int)(length_in / (USUAL * figure->font_pt / 72));
}

/* How much of a line fits: up to a space, else all of what fits. */
static int fitting(const char *line, int characters)
{
    if ((int)strlen(line) <= characters)
        return (int)strlen(line);
    for (int i = characters; i > characters / 3; i--)
        if (line[i] == ' ')
            return i;
    while (characters > 1 && ((unsigned char)line[characters] & 0xc0) == 0x80) /* within UTF-8 */
        characters--;
    return characters;
}

const char *pp_figure_wrap(struct pp_arena *arena, const char *text, int characters, int lines)
{
    const char *wrapped = "";
    char *rest = pp_arena_strdup(arena, text);

    characters = characters < 8 ? 8 : characters;
    for (char *line; (line = strsep(&rest, "\n"));) {
        for (; (int)strlen(line) > characters && lines > 1; lines--) {
            const int fits = fitting(line, characters);
            wrapped = pp_arena_printf(arena, "%s%.*s\n", wrapped, fits, line);
            line += fits + (line[fits] == ' ');
        }
        const bool is_cut = (int)strlen(line) > characters;
        wrapped = pp_arena_printf(arena, "%s%.*s%s", wrapped,
                                  is_cut ? fitting(line, characters - 3) : (int)strlen(line), line,
                                  is_cut ? "..." : "");
        if (--lines <= 0)
            break;
        wrapped = pp_arena_printf(arena, "%s%s", wrapped, rest ? "\n" : "");
    }
    return wrapped;
}
