/* schedules/program/text.c — a program as text, and the hash of that text. */
#include "schedules/program/freeze.h"

#include "core/hash.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- sinks: the same walk feeds a file and the hash ------------------------------------------ */

enum { SINK_BYTES = 8192 };
struct sink {
    void (*flush)(struct sink *sink, const char *text, size_t length);
    FILE *out;
    uint64_t hash;
    size_t used;
    char buffer[SINK_BYTES];
};

static void flush_file(struct sink *sink, const char *text, size_t length)
{
    fwrite(text, 1, length, sink->out);
}

static void flush_hash(struct sink *sink, const char *text, size_t length)
{
    sink->hash = pp_hash(sink->hash, text, length);
}

/* Room for one more cell with its frame. */
enum { CELL_BYTES = 2 * PP_OP_TEXT_BYTES + 32 };

static char *sink_room(struct sink *sink)
{
    if (sink->used + CELL_BYTES > SINK_BYTES) {
        sink->flush(sink, sink->buffer, sink->used);
        sink->used = 0;
    }
    return sink->buffer + sink->used;
}

static void sink_text(struct sink *sink, const char *text, size_t length)
{
    sink->flush(sink, sink->buffer, sink->used);
    sink->used = 0;
    sink->flush(sink, text, length);
}

/* One cell from instruction i on; returns the index after it. */
static int sink_cell(struct sink *sink, const struct pp_program *p, int i, struct pp_op_style style)
{
    char *const start = sink_room(sink), *at = start;
    const struct pp_op op = pp_program_op(p, i);
    const bool is_pair = op.kind == PP_F && op.aux == PP_FUSED_FIRST;

    if (is_pair)
        *at++ = '(';
    at += pp_op_print(&op, style, at);
    if (is_pair) {
        const struct pp_op second = pp_program_op(p, ++i);
        *at++ = ';';
        at += pp_op_print(&second, style, at);
        memcpy(at, ")OVERLAP_F_B", 12);
        at += 12;
    }
    sink->used += (size_t)(at - start);
    return i + 1;
}

/* All cells, or those of some kinds, one bit each. */
static void sink_cells(struct sink *sink, const struct pp_program *p, uint64_t kinds,
                       struct pp_op_style style)
{
    for (int r = 0; r < p->ranks; r++) {
        bool is_first = true;
        for (int i = p->begin[r]; i < p->begin[r + 1];) {
            if (!(kinds >> p->kind[i] & 1u)) {
                i++;
                continue;
            }
            if (!is_first) {
                *sink_room(sink) = ',';
                sink->used++;
            }
            is_first = false;
            i = sink_cell(sink, p, i, style);
        }
        *sink_room(sink) = '\n';
        sink->used++;
    }
    sink->flush(sink, sink->buffer, sink->used);
}

static void sink_program(struct sink *sink, const struct pp_program *p, const char *meta)
{
    sink_text(sink, meta, strlen(meta));
    sink_cells(sink, p, UINT64_MAX, pp_program_style(p));
}

void pp_program_print_kinds(const struct pp_program *p, uint64_t kinds, FILE *out)
{
    struct sink sink = {.flush = flush_file, .out = out};
    struct pp_op_style style = pp_program_style(p);

    style.slots = style.versions = false;
    style.pytorch = true;
    sink_cells(&sink, p, kinds, style);
}

/* PyTorch's format knows no metadata. */
static const char *meta_text(struct pp_arena *arena, const struct pp_program *p)
{
    return p->level == PP_LEVEL_COMPUTE ? "" : pp_program_meta_print(arena, p);
}

void pp_program_print(const struct pp_program *p, FILE *out)
{
    struct pp_arena *scratch PP_ARENA_AUTO = pp_arena_create();
    struct sink sink = {.flush = flush_file, .out = out};

    sink_program(&sink, p, meta_text(scratch, p));
}

char *pp_program_text(struct pp_arena *arena, const struct pp_program *p)
{
    char *written;
    size_t length;
    FILE *out = open_memstream(&written, &length);

    assert(out);
    pp_program_print(p, out);
    fclose(out);
    char *text = pp_arena_strdup(arena, written);
    free(written);
    return text;
}

uint64_t pp_program_hash(const struct pp_program *p)
{
    struct pp_arena *scratch PP_ARENA_AUTO = pp_arena_create();
    struct sink sink = {.flush = flush_hash, .hash = PP_HASH_OF_NOTHING};

    sink_program(&sink, p, meta_text(scratch, p));
    return sink.hash;
}
