/* A child that crashes is an error here, and nothing is left of it. */
#include "sim/simgrid/child.h"
#include "sim/simgrid/engines.h"
#include "sim/simgrid/module/module.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct pp_error err;

static void check_nothing_left(void)
{
    cr_assert(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

static void check_run(pp_child_function run, void *job, enum pp_status status, const char *text)
{
    err = (struct pp_error){0};
    const enum pp_status got = pp_child_run(run, job, NULL, &err);
    cr_assert(got == status, "status %d, expected %d: %s", got, status, err.message);
    cr_assert_str_eq(err.message, text);
    check_nothing_left();
}

static enum pp_status succeed(void *job, int channel, struct pp_error *e)
{
    (void)channel;
    (void)e;
    printf("lost\n");
    return *(int *)job == 7 ? PP_OK : PP_EFAIL;
}

static enum pp_status refuse(void *job, int channel, struct pp_error *e)
{
    (void)channel;
    return pp_error_set(e, PP_EINVAL, "%s is refused", (const char *)job);
}

static enum pp_status kill_self(void *job, int channel, struct pp_error *e)
{
    (void)channel;
    (void)e;
    signal(*(int *)job, SIG_DFL);
    raise(*(int *)job);
    return PP_OK;
}

static enum pp_status leave(void *job, int channel, struct pp_error *e)
{
    (void)job;
    (void)channel;
    (void)e;
    _exit(3);
}

/* More than the buffer holds; what was said first is kept. */
static enum pp_status talk(void *job, int channel, struct pp_error *e)
{
    (void)channel;
    (void)e;
    fprintf(stderr, "chatter\n[0.000000] ./src/a.cpp:95: [x/ERROR] %s\n", (const char *)job);
    for (int i = 0; i < 100000; i++)
        fprintf(stderr, "[0.000000] ./src/a.cpp:95: [x/ERROR] and line %d\n", i);
    raise(SIGKILL);
    return PP_OK;
}

Test(simgrid_child, a_status_and_a_message_come_back)
{
    int seven = 7, other = 8;

    check_run(succeed, &seven, PP_OK, "");
    check_run(succeed, &other, PP_EFAIL, "");
    check_run(refuse, "this", PP_EINVAL, "this is refused");
}

Test(simgrid_child, a_crash_is_an_error)
{
    int sigsegv = SIGSEGV, sigkill = SIGKILL, sigint = SIGINT;

    check_run(kill_self, &sigsegv, PP_EFAIL, "SimGrid crashed (Segmentation fault)");
    check_run(kill_self, &sigkill, PP_EFAIL, "SimGrid was killed (out of memory?)");
    check_run(kill_self, &sigint, PP_EINTR, "interrupted");
    check_run(leave, NULL, PP_EFAIL, "SimGrid ended with exit code 3");
}

Test(simgrid_child, the_first_error_line_is_the_message)
{
    check_run(talk, "Parse error at a.xml:7: unknown unit: GByte", PP_EFAIL,
              "a.xml:7: unknown unit: GByte");
}

Test(simgrid_child, reasons)
{
    static const struct {
        const char *log, *reason;
    } cases[] = {
        {"", ""},
        {"nothing of interest\n", ""},
        {"[0.000000] ./src/a.cpp:96: [x/ERROR] Exiting now.\n", ""},
        {"[0.0] [x/INFO] no\n[0.0] ./a.cpp:1: [root/CRITICAL] There is no host!\n[0.0] "
         "[x/ERROR] more\n",
         "There is no host!"},
        {"[0.0] a:1: [x/CRITICAL] Uncaught exception simgrid::AssertionError by maestro/0: no",
         "no"},
        {"[0.0] a:1: [x/CRITICAL] Uncaught exception std::invalid_argument: Link not found: m\n",
         "Link not found: m"},
        {"[0.0] a:1: [x/ERROR] Parse error at", "Parse error at"},
        {"[0.0] a:1: [x/ERROR] Parse error at a b:3: \x01\xff", "a b:3: ??"},
    };
    char text[40];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        pp_child_reason(cases[i].log, text, sizeof(text));
        cr_assert_str_eq(text, cases[i].reason);
    }
    char small[4];
    pp_child_reason(cases[3].log, small, sizeof(small));
    cr_assert_str_eq(small, "The");
}

/* Talks over the channel until it is closed. */
static enum pp_status echo(void *job, int channel, struct pp_error *e)
{
    char byte;

    (void)job;
    while (read(channel, &byte, 1) == 1)
        if (write(channel, &byte, 1) != 1)
            return pp_error_set(e, PP_EFAIL, "cannot write");
    return PP_OK;
}

Test(simgrid_child, the_channel_goes_both_ways_and_ends_the_child)
{
    struct pp_child child;
    char byte = 'x';

    cr_assert(pp_child_start(&child, echo, NULL, &err) == PP_OK);
    for (int i = 0; i < 3; i++) {
        cr_assert(write(child.channel, &byte, 1) == 1);
        byte = 0;
        cr_assert(read(child.channel, &byte, 1) == 1);
        cr_assert(byte == 'x');
    }
    cr_assert(pp_child_finish(&child, &err) == PP_OK);
    check_nothing_left();
}

static enum pp_status load(void *job, int channel, struct pp_error *e)
{
    const struct pp_simgrid_module *module;

    (void)job;
    (void)channel;
    PP_TRY(pp_simgrid_load(&module, e));
    return module->run && module->serve_platform ? PP_OK : pp_error_set(e, PP_EFAIL, "empty");
}

Test(simgrid_child, the_module_loads)
{
    cr_assert_str_eq(pp_engines[0]->name, "simgrid");
    check_run(load, NULL, PP_OK, "");
}

static enum pp_status nap(void *job, int channel, struct pp_error *e)
{
    (void)channel;
    (void)e;
    if (write(*(int *)job, "r", 1) == 1)
        pause();
    return PP_OK;
}

/* A parent that is killed takes its child with it: the pipe that the child holds closes. */
Test(simgrid_child, dies_with_its_parent)
{
    int pipe_ends[2];
    char byte;

    cr_assert(pipe(pipe_ends) == 0);
    const pid_t middle = fork();
    if (middle == 0) {
        close(pipe_ends[0]);
        pp_child_run(nap, &pipe_ends[1], NULL, &err);
        _exit(0);
    }
    close(pipe_ends[1]);
    cr_assert(read(pipe_ends[0], &byte, 1) == 1);
    kill(middle, SIGKILL);
    cr_assert(read(pipe_ends[0], &byte, 1) == 0);
    waitpid(middle, NULL, 0);
}
