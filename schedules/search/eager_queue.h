/* schedules/search/eager_queue.h — the two queues of eager.c: what a rank may run, what happens
 * next. */
#ifndef PP_SCHEDULES_SEARCH_EAGER_QUEUE_H
#define PP_SCHEDULES_SEARCH_EAGER_QUEUE_H

#include "core/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* A unit ends, or what op made arrives at another rank. */
struct pp_event {
    int64_t ps;
    int32_t order; /* events of one time happen as they were made */
    int32_t op;
    bool is_arrival;
};
struct pp_event_queue {
    struct pp_event *data;
    int count, capacity, made;
};

/* The smallest index first. The owner gives the room. */
struct pp_op_heap {
    int32_t *ops;
    int count;
};

static inline void pp_op_heap_push(struct pp_op_heap *heap, int32_t op)
{
    int k = heap->count++;

    for (; k > 0 && heap->ops[(k - 1) / 2] > op; k = (k - 1) / 2)
        heap->ops[k] = heap->ops[(k - 1) / 2];
    heap->ops[k] = op;
}

static inline int32_t pp_op_heap_pop(struct pp_op_heap *heap)
{
    const int32_t top = heap->ops[0], last = heap->ops[--heap->count];
    int k = 0;

    for (int child = 1; child < heap->count; child = 2 * k + 1) {
        child += child + 1 < heap->count && heap->ops[child + 1] < heap->ops[child];
        if (heap->ops[child] >= last)
            break;
        heap->ops[k] = heap->ops[child];
        k = child;
    }
    heap->ops[k] = last;
    return top;
}

static inline bool pp_event_is_before(const struct pp_event *a, const struct pp_event *b)
{
    return a->ps != b->ps ? a->ps < b->ps : a->order < b->order;
}

static inline void pp_event_add(struct pp_arena *arena, struct pp_event_queue *queue,
                                struct pp_event event)
{
    event.order = queue->made++;
    *PP_PUSH(arena, queue->data, queue->count, queue->capacity) = event;
    int k = queue->count - 1;
    for (; k > 0 && pp_event_is_before(&event, &queue->data[(k - 1) / 2]); k = (k - 1) / 2)
        queue->data[k] = queue->data[(k - 1) / 2];
    queue->data[k] = event;
}

static inline struct pp_event pp_event_next(struct pp_event_queue *queue)
{
    const struct pp_event top = queue->data[0], last = queue->data[--queue->count];
    int k = 0;

    for (int child = 1; child < queue->count; child = 2 * k + 1) {
        child += child + 1 < queue->count &&
                 pp_event_is_before(&queue->data[child + 1], &queue->data[child]);
        if (!pp_event_is_before(&queue->data[child], &last))
            break;
        queue->data[k] = queue->data[child];
        k = child;
    }
    queue->data[k] = last;
    return top;
}

#endif
