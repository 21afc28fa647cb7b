#define _GNU_SOURCE /* mkdtemp */
#include "exec/hub/safetensors.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct pp_arena *arena;
static struct pp_safetensors tensors;
static struct pp_error err;
static char folder[] = "/tmp/pp-test-safetensors-XXXXXX";

static void set_up(void)
{
    arena = pp_arena_create();
    cr_assert(mkdtemp(folder));
}

static void tear_down(void)
{
    pp_arena_destroy(arena);
    cr_assert_eq(system(pp_arena_printf(arena = pp_arena_create(), "rm -r %s", folder)), 0);
    pp_arena_destroy(arena);
}

TestSuite(safetensors, .init = set_up, .fini = tear_down);

/* A file in the arena: a header and `bytes` of data 0, 1, 2, ... */
static unsigned char *file_of(const char *header, size_t bytes, size_t *length)
{
    const size_t text = strlen(header);
    unsigned char *file = pp_arena_alloc(arena, 8 + text + bytes);

    *length = 8 + text + bytes;
    for (int i = 0; i < 8; i++)
        file[i] = (unsigned char)((uint64_t)text >> (8 * i));
    memcpy(file + 8, header, text);
    for (size_t i = 0; i < bytes; i++)
        file[8 + text + i] = (unsigned char)i;
    return file;
}

static const char *path_of(const char *name)
{
    return pp_arena_printf(arena, "%s/%s", folder, name);
}

static void put_bytes(const char *name, const void *bytes, size_t length)
{
    FILE *file = fopen(path_of(name), "wb");

    cr_assert(file && fwrite(bytes, 1, length, file) == length && fclose(file) == 0);
}

static void put_file(const char *name, const char *header, size_t bytes)
{
    size_t length;
    const unsigned char *file = file_of(header, bytes, &length);

    put_bytes(name, file, length);
}

static void put_text(const char *name, const char *text)
{
    put_bytes(name, text, strlen(text));
}

#define TENSOR(name, dtype, shape, offsets)                                                        \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

Test(safetensors, a_file_is_read)
{
    size_t length;
    const unsigned char *file =
        file_of("{\"__metadata__\":{\"format\":\"pt\"}," TENSOR(
                    "b", "F32", "[2,3]", "[0,24]") "," TENSOR("a", "BF16", "[2]", "[24,28]") "}  ",
                28, &length);

    cr_assert_eq(pp_safetensors_parse(arena, "F", file, length, &tensors, &err), PP_OK, "%s",
                 err.message);
    cr_assert_eq(tensors.count, 2);
    cr_assert_str_eq(tensors.tensors[0].name, "a");
    const struct pp_safetensor *b = pp_safetensors_find(&tensors, "b");
    cr_assert(b && b->dimensions == 2 && b->shape[0] == 2 && b->shape[1] == 3 && b->count == 6);
    cr_assert_eq(b->data, file + length - 28);
    cr_assert_null(pp_safetensors_find(&tensors, "c"));
}

