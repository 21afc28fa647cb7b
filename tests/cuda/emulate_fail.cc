/* tests/cuda/emulate_fail.cc — ends the program where a kernel does what no GPU would forgive. */
#include "tests/cuda/emulate_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct block &b = pp_emulated_block;

void pp_emulated_fail(const struct thread *thread, const char *format, ...)
{
    va_list arguments;

    fprintf(stderr,
            "emulated CUDA: kernel %s, block (%u, %u, %u), thread (%u, %u, %u): ", b.launch->name,
            blockIdx.x, blockIdx.y, blockIdx.z, thread->index.x, thread->index.y, thread->index.z);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    abort();
}

static bool is_at_block(const struct thread *t)
{
    return b.warps[t->warp].at_block >> t->lane & 1;
}

static const char *place(const struct thread *t)
{
    static const char *const names[PP_MEETINGS] = {"__syncwarp",    "a shuffle", "a vote",
                                                   "a tensor core", "ldmatrix",  "ldmatrix.trans"};

    return is_at_block(t) ? "__syncthreads" : names[b.warps[t->warp].kind];
}

static bool waits(const struct thread *t)
{
    return is_at_block(t) || (b.warps[t->warp].waiting >> t->lane & 1);
}

void pp_emulated_fail_stuck(void)
{
    for (int i = 0; i < b.threads; i++) {
        const struct thread *t = &b.thread[i];
        if (!waits(t) || is_at_block(t))
            continue;
        for (int j = t->warp * LANES; j < b.threads && j < (t->warp + 1) * LANES; j++)
            if (is_at_block(&b.thread[j]))
                pp_emulated_fail(t, "waits at %s for thread (%u, %u, %u), which waits at %s",
                                 place(t), b.thread[j].index.x, b.thread[j].index.y,
                                 b.thread[j].index.z, place(&b.thread[j]));
    }
    pp_emulated_fail(&b.thread[0], "all threads wait for each other");
}
