/* exec/tiers/file.h — the memory of a rank on NVMe: a file that has no name.
 *
 * The file is created in a directory and unlinked at once, so that it is gone when its process is.
 * All its bytes are reserved before anything runs. Where the file system allows, transfers go
 * around the page cache. Two requests of a transfer are in flight at once.
 *
 * Each block of the file has a checksum in memory. A write makes it, a read verifies it. A read
 * that fails fills the caller's memory with bytes of 0xff: nothing computes with what came.
 *
 * A block is written from its begin, and has the bytes of its last write. A read begins anywhere.
 * Bytes that no write has left in a block are an error. Threads read and write at once. So do
 * processes that are forked later, if the arena is shared. Two transfers of which one writes a
 * block of both are never under way at once. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pp_tier_file;

/* Bytes of a block. A write begins at a multiple of it; its last block may be shorter. */
enum { PP_TIER_BLOCK = 64 << 10 };
/* Smallest multiple of PP_TIER_BLOCK that is not less than `bytes`. */
static inline size_t pp_tier_round(size_t bytes)
{
    return (bytes + PP_TIER_BLOCK - 1) / PP_TIER_BLOCK * PP_TIER_BLOCK;
}

/* Bytes of memory that the transfers of a file take: their buffers, and checksums. 0 without bytes.
 */
size_t pp_tier_file_memory_bytes(size_t bytes);
/* Opens a file of `bytes` in the directory `dir`. `owner` says whose it is, for messages: "rank 1".
 * All memory that transfers need is taken from the arena here; the file closes with the arena.
 * PP_EFAIL: `dir` is no directory (names the nearest), takes no file, or has less room. */
enum pp_status pp_tier_file_open(struct pp_arena *arena, const char *dir, size_t bytes,
                                 const char *owner, struct pp_tier_file **file,
                                 struct pp_error *err);
/* Transfers go around the page cache. */
bool pp_tier_file_is_direct(const struct pp_tier_file *file);
/* Bytes that writes have left in the file, each once. */
size_t pp_tier_file_written_bytes(const struct pp_tier_file *file);

/* Both return when all is done. Memory at a multiple of 4096 is transferred without a further copy.
 * PP_EFAIL names owner, directory and offset. The disk is full, or the device fails. A transfer is
 * short, a checksum differs, or bytes were never written. */
enum pp_status pp_tier_file_write(struct pp_tier_file *file, size_t offset, size_t bytes,
                                  const void *memory, struct pp_error *err);
enum pp_status pp_tier_file_read(struct pp_tier_file *file, size_t offset, size_t bytes,
                                 void *memory, struct pp_error *err);

/* Writes bytes that begin anywhere, between steps: blocks that keep some of theirs are read first.
 * What is before them in their first block has been written. */
enum pp_status pp_tier_file_patch(struct pp_tier_file *file, size_t offset, size_t bytes,
                                  const void *memory, struct pp_error *err);

/* Faults for tests: the next read (FLIP, SHORT, EIO) or write (FULL) meets one. FLIP changes a bit
 * of the file itself. The last one set counts. */
enum pp_tier_fault {
    PP_TIER_SOUND,
    PP_TIER_FLIP,
    PP_TIER_SHORT,
    PP_TIER_EIO,
    PP_TIER_FULL,
};
void pp_tier_file_break(struct pp_tier_file *file, enum pp_tier_fault fault);
