#include "core/units.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Expected values are written out by hand, not computed with the prefixes under test. */
static const struct good {
    const char *text;
    enum pp_unit unit;
    double value;
} good[] = {
    {"7.5e9", PP_UNIT_COUNT, 7500000000.0},
    {"175B", PP_UNIT_COUNT, 175000000000.0},
    {"7b", PP_UNIT_COUNT, 7000000000.0},
    {"4M", PP_UNIT_COUNT, 4000000.0},
    {"2k", PP_UNIT_COUNT, 2000.0},
    {"1Ki", PP_UNIT_COUNT, 1024.0},
    {".5", PP_UNIT_COUNT, 0.5},
    {"3.", PP_UNIT_COUNT, 3},
    {"0", PP_UNIT_COUNT, 0},
    {"80GiB", PP_UNIT_BYTES, 85899345920.0},
    {"80GB", PP_UNIT_BYTES, 80000000000.0},
    {"80 GB", PP_UNIT_BYTES, 80000000000.0},
    {"512", PP_UNIT_BYTES, 512},
    {"512B", PP_UNIT_BYTES, 512},
    {"1.5Mi", PP_UNIT_BYTES, 1572864},
    {"450GBps", PP_UNIT_BYTES_PER_S, 450000000000.0},
    {"450GB/s", PP_UNIT_BYTES_PER_S, 450000000000.0},
    {"400GB", PP_UNIT_BYTES_PER_S, 400000000000.0},
    {"400Gb", PP_UNIT_BYTES_PER_S, 50000000000.0},
    {"400Gbps", PP_UNIT_BYTES_PER_S, 50000000000.0},
    {"400Gb/s", PP_UNIT_BYTES_PER_S, 50000000000.0},
    {"400Gbit/s", PP_UNIT_BYTES_PER_S, 50000000000.0},
    {"1GiB/s", PP_UNIT_BYTES_PER_S, 1073741824.0},
    {"8bps", PP_UNIT_BYTES_PER_S, 1},
    {"989TF", PP_UNIT_FLOPS_PER_S, 989000000000000.0},
    {"989TFLOPS", PP_UNIT_FLOPS_PER_S, 989000000000000.0},
    {"989 TFLOP/s", PP_UNIT_FLOPS_PER_S, 989000000000000.0},
    {"1.4PF", PP_UNIT_FLOPS_PER_S, 1400000000000000.0},
    {"2EF", PP_UNIT_FLOPS_PER_S, 2000000000000000000.0},
    {"2E3F", PP_UNIT_FLOPS_PER_S, 2000},
    {"11.9us", PP_UNIT_SECONDS, 0.0000119},
    {"11.9\xc2\xb5s", PP_UNIT_SECONDS, 0.0000119},
    {"3 ms", PP_UNIT_SECONDS, 0.003},
    {"250ps", PP_UNIT_SECONDS, 2.5e-10},
    {"2s", PP_UNIT_SECONDS, 2},
    {"5min", PP_UNIT_SECONDS, 300},
    {"1h", PP_UNIT_SECONDS, 3600},
    {"5%", PP_UNIT_FRAC, 0.05},
    {"0.05", PP_UNIT_FRAC, 0.05},
    {"12.5 %", PP_UNIT_FRAC, 0.125},
};

Test(units, quantities_become_si_doubles)
{
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct pp_error err = {0};
        double value = -1;

        cr_assert_eq(pp_units_parse(good[i].text, good[i].unit, &value, &err), PP_OK, "%s: %s",
                     good[i].text, err.message);
        cr_assert(fabs(value - good[i].value) <= 1e-15 * fabs(good[i].value), "%s gives %.17g",
                  good[i].text, value);
    }
}

Test(units, percent_and_fraction_are_bit_equal)
{
    for (int percent = 0; percent <= 100; percent++) {
        char a[16], b[16];
        double x = 1, y = 2;

        snprintf(a, sizeof(a), "%d%%", percent);
        snprintf(b, sizeof(b), "%d.%02d", percent / 100, percent % 100);
        cr_assert_eq(pp_units_parse(a, PP_UNIT_FRAC, &x, NULL), PP_OK);
        cr_assert_eq(pp_units_parse(b, PP_UNIT_FRAC, &y, NULL), PP_OK);
        cr_assert_eq(memcmp(&x, &y, sizeof(x)), 0, "%s is not %s", a, b);
    }
}

