/* schedules/program/text.c — a program as text, and the hash of that text. */
#define _GNU_SOURCE /* fopencookie */
#include "schedules/program/freeze.h"

#include "core/hash.h"

#include <assert.h>
#include <stdlib.h>

/* Prints the cell at instruction i, after a comma if it is not the first; returns the next i. */
static int print_cell(const struct pp_program *p, int i, struct pp_op_style style, bool is_first,
                      FILE *out)
{
    const struct pp_op op = pp_program_op(p, i);
    char text[1 + PP_OP_TEXT_BYTES], *cell = text + 1;
    const size_t length = pp_op_print(&op, style, cell);

    text[0] = ',';
    if (op.kind != PP_F || op.aux != PP_FUSED_FIRST) {
        fwrite(text + is_first, 1, length + !is_first, out);
        return i + 1;
    }
    const struct pp_op second = pp_program_op(p, i + 1);
    fprintf(out, "%s(%s;", is_first ? "" : ",", cell);
    pp_op_print(&second, style, cell);
    fprintf(out, "%s)OVERLAP_F_B", cell);
    return i + 2;
}

/* Prints the cells whose kind has its bit in `kinds`. */
static void print_cells(const struct pp_program *p, uint64_t kinds, struct pp_op_style style,
                        FILE *out)
{
    for (int r = 0; r < p->ranks; r++) {
        bool is_first = true;
        for (int i = p->begin[r]; i < p->begin[r + 1];) {
            if (!(kinds >> p->kind[i] & 1u)) {
                i++;
                continue;
            }
            i = print_cell(p, i, style, is_first, out);
            is_first = false;
        }
        fputc('\n', out);
    }
}

void pp_program_print_kinds(const struct pp_program *p, uint64_t kinds, FILE *out)
{
    struct pp_op_style style = pp_program_style(p);

    style.slots = style.versions = false;
    style.pytorch = true;
    print_cells(p, kinds, style, out);
}

void pp_program_print(const struct pp_program *p, FILE *out)
{
    if (p->level != PP_LEVEL_COMPUTE) /* PyTorch's format has no metadata */
        pp_program_meta_print(p, out);
    else if (p->passes > 0)
        fprintf(out, "# %s: %d\n", pp_meta_size_names[PP_META_PASSES], p->passes);
    print_cells(p, UINT64_MAX, pp_program_style(p), out);
}

char *pp_program_text(struct pp_arena *arena, const struct pp_program *p)
{
    char *made, *text;
    size_t length;
    FILE *out = open_memstream(&made, &length);

    assert(out);
    pp_program_print(p, out);
    fclose(out);
    text = pp_arena_strdup(arena, made);
    free(made);
    return text;
}

static ssize_t add_to_hash(void *hash, const char *text, size_t length)
{
    *(uint64_t *)hash = pp_hash(*(uint64_t *)hash, text, length);
    return (ssize_t)length;
}

uint64_t pp_program_hash(const struct pp_program *p)
{
    uint64_t hash = PP_HASH_OF_NOTHING;
    FILE *out = fopencookie(&hash, "w", (cookie_io_functions_t){.write = add_to_hash});

    assert(out);
    pp_program_print(p, out);
    fclose(out);
    return hash;
}
