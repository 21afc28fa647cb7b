/* tests/unit/fake_grid.h — a grid without a simulator behind it: point k has the value
 * base + stride * k, and everything follows from the value. */
#ifndef PP_TESTS_FAKE_GRID_H
#define PP_TESTS_FAKE_GRID_H

#include "sim/sweep/sweep.h"

#include <inttypes.h>

#define FAKE_HEADER "point,value,text,fits,status,reason,points,key"

static int64_t fake_base, fake_stride = 1;

static inline int64_t fake_value(int64_t point)
{
    return fake_base + fake_stride * point;
}

void pp_sweep_header(const struct pp_grid *grid, FILE *out)
{
    (void)grid;
    fputs(FAKE_HEADER, out);
}

const char *pp_grid_text(struct pp_arena *arena, const struct pp_grid *grid, int64_t point)
{
    (void)grid;
    return pp_arena_printf(arena, "--value %" PRId64, fake_value(point));
}

const char *pp_grid_key(const struct pp_grid *grid, int64_t point, char key[PP_SWEEP_KEY_BYTES])
{
    (void)grid;
    snprintf(key, PP_SWEEP_KEY_BYTES, "%016" PRIx64,
             (uint64_t)(fake_value(point) + 1) * 0x9e3779b97f4a7c15u);
    return key;
}

#endif
