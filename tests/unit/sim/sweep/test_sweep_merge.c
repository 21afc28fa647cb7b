/* Parts of a sweep as one file: the order of points, copies, contradictions, what is missing. */
#include "core/text/file.h"
#include "sim/sweep/sweep.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEADER                    "point,schedule,iteration_s,points,key\n"
#define K(digit)                  "000000000000000" #digit
#define ROW(point, points, digit) #point ",1f1b,0." #digit "," #points "," K(digit) "\n"

static struct pp_arena *arena;
static char folder[] = "/tmp/pp-merge-XXXXXX";
static const char *const NAMES[] = {"a.csv", "b.csv", "c.csv", "d.csv"};
enum { FILES = sizeof NAMES / sizeof *NAMES };
static const char *paths[FILES];

static void start(void)
{
    arena = pp_arena_create();
    cr_assert_not_null(mkdtemp(folder));
    for (int i = 0; i < FILES; i++)
        paths[i] = pp_arena_printf(arena, "%s/%s", folder, NAMES[i]);
}

static void finish(void)
{
    for (int i = 0; i < FILES; i++)
        unlink(paths[i]);
    cr_expect_eq(rmdir(folder), 0, "a file was left");
    pp_arena_destroy(arena);
}

TestSuite(sweep_merge, .init = start, .fini = finish);

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

struct merged {
    enum pp_status status;
    const char *text, *notes, *message;
};

/* The texts are files a.csv, b.csv ..; the folder is left out of notes and message. */
static struct merged merge(const char *const *texts, int count)
{
    struct pp_error err = {0};
    char *text = NULL, *notes = NULL;
    size_t text_bytes = 0, notes_bytes = 0;
    FILE *out = open_memstream(&text, &text_bytes);
    FILE *note = open_memstream(&notes, &notes_bytes);

    for (int i = 0; i < count; i++)
        write_text(paths[i], texts[i]);
    struct merged merged = {.status = pp_sweep_merge(arena, paths, count, NULL, out, note, &err)};
    fclose(out);
    fclose(note);
    merged.text = pp_arena_strdup(arena, text);
    merged.notes = pp_arena_strdup(arena, notes);
    merged.message = pp_arena_strdup(arena, err.message);
    free(text);
    free(notes);
    return merged;
}

#define MERGE(...)                                                                                 \
    merge((const char *const[]){__VA_ARGS__},                                                      \
          (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))

Test(sweep_merge, order_of_points)
{
    const struct merged m = MERGE(HEADER ROW(4, 5, 4) ROW(1, 5, 1),
                                  HEADER ROW(3, 5, 3) ROW(0, 5, 0), HEADER, HEADER ROW(2, 5, 2));

    cr_assert_eq(m.status, PP_OK, "%s", m.message);
    cr_expect_str_eq(m.text,
                     HEADER ROW(0, 5, 0) ROW(1, 5, 1) ROW(2, 5, 2) ROW(3, 5, 3) ROW(4, 5, 4));
    cr_expect_str_empty(m.notes, "%s", m.notes);
}

Test(sweep_merge, copies_once)
{
    const struct merged m = MERGE(HEADER ROW(0, 2, 0) ROW(1, 2, 1), HEADER ROW(1, 2, 1),
                                  HEADER ROW(0, 2, 0) ROW(0, 2, 0));

    cr_assert_eq(m.status, PP_OK, "%s", m.message);
    cr_expect_str_eq(m.text, HEADER ROW(0, 2, 0) ROW(1, 2, 1));
    cr_expect_str_empty(m.notes, "%s", m.notes);
}

Test(sweep_merge, contradiction)
{
    const struct merged m =
        MERGE(HEADER ROW(0, 2, 0) ROW(1, 2, 1), HEADER "1,1f1b,0.7,2," K(1) "\n");

    cr_expect_eq(m.status, PP_EINVAL);
    cr_expect_str_empty(m.text);
    cr_expect_str_eq(m.message,
                     pp_arena_printf(arena,
                                     "%s:3 and %s:2 contradict each other: one point, and not the "
                                     "same values",
                                     paths[0], paths[1]));
}

