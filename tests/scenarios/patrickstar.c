/* PatrickStar: state in chunks of 64 MB, on the device as far as it fits. Source: its repository,
 * doc/mgpu_scalability.png and examples/model_builder.py. */
#include "tests/scenarios/scenario.h"

#include "core/arena.h"
#include "core/quantile.h"

#include <math.h>
#include <stdio.h>

/* Its models (examples/model_builder.py), and the rate on 8 V100, flop/s a device, 8 flops for each
 * parameter and token. */
static const struct {
    double params_b;
    int layers, hidden;
    double tflops;
} CHUNKED[] = {{1, 20, 2048, 55.5},   {2, 40, 2048, 53.125},  {4, 64, 2304, 53.25},
               {6, 53, 3072, 60.25},  {8, 72, 3072, 58.375},  {10, 50, 4096, 61.75},
               {12, 60, 4096, 60.25}, {15, 78, 4096, 58.125}, {18, 90, 4096, 52.375}};

/* Matrices, biases and norms of blocks, both tables, the last norm. */
static double params_of(size_t i)
{
    const double h = CHUNKED[i].hidden;

    return CHUNKED[i].layers * (12 * h * h + 13 * h) + (50304 + 1024) * h + 2 * h;
}

static struct figures chunked(size_t i, int gpus, int mbs)
{
    return scenario_run("--preset patrickstar-yard --gpus %d --layers %d --hidden %d --mbs %d%s "
                        "--engine dag",
                        gpus, CHUNKED[i].layers, CHUNKED[i].hidden, mbs,
                        gpus == 1 ? " --zero 0" : "");
}

/* Prints the best micro-batch that fits, 1 to 64; returns the error of its rate. */
static double print_rate(size_t i)
{
    double best = 0, tokens = 0;
    int best_mbs = 0;

    for (int mbs = 1; mbs <= 64; mbs *= 2) {
        const struct figures f = chunked(i, 8, mbs);
        if (!f.fits)
            break;
        tokens = 1024.0 * mbs;
        const double tflops = 8 * params_of(i) * tokens / f.iteration_s / 1e12;
        if (tflops > best) {
            best = tflops;
            best_mbs = mbs;
        }
    }
    const double error = best / CHUNKED[i].tflops - 1;
    printf("%4g B  %3d x %4d  mbs %2d  %6.1f  %6.1f  %+6.1f %%\n", CHUNKED[i].params_b,
           CHUNKED[i].layers, CHUNKED[i].hidden, best_mbs, best, CHUNKED[i].tflops, 100 * error);
    return fabs(error);
}

static double largest_b(int gpus)
{
    double largest = 0;

    for (size_t i = 0; i < PP_COUNT(CHUNKED); i++)
        if (chunked(i, gpus, 8).fits)
            largest = CHUNKED[i].params_b;
    return largest;
}

static void rates(void)
{
    double errors[PP_COUNT(CHUNKED)];

    puts("pipesim --preset patrickstar-yard, 8 V100: TFLOP/s/GPU of the best micro-batch\n");
    puts("                              ours  published");
    for (size_t i = 0; i < PP_COUNT(CHUNKED); i++)
        errors[i] = print_rate(i);
    const double median = pp_median(errors, (int)PP_COUNT(CHUNKED));
    putchar('\n');
    scenario_assert(median <= 0.2, "the median error of the nine is at most 20 %%: %.1f %%",
                    100 * median);
}

static void largest(void)
{
    static const double published[] = {12, 12, 12, 18};

    puts("pipesim --preset patrickstar-yard --gpus N: the largest of its models that fits\n");
    for (int k = 0; k < 4; k++) {
        char name[64];
        snprintf(name, sizeof name, "largest model in B on %d GPU%s", 1 << k, k ? "s" : "");
        scenario_goal(name, largest_b(1 << k), published[k], 0);
    }
    scenario_assert(scenario_run("--preset patrickstar-superpod --engine dag").fits,
                    "68 B fit 8 A100 of 40 GB with 1 TiB");
    scenario_assert(
        scenario_run("--preset patrickstar-superpod --gpus 32 --layers 96 --hidden 12288 "
                     "--heads 96 --engine dag")
            .fits,
        "175 B fit 32 of them");
}

int main(int argc, char **argv)
{
    static const struct section sections[] = {{"rates", rates}, {"largest", largest}, {0}};

    return scenario_main(argc, argv, sections);
}
