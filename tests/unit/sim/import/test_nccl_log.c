#include "sim/import/nccl_log.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define HEAD                                                                                       \
    "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"               \
    "# (B) (elements) (us) (GB/s) (GB/s) (us) (GB/s) (GB/s)\n"

#define ROW "1000 250 float sum -1 10 0.1 0.1 0\n"

static enum pp_status parse(struct pp_arena *arena, const char *name, const char *text,
                            struct pp_nccl_log *log, struct pp_error *err)
{
    const struct pp_nccl_log_source source = {.name = name};

    return pp_nccl_log_parse(arena, &source, text, strlen(text), log, err);
}

/* Rows made of a line come back as that line. */
Test(nccl_log, a_straight_line_is_found_again)
{
    static const double sizes[] = {8, 1024, 65536, 1048576, 67108864, 1073741824};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    char text[4096] =
        "./build/sendrecv_perf -b 8 -e 1G\n#  Rank  0 Group  0\n#  Rank  1 Group  0\n" HEAD;
    struct pp_error err = {0};
    struct pp_nccl_log log;

    for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
        const double us = 12.5 + sizes[k] / 4e4; /* 40 GB/s */
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 "%.0f %.0f float none -1 %.4f %.2f %.2f 0 1 1 1 0\n", sizes[k], sizes[k] / 4, us,
                 sizes[k] / us * 1e-3, sizes[k] / us * 1e-3);
    }
    strcat(text, "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 19.7\n");
    cr_assert_eq(parse(arena, "x.log", text, &log, &err), PP_OK, "%s", err.message);
    cr_assert_str_eq(log.operation, "sendrecv");
    cr_assert(log.ranks == 2 && log.count == 6);
    const struct pp_measured_line line =
        pp_calibrate_line(arena, log.operation, log.sizes, log.count, NULL);
    cr_assert_float_eq(line.alpha_s, 12.5e-6, 1e-9);
    cr_assert_float_eq(line.s_per_byte * 40e9, 1, 1e-3);
    cr_assert(line.residual_frac < 1e-3);
}

Test(nccl_log, the_file_name_may_say_what_ran)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_nccl_log log;

    cr_assert_eq(parse(arena, "a/reduce_scatter.txt",
                       "#  Rank  0\n#  Rank  1\n" HEAD "0 0 float sum -1 3 0 0 0\n"
                       "1000 250 float sum -1 10 0.1 0.1 0\n",
                       &log, &err),
                 PP_OK, "%s", err.message);
    cr_assert_str_eq(log.operation, "reduce_scatter");
    cr_assert_eq(log.count, 1, "no bytes, no row");
}

Test(nccl_log, garbage_is_refused_with_its_line)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "x:0: ends without a table"},
        {"hello\nworld\n", "x:2: ends without a table"},
        {"all_reduce_perf\n" HEAD, "x:3: ends before the first row"},
        {HEAD "1000 250 float sum -1 10 0.1 0.1 0\n", "nor its name gives the collective"},
        {"all_reduce_perf\n" HEAD "1000 250 float sum -1\n", "x:4: 5 words, a row has at least 7"},
        {"all_reduce_perf\n" HEAD "1000 250 float sum -1 10 0.1 0.1 0\n",
         "x: no '#  Rank' lines say how many took part"},
        {"all_reduce_perf\n#  Rank  0\n" HEAD "1000 250 float sum -1 10 0.1 0.1 0\n",
         "x: one rank took part"},
        {"sendrecv_perf\n#  Rank  0\n" HEAD "1000 250 float none -1 10 0.1 0.1 0\n",
         "x: one rank took part"},
        {"all_reduce_perf\n" HEAD "oops\n", "x:4: 1 words"},
        {"all_reduce_perf\n" HEAD "many 250 float sum -1 10 0.1 0.1 0\n", "x:4: the size"},
        {"all_reduce_perf\n" HEAD "1000 250 float sum -1 -10 0.1 0.1 0\n", "x:4: the time"},
        {"all_reduce_perf\n" HEAD "1000 250 float sum -1 N/A 0.1 0.1 0\n", "x:4: the time"},
        {"all_reduce_perf\n" HEAD "1000 250 float sum -1 10 9 9 0\n", "but algbw is 9"},
        {"all_reduce_perf\n" HEAD ROW HEAD ROW, "x:5: a second table"},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct pp_error err = {0};
        struct pp_nccl_log log;
        cr_assert_eq(parse(arena, "x", cases[k].text, &log, &err), PP_EINVAL, "%zu", k);
        cr_assert_not_null(strstr(err.message, cases[k].why), "%zu: %s", k, err.message);
    }
}

