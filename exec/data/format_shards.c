/* Shards of llm.c: a header of 256 int32 (20240520, 1, number of tokens), then 16 bits a token.
 *
 * Source: karpathy/llm.c, dev/data/data_common.py. */
#include "exec/data/format.h"

enum { MAGIC = 20240520, VERSION = 1, HEADER_BYTES = 256 * 4 };

static bool is_shard(struct pp_named_bytes file)
{
    return file.length >= HEADER_BYTES && pp_u32_at((const unsigned char *)file.bytes) == MAGIC;
}

enum pp_status pp_shard_parse(struct pp_named_bytes file, struct pp_token_file *shard,
                              struct pp_error *err)
{
    const unsigned char *header = (const unsigned char *)file.bytes;

    if (!is_shard(file))
        return pp_error_set(err, PP_EINVAL,
                            "%s is no shard of 16-bit tokens: it does not begin with the number %d "
                            "in a header of %d bytes",
                            file.name, MAGIC, HEADER_BYTES);
    if (pp_u32_at(header + 4) != VERSION)
        return pp_error_set(err, PP_EINVAL,
                            "%s:4: version %lu of a shard of tokens; only version %d is known "
                            "(that of 16-bit tokens)",
                            file.name, (unsigned long)pp_u32_at(header + 4), VERSION);
    const size_t stated = pp_u32_at(header + 8), bytes = file.length - HEADER_BYTES;
    if (bytes != 2 * stated)
        return pp_error_set(err, PP_EINVAL,
                            "%s:8: its header says %zu tokens, that is %zu bytes after the header, "
                            "but %zu follow",
                            file.name, stated, 2 * stated, bytes);
    *shard =
        (struct pp_token_file){.name = file.name, .bytes = header + HEADER_BYTES, .count = stated};
    return PP_OK;
}

/* Several files can only be shards. */
static bool are_shards(struct pp_arena *arena, const char *where)
{
    struct pp_data_paths paths;
    struct pp_error ignored;

    return pp_data_paths(arena, where, &paths, &ignored) != PP_OK || paths.is_many;
}

static enum pp_status open_shards(struct pp_arena *arena, const char *where, struct pp_text *text,
                                  struct pp_error *err)
{
    struct pp_data_paths paths;

    PP_TRY(pp_data_paths(arena, where, &paths, err));
    struct pp_token_file *shards = PP_ARRAY(arena, struct pp_token_file, paths.count);
    text->type = &pp_token_types[PP_U16];
    text->files = shards;
    text->file_count = paths.count;
    text->is_checked_late = paths.is_many;
    for (int i = 0; i < paths.count; i++) {
        const struct pp_mapped *mapped;
        struct pp_named_bytes file;
        PP_TRY(pp_data_open(arena, paths.path[i], &file, &mapped, err));
        PP_TRY(pp_shard_parse(file, &shards[i], err));
        shards[i].mapped = mapped;
        shards[i].first = text->count;
        text->count += shards[i].count;
    }
    return PP_OK;
}

const struct pp_data_format pp_format_shards = {
    .token = "token",
    .tokens = "tokens",
    .is_named = are_shards,
    .is_begun = is_shard,
    .open = open_shards,
};
