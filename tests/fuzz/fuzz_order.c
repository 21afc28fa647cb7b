/* A value of --order that is read survives printing; another one has a message. */
#include "schedules/search/rule.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[256], printed[PP_ORDER_TEXT_BYTES];
    struct pp_order_choice order, again;
    struct pp_error err = {0};

    if (size >= sizeof(text))
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (pp_order_read(text, &order, &err) != PP_OK) {
        FUZZ_CHECK(err.status == PP_EINVAL && err.message[0]);
        return 0;
    }
    pp_order_print(order, printed);
    FUZZ_CHECK(pp_order_read(printed, &again, &err) == PP_OK);
    FUZZ_CHECK(again.rule == order.rule && again.limit == order.limit);
    FUZZ_CHECK(again.is_multiple == order.is_multiple && order.limit >= 0);
    FUZZ_CHECK(order.rule != PP_ORDER_STRICT || order.limit == 0);
    return 0;
}
