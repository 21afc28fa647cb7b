/* exec/tiers/requests.h — reads and writes of a file while the caller computes. They are
 * asynchronous I/O of the kernel, io_setup(2). Where it has none left, a request is done when it is
 * posted. Private to exec/tiers. */
#pragma once

#include <linux/aio_abi.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct pp_tier_queue; /* of one thread at a time; NULL: requests are done when they are posted */
struct pp_tier_queue *pp_tier_queue_take(void);
void pp_tier_queue_give_back(struct pp_tier_queue *queue); /* accepts NULL */

enum { PP_TIER_REQUESTS = 4 }; /* most requests of a queue that are in flight */
struct pp_tier_request {
    int fd;
    bool is_write, is_done;
    void *memory;
    size_t bytes;
    off_t offset;
    ssize_t result; /* bytes, or -errno */
    struct iocb control;
};
/* The request stays where it is until it is done. */
void pp_tier_request_post(struct pp_tier_queue *queue, struct pp_tier_request *request);
void pp_tier_request_await(struct pp_tier_queue *queue, struct pp_tier_request *request);
