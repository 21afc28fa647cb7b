/* Faults of a tier's file are named, and no wrong byte is handed on. */
#define _GNU_SOURCE /* mkdtemp */
#include "exec/tiers/file.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { BLOCKS = 40, BYTES = BLOCKS * PP_TIER_BLOCK };
static char folder[] = "/tmp/test_tiers_XXXXXX";
static struct pp_arena *arena;
static struct pp_tier_file *file;
static unsigned char own[BYTES], back[BYTES];
static struct pp_error err;

static void begin(void)
{
    cr_assert(mkdtemp(folder));
    arena = pp_arena_create();
    cr_assert_eq(pp_tier_file_open(arena, folder, BYTES, "rank 3", &file, &err), PP_OK, "%s",
                 err.message);
    for (size_t i = 0; i < sizeof own; i++)
        own[i] = (unsigned char)(i * 131 + i / 65536);
    cr_assert_eq(pp_tier_file_write(file, 0, BYTES, own, &err), PP_OK, "%s", err.message);
}

static void end(void)
{
    pp_arena_destroy(arena);
    cr_assert_eq(rmdir(folder), 0, "a file was left over");
}

/* A read of [offset, offset + bytes) fails, is named with all of `words`, and hands nothing on. */
static void refuses(size_t offset, size_t bytes, const char *words)
{
    memset(back, 0, sizeof back);
    cr_assert_eq(pp_tier_file_read(file, offset, bytes, back, &err), PP_EFAIL);
    cr_expect(strstr(err.message, words) && strstr(err.message, "rank 3") &&
                  strstr(err.message, folder),
              "%s", err.message);
    for (size_t i = 0; i < bytes; i++)
        cr_assert_eq(back[i], 0xff, "byte %zu", i);
}

static void is_sound(void)
{
    cr_assert_eq(pp_tier_file_read(file, 0, BYTES, back, &err), PP_OK, "%s", err.message);
    cr_assert_eq(memcmp(own, back, BYTES), 0);
}

/* The file of the test, opened once more. */
static int open_again(void)
{
    DIR *list = opendir("/proc/self/fd");
    int fd = -1;

    cr_assert(list);
    for (const struct dirent *e; fd < 0 && (e = readdir(list));) {
        char path[300], target[300] = "";

        snprintf(path, sizeof path, "/proc/self/fd/%s", e->d_name);
        if (readlink(path, target, sizeof target - 1) > 0 && strstr(target, folder))
            fd = open(path, O_RDWR | O_CLOEXEC);
    }
    closedir(list);
    cr_assert(fd >= 0);
    return fd;
}

Test(tier_file_faults, a_bit_that_flips_is_found_wherever_it_is, .init = begin, .fini = end)
{
    const int fd = open_again();

    for (size_t at = 0; at < BYTES; at += 64 * 1024 - 977) {
        const unsigned char wrong = own[at] ^ (unsigned char)(1 << at % 8);
        char words[60];

        cr_assert_eq(pwrite(fd, &wrong, 1, (off_t)at), 1);
        fsync(fd);
        snprintf(words, sizeof words, "at byte %zu: the checksum differs",
                 at / PP_TIER_BLOCK * PP_TIER_BLOCK);
        refuses(0, BYTES, words);
        refuses(at, 1, words);
        cr_assert_eq(pwrite(fd, &own[at], 1, (off_t)at), 1);
        fsync(fd);
    }
    is_sound();
    close(fd);
}

Test(tier_file_faults, a_write_that_never_reached_the_disk_is_found, .init = begin, .fini = end)
{
    const int fd = open_again();
    static char old[4096], new[4096];

    cr_assert_eq(pread(fd, old, sizeof old, 0), sizeof old);
    memset(new, 1, sizeof new);
    cr_assert_eq(pp_tier_file_write(file, 0, sizeof new, new, &err), PP_OK);
    cr_assert_eq(pwrite(fd, old, sizeof old, 0), sizeof old);
    fsync(fd);
    refuses(0, sizeof new, "the checksum differs");
    close(fd);
}

Test(tier_file_faults, a_file_that_ends_early_is_found, .init = begin, .fini = end)
{
    const int fd = open_again();

    cr_assert_eq(ftruncate(fd, 5 * PP_TIER_BLOCK + 4096), 0);
    refuses(0, BYTES, "reading at byte 0: short: 331776 of 1048576 bytes");
    refuses(6 * PP_TIER_BLOCK, 100, "reading at byte 393216: short: 0 of 65536 bytes");
    close(fd);
}

