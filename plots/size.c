/* Sizes: that of a picture as typed, of a symbol, of a character. */
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
