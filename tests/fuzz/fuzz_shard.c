/* A shard of tokens: what is accepted has as many tokens as it says, and all can be read. */
#include "exec/data/format.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pp_error err = {0};
    struct pp_token_file shard;
    int64_t sum = 0;

    if (pp_shard_parse((struct pp_named_bytes){"f", (const char *)data, size}, &shard, &err) !=
        PP_OK) {
        FUZZ_CHECK(err.status == PP_EINVAL && err.message[0]);
        return 0;
    }
    FUZZ_CHECK(shard.bytes + 2 * shard.count == data + size);
    for (size_t i = 0; i < shard.count; i++)
        sum |= pp_token_types[PP_U16].at(shard.bytes, i);
    FUZZ_CHECK(sum >= 0 && sum <= UINT16_MAX);
    return 0;
}