static const struct {
    const char *header;
    size_t bytes;
    const char *message;
} lies[] = {
    {"no", 0, "F:1:2: '[' or '{' expected near 'no'"},
    {"[]", 0, "F: the header must be an object of tensors"},
    {"{\"__metadata__\":1}", 0, "F: \"__metadata__\" must be an object"},
    {"{\"__metadata__\":{\"k\":1}}", 0, "F: \"__metadata__\": 'k' must be a string"},
    {"{\"a\":1}", 0, "F: tensor 'a': an object with dtype, shape and data_offsets is expected"},
    {"{\"a\":{}}", 0, "F: tensor 'a': \"dtype\" is missing, or no string"},
    {"{" TENSOR("a", "F33", "[1]", "[0,4]") "}", 4,
     "F: tensor 'a': unknown dtype 'F33': F32, BF16 and F16 can be read"},
    {"{" TENSOR("a", "F32", "1", "[0,4]") "}", 4,
     "F: tensor 'a': \"shape\" is missing, or no list"},
    {"{" TENSOR("a", "F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]") "}", 4,
     "F: tensor 'a': \"shape\" has more than 8 dimensions"},
    {"{" TENSOR("a", "F32", "[-1]", "[0,4]") "}", 4,
     "F: tensor 'a': \"shape\" must be whole numbers, 0 or more"},
    {"{" TENSOR("a", "F32", "[1.5]", "[0,4]") "}", 4,
     "F: tensor 'a': \"shape\" must be whole numbers, 0 or more"},
    {"{" TENSOR("a", "F32", "[4611686018427387904,4]", "[0,0]") "}", 0,
     "F: tensor 'a': \"shape\" has more elements than can be counted"},
    {"{" TENSOR("a", "F32", "[4611686018427387904]", "[0,0]") "}", 0,
     "F: tensor 'a': \"shape\" has more bytes than can be counted"},
    {"{" TENSOR("a", "F32", "[1]", "[0]") "}", 4,
     "F: tensor 'a': \"data_offsets\" must be two whole numbers"},
    {"{" TENSOR("a", "F32", "[1]", "[4,0]") "}", 4,
     "F: tensor 'a': \"data_offsets\" [4, 0] are not in the 4 bytes of data: is the file "
     "truncated?"},
    {"{" TENSOR("a", "F32", "[2]", "[0,8]") "}", 4,
     "F: tensor 'a': \"data_offsets\" [0, 8] are not in the 4 bytes of data: is the file "
     "truncated?"},
    {"{" TENSOR("a", "F32", "[2]", "[0,4]") "}", 4,
     "F: tensor 'a': \"data_offsets\" have 4 bytes, \"shape\" and \"dtype\" 8"},
    {"{" TENSOR("a", "F32", "[2]", "[0,8]") "," TENSOR("b", "F32", "[1]", "[4,8]") "}", 8,
     "F: tensor 'b' overlaps 'a' at byte 4"},
    {"{" TENSOR("a", "F32", "[1]", "[0,4]") "," TENSOR("b", "F32", "[1]", "[8,12]") "}", 12,
     "F: bytes 4 to 8, before tensor 'b', belong to no tensor"},
    {"{" TENSOR("a", "F32", "[1]", "[0,4]") "}", 9, "F: 5 bytes at the end belong to no tensor"},
    {"{" TENSOR("a", "F32", "[1]", "[0,4]") "," TENSOR("a", "F32", "[1]", "[4,8]") "}", 8,
     "F:1:57: duplicate object key near '\"a\"'"},
};

Test(safetensors, lies_are_refused_with_file_and_tensor)
{
    for (size_t i = 0; i < PP_COUNT(lies); i++) {
        size_t length;
        const unsigned char *file = file_of(lies[i].header, lies[i].bytes, &length);

        cr_expect_eq(pp_safetensors_parse(arena, "F", file, length, &tensors, &err), PP_EINVAL,
                     "%s", lies[i].header);
        cr_expect_str_eq(err.message, lies[i].message);
    }
}

Test(safetensors, every_truncated_file_is_refused)
{
    size_t length;
    const unsigned char *file = file_of("{" TENSOR("a", "F32", "[2]", "[0,8]") "}", 8, &length);

    cr_assert_eq(pp_safetensors_parse(arena, "F", file, length, &tensors, &err), PP_OK);
    for (size_t cut = 0; cut < length; cut++) {
        cr_assert_eq(pp_safetensors_parse(arena, "F", file, cut, &tensors, &err), PP_EINVAL);
        cr_assert_eq(err.message[0], 'F');
    }
}

Test(safetensors, a_header_beyond_the_file_is_refused)
{
    unsigned char file[16] = {0};

    for (int i = 0; i < 8; i++) {
        memset(file, 0, sizeof(file));
        file[i] = i == 0 ? 9 : 1;
        cr_expect_eq(pp_safetensors_parse(arena, "F", file, 16, &tensors, &err), PP_EINVAL);
        cr_expect_not_null(strstr(err.message, "F: a header of "));
    }
}

#define INDEX "model.safetensors.index.json"
#define ONE   TENSOR("a", "F32", "[1]", "[0,4]")

static const struct {
    const char *index, *first, *second; /* headers of one.safetensors and two.safetensors */
    enum pp_status status;
    const char *message; /* a part of it */
} indexes[] = {
    {"{\"weight_map\":{\"a\":\"one.safetensors\",\"b\":\"two.safetensors\"}}", "{" ONE "}",
     "{" TENSOR("b", "F32", "[1]", "[0,4]") "}", PP_OK, ""},
    {"[]", NULL, NULL, PP_EINVAL, "\"weight_map\" is missing, or no object"},
    {"{\"weight_map\":{\"a\":1}}", NULL, NULL, PP_EINVAL,
     "'a' must be the name of a file of the same folder"},
    {"{\"weight_map\":{\"a\":\"../one.safetensors\"}}", "{" ONE "}", NULL, PP_EINVAL,
     "'a' must be the name of a file of the same folder"},
    {"{\"weight_map\":{\"a\":\"one.safetensors\"}}", NULL, NULL, PP_EFAIL,
     "one.safetensors: No such file or directory (a shard of "},
    {"{\"weight_map\":{\"a\":\"one.safetensors\",\"c\":\"one.safetensors\"}}", "{" ONE "}", NULL,
     PP_EINVAL, INDEX ": tensor 'c' is not in its file, one.safetensors"},
    {"{\"weight_map\":{\"c\":\"one.safetensors\"}}", "{" ONE "}", NULL, PP_EINVAL,
     "one.safetensors: tensor 'a' is here, but "},
    {"{\"weight_map\":{\"a\":\"one.safetensors\",\"b\":\"two.safetensors\"}}", "{" ONE "}",
     "{" ONE "}", PP_EINVAL, "two.safetensors: tensor 'a' is here, but "},
};

