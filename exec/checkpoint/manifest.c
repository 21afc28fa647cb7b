/* The manifest as text: a fact a line, in a fixed order, then a checksum of all. */
#include "exec/checkpoint/checkpoint.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { FORMAT = 1, END_BYTES = sizeof("end 00000000\n") - 1, MAX_LAYERS = 65535 + 2 };
static const char MAGIC[] = "pipesim checkpoint ";

static uint32_t crc_of(const char *text, size_t length)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), (const unsigned char *)text, length);
}

/* ---- print ----------------------------------------------------------------------------------- */

static void print_layer(const struct pp_manifest_layer *layer, int number, FILE *out)
{
    fprintf(out, "layer %d %" PRId64 " %08" PRIx32 " %d\n", number, layer->bytes, layer->crc,
            layer->tensor_count);
    for (int t = 0; t < layer->tensor_count; t++)
        fprintf(out, "tensor %s %" PRId64 "\n", layer->tensors[t].name, layer->tensors[t].count);
}

static void print_head(const struct pp_manifest *m, FILE *out)
{
    fprintf(out, "%s%d\nstep %d\n", MAGIC, FORMAT, m->step);
    for (int i = 0; i < PP_IDENTITY_FIELDS; i++)
        if (i < PP_IDENTITY_FIRST_UNUSUAL ||
            m->identity.value[i] != pp_identity_usual(&m->identity, i))
            fprintf(out, "%s %" PRId64 "\n", pp_identity_name(i), m->identity.value[i]);
    fprintf(out, "tokens %" PRId64 " %08" PRIx32 "\n", m->tokens, m->tokens_crc);
    fprintf(out, "options %d\n", m->option_count);
    for (int i = 0; i < m->option_count; i++)
        fprintf(out, "%s %s\n", m->options[i].name, m->options[i].value);
}

char *pp_manifest_print(struct pp_arena *arena, const struct pp_manifest *manifest, size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);

    print_head(manifest, out);
    for (int i = 0; i < manifest->layer_count; i++)
        print_layer(&manifest->layers[i], i, out);
    fflush(out);
    fprintf(out, "end %08" PRIx32 "\n", crc_of(text, *length));
    fclose(out);
    char *copy = pp_arena_strdup(arena, text);
    free(text);
    return copy;
}

/* ---- parse ----------------------------------------------------------------------------------- */

struct reader {
    struct pp_arena *arena;
    const char *name;
    char *at, *end; /* rest of the text; a NUL ends a line taken */
    int line;       /* number of the last line taken, from 1 */
    struct pp_error *err;
};

static enum pp_status refuse(const struct reader *r, const char *expected, const char *found)
{
    return pp_error_set(r->err, PP_EINVAL, "%s:%d: expected %s, found '%.80s'", r->name, r->line,
                        expected, found);
}

/* Returns the next line without its end; "" after the last one. */
static char *take_line(struct reader *r)
{
    char *line = r->at,
         *end = r->at < r->end ? memchr(r->at, '\n', (size_t)(r->end - r->at)) : NULL;

    r->line++;
    if (!end) {
        r->at = r->end;
        return r->end;
    }
    *end = '\0';
    r->at = end + 1;
    return line;
}

/* Reads a number of decimal digits, without sign or leading zeros, and moves *text after it. */
static bool take_number(const char **text, int64_t most, int64_t *value)
{
    const char *at = *text;
    int64_t number = 0;

    if (*at < '0' || *at > '9' || (at[0] == '0' && at[1] >= '0' && at[1] <= '9'))
        return false;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (number > (most - (*at - '0')) / 10)
            return false;
        number = 10 * number + (*at - '0');
    }
    *text = at;
    *value = number;
    return true;
}

static bool take_crc(const char **text, uint32_t *crc)
{
    *crc = 0;
    for (int i = 0; i < 8; i++, (*text)++) {
        const char *digits = "0123456789abcdef", *digit = **text ? strchr(digits, **text) : NULL;
        if (!digit)
            return false;
        *crc = *crc << 4 | (uint32_t)(digit - digits);
    }
    return true;
}

static bool take_word(const char **text, const char *word)
{
    const size_t length = strlen(word);

    if (strncmp(*text, word, length) != 0)
        return false;
    *text += length;
    return true;
}

