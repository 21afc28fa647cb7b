/* sim/config/scale.h — figures of unit mode, comparable across numbers of chunks.
 *
 * Unit costs are those of a chunk, so a rank with VP chunks has VP times the work. Divided by VP,
 * they are costs of a whole rank. A message costs the same for any VP: if messages cost time (C),
 * steps stay as they are. */
#pragma once

#include "sim/config/config.h"

enum pp_scale {
    PP_SCALE_GIVEN, /* seconds, or units of runs whose ranks have one chunk */
    PP_SCALE_CHUNK, /* units of a chunk, because messages cost time */
    PP_SCALE_RANK   /* units of a whole rank */
};
/* The work that a unit cost is for, such as "a rank". */
extern const char *const pp_scale_words[];
/* The scale of runs that are shown together, without refused ones. */
enum pp_scale pp_scale_of(const struct pp_result *const *results, int count);
/* Divides the times of a run. */
double pp_scale_divisor(const struct pp_result *result, enum pp_scale scale);
/* Most activations of a rank, in micro-batches of a whole rank. */
double pp_scale_micro_batches(const struct pp_result *result);
