/* Four bytes for the length of the data, then an index of Megatron. What is accepted names all of
 * the data, and every token can be read. */
#include "exec/data/format.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

enum { MOST_DATA = 1 << 16 };

static void check_tokens(struct pp_arena *arena, const struct pp_indexed *indexed, size_t bytes)
{
    unsigned char *data = pp_arena_alloc(arena, bytes + 1);
    int64_t sum = 0;

    memset(data, 0x7f, bytes);
    FUZZ_CHECK(indexed->tokens * indexed->type->bytes == bytes);
    for (size_t i = 0; i < indexed->tokens; i++)
        sum |= indexed->type->at(data, i);
    FUZZ_CHECK(sum >= 0 && (indexed->tokens == 0 || sum <= indexed->type->most));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_indexed indexed;

    if (size < 4)
        return 0;
    const uint32_t bytes = pp_u32_at(data);
    const struct pp_named_bytes index = {"f", (const char *)data + 4, size - 4};
    if (pp_indexed_parse(index, "data", bytes, &indexed, &err) != PP_OK)
        FUZZ_CHECK(err.status == PP_EINVAL && err.message[0]);
    else if (bytes <= MOST_DATA)
        check_tokens(arena, &indexed, bytes);
    return 0;
}
