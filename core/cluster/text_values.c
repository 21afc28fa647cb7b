/* Values of a cluster text: numbers with units, sizes, links. */
#include "core/cluster/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SIZE = 1 << 20, MAX_LATENCY_S = 10, INT_BYTES = 16, NUMBER_BYTES = 48 };

enum pp_status pp_cluster_count(const char *value, int high, int *count, struct pp_error *err)
{
    int64_t number;

    PP_TRY(pp_units_parse_int(value, 1, high, &number, err));
    *count = (int)number;
    return PP_OK;
}

enum pp_status pp_cluster_quantity(const char *value, enum pp_unit unit, double *number,
                                   struct pp_error *err)
{
    PP_TRY(pp_units_parse(value, unit, number, err));
    if (!(*number > 0) || !isfinite(*number) || *number > 1e18)
        return pp_error_set(err, PP_EINVAL,
                            "%s is out of range: expected more than 0, at most 1e18", value);
    if (unit == PP_UNIT_SECONDS && *number > MAX_LATENCY_S)
        return pp_error_set(err, PP_EINVAL, "%s is out of range: expected up to %d s", value,
                            MAX_LATENCY_S);
    return PP_OK;
}

enum pp_status pp_cluster_sizes(const char *value, int least, int most, int *sizes,
                                struct pp_error *err)
{
    char number[INT_BYTES];
    int count = 0;

    for (const char *at = value; at; count++) {
        const size_t length = strcspn(at, "xX");
        if (count == most || length == 0 || length >= sizeof number)
            return pp_error_set(err, PP_EINVAL, "expected %s%d numbers with x between",
                                least < most ? "up to " : "", most);
        snprintf(number, sizeof number, "%.*s", (int)length, at);
        PP_TRY(pp_cluster_count(number, MAX_SIZE, &sizes[count], err));
        at = at[length] ? at + length + 1 : NULL;
    }
    if (count < least)
        return pp_error_set(err, PP_EINVAL, "expected %d numbers with x between", least);
    for (; count < most; count++)
        sizes[count] = 0;
    return PP_OK;
}

enum pp_status pp_cluster_link(const char *value, struct pp_link *link, struct pp_error *err)
{
    const size_t length = strcspn(value, "@");
    char rate[NUMBER_BYTES];

    if (length >= sizeof rate)
        return pp_error_set(err, PP_EINVAL, "expected a bandwidth, or bandwidth@latency");
    snprintf(rate, sizeof rate, "%.*s", (int)length, value);
    PP_TRY(pp_cluster_quantity(rate, PP_UNIT_BYTES_PER_S, &link->bytes_per_s, err));
    return value[length]
               ? pp_cluster_quantity(value + length + 1, PP_UNIT_SECONDS, &link->alpha_s, err)
               : PP_OK;
}

enum pp_status pp_cluster_size_at_rate(const char *value, double *bytes, double *bytes_per_s,
                                       struct pp_error *err)
{
    const char *at = strchr(value, '@');
    const size_t length = at ? (size_t)(at - value) : strlen(value);
    char size[NUMBER_BYTES];

    if (length >= sizeof size)
        return pp_error_set(err, PP_EINVAL, "expected bytes, or bytes@rate");
    snprintf(size, sizeof size, "%.*s", (int)length, value);
    PP_TRY(pp_cluster_quantity(size, PP_UNIT_BYTES, bytes, err));
    return at ? pp_cluster_quantity(at + 1, PP_UNIT_BYTES_PER_S, bytes_per_s, err) : PP_OK;
}
