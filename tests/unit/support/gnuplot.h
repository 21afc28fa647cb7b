/* tests/unit/support/gnuplot.h — whether the gnuplot that draws pictures is on PATH. */
#ifndef PP_TESTS_UNIT_SUPPORT_GNUPLOT_H
#define PP_TESTS_UNIT_SUPPORT_GNUPLOT_H

#include <stdbool.h>
#include <stdlib.h>

static inline bool has_gnuplot(void)
{
    return system("command -v gnuplot >/dev/null 2>&1") == 0;
}

#endif
