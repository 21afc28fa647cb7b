/* Megatron's indexed dataset: PREFIX.bin is all tokens, PREFIX.idx says where sequences and
 * documents begin. Integers are little-endian and not aligned:
 *
 *      0  magic "MMIDIDX\0\0"        9  version: u64, 1       17  type of tokens: u8
 *     18  sequences: u64 S          26  documents: u64 D
 *     34  sizes: i32[S], in tokens      pointers: i64[S], in bytes      documents: i64[D]
 *
 * Megatron writes sequences without gaps, so all of them are one array of tokens. The documents are
 * first sequences: they begin with 0, and the last one is S. An index of multimodal data goes on
 * with i8[S], which is refused.
 *
 * Source: NVIDIA/Megatron-LM, megatron/core/datasets/indexed_dataset.py. */
#include "core/text/file.h"
#include "exec/data/format.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static const char MAGIC[] = "MMIDIDX\0"; /* and the end of the string: 9 bytes */
enum { VERSION = 1, TYPE_AT = 17, SEQUENCES_AT = 18, DOCUMENTS_AT = 26, SIZES_AT = 34 };

/* By their codes; without `type`, they hold no tokens. */
static const struct {
    const char *name;
    const struct pp_token_type *type;
} TYPES[] = {
    [1] = {"uint8", &pp_token_types[PP_U8]},
    [2] = {"int8", &pp_token_types[PP_I8]},
    [3] = {"int16", &pp_token_types[PP_I16]},
    [4] = {"int32", &pp_token_types[PP_I32]},
    [5] = {"int64", &pp_token_types[PP_I64]},
    [6] = {"float64", NULL},
    [7] = {"float32", NULL},
    [8] = {"uint16", &pp_token_types[PP_U16]},
};

/* ---- index ----------------------------------------------------------------------------------- */

static enum pp_status parse_type(struct pp_named_bytes index, struct pp_indexed *indexed,
                                 struct pp_error *err)
{
    const unsigned code = (unsigned char)index.bytes[TYPE_AT];
    const char *name = code < PP_COUNT(TYPES) ? TYPES[code].name : NULL;

    if (!name)
        return pp_error_set(err, PP_EINVAL,
                            "%s:%d: type %u of tokens is unknown; it is 1 (uint8), 2 (int8), 3 "
                            "(int16), 4 (int32), 5 (int64) or 8 (uint16)",
                            index.name, TYPE_AT, code);
    if (!TYPES[code].type)
        return pp_error_set(err, PP_EINVAL, "%s:%d: type %u is %s, but tokens are integers",
                            index.name, TYPE_AT, code, name);
    indexed->type = TYPES[code].type;
    return PP_OK;
}

static bool is_index(struct pp_named_bytes file)
{
    return file.length >= sizeof(MAGIC) && memcmp(file.bytes, MAGIC, sizeof(MAGIC)) == 0;
}

static enum pp_status parse_header(struct pp_named_bytes index, struct pp_indexed *indexed,
                                   struct pp_error *err)
{
    const unsigned char *at = (const unsigned char *)index.bytes;

    if (!is_index(index))
        return pp_error_set(err, PP_EINVAL,
                            "%s is no index of Megatron: it does not begin with MMIDIDX",
                            index.name);
    if (index.length < SIZES_AT)
        return pp_error_set(err, PP_EINVAL, "%s has %zu bytes, but its header takes %d", index.name,
                            index.length, SIZES_AT);
    if (pp_u64_at(at + sizeof(MAGIC)) != VERSION)
        return pp_error_set(err, PP_EINVAL,
                            "%s:%zu: version %" PRIu64 " of an index; only version %d is known",
                            index.name, sizeof(MAGIC), pp_u64_at(at + sizeof(MAGIC)), VERSION);
    PP_TRY(parse_type(index, indexed, err));
    indexed->sequences = pp_u64_at(at + SEQUENCES_AT);
    indexed->documents = pp_u64_at(at + DOCUMENTS_AT);
    return PP_OK;
}

/* The length of the file leaves no doubt about the counts, and keeps them from overflowing. */
static enum pp_status check_length(struct pp_named_bytes index, const struct pp_indexed *indexed,
                                   struct pp_error *err)
{
    const uint64_t rest = index.length - SIZES_AT, sequences = indexed->sequences,
                   documents = indexed->documents;

    if (sequences > rest / 12)
        return pp_error_set(err, PP_EINVAL,
                            "%s:%d: %" PRIu64 " sequences of 12 bytes each, but %" PRIu64
                            " bytes follow the header",
                            index.name, SEQUENCES_AT, sequences, rest);
    const uint64_t left = rest - 12 * sequences;
    if (documents == 0 || documents > left / 8)
        return pp_error_set(err, PP_EINVAL,
                            "%s:%d: %" PRIu64 " documents of 8 bytes each, but %" PRIu64
                            " bytes follow the sequences",
                            index.name, DOCUMENTS_AT, documents, left);
    const uint64_t more = left - 8 * documents;
    if (more > 0)
        return pp_error_set(err, PP_EINVAL, "%s: %" PRIu64 " bytes follow the documents%s",
                            index.name, more,
                            more == sequences ? ", as in an index of multimodal data" : "");
    return PP_OK;
}

