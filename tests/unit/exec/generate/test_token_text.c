/* Tokens as text and back. */
#include "exec/generate/token_text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct pp_arena *arena;
static struct pp_error err;

static void set_up(void)
{
    arena = pp_arena_create();
}

static void tear_down(void)
{
    pp_arena_destroy(arena);
}

TestSuite(token_text, .init = set_up, .fini = tear_down);

Test(token_text, each_byte_is_a_token)
{
    struct pp_token_texts texts;
    struct pp_token_list list;

    pp_token_texts_make(arena, NULL, 300, &texts);
    for (int b = 0; b < 256; b++) {
        const char byte = (char)b;
        const struct pp_named_bytes text = {"T", &byte, 1};
        cr_assert_eq(pp_token_texts_encode(arena, &texts, text, &list, &err), PP_OK);
        cr_assert_eq(list.count, 1);
        cr_assert_eq(list.ids[0], b);
        cr_assert_eq(pp_token_text(&texts, b).length, 1);
        cr_assert_eq(pp_token_text(&texts, b).bytes[0], byte);
    }
    cr_assert_eq(pp_token_text(&texts, 256).length, 3); /* U+FFFD */
    cr_assert_eq(pp_token_text(&texts, -1).length, 3);
    cr_assert_eq(pp_token_text(&texts, 300).length, 3);
}

Test(token_text, tokens_beyond_the_vocabulary_are_refused_with_their_place)
{
    struct pp_token_texts texts;
    struct pp_token_list list;

    pp_token_texts_make(arena, NULL, 128, &texts);
    cr_assert_eq(pp_token_texts_encode(arena, &texts, (struct pp_named_bytes){"T", "ab\xc3\xa9", 4},
                                       &list, &err),
                 PP_EINVAL);
    cr_assert(strstr(err.message, "T: token 2 is 195, but the model knows those below 128"), "%s",
              err.message);
}

Test(token_text, a_tokenizer_the_other_way_round)
{
    char json[8192] = "{\"model\":{\"type\":\"BPE\",\"vocab\":{";
    struct pp_tokenizer *tokenizer;
    struct pp_token_texts texts;
    struct pp_token_list list;
    static const char TEXT[] = "the then<|end|>z";
    char back[64] = "";
    size_t used = strlen(json);

    for (int b = 0, letter = 256; b < 256; b++) { /* letters of GPT-2 for bytes */
        const bool is_own = (b > 32 && b < 127) || (b > 160 && b != 173);
        used += (size_t)snprintf(json + used, sizeof json - used, "%s\"\\u%04x\":%d", b ? "," : "",
                                 is_own ? b : letter++, b);
    }
    snprintf(
        json + used, sizeof json - used,
        ",\"th\":256,\"the\":257},\"merges\":[\"t h\",\"th e\"]},\"added_tokens\":[{\"id\":258,"
        "\"content\":\"<|end|>\",\"special\":true}],\"pre_tokenizer\":{\"type\":\"ByteLevel\","
        "\"add_prefix_space\":false,\"use_regex\":true}}");
    cr_assert_eq(pp_tokenizer_parse_json(arena, (struct pp_named_bytes){"J", json, strlen(json)},
                                         &tokenizer, &err),
                 PP_OK, "%s", err.message);
    pp_token_texts_make(arena, tokenizer, 259, &texts);
    cr_assert_eq(pp_token_texts_encode(
                     arena, &texts, (struct pp_named_bytes){"T", TEXT, strlen(TEXT)}, &list, &err),
                 PP_OK, "%s", err.message);
    cr_assert_eq(list.count, 6);
    for (size_t i = 0; i < list.count; i++)
        strncat(back, pp_token_text(&texts, list.ids[i]).bytes,
                pp_token_text(&texts, list.ids[i]).length);
    cr_assert_str_eq(back, TEXT);
}
