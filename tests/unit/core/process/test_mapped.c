/* Files that become shorter while they are mapped. */
#define _GNU_SOURCE /* mkstemp, ftruncate */
#include "core/process/mapped.h"

#include "core/error.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 3, PAGE_BYTES = 4096 };

static char path[] = "/tmp/pp-test-mapped-XXXXXX";
static struct pp_mapped_file mapped[2];
static int fd;

static void set_up(void)
{
    fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    cr_assert_eq(ftruncate(fd, (off_t)PAGES * PAGE_BYTES), 0);
    cr_assert(pp_map_file(&mapped[0], "first", fd, PAGE_BYTES));
    cr_assert(pp_map_file(&mapped[1], "second", fd, (size_t)PAGES * PAGE_BYTES));
}

static void tear_down(void)
{
    close(fd);
    unlink(path);
}

TestSuite(mapped, .init = set_up, .fini = tear_down);

/* Reads the last page of a mapping in a child; returns its status and what it prints. */
static int read_last(const volatile char *last, char *said, size_t bytes)
{
    int ends[2], status;

    cr_assert_eq(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        _exit(*last);
    }
    close(ends[1]);
    size_t got = 0;
    for (ssize_t more; (more = read(ends[0], said + got, bytes - 1 - got)) > 0;)
        got += (size_t)more;
    said[got] = '\0';
    close(ends[0]);
    cr_assert_eq(waitpid(child, &status, 0), child);
    return status;
}

Test(mapped, a_shorter_file_ends_the_process_with_its_name)
{
    char said[256];

    cr_assert_eq(ftruncate(fd, PAGE_BYTES), 0);
    const int status =
        read_last((char *)mapped[1].bytes + (size_t)2 * PAGE_BYTES, said, sizeof(said));
    cr_assert(WIFEXITED(status));
    cr_assert_eq(WEXITSTATUS(status), PP_EFAIL);
    cr_assert_not_null(strstr(said, ": error: second became shorter while it was in use\n"), "%s",
                       said);
}

Test(mapped, what_is_left_can_be_read)
{
    char said[256];

    cr_assert_eq(ftruncate(fd, PAGE_BYTES), 0);
    cr_assert_eq(read_last(mapped[1].bytes, said, sizeof(said)), 0, "%s", said);
}

Test(mapped, a_file_that_is_no_longer_mapped_is_not_blamed)
{
    const struct pp_mapped_file was = mapped[1];
    char said[256];

    cr_assert_eq(ftruncate(fd, 0), 0);
    pp_unmap_file(&mapped[1]);
    const int status = read_last(was.bytes, said, sizeof(said));
    cr_assert(!WIFEXITED(status) || !strstr(said, "second"), "%s", said);
    cr_assert_neq(status, 0);
}

Test(mapped, a_file_that_cannot_be_mapped_is_told)
{
    struct pp_mapped_file none;

    cr_assert(!pp_map_file(&none, "none", -1, PAGE_BYTES));
    cr_assert_eq(errno, EBADF);
}
