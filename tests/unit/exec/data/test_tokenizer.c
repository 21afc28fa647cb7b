/* Byte-pair encoding by hand: small vocabularies, what is refused, and words of any length. Against
 * an oracle: tests/bpe. */
#include "exec/data/text.h"
#include "exec/data/tokenizer.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct pp_arena *arena;
static struct pp_tokenizer *tokenizer;
static struct pp_token_list tokens;
static struct pp_error err;

static void set_up(void)
{
    arena = pp_arena_create();
    err = (struct pp_error){0};
}

static void tear_down(void)
{
    pp_arena_destroy(arena);
}

TestSuite(tokenizer, .init = set_up, .fini = tear_down);

/* ---- vocabularies ---------------------------------------------------------------------------- */

/* All bytes but `without` (-1 = none) with their own value as id, then `more`: "\"ab\": 256, ...".
 */
static struct pp_named_bytes vocab_of(const char *more, int without)
{
    char *text = pp_arena_alloc(arena, 8192 + strlen(more));
    size_t used = 0;
    int next = 256;

    for (int byte = 0; byte < 256; byte++) {
        const bool is_printable =
            (byte > ' ' && byte <= '~') || (byte >= 0xa1 && byte <= 0xff && byte != 0xad);
        const int letter = is_printable ? byte : next++;
        if (byte != without)
            used +=
                (size_t)sprintf(text + used, "%s\"\\u%04x\": %d", used ? ", " : "{", letter, byte);
    }
    used += (size_t)sprintf(text + used, "%s%s}", *more ? ", " : "", more);
    return (struct pp_named_bytes){"V", text, used};
}

static enum pp_status parse(const char *more, const char *merges)
{
    return pp_tokenizer_parse(arena, vocab_of(more, -1),
                              (struct pp_named_bytes){"M", merges, strlen(merges)}, &tokenizer,
                              &err);
}

static enum pp_status encode(const char *text, size_t length)
{
    return pp_tokenizer_encode(arena, tokenizer, (struct pp_named_bytes){"T", text, length},
                               &tokens, &err);
}

/* Ids of a text with spaces between. */
static const char *ids_of(const char *text)
{
    char *ids = pp_arena_alloc(arena, 16 * (strlen(text) + 1));
    size_t used = 0;

    cr_assert_eq(encode(text, strlen(text)), PP_OK, "%s", err.message);
    for (size_t i = 0; i < tokens.count; i++)
        used += (size_t)sprintf(ids + used, "%s%d", i ? " " : "", tokens.ids[i]);
    return ids;
}

static void expect_refused(const char *more, const char *merges, const char *message)
{
    cr_assert_eq(parse(more, merges), PP_EINVAL, "%s", message);
    cr_assert_str_eq(err.message, message);
}

/* ---- merges ---------------------------------------------------------------------------------- */

Test(tokenizer, bytes_without_merges_are_tokens)
{
    cr_assert_eq(parse("", ""), PP_OK, "%s", err.message);
    cr_assert_eq(tokenizer->vocab, 256);
    cr_assert_str_eq(ids_of("a b\xc3\xa9\n"), "97 32 98 195 169 10");
    cr_assert_str_eq(ids_of(""), "");
    cr_assert_eq(encode("a\0b", 3), PP_OK);
    cr_assert_eq(tokens.count, 3);
    cr_assert_eq(tokens.ids[1], 0);
}

Test(tokenizer, lower_ranks_merge_first_and_left_before_right)
{
    cr_assert_eq(parse("\"bc\": 300, \"ab\": 301, \"aa\": 302, \"abc\": 303",
                       "#version: 0.2\nb c\na b\na a\nab c\n"),
                 PP_OK, "%s", err.message);
    cr_assert_eq(tokenizer->vocab, 304);
    cr_assert_str_eq(ids_of("abc"), "97 300"); /* b c is first, so that ab never is */
    cr_assert_str_eq(ids_of("abab"), "301 301");
    cr_assert_str_eq(ids_of("aaaaa"), "302 302 97");
    cr_assert_str_eq(ids_of("aab"), "97 301");
    cr_assert_str_eq(ids_of("abc abc aab"), "97 300 32 97 300 32 97 301"); /* words met before */
}

