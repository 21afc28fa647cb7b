/* First byte: kind of quantity. A value read is finite and not negative, and survives printing. */
#include "core/units.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[256], printed[PP_UNITS_TEXT_BYTES];
    struct pp_error err;
    double value = -1, again = -1;
    int64_t integer;

    if (size < 1 || size > sizeof(text))
        return 0;
    const enum pp_unit unit = data[0] % (PP_UNIT_FRAC + 1);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (pp_units_parse(text, unit, &value, &err) == PP_OK) {
        FUZZ_CHECK(isfinite(value) && value >= 0);
        pp_units_print(value, unit, printed);
        FUZZ_CHECK(strlen(printed) < sizeof(printed));
        /* The largest doubles may round up to infinity. */
        if (value < 1e308) {
            FUZZ_CHECK(pp_units_parse(printed, unit, &again, &err) == PP_OK);
            FUZZ_CHECK(fabs(again - value) <= 0.00501 * value + 1e-300);
        }
        const int64_t ps = pp_units_ps(value);
        FUZZ_CHECK(ps >= 0 && ps <= INT64_MAX / 4);
    } else {
        FUZZ_CHECK(err.status == PP_EINVAL && err.message[0]);
    }
    if (pp_units_parse_int(text, -100, 1000000, &integer, &err) == PP_OK) {
        FUZZ_CHECK(integer >= -100 && integer <= 1000000);
        FUZZ_CHECK(integer == strtoll(text, NULL, 10));
    }
    return 0;
}
