/* Tokens of standard input, an id a line: encode TOKENIZER. */
#include "core/text/file.h"
#include "exec/data/tokenizer.h"

#include <inttypes.h>
#include <stdio.h>

static enum pp_status encode(struct pp_arena *arena, const char *where, struct pp_error *err)
{
    struct pp_tokenizer *tokenizer;
    struct pp_token_list tokens;
    size_t length;
    char *text;

    PP_TRY(pp_tokenizer_open(arena, where, &tokenizer, err));
    PP_TRY(pp_file_read(arena, "-", &text, &length, err));
    const struct pp_named_bytes bytes = {"<stdin>", text, length};
    PP_TRY(pp_tokenizer_encode(arena, tokenizer, bytes, &tokens, err));
    for (size_t i = 0; i < tokens.count; i++)
        printf("%" PRId32 "\n", tokens.ids[i]);
    return PP_OK;
}

int main(int argc, char **argv)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};

    if (argc != 2 || encode(arena, argv[1], &err) != PP_OK)
        fprintf(stderr, "encode: error: %s\n", argc == 2 ? err.message : "encode TOKENIZER");
    return argc == 2 ? (int)err.status : PP_EINVAL;
}
