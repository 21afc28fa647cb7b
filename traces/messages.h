/* traces/messages.h — pairs of SEND and RECV of a trace. */
#pragma once

#include "traces/trace.h"

/* Key that both ends of a message share. */
enum {
    PP_MESSAGE_REPLICA,
    PP_MESSAGE_STEP,
    PP_MESSAGE_DIRECTION, /* 1 of an activation, -1 of a gradient */
    PP_MESSAGE_STAGE,     /* receiving stage */
    PP_MESSAGE_MB,
    PP_MESSAGE_SPLIT,
    PP_MESSAGE_KEY
};
struct pp_message_end {
    int key[PP_MESSAGE_KEY];
    bool is_recv;
    int event;
};
/* The end of a message that an op is. */
struct pp_message_end pp_message_end(const struct pp_op *op, int replica, int step, int event);
/* Reads the end that an event is; false for other events and unreadable cells. */
bool pp_message_end_of(const struct pp_trace *trace, int event, struct pp_message_end *end);
bool pp_message_is_same(const struct pp_message_end *a, const struct pp_message_end *b);
/* For qsort, of ends or structs that begin with one: by key, the SEND first, then by event. */
int pp_message_compare(const void *left, const void *right);

/* A message whose two events are both in the trace. */
struct pp_arrow {
    int send, recv; /* events */
    int id;
};
/* Lists the messages by key, in the arena, without events that are not `is_drawn` [event]; returns
 * their number. Of ends with one key the k-th SEND belongs to the k-th RECV. */
int pp_arrows_of(struct pp_arena *arena, const struct pp_trace *trace, const bool *is_drawn,
                 struct pp_arrow **arrows);
