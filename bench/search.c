/* bench/search.c — CPU time to find an order with zb-auto, and how far its span is from the bound.
 * Then the time to find V orders with controllable memory.
 *
 * F = 10, I = 12, W = 8, C = 1. `best` is the shortest of three runs of the order rule alone. */
#include "bench/bench.h"
#include "schedules/order/schedule.h"
#include "schedules/registry.h"
#include "schedules/search/zb_search.h"

#include <stdio.h>
#include <stdlib.h>

static double once_s(const struct pp_shape *shape, const struct pp_costs *costs,
                     struct pp_zb_score *score)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const size_t cells = 3 * (size_t)shape->micro_batches;
    char *word = PP_ARRAY(arena, char, cells *(size_t)shape->ranks);
    struct pp_orders *orders;
    struct pp_order_maps maps;
    struct pp_error err;
    const double start_s = cpu_s();

    if (pp_schedule_orders(arena, pp_schedule_find("zb-auto"), shape, costs, &orders, &maps,
                           &err) != PP_OK) {
        fprintf(stderr, "bench_search: error: %s\n", err.message);
        exit(1);
    }
    const double wall_s = cpu_s() - start_s;
    for (int r = 0; r < shape->ranks; r++)
        for (size_t k = 0; k < cells; k++) {
            const int kind = orders->ops[r][k].kind;
            word[(size_t)r * cells + k] = kind == PP_F ? 'F' : kind == PP_I ? 'I' : 'W';
        }
    *score = pp_zb_evaluate(pp_zb_create(arena, shape, costs), word);
    return wall_s;
}

/* Orders that are searched with a few micro-batches and then made longer. */
static void bench_v(const char *name, int ranks, int micro_batches)
{
    const struct pp_unit_costs unit = {.f = 10, .b = 20, .i = 12, .w = 8, .c = 1, .fb = 30};
    double best_s = 1e9;

    for (int run = 0; run < 3; run++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_shape shape = {.ranks = ranks, .micro_batches = micro_batches};
        struct pp_orders *orders;
        struct pp_order_maps maps;
        struct pp_error err;
        must(pp_schedule_check(pp_schedule_find(name), &shape, &err), &err);
        const struct pp_costs *costs = pp_costs_unit(arena, &unit, ranks, 2 * ranks, 1, 1);
        const double start_s = cpu_s();
        must(pp_schedule_orders(arena, pp_schedule_find(name), &shape, costs, &orders, &maps, &err),
             &err);
        best_s = cpu_s() - start_s < best_s ? cpu_s() - start_s : best_s;
    }
    printf("%-8s %6d %6d %12.6f\n", name, ranks, micro_batches, best_s);
}

int main(void)
{
    static const int sizes[][2] = {{8, 32}, {16, 128}, {64, 1024}, {256, 1024}, {1024, 1024}};
    const struct pp_unit_costs unit = {.f = 10, .b = 20, .i = 12, .w = 8, .c = 1, .fb = 30};

    printf("%6s %6s %6s %12s %10s %10s\n", "D", "N", "M", "best, s", "ns/op", "over bound");
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
        for (int m = 1; m <= 2; m++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            struct pp_shape shape = {.ranks = sizes[k][0],
                                     .micro_batches = sizes[k][1],
                                     .option[PP_LIMIT_AT] = m * sizes[k][0]};
            struct pp_zb_score score = {0};
            double best_s = 1e9;
            if (pp_schedule_check(pp_schedule_find("zb-auto"), &shape, NULL) != PP_OK)
                return 1;
            const struct pp_costs *costs =
                pp_costs_unit(arena, &unit, shape.ranks, shape.ranks, 1, 1);
            for (int run = 0; run < 3; run++) {
                const double wall_s = once_s(&shape, costs, &score);
                best_s = wall_s < best_s ? wall_s : best_s;
            }
            const struct pp_zb_score bound = pp_zb_bound(pp_zb_create(arena, &shape, costs));
            printf("%6d %6d %6d %12.6f %10.1f %9.2f%%\n", shape.ranks, shape.micro_batches,
                   shape.option[PP_LIMIT_AT], best_s,
                   1e9 * best_s / (3. * shape.ranks * shape.micro_batches),
                   100 * ((double)score.span / (double)bound.span - 1));
        }
    printf("\n%-8s %6s %6s %12s\n", "", "D", "N", "best, s");
    for (int n = 128; n <= 8192; n *= 4) {
        bench_v("v-min", 16, n);
        bench_v("v-half", 16, n);
        bench_v("v-1f1b", 16, n);
    }
    return 0;
}
