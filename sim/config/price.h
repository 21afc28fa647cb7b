/* sim/config/price.h — the price of devices, of a step and of tokens, in the currency of --price.
 */
#pragma once

#include "sim/config/config.h"

/* Reads "2.2", "2.2/h", "$2.20/h" or "2.2/GPUh"; PP_EINVAL names the forms. */
enum pp_status pp_price_parse(const char *text, struct pp_price *price, struct pp_error *err);
/* Price of `step_s` seconds on `gpus` devices; 0 without --price. */
double pp_price_step(const struct pp_config *config, int gpus, double step_s);
/* Price of 1e12 tokens at that rate of a device; 0 without --price. */
double pp_price_tokens(const struct pp_config *config, double tokens_per_s_per_gpu);

enum { PP_PRICE_TEXT_BYTES = 64 };
/* Prints an amount with the sign of the currency as given: "$1.77M", "7.42". */
const char *pp_price_print(const struct pp_config *config, double amount,
                           char text[PP_PRICE_TEXT_BYTES]);
