/* Whatever happens on the way, the file in the end is the one that is made in one go. */
#include "tests/unit/sim/sweep/file/sweep_file_case.h"

TestSuite(sweep_file, .init = start, .fini = finish);

/* ---- the property ---------------------------------------------------------------------------- */

/* Killed anywhere: the last write is torn, and no file was closed. */
static void tear(struct pp_arena *inner)
{
    struct stat info;

    pp_arena_destroy(inner);
    cr_assert(stat(path, &info) == 0);
    if (info.st_size > 0 && below(3) > 0)
        cr_assert(truncate(path, info.st_size - below(info.st_size < 300 ? info.st_size : 300)) ==
                  0);
    if (below(8) == 0 && stat(path, &info) == 0)
        cr_assert(truncate(path, below(info.st_size + 1)) == 0);
}

static void one_session(int64_t points, int64_t part, int64_t parts)
{
    const struct pp_grid grid = grid_of(points);
    struct pp_arena *inner = pp_arena_create();
    struct pp_sweep_file *file;
    bool wanted[POINTS_MAX];
    size_t length;

    for (int64_t i = 0; i < POINTS_MAX; i++)
        wanted[i] = i < points && i % parts == part;
    const int64_t asked = count_wanted(wanted);
    cr_assert(pp_sweep_file_open(inner, path, NULL, &grid, false, wanted, &file, &err) == PP_OK,
              "%s\n%s", err.message, contents(path, &length));
    const struct pp_sweep_counts counts = pp_sweep_file_counts(file);
    cr_assert(counts.rows == counts.resumed && asked - count_wanted(wanted) <= counts.resumed);
    add_some(file, wanted, points, below(points + 1), true);
    if (below(3) == 0) {
        close_file(file);
        pp_arena_destroy(inner);
    } else {
        tear(inner);
    }
}

static void one_sweep(void)
{
    const int64_t points = 1 + below(POINTS_MAX), base = below(100), stride = 1 + below(3);
    const struct pp_grid grid = grid_of(points);
    struct pp_sweep_file *file;
    bool wanted[POINTS_MAX];

    unlink(path);
    for (int64_t sessions = below(8); sessions > 0; sessions--) {
        /* a sweep of every second of its points, or one that is shorter, or a part of it */
        const bool is_sparse = below(4) == 0;
        const int64_t parts = 1 + below(3);
        fake_base = base;
        fake_stride = is_sparse ? 2 * stride : stride;
        struct stat info;
        const bool is_first = stat(path, &info) != 0 || info.st_size == 0;
        if (is_first && is_sparse)
            one_session((points + 1) / 2, 0, 1);
        fake_stride = stride;
        if (is_first && !is_sparse && below(3) == 0)
            one_session(1 + below(points), 0, 1);
        one_session(points, below(parts), parts);
    }
    want(wanted, points);
    file = opened(&grid, wanted);
    add_some(file, wanted, points, points, false);
    cr_assert(pp_sweep_file_counts(file).rows == points);
    close_file(file);
    check_contents(path, all_rows(points));
    check_alone();
    want(wanted, points);
    file = opened(&grid, wanted);
    cr_assert(count_wanted(wanted) == 0 && pp_sweep_file_counts(file).resumed == points);
    close_file(file);
}

Test(sweep_file, any_sequence_ends_in_the_same_file)
{
    const int sweeps = getenv("PIPESIM_LONG") ? 3000 : 150;

    for (int seed = 1; seed <= sweeps; seed++) {
        const struct pp_arena_mark mark = pp_arena_mark(arena);
        state = (uint64_t)seed * 0x9e3779b97f4a7c15u;
        one_sweep();
        pp_arena_release(arena, mark);
    }
}

/* ---- what is counted ------------------------------------------------------------------------- */

Test(sweep_file, counts)
{
    const struct pp_grid grid = grid_of(10);
    bool wanted[POINTS_MAX];

    want(wanted, 10);
    struct pp_sweep_file *file = opened(&grid, wanted);
    add(file, 8, 10, false);
    cr_assert_str_eq(pp_sweep_file_counts(file).first_reason, "value 8 is odd,\n\"very\" odd");
    add(file, 3, 10, false);
    add(file, 5, 10, false);
    add(file, 2, 10, true);
    close_file(file);
    want(wanted, 10);
    file = opened(&grid, wanted);
    const struct pp_sweep_counts counts = pp_sweep_file_counts(file);
    cr_assert(counts.rows == 3 && counts.resumed == 3 && counts.refused == 2 && counts.unfit == 1);
    cr_assert_str_eq(counts.first_reason, "value 3 is odd,\n\"very\" odd");
    for (int64_t i = 0; i < 10; i++)
        cr_assert(wanted[i] == (i != 8 && i != 3 && i != 5));
    close_file(file);
}

