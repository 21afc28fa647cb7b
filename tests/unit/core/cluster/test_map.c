/* The order of devices against counting them one by one. */
#include "core/cluster/map.h"

#include <criterion/criterion.h>
#include <string.h>

/* Count devices as an odometer whose innermost digit turns first. */
static void check_order(struct pp_map_order order, const struct pp_layout *layout)
{
    const int degree[PP_AXES] = {layout->tp, layout->cp, layout->dp, layout->pp};
    const struct pp_map map = pp_map_make(order, layout);
    int at[PP_AXES] = {0};

    for (int device = 0; device < layout->gpus; device++) {
        cr_assert_eq(
            pp_map_device(&map, at[PP_AXIS_TP], at[PP_AXIS_CP], at[PP_AXIS_DP], at[PP_AXIS_PP]),
            device);
        for (int i = 0; i < PP_AXES; i++) {
            const int axis = order.axis[i];
            if (++at[axis] < degree[axis])
                break;
            at[axis] = 0;
        }
    }
}

Test(map, every_order_numbers_every_device_once)
{
    int orders = 0;

    for (int code = 0; code < 256; code++) {
        struct pp_map_order order;
        unsigned seen = 0;
        for (int i = 0; i < PP_AXES; i++) {
            order.axis[i] = (uint8_t)(code >> 2 * i & 3);
            seen |= 1u << order.axis[i];
        }
        if (seen != 15)
            continue;
        orders++;
        for (int tp = 1; tp <= 3; tp++)
            for (int cp = 1; cp <= 2; cp++)
                for (int dp = 1; dp <= 3; dp++)
                    for (int pp = 1; pp <= 4; pp++) {
                        const struct pp_layout layout = {
                            .gpus = tp * cp * dp * pp, .tp = tp, .cp = cp, .dp = dp, .pp = pp};
                        check_order(order, &layout);
                    }
    }
    cr_assert_eq(orders, 24);
}

Test(map, text_is_read_and_printed)
{
    static const struct {
        const char *text, *printed;
    } good[] = {
        {"tp,cp,dp,pp", "tp,cp,dp,pp"}, {"pp,dp,cp,tp", "pp,dp,cp,tp"},
        {"DP-tp-PP-cp", "dp,tp,pp,cp"}, {"dp", "dp,tp,cp,pp"},
        {"pp,tp", "pp,tp,cp,dp"},       {"cp,dp,tp", "cp,dp,tp,pp"},
    };
    struct pp_error err = {0};
    char text[PP_MAP_TEXT_BYTES];

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct pp_map_order order, again;
        cr_assert_eq(pp_map_parse(good[i].text, &order, &err), PP_OK, "%s", err.message);
        cr_assert_str_eq(pp_map_print(order, text), good[i].printed);
        cr_assert_eq(pp_map_parse(text, &again, &err), PP_OK);
        cr_assert_eq(memcmp(&order, &again, sizeof order), 0);
        cr_assert_eq(pp_map_is_default(order), i == 0);
    }
}

Test(map, mistakes_are_named)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"", "unknown axis ''"},           {"tp,xp", "unknown axis 'xp'"},
        {"tp,", "unknown axis ''"},        {"tp,ep,dp", "unknown axis 'ep'"},
        {"tp,dp,tp", "tp is given twice"}, {"tp,cp,dp,pp,tp", "tp is given twice"},
        {"tp cp", "unknown axis 'tp cp'"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pp_error err = {0};
        struct pp_map_order order;
        cr_assert_eq(pp_map_parse(bad[i].text, &order, &err), PP_EINVAL);
        cr_assert_not_null(strstr(err.message, bad[i].message), "%s", err.message);
        cr_assert_not_null(strstr(err.message, "--map"), "%s", err.message);
    }
}
