#define _GNU_SOURCE /* memmem */
#include "core/process/pool.h"
#include "exec/data/text.h"
#include "exec/host/host.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct pp_arena *arena;
static struct pp_text text;
static struct pp_error err;

static void set_up(void)
{
    arena = pp_arena_create();
}

static void tear_down(void)
{
    pp_arena_destroy(arena);
}

TestSuite(text, .init = set_up, .fini = tear_down);

enum { SEQ = 64, VOCAB = 256 };

/* Load `length` bytes through a file; its name is "F" in the message. */
static enum pp_status load_kind(const void *bytes, size_t length, enum pp_token_kind kind, int seq,
                                int vocab)
{
    char path[] = "/tmp/pp-test-text-XXXXXX";
    const int fd = mkstemp(path);

    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, bytes, length), (ssize_t)length);
    close(fd);
    err = (struct pp_error){0};
    const struct pp_text_wish wish = {path, kind, seq, vocab};
    const enum pp_status status = pp_text_load(arena, &wish, &text, &err);
    unlink(path);
    if (!strncmp(err.message, path, strlen(path)))
        memmove(err.message + 1, err.message + strlen(path),
                strlen(err.message + strlen(path)) + 1),
            err.message[0] = 'F';
    return status;
}

static enum pp_status load(const void *bytes, size_t length, int seq, int vocab)
{
    return load_kind(bytes, length, PP_TOKENS_BYTES, seq, vocab);
}

Test(text, what_is_built_in_is_plain_english)
{
    cr_assert_eq(
        pp_text_load(arena, &(struct pp_text_wish){NULL, PP_TOKENS_BYTES, SEQ, 128}, &text, &err),
        PP_OK);
    cr_assert_str_eq(text.name, "built-in text");
    cr_assert(text.count >= 60000 && text.count <= 120000);
    for (size_t i = 0; i < text.count; i++)
        cr_assert(text.files->bytes[i] == '\n' ||
                  (text.files->bytes[i] >= ' ' && text.files->bytes[i] <= '~'));
    cr_assert_not_null(memmem(text.files->bytes, text.count, "It is a truth universally", 25));
}

Test(text, bytes_of_a_file_are_tokens)
{
    cr_assert_eq(load("\xff\x00 abc", 6, 5, VOCAB), PP_OK);
    int32_t ids[5], targets[5];
    cr_assert_eq(pp_text_sample(&text, 2, 3, ids, targets, &err), PP_OK);
    cr_assert_arr_eq(ids, ((int32_t[]){255, 0, ' ', 'a', 'b'}), sizeof ids);
    cr_assert_arr_eq(targets, ((int32_t[]){0, ' ', 'a', 'b', 'c'}), sizeof targets);
}

/* A shard as llm.c writes them, with `stated` in its header. */
enum { HEADER_BYTES = 1024, TOKENS = 6 };
static size_t make_shard(unsigned char *shard, uint32_t version, uint32_t stated)
{
    static const uint16_t tokens[TOKENS] = {50256, 0, 1, 255, 256, 12345};
    const uint32_t header[3] = {20240520, version, stated};

    memset(shard, 0, HEADER_BYTES);
    for (int i = 0; i < 3; i++)
        for (int b = 0; b < 4; b++)
            shard[4 * i + b] = (unsigned char)(header[i] >> 8 * b);
    for (int i = 0; i < TOKENS; i++) {
        shard[HEADER_BYTES + 2 * i] = (unsigned char)tokens[i];
        shard[HEADER_BYTES + 2 * i + 1] = (unsigned char)(tokens[i] >> 8);
    }
    return HEADER_BYTES + 2 * TOKENS;
}

