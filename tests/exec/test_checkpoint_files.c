/* Training never continues from a state that differs from the written one, in whatever way the
 * files are damaged. */
#define _GNU_SOURCE /* unshare, syscall */
#include "tests/exec/checkpoints.h"

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

/* ---- damage ---------------------------------------------------------------------------------- */

/* A small state, written once, and memory to load it into. */
struct rig {
    struct exec_run run;
    struct pp_checkpoint_parts parts;
    struct pp_manifest head;
};

static struct rig *make_rig(void)
{
    struct rig *rig = PP_NEW(arena, struct rig);
    struct exec_case small = base;
    struct pp_error err = {0};

    small.layers = small.hidden = small.heads = 2;
    small.vocab = 5;
    cr_assert_eq(exec_run_make(arena, &small, &rig->run, &err), PP_OK, "%s", err.message);
    const struct pp_kernels *k = rig->run.training.machine.kernels;
    const struct pp_stage *whole = pp_stage_whole(arena, &rig->run.training.net, 1, 1, k);
    const struct pp_state_bytes bytes = pp_state_bytes(whole, k, false, pp_cuts_none());
    rig->parts = (struct pp_checkpoint_parts){
        .whole = whole, .kernels = k, .part = PP_NEW(arena, struct pp_checkpoint_part), .count = 1};
    rig->parts.part[0] =
        (struct pp_checkpoint_part){whole,
                                    {.weights = pp_arena_alloc(arena, bytes.weights),
                                     .m = pp_arena_alloc(arena, bytes.moment),
                                     .v = pp_arena_alloc(arena, bytes.moment),
                                     .sum = pp_arena_alloc(arena, bytes.gradients),
                                     .share = pp_share_of(whole, 0, 1),
                                     .held = pp_share_of(whole, 0, 1),
                                     .summed = pp_share_of(whole, 0, 1)}};
    pp_state_init(whole, k, &(struct pp_recipe){.seed = 7}, &rig->parts.part[0].state,
                  pp_cuts_none());
    rig->head = head_of(&rig->run);
    return rig;
}

static enum pp_status write_at(const struct rig *rig, const struct pp_checkpoint_folder *opened,
                               int step, struct pp_error *err)
{
    struct pp_checkpoint_sum *sums =
        PP_ARRAY(arena, struct pp_checkpoint_sum, pp_checkpoint_layers(&rig->parts));
    struct pp_manifest manifest = rig->head;
    struct pp_checkpoint_copy *copy;
    struct pp_checkpoint_draft draft;
    const char *path;

    manifest.step = step;
    PP_TRY(pp_checkpoint_begin(arena, opened, &manifest, &rig->parts, &draft, err));
    enum pp_status status = pp_checkpoint_copy_begin(draft.path, &rig->parts, step % 2, &copy, err);
    if (pp_checkpoint_copy_end(&copy, sums, status == PP_OK ? err : &(struct pp_error){0}) != PP_OK)
        status = err->status;
    if (status == PP_OK)
        return pp_checkpoint_end(&draft, sums, &path, err);
    pp_checkpoint_abandon(&draft);
    return status;
}

static enum pp_status load(const struct rig *rig, struct pp_error *err)
{
    struct pp_checkpoint checkpoint;

    PP_TRY(pp_checkpoint_read(arena, folder, &checkpoint, err));
    PP_TRY(pp_identity_check(checkpoint.path, &checkpoint.manifest.identity, &rig->head.identity,
                             err));
    return pp_checkpoint_load(&checkpoint, &rig->parts, err);
}

static void expect_damage(const struct rig *rig, const char *path, const char *what, long at)
{
    struct pp_error err = {0};
    const enum pp_status status = load(rig, &err);

    cr_assert_eq(status, PP_EINVAL, "%s: %s %ld: status %d", path, what, at, (int)status);
    cr_assert_not_null(strstr(err.message, path), "%s: %s %ld: %s", path, what, at, err.message);
    cr_assert_not_null(strstr(err.message, "before it: --resume"), "%s", err.message);
}

static void damage(const struct rig *rig, const char *path)
{
    struct pp_error err = {0};
    struct stat info;
    const int fd = open(path, O_RDWR);

    cr_assert(fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0);
    const long size = (long)info.st_size;
    char *bytes = pp_arena_alloc(arena, (size_t)size);
    cr_assert_eq(pread(fd, bytes, (size_t)size, 0), size);
    for (long at = 0; at < size; at++) { /* one bit of every byte, another one each time */
        const char flipped = (char)(bytes[at] ^ (1 << at % 8));
        cr_assert_eq(pwrite(fd, &flipped, 1, at), 1);
        expect_damage(rig, path, "bit of byte", at);
        cr_assert_eq(pwrite(fd, &bytes[at], 1, at), 1);
    }
    for (long length = 0; length < size; length += 1 + length / 16) {
        cr_assert_eq(ftruncate(fd, length), 0);
        expect_damage(rig, path, "cut to", length);
        cr_assert_eq(pwrite(fd, bytes, (size_t)size, 0), size);
    }
    cr_assert_eq(pwrite(fd, "\n", 1, size), 1);
    expect_damage(rig, path, "one byte more than", size);
    cr_assert_eq(ftruncate(fd, size), 0);
    cr_assert_eq(load(rig, &err), PP_OK, "%s", err.message);
    cr_assert_eq(unlink(path), 0);
    cr_assert_neq(load(rig, &err), PP_OK);
    cr_assert_not_null(strstr(err.message, path), "%s", err.message);
    close(fd);
}

Test(checkpoint_files, no_damage_goes_unseen)
{
    static const char *const files[] = {"layer-00000.bin", "layer-00001.bin", "layer-00002.bin",
                                        "layer-00003.bin", "manifest"};
    struct rig *rig = make_rig();
    struct pp_error err = {0};
    struct pp_checkpoint_folder opened = open_folder(folder, 99, NULL);

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        for (int step = 0; step < 2; step++)
            cr_assert_eq(write_at(rig, &opened, 2 * (int)i + step + 1, &err), PP_OK, "%s",
                         err.message);
        damage(rig, pp_arena_printf(arena, "%s/step-%09d/%s", folder, 2 * (int)i + 2, files[i]));
    }
    pp_checkpoint_close(&opened);
}

/* Files of equal length in each other's place. */
Test(checkpoint_files, layers_are_not_exchanged)
{
    struct rig *rig = make_rig();
    struct pp_error err = {0};
    struct pp_checkpoint_folder opened = open_folder(folder, 1, NULL);

    cr_assert_eq(write_at(rig, &opened, 1, &err), PP_OK);
    cr_assert_eq(system(pp_arena_printf(arena,
                                        "cd %s/step-000000001 && mv layer-00001.bin x && mv "
                                        "layer-00002.bin layer-00001.bin && mv x layer-00002.bin",
                                        folder)),
                 0);
    cr_assert_eq(load(rig, &err), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "layer-00001.bin is damaged"), "%s", err.message);
    pp_checkpoint_close(&opened);
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
