/* Result files with other names, on full disks, taken away meanwhile; and streams. */
#include "tests/unit/sim/sweep/file/sweep_file_case.h"

TestSuite(sweep_file_kinds, .init = start, .fini = finish);

/* ---- kinds of files -------------------------------------------------------------------------- */

Test(sweep_file_kinds, links_modes_and_other_names)
{
    const struct pp_grid grid = grid_of(3);
    char target[128], twin[128];
    bool wanted[POINTS_MAX];
    struct stat info;

    snprintf(target, sizeof(target), "%s/target", folder);
    snprintf(twin, sizeof(twin), "%s/twin", folder);
    put_file(target, "");
    chmod(target, 0640);
    cr_assert(symlink("target", path) == 0 && link(target, twin) == 0);
    for (int turn = 0; turn < 2; turn++) { /* in place, then by a rename */
        want(wanted, 3);
        struct pp_sweep_file *file = opened(&grid, wanted);
        for (int64_t i = 2; i >= 0; i--)
            add(file, i, 3, false);
        close_file(file);
        check_contents(path, all_rows(3));
        cr_assert(lstat(path, &info) == 0 && S_ISLNK(info.st_mode));
        cr_assert(stat(target, &info) == 0 && (info.st_mode & 0777) == 0640);
        if (turn == 0) {
            check_contents(twin, all_rows(3));
            cr_assert(unlink(twin) == 0 && truncate(target, 0) == 0);
        }
    }
}

/* A disk that is full: what was there stays, and it can be gone on with. */
Test(sweep_file_kinds, a_full_disk_keeps_what_is_there)
{
    const struct pp_grid grid = grid_of(20);
    const struct rlimit little = {700, RLIM_INFINITY}, much = {RLIM_INFINITY, RLIM_INFINITY};
    bool wanted[POINTS_MAX];
    int64_t count = 0;
    size_t length;

    signal(SIGXFSZ, SIG_IGN);
    want(wanted, 20);
    struct pp_sweep_file *file = opened(&grid, wanted);
    cr_assert(setrlimit(RLIMIT_FSIZE, &little) == 0);
    for (const char *row; count < 20; count++) {
        row = row_of(19 - count, 20, false);
        if (pp_sweep_file_add(file, 19 - count, row, strlen(row), &err) != PP_OK)
            break;
    }
    cr_assert(count > 2 && count < 20);
    cr_assert_str_eq(err.message,
                     pp_arena_printf(arena,
                                     "cannot write '%s': File too large\n  the same command "
                                     "continues with the %d rows that are there",
                                     path, (int)count));
    cr_assert(pp_sweep_file_add(file, 0, "x\n", 2, &err) == PP_EFAIL);
    close_file(file);
    setrlimit(RLIMIT_FSIZE, &much);
    const char *text = contents(path, &length);
    cr_assert(text[length - 1] == '\n');
    want(wanted, 20);
    file = opened(&grid, wanted);
    cr_assert(pp_sweep_file_counts(file).resumed == count);
    add_some(file, wanted, 20, 20, false);
    close_file(file);
    check_contents(path, all_rows(20));
}

Test(sweep_file_kinds, a_full_disk_while_putting_in_order)
{
    const struct pp_grid grid = grid_of(20);
    const struct rlimit little = {500, RLIM_INFINITY};
    bool wanted[POINTS_MAX];

    signal(SIGXFSZ, SIG_IGN);
    want(wanted, 20);
    struct pp_sweep_file *file = opened(&grid, wanted);
    for (int64_t i = 19; i >= 0; i--)
        add(file, i, 20, false);
    cr_assert(setrlimit(RLIMIT_FSIZE, &little) == 0);
    cr_assert(pp_sweep_file_close(file, &err) == PP_EFAIL);
    cr_assert_str_eq(err.message,
                     pp_arena_printf(arena,
                                     "cannot write '%s': File too large\n"
                                     "  its rows are there, but not in the order of points",
                                     path));
    check_alone();
    want(wanted, 20);
    file = opened(&grid, wanted);
    cr_assert(count_wanted(wanted) == 0);
}

/* With other names it is written in place, and only when all of it is safe. */
Test(sweep_file_kinds, a_full_disk_while_putting_in_order_in_place)
{
    const struct pp_grid grid = grid_of(20);
    const struct rlimit little = {500, RLIM_INFINITY};
    bool wanted[POINTS_MAX];
    char twin[128];

    signal(SIGXFSZ, SIG_IGN);
    snprintf(twin, sizeof(twin), "%s/twin", folder);
    want(wanted, 20);
    struct pp_sweep_file *file = opened(&grid, wanted);
    cr_assert(link(path, twin) == 0);
    for (int64_t i = 19; i >= 0; i--)
        add(file, i, 20, false);
    cr_assert(setrlimit(RLIMIT_FSIZE, &little) == 0);
    cr_assert(pp_sweep_file_close(file, &err) == PP_EFAIL);
    cr_assert(strstr(err.message, "its rows are there, but not in the order of points"));
    cr_assert(unlink(twin) == 0);
    check_alone();
    want(wanted, 20);
    file = opened(&grid, wanted);
    cr_assert(count_wanted(wanted) == 0);
}