Test(text, shards_hold_tokens_of_16_bits)
{
    unsigned char shard[HEADER_BYTES + 2 * TOKENS];
    const size_t bytes = make_shard(shard, 1, TOKENS);
    int32_t ids[TOKENS - 1], targets[TOKENS - 1];

    cr_assert_eq(load_kind(shard, bytes, PP_TOKENS_U16, TOKENS - 1, 50257), PP_OK, "%s",
                 err.message);
    cr_assert_eq(text.count, TOKENS);
    cr_assert_eq(pp_text_sample(&text, 2, 3, ids, targets, &err), PP_OK);
    cr_assert_arr_eq(ids, ((int32_t[]){50256, 0, 1, 255, 256}), sizeof ids);
    cr_assert_arr_eq(targets, ((int32_t[]){0, 1, 255, 256, 12345}), sizeof targets);
    const uint32_t crc = pp_text_crc(&text);
    shard[bytes - 1] ^= 1;
    cr_assert_eq(load_kind(shard, bytes, PP_TOKENS_U16, TOKENS - 1, 50257), PP_OK);
    cr_assert_neq(pp_text_crc(&text), crc);
    cr_assert_eq(load_kind(shard, bytes, PP_TOKENS_U16, TOKENS, 50257), PP_EINVAL);
    cr_assert_str_eq(err.message,
                     "F has 6 tokens: a sample of 6 tokens and its target takes 7; the "
                     "longest sequence that it allows is 5");
    cr_assert_eq(load_kind(shard, bytes, PP_TOKENS_U16, 2, 50256), PP_EINVAL);
    cr_assert_str_eq(err.message,
                     "F has token 50256 at offset 0, but the model has a vocabulary of "
                     "50256; the smallest that would do is 50257");
}

Test(text, what_is_no_shard_says_why)
{
    unsigned char shard[HEADER_BYTES + 2 * TOKENS];
    const size_t bytes = make_shard(shard, 1, TOKENS);

    for (size_t length = 0; length < bytes; length++)
        cr_assert_eq(load_kind(shard, length, PP_TOKENS_U16, 2, 50257), PP_EINVAL, "%zu bytes",
                     length);
    cr_assert_str_eq(err.message,
                     "F:8: its header says 6 tokens, that is 12 bytes after the header, "
                     "but 11 follow");
    make_shard(shard, 7, TOKENS);
    cr_assert_eq(load_kind(shard, bytes, PP_TOKENS_U16, 2, 50257), PP_EINVAL);
    cr_assert_eq(strncmp(err.message, "F:4: version 7 ", 15), 0, "%s", err.message);
    make_shard(shard, 1, UINT32_MAX);
    cr_assert_eq(load_kind(shard, bytes, PP_TOKENS_U16, 2, 50257), PP_EINVAL);
    make_shard(shard, 1, 0);
    cr_assert_eq(load_kind(shard, HEADER_BYTES, PP_TOKENS_U16, 2, 50257), PP_EINVAL);
    cr_assert_str_eq(err.message, "F is empty: a sample of 2 tokens and its target takes 3 tokens");
    shard[0] ^= 1;
    cr_assert_eq(load_kind(shard, bytes, PP_TOKENS_U16, 2, 50257), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "does not begin with the number 20240520"));
}

Test(text, empty_and_short_files_are_refused_with_what_would_do)
{
    cr_assert_eq(load("", 0, SEQ, VOCAB), PP_EINVAL);
    cr_assert_str_eq(err.message,
                     "F is empty: a sample of 64 tokens and its target takes 65 bytes");
    cr_assert_eq(load("0123456789", 10, 10, VOCAB), PP_EINVAL);
    cr_assert_str_eq(err.message, "F has 10 bytes: a sample of 10 tokens and its target takes 11; "
                                  "the longest sequence that it allows is 9");
    cr_assert_eq(load("0123456789", 10, 9, VOCAB), PP_OK);
}

