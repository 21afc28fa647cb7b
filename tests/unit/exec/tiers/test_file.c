/* A tier's file gives back what was written: any byte count, any memory, threads and processes at
 * once, and nothing stays in its directory. */
#define _GNU_SOURCE /* mkdtemp, O_DIRECT */
#include "core/random.h"
#include "exec/tiers/parts.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 80, BYTES = BLOCKS * PP_TIER_BLOCK };
static char folder[] = "/tmp/test_tiers_XXXXXX";
static struct pp_arena *arena;

static void begin(void)
{
    cr_assert(mkdtemp(folder));
    arena = pp_arena_create_shared();
}

static void end(void)
{
    pp_arena_destroy(arena);
    cr_assert_eq(rmdir(folder), 0, "a file was left over");
}

static struct pp_tier_file *open_file(const char *dir, size_t bytes)
{
    struct pp_tier_file *file = NULL;
    struct pp_error err;

    cr_assert_eq(pp_tier_file_open(arena, dir, bytes, "rank 0", &file, &err), PP_OK, "%s",
                 err.message);
    return file;
}

static void fill(unsigned char *bytes, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)pp_random_bits(seed, i);
}

static void put(struct pp_tier_file *file, size_t offset, size_t bytes, const void *memory)
{
    struct pp_error err;

    cr_assert_eq(pp_tier_file_write(file, offset, bytes, memory, &err), PP_OK, "%s", err.message);
}

static void get(struct pp_tier_file *file, size_t offset, size_t bytes, void *memory)
{
    struct pp_error err;

    cr_assert_eq(pp_tier_file_read(file, offset, bytes, memory, &err), PP_OK, "%s", err.message);
}

static size_t below(uint64_t *seed, size_t limit)
{
    return (size_t)(pp_random_bits(7, (*seed)++) % limit);
}

/* Random writes and reads, also done in memory. `filled` has the written bytes of a
 * block. */
static void compare_with_memory(struct pp_tier_file *file)
{
    unsigned char *mirror = pp_arena_alloc(arena, BYTES),
                  *memory = pp_arena_alloc(arena, BYTES + 4096);
    size_t filled[BLOCKS] = {0};
    uint64_t seed = 0;

    for (int turn = 0; turn < 150; turn++) {
        const size_t block = below(&seed, BLOCKS), at = block * PP_TIER_BLOCK;
        const size_t bytes = 1 + below(&seed, turn % 3 ? BYTES - at : PP_TIER_BLOCK);
        unsigned char *own = memory + (turn % 2 ? 0 : below(&seed, 4096));

        fill(own, bytes, seed);
        put(file, at, bytes, own);
        memcpy(mirror + at, own, bytes);
        for (size_t i = block; i * PP_TIER_BLOCK < at + bytes; i++)
            filled[i] = at + bytes - i * PP_TIER_BLOCK < PP_TIER_BLOCK
                            ? (at + bytes) % PP_TIER_BLOCK
                            : PP_TIER_BLOCK;
        const size_t from = below(&seed, BLOCKS), skip = below(&seed, filled[from] + 1);
        size_t to = from;
        while (to + 1 < BLOCKS && filled[to] == PP_TIER_BLOCK && filled[to + 1] > 0)
            to++;
        const size_t first = from * PP_TIER_BLOCK + skip, last = to * PP_TIER_BLOCK + filled[to];
        const size_t wanted = below(&seed, last - first + 1);
        memset(own, 0x55, wanted);
        get(file, first, wanted, own);
        cr_assert_eq(memcmp(own, mirror + first, wanted), 0, "turn %d", turn);
    }
}

Test(tier_file, gives_back_what_was_written, .init = begin, .fini = end)
{
    compare_with_memory(open_file(folder, BYTES));
}

Test(tier_file, also_in_memory_file_systems, .init = begin, .fini = end)
{
    if (access("/dev/shm", W_OK) != 0)
        cr_skip_test("no /dev/shm");
    compare_with_memory(open_file("/dev/shm", BYTES));
}

/* As where a file system has no direct I/O. */
Test(tier_file, also_through_the_page_cache, .init = begin, .fini = end)
{
    struct pp_tier_file *file = open_file(folder, BYTES);

    file->is_direct = false;
    cr_assert_eq(fcntl(file->fd, F_SETFL, fcntl(file->fd, F_GETFL) & ~O_DIRECT), 0);
    compare_with_memory(file);
}

