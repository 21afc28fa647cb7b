/* Names and shapes: valid ones, refused ones with the valid values in the message, and absurd but
 * legal ones. */
#include "schedules/order/concat.h"
#include "schedules/order/schedule.h"
#include "schedules/program/program.h"
#include "schedules/registry.h"

#include <criterion/criterion.h>
#include <string.h>

Test(schedule_shapes, names_are_found_and_complete)
{
    const char *const pairs[][2] = {{"1F1B", "1f1b"},
                                    {"dapple", "1f1b"},
                                    {"PipeDream_Flush", "1f1b"},
                                    {"Schedule1F1B", "1f1b"},
                                    {"breadth-first", "bfs"},
                                    {"LoopedBFS", "bfs"},
                                    {"ScheduleLoopedBFS", "bfs"},
                                    {"depth-first", "interleaved"},
                                    {"Interleaved1F1B", "interleaved"},
                                    {"Schedule_Interleaved-1F1B", "interleaved"},
                                    {"GPipe", "gpipe"},
                                    {"ScheduleGPipe", "gpipe"},
                                    {"CHIMERA", "chimera"},
                                    {"ZB-V", "zbv"},
                                    {"ZBVZeroBubble", "zbv"},
                                    {"ScheduleZBVZeroBubble", "zbv"},
                                    {"DualPipe", "dualpipe"},
                                    {"DualPipeV", "dualpipev"},
                                    {"ScheduleDualPipeV", "dualpipev"},
                                    {"ZB-H1", "zb-h1"},
                                    {"zbh1", "zb-h1"},
                                    {"ZB1P", "zb-h1"},
                                    {"InterleavedZeroBubble", "interleaved-zb"},
                                    {"ScheduleInterleavedZeroBubble", "interleaved-zb"},
                                    {"Seq1F1B", "seq1f1b"},
                                    {"Seq1F1B-I", "interleaved"},
                                    {"BitPipe", "bitpipe"},
                                    {"GEMS", "gems"},
                                    {"Hanayo", "hanayo"},
                                    {"eager_1F1B", "eager-1f1b"},
                                    {"V_Half", "v-half"},
                                    {"VMin", "v-min"},
                                    {"V1F1B", "v-1f1b"}};

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        const struct pp_schedule *schedule = pp_schedule_find(pairs[i][0]);
        cr_assert_not_null(schedule, "%s", pairs[i][0]);
        cr_expect_str_eq(schedule->name, pairs[i][1]);
    }
    cr_expect_null(pp_schedule_find(""));
    cr_expect_null(pp_schedule_find("1f1"));
    for (int i = 0; pp_schedules[i] != NULL; i++) {
        const struct pp_schedule *s = pp_schedules[i];
        cr_assert(s->name && s->summary && s->rule);
        cr_expect(s->bubble_frac.text || !s->bubble_frac.value, "%s", s->name);
        cr_expect(s->peak.text || !s->peak.value, "%s", s->name);
        cr_expect_eq((s->phases != NULL) + (s->key != NULL) + (s->generate != NULL), 1,
                     "%s has not exactly one order rule", s->name);
        cr_expect(i == 0 || strcmp(pp_schedules[i - 1]->name, s->name) < 0, "%s", s->name);
        cr_expect_eq(pp_schedule_find(s->name), s, "%s is the name of two", s->name);
        for (const char *const *alias = s->aliases; alias && *alias; alias++)
            cr_expect_eq(pp_schedule_find(*alias), s, "%s is the name of two", *alias);
    }
}

struct refusal {
    const char *schedule;
    struct pp_shape shape;
    const char *says;
};

