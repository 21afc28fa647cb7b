/* Whatever interrupts the writing of a checkpoint, the one before it stays whole. */
#define _GNU_SOURCE /* unshare, syscall */
#include "tests/exec/checkpoint_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(checkpoint_files, .init = make_folder, .fini = remove_folder);

/* ---- how it is written ----------------------------------------------------------------------- */

/* Returns the calls of this process that have written; -1 = the system does not count them. */
static long count_writes(void)
{
    FILE *file = fopen("/proc/self/io", "r");
    char line[80];
    long count = -1;

    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "syscw: ", 7) == 0)
            count = atol(line + 7);
    if (file)
        fclose(file);
    return count;
}

/* Two devices have parts of each row in turn. They are written as those of one device, whether from
 * a copy or not. */
Test(checkpoint_files, parts_that_follow_one_another_are_one_write)
{
    long writes[2][2];
    struct pp_checkpoint_folder opened = open_folder(folder, 1, NULL);

    if (count_writes() < 0)
        cr_skip_test("no counts in /proc/self/io");
    for (int tp = 1; tp <= 2; tp++) {
        const struct rig *rig = make_rig_of(tp, 1);
        struct pp_error err = {0};

        for (int step = 0; step < 2; step++) {
            const long before = count_writes();
            cr_assert_eq(write_at(rig, &opened, 2 * tp + step, &err), PP_OK, "%s", err.message);
            writes[tp - 1][step] = count_writes() - before;
        }
    }
    pp_checkpoint_close(&opened);
    for (int step = 0; step < 2; step++)
        cr_assert_eq(writes[0][step], writes[1][step], "%ld and %ld writes", writes[0][step],
                     writes[1][step]);
}

/* ---- no room --------------------------------------------------------------------------------- */

/* Whatever stops the writing of step 2, step 1 is there and nothing else. */
static void expect_only_the_first(const struct rig *rig, const char *reason)
{
    struct pp_checkpoint_folder opened = open_folder(folder, 1, &read_one(folder)->manifest);
    struct pp_error err = {0};

    cr_assert_eq(write_at(rig, &opened, 2, &err), PP_EFAIL);
    cr_assert_not_null(strstr(err.message, reason), "%s", err.message);
    cr_assert_eq(count_entries(folder), 1);
    cr_assert_eq(load(rig, &err), PP_OK, "%s", err.message);
    cr_assert_eq(read_one(folder)->manifest.step, 1);
    pp_checkpoint_close(&opened);
}

Test(checkpoint_files, a_limit_of_file_size_leaves_the_last_one)
{
    const struct rig *rig = make_rig();
    struct pp_error err = {0};
    struct pp_checkpoint_folder opened = open_folder(folder, 1, NULL);

    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(write_at(rig, &opened, 1, &err), PP_OK, "%s", err.message);
    pp_checkpoint_close(&opened);
    for (rlim_t bytes = 0; bytes < 500; bytes += 37) {
        const struct rlimit few = {bytes, RLIM_INFINITY}, all = {RLIM_INFINITY, RLIM_INFINITY};
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &few), 0);
        expect_only_the_first(rig, "File too large");
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &all), 0);
    }
}

/* Fill all but `left` bytes. */
static void fill(const char *path, long left)
{
    static const char zeros[4096];
    const int fd = open(path, O_WRONLY | O_CREAT, 0600);

    while (write(fd, zeros, sizeof zeros) > 0) {
    }
    cr_assert_eq(ftruncate(fd, lseek(fd, 0, SEEK_CUR) - left), 0);
    close(fd);
}

Test(checkpoint_files, a_full_disk_leaves_the_last_one)
{
    const struct rig *rig = make_rig();
    struct pp_error err = {0};

    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", folder, "tmpfs", 0, "size=128k") != 0)
        cr_skip_test("no right to mount a small disk: %s", strerror(errno));
    char *disk = pp_arena_strdup(arena, folder);
    const char *filler = in("filler");
    for (long left = 0; left < 40960; left += 8192) {
        strcpy(folder, disk);
        cr_assert_eq(mkdir(in("checkpoints"), 0777), 0);
        strcpy(folder, in("checkpoints"));
        struct pp_checkpoint_folder opened = open_folder(folder, 1, NULL);
        cr_assert_eq(write_at(rig, &opened, 1, &err), PP_OK, "%s", err.message);
        pp_checkpoint_close(&opened);
        fill(filler, left / 3);
        expect_only_the_first(rig, "No space left on device");
        cr_assert_eq(system(pp_arena_printf(arena, "rm -r %s %s", folder, filler)), 0);
    }
    strcpy(folder, disk);
    umount(folder);
}

