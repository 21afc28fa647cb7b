/* tests/cuda/emulate_fiber.cc — see emulate_fiber.h. A switch saves what a function must preserve
 * (System V ABI for x86-64, AAPCS64) and takes a few nanoseconds; elsewhere it is ucontext's. */
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
#elif defined(__aarch64__)
asm(".text\n"
    ".hidden pp_fiber_swap\n"
    ".globl pp_fiber_swap\n"
    ".type pp_fiber_swap, %function\n"
    "pp_fiber_swap:\n"
    "  sub sp, sp, #160\n"
    "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
    "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
    "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n"
    "  stp d14, d15, [sp, #144]\n"
    "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
    "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
    "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n"
    "  ldp d14, d15, [sp, #144]\n"
    "  add sp, sp, #160\n"
    "  ret\n"
    ".size pp_fiber_swap, . - pp_fiber_swap\n");

static void *first_context(char *stack, char *top, void (*body)(void))
{
    (void)stack;
    void **context = (void **)(void *)top - 20;

    for (int i = 0; i < 20; i++)
        context[i] = NULL;
    context[11] = (void *)body; /* x30 */
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
