/* exec/tiers/tiers.h — memory tiers of a run: caps of each rank, folder of files. */
#pragma once

#include "core/cluster/tiers.h"

#include <stddef.h>

struct pp_tier_options {
    size_t most_bytes[PP_TIERS]; /* of a rank; 0 = no cap */
    const char *dir;             /* folder of files for PP_TIER_NVME; NULL = not given */
};

/* Place of data on a tier: bytes from the begin of a rank's block, or of its file. */
struct pp_tier_place {
    enum pp_tier tier;
    size_t offset;
};

/* Begins of data in a block of a tier are multiples of these bytes; in a file, of its blocks. */
enum { PP_TIER_LINE = 64, PP_TIER_BLOCK = 64 << 10 };
/* Returns where the next data may begin. */
static inline size_t pp_tier_end(enum pp_tier tier, size_t end)
{
    const size_t unit = tier == PP_TIER_NVME ? PP_TIER_BLOCK : PP_TIER_LINE;

    return (end + unit - 1) / unit * unit;
}
