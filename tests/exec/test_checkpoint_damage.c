/* However the files of a checkpoint are damaged, training never continues from another state. The
 * state is in one part, or in those of devices or replicas that share it. */
#include "tests/exec/checkpoint_rig.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(checkpoint_damage, .init = make_folder, .fini = remove_folder);

static void expect_damage(const struct rig *rig, const char *path, const char *what, long at)
{
    struct pp_error err = {0};
    const enum pp_status status = load(rig, &err);

    cr_assert_eq(status, PP_EINVAL, "%s: %s %ld: status %d", path, what, at, (int)status);
    cr_assert_not_null(strstr(err.message, path), "%s: %s %ld: %s", path, what, at, err.message);
    cr_assert_not_null(strstr(err.message, "before it: --resume"), "%s", err.message);
}

/* One bit of every byte, another one each time. */
static void flip_bits(const struct rig *rig, const char *path, int fd, const char *bytes, long size)
{
    for (long at = 0; at < size; at++) {
        const char flipped = (char)(bytes[at] ^ (1 << at % 8));
        cr_assert_eq(pwrite(fd, &flipped, 1, at), 1);
        expect_damage(rig, path, "bit of byte", at);
        cr_assert_eq(pwrite(fd, &bytes[at], 1, at), 1);
    }
}

/* Every length of a small file, and many of a large one. */
static void cut_off(const struct rig *rig, const char *path, int fd, const char *bytes, long size)
{
    enum { SMALL_BYTES = 4096, STEP_BYTES = 97 };

    for (long length = 0; length < size; length += size <= SMALL_BYTES ? 1 : STEP_BYTES) {
        cr_assert_eq(ftruncate(fd, length), 0);
        expect_damage(rig, path, "cut to", length);
        cr_assert_eq(pwrite(fd, bytes, (size_t)size, 0), size);
    }
    cr_assert_eq(pwrite(fd, "\n", 1, size), 1);
    expect_damage(rig, path, "one byte more than", size);
    cr_assert_eq(ftruncate(fd, size), 0);
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
    flip_bits(rig, path, fd, bytes, size);
    cut_off(rig, path, fd, bytes, size);
    cr_assert_eq(load(rig, &err), PP_OK, "%s", err.message);
    cr_assert_eq(unlink(path), 0);
    cr_assert_neq(load(rig, &err), PP_OK);
    cr_assert_not_null(strstr(err.message, path), "%s", err.message);
    close(fd);
}

static void damage_all(const struct rig *rig)
{
    static const char *const files[] = {"layer-00000.bin", "layer-00001.bin", "layer-00002.bin",
                                        "layer-00003.bin", "manifest"};
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

Test(checkpoint_damage, no_damage_goes_unseen)
{
    damage_all(make_rig());
}

/* Tensors of which the second part has a slice. */
static int slices_of(const struct rig *rig)
{
    const struct pp_stage *stage = rig->parts.part[1].stage;
    int count = 0;

    for (int p = 0; p < stage->param_count; p++)
        count += stage->params[p].slice.whole > 0;
    return count;
}

/* Of a group of devices that share each block. */
Test(checkpoint_damage, no_damage_goes_unseen_in_parts_of_blocks)
{
    const struct rig *rig = make_rig_of(2, 1);

    cr_assert_geq(slices_of(rig), 2 * 4 + 1);
    damage_all(rig);
}

/* Of replicas that share experts. */
Test(checkpoint_damage, no_damage_goes_unseen_in_shared_experts)
{
    const struct rig *rig = make_rig_of(1, 2);

    cr_assert_geq(slices_of(rig), 2 * 4);
    damage_all(rig);
}

/* What is loaded into the parts of a group is what its parts had. */
Test(checkpoint_damage, parts_get_their_own_elements_back)
{
    for (int kind = 0; kind < 2; kind++) {
        const struct rig *rig = make_rig_of(1 + kind, 2 - kind);
        struct pp_checkpoint_folder opened = open_folder(in(kind ? "tp" : "ep"), 1, NULL);
        struct pp_error err = {0};
        struct pp_checkpoint checkpoint;

        cr_assert_eq(write_at(rig, &opened, 1, &err), PP_OK, "%s", err.message);
        cr_assert_eq(pp_checkpoint_read(arena, opened.path, &checkpoint, &err), PP_OK);
        for (int i = 0; i < rig->parts.count; i++) {
            const size_t bytes =
                (size_t)rig->parts.part[i].stage->elements * rig->parts.kernels->element_bytes;
            void *weights = rig->parts.part[i].state.weights;
            char *before = pp_arena_alloc(arena, bytes);
            memcpy(before, weights, bytes);
            memset(weights, 0, bytes);
            cr_assert_eq(pp_checkpoint_load(&checkpoint, &rig->parts, &err), PP_OK, "%s",
                         err.message);
            cr_assert_eq(memcmp(before, weights, bytes), 0, "kind %d, part %d", kind, i);
        }
        pp_checkpoint_close(&opened);
    }
}

/* Files of equal length in each other's place. */
Test(checkpoint_damage, layers_are_not_exchanged)
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