Test(schedule_shapes, refusals_name_the_nearest_legal_values)
{
    const int most = 2147483647;
    const struct refusal refusals[] = {
        {"1f1b", {.ranks = 0, .micro_batches = 4}, "--pp 0"},
        {"1f1b", {.ranks = 65536, .micro_batches = 1}, "--pp 65536"},
        {"1f1b", {.ranks = 4, .micro_batches = -1}, "--micro-batches -1"},
        {"1f1b", {.ranks = 4, .micro_batches = most}, "--micro-batches 2147483647"},
        {"1f1b", {.ranks = 65535, .micro_batches = 1 << 16}, "at most 512"},
        {"1f1b", {.ranks = 4, .micro_batches = 4, .chunks = 2}, "use --vp 1"},
        {"1f1b",
         {.ranks = 4, .micro_batches = 2, .option = {1}},
         "needs three micro-batches, to shift the third forward; nearest: --micro-batches 3"},
        {"1f1b", {.ranks = 1, .micro_batches = 4, .option = {1}}, "nearest: --pp 2"},
        {"1f1b", {.ranks = 4, .micro_batches = 4, .option = {2}}, "--shifted 2"},
        {"1f1b", {.ranks = 4, .micro_batches = 4, .splits = 2}, "--splits 2"},
        {"gpipe", {.ranks = 4, .micro_batches = 4, .pipelines = 2}, "--pipelines 2"},
        {"gpipe", {.ranks = 4, .micro_batches = 4, .option[0] = 1}, "option 1: gpipe does not"},
        {"gpipe", {.ranks = 4, .micro_batches = 4, .granules = 2}, "granules 2"},
        {"chimera", {.ranks = 4, .micro_batches = 4, .option[PP_CONCAT_AT] = 9}, "--concat 9"},
        {"bfs", {.ranks = 4, .micro_batches = 8, .splits = 256}, "--splits 256"},
        {"bfs", {.ranks = 65535, .micro_batches = 1, .chunks = 2}, "at most --vp 1"},
        {"bfs", {.ranks = 4, .micro_batches = 8, .option[0] = 3}, "nearest: 2 or 4"},
        {"bfs", {.ranks = 4, .micro_batches = 8, .option[0] = most}, "nearest: 8"},
        {"bfs", {.ranks = 4, .micro_batches = 8, .option[0] = -1}, "--depth-first -1"},
        {"interleaved", {.ranks = 4, .micro_batches = 11}, "nearest: 10 or 12"},
        {"interleaved",
         {.ranks = 4, .micro_batches = 8, .option[PP_GROUP_AT] = 6},
         "nearest: 4 or 8"},
        {"interleaved", {.ranks = 4, .micro_batches = 8, .option[PP_GROUP_AT] = 1}, "nearest: 4"},
        {"interleaved",
         {.ranks = 4, .micro_batches = 2, .option[PP_GROUP_AT] = most},
         "nearest: 2"},
        {"interleaved",
         {.ranks = 4, .micro_batches = 8, .option[PP_GROUP_AT + 1] = 2},
         "--extra-warmup 2"},
        {"interleaved",
         {.ranks = 8, .micro_batches = 16, .option = {3, 0, 1}},
         "below the lesser of half of --pp 8 and --micro-batches 16; nearest: 4"},
        {"interleaved",
         {.ranks = 8, .micro_batches = 8, .splits = 2, .option = {3}},
         "below the lesser of --pp 8 / --splits 2 and --micro-batches 8; nearest: 4"},
        {"interleaved", {.ranks = 4, .micro_batches = 5, .splits = 2}, "2 equal groups"},
        {"interleaved", {.ranks = 7, .micro_batches = 14, .option = {3, 0, 1}}, "nearest: 5"},
        {"interleaved", {.ranks = 4, .micro_batches = 8, .option = {4, 1, 1}}, "--extra-warmup 0"},
        {"interleaved-zb", {.ranks = 8, .micro_batches = 16, .option = {3}}, "nearest: 4"},
        {"v-half",
         {.ranks = 8, .micro_batches = 16, .option = {9}},
         "at least 10; v-min takes less"},
        {"interleaved-zb", {.ranks = 4, .micro_batches = 11}, "nearest: 10 or 12"},
        {"interleaved-zb",
         {.ranks = 4, .micro_batches = 8, .option[PP_GROUP_AT + 1] = 1},
         "option 2"},
        {"zb-h1", {.ranks = 4, .micro_batches = 8, .chunks = 2}, "use --vp 1"},
        {"seq1f1b", {.ranks = 4, .micro_batches = 8, .splits = 256}, "--splits 256"},
        {"bitpipe", {.ranks = 5, .micro_batches = 10}, "nearest: 4 or 6"},
        {"bitpipe", {.ranks = 4, .micro_batches = 6}, "nearest: 4 or 8"},
        {"bitpipe", {.ranks = 4, .micro_batches = 4, .pipelines = 4}, "--pipelines 4"},
        {"gems", {.ranks = 4, .micro_batches = 7}, "nearest: 6 or 8"},
        {"gems", {.ranks = 4, .micro_batches = 1}, "nearest: 2"},
        {"hanayo", {.ranks = 4, .micro_batches = 4, .chunks = 3}, "nearest: 2 or 4"},
        {"hanayo", {.ranks = 4, .micro_batches = 4, .chunks = 1}, "nearest: 2"},
        {"gems", {.ranks = 4, .micro_batches = 8, .pipelines = 4}, "--pipelines 4"},
        {"chimera", {.ranks = 5, .micro_batches = 5}, "nearest: 4 or 6"},
        {"chimera", {.ranks = 1, .micro_batches = 5}, "nearest: 2"},
        {"chimera", {.ranks = 65535, .micro_batches = 1}, "nearest: 65534"},
        {"chimera", {.ranks = 8, .micro_batches = 8, .pipelines = 6}, "nearest: 4 or 8"},
        {"chimera", {.ranks = 8, .micro_batches = 8, .pipelines = 3}, "nearest: 2 or 4"},
        {"chimera", {.ranks = 8, .micro_batches = 8, .pipelines = most}, "--pipelines"},
        {"chimera",
         {.ranks = 32768, .micro_batches = 1, .pipelines = 32768},
         "at most --pipelines 2048"},
        {"chimera", {.ranks = 8, .micro_batches = 10}, "nearest: 8 or 12"},
        {"chimera", {.ranks = 8, .micro_batches = 3}, "nearest: 4"},
        {"chimera",
         {.ranks = 8, .micro_batches = 20, .option[PP_CONCAT_AT] = PP_CONCAT_DOUBLING},
         "whole units of 16; nearest: 16 or 32"},
        {"chimera",
         {.ranks = 8, .micro_batches = 8, .option[PP_CONCAT_AT] = PP_CONCAT_DOUBLING},
         "nearest: 16"},
        {"chimera",
         {.ranks = 8, .micro_batches = 20, .option[PP_CONCAT_AT] = PP_CONCAT_HALVING},
         "whole units of 8; nearest: 16 or 24"},
        {"chimera",
         {.ranks = 8,
          .micro_batches = 16,
          .pipelines = 4,
          .option[PP_CONCAT_AT] = PP_CONCAT_HALVING},
         "--concat halving has one pair of pipelines; nearest: 2"},
        {"chimera",
         {.ranks = 8,
          .micro_batches = 16,
          .pipelines = 3,
          .option[PP_CONCAT_AT] = PP_CONCAT_DOUBLING},
         "nearest: 2"},
        {"chimera", {.ranks = 8, .micro_batches = 8, .granules = 2}, "granules 2"},
        {"chimera",
         {.ranks = 8, .micro_batches = 8, .granules = 1, .option[PP_CONCAT_AT] = PP_CONCAT_HALVING},
         "granules 1"},
        {"chimera",
         {.ranks = 8, .micro_batches = 10, .option[PP_CONCAT_AT] = PP_CONCAT_AUTO},
         "fills pipelines of 4 each; nearest: 8 or 12"},
        {"zbv", {.ranks = 4, .micro_batches = 8, .chunks = 1}, "use --vp 2"},
        {"zbv", {.ranks = 4, .micro_batches = 8, .splits = 2}, "--splits 2"},
        {"dualpipe", {.ranks = 1, .micro_batches = 8}, "nearest: 2"},
        {"dualpipe", {.ranks = 5, .micro_batches = 20}, "nearest: 4 or 6"},
        {"dualpipe", {.ranks = 4, .micro_batches = 11}, "nearest: 10 or 12"},
        {"dualpipe", {.ranks = 4, .micro_batches = 6}, "nearest: 8"},
        {"dualpipe", {.ranks = 4, .micro_batches = 8, .pipelines = 4}, "--pipelines 4"},
        {"dualpipev", {.ranks = 4, .micro_batches = 7}, "nearest: 8"},
        {"dualpipev", {.ranks = 4, .micro_batches = 8, .chunks = 4}, "use --vp 2"},
    };

    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct pp_shape shape = refusals[i].shape;
        struct pp_error err = {0};
        const struct pp_schedule *schedule = pp_schedule_find(refusals[i].schedule);
        cr_expect_eq(pp_schedule_check(schedule, &shape, &err), PP_EINVAL, "row %zu", i);
        cr_expect(strstr(err.message, refusals[i].says), "row %zu: %s", i, err.message);
        shape = refusals[i].shape;
        cr_expect_eq(pp_schedule_check(schedule, &shape, NULL), PP_EINVAL);
    }
}