Test(text, bytes_beyond_the_vocabulary_are_refused_with_their_place)
{
    cr_assert_eq(load("abc\xc3\xa4\xc3\xbc", 7, 2, 128), PP_EINVAL);
    cr_assert_str_eq(err.message, "F has byte 195 at offset 3, but the model has a vocabulary of "
                                  "128; the smallest that would do is 196");
    cr_assert_eq(load("abc\xc3\xa4\xc3\xbc", 7, 2, 196), PP_OK);
    cr_assert_eq(
        pp_text_load(arena, &(struct pp_text_wish){NULL, PP_TOKENS_BYTES, SEQ, 100}, &text, &err),
        PP_EINVAL);
    cr_assert_eq(strncmp(err.message, "built-in text has byte ", 23), 0, "%s", err.message);
}

Test(text, what_cannot_be_read_says_why)
{
    cr_assert_eq(
        pp_text_load(arena,
                     &(struct pp_text_wish){"/nonexistent/text", PP_TOKENS_BYTES, SEQ, VOCAB},
                     &text, &err),
        PP_EFAIL);
    cr_assert_str_eq(err.message, "cannot open /nonexistent/text: No such file or directory");
    cr_assert_eq(pp_text_load(arena, &(struct pp_text_wish){"/tmp", PP_TOKENS_BYTES, SEQ, VOCAB},
                              &text, &err),
                 PP_EFAIL);
    cr_assert_str_eq(err.message, "cannot read /tmp: Is a directory");
}

static int64_t sample(uint64_t seed, int64_t step, int64_t index)
{
    int32_t ids[4], targets[4];

    text.order.seed = seed;
    cr_assert_eq(pp_text_sample(&text, step, index, ids, targets, &err), PP_OK);
    for (int t = 0; t < 3; t++)
        cr_assert_eq(targets[t], ids[t + 1]);
    return ids[0] + ((int64_t)ids[1] << 8) + ((int64_t)ids[2] << 16);
}

Test(text, samples_depend_on_seed_step_and_index_alone)
{
    cr_assert_eq(
        pp_text_load(arena, &(struct pp_text_wish){NULL, PP_TOKENS_BYTES, 4, VOCAB}, &text, &err),
        PP_OK);
    const int64_t drawn = sample(1, 5, 7);
    int differing = 0;

    for (int i = 0; i < 100; i++) {
        differing += sample(1, 5, 8 + i) != drawn;
        differing += sample(1, 6 + i, 7) != drawn;
        differing += sample(2 + (uint64_t)i, 5, 7) != drawn;
    }
    cr_assert_gt(differing, 290);
    cr_assert_eq(sample(1, 5, 7), drawn);
}

/* A text whose bytes name their position: all of them are drawn, none more often than chance. */
Test(text, positions_are_uniform_and_reach_both_ends)
{
    enum { BYTES = 101, DRAWS = 97000 };
    unsigned char bytes[BYTES];
    int count[BYTES] = {0};

    for (int i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)i;
    cr_assert_eq(load(bytes, BYTES, 4, VOCAB), PP_OK);
    text.order.seed = 3;
    for (int i = 0; i < DRAWS; i++) {
        int32_t ids[4], targets[4];

        cr_assert_eq(pp_text_sample(&text, i / 1000, i % 1000, ids, targets, &err), PP_OK);
        count[ids[0]]++;
        cr_assert_leq(targets[3], BYTES - 1);
    }
    double chi = 0;
    for (int i = 0; i < BYTES - 4; i++)
        chi += (count[i] - 1000.0) * (count[i] - 1000.0) / 1000;
    cr_assert(chi > 50 && chi < 150, "chi-square %g of 96 degrees of freedom", chi);
    for (int i = BYTES - 4; i < BYTES; i++)
        cr_assert_eq(count[i], 0);
}

Test(host, cores_and_memory_are_those_of_some_machine)
{
    cr_assert(pp_pool_cores() >= 1 && pp_pool_cores() <= sysconf(_SC_NPROCESSORS_ONLN));
    const size_t pages = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    cr_assert(pp_host_available_bytes() > 1 << 20 && pp_host_available_bytes() <= pages);
    cr_assert_geq(pp_host_most_threads(), pp_pool_cores());
}
