/* exec/tiers/tiers.h — memory tiers of a run: caps of each rank, folder of files. */
#pragma once

#include "core/cluster/tiers.h"
#include "exec/tiers/file.h"

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

/* Returns where the next data of a block may begin, after data that end there. */
static inline size_t pp_tier_end(enum pp_tier tier, size_t end)
{
    enum { LINE = 64 };

    return tier == PP_TIER_NVME ? pp_tier_round(end) : (end + LINE - 1) / LINE * LINE;
}
