/* Three parts with a line "--" between: a vocabulary, merges, a text. The vocabulary is completed
 * by the bytes that it lacks, so that most inputs come as far as the text. What is encoded has the
 * bytes of the text. "---" instead of the first "--": the first part is a tokenizer.json as it is.
 */
#define _GNU_SOURCE /* memmem */
#include "exec/data/tokenizer.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

static struct pp_named_bytes cut(struct pp_named_bytes *rest, const char *separator)
{
    const struct pp_named_bytes whole = *rest;
    const size_t length = strlen(separator);
    const char *at = memmem(whole.bytes, whole.length, separator, length);

    if (!at) {
        rest->length = 0;
        return whole;
    }
    rest->bytes = at + length;
    rest->length = (size_t)(whole.bytes + whole.length - rest->bytes);
    return (struct pp_named_bytes){whole.name, whole.bytes, (size_t)(at - whole.bytes)};
}

/* {"!": 1000033, ..., and what the input says. */
static struct pp_named_bytes with_bytes(struct pp_arena *arena, struct pp_named_bytes vocab)
{
    char *text = pp_arena_alloc(arena, 8192 + vocab.length);
    size_t used = 0;
    int next = 256;

    for (int byte = 0; byte < 256; byte++) {
        const bool is_printable =
            (byte > ' ' && byte <= '~') || (byte >= 0xa1 && byte <= 0xff && byte != 0xad);
        used += (size_t)sprintf(text + used, "%s\"\\u%04x\": %d", byte ? "," : "{",
                                is_printable ? byte : next++, 1000000 + byte);
    }
    text[used++] = vocab.length > 0 ? ',' : '}';
    memcpy(text + used, vocab.bytes, vocab.length);
    return (struct pp_named_bytes){"f", text, used + vocab.length};
}

/* [id] -> its bytes; specials have theirs. */
static const struct pp_bytes_slot *token_of(const struct pp_tokenizer *t, int32_t id)
{
    for (size_t i = 0; i < t->ids.capacity; i++)
        if (t->ids.slots[i].bytes && t->ids.slots[i].value == (size_t)id)
            return &t->ids.slots[i];
    return NULL;
}

static size_t check_special(const struct pp_tokenizer *t, int32_t id, const char *at, size_t rest)
{
    for (int i = 0; i < t->special_count; i++)
        if (t->specials[i].id == id && t->specials[i].length <= rest &&
            memcmp(t->specials[i].text, at, t->specials[i].length) == 0)
            return t->specials[i].length;
    FUZZ_CHECK(!"a token has other bytes than the text");
    return 0;
}

static void check_text(const struct pp_tokenizer *t, struct pp_named_bytes text,
                       struct pp_token_list tokens)
{
    size_t at = 0;

    FUZZ_CHECK(tokens.count <= text.length);
    for (size_t i = 0; i < tokens.count; i++) {
        const struct pp_bytes_slot *token = token_of(t, tokens.ids[i]);
        const size_t rest = text.length - at;
        FUZZ_CHECK(tokens.ids[i] >= 0 && tokens.ids[i] < t->vocab);
        at +=
            token && token->length <= rest && !memcmp(token->bytes, text.bytes + at, token->length)
                ? token->length
                : check_special(t, tokens.ids[i], text.bytes + at, rest);
    }
    FUZZ_CHECK(at == text.length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_named_bytes rest = {"f", (const char *)data, size};
    const bool is_whole = memmem(data, size, "\n---\n", 5);
    struct pp_named_bytes first = cut(&rest, is_whole ? "\n---\n" : "\n--\n");
    const struct pp_named_bytes merges =
        is_whole ? (struct pp_named_bytes){0} : cut(&rest, "\n--\n");
    struct pp_tokenizer *tokenizer;
    struct pp_token_list tokens;
    struct pp_error err = {0};

    const enum pp_status status =
        is_whole ? pp_tokenizer_parse_json(arena, first, &tokenizer, &err)
                 : pp_tokenizer_parse(arena, with_bytes(arena, first), merges, &tokenizer, &err);
    if (status != PP_OK)
        FUZZ_CHECK(err.status == PP_EINVAL && err.message[0]);
    else if (pp_tokenizer_encode(arena, tokenizer, rest, &tokens, &err) == PP_OK)
        check_text(tokenizer, rest, tokens);
    else
        FUZZ_CHECK(err.status == PP_EINVAL && err.message[0]);
    return 0;
}
