/* Any text is refused with a reason or generates. A program that generates makes the tokens and
 * logits of one rank, holds the cache that was predicted, and takes the predicted time.
 * The bytes themselves draw replicas, prompts, device and sampling. */
#include "exec/cli.h"
#include "exec/generate/generate.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <unistd.h>

/* A run takes milliseconds. */
enum { RANKS = 8, PASSES = 24, PIECES = 32, INSTRUCTIONS = 1500, ARGS = 32 };

static char path[] = "/tmp/fuzz_generate_XXXXXX";

static bool is_small(struct pp_arena *arena, const char *text, size_t size)
{
    struct pp_program *p;
    struct pp_error err = {0};

    return pp_program_parse(arena, path, text, size, PP_DIALECT_2025, &p, &err) != PP_OK ||
           (p->ranks <= RANKS && p->passes <= PASSES && p->granules * p->micro_batches <= PIECES &&
            pp_program_size(p) <= INSTRUCTIONS);
}

static void put_file(const uint8_t *data, size_t size)
{
    memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
    const int fd = mkstemp(path);
    FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0);
}

static uint32_t hash(const uint8_t *data, size_t size)
{
    uint32_t value = 2166136261u;

    for (size_t i = 0; i < size; i++)
        value = (value ^ data[i]) * 16777619u;
    return value ^ value >> 15;
}

/* The command line that the bits draw. */
static enum pp_status resolve(struct pp_arena *arena, uint32_t bits, struct pp_exec_wish *wish,
                              struct pp_generate *g, struct pp_error *err)
{
    char *argv[ARGS],
        *line = pp_arena_printf(
            arena,
            "pipeexec generate --schedule %s --model tiny --layers 4 --hidden 8 --heads 2 --check "
            "--clock virtual %s --dp %d --prompt %s --sampling %s",
            path, bits & 1 ? "--backend fake" : "--cores 3", bits & 2 ? 2 : 1,
            bits & 4 ? "abc" : "d", bits & 8 ? "top-p=0.9" : "greedy");
    struct pp_parsed *parsed = PP_NEW(arena, struct pp_parsed);
    int argc = 0;

    while (line)
        argv[argc++] = strsep(&line, " ");
    FUZZ_CHECK(pp_options_parse(arena, &pp_exec_cli, argc, argv, parsed, err) == PP_OK);
    wish->request = (struct pp_request){.flags = parsed};
    pp_wish_bind(arena, &wish->request);
    return pp_generate_resolve(arena, wish, g, err);
}

static void stop(const struct pp_error *err)
{
    fprintf(stderr, "stuck: %s\n", err->message);
    abort();
}

static void check(struct pp_arena *arena, struct pp_generate *g, struct pp_error *err)
{
    const struct pp_generate_result *r = &g->result;

    if (pp_generate_check(arena, g, err) != PP_OK)
        fprintf(stderr, "%s\n", err->message);
    FUZZ_CHECK(err->status == PP_OK && r->alone.is_done && r->again.is_done);
    FUZZ_CHECK(r->kv_bytes == r->predicted_kv_bytes && r->structural_error_s == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pp_arena *arena = pp_arena_create();
    struct pp_exec_wish *wish = PP_NEW(arena, struct pp_exec_wish);
    struct pp_generate *g = PP_NEW(arena, struct pp_generate);
    struct pp_error err = {0};

    if (is_small(arena, (const char *)data, size)) {
        put_file(data, size);
        if (resolve(arena, hash(data, size), wish, g, &err) != PP_OK) {
            FUZZ_CHECK((err.status == PP_EINVAL || err.status == PP_EPROGRAM) && *err.message);
        } else {
            g->stuck = stop;
            if (pp_generate_run(arena, wish, g, NULL, &err) != PP_OK)
                fprintf(stderr, "%s\n", err.message);
            FUZZ_CHECK(err.status == PP_OK);
            check(arena, g, &err);
        }
        unlink(path);
    }
    pp_arena_destroy(arena);
    return 0;
}