/* ---- parts of another process ---------------------------------------------------------------- */

/* Process 1 has the second part. It does something when process 0 has looked for it often enough.
 */
struct other {
    struct pp_checkpoint_parts parts;
    const char *path;
    rlim_t most_bytes; /* of a file that it may write */
    int acts_at, *looks;
    bool has_ended; /* after that */
};

static bool is_gone(const void *closure, int process)
{
    const struct other *other = closure;
    struct pp_checkpoint_sum sums[8];
    struct pp_error err = {0};

    cr_assert_eq(process, 1);
    if (++*other->looks != other->acts_at)
        return other->has_ended && *other->looks > other->acts_at;
    const struct rlimit few = {other->most_bytes, RLIM_INFINITY},
                        all = {RLIM_INFINITY, RLIM_INFINITY};
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &few), 0);
    pp_checkpoint_write_parts(other->path, &other->parts, sums, &err);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &all), 0);
    return other->has_ended;
}

/* The parts as one of two processes has them. */
static struct pp_checkpoint_parts parts_in(const struct rig *rig, int process)
{
    struct pp_checkpoint_parts parts = rig->parts;

    parts.part = PP_ARRAY(arena, struct pp_checkpoint_part, parts.count);
    for (int i = 0; i < parts.count; i++) {
        parts.part[i] = rig->parts.part[i];
        parts.part[i].is_elsewhere = i != process;
    }
    parts.process = process;
    return parts;
}

static enum pp_status write_with(const struct rig *rig, struct other *other, double timeout_s,
                                 struct pp_error *err)
{
    struct pp_checkpoint_folder opened = open_folder(folder, 1, NULL);
    const struct pp_checkpoint_parts here = parts_in(rig, 0);
    struct pp_checkpoint_sum sums[8];
    struct pp_checkpoint_draft draft;
    const char *path;

    cr_assert_eq(pp_checkpoint_begin(arena, &opened, &rig->head, &rig->parts, &draft, err), PP_OK);
    draft.writers = 2;
    other->parts = parts_in(rig, 1);
    other->path = draft.path;
    other->looks = PP_NEW(arena, int);
    cr_assert_eq(pp_checkpoint_write_parts(draft.path, &here, sums, err), PP_OK);
    enum pp_status status = pp_checkpoint_await_sums(
        &draft, &(struct pp_checkpoint_others){is_gone, other, timeout_s}, sums, err);
    if (status == PP_OK)
        status = pp_checkpoint_end(&draft, sums, &path, err);
    else
        pp_checkpoint_abandon(&draft);
    pp_checkpoint_close(&opened);
    return status;
}

/* Of one that ends as soon as it has written it, too. */
Test(checkpoint_files, a_late_part_is_waited_for)
{
    const struct rig *rig = make_rig_of(2, 1);

    for (int has_ended = 0; has_ended < 2; has_ended++) {
        struct other late = {.most_bytes = RLIM_INFINITY, .acts_at = 40, .has_ended = has_ended};
        struct pp_error err = {0};

        cr_assert_eq(write_with(rig, &late, 0, &err), PP_OK, "%s", err.message);
        cr_assert_eq(*late.looks, late.acts_at);
        cr_assert_eq(load(rig, &err), PP_OK, "%s", err.message);
        cr_assert_eq(count_entries(in("step-000000000")), 5, "layers and manifest");
        cr_assert_eq(system(pp_arena_printf(arena, "rm -r %s/step*", folder)), 0);
    }
}

