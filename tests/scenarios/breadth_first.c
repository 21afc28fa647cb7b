/* Breadth-first pipelines: a 52 B model on 64 V100 (8 DGX-1), over the batch per GPU.
 * Source: Lamy-Poirier, arXiv 2211.05953. There parameters are sharded as well, which pipesim
 * cannot do yet: the sweep shows bubbles and network, not the memory of the published runs. */
#include "tests/scenarios/scenario.h"

#include <math.h>
#include <stdio.h>

enum { GPUS = 64, RANKS = 8, CHUNKS = 8 };
static const int batches[] = {8, 16, 32, 64, 128, 256}; /* samples: 1/8 to 4 a GPU */
enum { BATCHES = sizeof(batches) / sizeof(*batches) };

/* What the bubble adds to the ideal step. */
static double overhead(struct figures f)
{
    return f.bubble_frac / (1 - f.bubble_frac);
}

static void bubbles(void)
{
    bool is_exact = true;

    puts("pipesim --preset bfs-52b --schedule S --micro-batches N --unit F=1,B=2\n");
    puts("samples       bubble over the ideal step, %");
    puts("a GPU     N      1f1b  interleaved       bfs  (P-1)/(N V)");
    for (int i = 0; i < BATCHES; i++) {
        const int n = batches[i]; /* one replica */
        const struct figures flat =
            scenario_run("--preset bfs-52b --schedule 1f1b --micro-batches %d --unit F=1,B=2", n);
        const struct figures depth = scenario_run(
            "--preset bfs-52b --schedule interleaved --micro-batches %d --unit F=1,B=2", n);
        const struct figures breadth =
            scenario_run("--preset bfs-52b --schedule bfs --micro-batches %d --unit F=1,B=2", n);
        const double formula = (RANKS - 1.0) / (n * CHUNKS);
        printf("%5.3f  %4d  %8.5f  %11.5f  %8.5f  %11.5f\n", (double)batches[i] / GPUS, n,
               100 * overhead(flat), 100 * overhead(depth), 100 * overhead(breadth), 100 * formula);
        is_exact = is_exact && fabs(overhead(breadth) - formula) < 1e-12 &&
                   fabs(overhead(depth) - formula) < 1e-12 &&
                   fabs(overhead(flat) - CHUNKS * formula) < 1e-12;
    }
    putchar('\n');
    scenario_assert(is_exact, "(P-1)/(N V) exactly for interleaved and bfs, (P-1)/N for 1f1b");
}

enum { NONE, FLAT, DEPTH, BREADTH, WAYS };
static const struct {
    const char *name, *options;
} ways[WAYS] = {
    [NONE] = {"no pipeline", "--schedule 1f1b --pp 1"},
    [FLAT] = {"1f1b", "--schedule 1f1b"},
    [DEPTH] = {"interleaved", "--schedule interleaved"},
    [BREADTH] = {"bfs", "--schedule bfs"},
};

static double over_best(const struct figures run[WAYS])
{
    return run[BREADTH].samples_per_s / fmax(run[FLAT].samples_per_s, run[DEPTH].samples_per_s);
}

static void print_row(int batch, const struct figures run[WAYS])
{
    printf("%5.3f  %4d", (double)batch / GPUS, batch);
    for (int w = 0; w < WAYS; w++)
        printf("  %6.3f s %5.2f%s", run[w].iteration_s, run[w].samples_per_s,
               run[w].fits ? " " : "!");
    printf("  %5.2f  %6.2f\n", run[BREADTH].samples_per_s / run[FLAT].samples_per_s,
           over_best(run));
}

static void throughput(void)
{
    double gain[BATCHES], smallest = 0;
    bool is_bubble_first = true;
    struct figures run[WAYS];

    printf("pipesim --preset bfs-52b --schedule S --gbs N, engine %s: step, samples/s\n\n",
           scenario_run("--preset bfs-52b").engine);
    puts("samples      no pipeline      1f1b             interleaved      bfs              bfs "
         "over");
    puts("a GPU   all  dp 8             pp 8             pp 8, vp 8       pp 8, vp 8        1f1b  "
         "  best");
    for (int i = 0; i < BATCHES; i++) {
        for (int w = 0; w < WAYS; w++)
            run[w] = scenario_run("--preset bfs-52b %s --gbs %d", ways[w].options, batches[i]);
        print_row(batches[i], run);
        gain[i] = run[BREADTH].samples_per_s / run[FLAT].samples_per_s;
        smallest = i == 0 ? over_best(run) : smallest;
        is_bubble_first = is_bubble_first && gain[i] > 1 && (i == 0 || gain[i] < gain[i - 1]) &&
                          run[FLAT].samples_per_s > run[NONE].samples_per_s;
    }
    puts("! exceeds 32 GB; best: the better of 1f1b and interleaved\n");
    scenario_assert(is_bubble_first,
                    "bfs > 1f1b > no pipeline, and what bfs gains over 1f1b falls with the batch");
    scenario_goal("bfs over the best of the others, smallest batch", smallest, 1.43, 0.15);
}

int main(int argc, char **argv)
{
    static const struct section sections[] = {
        {"bubbles", bubbles},
        {"throughput", throughput},
        {0},
    };

    return scenario_main(argc, argv, sections);
}
