/* A safetensors file is either refused with its name, or its tensors fill the data after the
 * header, and each is found by its name. The first byte says whether the rest is a file, or a
 * header that gets its length. */
#include "exec/hub/safetensors.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

static void check_numbers(const struct pp_safetensor *t)
{
    float value;

    for (int64_t i = 0; t->type->read && i < t->count && i < 64; i++) {
        unsigned char stored[4];
        t->type->read(t->data + i * t->type->bytes, 1, &value);
        t->type->write(&value, 1, stored);
        FUZZ_CHECK(isnan(value) ||
                   !memcmp(stored, t->data + i * t->type->bytes, (size_t)t->type->bytes));
    }
}

static void check_tensors(const struct pp_safetensors *tensors, const unsigned char *bytes,
                          size_t length)
{
    int64_t sum = 0;

    for (int i = 0; i < tensors->count; i++) {
        const struct pp_safetensor *t = &tensors->tensors[i];
        int64_t elements = 1;

        for (int d = 0; d < t->dimensions; d++)
            elements *= t->shape[d];
        FUZZ_CHECK(elements == t->count);
        FUZZ_CHECK(pp_safetensors_find(tensors, t->name) == t);
        FUZZ_CHECK(t->data >= bytes + 8 && t->data + t->count * t->type->bytes <= bytes + length);
        sum += t->count * t->type->bytes;
        check_numbers(t);
    }
    FUZZ_CHECK(!pp_safetensors_find(tensors, "no such tensor"));
    FUZZ_CHECK(sum <= (int64_t)length - 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { DATA_BYTES = 64 };
    struct pp_arena *arena = pp_arena_create();
    struct pp_safetensors tensors;
    struct pp_error err = {0};

    if (size > 0) {
        const bool is_header = data[0] & 1;
        const size_t length = size - 1 + (is_header ? 8 + DATA_BYTES : 0);
        unsigned char *bytes = calloc(length + 1, 1); /* an end that a sanitizer sees */
        for (int i = 0; is_header && i < 8; i++)
            bytes[i] = (unsigned char)((uint64_t)(size - 1) >> (8 * i));
        memcpy(bytes + (is_header ? 8 : 0), data + 1, size - 1);
        const enum pp_status status =
            pp_safetensors_parse(arena, "f", bytes, length, &tensors, &err);
        if (status == PP_OK)
            check_tensors(&tensors, bytes, length);
        else
            FUZZ_CHECK(err.message[0] == 'f' && (status == PP_EINVAL || status == PP_EFAIL));
        free(bytes);
    }
    pp_arena_destroy(arena);
    return 0;
}
