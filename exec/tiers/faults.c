/* Faults of a tier's file, for tests. */
#include "exec/tiers/parts.h"

#include <errno.h>
#include <unistd.h>

void pp_tier_file_break(struct pp_tier_file *file, enum pp_tier_fault fault)
{
    atomic_store(&file->fault, (int)fault);
}

enum pp_tier_fault pp_tier_fault_take(struct pp_tier_file *file, bool is_write)
{
    int fault = atomic_load(&file->fault);
    const bool meets = fault != PP_TIER_SOUND && (fault == PP_TIER_FULL) == is_write;

    if (!meets || !atomic_compare_exchange_strong(&file->fault, &fault, PP_TIER_SOUND))
        return PP_TIER_SOUND;
    return (enum pp_tier_fault)fault;
}

void pp_tier_fault_flip(const struct pp_tier_file *file, size_t block, char *sector)
{
    const size_t at = file->filled[block] / 2;
    const off_t offset = (off_t)(block * PP_TIER_BLOCK + at / PP_TIER_SECTOR * PP_TIER_SECTOR);

    if (pread(file->fd, sector, PP_TIER_SECTOR, offset) != PP_TIER_SECTOR)
        return;
    sector[at % PP_TIER_SECTOR] ^= (char)(1 << block % 8);
    if (pwrite(file->fd, sector, PP_TIER_SECTOR, offset) != PP_TIER_SECTOR)
        return;
}

void pp_tier_fault_spoil(enum pp_tier_fault *fault, ssize_t *result)
{
    if (*fault == PP_TIER_SHORT)
        *result /= 2;
    if (*fault == PP_TIER_EIO)
        *result = -EIO;
    if (*fault == PP_TIER_FULL)
        *result = -ENOSPC;
    *fault = PP_TIER_SOUND;
}