/* A failed row that this part does not repeat belongs to another part. */
Test(sweep_file, a_failed_row_of_another_part_stays)
{
    const struct pp_grid grid = grid_of(4);
    bool wanted[POINTS_MAX];

    put_file(path, pp_arena_printf(arena, FAKE_HEADER "\n%s", row_of(3, 4, true)));
    want(wanted, 3);
    struct pp_sweep_file *file = opened(&grid, wanted);
    add_some(file, wanted, 4, 3, false);
    close_file(file);
    size_t length;
    cr_assert(strstr(contents(path, &length), row_of(3, 4, true)) != NULL);
    want(wanted, 4);
    file = opened(&grid, wanted);
    cr_assert(count_wanted(wanted) == 1 && wanted[3]);
    add(file, 3, 4, false);
    close_file(file);
    check_contents(path, all_rows(4));
}

Test(sweep_file, a_complete_file_is_left_alone)
{
    const struct pp_grid grid = grid_of(6);
    bool wanted[POINTS_MAX];
    struct stat before, after;

    put_file(path, all_rows(6));
    cr_assert(stat(path, &before) == 0);
    want(wanted, 6);
    close_file(opened(&grid, wanted));
    cr_assert(stat(path, &after) == 0 && before.st_ino == after.st_ino &&
              before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
}

Test(sweep_file, fresh_begins_anew)
{
    const struct pp_grid grid = grid_of(2);
    struct pp_sweep_file *file;
    bool wanted[POINTS_MAX];

    static const char *const OTHERS[] = {"", "point,ext", "point,pp,points,key\n0,4,1,zz\ntorn"};

    for (size_t i = 0; i < sizeof(OTHERS) / sizeof(*OTHERS); i++) {
        put_file(path, OTHERS[i]);
        want(wanted, 2);
        cr_assert(pp_sweep_file_open(arena, path, NULL, &grid, true, wanted, &file, &err) == PP_OK,
                  "%s", err.message);
        add_some(file, wanted, 2, 2, false);
        close_file(file);
        check_contents(path, all_rows(2));
    }
}

/* ---- what is refused, and left as it is ------------------------------------------------------ */

static void check_refused(const char *text, int64_t points, const char *message)
{
    static const char WAYS_OUT[] = "\n  choose another -o, or start again with --fresh";
    const struct pp_grid grid = grid_of(points);
    struct pp_sweep_file *file;
    bool wanted[POINTS_MAX];

    put_file(path, text);
    want(wanted, points);
    cr_assert(pp_sweep_file_open(arena, path, NULL, &grid, false, wanted, &file, &err) ==
              PP_EINVAL);
    cr_assert_str_eq(err.message, pp_arena_printf(arena, "%s%s%s", path, message, WAYS_OUT));
    check_contents(path, text);
    check_alone();
}

Test(sweep_file, files_of_others_are_refused)
{
    const char *first = pp_arena_strdup(arena, row_of(0, 4, false));
    const char *other = pp_arena_strdup(arena, row_of(2, 4, false));

    check_refused("point,value,x", 4, ":1: not the result of this sweep");
    check_refused("point,value,seq,fits,status,reason,points,key\n", 4,
                  ":1: the result of another sweep: column 3 is \"seq\", here \"text\"");
    check_refused("point,value,text,fits,status,reason,extra,points,key\n", 4,
                  ":1: the result of another sweep: column 7 is \"extra\", here \"points\"");
    check_refused(pp_arena_printf(arena, FAKE_HEADER "\n%s1,2\n", first), 4,
                  ":3: 2 fields, but there are 8 columns");
    check_refused(pp_arena_printf(arena, FAKE_HEADER "\n%s%s", first, other), 2,
                  ":3: none of the points of this sweep: 2,\"a,  b\",true,ok,\n"
                  "  it is of another sweep or version, or of a file that has changed");
    check_refused(
        pp_arena_printf(arena, FAKE_HEADER "\n%s0,0,a,true,ok,,4,%s", first,
                        strrchr(first, ',') + 1),
        4,
        pp_arena_printf(
            arena, ":2 and %s:3 contradict each other: one point, and not the same values", path));
    fake_base = 7;
    check_refused(pp_arena_printf(arena, FAKE_HEADER "\n%s", first), 4,
                  ":2: none of the points of this sweep: 0,\"a, b\",true,ok,\n"
                  "  point 0 of this one is --value 7\n"
                  "  it is of another sweep or version, or of a file that has changed");
}

Test(sweep_file, what_is_no_sweep_is_not_replaced)
{
    static const char *const TEXTS[] = {"notes\n",       "notes",   "point\n1\n",
                                        "point,x,key\n", "\npoint", "a,points,key\n"};
    const struct pp_grid grid = grid_of(2);
    struct pp_sweep_file *file;
    bool wanted[POINTS_MAX];

    for (size_t i = 0; i < 2 * sizeof(TEXTS) / sizeof(*TEXTS); i++) {
        const bool is_fresh = i % 2;
        put_file(path, TEXTS[i / 2]);
        want(wanted, 2);
        cr_assert(pp_sweep_file_open(arena, path, NULL, &grid, is_fresh, wanted, &file, &err) ==
                  PP_EINVAL);
        cr_assert_str_eq(err.message,
                         pp_arena_printf(arena,
                                         "%s is there already, and not the result of a sweep\n"
                                         "  choose another -o",
                                         path));
        check_contents(path, TEXTS[i / 2]);
        check_alone();
    }
}

Test(sweep_file, files_that_cannot_be_written)
{
    check_fails("/nowhere/x.csv", PP_EFAIL,
                "cannot write '/nowhere/x.csv': No such file or directory");
    check_fails(folder, PP_EFAIL, "Is a directory");
    check_fails("/dev/full", PP_EFAIL, "cannot write /dev/full: No space left on device");
    check_fails("x.csv.gz", PP_EINVAL, "-o x.csv.gz: a sweep is written row by row");
    put_file(path, "");
    chmod(path, 0444);
    check_fails(path, PP_EFAIL, "Permission denied");
}

/* ---- two at once ----------------------------------------------------------------------------- */

Test(sweep_file, only_one_sweep_at_a_time)
{
    const struct pp_grid grid = grid_of(3);
    bool wanted[POINTS_MAX];
    int to[2], from[2];
    char byte;

    want(wanted, 3);
    cr_assert(pipe(to) == 0 && pipe(from) == 0);
    const pid_t pid = fork();
    if (pid == 0) {
        struct pp_sweep_file *file = opened(&grid, wanted);
        add(file, 2, 3, false);
        add(file, 0, 3, false);
        if (write(from[1], "r", 1) == 1 && read(to[0], &byte, 1) == 1)
            close_file(file);
        _exit(0);
    }
    cr_assert(read(from[0], &byte, 1) == 1);
    check_fails(path, PP_EFAIL,
                pp_arena_printf(arena,
                                "'%s' is being written by another sweep (process %d)\n  wait for "
                                "its end, or choose another -o",
                                path, (int)pid));
    cr_assert(write(to[1], "g", 1) == 1 && waitpid(pid, NULL, 0) == pid);
    struct pp_sweep_file *file = opened(&grid, wanted);
    cr_assert(count_wanted(wanted) == 1);
    add(file, 1, 3, false);
    close_file(file);
    check_contents(path, all_rows(3));
}

/* The child of a sweep that was killed does not hold the lock. */
Test(sweep_file, workers_do_not_hold_the_lock)
{
    const struct pp_grid grid = grid_of(3);
    bool wanted[POINTS_MAX];
    int ends[2];
    char byte;

    want(wanted, 3);
    cr_assert(pipe(ends) == 0);
    const pid_t pid = fork();
    if (pid == 0) {
        opened(&grid, wanted);
        if (fork() == 0) {
            sleep(2);
            _exit(0);
        }
        if (write(ends[1], "r", 1) == 1)
            pause();
    }
    cr_assert(read(ends[0], &byte, 1) == 1);
    kill(pid, SIGKILL);
    cr_assert(waitpid(pid, NULL, 0) == pid);
    close_file(opened(&grid, wanted));
}
