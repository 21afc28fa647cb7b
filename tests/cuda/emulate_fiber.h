/* tests/cuda/emulate_fiber.h — stacks of their own within one thread of the host. */
#ifndef PP_TESTS_CUDA_EMULATE_FIBER_H
#define PP_TESTS_CUDA_EMULATE_FIBER_H

#include <stddef.h>

struct pp_fiber {
    void *context;     /* where it goes on */
    const void *stack; /* lowest address; of the host's own stack once ASan has told it */
    size_t stack_bytes;
    void *shadow; /* ASan's */
};

/* The switch itself: what must be preserved goes to the stack that is left, its top to *save. */
extern "C" void pp_fiber_swap(void **save, void *context);
/* A fiber that runs `body`, which never returns, from the first switch to it. Lives forever. */
struct pp_fiber *pp_fiber_create(void (*body)(void));
/* Continues at `to`. Returns when another fiber switches back to `from`, the current fiber. A
 * pp_fiber of zeros stands for the stack of the caller. */
#ifdef __SANITIZE_ADDRESS__
void pp_fiber_switch(struct pp_fiber *from, struct pp_fiber *to);
#else
static inline void pp_fiber_switch(struct pp_fiber *from, struct pp_fiber *to)
{
    pp_fiber_swap(&from->context, to->context);
}
#endif

#endif