static enum pp_status read_number(struct reader *r, const char *key, int64_t low, int64_t high,
                                  int64_t *value)
{
    const char *line = take_line(r), *at = line;
    char expected[96];

    if (take_word(&at, key) && take_word(&at, " ") && take_number(&at, high, value) && !*at &&
        *value >= low)
        return PP_OK;
    snprintf(expected, sizeof expected, "%s and a number of %" PRId64 " to %" PRId64, key, low,
             high);
    return refuse(r, expected, line);
}

/* Takes a line of its own only if the value is not the usual one. */
static enum pp_status read_unusual(struct reader *r, struct pp_identity *identity, int field)
{
    const int64_t usual = pp_identity_usual(identity, field);
    const char *name = pp_identity_name(field), *at = r->at;

    identity->value[field] = usual;
    if (!take_word(&at, name) || !take_word(&at, " "))
        return PP_OK;
    PP_TRY(read_number(r, name, 0, INT_MAX, &identity->value[field]));
    if (identity->value[field] != usual)
        return PP_OK;
    return pp_error_set(r->err, PP_EINVAL, "%s:%d: %s is the usual one, which has no line", r->name,
                        r->line, name);
}

static enum pp_status read_head(struct reader *r, struct pp_manifest *m)
{
    int64_t format, step, options;

    PP_TRY(read_number(r, "pipesim checkpoint", FORMAT, FORMAT, &format));
    PP_TRY(read_number(r, "step", 0, INT_MAX, &step));
    m->step = (int)step;
    for (int i = 0; i < PP_IDENTITY_FIRST_UNUSUAL; i++)
        PP_TRY(read_number(r, pp_identity_name(i), 0, INT_MAX, &m->identity.value[i]));
    for (int i = PP_IDENTITY_FIRST_UNUSUAL; i < PP_IDENTITY_FIELDS; i++)
        PP_TRY(read_unusual(r, &m->identity, i));
    const char *line = take_line(r), *at = line;
    if (!take_word(&at, "tokens ") || !take_number(&at, INT64_MAX, &m->tokens) ||
        !take_word(&at, " ") || !take_crc(&at, &m->tokens_crc) || *at)
        return refuse(r, "tokens, their number and their checksum", line);
    PP_TRY(read_number(r, "options", 0, 1024, &options));
    m->option_count = (int)options;
    m->options = PP_ARRAY(r->arena, struct pp_manifest_option, options);
    for (int i = 0; i < m->option_count; i++) {
        char *name = take_line(r), *space = strchr(name, ' ');
        if (!space || space == name)
            return refuse(r, "an option and its value", name);
        *space = '\0';
        m->options[i] = (struct pp_manifest_option){name, space + 1};
    }
    return PP_OK;
}

static enum pp_status read_tensors(struct reader *r, struct pp_manifest_layer *layer,
                                   int64_t element_bytes)
{
    int64_t bytes = 0;

    for (int t = 0; t < layer->tensor_count; t++) {
        const char *line = take_line(r), *at = line, *space = strrchr(line, ' ');
        struct pp_manifest_tensor *tensor = &layer->tensors[t];
        const int64_t most = (INT64_MAX - bytes) / (PP_CHECKPOINT_VECTORS * element_bytes);

        if (!take_word(&at, "tensor ") || !space || space <= at)
            return refuse(r, "a tensor, its name and its elements", line);
        tensor->name = at;
        *(char *)(uintptr_t)space = '\0';
        at = space + 1;
        if (!take_number(&at, most, &tensor->count) || *at)
            return refuse(r, "a number of elements", space + 1);
        bytes += PP_CHECKPOINT_VECTORS * element_bytes * tensor->count;
    }
    if (bytes == layer->bytes)
        return PP_OK;
    return pp_error_set(r->err, PP_EINVAL,
                        "%s:%d: the tensors of this layer take %" PRId64 " bytes, not %" PRId64,
                        r->name, r->line, bytes, layer->bytes);
}

