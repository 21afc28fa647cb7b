#include "exec/text.h"

#include "core/file.h"
#include "core/random.h"
#include "exec/text_builtin.h"

#include <zlib.h>

static enum pp_status check_length(const struct pp_text *text, int seq, struct pp_error *err)
{
    const size_t needed = (size_t)seq + 1;

    if (text->count >= needed)
        return PP_OK;
    if (text->count == 0)
        return pp_error_set(err, PP_EINVAL,
                            "%s is empty: a sample of %d tokens and its target takes %zu bytes",
                            text->name, seq, needed);
    return pp_error_set(err, PP_EINVAL,
                        "%s has %zu bytes: a sample of %d tokens and its target takes %zu; the "
                        "longest sequence that it allows is %zu",
                        text->name, text->count, seq, needed, text->count - 1);
}

static enum pp_status check_bytes(const struct pp_text *text, int vocab, struct pp_error *err)
{
    size_t first = text->count;
    int largest = 0;

    for (size_t i = 0; i < text->count; i++) {
        if (text->bytes[i] >= vocab && first == text->count)
            first = i;
        if (text->bytes[i] > largest)
            largest = text->bytes[i];
    }
    if (first == text->count)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s has byte %d at offset %zu, but the model has a vocabulary of %d; the "
                        "smallest that would do is %d",
                        text->name, text->bytes[first], first, vocab, largest + 1);
}

enum pp_status pp_text_load(struct pp_arena *arena, const char *path, int seq, int vocab,
                            struct pp_text *text, struct pp_error *err)
{
    *text = (struct pp_text){"built-in text", pp_text_builtin_bytes, pp_text_builtin_count};
    if (path) {
        char *bytes;

        text->name = pp_arena_strdup(arena, path);
        PP_TRY(pp_file_read(arena, path, &bytes, &text->count, err));
        text->bytes = (const unsigned char *)bytes;
    }
    PP_TRY(check_length(text, seq, err));
    return check_bytes(text, vocab, err);
}

__extension__ typedef unsigned __int128 product;

/* Uniform over the positions at which a sample and its last target fit: the product of 64 random
 * bits and their number, without its low half (Lemire, Fast random integer generation in an
 * interval, 2019); what is uneven about it is below 2^-30 for any file that is read. */
static size_t position(const struct pp_text *text, uint64_t seed, int64_t step, int64_t index,
                       int seq)
{
    const uint64_t bits = pp_random_bits(pp_random_stream(~seed, (uint64_t)step), (uint64_t)index);

    return (size_t)(((product)bits * (text->count - (size_t)seq)) >> 64);
}

void pp_text_sample(const struct pp_text *text, uint64_t seed, int64_t step, int64_t index, int seq,
                    int32_t *ids, int32_t *targets)
{
    const unsigned char *bytes = text->bytes + position(text, seed, step, index, seq);

    for (int t = 0; t < seq; t++) {
        ids[t] = bytes[t];
        targets[t] = bytes[t + 1];
    }
}

uint32_t pp_text_crc(const struct pp_text *text)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), text->bytes, text->count);
}
