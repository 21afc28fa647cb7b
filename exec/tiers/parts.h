/* exec/tiers/parts.h — a tier's file from inside: private to exec/tiers. */
#pragma once

#include "exec/tiers/file.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

enum {
    PP_TIER_SECTOR = 4096,   /* addresses, offsets and bytes of direct I/O are multiples */
    PP_TIER_PIECE = 1 << 20, /* bytes of a request */
    PP_TIER_IN_FLIGHT = 2,   /* requests of a transfer */
    PP_TIER_LANES = 3,       /* transfers at once: a rank's streams down, up and host */
};

/* Buffers of a transfer, at multiples of PP_TIER_SECTOR. */
struct pp_tier_lane {
    atomic_bool is_taken;
    char *bounce[PP_TIER_IN_FLIGHT]; /* PP_TIER_PIECE each */
};

struct pp_tier_file {
    int fd;
    bool is_direct;
    size_t bytes; /* a multiple of PP_TIER_BLOCK */
    const char *dir, *owner;
    uint64_t *sums;         /* by block */
    uint32_t *filled;       /* by block: bytes of its last write; 0 = none, or it failed */
    atomic_int fault;       /* enum pp_tier_fault */
    atomic_uint given_back; /* changes when a lane is; a futex */
    struct pp_tier_lane lanes[PP_TIER_LANES];
    char *patched; /* a block of pp_tier_file_patch() */
    pthread_mutex_t patch_mutex;
};

/* ---- faults.c: faults for tests -------------------------------------------------------------- */
/* Takes the fault that is set for the next read or write. */
enum pp_tier_fault pp_tier_fault_take(struct pp_tier_file *file, bool is_write);
/* Changes a bit of the file, in the middle of what the block has. `sector` is a buffer. */
void pp_tier_fault_flip(const struct pp_tier_file *file, size_t block, char *sector);
/* Changes the result of a request, once. */
void pp_tier_fault_spoil(enum pp_tier_fault *fault, ssize_t *result);
