/* Splits text into words by the regular expression of a tokenizer, with PCRE2. */
#include "exec/data/split.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <assert.h>
#include <pcre2.h>

/* Python's \s, which is Unicode's property White_Space. PCRE2's \s has U+180E, too. */
#define SPACES                                                                                     \
    "\\t-\\r\\x20\\x85\\xa0\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{"   \
    "3000}"

static const char PATTERN[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+"
                              "| ?[^" SPACES "\\p{L}\\p{N}]+"
                              "|[" SPACES "]+(?![^" SPACES "])|[" SPACES "]+";

struct pp_splitter {
    pcre2_code *code;
    pcre2_match_data *match;
};

static void end(void *context)
{
    const struct pp_splitter *splitter = context;

    pcre2_match_data_free(splitter->match);
    pcre2_code_free(splitter->code);
}

static enum pp_status fail(int code, struct pp_error *err)
{
    PCRE2_UCHAR text[128];

    pcre2_get_error_message(code, text, sizeof text);
    return pp_error_set(err, PP_EFAIL, "PCRE2: %s", (const char *)text);
}

enum pp_status pp_splitter_make(struct pp_arena *arena, struct pp_splitter **splitter,
                                struct pp_error *err)
{
    struct pp_splitter *made = *splitter = PP_NEW(arena, struct pp_splitter);
    PCRE2_SIZE offset;
    int code;

    pp_arena_defer(arena, end, made);
    made->code = pcre2_compile((PCRE2_SPTR)PATTERN, sizeof PATTERN - 1,
                               PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED, &code, &offset, NULL);
    if (!made->code)
        return fail(code, err);
    pcre2_jit_compile(made->code, PCRE2_JIT_COMPLETE); /* without JIT, matches are only slower */
    made->match = pcre2_match_data_create(1, NULL);
    return made->match ? PP_OK : fail(PCRE2_ERROR_NOMEMORY, err);
}

/* A match without PCRE2_NO_UTF_CHECK checks the whole text. */
bool pp_split_is_utf8(struct pp_splitter *splitter, const char *text, size_t length, size_t *offset)
{
    const int got =
        pcre2_match(splitter->code, (PCRE2_SPTR)text, length, 0, 0, splitter->match, NULL);

    *offset = 0;
    if (got > PCRE2_ERROR_UTF8_ERR1 || got < PCRE2_ERROR_UTF8_ERR21)
        return true;
    *offset = pcre2_get_startchar(splitter->match);
    return false;
}

enum pp_status pp_split_word(struct pp_splitter *splitter, const char *text, size_t length,
                             size_t start, size_t *end, struct pp_error *err)
{
    const int got = pcre2_match(splitter->code, (PCRE2_SPTR)text, length, start, PCRE2_NO_UTF_CHECK,
                                splitter->match, NULL);

    *end = length;
    if (got < 0) /* a limit of PCRE2: a word begins at every character */
        return fail(got, err);
    *end = pcre2_get_ovector_pointer(splitter->match)[1];
    assert(*end > start);
    return PP_OK;
}
