/* Data in several files: indexed datasets and lists of shards. */
#include "exec/data/format.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct pp_arena *arena;
static struct pp_text text;
static struct pp_error err;
static char folder[64];

static void set_up(void)
{
    arena = pp_arena_create();
    strcpy(folder, "/tmp/pp-test-data-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

static void tear_down(void)
{
    DIR *dir = opendir(folder);

    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            unlink(pp_arena_printf(arena, "%s/%s", folder, entry->d_name));
    closedir(dir);
    rmdir(folder);
    pp_arena_destroy(arena);
}

TestSuite(indexed, .init = set_up, .fini = tear_down);

static const char *in_folder(const char *name)
{
    return pp_arena_printf(arena, "%s/%s", folder, name);
}

static void write_file(const char *name, const void *bytes, size_t length)
{
    FILE *file = fopen(in_folder(name), "wb");

    cr_assert_eq(fwrite(bytes, 1, length, file), length);
    cr_assert_eq(fclose(file), 0);
}

static enum pp_status load(const char *name, enum pp_token_kind kind, int seq, int vocab)
{
    const struct pp_text_wish wish = {in_folder(name), kind, seq, vocab};

    err = (struct pp_error){0};
    return pp_text_load(arena, &wish, &text, &err);
}

/* ---- Megatron -------------------------------------------------------------------------------- */

/* An index of `count` sequences with `documents` documents, and its data. */
struct dataset {
    unsigned char index[256], data[256];
    size_t index_bytes, data_bytes;
};

static void put(unsigned char *to, size_t *length, int64_t value, int bytes)
{
    for (int b = 0; b < bytes; b++)
        to[(*length)++] = (unsigned char)(value >> 8 * b);
}

enum { TOKENS = 9 };
static const int64_t tokens[TOKENS] = {5, 4, 3, 100, 101, 102, 103, 7, 8};
static const int sizes[] = {3, 0, 4, 2}, documents[] = {0, 4};

static void make(struct dataset *d, int code, int token_bytes)
{
    int64_t at = 0;

    *d = (struct dataset){.index = "MMIDIDX", .index_bytes = 9};
    put(d->index, &d->index_bytes, 1, 8);
    put(d->index, &d->index_bytes, code, 1);
    put(d->index, &d->index_bytes, PP_COUNT(sizes), 8);
    put(d->index, &d->index_bytes, PP_COUNT(documents), 8);
    for (size_t i = 0; i < PP_COUNT(sizes); i++)
        put(d->index, &d->index_bytes, sizes[i], 4);
    for (size_t i = 0; i < PP_COUNT(sizes); at += sizes[i++] * token_bytes)
        put(d->index, &d->index_bytes, at, 8);
    for (size_t i = 0; i < PP_COUNT(documents); i++)
        put(d->index, &d->index_bytes, documents[i], 8);
    for (int i = 0; i < TOKENS; i++)
        put(d->data, &d->data_bytes, tokens[i], token_bytes);
}

static void write_dataset(const struct dataset *d)
{
    write_file("d.idx", d->index, d->index_bytes);
    write_file("d.bin", d->data, d->data_bytes);
}

static enum pp_status parse(const struct dataset *d)
{
    struct pp_indexed indexed;

    err = (struct pp_error){0};
    /* a copy of the right length, so that a sanitizer sees reads beyond it */
    unsigned char *exact = malloc(d->index_bytes + 1);
    memcpy(exact, d->index, d->index_bytes);
    const enum pp_status status =
        pp_indexed_parse((struct pp_named_bytes){"I", (const char *)exact, d->index_bytes}, "D",
                         d->data_bytes, &indexed, &err);
    free(exact);
    return status;
}

Test(indexed, tokens_of_all_types_are_one_array)
{
    static const struct {
        int code, bytes;
    } types[] = {{1, 1}, {2, 1}, {3, 2}, {4, 4}, {5, 8}, {8, 2}};
    int32_t ids[TOKENS - 1], targets[TOKENS - 1];

    for (size_t k = 0; k < PP_COUNT(types); k++)
        for (int name = 0; name < 3; name++) {
            struct dataset d;
            make(&d, types[k].code, types[k].bytes);
            write_dataset(&d);
            cr_assert_eq(load((const char *[]){"d", "d.bin", "d.idx"}[name], PP_TOKENS_AUTO,
                              TOKENS - 1, 104),
                         PP_OK, "%s", err.message);
            cr_assert_eq(text.count, TOKENS);
            cr_assert_str_eq(pp_text_unit(&text), "tokens");
            cr_assert_eq(pp_text_sample(&text, 0, 0, ids, targets, &err), PP_OK);
            for (int i = 0; i + 1 < TOKENS; i++)
                cr_assert(ids[i] == tokens[i] && targets[i] == tokens[i + 1]);
        }
}

Test(indexed, a_change_of_any_bit_of_the_index_is_refused)
{
    struct dataset d;

    make(&d, 8, 2);
    cr_assert_eq(parse(&d), PP_OK, "%s", err.message);
    for (size_t bit = 0; bit < 8 * d.index_bytes; bit++) {
        d.index[bit / 8] ^= (unsigned char)(1 << bit % 8);
        cr_assert_eq(parse(&d), PP_EINVAL, "bit %zu", bit);
        cr_assert_eq(err.message[0], 'I');
        d.index[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
}

Test(indexed, a_file_cut_anywhere_is_refused)
{
    struct dataset d;

    make(&d, 4, 4);
    const size_t index_bytes = d.index_bytes, data_bytes = d.data_bytes;
    for (d.index_bytes = 0; d.index_bytes < index_bytes; d.index_bytes++)
        cr_assert_eq(parse(&d), PP_EINVAL, "%zu bytes", d.index_bytes);
    for (d.data_bytes = 0; d.data_bytes < data_bytes; d.data_bytes++)
        cr_assert_eq(parse(&d), PP_EINVAL, "%zu bytes", d.data_bytes);
    d.data_bytes++;
    cr_assert_eq(parse(&d), PP_EINVAL);
    cr_assert_str_eq(err.message, "I: its sequences end at byte 36, but D has 37: is it of other "
                                  "data?");
}

/* Writes a number into the index and expects this message. */
static void refuse(size_t at, int bytes, int64_t value, const char *message)
{
    struct dataset d;

    make(&d, 8, 2);
    put(d.index, &at, value, bytes);
    cr_assert_eq(parse(&d), PP_EINVAL);
    cr_assert_str_eq(err.message, message);
}

Test(indexed, lies_are_named_with_their_field)
{
    enum { SIZES = 34, POINTERS = SIZES + 4 * 4, DOCUMENTS = POINTERS + 8 * 4 };

    refuse(0, 1, 'X', "I is no index of Megatron: it does not begin with MMIDIDX");
    refuse(9, 8, 2, "I:9: version 2 of an index; only version 1 is known");
    refuse(17, 1, 6, "I:17: type 6 is float64, but tokens are integers");
    refuse(17, 1, 9,
           "I:17: type 9 of tokens is unknown; it is 1 (uint8), 2 (int8), 3 (int16), 4 "
           "(int32), 5 (int64) or 8 (uint16)");
    refuse(18, 8, -1,
           "I:18: 18446744073709551615 sequences of 12 bytes each, but 64 bytes follow "
           "the header");
    refuse(26, 8, INT64_MAX,
           "I:26: 9223372036854775807 documents of 8 bytes each, but 16 bytes follow the "
           "sequences");
    refuse(26, 8, 0, "I:26: 0 documents of 8 bytes each, but 16 bytes follow the sequences");
    refuse(26, 8, 1, "I: 8 bytes follow the documents");
    refuse(SIZES, 4, -3, "I: sequence 0 has a size of -3");
    refuse(SIZES + 12, 4, INT32_MAX,
           "I: sequence 3 has 2147483647 tokens at byte 14, but D has 18 bytes");
    refuse(POINTERS + 8, 8, 4, "I: sequence 1 has pointer 4, but those before it end at byte 6");
    refuse(POINTERS + 24, 8, INT64_MIN,
           "I: sequence 3 has pointer -9223372036854775808, but those before it end at byte 14");
    refuse(DOCUMENTS, 8, 1, "I: document 0 begins with sequence 1, not with 0");
    refuse(DOCUMENTS + 8, 8, 5,
           "I: document 1 begins with sequence 5, which is not between 0 and 4");
    refuse(DOCUMENTS + 8, 8, 3, "I: its documents end with sequence 3 of 4");
}

Test(indexed, modes_of_multimodal_data_are_refused)
{
    struct dataset d;

    make(&d, 8, 2);
    put(d.index, &d.index_bytes, 0, PP_COUNT(sizes));
    cr_assert_eq(parse(&d), PP_EINVAL);
    cr_assert_str_eq(err.message,
                     "I: 4 bytes follow the documents, as in an index of multimodal data");
}

Test(indexed, tokens_beyond_the_vocabulary_are_refused_where_samples_lie)
{
    struct dataset d;
    int32_t ids[3], targets[3];

    make(&d, 4, 4);
    d.data[3] = 0x80; /* the first token */
    write_dataset(&d);
    cr_assert_eq(load("d", PP_TOKENS_MEGATRON, 3, 103), PP_OK, "%s", err.message);
    text.order = (struct pp_sample_order){PP_ORDER_IN_TURN, 0, 1};
    cr_assert_eq(pp_text_sample(&text, 0, 0, ids, targets, &err), PP_EINVAL);
    cr_assert_str_eq(err.message,
                     pp_arena_printf(arena,
                                     "%s/d.bin has token -2147483643 at offset 0, but the model "
                                     "has a vocabulary of 103",
                                     folder));
    cr_assert_eq(pp_text_sample(&text, 1, 0, ids, targets, &err), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "token 103 at offset 6"), "%s", err.message);
}

Test(indexed, a_file_that_shrinks_is_refused_before_it_is_read)
{
    struct dataset d;
    int32_t ids[3], targets[3];

    make(&d, 4, 4);
    write_dataset(&d);
    cr_assert_eq(load("d", PP_TOKENS_MEGATRON, 3, 104), PP_OK);
    cr_assert_eq(truncate(in_folder("d.bin"), 0), 0);
    cr_assert_eq(pp_text_sample(&text, 0, 0, ids, targets, &err), PP_EFAIL);
    cr_assert_str_eq(
        err.message,
        pp_arena_printf(arena, "%s/d.bin had 36 bytes when training began, and has 0 now", folder));
}

Test(indexed, the_checksum_is_that_of_index_and_data)
{
    struct dataset d;

    make(&d, 8, 2);
    write_dataset(&d);
    cr_assert_eq(load("d", PP_TOKENS_AUTO, 3, 104), PP_OK);
    const uint32_t crc = pp_text_crc(&text);
    cr_assert_eq(load("d.idx", PP_TOKENS_AUTO, 3, 104), PP_OK);
    cr_assert_eq(pp_text_crc(&text), crc);
    d.data[5] ^= 1;
    write_dataset(&d);
    cr_assert_eq(load("d", PP_TOKENS_AUTO, 3, 104), PP_OK);
    cr_assert_neq(pp_text_crc(&text), crc);
}

/* Bytes of the mapping of a file that this process has touched. */
static size_t touched_bytes(const char *path)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[512];
    bool is_ours = false;
    size_t kib = SIZE_MAX;

    while (fgets(line, sizeof(line), maps)) {
        if (strchr(line, '-') && strchr(line, '/'))
            is_ours = strstr(line, path) != NULL;
        if (is_ours && kib == SIZE_MAX)
            (void)!sscanf(line, "Rss: %zu kB", &kib);
    }
    fclose(maps);
    return kib * 1024;
}

Test(indexed, only_what_samples_need_is_read)
{
    enum { COUNT = 1 << 26, SEQ = 64 };
    struct dataset d = {.index = "MMIDIDX", .index_bytes = 9};
    int32_t ids[SEQ], targets[SEQ];

    put(d.index, &d.index_bytes, 1, 8);
    put(d.index, &d.index_bytes, 8, 1);
    put(d.index, &d.index_bytes, 1, 8);
    put(d.index, &d.index_bytes, 2, 8);
    put(d.index, &d.index_bytes, COUNT, 4);
    put(d.index, &d.index_bytes, 0, 8);
    put(d.index, &d.index_bytes, 0, 8);
    put(d.index, &d.index_bytes, 1, 8);
    write_file("d.idx", d.index, d.index_bytes);
    write_file("d.bin", "", 0);
    cr_assert_eq(truncate(in_folder("d.bin"), 2 * (off_t)COUNT), 0);
    cr_assert_eq(load("d", PP_TOKENS_AUTO, SEQ, 2), PP_OK, "%s", err.message);
    pp_text_crc(&text);
    for (int i = 0; i < 16; i++)
        cr_assert_eq(pp_text_sample(&text, 0, i, ids, targets, &err), PP_OK);
    const size_t touched = touched_bytes(in_folder("d.bin"));
    cr_assert(touched > 0 && touched <= 8 << 20, "%zu of %d bytes", touched, 2 * COUNT);
}

/* ---- shards ---------------------------------------------------------------------------------- */

/* Writes a shard of tokens first, first + 1, ... */
static void write_shard(const char *name, int first, int count)
{
    unsigned char shard[1024 + 64] = {0};
    size_t length = 0;

    put(shard, &length, 20240520, 4);
    put(shard, &length, 1, 4);
    put(shard, &length, count, 4);
    length = 1024;
    for (int i = 0; i < count; i++)
        put(shard, &length, first + i, 2);
    write_file(name, shard, length);
}

/* The text counts from 0 to `count` - 1, in whatever shards. */
static void expect_counting(int count, int files)
{
    int32_t ids[4], targets[4];

    cr_assert_eq(text.count, (size_t)count);
    cr_assert_eq(text.file_count, files);
    text.order.kind = PP_ORDER_DRAWN;
    for (int i = 0; i < 100; i++) {
        cr_assert_eq(pp_text_sample(&text, 0, i, ids, targets, &err), PP_OK);
        for (int t = 0; t < 4; t++)
            cr_assert(ids[t] == ids[0] + t && targets[t] == ids[t] + 1 && targets[t] < count);
    }
}

Test(indexed, shards_are_one_text_in_the_order_of_their_names)
{
    write_shard("b_0.bin", 0, 3);
    write_shard("b_1.bin", 3, 0);
    write_shard("b_10.bin", 3, 5);
    write_shard("b_2.bin", 8, 1);
    write_shard("c.bin", 9, 6);
    write_file("notes.txt", "no shard", 8);
    cr_assert_eq(load("", PP_TOKENS_AUTO, 4, 16), PP_OK, "%s", err.message);
    expect_counting(15, 5);
    cr_assert_eq(load("b_*.bin", PP_TOKENS_AUTO, 4, 16), PP_OK, "%s", err.message);
    expect_counting(9, 4);
    const char *list = pp_arena_printf(arena, "b_[0]*.bin,%s/b_10.bin", folder);
    cr_assert_eq(load(list, PP_TOKENS_AUTO, 4, 16), PP_OK, "%s", err.message);
    expect_counting(8, 2);
    cr_assert_eq(load("c.bin", PP_TOKENS_AUTO, 4, 16), PP_OK, "%s", err.message);
    cr_assert_eq(text.file_count, 1);
}

Test(indexed, shards_that_lie_are_refused_by_name)
{
    write_shard("a.bin", 0, 5);
    write_file("b.bin", "no shard", 8);
    cr_assert_eq(load("", PP_TOKENS_AUTO, 4, 16), PP_EINVAL);
    cr_assert_eq(strncmp(err.message, in_folder("/b.bin is no shard"), strlen(folder) + 19), 0,
                 "%s", err.message);
    cr_assert_eq(load("x*.bin", PP_TOKENS_AUTO, 4, 16), PP_EFAIL);
    cr_assert_str_eq(err.message, pp_arena_printf(arena, "no file matches %s/x*.bin", folder));
    cr_assert_eq(load("a.bin,", PP_TOKENS_AUTO, 4, 16), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "a name of the list is empty"));
    cr_assert_eq(load("a.bin,gone.bin", PP_TOKENS_AUTO, 4, 16), PP_EFAIL);
    cr_assert_str_eq(err.message, "cannot open gone.bin: No such file or directory");
}

Test(indexed, names_with_signs_of_patterns_are_names)
{
    write_shard("a,[1]*.bin", 0, 6);
    cr_assert_eq(load("a,[1]*.bin", PP_TOKENS_AUTO, 4, 16), PP_OK, "%s", err.message);
    cr_assert_eq(text.file_count, 1);
    cr_assert_eq(mkdir(in_folder("[x]"), 0700), 0);
    write_shard("[x]/a.bin", 0, 6);
    write_shard("[x]/b.bin", 6, 6);
    cr_assert_eq(load("[x]", PP_TOKENS_AUTO, 4, 16), PP_OK, "%s", err.message);
    expect_counting(12, 2);
    unlink(in_folder("[x]/a.bin"));
    unlink(in_folder("[x]/b.bin"));
    rmdir(in_folder("[x]"));
}
