/* --x-range and --y-range. */
#include "plots/curves/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One end, up to `stop`: NAN where it is left open. */
static bool read_end(const char *text, char stop, double *value, const char **rest)
{
    char *end;

    *value = (double)NAN;
    *rest = text;
    if (*text == stop)
        return true;
    *value = strtod(text, &end);
    if (end == text || !isfinite(*value))
        return false;
    if (*end == '%') {
        *value /= 100;
        end++;
    }
    *rest = end;
    return *end == stop;
}

static bool read_range(const char *text, double *lo, double *hi)
{
    const char *rest;

    return read_end(text, ':', lo, &rest) && read_end(rest + 1, '\0', hi, &rest) &&
           !(isnan(*lo) && isnan(*hi));
}

enum pp_status pp_chart_range(const struct pp_chart *chart, const char *option, const char *text,
                              struct pp_curve_axis *axis, struct pp_error *err)
{
    double lo, hi;

    if (!text)
        return PP_OK;
    if (axis == &chart->x_axis && chart->is_categorical)
        return pp_error_set(err, PP_EINVAL, "%s %s: %s is text, which has no range", option, text,
                            chart->table.columns[chart->x]);
    if (!read_range(text, &lo, &hi))
        return pp_error_set(err, PP_EINVAL,
                            "%s %s: LO:HI is expected in the numbers of the column, such as 0:0.5, "
                            "0:50%%, 8: or :64",
                            option, text);
    lo = isnan(lo) ? axis->lo / axis->scale : lo;
    hi = isnan(hi) ? axis->hi / axis->scale : hi;
    if (!(lo < hi))
        return pp_error_set(err, PP_EINVAL,
                            "%s %s: %g to %g; the first must be less than the other", option, text,
                            lo, hi);
    if (axis->log_base > 0 && lo <= 0)
        return pp_error_set(err, PP_EINVAL,
                            "%s %s: the axis is logarithmic and begins above 0, not at %g", option,
                            text, lo);
    axis->lo = lo * axis->scale;
    axis->hi = hi * axis->scale;
    if (!(axis->log_base > 0))
        axis->tics = NULL;
    return PP_OK;
}
