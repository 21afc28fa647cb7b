/* Reads tokens and merges from files of GPT-2 and Hugging Face. */
#include "core/text/file.h"
#include "exec/data/tokenizer_build.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- merges as lines ------------------------------------------------------------------------- */

static struct pp_spelled line_at(const struct pp_named_bytes *file, size_t at)
{
    const char *text = file->bytes + at, *end = memchr(text, '\n', file->length - at);

    return (struct pp_spelled){text, end ? (size_t)(end - text) : file->length - at};
}

/* The first line may state a version; the last may be empty. */
static enum pp_status take_lines(struct pp_arena *arena, struct pp_tokenizer *t,
                                 struct pp_named_bytes file, struct pp_error *err)
{
    static const char VERSION[] = "#version";
    size_t lines = 1;

    for (size_t i = 0; i < file.length; i++)
        lines += file.bytes[i] == '\n';
    t->merged = PP_ARRAY(arena, int32_t, lines);
    for (size_t at = 0, number = 1; at < file.length; number++) {
        struct pp_spelled line = line_at(&file, at);
        at += line.length + 1;
        line.length -= line.length > 0 && line.text[line.length - 1] == '\r';
        if (number == 1 && line.length >= sizeof VERSION - 1 &&
            memcmp(line.text, VERSION, sizeof VERSION - 1) == 0)
            continue;
        if (pp_tokenizer_take_line(arena, t, line, err) != PP_OK)
            return pp_error_prefix(err, "%s:%zu: ", file.name, number);
    }
    return PP_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Separator of documents in GPT-2's data. */
static const char END_OF_TEXT[] = "<|endoftext|>";

enum pp_status pp_tokenizer_parse(struct pp_arena *arena, struct pp_named_bytes vocab,
                                  struct pp_named_bytes merges, struct pp_tokenizer **tokenizer,
                                  struct pp_error *err)
{
    struct pp_json json;

    PP_TRY(pp_tokenizer_begin(arena, vocab.name, tokenizer, err));
    PP_TRY(pp_json_parse(vocab.name, vocab.bytes, vocab.length, &json, err));
    const enum pp_status status =
        pp_tokenizer_take_vocab(arena, *tokenizer, vocab.name, json.root, err);
    pp_json_close(&json);
    PP_TRY(status);
    const size_t *id = pp_bytes_map_find(&(*tokenizer)->ids, END_OF_TEXT, sizeof END_OF_TEXT - 1);
    if (id)
        pp_tokenizer_take_special(
            arena, *tokenizer,
            (struct pp_special){END_OF_TEXT, sizeof END_OF_TEXT - 1, (int32_t)*id});
    return take_lines(arena, *tokenizer, merges, err);
}

static enum pp_status read_file(struct pp_arena *arena, const char *path,
                                struct pp_named_bytes *file, struct pp_error *err)
{
    char *bytes;

    PP_TRY(pp_file_read(arena, path, &bytes, &file->length, err));
    file->name = path;
    file->bytes = bytes;
    return PP_OK;
}

static enum pp_status open_json(struct pp_arena *arena, const char *path,
                                struct pp_tokenizer **tokenizer, struct pp_error *err)
{
    struct pp_named_bytes file;

    PP_TRY(read_file(arena, path, &file, err));
    return pp_tokenizer_parse_json(arena, file, tokenizer, err);
}

static enum pp_status open_pair(struct pp_arena *arena, const char *vocab_path,
                                const char *merges_path, struct pp_tokenizer **tokenizer,
                                struct pp_error *err)
{
    struct pp_named_bytes vocab, merges;

    PP_TRY(read_file(arena, vocab_path, &vocab, err));
    PP_TRY(read_file(arena, merges_path, &merges, err));
    return pp_tokenizer_parse(arena, vocab, merges, tokenizer, err);
}

static enum pp_status open_folder(struct pp_arena *arena, const char *folder,
                                  struct pp_tokenizer **tokenizer, struct pp_error *err)
{
    static const char *const PAIRS[][2] = {{"vocab.json", "merges.txt"},
                                           {"encoder.json", "vocab.bpe"}};
    const char *whole = pp_arena_printf(arena, "%s/tokenizer.json", folder);

    if (access(whole, F_OK) == 0)
        return open_json(arena, whole, tokenizer, err);
    for (size_t i = 0; i < PP_COUNT(PAIRS); i++) {
        const char *vocab = pp_arena_printf(arena, "%s/%s", folder, PAIRS[i][0]);
        if (access(vocab, F_OK) == 0)
            return open_pair(arena, vocab, pp_arena_printf(arena, "%s/%s", folder, PAIRS[i][1]),
                             tokenizer, err);
    }
    return pp_error_set(err, PP_EFAIL,
                        "%s has no tokenizer.json, no vocab.json with merges.txt, and no "
                        "encoder.json with vocab.bpe",
                        folder);
}

enum pp_status pp_tokenizer_open(struct pp_arena *arena, const char *where,
                                 struct pp_tokenizer **tokenizer, struct pp_error *err)
{
    const char *colon = strrchr(where, ':');
    struct stat info;
    enum pp_status status;

    if (stat(where, &info) == 0 && S_ISDIR(info.st_mode))
        status = open_folder(arena, where, tokenizer, err);
    else if (colon && access(where, F_OK) != 0)
        status = open_pair(arena, pp_arena_printf(arena, "%.*s", (int)(colon - where), where),
                           colon + 1, tokenizer, err);
    else
        status = open_json(arena, where, tokenizer, err);
    if (status == PP_OK)
        (*tokenizer)->name = pp_arena_strdup(arena, where);
    return status;
}
