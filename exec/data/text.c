/* Text to train on: the samples of a step, as tokens and their successors. */
#include "exec/data/text.h"

#include "core/random.h"
#include "core/text/file.h"
#include "exec/data/text_builtin.h"

#include <zlib.h>

/* ---- kinds ----------------------------------------------------------------------------------- */

enum { MAGIC = 20240520, VERSION = 1, HEADER_BYTES = 256 * 4 };

static uint32_t u32_at(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static int byte_at(const struct pp_text *text, size_t i)
{
    return text->bytes[i];
}

static int u16_at(const struct pp_text *text, size_t i)
{
    return text->bytes[2 * i] | text->bytes[2 * i + 1] << 8;
}

static int encoded_at(const struct pp_text *text, size_t i)
{
    return ((const int32_t *)(const void *)text->bytes)[i];
}

/* Skips the header of a shard. text->count is in bytes before, in tokens after. */
static enum pp_status open_shard(struct pp_text *text, struct pp_error *err)
{
    if (text->count < HEADER_BYTES || u32_at(text->bytes) != MAGIC)
        return pp_error_set(err, PP_EINVAL,
                            "%s is no shard of 16-bit tokens: it does not begin with the number %d "
                            "in a header of %d bytes",
                            text->name, MAGIC, HEADER_BYTES);
    if (u32_at(text->bytes + 4) != VERSION)
        return pp_error_set(err, PP_EINVAL,
                            "%s:4: version %lu of a shard of tokens; only version %d is known "
                            "(that of 16-bit tokens)",
                            text->name, (unsigned long)u32_at(text->bytes + 4), VERSION);
    const size_t stated = u32_at(text->bytes + 8), bytes = text->count - HEADER_BYTES;
    if (bytes != 2 * stated)
        return pp_error_set(err, PP_EINVAL,
                            "%s:8: its header says %zu tokens, that is %zu bytes after the header, "
                            "but %zu follow",
                            text->name, stated, 2 * stated, bytes);
    text->bytes += HEADER_BYTES;
    text->count = stated;
    return PP_OK;
}

static const struct kind {
    const char *token, *tokens;                                         /* in messages */
    size_t bytes;                                                       /* of a token */
    enum pp_status (*open)(struct pp_text *text, struct pp_error *err); /* NULL = no header */
    int (*at)(const struct pp_text *text, size_t i);
} KINDS[PP_TOKEN_KINDS] = {
    [PP_TOKENS_BYTES] = {"byte", "bytes", 1, NULL, byte_at},
    [PP_TOKENS_U16] = {"token", "tokens", 2, open_shard, u16_at},
    [PP_TOKENS_ENCODED] = {"token", "tokens", sizeof(int32_t), NULL, encoded_at},
};

/* ---- loading --------------------------------------------------------------------------------- */

static enum pp_status check_length(const struct pp_text *text, int seq, struct pp_error *err)
{
    const size_t needed = (size_t)seq + 1;

    if (text->count >= needed)
        return PP_OK;
    if (text->count == 0)
        return pp_error_set(err, PP_EINVAL,
                            "%s is empty: a sample of %d tokens and its target takes %zu %s",
                            text->name, seq, needed, KINDS[text->kind].tokens);
    return pp_error_set(err, PP_EINVAL,
                        "%s has %zu %s: a sample of %d tokens and its target takes %zu; the "
                        "longest sequence that it allows is %zu",
                        text->name, text->count, KINDS[text->kind].tokens, seq, needed,
                        text->count - 1);
}

static enum pp_status check_tokens(const struct pp_text *text, int vocab, struct pp_error *err)
{
    const struct kind *kind = &KINDS[text->kind];
    size_t first = text->count;
    int largest = 0;

    for (size_t i = 0; i < text->count; i++) {
        const int token = kind->at(text, i);
        if (token >= vocab && first == text->count)
            first = i;
        if (token > largest)
            largest = token;
    }
    if (first == text->count)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s has %s %d at offset %zu, but the model has a vocabulary of %d; the "
                        "smallest that would do is %d",
                        text->name, kind->token, kind->at(text, first), first, vocab, largest + 1);
}

static enum pp_status read_bytes(struct pp_arena *arena, const char *path, struct pp_text *text,
                                 struct pp_error *err)
{
    char *bytes;

    *text = (struct pp_text){"built-in text", pp_text_builtin_bytes, pp_text_builtin_count,
                             PP_TOKENS_BYTES};
    if (!path)
        return PP_OK;
    text->name = path;
    PP_TRY(pp_file_read(arena, path, &bytes, &text->count, err));
    text->bytes = (const unsigned char *)bytes;
    return PP_OK;
}

enum pp_status pp_text_load(struct pp_arena *arena, const char *path, enum pp_token_kind kind,
                            int seq, int vocab, struct pp_text *text, struct pp_error *err)
{
    PP_TRY(read_bytes(arena, path, text, err));
    text->name = pp_arena_strdup(arena, text->name);
    text->kind = kind;
    if (KINDS[kind].open)
        PP_TRY(KINDS[kind].open(text, err));
    PP_TRY(check_length(text, seq, err));
    return check_tokens(text, vocab, err);
}

enum pp_status pp_text_encode(struct pp_arena *arena, const char *path,
                              const struct pp_tokenizer *tokenizer, int seq, int vocab,
                              struct pp_text *text, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_token_list tokens;

    if (tokenizer->vocab > vocab)
        return pp_error_set(err, PP_EINVAL,
                            "%s has %d tokens, but the model has a vocabulary of %d; the smallest "
                            "that would do is %d",
                            tokenizer->name, tokenizer->vocab, vocab, tokenizer->vocab);
    PP_TRY(read_bytes(scratch, path, text, err));
    const struct pp_named_bytes bytes = {text->name, (const char *)text->bytes, text->count};
    PP_TRY(pp_tokenizer_encode(arena, tokenizer, bytes, &tokens, err));
    *text = (struct pp_text){.name = pp_arena_strdup(arena, text->name),
                             .bytes = (const unsigned char *)tokens.ids,
                             .count = tokens.count,
                             .kind = PP_TOKENS_ENCODED};
    return check_length(text, seq, err);
}

/* ---- samples --------------------------------------------------------------------------------- */

__extension__ typedef unsigned __int128 product;

/* Draws the first token of a sample, uniformly among positions with room for it and its last
 * target. It is the high half of 64 random bits times the number of positions (Lemire, Fast random
 * integer generation in an interval, 2019). The bias is below 2^-30 for any file that is read. */
static size_t position(const struct pp_text *text, uint64_t seed, int64_t step, int64_t index,
                       int seq)
{
    const uint64_t bits = pp_random_bits(pp_random_stream(~seed, (uint64_t)step), (uint64_t)index);

    return (size_t)(((product)bits * (text->count - (size_t)seq)) >> 64);
}

void pp_text_sample(const struct pp_text *text, uint64_t seed, int64_t step, int64_t index, int seq,
                    int32_t *ids, int32_t *targets)
{
    const size_t first = position(text, seed, step, index, seq);
    int (*const at)(const struct pp_text *, size_t) = KINDS[text->kind].at;

    for (int t = 0; t < seq; t++) {
        ids[t] = at(text, first + (size_t)t);
        targets[t] = at(text, first + (size_t)t + 1);
    }
}

uint32_t pp_text_crc(const struct pp_text *text)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), text->bytes,
                             text->count * KINDS[text->kind].bytes);
}
