/* The fake device against brute force, on random graphs. A launch mixes one cell of memory into
 * another. Every two launches that must not change places are ordered, by their stream or by
 * events. Then one wait is left out. If that leaves two launches free to change places, some step
 * must have another result; if not, none may. */
#include "exec/backend/backend.h"
#include "lists.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct pp_backend *const fake = &pp_backend_fake;

enum { MOST_STREAMS = 6, MOST_LAUNCHES = 24, MOST_CELLS = 6, EVENTS = MOST_LAUNCHES + 1 };

/* Waits of launch j stand before it, its record (event j) after it. Event MOST_LAUNCHES is
 * never recorded. Sets of launches and events are bits. */
struct graph {
    int streams, launches, cells;
    int stream[MOST_LAUNCHES], reads[MOST_LAUNCHES], writes[MOST_LAUNCHES];
    uint32_t waits[MOST_LAUNCHES];
};

static uint64_t random_state;
static int draw(int below)
{
    return list_draw(&random_state, below);
}

static uint32_t bit(int i)
{
    return (uint32_t)1 << i;
}

/* ---- brute force ----------------------------------------------------------------------------- */

static bool conflict(const struct graph *g, int i, int j)
{
    return g->writes[i] == g->reads[j] || g->writes[i] == g->writes[j] ||
           g->reads[i] == g->writes[j];
}

/* Launches that must be over before j, given those before all others. */
static uint32_t ordered_before(const struct graph *g, int j, const uint32_t before[])
{
    uint32_t set = g->waits[j];

    for (int i = 0; i < j; i++)
        set |= g->stream[i] == g->stream[j] ? bit(i) : 0;
    for (int i = 0; i < j; i++)
        set |= set & bit(i) ? before[i] : 0;
    return set;
}

/* Of graphs whose waits all point backwards. */
static void find_order(const struct graph *g, uint32_t before[MOST_LAUNCHES])
{
    for (int j = 0; j < g->launches; j++)
        before[j] = ordered_before(g, j, before);
}

static bool has_race(const struct graph *g)
{
    uint32_t before[MOST_LAUNCHES];

    find_order(g, before);
    for (int j = 0; j < g->launches; j++)
        for (int i = 0; i < j; i++)
            if (conflict(g, i, j) && !(before[j] & bit(i)))
                return true;
    return false;
}

/* Launches that can run at all, whatever the waits. */
static uint32_t can_run(const struct graph *g)
{
    uint32_t over = 0, last;

    do {
        last = over;
        for (int j = 0; j < g->launches; j++) {
            uint32_t needs = g->waits[j];
            for (int i = 0; i < j; i++)
                needs |= g->stream[i] == g->stream[j] ? bit(i) : 0;
            over |= (needs & ~over) == 0 ? bit(j) : 0;
        }
    } while (over != last);
    return over;
}

static struct graph draw_graph(void)
{
    struct graph g = {.streams = 1 + draw(MOST_STREAMS),
                      .launches = 2 + draw(MOST_LAUNCHES - 1),
                      .cells = 2 + draw(MOST_CELLS - 1)};
    uint32_t before[MOST_LAUNCHES] = {0};

    for (int j = 0; j < g.launches; j++) {
        g.stream[j] = draw(g.streams);
        g.reads[j] = draw(g.cells);
        g.writes[j] = draw(g.cells);
        before[j] = ordered_before(&g, j, before);
        const bool is_upwards = draw(2);
        for (int k = 0; k < j; k++) {
            const int i = is_upwards ? k : j - 1 - k;
            const bool is_needed = conflict(&g, i, j) && !(before[j] & bit(i));
            g.waits[j] |= is_needed || draw(20) == 0 ? bit(i) : 0;
            before[j] = ordered_before(&g, j, before);
        }
    }
    return g;
}

/* ---- the device ------------------------------------------------------------------------------ */

struct outcome {
    uint64_t cells[MOST_CELLS];
    uint32_t ran;
    int runs, position[MOST_LAUNCHES];
};
struct job {
    const struct graph *g;
    struct outcome *out;
    int number;
};

/* One to one in what the cell held before: no later launch can hide a mistake. */
static void mix(const struct pp_kernels *kernels, void *stream, void *argument)
{
    const struct job *job = argument;
    const uint64_t read = job->out->cells[job->g->reads[job->number]];
    uint64_t *cell = &job->out->cells[job->g->writes[job->number]];

    (void)kernels;
    (void)stream;
    uint64_t x = *cell + ((read ^ (uint64_t)(job->number + 1)) * 0x9e3779b97f4a7c15u | 1);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    *cell = x ^ (x >> 27);
    job->out->ran |= bit(job->number);
    job->out->position[job->number] = job->out->runs++;
}

static void issue(struct pp_backend_device *d, struct job *job)
{
    const pp_stream_id s = job->g->stream[job->number];

    for (int e = 0; e < EVENTS; e++)
        if (job->g->waits[job->number] & bit(e))
            fake->wait(d, s, e);
    fake->launch(d, s, mix, job);
    fake->record(d, s, job->number);
}

/* The host goes from stream to stream at random; only within a stream it keeps the order. */
static void issue_all(struct pp_backend_device *d, const struct graph *g, struct job jobs[])
{
    int next[MOST_STREAMS] = {0};

    for (int left = g->launches; left > 0;) {
        const int s = draw(g->streams);
        while (next[s] < g->launches && g->stream[next[s]] != s)
            next[s]++;
        if (next[s] == g->launches)
            continue;
        issue(d, &jobs[next[s]++]);
        left--;
    }
}

