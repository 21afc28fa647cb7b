/* Data to train on: the samples of a step, as tokens and their successors. */
#include "exec/data/text.h"

#include "exec/data/format.h"
#include "exec/data/text_builtin.h"

#include <sys/stat.h>
#include <zlib.h>

/* ---- checks ---------------------------------------------------------------------------------- */

static enum pp_status check_length(const struct pp_text *text, struct pp_error *err)
{
    const size_t needed = (size_t)text->seq + 1;

    if (text->count >= needed)
        return PP_OK;
    if (text->count == 0)
        return pp_error_set(err, PP_EINVAL,
                            "%s is empty: a sample of %d tokens and its target takes %zu %s",
                            text->name, text->seq, needed, pp_text_unit(text));
    return pp_error_set(err, PP_EINVAL,
                        "%s has %zu %s: a sample of %d tokens and its target takes %zu; the "
                        "longest sequence that it allows is %zu",
                        text->name, text->count, pp_text_unit(text), text->seq, needed,
                        text->count - 1);
}

static enum pp_status check_tokens(const struct pp_text *text, struct pp_error *err)
{
    const struct pp_token_file *file = text->files;
    size_t first = text->count;
    int64_t largest = 0;

    for (size_t i = 0; i < text->count && text->type->most >= text->vocab; i++) {
        const int64_t token = text->type->at(file->bytes, i);
        if (token >= text->vocab && first == text->count)
            first = i;
        if (token > largest)
            largest = token;
    }
    if (first == text->count)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s has %s %lld at offset %zu, but the model has a vocabulary of %d; the "
                        "smallest that would do is %lld",
                        text->name, text->format->token,
                        (long long)text->type->at(file->bytes, first), first, text->vocab,
                        (long long)largest + 1);
}

/* ---- loading --------------------------------------------------------------------------------- */

static const struct pp_data_format *const FORMATS[PP_TOKEN_KINDS] = {
    [PP_TOKENS_BYTES] = &pp_format_bytes,
    [PP_TOKENS_U16] = &pp_format_shards,
    [PP_TOKENS_MEGATRON] = &pp_format_megatron,
};

void pp_text_of_bytes(struct pp_arena *arena, struct pp_named_bytes bytes, int seq, int vocab,
                      struct pp_text *text)
{
    *text = (struct pp_text){.name = bytes.name,
                             .format = &pp_format_bytes,
                             .type = &pp_token_types[PP_U8],
                             .seq = seq,
                             .vocab = vocab};
    pp_text_one_file(arena, text,
                     (struct pp_token_file){.name = bytes.name,
                                            .bytes = (const unsigned char *)bytes.bytes,
                                            .count = bytes.length});
}

/* Finds the format that data is of by its name, or by its first bytes; else it is plain bytes. */
static enum pp_status find_format(struct pp_arena *arena, const char *where,
                                  const struct pp_data_format **format, struct pp_error *err)
{
    const struct pp_mapped *mapped;
    struct pp_named_bytes file;
    struct stat info;

    for (int kind = PP_TOKEN_KINDS - 1; kind > PP_TOKENS_AUTO; kind--)
        if (FORMATS[kind]->is_named && FORMATS[kind]->is_named(arena, where)) {
            *format = FORMATS[kind];
            return PP_OK;
        }
    *format = &pp_format_bytes;
    if (stat(where, &info) != 0 || !S_ISREG(info.st_mode)) /* a pipe can be read only once */
        return PP_OK;
    PP_TRY(pp_data_open(arena, where, &file, &mapped, err));
    for (int kind = PP_TOKENS_BYTES; kind < PP_TOKEN_KINDS; kind++)
        if (FORMATS[kind]->is_begun && FORMATS[kind]->is_begun(file))
            *format = FORMATS[kind];
    return PP_OK;
}

static enum pp_status open_text(struct pp_arena *arena, const struct pp_text_wish *wish,
                                struct pp_text *text, struct pp_error *err)
{
    const struct pp_named_bytes builtin = {"built-in text", (const char *)pp_text_builtin_bytes,
                                           pp_text_builtin_count};

    pp_text_of_bytes(arena, builtin, wish->seq, wish->vocab, text);
    if (!wish->where)
        return PP_OK;
    text->name = pp_arena_strdup(arena, wish->where);
    text->format = FORMATS[wish->kind];
    text->files = NULL;
    text->count = 0;
    if (wish->kind == PP_TOKENS_AUTO)
        PP_TRY(find_format(arena, wish->where, &text->format, err));
    return text->format->open(arena, wish->where, text, err);
}

