/* A file whose bytes are tokens. */
#include "exec/data/format.h"

static enum pp_status open_bytes(struct pp_arena *arena, const char *where, struct pp_text *text,
                                 struct pp_error *err)
{
    const struct pp_mapped *mapped;
    struct pp_named_bytes file;

    PP_TRY(pp_data_open(arena, where, &file, &mapped, err));
    text->type = &pp_token_types[PP_U8];
    pp_text_one_file(arena, text,
                     (struct pp_token_file){.name = file.name,
                                            .bytes = (const unsigned char *)file.bytes,
                                            .count = file.length,
                                            .mapped = mapped});
    return PP_OK;
}

const struct pp_data_format pp_format_bytes = {
    .token = "byte",
    .tokens = "bytes",
    .open = open_bytes,
};