/* Patches begin and end anywhere, also in a block that the patch before has begun. */
Test(tier_file, is_patched_anywhere, .init = begin, .fini = end)
{
    struct pp_tier_file *file = open_file(folder, BYTES);
    unsigned char *mirror = pp_arena_alloc(arena, BYTES), *memory = pp_arena_alloc(arena, BYTES);
    struct pp_error err;
    uint64_t seed = 0;
    size_t end = 0;

    for (int turn = 0; turn < 150; turn++) {
        const size_t at = turn % 3 ? below(&seed, end + 1) : end,
                     most = below(&seed, 2) ? 3 * PP_TIER_BLOCK : 1000,
                     bytes = below(&seed, most < BYTES - at ? most : BYTES - at);

        fill(memory, bytes, seed);
        memcpy(mirror + at, memory, bytes);
        cr_assert_eq(pp_tier_file_patch(file, at, bytes, memory, &err), PP_OK, "%s", err.message);
        end = at + bytes > end ? at + bytes : end;
        get(file, 0, end, memory);
        cr_assert_eq(memcmp(mirror, memory, end), 0, "turn %d", turn);
    }
    if (end % PP_TIER_BLOCK < PP_TIER_BLOCK - 10)
        cr_assert_eq(pp_tier_file_patch(file, end + 5, 1, memory, &err), PP_EFAIL);
}

static int entries(const char *dir)
{
    DIR *list = opendir(dir);
    int count = 0;

    cr_assert(list);
    for (const struct dirent *e; (e = readdir(list));)
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(list);
    return count;
}

Test(tier_file, two_files_of_a_directory_have_no_name_and_their_own_bytes, .init = begin,
     .fini = end)
{
    struct pp_tier_file *one = open_file(folder, BYTES), *two = open_file(folder, BYTES);
    unsigned char first[1000], second[1000], back[1000];

    cr_assert_eq(entries(folder), 0);
    fill(first, sizeof first, 1);
    fill(second, sizeof second, 2);
    put(one, 0, sizeof first, first);
    put(two, 0, sizeof second, second);
    get(one, 0, sizeof back, back);
    cr_assert_eq(memcmp(back, first, sizeof back), 0);
    get(two, 0, sizeof back, back);
    cr_assert_eq(memcmp(back, second, sizeof back), 0);
    cr_assert_eq(entries(folder), 0);
}

struct walker {
    pthread_t thread;
    struct pp_tier_file *file;
    size_t begin, bytes;
    bool is_same;
};

/* Writes its range again and again, in parts, and reads it back. */
static void *walk(void *closure)
{
    struct walker *w = closure;
    unsigned char *own = malloc(w->bytes), *back = malloc(w->bytes);

    w->is_same = own && back;
    for (uint64_t turn = 0; turn < 8 && w->is_same; turn++) {
        struct pp_error err;
        const size_t cut = turn % 4 * PP_TIER_BLOCK;

        fill(own, w->bytes, turn * 1000 + w->begin);
        w->is_same =
            pp_tier_file_write(w->file, w->begin, cut, own, &err) == PP_OK &&
            pp_tier_file_write(w->file, w->begin + cut, w->bytes - cut, own + cut, &err) == PP_OK &&
            pp_tier_file_read(w->file, w->begin, w->bytes, back, &err) == PP_OK &&
            memcmp(own, back, w->bytes) == 0;
    }
    free(own);
    free(back);
    return NULL;
}

Test(tier_file, serves_more_threads_than_it_has_lanes, .init = begin, .fini = end)
{
    struct pp_tier_file *file = open_file(folder, BYTES);
    struct walker walkers[8];

    for (size_t i = 0; i < 8; i++) {
        walkers[i] = (struct walker){.file = file, .begin = i * BYTES / 8, .bytes = BYTES / 8 - i};
        cr_assert_eq(pthread_create(&walkers[i].thread, NULL, walk, &walkers[i]), 0);
    }
    for (size_t i = 0; i < 8; i++) {
        pthread_join(walkers[i].thread, NULL);
        cr_expect(walkers[i].is_same, "thread %zu", i);
    }
}

Test(tier_file, serves_forked_processes, .init = begin, .fini = end)
{
    struct pp_tier_file *file = open_file(folder, BYTES);
    unsigned char *own = pp_arena_alloc(arena, 3 << 20), *back = pp_arena_alloc(arena, 3 << 20);

    fill(own, 3 << 20, 1);
    put(file, 0, 3 << 20, own);
    for (int turn = 0; turn < 3; turn++) {
        const pid_t child = fork();
        if (child == 0) {
            struct walker w = {.file = file, .begin = 0, .bytes = 3 << 20};
            walk(&w);
            _exit(w.is_same ? 0 : 1);
        }
        int status;
        cr_assert(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    }
    fill(own, 3 << 20, 7000); /* the last turn of the walk */
    get(file, 0, 3 << 20, back);
    cr_assert_eq(memcmp(own, back, 3 << 20), 0);
}
