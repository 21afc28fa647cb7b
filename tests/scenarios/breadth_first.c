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
 * shards all state (ZeRO 3, of the preset) and overlaps sums and gathers. Megatron-LM of that time
 * has neither, and exchanges messages between ops. */
enum { LAYOUTS = 5 };
enum { NO_PIPELINE, FLAT, DEPTH, BREADTH, OWN_WAYS };
/* The same in the software of Megatron-LM, and with its messages concurrent with compute. */
enum { BREADTH_ALIKE = OWN_WAYS, FLAT_EARLY, DEPTH_EARLY, WAYS };
struct layout {
    int tp, pp, vp;
};
#define FLAT_LAYOUTS                                                                               \
    {8, 8, 1}, {4, 8, 1},                                                                          \
    {                                                                                              \
        4, 16, 1                                                                                   \
    }
#define DEPTH_LAYOUTS                                                                              \
    {8, 8, 8}, {8, 8, 4}, {4, 8, 8}, {4, 16, 4},                                                   \
    {                                                                                              \
        4, 16, 2                                                                                   \
    }
#define BREADTH_LAYOUTS                                                                            \
    {8, 8, 8}, {4, 8, 8}, {2, 8, 8}, {1, 8, 8},                                                    \
    {                                                                                              \
        1, 4, 8                                                                                    \
    }
static const struct way {
    const char *name, *options;
    bool is_own;
    struct layout layout[LAYOUTS];
} ways[WAYS] = {
    {"no pipeline", "--schedule 1f1b", true, {{1, 1, 1}, {4, 1, 1}, {8, 1, 1}}},
    {"1f1b", "--schedule 1f1b --zero 0 --framework megatron --post batched", false, {FLAT_LAYOUTS}},
    {"interleaved",
     "--schedule interleaved --zero 0 --framework megatron --post batched",
     false,
     {DEPTH_LAYOUTS}},
    {"bfs", "--schedule bfs", true, {BREADTH_LAYOUTS}},
    {"bfs", "--schedule bfs --framework megatron", true, {BREADTH_LAYOUTS}},
    {"1f1b", "--schedule 1f1b --zero 0 --framework megatron", false, {FLAT_LAYOUTS}},
    {"interleaved", "--schedule interleaved --zero 0 --framework megatron", false, {DEPTH_LAYOUTS}},
};

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

enum { SMALL = 3 }; /* batches where breadth-first pipelines are for */

static double speed_of(int way, int batch)
{
    return best_of(&ways[way], batch).figures.samples_per_s;
}

static void state_gains(const double gain[BATCHES], bool is_ahead, bool is_pipeline_ahead)
{
    scenario_assert(is_ahead, "breadth-first ahead of all others at the three smallest batches");
    scenario_assert(is_pipeline_ahead, "1f1b ahead of no pipeline there");
    scenario_assert(gain[0] > gain[1] && gain[1] > gain[2] && gain[2] > gain[BATCHES - 1],
                    "there the gain falls with the batch, and is least at the largest");
    for (int i = 0; i < SMALL; i++) {
        char what[64];
        snprintf(what, sizeof(what), "gain at %d samples", batches[i]);
        scenario_goal(what, gain[i], 1.43, 0.15);
    }
}

/* Each method in its own software, as published. */
static void throughput(void)
{
    double gain[BATCHES];
    bool is_ahead = true, is_pipeline_ahead = true;

    puts("pipesim --preset bfs-52b ... --engine dag: samples/s of the best layout that fits,");
    puts("its tp, pp, dp, vp, mbs\n");
    puts("samples");
    puts(
        "a GPU   all  no pipeline         1f1b                interleaved         bfs              "
        "   gain");
    for (int i = 0; i < BATCHES; i++) {
        double speed[OWN_WAYS];
        printf("%5.3f  %4d", (double)batches[i] / GPUS, batches[i]);
        for (int w = 0; w < OWN_WAYS; w++) {
            const struct best best = best_of(&ways[w], batches[i]);
            print_best(best);
            speed[w] = best.figures.samples_per_s;
        }
        gain[i] = speed[BREADTH] / fmax(speed[FLAT], speed[DEPTH]);
        printf("  %5.2f\n", gain[i]);
        is_ahead = is_ahead && (i >= SMALL || (gain[i] > 1 && speed[BREADTH] > speed[NO_PIPELINE]));
        is_pipeline_ahead = is_pipeline_ahead && (i >= SMALL || speed[FLAT] > speed[NO_PIPELINE]);
    }
    puts("gain: bfs over the better of 1f1b and interleaved\n");
    state_gains(gain, is_ahead, is_pipeline_ahead);
}

/* All methods have the host's time and the defaults of one software. They differ in order, sharding
 * and messages, and in the last column in order and sharding. */
static void alike(void)
{
    bool is_ahead = true, is_not_after = true;

    puts("samples/s of the best layout, all with --framework megatron\n");
    puts("           rivals: messages between ops     ... during compute");
    puts("all     bfs  1f1b  interleaved  gain    1f1b  interleaved  gain");
    for (int i = 0; i < BATCHES; i++) {
        const int n = batches[i];
        const double bfs = speed_of(BREADTH_ALIKE, n), flat = speed_of(FLAT, n),
                     depth = speed_of(DEPTH, n), flat_early = speed_of(FLAT_EARLY, n),
                     depth_early = speed_of(DEPTH_EARLY, n);
        const double gain = bfs / fmax(flat, depth), order = bfs / fmax(flat_early, depth_early);
        printf("%3d  %6.2f %5.2f %12.2f %5.2f  %6.2f %12.2f %5.2f\n", n, bfs, flat, depth, gain,
               flat_early, depth_early, order);
        is_ahead = is_ahead && (i >= SMALL || gain > 1.1);
        is_not_after = is_not_after && order > 0.99;
    }
    putchar('\n');
    scenario_assert(is_ahead, "in one software still ahead by more than a tenth at the three "
                              "smallest batches");
    scenario_assert(is_not_after, "never slower than rivals with messages during compute");
}

int main(int argc, char **argv)
{
    static const struct section sections[] = {
        {"bubbles", bubbles},
        {"throughput", throughput},
        {"alike", alike},
        {0},
    };

    return scenario_main(argc, argv, sections);
}
