/* The line that counts: its figures are of this run, and it is as wide as it may be. */
#define _GNU_SOURCE /* posix_openpt, pipe2 */

#include "core/text/progress.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct line {
    struct pp_progress_state state;
    const char *text;
};
static const struct line LINES[] = {
    {{0, 312, 540, 312 / 57.0, "points"}, "[312/540] 57 points/s, 4 s left"},
    /* what an earlier run has done counts neither for the speed nor for the time left */
    {{300, 312, 540, 6, "points"}, "[312/540] 2.0 points/s, 114 s left"},
    {{0, 7, 540, 2, "points"}, "[  7/540] 3.5 points/s, 3 min left"},
    {{0, 0, 540, 3, "points"}, "[  0/540] points"},
    {{312, 312, 540, 3, "points"}, "[312/540] points"},
    {{0, 1, 2, 50, "points"}, "[1/2] 0.02 points/s, 50 s left"},
    {{0, 10, 100, 100, "points"}, "[ 10/100] 0.10 points/s, 15 min left"},
    {{0, 1, 100, 100, "points"}, "[  1/100] 0.01 points/s, 3 h left"},
    {{0, 1, 10000, 100, "points"}, "[    1/10000] 0.01 points/s, 12 days left"},
    {{0, 312, 0, 312 / 57.0, "layouts"}, "[312] 57 layouts/s"}, /* the total is not known */
    {{0, 0, 0, 3, "layouts"}, "[0] layouts"},
    {{0, 540, 540, 5, "points"}, "[540/540] 108 points/s, 0 s left"},
    {{0, 2000000000, 2147483648, 1, "points"},
     "[2000000000/2147483648] 2000000000 points/s, 0 s left"},
};

Test(progress, lines)
{
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        char text[128];

        cr_expect_str_eq(pp_progress_text(&LINES[i].state, text, sizeof text), LINES[i].text, "%s",
                         text);
    }
}

Test(progress, is_cut)
{
    char text[12];

    cr_expect_str_eq(pp_progress_text(&LINES[0].state, text, sizeof text), "[312/540] 5");
}

/* stderr becomes a terminal of so many columns; the result reads what is written to it. */
static int open_terminal(unsigned short columns)
{
    const struct winsize size = {.ws_row = 24, .ws_col = columns};
    const int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);

    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        cr_skip_test("no pseudo-terminals here");
    const int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    if (slave < 0)
        cr_skip_test("no pseudo-terminals here: /dev/pts is not mounted");
    cr_assert(ioctl(slave, TIOCSWINSZ, &size) == 0);
    cr_assert(dup2(slave, STDERR_FILENO) >= 0);
    return master;
}

static const char *seen(int master, char text[512])
{
    size_t length = 0;

    /* A line may come in pieces. */
    for (ssize_t more; (more = read(master, text + length, 511 - length)) > 0;)
        length += (size_t)more;
    text[length] = '\0';
    return text;
}

Test(progress, patience_and_pace)
{
    struct pp_progress progress = {0};
    char text[512];
    const int master = open_terminal(80);

    pp_progress_count(&progress, 3, 9, "points");
    cr_expect_str_empty(seen(master, text), "within the first second: %s", text);
    cr_expect_eq(progress.done_before, 3);
    progress.started_s -= 2;
    pp_progress_count(&progress, 4, 9, "points");
    cr_expect_not_null(strstr(seen(master, text), "\r[4/9] 0."), "%s", text);
    const size_t length = strlen(text);
    progress.shown_s += 60; /* however long this machine pauses */
    pp_progress_count(&progress, 5, 9, "points");
    cr_expect_str_empty(seen(master, text), "at once again: %s", text);
    progress.shown_s = 0;
    pp_progress_count(&progress, 3, 9, "points");
    cr_expect_eq(strncmp(seen(master, text), "\r[3/9] points ", 14), 0, "'%s'", text);
    cr_expect_eq(strlen(text), length, "the longer line before is blanked: '%s'", text);
    pp_progress_clear(&progress);
    cr_expect_str_eq(seen(master, text), "\r            \r");
    pp_progress_clear(&progress);
    cr_expect_str_empty(seen(master, text));
}

Test(progress, narrow)
{
    struct pp_progress progress = {.started_s = 1e-9};
    char text[512];
    const int master = open_terminal(20);

    pp_progress_count(&progress, 4, 1000000, "points");
    cr_expect_eq(strlen(seen(master, text)), 1 + 19, "'%s'", text);
    progress.shown_s = 0;
    pp_progress_show(&progress, "simulated for a long time", 0.5);
    cr_expect_eq(strlen(seen(master, text)), 1 + 19, "'%s'", text);
}

Test(progress, it_is_no_terminal)
{
    struct pp_progress progress = {.started_s = 1e-9};
    int ends[2];
    char text[512];

    cr_assert(pipe2(ends, O_NONBLOCK) == 0 && dup2(ends[1], STDERR_FILENO) >= 0);
    pp_progress_count(&progress, 4, 9, "points");
    pp_progress_show(&progress, "simulated", 0.5);
    pp_progress_clear(&progress);
    cr_expect_str_empty(seen(ends[0], text));
}
