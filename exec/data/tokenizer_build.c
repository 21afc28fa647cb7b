/* Builds a tokenizer from its tokens and merges, one by one. */
#include "exec/data/tokenizer_build.h"

#include <assert.h>
#include <string.h>

enum { MOST_MERGES = 1 << 24 };

/* ---- spelling -------------------------------------------------------------------------------- */

/* Files spell a printable byte as itself, any other byte as the next letter from U+0100 on
 * (bytes_to_unicode in openai/gpt-2, src/encoder.py). */
static bool is_printable(int byte)
{
    return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

enum { LETTERS = 324 }; /* 256, and the 68 bytes that are not printable */

/* Fills letters[letter] with the byte that it spells; -1 if it spells none. */
static void fill_letters(int16_t letters[LETTERS])
{
    int next = 256;

    memset(letters, 0xff, LETTERS * sizeof *letters);
    for (int byte = 0; byte < 256; byte++)
        letters[is_printable(byte) ? byte : next++] = (int16_t)byte;
    assert(next == LETTERS);
}

/* Reads a letter, of one or two bytes of UTF-8; returns -1 for anything else. */
static int next_letter(const unsigned char **at, const unsigned char *end)
{
    const unsigned char *p = *at;

    if (p[0] < 0x80) {
        *at = p + 1;
        return p[0];
    }
    if ((p[0] & 0xe0) != 0xc0 || end - p < 2 || (p[1] & 0xc0) != 0x80)
        return -1;
    *at = p + 2;
    return (p[0] & 0x1f) << 6 | (p[1] & 0x3f);
}

/* Converts letters to bytes, at most as many. Is false if a letter spells no byte. */
static bool read_letters(struct pp_spelled spelled, unsigned char *bytes, size_t *count)
{
    const unsigned char *at = (const unsigned char *)spelled.text, *end = at + spelled.length;
    int16_t letters[LETTERS];

    fill_letters(letters);
    for (*count = 0; at < end; bytes++, ++*count) {
        const int letter = next_letter(&at, end);
        if (letter < 0 || letter >= LETTERS || letters[letter] < 0)
            return false;
        *bytes = (unsigned char)letters[letter];
    }
    return true;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

enum pp_status pp_tokenizer_begin(struct pp_arena *arena, const char *name,
                                  struct pp_tokenizer **tokenizer, struct pp_error *err)
{
    struct pp_tokenizer *t = *tokenizer = PP_NEW(arena, struct pp_tokenizer);

    t->name = pp_arena_strdup(arena, name);
    t->ids.arena = t->rank.arena = arena;
    return pp_splitter_make(arena, &t->splitter, err);
}

static enum pp_status take_token(struct pp_arena *arena, struct pp_tokenizer *t,
                                 struct pp_spelled spelled, const json_t *value,
                                 struct pp_error *err)
{
    const json_int_t id = json_integer_value(value);
    unsigned char *bytes = pp_arena_alloc_raw(arena, spelled.length + 1);
    size_t length;

    if (!json_is_integer(value) || id < 0 || id >= PP_MOST_TOKENS)
        return pp_error_set(err, PP_EINVAL,
                            "the token after %zu others has an id that is no integer from 0 to %d",
                            t->ids.count, PP_MOST_TOKENS - 1);
    if (spelled.length == 0)
        return pp_error_set(err, PP_EINVAL, "token %d is empty", (int)id);
    if (!read_letters(spelled, bytes, &length))
        return pp_error_set(err, PP_EINVAL,
                            "token %d has a letter that represents no byte: only byte-level "
                            "tokenizers, as GPT-2's, are known",
                            (int)id);
    pp_bytes_map_add(&t->ids, bytes, length, (size_t)id);
    t->vocab = id >= t->vocab ? (int32_t)id + 1 : t->vocab;
    return PP_OK;
}

static enum pp_status check_ids(const struct pp_tokenizer *t, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    bool *is_taken = PP_ARRAY(scratch, bool, t->vocab);

    for (size_t i = 0; i < t->ids.capacity; i++) {
        const struct pp_bytes_slot *slot = &t->ids.slots[i];
        if (!slot->bytes)
            continue;
        if (is_taken[slot->value])
            return pp_error_set(err, PP_EINVAL, "two tokens have the id %zu", slot->value);
        is_taken[slot->value] = true;
    }
    return PP_OK;
}

static enum pp_status take_bytes(struct pp_tokenizer *t, struct pp_error *err)
{
    for (int i = 0; i < 256; i++) {
        const unsigned char byte = (unsigned char)i;
        const size_t *id = pp_bytes_map_find(&t->ids, &byte, 1);
        if (!id)
            return pp_error_set(err, PP_EINVAL,
                                "byte %d is no token by itself, so not every text could be encoded",
                                i);
        t->byte_id[i] = (int32_t)*id;
    }
    return PP_OK;
}

enum pp_status pp_tokenizer_take_vocab(struct pp_arena *arena, struct pp_tokenizer *t,
                                       const char *name, const json_t *vocab, struct pp_error *err)
{
    const char *key;
    json_t *value;
    size_t length;

    if (!json_is_object(vocab))
        return pp_error_set(err, PP_EINVAL, "%s: the vocabulary is no object of tokens and ids",
                            name);
    json_object_keylen_foreach((json_t *)vocab, key, length, value)
    {
        const struct pp_spelled spelled = {key, length};
        if (take_token(arena, t, spelled, value, err) != PP_OK)
            return pp_error_prefix(err, "%s: ", name);
    }
    if (check_ids(t, err) != PP_OK || take_bytes(t, err) != PP_OK)
        return pp_error_prefix(err, "%s: ", name);
    return PP_OK;
}

void pp_tokenizer_take_special(struct pp_arena *arena, struct pp_tokenizer *t,
                               struct pp_special special)
{
    if (special.length == 0)
        return;
    PP_PUSH(arena, t->specials, t->special_count, t->special_capacity);
    int i = t->special_count - 1;
    for (; i > 0 && t->specials[i - 1].length < special.length; i--)
        t->specials[i] = t->specials[i - 1];
    t->specials[i] = special;
    t->vocab = special.id >= t->vocab ? special.id + 1 : t->vocab;
}

/* ---- merges ---------------------------------------------------------------------------------- */

enum pp_status pp_tokenizer_take_merge(struct pp_arena *arena, struct pp_tokenizer *t,
                                       struct pp_spelled left, struct pp_spelled right,
                                       struct pp_error *err)
{
    unsigned char *bytes = pp_arena_alloc_raw(arena, left.length + right.length + 1);
    size_t left_count, right_count;

    if (!read_letters(left, bytes, &left_count) ||
        !read_letters(right, bytes + left_count, &right_count))
        return pp_error_set(err, PP_EINVAL, "a letter represents no byte");
    const size_t *a = pp_bytes_map_find(&t->ids, bytes, left_count),
                 *b = pp_bytes_map_find(&t->ids, bytes + left_count, right_count),
                 *both = pp_bytes_map_find(&t->ids, bytes, left_count + right_count);
    if (!a || !b || !both)
        return pp_error_set(err, PP_EINVAL, "%s is no token of the vocabulary",
                            !a   ? "the left part"
                            : !b ? "the right part"
                                 : "what both parts make");
    if (t->merge_count == MOST_MERGES)
        return pp_error_set(err, PP_EINVAL, "there are more than %d merges", MOST_MERGES);
    int32_t *pair = PP_ARRAY(arena, int32_t, 2);
    pair[0] = (int32_t)*a;
    pair[1] = (int32_t)*b;
    const size_t *before = pp_bytes_map_find(&t->rank, pair, 2 * sizeof *pair);
    if (before)
        return pp_error_set(err, PP_EINVAL, "the same merge is number %zu already", *before + 1);
    pp_bytes_map_add(&t->rank, pair, 2 * sizeof *pair, t->merge_count);
    t->merged[t->merge_count++] = (int32_t)*both;
    return PP_OK;
}

enum pp_status pp_tokenizer_take_line(struct pp_arena *arena, struct pp_tokenizer *t,
                                      struct pp_spelled line, struct pp_error *err)
{
    const char *space = memchr(line.text, ' ', line.length);
    const size_t left = space ? (size_t)(space - line.text) : line.length;

    if (!space || left == 0 || left + 1 == line.length ||
        memchr(space + 1, ' ', line.length - left - 1))
        return pp_error_set(err, PP_EINVAL, "a merge is two tokens with a space between");
    return pp_tokenizer_take_merge(arena, t, (struct pp_spelled){line.text, left},
                                   (struct pp_spelled){space + 1, line.length - left - 1}, err);
}