/* GPT-2 merges all places of a pair before it looks for another, even where what they make is part
 * of an earlier merge: ab+ab, and never aba+b. */
Test(tokenizer, all_places_of_a_rank_come_before_what_they_make)
{
    cr_assert_eq(parse("\"ab\": 256, \"aba\": 257", "ab a\na b\n"), PP_OK, "%s", err.message);
    cr_assert_str_eq(ids_of("abab"), "256 256");
    cr_assert_str_eq(ids_of("aba"), "257");
    cr_assert_str_eq(ids_of("ababa"), "256 257");
}

Test(tokenizer, merges_stay_within_words)
{
    cr_assert_eq(parse("\"ab\": 256, \"\\u0120a\": 257, \"a1\": 258, \"'s\": 259, \"a'\": 260",
                       "a b\n\xc4\xa0 a\na 1\n' s\na '\n"),
                 PP_OK, "%s", err.message);
    cr_assert_str_eq(ids_of("a b ab"), "97 32 98 32 256");
    cr_assert_str_eq(ids_of("a1"), "97 49");
    cr_assert_str_eq(ids_of("a's"), "97 259");
    cr_assert_str_eq(ids_of("  ac"), "32 257 99");
}

Test(tokenizer, special_tokens_stand_between_documents)
{
    cr_assert_eq(parse("\"<|endoftext|>\": 400, \"a<\": 300", "a <\n"), PP_OK, "%s", err.message);
    cr_assert_eq(tokenizer->vocab, 401);
    cr_assert_str_eq(ids_of("a<|endoftext|>a"), "97 400 97");
    cr_assert_str_eq(ids_of("<|endoftext|><|endoftext|>"), "400 400");
    cr_assert_str_eq(ids_of("<|endoftext|"), "60 124 101 110 100 111 102 116 101 120 116 124");
    cr_assert_eq(parse("", ""), PP_OK);
    cr_assert_str_eq(ids_of("<|"), "60 124");
    cr_assert_eq(encode("<|endoftext|>", 13), PP_OK);
    cr_assert_eq(tokens.count, 13);
}

/* A word of 2^20 letters in well under a second, where a search of the whole word for each merge
 * would take hours. */
Test(tokenizer, long_words_are_merged_to_the_end)
{
    enum { LEVELS = 16, LETTERS = 1 << 20 };
    char more[1 << 19], merges[1 << 19], *word = pp_arena_alloc(arena, LETTERS);
    size_t used = 0, merge_used = 0;

    memset(word, 'a', LETTERS);
    for (int level = 0; level < LEVELS; level++) {
        const int half = 1 << level;
        used += (size_t)sprintf(more + used, "%s\"%.*s\": %d", level ? ", " : "", 2 * half, word,
                                256 + level);
        merge_used += (size_t)sprintf(merges + merge_used, "%.*s %.*s\n", half, word, half, word);
    }
    cr_assert_eq(parse(more, merges), PP_OK, "%s", err.message);
    cr_assert_eq(encode(word, LETTERS), PP_OK);
    cr_assert_eq(tokens.count, LETTERS >> LEVELS);
    for (size_t i = 0; i < tokens.count; i++)
        cr_assert_eq(tokens.ids[i], 256 + LEVELS - 1);
    cr_assert_eq(encode(word, LETTERS - 1), PP_OK);
    cr_assert_eq(tokens.count, (LETTERS >> LEVELS) - 1 + LEVELS);
    cr_assert_eq(tokens.ids[tokens.count - 1], 'a');
}

/* ---- what is refused ------------------------------------------------------------------------- */