#define STATUS(status, reason, value) "0,1f1b," value "," status "," reason ",1," K(0) "\n"

Test(sweep_merge, failed_gives_way)
{
    static const char *const header = "point,schedule,iteration_s,status,reason,points,key\n";
    static const char *const rows[] = {STATUS("failed", "signal 9", ""), STATUS("ok", "", "0.5"),
                                       STATUS("failed", "signal 11", "")};
    static const int orders[][3] = {{0, 1, 2}, {1, 0, 2}, {2, 0, 1}};

    for (int i = 0; i < 3; i++) {
        const char *texts[3];
        for (int j = 0; j < 3; j++)
            texts[j] = pp_arena_printf(arena, "%s%s", header, rows[orders[i][j]]);
        const struct merged m = merge(texts, 3);
        cr_assert_eq(m.status, PP_OK, "%s", m.message);
        cr_expect_str_eq(m.text, pp_arena_printf(arena, "%s%s", header, rows[1]));
    }
}

Test(sweep_merge, other_columns)
{
    const struct merged m =
        MERGE(HEADER ROW(0, 1, 0), "point,schedule,pp,points,key\n0,1f1b,4,1," K(0) "\n");

    cr_expect_eq(m.status, PP_EINVAL);
    cr_expect_not_null(strstr(m.message, "do not belong together: column 3 is iteration_s in one "
                                         "and pp in the other"),
                       "%s", m.message);
}

Test(sweep_merge, torn_and_empty)
{
    const struct merged m =
        MERGE(HEADER ROW(0, 2, 0) "1,1f1b,0.1,2,000000", "", HEADER ROW(1, 2, 1));

    cr_assert_eq(m.status, PP_OK, "%s", m.message);
    cr_expect_str_eq(m.text, HEADER ROW(0, 2, 0) ROW(1, 2, 1));
    cr_expect_str_eq(m.notes,
                     pp_arena_printf(arena,
                                     "pipesim: note: %s:3: the last row is cut off, and left out\n"
                                     "pipesim: note: %s is empty\n",
                                     paths[0], paths[1]));
    const struct merged nothing = MERGE("", "point,sch");
    cr_expect_eq(nothing.status, PP_EINVAL);
    cr_expect_not_null(strstr(nothing.message, "nothing to merge: "), "%s", nothing.message);
    const struct merged rowless = MERGE(HEADER);
    cr_expect_eq(rowless.status, PP_OK);
    cr_expect_str_eq(rowless.text, HEADER);
    cr_expect_str_eq(rowless.notes, "pipesim: note: there are no rows\n");
}

Test(sweep_merge, reader_speaks)
{
    const struct merged m = MERGE(HEADER ROW(0, 1, 0), HEADER ROW(1, 1, 0));

    cr_expect_eq(m.status, PP_EINVAL);
    cr_expect_not_null(strstr(m.message, "b.csv:2: point \"1\": expected 0 to 0"), "%s", m.message);
}

/* Points of 12 in parts of 4, without some: the note. */
static const char *notes_without(const int *missing, int count)
{
    const char *texts[FILES];

    for (int part = 0; part < FILES; part++) {
        texts[part] = HEADER;
        for (int point = part; point < 12; point += FILES) {
            bool is_missing = false;
            for (int i = 0; i < count; i++)
                is_missing |= missing[i] == point;
            if (!is_missing)
                texts[part] = pp_arena_printf(arena, "%s%d,zbv,0.5,12,%016x\n", texts[part], point,
                                              (unsigned)point);
        }
    }
    const struct merged m = merge(texts, FILES);
    cr_assert_eq(m.status, PP_OK, "%s", m.message);
    return m.notes;
}

