/* Words of --order. */
#include "schedules/search/rule.h"

#include "core/units.h"

#include <stdio.h>
#include <string.h>

enum { RULES = PP_ORDER_ARRIVAL + 1, MOST_LIMIT = 1 << 24, MOST_MULTIPLE = 4096 };

const char *const pp_order_rule_names[RULES] = {
    [PP_ORDER_STRICT] = "strict",
    [PP_ORDER_EAGER] = "eager",
    [PP_ORDER_DYNAMIC] = "dynamic",
    [PP_ORDER_ARRIVAL] = "arrival",
};

/* Returns the rule whose name `text` has before a colon, or RULES. */
static int rule_of(const char *text)
{
    const size_t length = strcspn(text, ":");
    int rule = 0;

    while (rule < RULES && (strlen(pp_order_rule_names[rule]) != length ||
                            strncmp(pp_order_rule_names[rule], text, length) != 0))
        rule++;
    return rule;
}

static bool read_limit(const char *text, struct pp_order_choice *order)
{
    char digits[PP_ORDER_TEXT_BYTES];
    const size_t length = strlen(text);
    int64_t limit;

    if (length == 0 || length >= sizeof(digits))
        return false;
    memcpy(digits, text, length + 1);
    order->is_multiple = digits[length - 1] == 'x';
    if (order->is_multiple)
        digits[length - 1] = '\0';
    if (strspn(digits, "0123456789") != strlen(digits) ||
        pp_units_parse_int(digits, 1, order->is_multiple ? MOST_MULTIPLE : MOST_LIMIT, &limit,
                           NULL) != PP_OK)
        return false;
    order->limit = (int)limit;
    return true;
}

enum pp_status pp_order_read(const char *text, struct pp_order_choice *order, struct pp_error *err)
{
    const int rule = rule_of(text);
    const char *limit = strchr(text, ':');

    *order = (struct pp_order_choice){.rule = rule < RULES ? (enum pp_order_rule)rule : 0};
    if (rule < RULES &&
        (!limit || (order->rule != PP_ORDER_STRICT && read_limit(limit + 1, order))))
        return PP_OK;
    pp_error_set(err, PP_EINVAL,
                 "--order %s: expected strict, eager, dynamic or arrival; all but strict may have "
                 "a limit of 1 or more, such as eager:4, or a multiple of what the strict order "
                 "holds, such as dynamic:2x",
                 text);
    if (rule < RULES)
        pp_error_append(err, "; nearest: %s%s", pp_order_rule_names[rule],
                        rule == PP_ORDER_STRICT         ? ""
                        : text[strlen(text) - 1] == 'x' ? ":1x"
                                                        : ":1");
    return PP_EINVAL;
}

const char *pp_order_print(struct pp_order_choice order, char text[PP_ORDER_TEXT_BYTES])
{
    const char *name = pp_order_rule_names[order.rule];

    if (order.limit > 0)
        snprintf(text, PP_ORDER_TEXT_BYTES, "%s:%d%s", name, order.limit,
                 order.is_multiple ? "x" : "");
    else
        snprintf(text, PP_ORDER_TEXT_BYTES, "%s", name);
    return text;
}
