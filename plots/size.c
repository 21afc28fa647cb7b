/* Sizes: of a picture as typed, of a symbol, of text and its lines. */
#include "plots/figure.h"

#include <string.h>

enum pp_status pp_plot_size_parse(const char *text, struct pp_plot_target *target,
                                  struct pp_error *err)
{
    const double MIN_WIDTH_IN = 2, MIN_HEIGHT_IN = 1.5, MAX_IN = 100, CM = 1 / 2.54;
    char unit[4] = "";
    double width, height;
    int end = -1;

    if (text == NULL)
        return PP_OK;
    if (sscanf(text, "%lfx%lf%n%3s", &width, &height, &end, unit) >= 2 && end > 0 &&
        strlen(text) == (size_t)end + strlen(unit) &&
        (!*unit || !strcmp(unit, "in") || !strcmp(unit, "cm"))) {
        const double factor = !strcmp(unit, "cm") ? CM : 1;
        target->width_in = width * factor;
        target->height_in = height * factor;
        if (target->width_in >= MIN_WIDTH_IN - 0.01 && target->width_in <= MAX_IN &&
            target->height_in >= MIN_HEIGHT_IN - 0.01 && target->height_in <= MAX_IN)
            return PP_OK;
    }
    return pp_error_set(err, PP_EINVAL,
                        "--size %s: WIDTHxHEIGHT is expected, such as 6x4 (inches) or 15x10cm, "
                        "from %gx%g to %gx%g inches",
                        text, MIN_WIDTH_IN, MIN_HEIGHT_IN, MAX_IN, MAX_IN);
}

double pp_figure_point(const struct pp_figure *figure, double size)
{
    const double SVG_POINT = 0.61; /* symbols of an SVG are 8.2 pt across */

    return figure->target->format == PP_PLOT_SVG ? SVG_POINT * size : size;
}

double pp_figure_character_in(const struct pp_figure *figure)
{
    return 0.58 * figure->font_pt / 72;
}

int pp_figure_characters(const struct pp_figure *figure, double length_in)
{
    const double USUAL = 0.5; /* of the font's size; capitals are wider */

    return figure->target->format == PP_PLOT_TERMINAL
               ? (int)length_in
               : (int)(length_in / (USUAL * figure->font_pt / 72));
}

/* Characters of a line that fit: up to a space, else as many as fit. */
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