#define WITHOUT(...)                                                                               \
    notes_without((const int[]){__VA_ARGS__}, (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)))

Test(sweep_merge, missing)
{
    cr_expect_str_eq(WITHOUT(99), "");
    cr_expect_str_eq(WITHOUT(3, 7, 11),
                     "pipesim: note: 3 of 12 points are missing: 3, 7, 11 (part 4/4)\n");
    cr_expect_str_eq(WITHOUT(11), "pipesim: note: 1 of 12 points is missing: 11 (part 4/4)\n");
    cr_expect_str_eq(WITHOUT(0, 5, 4, 9),
                     "pipesim: note: 4 of 12 points are missing: 0, 4-5, 9 (parts 1, 2 of 4)\n");
    cr_expect_str_eq(WITHOUT(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
                     "pipesim: note: 11 of 12 points are missing: 0-10\n");
}

Test(sweep_merge, missing_of_many)
{
    const char *text = HEADER;

    for (int point = 0; point < 60; point += 3)
        text = pp_arena_printf(arena, "%s%d,zbv,0.5,60,%016x\n", text, point, (unsigned)point);
    const struct merged m = MERGE(text);
    cr_expect_str_eq(m.notes,
                     "pipesim: note: 40 of 60 points are missing: 1-2, 4-5, 7-8, 10-11, "
                     "13-14, 16-17, 19-20, 22-23, .. (parts 2, 3 of 3)\n",
                     "%s", m.notes);
    /* Few rows of a big sweep say nothing of its parts, and take no time. */
    const struct merged few =
        MERGE(HEADER "2,zbv,1,2147483648," K(0) "\n7,zbv,1,2147483648," K(1) "\n");
    cr_expect_str_eq(few.notes,
                     "pipesim: note: 2147483646 of 2147483648 points are missing: 0-1, "
                     "3-6, 8-2147483647\n",
                     "%s", few.notes);
}

Test(sweep_merge, different_sweeps)
{
    /* other numbers of points; b has a's row as well */
    const struct merged m =
        MERGE(HEADER ROW(1, 2, 1) ROW(0, 2, 0), HEADER ROW(2, 3, 2) ROW(0, 3, 1) ROW(1, 3, 3));

    cr_assert_eq(m.status, PP_OK, "%s", m.message);
    cr_expect_str_eq(m.text, HEADER ROW(0, 4, 0) ROW(1, 4, 1) ROW(2, 4, 3) ROW(3, 4, 2));
    cr_expect_str_eq(m.notes,
                     "pipesim: note: these are different sweeps: 4 rows in the given "
                     "order, renumbered (left out: 1 that another one has too)\n",
                     "%s", m.notes);
    /* other keys */
    const struct merged keys = MERGE(HEADER ROW(0, 1, 5), HEADER ROW(0, 1, 4));
    cr_assert_eq(keys.status, PP_OK, "%s", keys.message);
    cr_expect_str_eq(keys.text, HEADER ROW(0, 2, 5) ROW(1, 2, 4));
    cr_expect_str_eq(keys.notes,
                     "pipesim: note: these are different sweeps: 2 rows in the given "
                     "order, renumbered\n",
                     "%s", keys.notes);
    const struct merged wrong = MERGE(HEADER ROW(1, 2, 1), HEADER "2,1f1b,0.7,3," K(1) "\n");
    cr_expect_eq(wrong.status, PP_EINVAL, "one point of two sweeps with two results");
    const struct merged least =
        MERGE("point,points,key\n0,1," K(0) "\n", "point,points,key\n0,1," K(1) "\n");
    cr_expect_str_eq(least.text, "point,points,key\n0,2," K(0) "\n1,2," K(1) "\n");
}

Test(sweep_merge, output_is_an_input)
{
    struct pp_error err = {0};
    char *text;
    size_t length;

    write_text(paths[0], HEADER ROW(1, 2, 1));
    write_text(paths[1], HEADER ROW(0, 2, 0));
    cr_assert_eq(pp_sweep_merge(arena, paths, 2, paths[0], stdout, stderr, &err), PP_OK, "%s",
                 err.message);
    cr_assert_eq(pp_file_read(arena, paths[0], &text, &length, &err), PP_OK);
    cr_expect_str_eq(text, HEADER ROW(0, 2, 0) ROW(1, 2, 1));
    /* refused: the output stays as it is */
    write_text(paths[1], HEADER "0,1f1b,0.7,2," K(0) "\n");
    cr_assert_eq(pp_sweep_merge(arena, paths, 2, paths[0], stdout, stderr, &err), PP_EINVAL);
    cr_assert_eq(pp_file_read(arena, paths[0], &text, &length, &err), PP_OK);
    cr_expect_str_eq(text, HEADER ROW(0, 2, 0) ROW(1, 2, 1));
    cr_expect_eq(pp_sweep_merge(arena, paths, 0, NULL, stdout, stderr, &err), PP_EINVAL);
    unlink(paths[1]);
    cr_expect_eq(pp_sweep_merge(arena, paths, 2, NULL, stdout, stderr, &err), PP_EFAIL);
}

/* ---- the output ------------------------------------------------------------------------------ */

Test(sweep_merge, a_sweep_that_writes_to_the_output_is_left_alone)
{
    struct pp_error err = {0};
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int ready[2], go[2], how;
    char byte, *text;
    size_t length;

    write_text(paths[0], HEADER ROW(0, 2, 0));
    write_text(paths[1], HEADER ROW(1, 2, 1));
    cr_assert(pipe(ready) == 0 && pipe(go) == 0);
    const pid_t pid = fork();
    if (pid == 0) {
        const int fd = open(paths[1], O_RDWR);
        const bool is_locked = fcntl(fd, F_SETLK, &whole) == 0;
        _exit(is_locked && write(ready[1], "r", 1) == 1 && read(go[0], &byte, 1) == 1 ? 0 : 1);
    }
    cr_assert(read(ready[0], &byte, 1) == 1);
    cr_expect_eq(pp_sweep_merge(arena, paths, 1, paths[1], stdout, stderr, &err), PP_EFAIL);
    cr_expect(strstr(err.message, "is being written by another sweep"), "%s", err.message);
    cr_assert(write(go[1], "g", 1) == 1 && waitpid(pid, &how, 0) == pid && how == 0);
    cr_assert_eq(pp_file_read(arena, paths[1], &text, &length, &err), PP_OK);
    cr_expect_str_eq(text, HEADER ROW(1, 2, 1));
    cr_expect_eq(pp_sweep_merge(arena, paths, 1, paths[1], stdout, stderr, &err), PP_OK);
}

static void interrupt(int signal_number)
{
    (void)signal_number;
    raise(SIGINT);
}

/* Ended in the middle of writing: the temporary file is gone all the same. */
Test(sweep_merge, an_interrupt_leaves_no_temporary_file)
{
    const struct rlimit little = {10, RLIM_INFINITY};
    struct pp_error err = {0};
    int how;

    write_text(paths[0], HEADER ROW(0, 2, 0));
    const pid_t pid = fork();
    if (pid == 0) {
        signal(SIGINT, SIG_DFL);
        signal(SIGXFSZ, interrupt);
        setrlimit(RLIMIT_FSIZE, &little);
        _exit(pp_sweep_merge(arena, paths, 1, paths[1], stdout, stderr, &err));
    }
    cr_assert(waitpid(pid, &how, 0) == pid);
    cr_expect(WIFSIGNALED(how) && WTERMSIG(how) == SIGINT);
    cr_expect_eq(system(pp_arena_printf(arena, "test \"$(ls -A %s)\" = a.csv", folder)), 0);
}
