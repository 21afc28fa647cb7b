/* Tokens become text. */
#include "exec/generate/parts.h"

#include <stdlib.h>

void pp_speaker_begin(struct pp_speaker *speaker, const struct pp_generate *g, FILE *out)
{
    *speaker = (struct pp_speaker){.g = g, .stream = {.out = out}};
    if (!out)
        return;
    pp_char_stream_put(&speaker->stream, g->prompts.text[0], g->prompts.bytes[0]);
    fflush(out);
}

void pp_speaker_token(struct pp_speaker *speaker, int32_t token)
{
    const struct pp_token_bytes text = pp_token_text(&speaker->g->texts, token);

    if (!speaker->stream.out)
        return;
    pp_char_stream_put(&speaker->stream, text.bytes, text.length);
    fflush(speaker->stream.out);
}

void pp_speaker_end(struct pp_speaker *speaker)
{
    if (!speaker->stream.out)
        return;
    pp_char_stream_end(&speaker->stream);
    fputc('\n', speaker->stream.out);
    fflush(speaker->stream.out);
}

const char *pp_generate_text(struct pp_arena *arena, const struct pp_generate *g, int sequence)
{
    const int32_t *tokens = g->result.tokens + (int64_t)sequence * g->of.passes;
    char *bytes = NULL;
    size_t length = 0;
    struct pp_char_stream stream = {.out = open_memstream(&bytes, &length)};

    if (!stream.out)
        return "";
    for (int i = 0; i < g->of.passes; i++) {
        const struct pp_token_bytes text = pp_token_text(&g->texts, tokens[i]);
        pp_char_stream_put(&stream, text.bytes, text.length);
    }
    pp_char_stream_end(&stream);
    fclose(stream.out);
    const char *text = pp_arena_strdup(arena, bytes);
    free(bytes);
    return text;
}
