/* The functions of a grid that a result file calls, without a simulator. */
#include "tests/unit/sim/sweep/file/fake_grid.h"

#include <inttypes.h>

int64_t fake_base, fake_stride = 1;

int64_t fake_value(int64_t point)
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
