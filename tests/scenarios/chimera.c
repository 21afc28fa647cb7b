/* Chimera on Piz Daint: GPT-2 with 64 layers on 2,048 P100 nodes, and BERT-48 on 16 to 64.
 * Published figures: Li and Hoefler, SC'21 (arXiv 2107.06925), bar heights read off the figures,
 * about 3 % exact; formulas of table 2 and section 3.4. */
#include "tests/scenarios/chimera_model.h"
#include "tests/scenarios/scenario.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- bubbles at unit cost ------------------------------------------------------------------ */

static double flushed(double d, double n)
{
    return (d - 1) / (n + d - 1);
}

static double gems(double d, double n)
{
    (void)n;
    return (d - 1) / (d + 0.5);
}

static double chimera(double d, double n)
{
    return (d - 2) / (2 * n + d - 2);
}

static const struct {
    const char *schedule, *options;
    const char *text; /* of the published formula */
    double (*formula)(double d, double n);
    bool is_exact;
    double published_percent;
} unit_rows[] = {
    {"gpipe", "--pp 8", "(D-1)/(N+D-1)", flushed, true, 45},
    {"1f1b", "--pp 16", "(D-1)/(N+D-1)", flushed, true, 49},
    {"gems", "--pp 8", "(D-1)/(D+1/2)", gems, false, 83},
    {"gems", "--pp 8 --micro-batches 4", "(D-1)/(D+1/2)", gems, false, 83},
    {"chimera", "--pp 32", "(D-2)/(2N+D-2)", chimera, true, 32},
};
enum { UNIT_ROWS = sizeof(unit_rows) / sizeof(*unit_rows) };

static void bubbles(void)
{
    bool is_exact = true;

    puts("pipesim --preset chimera-sc21 --schedule S --pp D --unit F=1,B=1\n");
    puts("schedule   D   N   simulated   formula                    measured, about");
    for (int i = 0; i < UNIT_ROWS; i++) {
        const struct figures f =
            scenario_run("--preset chimera-sc21 --schedule %s %s --unit F=1,B=1",
                         unit_rows[i].schedule, unit_rows[i].options);
        const double formula = unit_rows[i].formula(f.pp, f.micro_batches);
        printf("%-8s %3d %3d   %7.2f %%   %-15s %6.2f %%   %5.0f %%\n", unit_rows[i].schedule, f.pp,
               f.micro_batches, 100 * f.bubble_frac, unit_rows[i].text, 100 * formula,
               unit_rows[i].published_percent);
        if (unit_rows[i].is_exact)
            is_exact = is_exact && fabs(f.bubble_frac - formula) < 1e-12;
    }
    putchar('\n');
    scenario_assert(is_exact, "gpipe, 1f1b and chimera are their formulas exactly");
    puts("  note    gems: N (D-1) + D-1 idle of 2N work; the formula is approximate");
}

/* ---- memory and throughput on 2,048 nodes -------------------------------------------------- */

enum { GPIPE, DAPPLE, GEMS, PIPEDREAM, TWO_BW, CHIMERA, SYSTEMS };
static const struct {
    const char *name, *options, *recompute; /* the paper recomputes where it says so */
    double samples_per_s, chimera_over;     /* published: rate, Chimera's rate over it */
    const char *memory;                     /* published, without recomputation */
} systems[SYSTEMS] = {
    [GPIPE] = {"gpipe", "--schedule gpipe --pp 8", "full", 360, 1.42, "out of memory"},
    [DAPPLE] = {"1f1b (DAPPLE)", "--schedule 1f1b --pp 16", "full", 370, 1.38, "out of memory"},
    [GEMS] = {"gems, B=2", "--schedule gems --pp 8 --mbs 2", "none", 217, 2.34, "13 GB"},
    [PIPEDREAM] = {"pipedream", "--schedule pipedream --pp 8", "full", 255, 2.01, "out of memory"},
    [TWO_BW] = {"pipedream-2bw", "--schedule pipedream-2bw --pp 16", "full", 435, 1.16,
                "out of memory"},
    [CHIMERA] = {"chimera", "--schedule chimera --pp 32", "none", 507, 1, "15.2 GB"},
};
static const char *const heads[] = {"last", "balanced", "ignored"};
enum { HEADS = sizeof(heads) / sizeof(*heads) };
static const double goal_frac = 0.15;

