#include "core/arena.h"
#include "core/free_memory.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

Test(arena, blocks_are_zeroed_aligned_and_disjoint)
{
    struct pp_arena *arena = pp_arena_create();
    unsigned char *previous = NULL;

    for (size_t bytes = 1; bytes < 300000; bytes = bytes * 3 + 1) {
        unsigned char *block = pp_arena_alloc(arena, bytes);
        cr_assert_eq((uintptr_t)block % (bytes >= 64 ? 64 : 16), 0);
        for (size_t i = 0; i < bytes; i++)
            cr_assert_eq(block[i], 0);
        memset(block, 0xff, bytes);
        cr_assert_neq(block, previous);
        previous = block;
    }
    pp_arena_destroy(arena);
}

Test(arena, released_memory_is_reused_and_zeroed_again)
{
    struct pp_arena *arena = pp_arena_create();
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    unsigned char *first = pp_arena_alloc(arena, 1000);

    memset(first, 0xff, 1000);
    for (int i = 0; i < 100; i++)
        pp_arena_alloc(arena, 100000);
    pp_arena_release(arena, mark);
    unsigned char *second = pp_arena_alloc(arena, 1000);
    cr_assert_eq(first, second);
    cr_assert_eq(second[999], 0);
    pp_arena_destroy(arena);
}

/* What a child writes its parent reads, in the first block and in those after it. */
Test(arena, forked_processes_share_memory)
{
    struct pp_arena *arena = pp_arena_create_shared();
    enum { COUNT = 20 };
    size_t *written[COUNT];

    for (size_t i = 0; i < COUNT; i++)
        written[i] = PP_ARRAY(arena, size_t, 1 + 5000 * i);
    const pid_t child = fork();
    for (size_t i = 0; child == 0 && i < COUNT; i++)
        written[i][5000 * i] = i + 1;
    if (child == 0)
        _exit(0);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    for (size_t i = 0; i < COUNT; i++)
        cr_assert_eq(written[i][5000 * i], i + 1);
    pp_arena_destroy(arena);
}

Test(arena, push_grows_a_vector)
{
    struct pp_arena *arena = pp_arena_create();
    int *data = NULL, count = 0, capacity = 0;

    for (int i = 0; i < 1000; i++)
        *PP_PUSH(arena, data, count, capacity) = i;
    for (int i = 0; i < 1000; i++)
        cr_assert_eq(data[i], i);
    pp_arena_destroy(arena);
}

static char order[8];
static int ended;

static void note(void *letter)
{
    order[ended++] = *(const char *)letter;
}

Test(arena, deferred_calls_come_last_first_and_once)
{
    struct pp_arena *arena = pp_arena_create();
    static char letters[] = "abcd";

    pp_arena_defer(arena, note, &letters[0]);
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    pp_arena_defer(arena, note, &letters[1]);
    pp_arena_alloc(arena, 1 << 20);
    pp_arena_defer(arena, note, &letters[2]);
    pp_arena_release(arena, mark);
    cr_assert_str_eq(order, "cb");
    pp_arena_defer(arena, note, &letters[3]);
    pp_arena_destroy(arena);
    cr_assert_str_eq(order, "cbda");
}

/* The kernel would grant this, and end some process when it is written. */
Test(arena, more_than_the_free_memory_is_refused)
{
    const size_t free = pp_free_memory_bytes();
    char text[256] = "";
    int status, ends[2];

    cr_assert(free < SIZE_MAX && pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        pp_arena_alloc_raw(pp_arena_create(), free + free / 32);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1, "status %d", status);
    cr_assert(read(ends[0], text, sizeof(text) - 1) > 0);
    cr_assert(strstr(text, "error: out of memory: ") && strstr(text, " MiB are free"), "%s", text);
}

/* A block that is not yet written counts. */
Test(arena, several_blocks_together_are_refused)
{
    const size_t free = pp_free_memory_bytes();
    int status;
    const pid_t child = fork();

    for (int i = 0; child == 0 && i < 5; i++)
        pp_arena_alloc_raw(pp_arena_create(), free / 4);
    if (child == 0)
        _exit(0);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1, "status %d", status);
}
