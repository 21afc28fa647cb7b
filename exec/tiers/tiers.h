/* exec/tiers/tiers.h — memory tiers of a run: caps of each rank, folder of files, rates. */
#pragma once

#include "core/cluster/tiers.h"

#include <stddef.h>

struct pp_tier_options {
    size_t most_bytes[PP_TIERS]; /* of a rank; 0 = no cap */
    const char *dir;             /* folder of files for PP_TIER_NVME; NULL = not given */
    /* Between each tier and the device, each way, on the virtual clock; 0 = of the device. */
    double bytes_per_s[PP_TIERS];
};

/* Place of data on a tier: bytes from the begin of a rank's block, or of its file. */
struct pp_tier_place {
    enum pp_tier tier;
    size_t offset;
};