static void memory(void)
{
    struct figures run[SYSTEMS];

    puts("pipesim --preset chimera-sc21 --schedule S --pp D --recompute none: peak; a P100 has 16 "
         "GiB\n");
    puts("                   D   N   predicted           published");
    for (int i = 0; i < SYSTEMS; i++) {
        run[i] = scenario_run("--preset chimera-sc21 --recompute none %s", systems[i].options);
        printf("%-16s %3d %3d   %5.1f GB  %-7s   %s\n", systems[i].name, run[i].pp,
               run[i].micro_batches, run[i].peak_bytes * 1e-9, run[i].fits ? "fits" : "exceeds",
               systems[i].memory);
    }
    putchar('\n');
    scenario_assert(run[CHIMERA].fits && run[GEMS].fits, "chimera and gems fit");
    scenario_assert(!run[PIPEDREAM].fits, "pipedream exceeds the memory");
    for (int i = 0; i < SYSTEMS; i++)
        if (run[i].fits != (systems[i].memory[0] != 'o'))
            printf("  missed  %s: predicted to fit, published as out of memory\n", systems[i].name);
    scenario_goal("peak of chimera in GB", run[CHIMERA].peak_bytes * 1e-9, 15.2, goal_frac);
    scenario_goal("peak of gems in GB", run[GEMS].peak_bytes * 1e-9, 13, goal_frac);
}

static void run_systems(double samples_per_s[HEADS][SYSTEMS], char engine[16])
{
    for (int h = 0; h < HEADS; h++)
        for (int i = 0; i < SYSTEMS; i++) {
            const struct figures f =
                scenario_run("--preset chimera-sc21 --head %s --recompute %s %s", heads[h],
                             systems[i].recompute, systems[i].options);
            samples_per_s[h][i] = f.samples_per_s;
            memcpy(engine, f.engine, sizeof(f.engine));
        }
}

static void throughput(void)
{
    double rate[HEADS][SYSTEMS];
    char engine[16];

    run_systems(rate, engine);
    printf(
        "pipesim --preset chimera-sc21 --schedule S --pp D --recompute R --head H, engine %s\n\n",
        engine);
    puts("samples/s         R       last  balanced  ignored   published, about");
    for (int i = 0; i < SYSTEMS; i++)
        printf("%-16s  %-5s  %5.0f  %8.0f  %7.0f   %9.0f\n", systems[i].name, systems[i].recompute,
               rate[0][i], rate[1][i], rate[2][i], systems[i].samples_per_s);
    puts("\nchimera over      last         balanced     ignored      published");
    for (int i = 0; i < CHIMERA; i++) {
        printf("%-16s", systems[i].name);
        for (int h = 0; h < HEADS; h++) {
            const double ratio = rate[h][CHIMERA] / rate[h][i];
            printf("  %4.2f %+4.0f %%", ratio, 100 * (ratio / systems[i].chimera_over - 1));
        }
        printf("  %9.2f\n", systems[i].chimera_over);
    }
    putchar('\n');
    for (int h = 0; h < HEADS; h++)
        scenario_assert(rate[h][CHIMERA] > rate[h][GPIPE] && rate[h][CHIMERA] > rate[h][DAPPLE] &&
                            rate[h][GPIPE] > rate[h][GEMS] && rate[h][DAPPLE] > rate[h][GEMS],
                        "chimera > gpipe, 1f1b > gems with the head %s", heads[h]);
    for (int h = 0; h < HEADS; h++) {
        char what[64];
        snprintf(what, sizeof(what), "chimera over gpipe, head %s", heads[h]);
        scenario_goal(what, rate[h][CHIMERA] / rate[h][GPIPE], systems[GPIPE].chimera_over,
                      goal_frac);
        snprintf(what, sizeof(what), "chimera over 1f1b, head %s", heads[h]);
        scenario_goal(what, rate[h][CHIMERA] / rate[h][DAPPLE], systems[DAPPLE].chimera_over,
                      goal_frac);
    }
}

/* ---- the paper's performance model and the simulation --------------------------------------- */

static const struct {
    const char *title, *preset, *model;
    int nodes, batch, seq, least_pp, most_pp;
    const char *published;
} searches[] = {
    {"BERT-48 on 32 nodes, 512 samples a step:", "chimera-bert48", "bert-48", 32, 512, 128, 2, 16,
     "model and measurement W=8 D=4 B=8"},
    {"GPT-2, 64 layers, on 512 nodes, 512 samples a step:", "chimera-sc21", "gpt2-64", 512, 512,
     632, 4, 32, "model W=16 D=32 B=1, measurement W=64 D=8 B=1 with recomputation"},
};
enum { SEARCHES = sizeof(searches) / sizeof(*searches) };

struct candidate {
    int w, d, b, n;
    const char *recompute;
    double model_s, equal_s, real_s; /* simulated with equal stages, with the preset's head */
};

static struct figures run_candidate(int which, const struct candidate *c, const char *head)
{
    return scenario_run("--preset %s --gpus %d --pp %d --mbs %d --gbs %d --recompute %s%s",
                        searches[which].preset, searches[which].nodes, c->d, c->b,
                        searches[which].batch, c->recompute, head);
}

/* The largest micro-batch that fits with a full unit of D micro-batches, recomputed where none
 * fits without. False: nothing fits. */
static bool find_largest(int which, struct candidate *c)
{
    static const char *const recompute[] = {"none", "full"};
    const int samples = searches[which].batch / c->w;

    for (int r = 0; r < 2; r++)
        for (c->b = samples / c->d; c->b >= 1; c->b /= 2) {
            c->n = samples / c->b;
            c->recompute = recompute[r];
            const struct figures f = run_candidate(which, c, "");
            c->real_s = f.iteration_s;
            if (f.fits)
                return true;
        }
    return false;
}