static const struct bad {
    const char *text;
    enum pp_unit unit;
    const char *says;
} bad[] = {
    {"", PP_UNIT_COUNT, "7.5e9"},
    {" 1", PP_UNIT_COUNT, "7.5e9"},
    {"1 ", PP_UNIT_COUNT, "7.5e9"},
    {"-1", PP_UNIT_COUNT, "negative"},
    {"+1", PP_UNIT_COUNT, "is not"},
    {"inf", PP_UNIT_COUNT, "is not"},
    {"nan", PP_UNIT_SECONDS, "is not"},
    {"0x10", PP_UNIT_COUNT, "is not"},
    {"1e999", PP_UNIT_COUNT, "too large"},
    {"1e300P", PP_UNIT_COUNT, "too large"},
    {"1,024", PP_UNIT_BYTES, "80GiB"},
    {".", PP_UNIT_COUNT, "is not"},
    {"1..2", PP_UNIT_COUNT, "is not"},
    {"5GB", PP_UNIT_COUNT, "is not"},
    {"80Gb", PP_UNIT_BYTES, "b is bits"},
    {"80GB/s", PP_UNIT_BYTES, "bandwidth"},
    {"80GBx", PP_UNIT_BYTES, "80GiB"},
    {"80gB", PP_UNIT_BYTES, "80GiB"},
    {"80gb", PP_UNIT_BYTES, "or 512: write 80GB"},
    {"1.5mib", PP_UNIT_BYTES, "or 512: write 1.5MiB"},
    {"8x400Gbps", PP_UNIT_BYTES_PER_S, "400Gbps"},
    {"400Gbp", PP_UNIT_BYTES_PER_S, "400Gbps"},
    {"300", PP_UNIT_BYTES_PER_S, "\"300\" has no unit: 300GBps (bytes) or 300Gbps (bits)?"},
    {"300T", PP_UNIT_BYTES_PER_S, "300TBps (bytes) or 300Tbps (bits)?"},
    {"1.5 Gi/s", PP_UNIT_BYTES_PER_S, "1.5GiBps (bytes) or 1.5Gibps (bits)?"},
    {"989", PP_UNIT_FLOPS_PER_S, "\"989\" has no unit: 989TF?"},
    {"1.4P", PP_UNIT_FLOPS_PER_S, "1.4PF?"},
    {"2E", PP_UNIT_FLOPS_PER_S, "2EF?"},
    {"989TB", PP_UNIT_FLOPS_PER_S, "989TFLOPS"},
    {"3m", PP_UNIT_SECONDS, "ms or min"},
    {"5", PP_UNIT_SECONDS, "\"5\" has no unit: 5us (or ns, ms, s)?"},
    {"3ks", PP_UNIT_SECONDS, "11.9us"},
    {"5%%", PP_UNIT_FRAC, "5%"},
    {"5k", PP_UNIT_FRAC, "5%"},
    {"-5%", PP_UNIT_FRAC, "negative"},
};

Test(units, bad_quantities_are_refused_and_leave_the_value)
{
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct pp_error err = {0};
        double value = 42;

        cr_assert_eq(pp_units_parse(bad[i].text, bad[i].unit, &value, &err), PP_EINVAL, "\"%s\"",
                     bad[i].text);
        cr_assert_eq(err.status, PP_EINVAL);
        cr_assert_not_null(strstr(err.message, bad[i].says), "\"%s\": %s", bad[i].text,
                           err.message);
        cr_assert(value >= 42 && value <= 42);
    }
}

Test(units, whole_numbers_may_have_prefixes_and_exponents)
{
    static const struct {
        const char *text;
        int64_t value; /* 0: refused */
    } cases[] = {{"12", 12},     {"1k", 1000}, {"1e3", 1000}, {"2.5k", 2500}, {"4Ki", 4096},
                 {"1.5", 0},     {"-1", 0},    {"1e9", 0},    {"8GB", 0},     {"", 0},
                 {"0.0001k", 0}, {"1e-1", 0},  {"nan", 0},    {"1 k", 1000},  {"007", 7},
                 {"0x10", 0},    {"1e400", 0}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pp_error err = {0};
        int64_t value = 0;
        const enum pp_status status = pp_units_parse_whole(cases[i].text, 1, 1000000, &value, &err);
        cr_assert_eq(status, cases[i].value > 0 ? PP_OK : PP_EINVAL, "'%s'", cases[i].text);
        cr_assert_eq(value, cases[i].value, "'%s'", cases[i].text);
    }
    int64_t value;
    cr_assert_eq(pp_units_parse_whole("9223372036854775807", 0, INT64_MAX, &value, NULL), PP_OK);
    cr_assert_eq(value, INT64_MAX);
}

Test(units, integers_have_bounds)
{
    struct pp_error err = {0};
    int64_t value = 7;

    cr_assert_eq(pp_units_parse_int("-12", -12, 3, &value, &err), PP_OK);
    cr_assert_eq(value, -12);
    cr_assert_eq(pp_units_parse_int("007", 0, 7, &value, &err), PP_OK);
    cr_assert_eq(value, 7);
    cr_assert_eq(pp_units_parse_int("9223372036854775807", 0, INT64_MAX, &value, &err), PP_OK);
    cr_assert_eq(value, INT64_MAX);
    value = 7;
    static const char *const refused[] = {
        "",
        "-",
        "+1",
        "1.0",
        "1e3",
        "0x1",
        " 1",
        "1 ",
        "8",
        "-1",
        "9223372036854775808",
        "1k",
        "--1",
        "99999999999999999999999999",
    };
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        cr_assert_eq(pp_units_parse_int(refused[i], 0, 7, &value, &err), PP_EINVAL, "%s",
                     refused[i]);
        cr_assert_eq(value, 7);
    }
    cr_assert_eq(pp_units_parse_int("9", 1, 8, &value, &err), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "1 to 8"), "%s", err.message);
}

