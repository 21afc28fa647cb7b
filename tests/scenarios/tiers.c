/* Memory tiers: presets of systems that train models larger than their devices. Sources stand with
 * the presets (`pipesim presets NAME`). */
#include "tests/scenarios/scenario.h"

#include "core/arena.h"

#include <math.h>
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

/* ---- Merak: when and whether blocks are recomputed, order, split products -------------------- */

/* F = 1, B = 2, R = 1 and messages of C. */
struct unit_row {
    int pp, micro_batches;
    double message, step[7]; /* closed forms of docs/recomputation.md */
};

static const char *const UNIT_OPTIONS[] = {
    "--unit F=1,B=2,C=%g",
    "--unit F=1,B=2,R=1,C=%g --recompute full,late",
    "--unit F=1,B=2,R=1,C=%g --recompute full",
    "--unit F=1,B=2,R=1,C=%g --recompute full,late,skip",
    "--unit F=1,B=2,R=1,C=%g --recompute full,skip",
    "--unit F=1,B=2,R=1,C=%g --recompute full,skip --shifted 1",
    "--unit F=1,B=2,R=1,C=%g --recompute full,late --shifted 1",
};

static bool print_units(const struct unit_row *row)
{
    bool is_same = true;

    printf("%2d %3d %5.2f", row->pp, row->micro_batches, row->message);
    for (size_t i = 0; i < PP_COUNT(UNIT_OPTIONS); i++) {
        char options[128];
        snprintf(options, sizeof options, UNIT_OPTIONS[i], row->message);
        const double step = scenario_run("--schedule 1f1b --pp %d --micro-batches %d %s", row->pp,
                                         row->micro_batches, options)
                                .iteration_s;
        printf("%7.1f", step);
        is_same = is_same && fabs(step - row->step[i]) < 1e-9;
    }
    putchar('\n');
    return is_same;
}

static double merak_s(const char *again, const char *order, const char *split)
{
    return scenario_run("--schedule 1f1b --model gpt-3.6b --cluster 'rtx4090 gpu:4' --gpus 64 "
                        "--pp 8 --tp 4 --mbs 4 --gbs 256 --seq 1024 --recompute %s %s %s "
                        "--engine dag",
                        again, order, split)
        .iteration_s;
}

static void merak(void)
{
    static const struct unit_row rows[] = {
        {4, 4, 0, {21, 28, 25, 26, 23, 22, 28}},
        {4, 8, 0, {33, 44, 41, 42, 39, 38, 44}},
        {8, 16, 0, {69, 92, 85, 90, 83, 82, 92}},
        {8, 32, 0, {117, 156, 149, 154, 147, 146, 156}},
        {4, 8, 0.25, {37, 48, 42.5, 46, 40.5, 40, 48}},
    };
    bool is_same = true;

    puts("pipesim --schedule 1f1b --pp P --micro-batches N --unit F=1,B=2,R=1,C=C: units\n");
    puts(" P   N     C   none   late  early   skip  early, shifted late,");
    puts("                                    late   skip    too  shifted");
    for (size_t i = 0; i < PP_COUNT(rows); i++)
        is_same = print_units(&rows[i]) && is_same;
    putchar('\n');
    scenario_assert(is_same, "every step is that of its closed form");

    const double late = merak_s("stage-aware=0.75,late", "", ""),
                 early = merak_s("stage-aware=0.75", "", ""),
                 skip = merak_s("stage-aware=0.75,skip", "", ""),
                 shifted = merak_s("stage-aware=0.75,skip", "--shifted 1", ""),
                 all = scenario_run("--preset merak --engine dag").iteration_s;
    printf("\npipesim --preset merak: %.2f s; late %.2f, early %.2f, skip %.2f, shifted %.2f\n\n",
           all, late, early, skip, shifted);
    scenario_assert(early <= late && skip <= early && shifted <= skip && all <= shifted,
                    "no switch makes the step slower");
    printf("  report  all of them: %.2f times as fast as late; published 1.39 over Megatron-LM\n",
           late / all);
}

/* ---- Mesa: saved values in 8 bits ------------------------------------------------------------ */

static void mesa(void)
{
    static const struct {
        const char *model;
        double ratio;
    } rows[] = {{"ti", 0.4455}, {"s", 0.4540}, {"b", 0.4870}};

    puts("pipesim --preset mesa-deit-X: peak with 8 bits over that without --act-bits\n");
    for (size_t i = 0; i < PP_COUNT(rows); i++) {
        const struct figures with =
            scenario_run("--preset mesa-deit-%s --engine dag", rows[i].model);
        const struct figures without = scenario_run(
            "--schedule 1f1b --model deit-%s --cluster v100-dgx1 --gpus 1 --pp 1 --tp 1 --mbs 128 "
            "--micro-batches 1 --attention unfused --recompute none --framework autocast --engine "
            "dag",
            rows[i].model);
        char name[64];
        printf("deit-%-3s %5.2f GiB, without %5.2f GiB\n", rows[i].model, with.peak_bytes / GIB,
               without.peak_bytes / GIB);
        scenario_assert(with.peak_bytes <= without.peak_bytes, "8 bits never take more");
        snprintf(name, sizeof name, "memory of deit-%s", rows[i].model);
        scenario_goal(name, with.peak_bytes / without.peak_bytes, rows[i].ratio,
                      0.03 / rows[i].ratio);
    }
}

/* ---- DeepSpeed: gradients and optimizer on the host, all state on the host or on drives ------ */