static enum pp_status run_step(struct pp_backend_device *d, const struct graph *g,
                               struct outcome *out, struct pp_error *err)
{
    struct job jobs[MOST_LAUNCHES];

    *out = (struct outcome){0};
    for (int j = 0; j < g->launches; j++)
        jobs[j] = (struct job){g, out, j};
    fake->begin(d);
    issue_all(d, g, jobs);
    return fake->finish(d, err);
}

static struct pp_backend_device *open_device(struct pp_arena *arena, const struct graph *g)
{
    const struct pp_device_options options = {.streams = g->streams,
                                              .workers = draw(g->streams + 1),
                                              .events = EVENTS,
                                              .seed = (uint64_t)draw(1 << 30) << draw(34)};
    struct pp_backend_device *device;
    struct pp_error err = {0};

    cr_assert_eq(fake->open(arena, &options, &device, &err), PP_OK, "%s", err.message);
    return device;
}

static struct outcome run_in_order(const struct graph *g)
{
    struct outcome out = {0};

    for (int j = 0; j < g->launches; j++)
        mix(NULL, NULL, &(struct job){g, &out, j});
    return out;
}

/* Steps, of one for each stream, that come to another result. */
static int wrong_steps(const struct graph *g)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_backend_device *d = open_device(arena, g);
    const struct outcome right = run_in_order(g);
    int wrong = 0;

    for (int step = 0; step < g->streams; step++) {
        struct outcome out;
        struct pp_error err = {0};
        cr_assert_eq(run_step(d, g, &out, &err), PP_OK, "%s", err.message);
        wrong += memcmp(out.cells, right.cells, sizeof(out.cells)) != 0;
    }
    fake->close(d);
    return wrong;
}

/* ---- properties ------------------------------------------------------------------------------ */

enum { GRAPHS = 400 };

Test(backend_fake_graphs, orders_are_legal_and_every_free_pair_changes_places)
{
    random_state = 0x2545f4914f6cdd1d;
    for (int k = 0; k < GRAPHS; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct graph g = draw_graph();
        struct pp_backend_device *d = open_device(arena, &g);
        uint32_t before[MOST_LAUNCHES], seen_before[MOST_LAUNCHES] = {0};

        find_order(&g, before);
        for (int step = 0; step < g.streams; step++) {
            struct outcome out;
            cr_assert_eq(run_step(d, &g, &out, NULL), PP_OK);
            cr_assert_eq(out.runs, g.launches);
            for (int j = 0; j < g.launches; j++)
                for (int i = 0; i < g.launches; i++)
                    seen_before[j] |= out.position[i] < out.position[j] ? bit(i) : 0;
        }
        for (int j = 0; j < g.launches; j++)
            for (int i = 0; i < j; i++) {
                const bool is_ordered = before[j] & bit(i);
                cr_assert(seen_before[j] & bit(i), "graph %d: %d never before %d", k, i, j);
                cr_assert_eq((seen_before[i] & bit(j)) != 0, !is_ordered,
                             "graph %d: %d before %d is %s", k, j, i,
                             is_ordered ? "illegal" : "never tried");
            }
        fake->close(d);
    }
}

Test(backend_fake_graphs, complete_graphs_are_right)
{
    random_state = 0x9e3779b97f4a7c15;
    for (int k = 0; k < GRAPHS; k++) {
        const struct graph g = draw_graph();
        cr_assert_not(has_race(&g));
        cr_assert_eq(wrong_steps(&g), 0, "graph %d", k);
    }
}

Test(backend_fake_graphs, missing_waits_show_exactly_where_they_matter)
{
    int races = 0, harmless = 0;

    random_state = 0xd1342543de82ef95;
    for (int k = 0; k < GRAPHS; k++) {
        struct graph g = draw_graph();
        for (int j = 0; j < g.launches; j++)
            for (int i = 0; i < j; i++) {
                if (!(g.waits[j] & bit(i)))
                    continue;
                g.waits[j] ^= bit(i);
                const bool is_race = has_race(&g);
                *(is_race ? &races : &harmless) += 1;
                cr_assert_eq(wrong_steps(&g) > 0, is_race, "graph %d without the wait of %d for %d",
                             k, j, i);
                g.waits[j] ^= bit(i);
            }
    }
    cr_assert_gt(races, GRAPHS);
    cr_assert_gt(harmless, GRAPHS);
    cr_log_info("%d missing waits that matter, %d that do not", races, harmless);
}

/* Waits for later launches and for what is never recorded: what can run does, the rest is an
 * error. */
Test(backend_fake_graphs, what_cannot_run_is_an_error)
{
    int failures = 0, circles = 0;

    random_state = 0xda942042e4dd58b5;
    for (int k = 0; k < 4 * GRAPHS; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct graph g = draw_graph();
        struct outcome out;
        struct pp_error err = {0};

        for (int n = draw(3); n > 0; n--)
            g.waits[draw(g.launches)] |= bit(draw(8) ? draw(g.launches) : MOST_LAUNCHES);
        struct pp_backend_device *d = open_device(arena, &g);
        const uint32_t possible = can_run(&g);
        const enum pp_status status = run_step(d, &g, &out, &err);
        cr_assert_eq(out.ran, possible, "graph %d", k);
        cr_assert_eq(status, possible == bit(g.launches) - 1 ? PP_OK : PP_EFAIL, "graph %d", k);
        failures += status != PP_OK;
        circles += strstr(err.message, "in a circle") != NULL;
        cr_assert(status == PP_OK || strstr(err.message, "in a circle") ||
                      strstr(err.message, "no stream records"),
                  "%s", err.message);
        fake->close(d);
    }
    cr_assert_gt(circles, GRAPHS / 4);
    cr_assert_gt(failures, circles);
}