static enum pp_status check_sequences(struct pp_named_bytes index, const char *data,
                                      uint64_t data_bytes, struct pp_indexed *indexed,
                                      struct pp_error *err)
{
    const unsigned char *sizes = (const unsigned char *)index.bytes + SIZES_AT,
                        *pointers = sizes + 4 * indexed->sequences;
    const uint64_t token_bytes = indexed->type->bytes;

    for (uint64_t i = 0; i < indexed->sequences; i++) {
        const int32_t size = (int32_t)pp_u32_at(sizes + 4 * i);
        const uint64_t pointer = pp_u64_at(pointers + 8 * i), end = indexed->tokens * token_bytes;
        if (size < 0)
            return pp_error_set(err, PP_EINVAL, "%s: sequence %" PRIu64 " has a size of %" PRId32,
                                index.name, i, size);
        if (pointer != end)
            return pp_error_set(err, PP_EINVAL,
                                "%s: sequence %" PRIu64 " has pointer %" PRId64
                                ", but those before it end at byte %" PRIu64,
                                index.name, i, (int64_t)pointer, end);
        if ((uint64_t)size > (data_bytes - end) / token_bytes)
            return pp_error_set(err, PP_EINVAL,
                                "%s: sequence %" PRIu64 " has %" PRId32 " tokens at byte %" PRIu64
                                ", but %s has %" PRIu64 " bytes",
                                index.name, i, size, end, data, data_bytes);
        indexed->tokens += (uint64_t)size;
    }
    return PP_OK;
}

static enum pp_status check_documents(struct pp_named_bytes index, const struct pp_indexed *indexed,
                                      struct pp_error *err)
{
    const unsigned char *documents =
        (const unsigned char *)index.bytes + SIZES_AT + 12 * indexed->sequences;
    uint64_t before = 0;

    for (uint64_t i = 0; i < indexed->documents; i++) {
        const uint64_t sequence = pp_u64_at(documents + 8 * i);
        if (i == 0 && sequence != 0)
            return pp_error_set(err, PP_EINVAL,
                                "%s: document 0 begins with sequence %" PRId64 ", not with 0",
                                index.name, (int64_t)sequence);
        if (sequence < before || sequence > indexed->sequences)
            return pp_error_set(err, PP_EINVAL,
                                "%s: document %" PRIu64 " begins with sequence %" PRId64
                                ", which is not between %" PRIu64 " and %" PRIu64,
                                index.name, i, (int64_t)sequence, before, indexed->sequences);
        before = sequence;
    }
    if (before != indexed->sequences)
        return pp_error_set(err, PP_EINVAL,
                            "%s: its documents end with sequence %" PRIu64 " of %" PRIu64,
                            index.name, before, indexed->sequences);
    return PP_OK;
}

enum pp_status pp_indexed_parse(struct pp_named_bytes index, const char *data, uint64_t data_bytes,
                                struct pp_indexed *indexed, struct pp_error *err)
{
    *indexed = (struct pp_indexed){0};
    PP_TRY(parse_header(index, indexed, err));
    PP_TRY(check_length(index, indexed, err));
    PP_TRY(check_sequences(index, data, data_bytes, indexed, err));
    PP_TRY(check_documents(index, indexed, err));
    const uint64_t end = indexed->tokens * indexed->type->bytes;
    if (end != data_bytes)
        return pp_error_set(err, PP_EINVAL,
                            "%s: its sequences end at byte %" PRIu64 ", but %s has %" PRIu64
                            ": is it of other data?",
                            index.name, end, data, data_bytes);
    return PP_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* PREFIX, PREFIX.bin and PREFIX.idx name the same data. */
static const char *prefix_of(struct pp_arena *arena, const char *where)
{
    const bool has_ending = pp_has_suffix(where, ".bin") || pp_has_suffix(where, ".idx");

    return pp_arena_printf(arena, "%.*s", (int)(strlen(where) - (has_ending ? 4 : 0)), where);
}

static bool is_prefix(struct pp_arena *arena, const char *where)
{
    const char *prefix = prefix_of(arena, where);

    return access(pp_arena_printf(arena, "%s.idx", prefix), F_OK) == 0 &&
           access(pp_arena_printf(arena, "%s.bin", prefix), F_OK) == 0;
}

static enum pp_status open_megatron(struct pp_arena *arena, const char *where, struct pp_text *text,
                                    struct pp_error *err)
{
    const char *prefix = prefix_of(arena, where);
    const struct pp_mapped *mapped, *mapped_index;
    struct pp_named_bytes data;
    struct pp_indexed indexed;

    PP_TRY(pp_data_open(arena, pp_arena_printf(arena, "%s.idx", prefix), &text->index,
                        &mapped_index, err));
    PP_TRY(pp_data_open(arena, pp_arena_printf(arena, "%s.bin", prefix), &data, &mapped, err));
    PP_TRY(pp_indexed_parse(text->index, data.name, data.length, &indexed, err));
    text->type = indexed.type;
    text->is_checked_late = true;
    pp_text_one_file(arena, text,
                     (struct pp_token_file){.name = data.name,
                                            .bytes = (const unsigned char *)data.bytes,
                                            .count = (size_t)indexed.tokens,
                                            .mapped = mapped});
    return PP_OK;
}

const struct pp_data_format pp_format_megatron = {
    .token = "token",
    .tokens = "tokens",
    .usual_order = PP_ORDER_SHUFFLED,
    .is_named = is_prefix,
    .is_begun = is_index,
    .open = open_megatron,
};