static const struct printed {
    double value;
    enum pp_unit unit;
    const char *text;
} printed[] = {
    {0, PP_UNIT_BYTES, "0 B"},
    {512, PP_UNIT_BYTES, "512 B"},
    {31890735104.0, PP_UNIT_BYTES, "29.7 GiB"},
    {85899345920.0, PP_UNIT_BYTES, "80.0 GiB"},
    {1048575, PP_UNIT_BYTES, "1.00 MiB"},
    {450e9, PP_UNIT_BYTES_PER_S, "450 GB/s"},
    {50e9, PP_UNIT_BYTES_PER_S, "50.0 GB/s"},
    {989e12, PP_UNIT_FLOPS_PER_S, "989 TFLOP/s"},
    {4.85, PP_UNIT_SECONDS, "4.85 s"},
    {12.1e-6, PP_UNIT_SECONDS, "12.1 us"},
    {999.9e-9, PP_UNIT_SECONDS, "1.00 us"},
    {0.9996, PP_UNIT_SECONDS, "1.00 s"},
    {0, PP_UNIT_SECONDS, "0 s"},
    {3600, PP_UNIT_SECONDS, "60.0 min"},
    {-0.25, PP_UNIT_SECONDS, "-250 ms"},
    {175e9, PP_UNIT_COUNT, "175B"},
    {7.5e9, PP_UNIT_COUNT, "7.50B"},
    {12, PP_UNIT_COUNT, "12"},
    {0.125, PP_UNIT_FRAC, "12.5 %"},
    {1, PP_UNIT_FRAC, "100 %"},
    {0.0001, PP_UNIT_FRAC, "0.0100 %"},
    {1e300, PP_UNIT_BYTES, "8.88e+284 PiB"},
    {1e306, PP_UNIT_SECONDS, "1.16e+301 d"},
    {1.5e308, PP_UNIT_FRAC, "1.50e+308"},
    {5e-324, PP_UNIT_FRAC, "4.94e-322 %"},
    {INFINITY, PP_UNIT_SECONDS, "inf"},
    {-INFINITY, PP_UNIT_SECONDS, "-inf"},
    {NAN, PP_UNIT_SECONDS, "nan"},
};

Test(units, prints_three_digits)
{
    for (size_t i = 0; i < sizeof(printed) / sizeof(printed[0]); i++) {
        char text[PP_UNITS_TEXT_BYTES];

        cr_assert_str_eq(pp_units_print(printed[i].value, printed[i].unit, text), printed[i].text);
    }
}

/* Printing then parsing loses at most half a unit of the third digit, over all magnitudes. */
Test(units, what_is_printed_can_be_parsed)
{
    for (int unit = PP_UNIT_COUNT; unit <= PP_UNIT_FRAC; unit++)
        for (double value = 1e-6; value < 1e15; value *= 1.0317) {
            char text[PP_UNITS_TEXT_BYTES];
            double parsed = 0;
            struct pp_error err = {0};

            pp_units_print(value, unit, text);
            cr_assert_eq(pp_units_parse(text, unit, &parsed, &err), PP_OK, "%s", err.message);
            cr_assert(fabs(parsed - value) <= 0.00501 * value, "%s is not %g", text, value);
        }
}

Test(units, counts_have_commas)
{
    char text[PP_UNITS_TEXT_BYTES];

    cr_assert_str_eq(pp_units_print_count(0, text), "0");
    cr_assert_str_eq(pp_units_print_count(999, text), "999");
    cr_assert_str_eq(pp_units_print_count(2048, text), "2,048");
    cr_assert_str_eq(pp_units_print_count(-123456, text), "-123,456");
    cr_assert_str_eq(pp_units_print_count(INT64_MIN, text), "-9,223,372,036,854,775,808");
}

Test(units, picoseconds_round_once_and_saturate)
{
    cr_assert_eq(pp_units_ps(0), 0);
    cr_assert_eq(pp_units_ps(1), 1000000000000);
    cr_assert_eq(pp_units_ps(1.4e-12), 1);
    cr_assert_eq(pp_units_ps(1.6e-12), 2);
    cr_assert_eq(pp_units_ps(-1.6e-12), -2);
    cr_assert_eq(pp_units_ps(1e300), INT64_MAX / 4);
    cr_assert_eq(pp_units_ps(INFINITY), INT64_MAX / 4);
    cr_assert_eq(pp_units_ps(-INFINITY), -(INT64_MAX / 4));
    cr_assert(fabs(pp_units_s(pp_units_ps(0.123456789012)) - 0.123456789012) < 1e-15);
}
