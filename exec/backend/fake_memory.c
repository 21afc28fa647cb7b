/* exec/backend/fake_memory.c — memory that is protected while no work runs. Host code that accesses
 * it by mistake crashes at once, also where there is no GPU. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "exec/backend/fake.h"
#include "exec/backend/poison.h"

#include <sys/mman.h>
#include <unistd.h>

static size_t whole_pages(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return (bytes / page + 1) * page;
}

enum pp_status pp_fake_alloc(struct pp_backend_device *d, size_t bytes, void **memory,
                             struct pp_error *err)
{
    struct fake_block block = {MAP_FAILED, whole_pages(bytes)};

    if (block.bytes > bytes)
        block.memory =
            mmap(NULL, block.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block.memory == MAP_FAILED)
        return pp_error_set(err, PP_EFAIL, "not enough memory for a block of %zu bytes", bytes);
    pp_memory_poison(block.memory, bytes);
    mprotect(block.memory, block.bytes, PROT_NONE);
    *PP_PUSH(d->arena, d->blocks, d->block_count, d->block_capacity) = block;
    *memory = block.memory;
    return PP_OK;
}

void pp_fake_free_all(struct pp_backend_device *d)
{
    for (int i = 0; i < d->block_count; i++)
        munmap(d->blocks[i].memory, d->blocks[i].bytes);
}

static void protect_all(struct pp_backend_device *d, int protection)
{
    for (int i = 0; i < d->block_count; i++)
        mprotect(d->blocks[i].memory, d->blocks[i].bytes, protection);
}

void pp_fake_open_memory(struct pp_backend_device *d)
{
    if (d->opened++ == 0)
        protect_all(d, PROT_READ | PROT_WRITE);
}

void pp_fake_shut_memory(struct pp_backend_device *d)
{
    if (--d->opened == 0)
        protect_all(d, PROT_NONE);
}