/* Lines as logs have them (addresses and names made up), and what is read of them. */
Test(nccl_log, who_took_part_and_what_others_print_meanwhile)
{
    static const struct {
        const char *text, *operation;
        int ranks, nodes, count;
    } cases[] = {
        /* 2019: no root, an error instead of #wrong */
        {"# nThread: 1 nGpus: 2\n# Using devices\n"
         "#   Rank  0 Pid  71 on a1 device  0 [0x1a] Tesla V100-SXM3-32GB\n"
         "#   Rank  1 Pid  71 on a1 device  1 [0x1b] Tesla V100-SXM3-32GB\n"
         "# size count type redop time algbw busbw error time algbw busbw error\n"
         "8 2 float sum 158.3 0.00 0.00 1e-07 158.4 0.00 0.00 0e+00\n",
         "alltoall", 2, 1, 1},
        /* today, and what others print between the head and the first row, and between rows */
        {"# nccl-tests version 2.17.6\n# Collective test starting: all_gather_perf\n"
         "#  Rank  0 Group  0 Pid  7 on a1 device  0 [0000:18:00] NVIDIA H100 80GB HBM3\n"
         "#  Rank  1 Group  0 Pid  8 on a2 device  0 [0000:18:00] NVIDIA H100 80GB HBM3\n" HEAD
         "a1:71:99 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC\n" ROW
         "1: a2:8:9 [0] NCCL WARN slow\n" ROW,
         "all_gather", 2, 2, 2},
        /* labels of launchers */
        {"[1,0]<stdout>:# Collective test starting: sendrecv_perf\n"
         "[1,0]<stdout>:#  Rank  0 Pid 1 on a1\n[1,1]<stdout>:#  Rank  1 Pid 1 on a2\n"
         "[1,0]<stdout>:" HEAD "[1,0]<stdout>:" ROW,
         "sendrecv", 2, 2, 1},
        {" 0: # reduce_scatter_perf\n 0: # Rank 0\n12: # Rank 1\n 0: " HEAD " 0:   " ROW,
         "reduce_scatter", 2, 0, 1},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_nccl_log_source source = {.name = "run.txt", .operation = "alltoall"};

    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct pp_error err = {0};
        struct pp_nccl_log log;
        cr_assert_eq(
            pp_nccl_log_parse(arena, &source, cases[k].text, strlen(cases[k].text), &log, &err),
            PP_OK, "%zu: %s", k, err.message);
        cr_assert_str_eq(log.operation, cases[k].operation, "%zu", k);
        cr_assert(log.ranks == cases[k].ranks && log.nodes == cases[k].nodes &&
                      log.count == cases[k].count,
                  "%zu: %d ranks, %d nodes, %d rows", k, log.ranks, log.nodes, log.count);
    }
}

/* A number that JSON has not is an error, not a key that is missing. */
Test(nccl_log, what_json_cannot_hold_is_not_written)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_measured_line line = {.name = "wire", .alpha_s = 1e-5};
    struct pp_measured_set set = {.op[PP_F] = {.samples = 1}};
    struct pp_cost_file file = {
        .machine = "m", .lines = &line, .line_count = 1, .sets = &set, .set_count = 1};
    const struct pp_calibrate c = {.arena = arena, .file = &file};
    double *const at[] = {NULL, &line.s_per_byte, &set.op[PP_F].part_s[0], &file.update_op_s};

    for (size_t k = 0; k < sizeof(at) / sizeof(*at); k++) {
        struct pp_error err = {0};
        if (at[k])
            *at[k] = (double)INFINITY;
        cr_assert_eq(pp_calibrate_write(&c, NULL, 0, "never.json", &err), at[k] ? PP_EFAIL : PP_OK,
                     "%zu: %s", k, err.message);
        cr_assert(!at[k] || strstr(err.message, "a number that JSON cannot hold"), "%zu", k);
        if (at[k])
            *at[k] = 0;
    }
    remove("never.json");
}