Test(checkpoint_files, a_part_that_does_not_come_has_a_reason)
{
    const struct rig *rig = make_rig_of(2, 1);
    const struct {
        struct other other;
        const char *reason;
    } cases[] = {
        {{.has_ended = true}, "a process ended before its part was written (process 1)"},
        {{.acts_at = 3, .most_bytes = 40}, "a process could not write its part (process 1)"},
        {{.acts_at = -1}, " s (--timeout; process 1)"},
    };

    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct other other = cases[i].other;
        struct pp_error err = {0};

        cr_assert_eq(write_with(rig, &other, 0.2, &err), PP_EFAIL);
        cr_assert_not_null(strstr(err.message, cases[i].reason), "%s", err.message);
        cr_assert_eq(count_entries(folder), 0);
    }
}

/* ---- on the disk ----------------------------------------------------------------------------- */

/* What is synced, in place of the C library's: still done, and noted. */
static struct stat synced[64];
static int synced_count;

int fsync(int fd)
{
    if (synced_count < (int)(sizeof synced / sizeof *synced) &&
        fstat(fd, &synced[synced_count]) == 0)
        synced_count++;
    return (int)syscall(SYS_fsync, fd);
}

static bool is_synced(const char *path)
{
    struct stat info;

    cr_assert_eq(stat(path, &info), 0);
    for (int i = 0; i < synced_count; i++)
        if (synced[i].st_dev == info.st_dev && synced[i].st_ino == info.st_ino)
            return true;
    return false;
}

Test(checkpoint_files, all_names_are_on_the_disk)
{
    static const char *const names[] = {"", "/step-000000001", "/step-000000001/manifest",
                                        "/step-000000001/layer-00000.bin",
                                        "/step-000000001/layer-00003.bin"};
    const struct rig *rig = make_rig();
    const char *to = in("new/");
    struct pp_error err = {0};
    struct pp_checkpoint_folder opened = open_folder(to, 1, NULL);

    cr_assert(is_synced(folder), "the name of a new folder");
    cr_assert_eq(write_at(rig, &opened, 1, &err), PP_OK, "%s", err.message);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cr_assert(is_synced(pp_arena_printf(arena, "%s%s", to, names[i])), "%s", names[i]);
    pp_checkpoint_close(&opened);
    synced_count = 0;
    opened = open_folder(to, 1, &read_one(to)->manifest);
    cr_assert(!is_synced(folder), "it had its name already");
    pp_checkpoint_close(&opened);
}

/* ---- a violent end --------------------------------------------------------------------------- */

/* Write one after the other, and say so each time. */
static void write_forever(const struct rig *rig, int newest, int said)
{
    struct pp_checkpoint_folder own = open_folder(folder, 2, &read_one(folder)->manifest);
    struct pp_error err = {0};

    for (int step = newest + 1; write_at(rig, &own, step, &err) == PP_OK; step++)
        if (write(said, "", 1) != 1)
            break;
    _exit(1);
}

/* A child that is killed some time after it has written `whole` checkpoints. */
static void kill_one(const struct rig *rig, int newest, int whole, int delay_us)
{
    int said[2], status;
    char byte;

    cr_assert_eq(pipe(said), 0);
    const pid_t child = fork();
    if (child == 0)
        write_forever(rig, newest, said[1]);
    for (int i = 0; i < whole; i++)
        cr_assert_eq(read(said[0], &byte, 1), 1);
    usleep((useconds_t)delay_us);
    kill(child, SIGKILL);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFSIGNALED(status), "it gave up by itself");
    close(said[0]);
    close(said[1]);
}

Test(checkpoint_files, a_kill_at_any_time_leaves_a_whole_one)
{
    enum { TRIALS = 100 };
    const struct rig *rig = make_rig();
    struct pp_error err = {0};
    struct pp_checkpoint_folder opened = open_folder(folder, 2, NULL);
    int newest = 1;

    cr_assert_eq(write_at(rig, &opened, newest, &err), PP_OK, "%s", err.message);
    pp_checkpoint_close(&opened);
    for (int trial = 0; trial < TRIALS; trial++) {
        kill_one(rig, newest, trial % 3, trial * 731 % 9000);
        cr_assert_eq(load(rig, &err), PP_OK, "trial %d: %s", trial, err.message);
        const int found = read_one(folder)->manifest.step;
        cr_assert_geq(found, newest + trial % 3);
        newest = found;
    }
    opened = open_folder(folder, 2, &read_one(folder)->manifest);
    cr_assert_leq(count_entries(folder), 3, "nothing half-written stays");
    pp_checkpoint_close(&opened);
}