/* Without PIPESIM_LONG=1 the sizes are a sixteenth. */
Test(schedule_shapes, absurd_but_legal_sizes_work)
{
    const int parts = getenv("PIPESIM_LONG") ? 1 : 16;

    for (int i = 0; pp_schedules[i] != NULL; i++) {
        const struct pp_shape shapes[] = {{.ranks = 1024, .micro_batches = 1024 / parts},
                                          {.ranks = 2, .micro_batches = 100000 / parts},
                                          {.ranks = 512 / parts, .micro_batches = 4096 / parts},
                                          {.ranks = 1, .micro_batches = 1}};
        for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            struct pp_shape shape = shapes[k];
            struct pp_orders *orders;
            struct pp_order_maps maps;
            if (pp_schedule_check(pp_schedules[i], &shape, NULL) != PP_OK)
                continue;
            cr_assert_eq(
                pp_schedule_orders(arena, pp_schedules[i], &shape, NULL, &orders, &maps, NULL),
                PP_OK);
            cr_assert_geq(orders->count[shape.ranks - 1], 2 * shape.micro_batches * shape.chunks);
        }
    }
}

/* Splits that do not divide the ranks: a group's splits still keep all ranks busy. */
Test(schedule_shapes, groups_of_splits_are_rounded_up)
{
    const struct pp_schedule *interleaved = pp_schedule_find("interleaved");
    static const int cases[][4] = {{4, 16, 3, 2}, {4, 16, 1, 4}, {8, 12, 3, 3}, {4, 5, 8, 1}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pp_shape shape = {
            .ranks = cases[i][0], .micro_batches = cases[i][1], .splits = cases[i][2], .chunks = 2};
        struct pp_error err = {0};
        cr_assert_eq(pp_schedule_check(interleaved, &shape, &err), PP_OK, "%s", err.message);
        cr_expect_eq(shape.option[PP_GROUP_AT], cases[i][3], "case %zu", i);
    }
}

