/* Tokens as text: the table of a tokenizer the other way round. */
#include "exec/generate/token_text.h"

static void take(struct pp_token_bytes *of, int vocab, size_t id, const void *bytes, size_t length)
{
    if (id < (size_t)vocab)
        of[id] = (struct pp_token_bytes){bytes, length};
}

void pp_token_texts_make(struct pp_arena *arena, const struct pp_tokenizer *tokenizer, int vocab,
                         struct pp_token_texts *texts)
{
    struct pp_token_bytes *of = PP_ARRAY(arena, struct pp_token_bytes, vocab);

    *texts = (struct pp_token_texts){tokenizer, of, vocab};
    if (!tokenizer) {
        char *bytes = pp_arena_alloc_raw(arena, 256);
        for (int b = 0; b < 256; b++) {
            bytes[b] = (char)b;
            take(of, vocab, (size_t)b, &bytes[b], 1);
        }
        return;
    }
    for (size_t i = 0; i < tokenizer->ids.capacity; i++) {
        const struct pp_bytes_slot *slot = &tokenizer->ids.slots[i];
        if (slot->bytes)
            take(of, vocab, slot->value, slot->bytes, slot->length);
    }
    for (int i = 0; i < tokenizer->special_count; i++) {
        const struct pp_special *special = &tokenizer->specials[i];
        take(of, vocab, (size_t)special->id, special->text, special->length);
    }
}

struct pp_token_bytes pp_token_text(const struct pp_token_texts *texts, int32_t token)
{
    static const char UNKNOWN[] = "\xef\xbf\xbd";
    const bool is_known = token >= 0 && token < texts->vocab && texts->of[token].length > 0;

    return is_known ? texts->of[token] : (struct pp_token_bytes){UNKNOWN, sizeof UNKNOWN - 1};
}

static void encode_bytes(struct pp_arena *arena, struct pp_named_bytes text,
                         struct pp_token_list *tokens)
{
    int32_t *ids = PP_ARRAY(arena, int32_t, text.length + 1);

    for (size_t i = 0; i < text.length; i++)
        ids[i] = (unsigned char)text.bytes[i];
    *tokens = (struct pp_token_list){ids, text.length};
}

enum pp_status pp_token_texts_encode(struct pp_arena *arena, const struct pp_token_texts *texts,
                                     struct pp_named_bytes text, struct pp_token_list *tokens,
                                     struct pp_error *err)
{
    if (texts->tokenizer)
        PP_TRY(pp_tokenizer_encode(arena, texts->tokenizer, text, tokens, err));
    else
        encode_bytes(arena, text, tokens);
    for (size_t i = 0; i < tokens->count; i++)
        if (tokens->ids[i] >= texts->vocab)
            return pp_error_set(err, PP_EINVAL,
                                "%s: token %zu is %d, but the model knows those below %d; %s",
                                text.name, i, tokens->ids[i], texts->vocab,
                                texts->tokenizer ? "give the model's own --tokenizer"
                                                 : "without --tokenizer each byte is a token");
    return PP_OK;
}