Test(safetensors, an_index_agrees_with_its_shards)
{
    for (size_t i = 0; i < PP_COUNT(indexes); i++) {
        const char *headers[] = {indexes[i].first, indexes[i].second},
                   *names[] = {"one.safetensors", "two.safetensors"};

        for (int k = 0; k < 2; k++) {
            unlink(path_of(names[k]));
            if (headers[k])
                put_file(names[k], headers[k], 4);
        }
        put_text(INDEX, indexes[i].index);
        err = (struct pp_error){0};
        cr_expect_eq(pp_safetensors_open(arena, path_of(INDEX), &tensors, &err), indexes[i].status,
                     "%s", err.message);
        cr_expect_not_null(strstr(err.message, indexes[i].message), "%s", err.message);
        if (indexes[i].status == PP_OK)
            cr_expect(tensors.count == 2 && pp_safetensors_find(&tensors, "b")->data[3] == 3);
    }
}

Test(safetensors, weights_of_a_folder_are_found)
{
    const char *path;

    cr_assert_eq(pp_safetensors_look(arena, folder, &path, &err), PP_OK);
    cr_assert_null(path);
    put_text("pytorch_model.bin", "x");
    cr_assert_eq(pp_safetensors_look(arena, folder, &path, &err), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "pytorch_model.bin: weights are read from"));
    put_text(INDEX, "{}");
    cr_assert_eq(pp_safetensors_look(arena, folder, &path, &err), PP_OK);
    cr_assert_str_eq(path, path_of(INDEX));
    put_text("model.safetensors", "x");
    cr_assert_eq(pp_safetensors_look(arena, folder, &path, &err), PP_OK);
    cr_assert_str_eq(path, path_of("model.safetensors"));
}

Test(safetensors, what_is_no_file_is_refused)
{
    put_text("empty.safetensors", "");
    cr_assert_eq(pp_safetensors_open(arena, path_of("empty.safetensors"), &tensors, &err),
                 PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "is empty, not a safetensors file"));
    cr_assert_eq(mkfifo(path_of("pipe"), 0600), 0);
    cr_assert_eq(pp_safetensors_open(arena, path_of("pipe"), &tensors, &err), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "pipe is no regular file"));
    cr_assert_eq(pp_safetensors_open(arena, path_of("none"), &tensors, &err), PP_EFAIL);
}

/* Every half is a float that rounds to it; floats between two halves go to the nearer or even. */
Test(safetensors, halves_round_as_ieee_says)
{
    const struct pp_number_type *type = pp_number_type("F16");
    float before = 0;

    for (unsigned bits = 0; bits < 0x10000; bits++) {
        const uint16_t half = (uint16_t)bits;
        uint16_t back;
        float value;
        type->read(&half, 1, &value);
        type->write(&value, 1, &back);
        cr_assert(isnan(value) ? (back & 0x7fff) > 0x7c00 : back == half);
        if (bits > 0 && bits < 0x7c00) {
            const float middle = (value + before) / 2;
            type->write(&middle, 1, &back);
            cr_assert_eq(back, bits & 1 ? bits - 1 : bits);
        }
        before = value;
    }
    const struct {
        float value;
        uint16_t half;
    } rows[] = {{1, 0x3c00},          {-2, 0xc000},       {65504, 0x7bff},
                {65519.996F, 0x7bff}, {65520, 0x7c00},    {-1e9F, 0xfc00},
                {5.9604645e-8F, 1},   {2.9802322e-8F, 0}, {2.9802326e-8F, 1}};
    for (size_t i = 0; i < PP_COUNT(rows); i++) {
        uint16_t half;
        type->write(&rows[i].value, 1, &half);
        cr_expect_eq(half, rows[i].half, "%g", (double)rows[i].value);
    }
}