static void print_candidate(int which, struct candidate *c)
{
    c->equal_s = run_candidate(which, c, " --head ignored").iteration_s;
    c->model_s = chimera_model_s(&(struct chimera_model){searches[which].model, c->d, c->w, c->b,
                                                         c->n, searches[which].seq,
                                                         !strcmp(c->recompute, "full")});
    printf("%4d %3d %3d %4d  %-9s  %6.3f s       %6.3f s  %+5.1f %%      %6.3f s\n", c->w, c->d,
           c->b, c->n, c->recompute, c->model_s, c->equal_s, 100 * (c->model_s / c->equal_s - 1),
           c->real_s);
}

static void print_pick(const char *who, const struct candidate *c)
{
    printf("  %-7s W=%d D=%d B=%d%s\n", who, c->w, c->d, c->b,
           strcmp(c->recompute, "full") ? "" : " with recomputation");
}

static void search(int which)
{
    struct candidate list[8], *by_model = list, *by_simulation = list;
    double worst_frac = 0;
    int count = 0;

    printf("%s\n                                      simulated,             simulated,\n",
           searches[which].title);
    puts("   W   D   B    N  recompute     model   equal stages  model    head on last");
    for (int d = searches[which].least_pp; d <= searches[which].most_pp; d *= 2) {
        struct candidate *c = &list[count];
        *c = (struct candidate){.w = searches[which].nodes / d, .d = d};
        if (!find_largest(which, c)) {
            printf("%4d %3d   nothing fits\n", c->w, d);
            continue;
        }
        count++;
        print_candidate(which, c);
        worst_frac = fmax(worst_frac, fabs(c->model_s / c->equal_s - 1));
        by_model = c->model_s < by_model->model_s ? c : by_model;
        by_simulation = c->real_s < by_simulation->real_s ? c : by_simulation;
    }
    print_pick("model", by_model);
    print_pick("we", by_simulation);
    printf("  paper   %s\n", searches[which].published);
    printf("  %-7s model within 10 %% of the simulation with equal stages: %.1f %% at worst\n",
           worst_frac <= 0.1 ? "met" : "missed", 100 * worst_frac);
}

static void model(void)
{
    puts("T = (F + p2p) C_f + (B + p2p) C_b + unoverlapped all-reduce, C_f = N, C_b = N + D - 2\n");
    for (int i = 0; i < SEARCHES; i++) {
        if (i)
            putchar('\n');
        search(i);
    }
}

/* ---- gradient sums ------------------------------------------------------------------------- */

static const char *const syncs[] = {"end", "eager", "eager-opt"};
enum { SYNCS = sizeof(syncs) / sizeof(*syncs) };
static const struct {
    int nodes;
    double eager_opt_over_eager; /* published */
} scales[] = {{16, 1.03}, {32, 1.09}, {64, 1.12}};
enum { SCALES = sizeof(scales) / sizeof(*scales) };

/* A table for one share of compute that a running sum takes; how often eager-opt is ahead of eager.
 */
static int sync_table(const char *title, const char *options)
{
    bool is_end_last = true;
    int ahead = 0;

    printf("%s\nnodes       end    eager  eager-opt   eager-opt/eager   published\n", title);
    for (int i = 0; i < SCALES; i++) {
        double rate[SYNCS];
        for (int k = 0; k < SYNCS; k++)
            rate[k] = scenario_run("--preset chimera-bert48 --gpus %d --gbs %d --grad-sync %s%s",
                                   scales[i].nodes, 16 * scales[i].nodes, syncs[k], options)
                          .samples_per_s;
        printf("%5d   %7.1f  %7.1f    %7.1f              %.3f        %.2f\n", scales[i].nodes,
               rate[0], rate[1], rate[2], rate[2] / rate[1], scales[i].eager_opt_over_eager);
        is_end_last = is_end_last && rate[0] < rate[1] && rate[0] < rate[2];
        ahead += rate[2] > rate[1];
    }
    scenario_assert(is_end_last, "both eager rules beat the sum at the end");
    return ahead;
}

static void sync_rules(void)
{
    puts("pipesim --preset chimera-bert48 --gpus N --gbs 16N --grad-sync RULE: samples/s\n");
    scenario_assert(sync_table("a running sum takes no compute:", "") == 0,
                    "eager is never slower");
    putchar('\n');
    scenario_assert(sync_table("--sync-share 50%:", " --sync-share 0.5") == SCALES,
                    "eager-opt is always ahead");
}

int main(int argc, char **argv)
{
    static const struct section sections[] = {
        {"bubbles", bubbles}, {"memory", memory},   {"throughput", throughput},
        {"model", model},     {"sync", sync_rules}, {0},
    };

    return scenario_main(argc, argv, sections);
}
