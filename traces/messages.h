/* traces/messages.h — pairs of SEND and RECV of a trace. */
#pragma once

#include "traces/trace.h"

/* The end of a message. Both ends have the same key: all fields but the last two. */
struct pp_message_end {
    int replica, step, mb;
    int stage : 18;    /* that receives */
    int direction : 2; /* 1 of an activation, -1 of a gradient */
    unsigned split : 8;
    unsigned is_recv : 1;
    int event; /* its number (traces/events.h) */
};
/* The end of a message that an op is. */
struct pp_message_end pp_message_end(const struct pp_op *op, int replica, int step, int event);
/* Reads the end that an event is; false for other events and unreadable cells. */
bool pp_message_end_of(const struct pp_trace *trace, int event, struct pp_message_end *end);
bool pp_message_is_same(const struct pp_message_end *a, const struct pp_message_end *b);
/* For qsort, of ends or structs that begin with one: by replica, step, direction, stage, mb and
 * split, the SEND first, then by event. */
int pp_message_compare(const void *left, const void *right);

/* A message whose two events are both in the trace. */
struct pp_arrow {
    int send, recv; /* events */
    int id;
};
/* Lists the messages by key, in the arena, without events whose `lane_of` [event] is 0; returns
 * their number. Of ends with one key the k-th SEND belongs to the k-th RECV. */
int pp_arrows_of(struct pp_arena *arena, const struct pp_trace *trace, const uint16_t *lane_of,
                 struct pp_arrow **arrows);
