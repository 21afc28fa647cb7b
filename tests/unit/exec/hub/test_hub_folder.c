/* The folder of --save: made anew by one run at a time, and left alone unless it is written. */
#define _GNU_SOURCE /* mkdtemp */
#include "tests/unit/exec/hub/hub_case.h"

TestSuite(hub_folder, .init = set_up, .fini = tear_down);

static enum pp_status open_new(struct pp_arena *run, const char *name, int64_t bytes)
{
    struct pp_hub_folder *folder = PP_NEW(run, struct pp_hub_folder);

    return pp_hub_folder_open(run, folder_of(name), bytes, folder, &err);
}

Test(hub_folder, a_folder_must_be_new_or_empty)
{
    command("mkdir full empty; touch full/x file; ln -s empty link; ln -s none dangling");
    cr_expect_eq(open_new(arena, "full", 1), PP_EINVAL);
    cr_expect_not_null(strstr(err.message, "full is there already"), "%s", err.message);
    cr_expect_eq(open_new(arena, "file", 1), PP_EINVAL);
    cr_expect_eq(open_new(arena, "link/", 1), PP_EINVAL);
    cr_expect_not_null(strstr(err.message, "link is a symbolic link"), "%s", err.message);
    cr_expect_eq(open_new(arena, "dangling", 1), PP_EINVAL);
    cr_expect_eq(open_new(arena, "file/below", 1), PP_EFAIL);
    cr_expect_eq(open_new(arena, "empty", 1), PP_OK, "%s", err.message);
    cr_expect_eq(open_new(arena, "new/with/parents/", 1), PP_OK, "%s", err.message);
}

Test(hub_folder, a_folder_that_is_not_written_stays_as_it_was)
{
    struct pp_arena *run = pp_arena_create();

    command("mkdir empty old.partial; touch old.partial/model.safetensors");
    cr_assert_eq(open_new(run, "empty", 1), PP_OK, "%s", err.message);
    cr_assert_eq(open_new(run, "new", 1), PP_OK, "%s", err.message);
    cr_assert_eq(open_new(run, "old", 1), PP_OK, "%s", err.message);
    cr_expect_eq(count_files("old.partial"), 0); /* of an interrupted run */
    cr_expect_eq(count_files("empty"), 0);
    pp_arena_destroy(run);
    cr_expect_eq(count_files("empty"), 0);
    cr_expect_neq(access(folder_of("empty.partial"), F_OK), 0);
    cr_expect_neq(access(folder_of("new"), F_OK), 0);
    cr_expect_neq(access(folder_of("new.partial"), F_OK), 0);
}

/* Weights that do not pass their check get another name, which must be free, too. */
Test(hub_folder, a_folder_has_a_name_for_weights_that_differ)
{
    struct pp_arena *run = pp_arena_create();
    struct pp_hub_folder folder;

    cr_assert_eq(pp_hub_folder_open(run, folder_of("a/"), 1, &folder, &err), PP_OK);
    cr_assert_str_eq(folder.differs, folder_of("a.differs"));
    command("touch a.partial/config.json");
    cr_assert_eq(pp_hub_folder_publish(&folder, folder.differs, &err), PP_OK, "%s", err.message);
    pp_arena_destroy(run);
    cr_expect_eq(count_files("a.differs"), 1);
    cr_expect_neq(access(folder_of("a"), F_OK), 0);
    cr_expect_neq(access(folder_of("a.partial"), F_OK), 0);
    cr_expect_eq(open_new(arena, "a", 1), PP_EINVAL);
    cr_expect_not_null(strstr(err.message, "a.differs is there already"), "%s", err.message);
}

Test(hub_folder, one_run_at_a_time_writes_a_folder)
{
    struct pp_arena *first = pp_arena_create();

    cr_assert_eq(open_new(first, "a", 1), PP_OK, "%s", err.message);
    cr_expect_eq(open_new(arena, "a", 1), PP_EFAIL);
    cr_expect_not_null(strstr(err.message, "another run writes it"), "%s", err.message);
    cr_expect_eq(access(folder_of("a.partial"), F_OK), 0);
    pp_arena_destroy(first);
    cr_expect_eq(open_new(arena, "a", 1), PP_OK, "%s", err.message);
}

Test(hub_folder, space_is_checked_before_the_training)
{
    struct pp_arena *run = pp_arena_create();

    cr_expect_eq(open_new(run, "a", INT64_C(1) << 60), PP_EFAIL);
    cr_expect_not_null(strstr(err.message, "the weights take 1024 PiB, and its file system "
                                           "has "),
                       "%s", err.message);
    pp_arena_destroy(run);
    cr_expect_neq(access(folder_of("a.partial"), F_OK), 0);
}

Test(hub_folder, a_folder_that_has_appeared_meanwhile_is_kept)
{
    struct pp_arena *run = pp_arena_create();
    struct pp_hub_folder folder;
    const struct pp_hub_export export = {&folder, "{}\n", &layout, PP_HUB_SHARD_BYTES};
    float factor = 1;

    take_model(LLAMA "}", 6);
    cr_assert_eq(pp_hub_folder_open(run, folder_of("b"), 1, &folder, &err), PP_OK);
    command("mkdir b; touch b/x");
    cr_expect_eq(pp_hub_export_write(run, &export, fetch, &factor, &err), PP_EFAIL);
    pp_arena_destroy(run);
    cr_expect_neq(access(folder_of("b.partial"), F_OK), 0);
    cr_expect_eq(count_files("b"), 1);
}
