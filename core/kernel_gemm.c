/* How fast matrix products are by shape.
 *
 * The output is cut into tiles; a multiprocessor computes one tile at a time, so that the tiles run
 * in waves and the last wave may be nearly empty (NVIDIA, "Matrix Multiplication Background User's
 * Guide", tile and wave quantization). Each tile pays for filling and draining its pipeline, worth
 * a few steps along k. Libraries choose among tile shapes: large ones load less per product. */
#include "core/kernel.h"

#include <math.h>

/* Tile shapes with the share of the largest tile's speed: loads of tile_m + tile_n values feed
 * tile_m * tile_n products. */
static const struct tile {
    int m, n;
    double speed;
} tiles[] = {
    {256, 128, 1.00}, {128, 256, 1.00}, {128, 128, 0.94},
    {128, 64, 0.80},  {64, 128, 0.80},  {64, 64, 0.65},
};
enum { TILES = sizeof tiles / sizeof *tiles, PARTS_MAX = 8 };

/* Steps along k that filling the pipeline and writing a tile are worth. */
static const double ramp = 96;
/* Partial sums are in fp32, written by each part and read once. */
static const double part_bytes = 8;

struct pp_gemm_plan pp_gemm_plan(const struct pp_device *device, struct pp_gemm g)
{
    struct pp_gemm_plan best = {.eta = 0};

    for (int t = 0; t < TILES; t++) {
        const double count = ceil(g.m / tiles[t].m) * ceil(g.n / tiles[t].n) * g.batch;
        for (int parts = 1; parts <= PARTS_MAX; parts *= 2) {
            const double k = g.k / parts;
            const double waves = ceil(count * parts / device->multiprocessors);
            /* steps of all multiprocessors against those that do useful work */
            const double steps = waves * device->multiprocessors * (k + ramp) * tiles[t].m *
                                 tiles[t].n / tiles[t].speed;
            const double eta = device->gemm_eta * g.m * g.n * g.k * g.batch / steps;
            if (eta > best.eta)
                best = (struct pp_gemm_plan){
                    .tile_m = tiles[t].m,
                    .tile_n = tiles[t].n,
                    .parts = parts,
                    .eta = eta,
                    .extra_bytes = parts > 1 ? parts * part_bytes * g.m * g.n * g.batch : 0,
                };
            if (count * parts >= device->multiprocessors)
                break; /* enough tiles for all */
        }
    }
    return best;
}
