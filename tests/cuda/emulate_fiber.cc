/* tests/cuda/emulate_fiber.cc — see emulate_fiber.h. On x86-64 a switch saves what a function must
 * preserve (System V ABI), and takes a few nanoseconds. Elsewhere it is ucontext's, with calls of
 * the system. */
#include "tests/cuda/emulate_fiber.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
enum { STACK_BYTES = 512 << 10 };
#else
enum { STACK_BYTES = 64 << 10 };
#endif

/* Stacks begin at different lines of a page, else all fibers would meet in the same few sets of the
 * first-level cache. */
enum { COLORS = 61, COLOR_BYTES = 192, PAGE_BYTES = 4096 };

/* ---- the switch itself ----------------------------------------------------------------------- */

#if defined(__x86_64__)
asm(".text\n"
    ".hidden pp_fiber_swap\n"
    ".globl pp_fiber_swap\n"
    ".type pp_fiber_swap, @function\n"
    "pp_fiber_swap:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n"
    ".size pp_fiber_swap, . - pp_fiber_swap\n");

/* Six registers, the address of the entry point, and a return address that is never used. */
static void *first_context(char *stack, char *top, void (*body)(void))
{
    (void)stack;
    void **context = (void **)(void *)top - 8;

    for (int i = 0; i < 8; i++)
        context[i] = NULL;
    context[6] = (void *)body;
    return context;
}
#else
#include <ucontext.h>

void pp_fiber_swap(void **save, void *context)
{
    ucontext_t here;

    *save = &here;
    swapcontext(&here, (ucontext_t *)context);
}

/* The context lies at the top of the stack that it describes. */
static void *first_context(char *stack, char *top, void (*body)(void))
{
    ucontext_t *context = (ucontext_t *)(void *)(top - (sizeof(ucontext_t) + 63) / 64 * 64);

    getcontext(context);
    context->uc_stack.ss_sp = stack;
    context->uc_stack.ss_size = (size_t)((char *)context - stack);
    makecontext(context, body, 0);
    return context;
}
#endif

/* ---- with what ASan must be told ------------------------------------------------------------- */

#ifdef __SANITIZE_ADDRESS__
static struct pp_fiber *left; /* by the latest switch */

static void arrived(struct pp_fiber *fiber)
{
    __sanitizer_finish_switch_fiber(fiber->shadow, &left->stack, &left->stack_bytes);
}

void pp_fiber_switch(struct pp_fiber *from, struct pp_fiber *to)
{
    left = from;
    __sanitizer_start_switch_fiber(&from->shadow, to->stack, to->stack_bytes);
    pp_fiber_swap(&from->context, to->context);
    arrived(from);
}
#else
static void arrived(struct pp_fiber *)
{
}
#endif

static void (*first_body)(void); /* all fibers have the same one */

static void enter(void)
{
    static struct pp_fiber fresh;

    arrived(&fresh);
    first_body();
    abort();
}

/* It describes itself at the top of its stack. */
struct pp_fiber *pp_fiber_create(void (*body)(void))
{
    static unsigned created;
    char *stack = (char *)mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (stack == MAP_FAILED || mprotect(stack, PAGE_BYTES, PROT_NONE) != 0) {
        fprintf(stderr, "emulated CUDA: no memory for the stack of a thread\n");
        abort();
    }
    char *top = stack + STACK_BYTES - COLOR_BYTES * (1 + created++ % COLORS);
    struct pp_fiber *fiber = (struct pp_fiber *)(void *)top;
    first_body = body;
    fiber->stack = stack + PAGE_BYTES;
    fiber->stack_bytes = STACK_BYTES - PAGE_BYTES;
    fiber->context = first_context(stack + PAGE_BYTES, top, enter);
    return fiber;
}
