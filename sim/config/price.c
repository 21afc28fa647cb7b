/* Prices: hours of devices times their price. */
#include "sim/config/price.h"

#include "core/units.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { NUMBER_BYTES = 32 };

static bool is_per_hour(const char *suffix)
{
    static const char *const forms[] = {"", "/h", "/hour", "/GPUh", "/GPU-h", "/GPU-hour", NULL};

    for (const char *const *form = forms; *form; form++)
        if (!strcasecmp(suffix, *form))
            return true;
    return false;
}

enum pp_status pp_price_parse(const char *text, struct pp_price *price, struct pp_error *err)
{
    size_t sign = 0;
    char number[NUMBER_BYTES];

    while (text[sign] == '$' || (unsigned char)text[sign] >= 0x80) /* such as a euro in UTF-8 */
        sign++;
    const char *digits = text + sign;
    const size_t length = strcspn(digits, "/");
    *price = (struct pp_price){.per_gpu_hour = 0};
    if (sign >= sizeof price->sign || length >= sizeof number || !is_per_hour(digits + length))
        return pp_error_set(err, PP_EINVAL,
                            "--price %s: expected a price for a device and hour, such as 2.2, "
                            "2.2/h, $2.20/h or 2.2/GPUh",
                            text);
    snprintf(price->sign, sizeof price->sign, "%.*s", (int)sign, text);
    snprintf(number, sizeof number, "%.*s", (int)length, digits);
    if (pp_units_parse(number, PP_UNIT_COUNT, &price->per_gpu_hour, err) != PP_OK ||
        !(price->per_gpu_hour > 0) || price->per_gpu_hour > 1e9)
        return pp_error_set(err, PP_EINVAL,
                            "--price %s: expected more than 0 for a device and hour, such as 2.2/h",
                            text);
    return PP_OK;
}

double pp_price_step(const struct pp_config *config, int gpus, double step_s)
{
    return config->origin.price.per_gpu_hour * gpus * step_s / 3600;
}

double pp_price_tokens(const struct pp_config *config, double tokens_per_s_per_gpu)
{
    return config->origin.price.per_gpu_hour * (1e12 / tokens_per_s_per_gpu) / 3600;
}

const char *pp_price_print(const struct pp_config *config, double amount,
                           char text[PP_PRICE_TEXT_BYTES])
{
    char number[PP_UNITS_TEXT_BYTES];

    snprintf(text, PP_PRICE_TEXT_BYTES, "%s%s", config->origin.price.sign,
             pp_units_print(amount, PP_UNIT_COUNT, number));
    return text;
}
