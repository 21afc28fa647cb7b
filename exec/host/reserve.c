/* Reserved addresses: inaccessible pages, of which the kernel keeps no account. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, madvise */
#include "exec/host/host.h"

#include <stdint.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };
struct reservation {
    void *mapped, *at;
    size_t bytes;
};

static void unmap(void *closure)
{
    const struct reservation *r = closure;

    munmap(r->mapped, r->bytes);
}

void *pp_host_reserve(struct pp_arena *arena, size_t bytes)
{
    struct reservation *r = PP_NEW(arena, struct reservation);

    r->bytes = bytes + 2 * (size_t)HUGE_PAGE;
    r->mapped = mmap(NULL, r->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (r->mapped == MAP_FAILED)
        return NULL;
    pp_arena_defer(arena, unmap, r);
    r->at = (char *)r->mapped + (HUGE_PAGE - (uintptr_t)r->mapped % HUGE_PAGE) % HUGE_PAGE;
    if (bytes >= HUGE_PAGE)
        madvise(r->at, bytes, MADV_HUGEPAGE); /* optional: fewer TLB misses */
    return r->at;
}

bool pp_host_commit(void *reserved, size_t bytes)
{
    return mprotect(reserved, bytes, PROT_READ | PROT_WRITE) == 0;
}

void pp_host_release(void *reserved, size_t bytes)
{
    madvise(reserved, bytes, MADV_DONTNEED);
    mprotect(reserved, bytes, PROT_NONE);
}
