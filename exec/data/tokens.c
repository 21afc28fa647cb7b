/* Tokens as formats store them. */
#include "exec/data/format.h"

uint32_t pp_u32_at(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint64_t pp_u64_at(const unsigned char *at)
{
    return pp_u32_at(at) | (uint64_t)pp_u32_at(at + 4) << 32;
}

static int64_t u8_at(const unsigned char *bytes, size_t i)
{
    return bytes[i];
}

static int64_t i8_at(const unsigned char *bytes, size_t i)
{
    return (int8_t)bytes[i];
}

static int64_t u16_at(const unsigned char *bytes, size_t i)
{
    return bytes[2 * i] | bytes[2 * i + 1] << 8;
}

static int64_t i16_at(const unsigned char *bytes, size_t i)
{
    return (int16_t)u16_at(bytes, i);
}

static int64_t i32_at(const unsigned char *bytes, size_t i)
{
    return (int32_t)pp_u32_at(bytes + 4 * i);
}

static int64_t i64_at(const unsigned char *bytes, size_t i)
{
    return (int64_t)pp_u64_at(bytes + 8 * i);
}

const struct pp_token_type pp_token_types[] = {
    [PP_U8] = {1, UINT8_MAX, u8_at},    [PP_I8] = {1, INT8_MAX, i8_at},
    [PP_U16] = {2, UINT16_MAX, u16_at}, [PP_I16] = {2, INT16_MAX, i16_at},
    [PP_I32] = {4, INT32_MAX, i32_at},  [PP_I64] = {8, INT64_MAX, i64_at},
};

void pp_text_one_file(struct pp_arena *arena, struct pp_text *text, struct pp_token_file file)
{
    struct pp_token_file *files = PP_NEW(arena, struct pp_token_file);

    *files = file;
    text->files = files;
    text->file_count = 1;
    text->count = file.count;
}
