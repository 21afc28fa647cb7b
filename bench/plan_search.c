/* bench/plan_search.c — layouts screened by closed forms, programs evaluated, and whole searches.
 *
 * The wide space is GPT-3 175B on 2,048 A100. It has at least the 7,126,368 configurations that
 * Calculon enumerates for the same run (Isaev et al., SC'23). Calculon's program takes 373 of them
 * a second and core. */
#include "bench/bench.h"
#include "core/process/pool.h"
#include "tests/property/search_case.h"

#include <sys/resource.h>

/* A list of an axis in place of its candidates. */
static void widen(struct pp_search_space *space, enum pp_search_axis axis, const int *values,
                  int count)
{
    space->axis[axis] = (struct pp_search_values){.count = count};
    for (int i = 0; i < count; i++)
        space->axis[axis].list[i] = values[i];
}

static void make_wide(struct pp_search_space *space)
{
    static const int degrees[] = {1, 2, 4, 8, 16, 32}, cp[] = {1, 2, 4, 8, 16, 32},
                     mbs[] = {1, 2, 4, 8, 16, 32, 64, 128}, zero[] = {0, 1, 2, 3};

    widen(space, PP_SEARCH_TP, degrees, 6);
    widen(space, PP_SEARCH_CP, cp, 6);
    widen(space, PP_SEARCH_MBS, mbs, 8);
    widen(space, PP_SEARCH_ZERO, zero, 4);
}

static struct pp_search *open_space(struct pp_arena *arena, const char *line, bool is_wide)
{
    struct pp_search *search = PP_NEW(arena, struct pp_search);
    struct pp_error err;

    must(search_request(arena, line, search, &err), &err);
    must(pp_search_begin(arena, search->space.wish, &search->space, &err), &err);
    if (is_wide)
        make_wide(&search->space);
    must(pp_search_fill(arena, &search->space, &err), &err);
    return search;
}

/* Layouts of a space that is listed and screened, by one core. */
static int64_t bench_screen(const char *line, bool is_wide)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const double start_s = cpu_s();
    struct pp_search *search = open_space(arena, line, is_wide);
    struct pp_error err;
    int64_t points = 0, open = 0;

    must(pp_search_screen(arena, &search->space, false, &search->board, &err), &err);
    const double all_s = cpu_s() - start_s;
    for (int64_t k = 0; k < search->space.points; k++) {
        points += search->board.status[k] != PP_SEARCH_ABSENT;
        open += search->board.status[k] == PP_SEARCH_OPEN;
    }
    printf("screen %s%s\n  %lld layouts, %lld may fit: %.2f s, %.2f M/s a core\n", line,
           is_wide ? " (wide)" : "", (long long)points, (long long)open, all_s,
           1e-6 * (double)points / all_s);
    return points;
}

/* Programs of P = 8 and N = 64 from layout to step and peak, one after another. */
static void bench_evaluate(const char *line)
{
    enum { RUNS = 500 };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_search *search = PP_NEW(arena, struct pp_search);
    struct pp_error err;
    double best_s = 1e9;

    must(search_open(arena, line, search, &err), &err);
    for (int i = 0; i < RUNS; i++) {
        const struct pp_arena_mark mark = pp_arena_mark(arena);
        struct pp_config config;
        struct pp_result result;
        const double start_s = cpu_s();
        must(pp_search_config(arena, &search->space, 0, &config, &err), &err);
        must(pp_simulate(arena, &config, PP_QUICK, NULL, &result, &err), &err);
        const double run_s = cpu_s() - start_s;
        best_s = run_s < best_s ? run_s : best_s;
        pp_arena_release(arena, mark);
    }
    printf("evaluate %s\n  %.0f us: %.0f a second and core\n", line, 1e6 * best_s, 1 / best_s);
}

static double children_s(void)
{
    struct rusage usage;

    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void bench_search(const char *line, bool is_wide)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_search *search = open_space(arena, line, is_wide);
    const double start_s = cpu_s() + children_s();
    struct pp_error err;

    search->jobs = 0;
    search->top = 10;
    must(pp_search_run(arena, search, &err), &err);
    printf("search %s%s\n  %lld layouts in %.2f s on %d cores, %.2f s of CPU; %d fit, %d ties\n",
           line, is_wide ? " (wide)" : "",
           (long long)(search->space.points - search->counts[PP_SEARCH_ABSENT]), search->wall_s,
           pp_pool_cores(), cpu_s() + children_s() - start_s, search->count, search->ties);
}

#define GPT3                                                                                       \
    "--gpus 2048 --model gpt3-175b --cluster a100 --engine dag --free "                            \
    "tp,pp,cp,vp,mbs,schedule,recompute,modules,zero"

int main(void)
{
    static const char *const wide[] = {
        GPT3,
        GPT3 " --dp-overlap on",
        GPT3 " --sequence-parallel off",
        GPT3 " --sequence-parallel off --dp-overlap on",
    };
    const double start_s = cpu_s();
    int64_t points = 0;

    bench_screen("--gpus 1024 --model llama3-405b", false);
    for (size_t i = 0; i < sizeof(wide) / sizeof(*wide); i++)
        points += bench_screen(wide[i], true);
    printf("screened in all: %lld layouts in %.2f s\n", (long long)points, cpu_s() - start_s);
    bench_evaluate("--gpus 8 --model gpt-18b --cluster a100 --pp 8 --schedule 1f1b --gbs 64 "
                   "--free zero --recompute none");
    bench_search("--gpus 1024 --model llama3-405b", false);
    bench_search("--gpus 2048 --model gpt3-175b --cluster a100", false);
    bench_search(GPT3, true);
    return 0;
}
