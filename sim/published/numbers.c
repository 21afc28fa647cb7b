/* Reads numbers of cells, and refuses those beyond their columns' ranges. */
#include "sim/published/published.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const pp_measure_columns[PP_MEASURE_COLUMNS] = {
#define PP_COLUMN(name, text, least, most) text,
#include "sim/published/columns.h"
#undef PP_COLUMN
};

static const struct range {
    double least, most; /* 0: any number */
} RANGES[] = {
#define PP_COLUMN(name, text, least, most) {least, most},
#include "sim/published/columns.h"
#undef PP_COLUMN
};

/* Reads decimal digits: neither "inf" nor "0x10". A month may follow a year: "2024-06". */
static double read_number(const char *cell, enum pp_measure_column column)
{
    char *end;
    const double number = strtod(cell, &end);
    const size_t length = (size_t)(end - cell);

    if (length == 0 || strspn(cell, "+-.eE0123456789") < length ||
        (*end && !(column == PP_COL_YEAR && strchr("-/", *end))))
        return (double)NAN;
    return number;
}

enum pp_status pp_measure_int(const struct pp_measurement *row, enum pp_measure_column column,
                              int64_t most, int64_t fallback, int64_t *value, struct pp_error *err)
{
    const char *cell = row->cell[column];

    if (!*cell) {
        *value = fallback;
        return PP_OK;
    }
    const double number = read_number(cell, column);
    if (!(number >= 1 && number <= (double)most) || number != floor(number))
        return pp_error_set(err, PP_EINVAL, "%s \"%.40s\" is no whole number from 1 to %" PRId64,
                            pp_measure_columns[column], cell, most);
    *value = (int64_t)number;
    return PP_OK;
}

double pp_measure_number(const struct pp_measurement *row, enum pp_measure_column column)
{
    const struct range r = RANGES[column];
    const double number = read_number(row->cell[column], column);

    return number > 0 && isfinite(number) && number >= r.least && (r.most == 0 || number <= r.most)
               ? number
               : (double)NAN;
}

/* Returns why a cell of a metric, or of the configuration, is refused; NULL if it is not. */
static const char *refusal_of(struct pp_arena *arena, const struct pp_measurement *row, int column,
                              bool of_metric)
{
    const bool is_metric = column >= PP_COL_STEP_S && column <= PP_COL_MEM_BYTES;
    const char *cell = row->cell[column];

    if (is_metric != of_metric || RANGES[column].most == 0 || !*cell ||
        !isnan(pp_measure_number(row, (enum pp_measure_column)column)))
        return NULL;
    return pp_arena_printf(arena, "%s \"%.40s\" is no number from %g to %g",
                           pp_measure_columns[column], cell, RANGES[column].least,
                           RANGES[column].most);
}

enum pp_status pp_measure_check_numbers(struct pp_arena *arena, const struct pp_measurement *row,
                                        struct pp_error *err)
{
    for (int i = 0; i < PP_MEASURE_COLUMNS; i++) {
        const char *why = refusal_of(arena, row, i, false);
        if (why)
            return pp_error_set(err, PP_EINVAL, "%s", why);
    }
    return PP_OK;
}

const char *pp_measure_refused(struct pp_arena *arena, const struct pp_measurement *row)
{
    const char *text = NULL;

    for (int i = 0; i < PP_MEASURE_COLUMNS; i++) {
        const char *why = refusal_of(arena, row, i, true);
        if (why)
            text = text ? pp_arena_printf(arena, "%s; %s", text, why) : why;
    }
    return text;
}
