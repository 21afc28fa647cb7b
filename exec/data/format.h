/* exec/data/format.h — formats of data, a row each: private to exec/data. */
#pragma once

#include "core/process/mapped.h"
#include "exec/data/text.h"

/* ---- tokens.c -------------------------------------------------------------------------------- */

/* Little-endian integers that are tokens. */
struct pp_token_type {
    size_t bytes;
    int64_t most; /* largest token that it can hold */
    int64_t (*at)(const unsigned char *bytes, size_t i);
};
enum pp_token_type_name { PP_U8, PP_I8, PP_U16, PP_I16, PP_I32, PP_I64, PP_TOKEN_TYPES };
extern const struct pp_token_type pp_token_types[PP_TOKEN_TYPES];
/* Numbers of headers, at any address. */
uint32_t pp_u32_at(const unsigned char *at);
uint64_t pp_u64_at(const unsigned char *at);
/* Makes the text one of a single file. */
void pp_text_one_file(struct pp_arena *arena, struct pp_text *text, struct pp_token_file file);

/* ---- files.c --------------------------------------------------------------------------------- */

/* A file as it was when it was mapped. */
struct pp_mapped {
    struct pp_mapped_file file;
    uint64_t device, inode;
};
/* Maps a file, or reads it if it is packed, no plain file, or "-"; errors as pp_file_read(). */
enum pp_status pp_data_open(struct pp_arena *arena, const char *path, struct pp_named_bytes *file,
                            const struct pp_mapped **mapped, struct pp_error *err);
/* Only samples will be read: the kernel need not read ahead. */
void pp_data_read_sparsely(const struct pp_mapped *mapped);
/* PP_EFAIL if the file at this path is shorter now, before a page beyond its end is read. */
enum pp_status pp_data_is_whole(const struct pp_mapped *mapped, struct pp_error *err);
/* Finds the files of FILE, of FOLDER (its *.bin), of a pattern such as 'DIR/train_*.bin', or of a
 * list of these with commas; in the order of the list, and of the bytes of their names. */
struct pp_data_paths {
    const char **path; /* [count] */
    int count, capacity;
    bool is_many; /* more than one file may have been meant */
};
enum pp_status pp_data_paths(struct pp_arena *arena, const char *where, struct pp_data_paths *paths,
                             struct pp_error *err);

/* ---- formats --------------------------------------------------------------------------------- */

struct pp_data_format {
    const char *token, *tokens; /* in messages */
    enum pp_sample_order_kind usual_order;
    /* Whether the data is of this format, by its name, or by the first bytes of its first file;
     * NULL = this never tells. */
    bool (*is_named)(struct pp_arena *arena, const char *where);
    bool (*is_begun)(struct pp_named_bytes file);
    /* Sets type, files and count of `text`, which has its name. */
    enum pp_status (*open)(struct pp_arena *arena, const char *where, struct pp_text *text,
                           struct pp_error *err);
};
extern const struct pp_data_format pp_format_bytes, pp_format_shards, pp_format_megatron;

/* ---- parsers, for tests ---------------------------------------------------------------------- */

/* Checks a shard and finds its tokens. PP_EINVAL with name and offset. */
enum pp_status pp_shard_parse(struct pp_named_bytes file, struct pp_token_file *shard,
                              struct pp_error *err);
/* Checks an index, whose tokens are `data`; PP_EINVAL with file and field. */
struct pp_indexed {
    const struct pp_token_type *type;
    uint64_t sequences, documents, tokens;
};
enum pp_status pp_indexed_parse(struct pp_named_bytes index, const char *data, uint64_t data_bytes,
                                struct pp_indexed *indexed, struct pp_error *err);