static void zero_offload(void)
{
    const struct figures f = scenario_run(
        "--preset zero-offload-10b --cluster 'v100-dgx2 memory:32480MiB' --engine dag");

    puts("pipesim --preset zero-offload-10b --cluster 'v100-dgx2 memory:32480MiB'\n");
    printf("  %-7s it fits: %.0f MiB\n", f.fits ? "met" : "missed", f.peak_bytes / MIB);
    scenario_goal("memory in MiB", f.peak_bytes / MIB, 32290, 0.1);
    scenario_goal("step in s", f.iteration_s, 25.7, 0.4);
    scenario_goal("forward in s", f.forward_s, 6.1, 0.4);
    scenario_goal("backward with recomputation in s", f.backward_s, 11.8, 0.4);
}

/* Models of one DGX-2 by width: the largest that ran, and 1.6 times as many layers. */
static const struct {
    const char *name, *options;
    double params_b;
    int layers, hidden, heads;
} LARGEST[] = {
    {"data parallel", "--zero 0", 1.4, 26, 2048, 16},
    {"ZeRO-Offload", "--zero 2 --offload g=host,os=host --cpu-optimizer --framework deepspeed", 13,
     64, 4096, 32},
    {"ZeRO-3", "--zero 3 --framework deepspeed", 20, 25, 8192, 64},
    {"host", "--zero 3 --offload p=host,g=host,os=host --cpu-optimizer --framework deepspeed", 70,
     87, 8192, 64},
    {"NVMe", "--zero 3 --offload p=nvme,g=nvme,os=nvme --cpu-optimizer --framework deepspeed", 1000,
     551, 12288, 96},
};

static bool fits_dgx2(int i, int layers)
{
    return scenario_run("--schedule 1f1b --cluster v100-dgx2 --gpus 16 --pp 1 --tp 1 --vocab 50304 "
                        "--seq 1024 --mbs 1 --micro-batches 1 --recompute full --layers %d "
                        "--hidden %d --heads %d %s --engine dag",
                        layers, LARGEST[i].hidden, LARGEST[i].heads, LARGEST[i].options)
        .fits;
}

static void zero_infinity(void)
{
    bool all = true;

    puts("the largest models that ran on one DGX-2, and 1.6 times their layers\n");
    puts("                 B   layers          1.6 times");
    for (int i = 0; i < (int)PP_COUNT(LARGEST); i++) {
        const int more = (int)ceil(1.6 * LARGEST[i].layers);
        const bool fits = fits_dgx2(i, LARGEST[i].layers), is_over = !fits_dgx2(i, more);
        printf("%-13s %5g %6d  %-7s %6d  %s\n", LARGEST[i].name, LARGEST[i].params_b,
               LARGEST[i].layers, fits ? "fits" : "exceeds", more, is_over ? "exceeds" : "fits");
        all = all && fits && is_over;
    }
    const struct figures f = scenario_run("--preset zero-infinity-dgx2 --engine dag");
    printf("\npipesim --preset zero-infinity-dgx2: %.1f GiB on a device, step %.0f s\n\n",
           f.peak_bytes / GIB, f.iteration_s);
    scenario_assert(all, "each of the five fits, and 1.6 times it does not");
}

/* ---- Elixir: a model far larger than its device ---------------------------------------------- */

static void elixir(void)
{
    const struct figures one = scenario_run("--preset elixir-opt30b --engine dag");
    const char *alone = "--schedule 1f1b --model opt-30b --cluster a100-40 --pp 1 --tp 1 --mbs 20 "
                        "--micro-batches 1 --seq 1024 --recompute full --engine dag";
    const struct figures here = scenario_run("%s --gpus 1", alone);
    const struct figures many = scenario_run("%s --gpus 16 --zero 3", alone);

    puts("pipesim --preset elixir-opt30b\n");
    printf("step %.1f s, peak %.1f GiB; 16 GPUs with ZeRO 3 %.1f s\n\n", one.iteration_s,
           one.peak_bytes / GIB, many.iteration_s);
    scenario_assert(one.fits && !here.fits, "it fits 40 GB only with its state on the host");
    scenario_goal("speed over that of 16 GPUs, a GPU", many.iteration_s / one.iteration_s, 0.84,
                  0.08 / 0.84);
}

/* ---- Harmony: everything moves, a chunk at a time -------------------------------------------- */

static void harmony(void)
{
    const struct figures pipeline = scenario_run("--preset harmony-bert96 --engine dag");
    const struct figures data =
        scenario_run("--preset harmony-bert96 --pp 1 --dp 2 --vp 12 --engine dag");

    puts("pipesim --preset harmony-bert96, and with --pp 1 --dp 2 --vp 12\n");
    scenario_assert(pipeline.fits && data.fits, "both fit");
    scenario_goal("step of the pipeline in s", pipeline.iteration_s, 17.874, 0.35);
    scenario_goal("data-parallel step in s", data.iteration_s, 19.421, 0.35);
    scenario_goal("pipeline over data-parallel", pipeline.iteration_s / data.iteration_s, 0.9203,
                  0.08);
}

int main(int argc, char **argv)
{
    static const struct section sections[] = {{"axonn", axonn},
                                              {"colossal", colossal},
                                              {"elixir", elixir},
                                              {"harmony", harmony},
                                              {"merak", merak},
                                              {"mesa", mesa},
                                              {"zero-infinity", zero_infinity},
                                              {"zero-offload", zero_offload},
                                              {0}};

    return scenario_main(argc, argv, sections);
}
