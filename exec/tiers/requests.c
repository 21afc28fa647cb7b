/* Queues of asynchronous I/O, one pool a process. A queue is made once and used again: to end one
 * takes the kernel milliseconds. */
#define _GNU_SOURCE /* syscall */
#include "exec/tiers/requests.h"

#include "core/arena.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

struct pp_tier_queue {
    atomic_bool is_taken;
    pid_t process; /* that made the context; a forked process makes its own */
    aio_context_t context;
};
static struct pp_tier_queue pool[64];

static bool make(struct pp_tier_queue *queue)
{
    if (queue->process == getpid())
        return true;
    queue->context = 0;
    if (syscall(SYS_io_setup, PP_TIER_REQUESTS, &queue->context) != 0)
        return false;
    queue->process = getpid();
    return true;
}

struct pp_tier_queue *pp_tier_queue_take(void)
{
    for (size_t i = 0; i < PP_COUNT(pool); i++)
        if (!atomic_exchange_explicit(&pool[i].is_taken, true, memory_order_acquire)) {
            if (make(&pool[i]))
                return &pool[i];
            pp_tier_queue_give_back(&pool[i]);
            return NULL;
        }
    return NULL;
}

void pp_tier_queue_give_back(struct pp_tier_queue *queue)
{
    if (queue)
        atomic_store_explicit(&queue->is_taken, false, memory_order_release);
}

static void do_now(struct pp_tier_request *r)
{
    do {
        r->result = r->is_write ? pwrite(r->fd, r->memory, r->bytes, r->offset)
                                : pread(r->fd, r->memory, r->bytes, r->offset);
    } while (r->result < 0 && errno == EINTR);
    if (r->result < 0)
        r->result = -errno;
    r->is_done = true;
}

void pp_tier_request_post(struct pp_tier_queue *queue, struct pp_tier_request *r)
{
    struct iocb *control = &r->control;

    r->is_done = false;
    r->control = (struct iocb){
        .aio_data = (uintptr_t)r,
        .aio_lio_opcode = r->is_write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD,
        .aio_fildes = (uint32_t)r->fd,
        .aio_buf = (uintptr_t)r->memory,
        .aio_nbytes = r->bytes,
        .aio_offset = r->offset,
    };
    if (!queue || syscall(SYS_io_submit, queue->context, 1L, &control) != 1)
        do_now(r);
}

void pp_tier_request_await(struct pp_tier_queue *queue, struct pp_tier_request *request)
{
    while (!request->is_done) {
        struct io_event event;
        const long got = syscall(SYS_io_getevents, queue->context, 1L, 1L, &event, NULL);

        if (got == 1) {
            struct pp_tier_request *done = (struct pp_tier_request *)(uintptr_t)event.data;
            done->result = (ssize_t)event.res;
            done->is_done = true;
        } else if (got < 0 && errno != EINTR) {
            request->result = -errno;
            request->is_done = true;
        }
    }
}
