/* exec/tiers/checksum.h — XXH64, a hash of 64 bits as fast as memory (Collet, xxHash specification,
 * section "XXH64 Algorithm Description"), with seed 0. */
#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t pp_tier_checksum(const void *bytes, size_t count);
