/* Writes to a tier's file that begin anywhere. */
#include "exec/tiers/parts.h"

#include <string.h>

/* Puts bytes from `head` of a block on into it. */
static enum pp_status patch_block(struct pp_tier_file *file, size_t block, size_t head,
                                  size_t bytes, const char *memory, struct pp_error *err)
{
    const size_t begin = block * PP_TIER_BLOCK, filled = file->filled[block], end = head + bytes;

    if (head > 0 || end < filled)
        PP_TRY(pp_tier_file_read(file, begin, filled > head ? filled : head, file->patched, err));
    memcpy(file->patched + head, memory, bytes);
    return pp_tier_file_write(file, begin, end > filled ? end : filled, file->patched, err);
}

static enum pp_status patch(struct pp_tier_file *file, size_t offset, size_t bytes,
                            const char *memory, struct pp_error *err)
{
    while (bytes > 0) {
        const size_t head = offset % PP_TIER_BLOCK, room = PP_TIER_BLOCK - head,
                     whole = bytes / PP_TIER_BLOCK * PP_TIER_BLOCK,
                     some = head == 0 && whole > 0 ? whole
                            : bytes < room         ? bytes
                                                   : room;

        if (some == whole && head == 0)
            PP_TRY(pp_tier_file_write(file, offset, some, memory, err));
        else
            PP_TRY(patch_block(file, offset / PP_TIER_BLOCK, head, some, memory, err));
        offset += some;
        memory += some;
        bytes -= some;
    }
    return PP_OK;
}

enum pp_status pp_tier_file_patch(struct pp_tier_file *file, size_t offset, size_t bytes,
                                  const void *memory, struct pp_error *err)
{
    pthread_mutex_lock(&file->patch_mutex);
    const enum pp_status status = patch(file, offset, bytes, memory, err);
    pthread_mutex_unlock(&file->patch_mutex);
    return status;
}
