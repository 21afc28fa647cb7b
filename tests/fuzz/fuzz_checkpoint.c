/* A manifest is read or refused; what is read prints as the same bytes. The first byte says whether
 * the rest is taken as it is or gets the correct checksum, which lets the next reader be
 * reached. */
#include "exec/checkpoint/checkpoint.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <zlib.h>

static void check_manifest(struct pp_arena *arena, const struct pp_manifest *m, const char *text,
                           size_t length)
{
    size_t printed_length;
    const char *printed = pp_manifest_print(arena, m, &printed_length);

    FUZZ_CHECK(m->step >= 0 && m->layer_count == m->identity.value[PP_IDENTITY_LAYERS] + 2);
    FUZZ_CHECK(printed_length == length && !memcmp(printed, text, length));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_manifest manifest;

    if (size > 0) {
        char *text = pp_arena_alloc(arena, size + 16);
        size_t length = size - 1;
        memcpy(text, data + 1, length);
        if (data[0] & 1)
            length += (size_t)snprintf(text + length, 16, "end %08lx\n",
                                       crc32_z(crc32_z(0, NULL, 0), data + 1, length));
        const enum pp_status status = pp_manifest_parse(arena, "f", text, length, &manifest, &err);
        FUZZ_CHECK(status == PP_OK || (status == PP_EINVAL && err.message[0] == 'f'));
        if (status == PP_OK)
            check_manifest(arena, &manifest, text, length);
    }
    pp_arena_destroy(arena);
    return 0;
}