Test(tier_file_faults, bytes_that_no_write_left_are_refused, .init = begin, .fini = end)
{
    cr_assert_eq(pp_tier_file_write(file, 3 * PP_TIER_BLOCK, 10, own, &err), PP_OK);
    refuses(3 * PP_TIER_BLOCK, 11, "reading at byte 196618: read before written");
    refuses(0, BYTES, "reading at byte 196618: read before written");
    cr_assert_eq(pp_tier_file_read(file, 3 * PP_TIER_BLOCK + 2, 8, back, &err), PP_OK);
    cr_assert_eq(memcmp(back, own + 2, 8), 0);

    struct pp_tier_file *fresh;
    cr_assert_eq(pp_tier_file_open(arena, folder, BYTES, "rank 3", &fresh, &err), PP_OK);
    file = fresh;
    refuses(0, 1, "read before written");
}

Test(tier_file_faults, faults_on_request_strike_once, .init = begin, .fini = end)
{
    static const struct {
        enum pp_tier_fault fault;
        const char *words;
    } ROWS[] = {
        {PP_TIER_SHORT, "short: 524288 of 1048576 bytes"},
        {PP_TIER_EIO, "reading at byte 0: Input/output error"},
    };

    for (size_t i = 0; i < PP_COUNT(ROWS); i++) {
        pp_tier_file_break(file, ROWS[i].fault);
        cr_assert_eq(pp_tier_file_write(file, 0, BYTES, own, &err), PP_OK);
        refuses(0, BYTES, ROWS[i].words);
        is_sound();
    }
    pp_tier_file_break(file, PP_TIER_FLIP);
    refuses(2 * PP_TIER_BLOCK, 2 * PP_TIER_BLOCK, "at byte 131072: the checksum differs");
    refuses(0, BYTES, "at byte 131072: the checksum differs");
    cr_assert_eq(pp_tier_file_write(file, 0, BYTES, own, &err), PP_OK);
    is_sound();
}

Test(tier_file_faults, what_a_full_disk_did_not_take_is_not_read, .init = begin, .fini = end)
{
    pp_tier_file_break(file, PP_TIER_FULL);
    is_sound();
    cr_assert_eq(pp_tier_file_write(file, 0, 100, own, &err), PP_EFAIL);
    cr_expect(strstr(err.message, "rank 3") && strstr(err.message, folder) &&
                  strstr(err.message, "writing at byte 0: No space left on device"),
              "%s", err.message);
    refuses(0, 100, "read before written");
}

/* A file may not grow beyond RLIMIT_FSIZE: an error of the kernel's own in the midst of a run. */
Test(tier_file_faults, the_kernel_refuses_a_write, .init = begin, .fini = end)
{
    const struct rlimit limit = {4 * PP_TIER_BLOCK, 4 * PP_TIER_BLOCK};

    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    cr_assert_eq(pp_tier_file_write(file, 8 * PP_TIER_BLOCK, 100, own, &err), PP_EFAIL);
    cr_expect(strstr(err.message, "writing at byte 524288: File too large"), "%s", err.message);
    refuses(8 * PP_TIER_BLOCK, 1, "read before written");
}

/* Opening `bytes` in `dir` fails with `words`. */
static void no_file(const char *dir, size_t bytes, const char *words)
{
    cr_assert_eq(pp_tier_file_open(arena, dir, bytes, "rank 3", &file, &err), PP_EFAIL);
    cr_expect_neq(strstr(err.message, words), NULL, "%s", err.message);
}

Test(tier_file_faults, directories_that_cannot_be_used_are_named, .init = begin, .fini = end)
{
    char path[100], words[200];

    snprintf(path, sizeof path, "%s/a/b", folder);
    snprintf(words, sizeof words, "%s is not a directory; nearest: %s", path, folder);
    no_file(path, BYTES, words);
    no_file("nowhere", BYTES, "nowhere is not a directory; nearest: .");
    no_file("/dev/null", BYTES, "/dev/null is not a directory; nearest: /dev");
    no_file("/proc", BYTES, "cannot create a file in /proc: ");
    no_file(folder, (size_t)1 << 60, "rank 3 needs ");
    cr_expect(strstr(err.message, folder) && strstr(err.message, " free"), "%s", err.message);
}