Test(tokenizer, what_is_no_vocabulary_says_why)
{
    expect_refused("\"ab\": 97", "", "V: two tokens have the id 97");
    expect_refused("\"ab\": -1", "",
                   "V: the token after 256 others has an id that is no integer from 0 to 16777215");
    expect_refused("\"ab\": \"x\"", "",
                   "V: the token after 256 others has an id that is no integer from 0 to 16777215");
    expect_refused("\"\": 256", "", "V: token 256 is empty");
    expect_refused("\"\\u2581a\": 256", "",
                   "V: token 256 has a letter that represents no byte: only byte-level "
                   "tokenizers, as GPT-2's, are known");
    cr_assert_eq(pp_tokenizer_parse(arena, vocab_of("", 'x'), (struct pp_named_bytes){"M", "", 0},
                                    &tokenizer, &err),
                 PP_EINVAL);
    cr_assert_str_eq(err.message, "V: byte 120 is no token by itself, so not every text could be "
                                  "encoded");
    cr_assert_eq(pp_tokenizer_parse(arena, (struct pp_named_bytes){"V", "[]", 2},
                                    (struct pp_named_bytes){"M", "", 0}, &tokenizer, &err),
                 PP_EINVAL);
    cr_assert_str_eq(err.message, "V: the vocabulary is no object of tokens and ids");
}

Test(tokenizer, what_is_no_merge_says_where)
{
    static const char AB[] = "\"ab\": 256";

    expect_refused(AB, "#version: 0.2\na b\nab\n",
                   "M:3: a merge is two tokens with a space between");
    expect_refused(AB, "a b\n\n", "M:2: a merge is two tokens with a space between");
    expect_refused(AB, "a  b", "M:1: a merge is two tokens with a space between");
    expect_refused(AB, "a b c", "M:1: a merge is two tokens with a space between");
    expect_refused(AB, "xy b", "M:1: the left part is no token of the vocabulary");
    expect_refused(AB, "a xy", "M:1: the right part is no token of the vocabulary");
    expect_refused(AB, "a c", "M:1: what both parts make is no token of the vocabulary");
    expect_refused(AB, "a b\na b", "M:2: the same merge is number 1 already");
    expect_refused(AB, "a \xe2\x96\x81", "M:1: a letter represents no byte");
    expect_refused(AB, "a \xc4", "M:1: a letter represents no byte");
    expect_refused(AB, "a #version\n", "M:1: the right part is no token of the vocabulary");
    cr_assert_eq(parse(AB, "#version: 0.2\r\na b\r\n"), PP_OK, "%s", err.message);
    cr_assert_str_eq(ids_of("ab"), "256");
}

Test(tokenizer, what_is_no_utf8_says_where)
{
    static const struct {
        const char *text, *message;
    } CASES[] = {
        {"abc\xff", "T has byte 255 at offset 3, which is no UTF-8: a tokenizer reads text alone"},
        {"\xc3", "T has byte 195 at offset 0, which is no UTF-8: a tokenizer reads text alone"},
        {"a\xed\xa0\x80",
         "T has byte 237 at offset 1, which is no UTF-8: a tokenizer reads text alone"},
        {"ab\xc0\x80",
         "T has byte 192 at offset 2, which is no UTF-8: a tokenizer reads text alone"},
    };

    cr_assert_eq(parse("", ""), PP_OK);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        cr_assert_eq(encode(CASES[i].text, strlen(CASES[i].text)), PP_EINVAL);
        cr_assert_str_eq(err.message, CASES[i].message);
    }
}

/* ---- tokenizer.json -------------------------------------------------------------------------- */

static enum pp_status parse_json(const char *head, const char *merges, const char *model_tail)
{
    const struct pp_named_bytes vocab = vocab_of("\"ab\": 256", -1);
    const char *text = pp_arena_printf(
        arena, "{%s, \"model\": {\"vocab\": %s, \"merges\": %s, \"type\": \"BPE\"%s}}", head,
        vocab.bytes, merges, model_tail);

    return pp_tokenizer_parse_json(arena, (struct pp_named_bytes){"J", text, strlen(text)},
                                   &tokenizer, &err);
}

#define BYTE_LEVEL "\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false}"