/* A shape left to `auto` is legal when one variant is, and no program before one is chosen. */
Test(schedule_shapes, an_open_shape_names_its_variants)
{
    const struct pp_schedule *chimera = pp_schedule_find("chimera");
    struct pp_shape open = {
        .ranks = 4, .micro_batches = 12, .option[PP_CONCAT_AT] = PP_CONCAT_AUTO};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_program *program;
    struct pp_error err = {0};
    int count = 0;

    cr_assert_eq(pp_schedule_check(chimera, &open, &err), PP_OK, "%s", err.message);
    cr_assert_eq(open.option[PP_CONCAT_AT], PP_CONCAT_AUTO);
    cr_assert_eq(pp_schedule_program(arena, chimera, &open, NULL, &program, &err), PP_EINVAL);
    cr_assert(strstr(err.message, "--concat auto"), "%s", err.message);
    for (const struct pp_schedule_variant *v = pp_schedule_variants(chimera, &open); v->option;
         v++, count++) {
        struct pp_shape chosen = open;
        v->choose(&chosen, v->number);
        cr_assert_null(pp_schedule_variants(chimera, &chosen));
        cr_expect_eq(pp_schedule_check(chimera, &chosen, NULL),
                     strcmp(v->value, "doubling") == 0 ? PP_EINVAL : PP_OK, "%s", v->value);
    }
    cr_assert_eq(count, 3);
}