/* ---- changes by other programs -------------------------------------------------------------- */

Test(sweep_file_kinds, a_file_that_is_removed_is_written_anew)
{
    const struct pp_grid grid = grid_of(5);
    bool wanted[POINTS_MAX];

    for (int is_sorted = 0; is_sorted < 2; is_sorted++) {
        want(wanted, 5);
        struct pp_sweep_file *file = opened(&grid, wanted);
        for (int64_t i = 0; i < 5; i++)
            add(file, is_sorted ? i : 4 - i, 5, false);
        cr_assert(unlink(path) == 0);
        close_file(file);
        check_contents(path, all_rows(5));
        check_alone();
        cr_assert(unlink(path) == 0);
    }
}

Test(sweep_file_kinds, a_file_that_is_replaced_is_not_touched)
{
    const struct pp_grid grid = grid_of(5);
    bool wanted[POINTS_MAX];

    want(wanted, 5);
    struct pp_sweep_file *file = opened(&grid, wanted);
    for (int64_t i = 4; i >= 0; i--)
        add(file, i, 5, false);
    cr_assert(unlink(path) == 0);
    put_file(path, "mine");
    cr_assert(pp_sweep_file_close(file, &err) == PP_EFAIL);
    cr_assert_str_eq(err.message,
                     pp_arena_printf(arena,
                                     "'%s' was replaced by another file while the sweep wrote to "
                                     "it; its 5 rows are lost",
                                     path));
    check_contents(path, "mine");
    check_alone();
}

/* ---- streams --------------------------------------------------------------------------------- */

/* At any moment all rows are out that have no gap before them. */
Test(sweep_file_kinds, a_stream_is_in_order_and_early)
{
    for (int seed = 1; seed <= 100; seed++) {
        const struct pp_arena_mark mark = pp_arena_mark(arena);
        char *text = NULL;
        size_t length = 0;
        FILE *out = open_memstream(&text, &length);
        state = (uint64_t)seed * 0x9e3779b97f4a7c15u;
        const int64_t points = 1 + below(POINTS_MAX), parts = 1 + below(3), part = below(parts);
        const int64_t stop = below(points + 4);
        const struct pp_grid grid = grid_of(points);
        struct pp_sweep_file *file;
        bool wanted[POINTS_MAX], is_left[POINTS_MAX];
        for (int64_t i = 0; i < POINTS_MAX; i++)
            wanted[i] = is_left[i] = i < points && i % parts == part;
        cr_assert(pp_sweep_file_open(arena, seed % 2 ? "-" : NULL, out, &grid, false, wanted, &file,
                                     &err) == PP_OK);
        cr_assert_str_eq(text, FAKE_HEADER "\n");
        int64_t added = 0;
        for (int64_t left = count_wanted(is_left); left > 0 && added < stop; left--, added++) {
            int64_t turn = below(left), point = 0;
            const char *expected = FAKE_HEADER "\n";
            for (;; point++)
                if (is_left[point] && turn-- == 0)
                    break;
            is_left[point] = false;
            add(file, point, points, false);
            for (int64_t i = part; i < points && !is_left[i]; i += parts)
                expected = pp_arena_printf(arena, "%s%s", expected, row_of(i, points, false));
            cr_assert_str_eq(text, expected);
        }
        close_file(file);
        const char *expected = FAKE_HEADER "\n";
        for (int64_t i = part; i < points; i += parts)
            if (!is_left[i])
                expected = pp_arena_printf(arena, "%s%s", expected, row_of(i, points, false));
        cr_assert_str_eq(text, expected);
        fclose(out);
        free(text);
        pp_arena_release(arena, mark);
    }
}

Test(sweep_file_kinds, a_pipe_by_name)
{
    const struct pp_grid grid = grid_of(5);
    bool wanted[POINTS_MAX];
    size_t length;

    cr_assert(mkfifo(path, 0600) == 0);
    const pid_t pid = fork();
    if (pid == 0) {
        want(wanted, 5);
        struct pp_sweep_file *file = opened(&grid, wanted);
        for (int64_t i = 4; i >= 0; i--)
            add(file, i, 5, false);
        close_file(file);
        _exit(0);
    }
    cr_assert_str_eq(contents(path, &length), all_rows(5));
    cr_assert(waitpid(pid, NULL, 0) == pid);
}

Test(sweep_file_kinds, a_stream_that_breaks)
{
    const struct pp_grid grid = grid_of(2);
    FILE *full = fopen("/dev/full", "w");
    struct pp_sweep_file *file;
    bool wanted[POINTS_MAX];

    want(wanted, 2);
    cr_assert(full &&
              pp_sweep_file_open(arena, NULL, full, &grid, false, wanted, &file, &err) == PP_EFAIL);
    cr_assert_str_eq(err.message, "cannot write stdout: No space left on device");
    fclose(full);
}
