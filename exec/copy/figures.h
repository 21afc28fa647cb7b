/* exec/copy/figures.h — what a worker has done on other memory tiers, read between steps. */
#pragma once

#include "core/cluster/tiers.h"
#include "schedules/memory/copied.h"

#include <stddef.h>

struct pp_machine;

/* Bytes are those of one worker. Those of blocks and files were ever written; 0 unless memory is
 * poisoned. The others were copied in the last step. */
struct pp_tier_figures {
    uint64_t written_bytes[PP_TIERS]; /* that of the device: pp_machine_touched() */
    struct pp_copied copied[PP_STATE_CLASSES];
};
/* Fills the figures of the first device of a rank. Is false if it is a worker of another process.
 * PP_EFAIL if the device does not answer. */
enum pp_status pp_copy_figures(const struct pp_machine *machine, int rank, int replica,
                               struct pp_tier_figures *figures, bool *is_here,
                               struct pp_error *err);