enum pp_status pp_text_load(struct pp_arena *arena, const struct pp_text_wish *wish,
                            struct pp_text *text, struct pp_error *err)
{
    PP_TRY(open_text(arena, wish, text, err));
    PP_TRY(check_length(text, err));
    if (!text->is_checked_late)
        return check_tokens(text, err);
    for (int i = 0; i < text->file_count; i++)
        pp_data_read_sparsely(text->files[i].mapped);
    return PP_OK;
}

/* A tokenizer counts its tokens as a file of them would. */
static const struct pp_data_format ENCODED = {.token = "token", .tokens = "tokens"};

enum pp_status pp_text_encode(struct pp_arena *arena, const struct pp_text_wish *wish,
                              const struct pp_tokenizer *tokenizer, struct pp_text *text,
                              struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_text_wish bytes = {wish->where, PP_TOKENS_BYTES, wish->seq, wish->vocab};
    struct pp_token_list tokens;

    if (tokenizer->vocab > wish->vocab)
        return pp_error_set(err, PP_EINVAL,
                            "%s has %d tokens, but the model has a vocabulary of %d; the smallest "
                            "that would do is %d",
                            tokenizer->name, tokenizer->vocab, wish->vocab, tokenizer->vocab);
    PP_TRY(open_text(scratch, &bytes, text, err));
    const struct pp_named_bytes read = {text->name, (const char *)text->files->bytes, text->count};
    PP_TRY(pp_tokenizer_encode(arena, tokenizer, read, &tokens, err));
    text->name = pp_arena_strdup(arena, text->name);
    text->format = &ENCODED;
    text->type = &pp_token_types[PP_I32];
    pp_text_one_file(arena, text,
                     (struct pp_token_file){.name = text->name,
                                            .bytes = (const unsigned char *)tokens.ids,
                                            .count = tokens.count});
    return check_length(text, err);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Returns the file of token i, by halves. */
static const struct pp_token_file *file_of(const struct pp_text *text, size_t i)
{
    int from = 0, to = text->file_count;

    while (to - from > 1) {
        const int middle = from + (to - from) / 2;
        if (text->files[middle].first <= i)
            from = middle;
        else
            to = middle;
    }
    return &text->files[from];
}

static enum pp_status take(const struct pp_text *text, const struct pp_token_file *file, size_t i,
                           int32_t *id, struct pp_error *err)
{
    const int64_t token = text->type->at(file->bytes, i - file->first);

    *id = (int32_t)token;
    if (token >= 0 && token < text->vocab)
        return PP_OK;
    return pp_error_set(
        err, PP_EINVAL, "%s has %s %lld at offset %zu, but the model has a vocabulary of %d",
        file->name, text->format->token, (long long)token, i - file->first, text->vocab);
}

enum pp_status pp_text_sample(const struct pp_text *text, int64_t step, int64_t index, int32_t *ids,
                              int32_t *targets, struct pp_error *err)
{
    const size_t first = pp_order_first(&text->order, text->count, text->seq, step, index);
    const struct pp_token_file *file = NULL;
    int32_t id = 0;

    for (int t = 0; t <= text->seq; t++) {
        const size_t i = first + (size_t)t;
        if (!file || i - file->first >= file->count) {
            file = file_of(text, i);
            PP_TRY(pp_data_is_whole(file->mapped, err));
        }
        PP_TRY(take(text, file, i, &id, err));
        if (t < text->seq)
            ids[t] = id;
        if (t > 0)
            targets[t - 1] = id;
    }
    if (text->masking.words > 0)
        pp_mask_words(&text->masking, step, index, text->seq, text->vocab, ids, targets);
    return PP_OK;
}

/* ---- what it is ------------------------------------------------------------------------------ */

static uint32_t crc_of(uint32_t crc, const void *bytes, size_t count)
{
    return (uint32_t)crc32_z(crc, bytes, count);
}

uint32_t pp_text_crc(const struct pp_text *text)
{
    enum { END_BYTES = 4096 };
    uint32_t crc = (uint32_t)crc32_z(0, NULL, 0);

    if (text->index.length > 0)
        crc = crc_of(crc, text->index.bytes, text->index.length);
    for (int i = 0; i < text->file_count; i++) {
        const size_t bytes = text->files[i].count * text->type->bytes;
        const size_t end = text->is_checked_late && bytes > END_BYTES ? END_BYTES : bytes;
        crc = crc_of(crc, text->files[i].bytes, end);
        if (end < bytes)
            crc = crc_of(crc, text->files[i].bytes + bytes - end, end);
    }
    return crc;
}

enum pp_sample_order_kind pp_text_usual_order(const struct pp_text *text)
{
    return text->format->usual_order;
}

const char *pp_text_unit(const struct pp_text *text)
{
    return text->format->tokens;
}
