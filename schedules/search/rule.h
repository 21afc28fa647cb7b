/* schedules/search/rule.h — the rule by which ranks order their ops: the words of --order.
 *
 *   strict    the order of the list
 *   eager     a free rank runs the first op of its list that is ready, at nominal durations
 *   dynamic   likewise, at the durations of the run
 *   arrival   a rank runs what arrived first, at the durations of the run (AxoNN: Singh and
 *             Bhatele, IPDPS'22) */
#pragma once

#include "core/error.h"

#include <stdbool.h>

enum pp_order_rule { PP_ORDER_STRICT, PP_ORDER_EAGER, PP_ORDER_DYNAMIC, PP_ORDER_ARRIVAL };
struct pp_order_choice {
    enum pp_order_rule rule;
    int limit;        /* chunk activations of a rank, 0 = no limit; by arrival micro-batches in a
                       * pipeline, 0 = as many as ranks */
    bool is_multiple; /* times what the strict order holds, on each rank */
};
extern const char *const pp_order_rule_names[];

/* Is true if the order depends on the durations of the run. */
static inline bool pp_order_follows(struct pp_order_choice order)
{
    return order.rule == PP_ORDER_DYNAMIC || order.rule == PP_ORDER_ARRIVAL;
}
/* Reads a value of --order. PP_EINVAL with the nearest legal value. */
enum pp_status pp_order_read(const char *text, struct pp_order_choice *order, struct pp_error *err);

enum { PP_ORDER_TEXT_BYTES = 32 };
/* Prints a value of --order, such as "dynamic:2x". Returns `text`. */
const char *pp_order_print(struct pp_order_choice order, char text[PP_ORDER_TEXT_BYTES]);