static enum pp_status read_layer(struct reader *r, struct pp_manifest_layer *layer, int number,
                                 int64_t element_bytes)
{
    enum { MAX_TENSORS = 64 };
    const char *line = take_line(r), *at = line;
    int64_t found, tensors;

    if (!take_word(&at, "layer ") || !take_number(&at, INT_MAX, &found) || found != number ||
        !take_word(&at, " ") || !take_number(&at, INT64_MAX, &layer->bytes) ||
        !take_word(&at, " ") || !take_crc(&at, &layer->crc) || !take_word(&at, " ") ||
        !take_number(&at, MAX_TENSORS, &tensors) || *at) {
        char expected[96];
        snprintf(expected, sizeof expected,
                 "layer %d, its bytes, their checksum and how many tensors they are", number);
        return refuse(r, expected, line);
    }
    layer->tensor_count = (int)tensors;
    layer->tensors = PP_ARRAY(r->arena, struct pp_manifest_tensor, tensors);
    return read_tensors(r, layer, element_bytes);
}

static enum pp_status read_layers(struct reader *r, struct pp_manifest *m)
{
    const int64_t bits = m->identity.value[PP_IDENTITY_PRECISION],
                  blocks = m->identity.value[PP_IDENTITY_LAYERS];

    if ((bits != 16 && bits != 32 && bits != 64) || blocks > MAX_LAYERS - 2)
        return pp_error_set(r->err, PP_EINVAL,
                            "%s: numbers of %" PRId64 " bits in %" PRId64
                            " blocks: expected 16, 32 "
                            "or 64, and at most %d",
                            r->name, bits, blocks, MAX_LAYERS - 2);
    m->layer_count = (int)blocks + 2;
    m->layers = PP_ARRAY(r->arena, struct pp_manifest_layer, m->layer_count);
    for (int i = 0; i < m->layer_count; i++)
        PP_TRY(read_layer(r, &m->layers[i], i, bits == 64 ? 8 : 4));
    if (r->at < r->end)
        return refuse(r, "the end", take_line(r));
    return PP_OK;
}

/* The format is checked first, because another one may have another end. */
static enum pp_status check_format(const char *name, const char *text, size_t length,
                                   struct pp_error *err)
{
    const size_t magic = sizeof MAGIC - 1;

    if (length < magic || memcmp(text, MAGIC, magic) != 0)
        return pp_error_set(err, PP_EINVAL, "%s is not the manifest of a checkpoint", name);
    if (length > magic + 1 && text[magic] == '0' + FORMAT && text[magic + 1] == '\n')
        return PP_OK;
    return pp_error_set(
        err, PP_EINVAL, "%s is of format '%.*s', but this pipeexec reads format %d", name,
        (int)strcspn(text + magic, "\n") < 20 ? (int)strcspn(text + magic, "\n") : 20, text + magic,
        FORMAT);
}

static enum pp_status check_sum(const char *name, const char *text, size_t length,
                                struct pp_error *err)
{
    const char *end = length >= END_BYTES ? text + length - END_BYTES : "";
    uint32_t stated;

    if (!take_word(&end, "end ") || !take_crc(&end, &stated) || *end != '\n')
        return pp_error_set(err, PP_EINVAL,
                            "%s is damaged: it does not end in its checksum, as if cut off", name);
    const uint32_t found = crc_of(text, length - END_BYTES);
    if (stated == found)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s is damaged: its checksum is %08" PRIx32
                        ", that of its bytes %08" PRIx32,
                        name, stated, found);
}

enum pp_status pp_manifest_parse(struct pp_arena *arena, const char *name, const char *text,
                                 size_t length, struct pp_manifest *manifest, struct pp_error *err)
{
    PP_TRY(check_format(name, text, length, err));
    PP_TRY(check_sum(name, text, length, err));
    if (memchr(text, '\0', length))
        return pp_error_set(err, PP_EINVAL, "%s is no text: it has a byte 0", name);
    const size_t body = length - END_BYTES;
    char *copy = pp_arena_alloc_raw(arena, body + 1);
    memcpy(copy, text, body);
    copy[body] = '\0';
    struct reader reader = {arena, name, copy, copy + body, 0, err};
    *manifest = (struct pp_manifest){0};
    PP_TRY(read_head(&reader, manifest));
    return read_layers(&reader, manifest);
}
