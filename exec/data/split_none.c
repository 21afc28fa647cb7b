/* The splitter of a build without PCRE2, which has no Unicode tables: it cannot be made. */
#include "exec/data/split.h"

enum pp_status pp_splitter_make(struct pp_arena *arena, struct pp_splitter **splitter,
                                struct pp_error *err)
{
    (void)arena;
    *splitter = NULL;
    return pp_error_set(err, PP_EFAIL, "not in this build, which was made without PCRE2");
}

bool pp_split_is_utf8(struct pp_splitter *splitter, const char *text, size_t length, size_t *offset)
{
    (void)splitter;
    (void)text;
    *offset = 0;
    return length == 0;
}

enum pp_status pp_split_word(struct pp_splitter *splitter, const char *text, size_t length,
                             size_t start, size_t *end, struct pp_error *err)
{
    (void)splitter;
    (void)text;
    (void)start;
    *end = length;
    return pp_error_set(err, PP_EFAIL, "not in this build, which was made without PCRE2");
}
