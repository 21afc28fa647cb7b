/* Result files: there whole or not at all, alone and together. */
#include "core/text/output.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct pp_arena *arena;
static char folder[] = "/tmp/pp-output-XXXXXX";

static void start(void)
{
    arena = pp_arena_create();
    cr_assert_not_null(mkdtemp(folder));
}

static const char *in_folder(const char *name)
{
    return pp_arena_printf(arena, "%s/%s", folder, name);
}

static void finish(void)
{
    static const char *const NAMES[] = {"a", "b", "soft", "hard"};

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++)
        unlink(in_folder(NAMES[i]));
    cr_expect_eq(rmdir(folder), 0, "a file was left");
    pp_arena_destroy(arena);
}

TestSuite(output, .init = start, .fini = finish);

static void open_both(struct pp_output outputs[2])
{
    struct pp_error err = {0};

    cr_assert_eq(pp_output_open(arena, in_folder("a"), &outputs[0], &err), PP_OK);
    cr_assert_eq(pp_output_open(arena, in_folder("b"), &outputs[1], &err), PP_OK);
    fputs("text", outputs[0].file);
    fputs("text", outputs[1].file);
}

static bool exists(const char *name)
{
    return access(in_folder(name), F_OK) == 0;
}

Test(output, files_that_belong_together_appear_together)
{
    struct pp_output outputs[2];
    struct pp_error err = {0};

    open_both(outputs);
    cr_assert(!exists("a") && !exists("b"));
    cr_assert_eq(pp_output_commit_all(outputs, 2, &err), PP_OK);
    cr_assert(exists("a") && exists("b"));
}

Test(output, one_that_is_not_complete_keeps_all_away)
{
    for (int bad = 0; bad < 2; bad++) {
        struct pp_output outputs[2];
        struct pp_error err = {0};
        open_both(outputs);
        cr_assert_not_null(outputs[bad].file = freopen("/dev/full", "w", outputs[bad].file));
        fputs("text", outputs[bad].file);
        cr_assert_eq(pp_output_commit_all(outputs, 2, &err), PP_EFAIL);
        cr_assert(strstr(err.message, bad ? "/b'" : "/a'"), "%s", err.message);
        cr_assert(!exists("a") && !exists("b"));
    }
}

Test(output, what_is_discarded_leaves_nothing)
{
    struct pp_output outputs[2];

    open_both(outputs);
    pp_output_discard(&outputs[0]);
    pp_output_discard(&outputs[1]);
    cr_assert(!exists("a") && !exists("b"));
}

Test(output, one_file_is_known_under_all_its_names)
{
    const char *other_spelling = pp_arena_printf(arena, "%s/./a", folder);

    cr_assert_eq(symlink("a", in_folder("soft")), 0);
    cr_assert(pp_output_is_same(arena, in_folder("a"), other_spelling));
    cr_assert(pp_output_is_same(arena, in_folder("a"), in_folder("soft")));
    cr_assert_not(pp_output_is_same(arena, in_folder("a"), in_folder("b")));
    cr_assert_not(pp_output_is_same(arena, in_folder("a"), "/tmp/a"));
    fclose(fopen(in_folder("a"), "w"));
    fclose(fopen(in_folder("b"), "w"));
    cr_assert_eq(link(in_folder("a"), in_folder("hard")), 0);
    cr_assert(pp_output_is_same(arena, in_folder("a"), other_spelling));
    cr_assert(pp_output_is_same(arena, in_folder("soft"), in_folder("hard")));
    cr_assert_not(pp_output_is_same(arena, in_folder("hard"), in_folder("b")));
}

Test(output, a_check_refuses_what_opening_would)
{
    struct pp_error err = {0};

    cr_assert_eq(pp_output_check(arena, in_folder("a"), &err), PP_OK);
    cr_assert_not(exists("a"));
    cr_assert_eq(pp_output_check(arena, folder, &err), PP_EFAIL);
    cr_assert_eq(pp_output_check(arena, in_folder("none/a"), &err), PP_EFAIL);
}

/* Another user's link in a folder like /tmp could lead an output onto a file of the caller. */
Test(output, links_of_others_in_sticky_folders_are_not_followed)
{
    enum { LINK_OWNER = 12345, FOLDER_OWNER = 12346 };
    struct pp_output output;
    struct pp_error err = {0};

    cr_assert_eq(symlink("a", in_folder("soft")), 0);
    if (geteuid() != 0 || lchown(in_folder("soft"), LINK_OWNER, LINK_OWNER) != 0 ||
        chown(folder, FOLDER_OWNER, FOLDER_OWNER) != 0)
        return; /* only root can make such links */
    cr_assert_not_null(pp_output_place(arena, in_folder("soft")), "not sticky");
    cr_assert_eq(chmod(folder, 01777), 0);
    cr_assert_null(pp_output_place(arena, in_folder("soft")));
    cr_assert_eq(pp_output_open(arena, in_folder("soft"), &output, &err), PP_EFAIL);
    cr_assert_eq(lchown(in_folder("soft"), FOLDER_OWNER, FOLDER_OWNER), 0);
    cr_assert_not_null(pp_output_place(arena, in_folder("soft")), "the folder's owner may");
}