Test(tokenizer, a_tokenizer_json_is_taken_where_it_says_what_gpt2_does)
{
    cr_assert_eq(parse_json(BYTE_LEVEL
                            ", \"added_tokens\": [{\"id\": 300, \"content\": \"<|a|>\"}, "
                            "{\"id\": 301, \"content\": \"<|a|><|b|>\"}]",
                            "[\"a b\"]", ""),
                 PP_OK, "%s", err.message);
    cr_assert_eq(tokenizer->vocab, 302);
    cr_assert_str_eq(ids_of("ab<|a|>ab<|a|><|b|>"), "256 300 256 301"); /* the longest one */
    cr_assert_eq(parse_json(BYTE_LEVEL, "[[\"a\", \"b\"]]", ""), PP_OK, "%s", err.message);
    cr_assert_str_eq(ids_of("ab"), "256");
}

Test(tokenizer, a_tokenizer_json_that_says_something_else_is_refused)
{
    static const struct {
        const char *head, *merges, *tail, *message;
    } CASES[] = {
        {"\"pre_tokenizer\": {\"type\": \"Sequence\"}", "[]", "",
         "J: pre_tokenizer.type is not \"ByteLevel\": only tokenizers that cut words as GPT-2's "
         "are known"},
        {"\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": true}", "[]", "",
         "J: pre_tokenizer.add_prefix_space is not false: only tokenizers that cut words as "
         "GPT-2's are known"},
        {BYTE_LEVEL ", \"normalizer\": {\"type\": \"NFC\"}", "[]", "",
         "J: normalizer is not null: only tokenizers that cut words as GPT-2's are known"},
        {BYTE_LEVEL, "[]", ", \"ignore_merges\": true",
         "J: model.ignore_merges is not false: only tokenizers that cut words as GPT-2's are "
         "known"},
        {BYTE_LEVEL, "{}", "", "J: model.merges is no array"},
        {BYTE_LEVEL, "[\"a b\", 7]", "",
         "J: model.merges, merge 2: it is neither \"LEFT RIGHT\" nor [LEFT, RIGHT]"},
        {BYTE_LEVEL ", \"added_tokens\": 3", "[]", "", "J: added_tokens is no array"},
        {BYTE_LEVEL ", \"added_tokens\": [3]", "[]", "", "J: added token 0 is no object"},
        {BYTE_LEVEL ", \"added_tokens\": [{\"id\": 3, \"content\": \"x\", \"lstrip\": true}]", "[]",
         "",
         "J: added token 3: lstrip is not false: only tokens that stand for their own text are "
         "known"},
    };

    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        cr_assert_eq(parse_json(CASES[i].head, CASES[i].merges, CASES[i].tail), PP_EINVAL);
        cr_assert_str_eq(err.message, CASES[i].message);
    }
}

/* ---- texts ----------------------------------------------------------------------------------- */

Test(tokenizer, encoded_texts_are_sampled_and_summed_as_others)
{
    struct pp_text text;
    int32_t ids[3], targets[3];

    cr_assert_eq(parse("\"th\": 256, \"the\": 257", "t h\nth e\n"), PP_OK, "%s", err.message);
    cr_assert_eq(pp_text_encode(arena, &(struct pp_text_wish){.seq = 3, .vocab = 258}, tokenizer,
                                &text, &err),
                 PP_OK, "%s", err.message);
    cr_assert_str_eq(text.name, "built-in text");
    for (int i = 0; i < 100; i++) {
        cr_assert_eq(pp_text_sample(&text, 2, i, ids, targets, &err), PP_OK);
        cr_assert_arr_eq(ids + 1, targets, 2 * sizeof *ids);
        cr_assert(ids[0] >= 0 && ids[0] < 258);
    }
    const uint32_t crc = pp_text_crc(&text);
    cr_assert_eq(parse("\"th\": 256, \"the\": 258", "t h\nth e\n"), PP_OK);
    cr_assert_eq(pp_text_encode(arena, &(struct pp_text_wish){.seq = 3, .vocab = 259}, tokenizer,
                                &text, &err),
                 PP_OK);
    cr_assert_neq(pp_text_crc(&text), crc);
    cr_assert_eq(pp_text_encode(arena, &(struct pp_text_wish){.seq = 3, .vocab = 258}, tokenizer,
                                &text, &err),
                 PP_EINVAL);
    cr_assert_str_eq(err.message, "V has 259 tokens, but the model has a vocabulary of 258; the "
                                  "smallest that would do is 259");
}
