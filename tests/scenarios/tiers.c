/* Memory tiers: presets of systems that train models larger than their devices. Sources stand with
 * the presets (`pipesim presets NAME`). */
#include "tests/scenarios/scenario.h"

#include <stdio.h>

#define MIB (1024.0 * 1024.0)
#define GIB (1024.0 * MIB)

/* ---- AxoNN: optimizer state on the host, one bucket back ------------------------------------- */

static void axonn(void)
{
    const struct figures f = scenario_run("--preset axonn-12b --engine dag");
    const struct figures here = scenario_run("--schedule 1f1b --layers 48 --hidden 4512 --heads 24 "
                                             "--cluster 'v100-16 gpu:6' --gpus 48 --pp 6 --tp 1 "
                                             "--mbs 4 --gbs 2048 --seq 512 --recompute full "
                                             "--framework axonn --engine dag");

    puts("pipesim --preset axonn-12b\n");
    printf("step %.1f s, peak %.1f GiB; with the state on the device %.1f GiB\n\n", f.iteration_s,
           f.peak_bytes / GIB, here.peak_bytes / GIB);
    scenario_assert(f.fits && !here.fits, "it fits 16 GB only with the state on the host");
    printf("  report  share of the peak: %.1f %%, published 49.4 to 54.8 %%\n", 100 * f.hfu);
}

/* ---- Colossal-AI ----------------------------------------------------------------------------- */

static void colossal(void)
{
    const struct figures f = scenario_run("--preset colossal-h200-7b --engine dag");

    puts("pipesim --preset colossal-h200-7b\n");
    scenario_assert(f.fits, "it fits");
    scenario_goal("samples/s", f.samples_per_s, 17.13, 0.15);
    scenario_goal("peak memory in MiB", f.peak_bytes / MIB, 119040, 0.15);
}

int main(int argc, char **argv)
{
    static const struct section sections[] = {{"axonn", axonn}, {"colossal", colossal}, {0}};

    return scenario_main(argc, argv, sections);
}
