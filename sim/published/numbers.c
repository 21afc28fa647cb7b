/* Numbers of cells: what they must lie between, and why one is refused. */
#include "sim/published/published.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond these no machine and no run exists. Others are whole numbers: pp_measure_int(). */
static const struct range {
    enum pp_measure_column column;
    double least, most;
} RANGES[] = {
    {PP_COL_YEAR, 1990, 2100},        {PP_COL_PARAMS_B, 1e-6, 1e6},
    {PP_COL_INTRA, 1e-3, 1e6},        {PP_COL_INTER, 1e-3, 1e6},
    {PP_COL_STEP_S, 1e-6, 1e8},       {PP_COL_TOKENS_PER_S, 1e-6, 1e12},
    {PP_COL_MODEL_TFLOPS, 1e-6, 1e6}, {PP_COL_HFU_TFLOPS, 1e-6, 1e6},
    {PP_COL_MFU, 1e-6, 100},          {PP_COL_MEM_GIB, 1e-3, 1e6},
};

static const struct range *range_of(enum pp_measure_column column)
{
    for (size_t i = 0; i < PP_COUNT(RANGES); i++)
        if (RANGES[i].column == column)
            return &RANGES[i];
    return NULL;
}

/* Decimal digits: neither "inf" nor "0x10". A year may have a month after it: "2024-06". */
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
    const struct range *range = range_of(column);
    const double number = read_number(row->cell[column], column);

    return number > 0 && isfinite(number) &&
                   (!range || (number >= range->least && number <= range->most))
               ? number
               : (double)NAN;
}

static bool is_refused(const struct pp_measurement *row, enum pp_measure_column column)
{
    return *row->cell[column] && isnan(pp_measure_number(row, column));
}

static bool is_metric(enum pp_measure_column column)
{
    return column >= PP_COL_STEP_S && column <= PP_COL_MEM_GIB;
}

enum pp_status pp_measure_check_numbers(const struct pp_measurement *row, struct pp_error *err)
{
    for (size_t i = 0; i < PP_COUNT(RANGES); i++) {
        const struct range *r = &RANGES[i];
        if (!is_metric(r->column) && is_refused(row, r->column))
            return pp_error_set(err, PP_EINVAL, "%s \"%.40s\" is no number from %g to %g",
                                pp_measure_columns[r->column], row->cell[r->column], r->least,
                                r->most);
    }
    return PP_OK;
}

const char *pp_measure_refused(struct pp_arena *arena, const struct pp_measurement *row)
{
    const char *text = NULL;

    for (size_t i = 0; i < PP_COUNT(RANGES); i++) {
        const struct range *r = &RANGES[i];
        if (is_metric(r->column) && is_refused(row, r->column))
            text =
                pp_arena_printf(arena, "%s%s%s \"%.40s\" is no number from %g to %g",
                                text ? text : "", text ? "; " : "", pp_measure_columns[r->column],
                                row->cell[r->column], r->least, r->most);
    }
    return text;
}
