/* The log of a training: what is kept, and what is refused. */
#include "exec/train/log.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct pp_arena *arena;
static struct pp_error err;
static char path[64];

static void set_up(void)
{
    arena = pp_arena_create();
    strcpy(path, "/tmp/pp-test-log-XXXXXX");
    close(mkstemp(path));
}

static void tear_down(void)
{
    pp_arena_destroy(arena);
    unlink(path);
}

TestSuite(log, .init = set_up, .fini = tear_down);

static const char LOG[] = PP_LOG_HEADER "1,5.5,,1.25,0.001,512,2048,0.250\n"
                                        "2,5.25,5.4,1,0.0005,1024,1024,0.750\n"
                                        "4,5,,1,0.0001,2048,1024,1.250\n";

static const char *contents(void)
{
    static char text[4096];
    const int fd = open(path, O_RDONLY);
    const ssize_t got = read(fd, text, sizeof(text) - 1);

    cr_assert_geq(got, 0);
    text[got] = '\0';
    close(fd);
    return text;
}

static void write_log(const char *text)
{
    FILE *file = fopen(path, "w");

    fputs(text, file);
    fclose(file);
}

/* Opens the log, adds a row and closes it. */
static enum pp_status add(int steps, struct pp_log_row row)
{
    PP_ARENA_AUTO struct pp_arena *own = pp_arena_create();
    struct pp_log *log;

    err = (struct pp_error){0};
    PP_TRY(pp_log_open(own, path, steps, &log, &err));
    PP_TRY(pp_log_begin(log, &err));
    return pp_log_add(log, &row, &err);
}

Test(log, numbers_are_printed_with_all_digits_and_unknown_ones_are_empty)
{
    const struct pp_log_row row = {1, 0.1, (double)NAN, 2, 1e-3, 0.5, 512};

    write_log("something else");
    cr_assert_eq(add(0, row), PP_OK, "%s", err.message);
    cr_assert_str_eq(contents(), PP_LOG_HEADER "1,0.10000000000000001,,2,0.001,512,1024,0.500\n");
}

Test(log, a_resumed_training_continues_after_its_checkpoint)
{
    const struct pp_log_row row = {3, 4.5, 4.75, 2, 0.5, 0.25, 512};

    write_log(LOG);
    cr_assert_eq(add(2, row), PP_OK, "%s", err.message);
    cr_assert_str_eq(contents(), PP_LOG_HEADER "1,5.5,,1.25,0.001,512,2048,0.250\n"
                                               "2,5.25,5.4,1,0.0005,1024,1024,0.750\n"
                                               "3,4.5,4.75,2,0.5,1536,2048,1.000\n");
    unlink(path);
    cr_assert_eq(add(2, row), PP_OK, "%s", err.message);
    cr_assert_str_eq(contents(), PP_LOG_HEADER "3,4.5,4.75,2,0.5,512,2048,0.250\n");
}

/* Cut anywhere, a log has its whole rows; no byte is kept of the others. */
Test(log, a_row_cut_anywhere_is_dropped)
{
    const size_t length = sizeof(LOG) - 1;

    for (size_t cut = 0; cut <= length; cut++) {
        char *exact = malloc(cut + 1);
        struct pp_log_past past;
        memcpy(exact, LOG, cut);
        cr_assert_eq(pp_log_parse("L", exact, cut, 9, &past, &err), PP_OK, "%zu: %s", cut,
                     err.message);
        cr_assert_leq(past.bytes, cut);
        cr_assert(past.bytes == 0 || LOG[past.bytes - 1] == '\n');
        cr_assert_null(memchr(exact + past.bytes, past.bytes ? '\n' : '\0', cut - past.bytes));
        free(exact);
    }
}

Test(log, steps_beyond_the_checkpoint_are_cut)
{
    static const struct {
        int steps;
        int64_t tokens;
        double time_s;
    } cases[] = {{0, 0, 0}, {1, 512, .25}, {2, 1024, .75}, {3, 1024, .75}, {4, 2048, 1.25}};

    for (size_t i = 0; i < PP_COUNT(cases); i++) {
        struct pp_log_past past;
        cr_assert_eq(pp_log_parse("L", LOG, sizeof(LOG) - 1, cases[i].steps, &past, &err), PP_OK);
        cr_assert(past.tokens == cases[i].tokens && past.time_s == cases[i].time_s);
    }
}

Test(log, what_is_no_log_is_refused_with_its_line)
{
    static const struct {
        const char *rows, *message;
    } cases[] = {
        {"1,2\n", "L:2: 2 cells; a row of a log has 8"},
        {"1,5,,1,1,512,9,1\n2,5,,1,1,512,9,1,1\n", "L:3: 9 cells; a row of a log has 8"},
        {"x,5,,1,1,512,9,1\n", "L:2: step, tokens or time_s is no number"},
        {"1,5,,1,1,,9,1\n", "L:2: step, tokens or time_s is no number"},
        {"1,5,,1,1,512,9,nan\n", "L:2: step, tokens or time_s is no number"},
        {"1,5,,1,1,1e300,9,1\n", "L:2: step, tokens or time_s is no number"},
        {"2,5,,1,1,512,9,1\n2,5,,1,1,512,9,1\n", "L:3: step 2 follows step 2"},
    };
    struct pp_log_past past;

    for (size_t i = 0; i < PP_COUNT(cases); i++) {
        const char *text = pp_arena_printf(arena, PP_LOG_HEADER "%s", cases[i].rows);
        err = (struct pp_error){0};
        cr_assert_eq(pp_log_parse("L", text, strlen(text), 9, &past, &err), PP_EINVAL);
        cr_assert_str_eq(err.message, cases[i].message);
    }
    err = (struct pp_error){0};
    cr_assert_eq(pp_log_parse("L", "step,loss\n", 10, 9, &past, &err), PP_EINVAL);
    cr_assert_str_eq(err.message, "L is no log: it does not begin with "
                                  "step,loss,valid_loss,grad_norm,lr,tokens,tokens_per_s,time_s");
}

Test(log, a_file_that_is_only_opened_stays_as_it_is)
{
    struct pp_log *log;

    write_log("something else");
    cr_assert_eq(pp_log_open(arena, path, 0, &log, &err), PP_OK, "%s", err.message);
    cr_assert_str_eq(contents(), "something else");
}

Test(log, a_full_disk_is_reported)
{
    struct pp_log *log;

    cr_assert_eq(pp_log_open(arena, "/dev/full", 0, &log, &err), PP_OK);
    cr_assert_eq(pp_log_begin(log, &err), PP_EFAIL);
    cr_assert_str_eq(err.message, "cannot write to /dev/full: No space left on device");
    err = (struct pp_error){0};
    cr_assert_eq(pp_log_open(arena, "/nonexistent/log.csv", 0, &log, &err), PP_EFAIL);
    cr_assert_str_eq(err.message, "cannot open /nonexistent/log.csv: No such file or directory");
}
