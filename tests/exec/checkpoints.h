/* tests/exec/checkpoints.h — a folder for checkpoints of small runs. */
#ifndef PP_TESTS_EXEC_CHECKPOINTS_H
#define PP_TESTS_EXEC_CHECKPOINTS_H

#include "tests/exec/train.h"

#include <stdio.h>
#include <stdlib.h>

static struct pp_arena *arena;
static char folder[128] = "/tmp/pp-test-checkpoint-XXXXXX";

static inline void make_folder(void)
{
    arena = pp_arena_create();
    cr_assert_not_null(mkdtemp(folder));
}

static inline void remove_folder(void)
{
    cr_expect_eq(system(pp_arena_printf(arena, "rm -rf %s", folder)), 0);
    pp_arena_destroy(arena);
}

enum { STEPS = 6 };
static const struct exec_case base = {.schedule = "1f1b",
                                      .shape = {.ranks = 4, .micro_batches = 8},
                                      .replicas = 1,
                                      .mbs = 1,
                                      .steps = STEPS,
                                      .is_exact = true,
                                      .clip = 1};

static inline const char *in(const char *name)
{
    return pp_arena_printf(arena, "%s/%s", folder, name);
}

static inline struct pp_manifest head_of(const struct exec_run *run)
{
    return (struct pp_manifest){
        .identity = pp_identity_of(&run->training.net, run->training.machine.kernels)};
}

static inline struct pp_checkpoint_folder open_folder(const char *path, int keep,
                                                      const struct pp_manifest *before)
{
    struct pp_checkpoint_folder opened;
    struct pp_error err = {0};

    cr_assert_eq(pp_checkpoint_open(arena, path, keep, before, &opened, &err), PP_OK, "%s",
                 err.message);
    return opened;
}

static inline struct pp_checkpoint *read_one(const char *path)
{
    struct pp_checkpoint *checkpoint = PP_NEW(arena, struct pp_checkpoint);
    struct pp_error err = {0};

    cr_assert_eq(pp_checkpoint_read(arena, path, checkpoint, &err), PP_OK, "%s", err.message);
    return checkpoint;
}

static inline int count_entries(const char *path)
{
    FILE *out = popen(pp_arena_printf(arena, "ls -A %s | wc -l", path), "r");
    int count = -1;

    cr_assert(fscanf(out, "%d", &count) == 1);
    pclose(out);
    return count;
}

#endif
