/* Breadth-first pipelines: a 52 B model on 64 V100 (8 DGX-1), over the batch per GPU.
 * Source: Lamy-Poirier, arXiv 2211.05953. */
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

/* A way to train, and the layouts that it tries: tp, pp, chunks. The author's own implementation
 * shards all state (ZeRO 3, of the preset) and hides sums and gathers; Megatron-LM of that time has
 * neither, and exchanges messages between ops. */
enum { LAYOUTS = 5, WAYS = 4 };
struct layout {
    int tp, pp, vp;
};
static const struct way {
    const char *name, *options;
    bool is_own;
    struct layout layout[LAYOUTS];
} ways[WAYS] = {
    {"no pipeline", "--schedule 1f1b", true, {{1, 1, 1}, {4, 1, 1}, {8, 1, 1}}},
    {"1f1b",
     "--schedule 1f1b --zero 0 --framework megatron --post batched",
     false,
     {{8, 8, 1}, {4, 8, 1}, {4, 16, 1}}},
    {"interleaved",
     "--schedule interleaved --zero 0 --framework megatron --post batched",
     false,
     {{8, 8, 8}, {8, 8, 4}, {4, 8, 8}, {4, 16, 4}, {4, 16, 2}}},
    {"bfs", "--schedule bfs", true, {{8, 8, 8}, {4, 8, 8}, {2, 8, 8}, {1, 8, 8}, {1, 4, 8}}},
};
enum { BREADTH = WAYS - 1 };

struct best {
    struct figures figures;
    struct layout layout;
    int mbs;
};

static void try_layout(const struct way *way, struct layout l, int batch, int mbs,
                       struct best *best)
{
    const int dp = GPUS / (l.tp * l.pp), n = batch / (dp * mbs);
    char vp[32] = "";

    if (n < 1 || batch % (dp * mbs) != 0 || (!way->is_own && l.vp > 1 && n % l.pp != 0))
        return;
    if (l.vp > 1)
        snprintf(vp, sizeof(vp), "--vp %d ", l.vp);
    const struct figures f =
        scenario_run("--preset bfs-52b %s --tp %d --pp %d %s--mbs %d --gbs %d --engine dag",
                     way->options, l.tp, l.pp, vp, mbs, batch);
    if (f.fits && (best->mbs == 0 || f.samples_per_s > best->figures.samples_per_s))
        *best = (struct best){f, l, mbs};
}

static struct best best_of(const struct way *way, int batch)
{
    struct best best = {0};

    for (int i = 0; i < LAYOUTS && way->layout[i].tp > 0; i++)
        for (int mbs = 1; mbs <= 4; mbs *= 2)
            try_layout(way, way->layout[i], batch, mbs, &best);
    return best;
}

static void print_best(struct best best)
{
    if (best.mbs == 0)
        printf("  %18s", "-");
    else
        printf("  %5.2f %-2d %-2d %-2d %d %d", best.figures.samples_per_s, best.layout.tp,
               best.layout.pp, GPUS / (best.layout.tp * best.layout.pp), best.layout.vp, best.mbs);
}

static void throughput(void)
{
    double gain[BATCHES];
    bool is_ahead = true;

    puts("pipesim --preset bfs-52b ... --engine dag: samples/s of the best layout that fits,");
    puts("its tp, pp, dp, vp, mbs\n");
    puts("samples");
    puts(
        "a GPU   all  no pipeline         1f1b                interleaved         bfs              "
        "   gain");
    for (int i = 0; i < BATCHES; i++) {
        struct best best[WAYS];
        printf("%5.3f  %4d", (double)batches[i] / GPUS, batches[i]);
        for (int w = 0; w < WAYS; w++) {
            best[w] = best_of(&ways[w], batches[i]);
            print_best(best[w]);
        }
        double others = 0;
        for (int w = 0; w < BREADTH; w++)
            if (!ways[w].is_own)
                others = fmax(others, best[w].figures.samples_per_s);
        gain[i] = best[BREADTH].figures.samples_per_s / others;
        printf("  %5.2f\n", gain[i]);
        is_ahead = is_ahead && (i > 2 || (gain[i] > 1 && best[BREADTH].figures.samples_per_s >
                                                             best[0].figures.samples_per_s));
    }
    puts("gain: bfs over the better of 1f1b and interleaved\n");
    scenario_assert(is_ahead, "breadth-first ahead of all others at the three smallest batches");
    for (int i = 0; i < 3; i++) {
        char what[64];
        snprintf(what, sizeof(what), "gain at %d samples", batches[i]);
        scenario_goal(what, gain[i], 1.43, 0.15);
    }
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
