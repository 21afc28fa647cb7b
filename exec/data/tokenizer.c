/* Byte-pair encoding: text to tokens by the merges of a tokenizer. */
#include "exec/data/tokenizer.h"

#include "core/heap.h"

#include <string.h>

/* ---- merges of a word ------------------------------------------------------------------------ */

enum { NONE = -1 };

/* A part of a word: a byte, or the result of merges. A part merged into another has token NONE. */
struct part {
    int32_t token;
    int32_t previous, next; /* NONE at the ends of the word */
    int64_t rank;           /* of the merge with the next part; NONE = none, or not looked up */
};

static inline bool is_before(uint64_t a, uint64_t b)
{
    return a < b;
}

PP_HEAP(merge_heap, uint64_t, 2, is_before)

struct encoder {
    const struct pp_tokenizer *t;
    struct pp_arena *arena;
    struct part *parts;
    size_t part_capacity;
    struct merge_heap merges; /* rank << 32 | part */
    int32_t *waiting;         /* parts to rank after the merges of the current rank */
    size_t waiting_count, waiting_capacity;
    struct pp_bytes_map words; /* remembered words -> index in spans */
    struct span {
        size_t first, count;
    } * spans; /* places of their tokens in ids */
    size_t span_count, span_capacity;
    int32_t *ids;
    size_t count;
};

/* Looks up the merge of a part with the next part, and pushes it. */
static void rank_part(struct encoder *e, int32_t at)
{
    struct part *part = &e->parts[at];

    if (part->token == NONE || part->next == NONE)
        return;
    const int32_t pair[2] = {part->token, e->parts[part->next].token};
    const size_t *rank = pp_bytes_map_find(&e->t->rank, pair, sizeof pair);
    if (!rank)
        return;
    part->rank = (int64_t)*rank;
    merge_heap_push(e->arena, &e->merges, (uint64_t)*rank << 32 | (uint32_t)at);
}

static void wait_part(struct encoder *e, int32_t at)
{
    e->parts[at].rank = NONE;
    *PP_PUSH(e->arena, e->waiting, e->waiting_count, e->waiting_capacity) = at;
}

static void join(struct encoder *e, int32_t at, int32_t token)
{
    struct part *left = &e->parts[at], *right = &e->parts[left->next];

    left->token = token;
    left->next = right->next;
    if (left->next != NONE)
        e->parts[left->next].previous = at;
    right->token = NONE;
    right->rank = NONE;
    wait_part(e, at);
    if (left->previous != NONE)
        wait_part(e, left->previous);
}

/* Applies the merges of one rank from left to right, before any that they make possible, as GPT-2
 * does. The order matters if the result of a merge is part of a merge of lower rank. */
static void merge_rank(struct encoder *e)
{
    const uint64_t rank = e->merges.data[0] >> 32;

    while (e->merges.count > 0 && e->merges.data[0] >> 32 == rank) {
        const int32_t at = (int32_t)(uint32_t)merge_heap_pop(&e->merges);
        if (e->parts[at].rank == (int64_t)rank)
            join(e, at, e->t->merged[rank]);
    }
    for (size_t i = 0; i < e->waiting_count; i++)
        rank_part(e, e->waiting[i]);
    e->waiting_count = 0;
}

static void encode_bytes(struct encoder *e, const unsigned char *word, size_t length)
{
    if (length > e->part_capacity) {
        e->part_capacity = 2 * length;
        e->parts = PP_ARRAY(e->arena, struct part, e->part_capacity);
    }
    for (size_t i = 0; i < length; i++)
        e->parts[i] = (struct part){.token = e->t->byte_id[word[i]],
                                    .previous = (int32_t)i - 1,
                                    .next = i + 1 < length ? (int32_t)i + 1 : NONE,
                                    .rank = NONE};
    for (size_t i = 0; i < length; i++)
        rank_part(e, (int32_t)i);
    while (e->merges.count > 0)
        merge_rank(e);
    for (int32_t i = 0; i != NONE; i = e->parts[i].next)
        e->ids[e->count++] = e->parts[i].token;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Bytes of the longest remembered word; longer ones rarely repeat. */
enum { LONGEST_REMEMBERED = 64 };

static void encode_word(struct encoder *e, const unsigned char *word, size_t length)
{
    const bool is_kept = length <= LONGEST_REMEMBERED;
    const size_t *known = is_kept ? pp_bytes_map_find(&e->words, word, length) : NULL;

    if (known) {
        const struct span span = e->spans[*known];
        memcpy(e->ids + e->count, e->ids + span.first, span.count * sizeof *e->ids);
        e->count += span.count;
        return;
    }
    const size_t first = e->count;
    encode_bytes(e, word, length);
    if (!is_kept)
        return;
    pp_bytes_map_add(&e->words, word, length, e->span_count);
    *PP_PUSH(e->arena, e->spans, e->span_count, e->span_capacity) =
        (struct span){first, e->count - first};
}

static enum pp_status encode_words(struct encoder *e, const char *text, size_t length,
                                   struct pp_error *err)
{
    for (size_t at = 0, end; at < length; at = end) {
        PP_TRY(pp_split_word(e->t->splitter, text, length, at, &end, err));
        encode_word(e, (const unsigned char *)text + at, end - at);
    }
    return PP_OK;
}

static const struct pp_special *special_at(const struct pp_tokenizer *t, const char *text,
                                           size_t length)
{
    for (int i = 0; i < t->special_count; i++)
        if (t->specials[i].length <= length &&
            memcmp(t->specials[i].text, text, t->specials[i].length) == 0)
            return &t->specials[i];
    return NULL;
}

/* Encodes the special tokens, and the words between them. */
static enum pp_status encode_text(struct encoder *e, struct pp_named_bytes text,
                                  struct pp_error *err)
{
    size_t first = 0, at = 0;

    while (at < text.length) {
        const struct pp_special *special = special_at(e->t, text.bytes + at, text.length - at);
        if (!special) {
            at++;
            continue;
        }
        PP_TRY(encode_words(e, text.bytes + first, at - first, err));
        e->ids[e->count++] = special->id;
        first = at += special->length;
    }
    return encode_words(e, text.bytes + first, at - first, err);
}

enum pp_status pp_tokenizer_encode(struct pp_arena *arena, const struct pp_tokenizer *tokenizer,
                                   struct pp_named_bytes text, struct pp_token_list *tokens,
                                   struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct encoder e = {.t = tokenizer, .arena = scratch, .words = {.arena = scratch}};
    size_t offset;

    *tokens = (struct pp_token_list){0};
    if (!pp_split_is_utf8(tokenizer->splitter, text.bytes, text.length, &offset))
        return pp_error_set(err, PP_EINVAL,
                            "%s has byte %d at offset %zu, which is no UTF-8: a tokenizer reads "
                            "text alone",
                            text.name, (unsigned char)text.bytes[offset], offset);
    e.ids = pp_arena_alloc_raw(arena, (text.length + 1) * sizeof *e.ids);
    if (encode_text(&e, text, err) != PP_OK)
        return pp_error_prefix(err, "%s: ", text.name);
    *tokens = (struct pp_token_list){e.ids, e.count};
    return PP_OK;
}
