/* Reads files into lists, cell by cell. read_sizes.c and read_infer.c find sizes and placement. */
#include "core/map64.h"
#include "core/text/csv.h"
#include "core/text/file.h"
#include "schedules/program/freeze.h"

#include <string.h>

/* ---- messages and collectives ---------------------------------------------------------------- */

/* Files that post messages or collectives but never wait for received data, as in PyTorch's
 * compute_comms format. Its runtime waits for a RECV (or an UNSHARD) before the computation that
 * needs it. It waits for a SEND (or a gradient sum) at the list's end or, since 2.15, as told. */

static bool is_need(int kind)
{
    return pp_op_is_recv(kind) || kind == PP_AG;
}

static bool lacks_waits(const struct pp_orders *lists)
{
    bool has_posts = false, has_needs = false, has_waits = false;

    for (int r = 0; r < lists->ranks; r++)
        for (int at = 0; at < lists->count[r]; at++) {
            const struct pp_op *op = &lists->ops[r][at];
            if (op->kind == PP_WAIT && is_need(op->aux))
                return false;
            has_waits |= op->kind == PP_WAIT;
            has_needs |= is_need(op->kind);
            has_posts |= pp_op_is_posted(op->kind);
        }
    return has_waits ? has_needs : has_posts;
}

/* Key of an input: a message by (kind, stage, micro-batch, split), weights by (stage, pipeline,
 * bucket). The RECV or AG that provides it has the same key. */
static uint64_t need_key(int kind, const struct pp_op *op, int part)
{
    const uint64_t name = (uint64_t)kind << 56 | (uint64_t)part << 47 | (uint64_t)op->stage << 31;

    return name | (kind == PP_AG ? (uint64_t)op->pipe : (uint32_t)op->mb);
}

struct rewrite { /* one list being copied with WAITs */
    const struct pp_op *from;
    struct pp_op *ops;
    int32_t *line, *column;
    const int32_t *from_line, *from_column;
    int count;
    struct pp_map64 open; /* RECVs and AGs posted and not waited for: position in `from`, or -1 */
    struct pp_map64 said; /* WAITs of the list itself */
};

/* Appends an op with the file place of the op at `at`. */
static void add_op(struct rewrite *w, struct pp_op op, int at)
{
    w->ops[w->count] = op;
    w->line[w->count] = w->from_line[at];
    w->column[w->count++] = w->from_column[at];
}

static void add_wait(struct rewrite *w, int target, int at)
{
    struct pp_op op = pp_op_wait(w->from[target]);

    op.slot = -1;
    add_op(w, op, at);
}

/* Adds the WAIT for an input of the op at `at`; false if nothing provides it. */
static bool wait_for(struct rewrite *w, int kind, int part, int at)
{
    int32_t *target = pp_map64_find(&w->open, need_key(kind, &w->from[at], part));

    if (target && *target >= 0) {
        add_wait(w, *target, at);
        *target = -1;
    }
    return target != NULL;
}

static void wait_for_needs(struct rewrite *w, int at)
{
    const int kind = w->from[at].kind, split = w->from[at].split;

    if (!pp_op_is_compute(kind))
        return;
    for (int bucket = 0; wait_for(w, PP_AG, bucket, at); bucket++)
        ;
    if (kind == PP_F)
        wait_for(w, PP_RECV_F, split, at);
    if (kind == PP_B || kind == PP_I)
        wait_for(w, PP_RECV_B, split, at);
}

static void rewrite_list(struct rewrite *w, int count)
{
    for (int at = 0; at < count; at++) {
        const struct pp_op *op = &w->from[at];
        if (op->aux != PP_FUSED_SECOND || !pp_op_is_compute(op->kind))
            wait_for_needs(w, at);
        if (op->aux == PP_FUSED_FIRST && op->kind == PP_F)
            wait_for_needs(w, at + 1); /* both of a pair start together */
        add_op(w, *op, at);
        if (op->kind == PP_WAIT)
            *pp_map64_at(&w->said, need_key(op->aux, op, op->split), at) = at;
        if (is_need(op->kind))
            *pp_map64_at(&w->open, need_key(op->kind, op, op->split), at) = at;
    }
    for (int at = 0; at < count; at++) {
        const struct pp_op *op = &w->from[at];
        const int kind = op->kind;
        if (!pp_op_is_posted(kind) || pp_map64_find(&w->said, need_key(kind, op, op->split)))
            continue;
        if (is_need(kind)) {
            int32_t *target = pp_map64_find(&w->open, need_key(kind, op, op->split));
            if (!target || *target != at)
                continue;
            *target = -1;
        }
        add_wait(w, at, at);
    }
}

/* Adds WAITs to files with SEND and RECV but without WAIT. */
static void reading_add_waits(struct pp_reading *reading)
{
    struct pp_arena *scratch = reading->scratch;
    struct pp_orders *lists = reading->lists;

    if (!lacks_waits(lists))
        return;
    for (int r = 0; r < lists->ranks; r++) {
        int room = lists->count[r];
        for (int at = 0; at < lists->count[r]; at++)
            room += pp_op_is_posted(lists->ops[r][at].kind);
        struct rewrite w = {.from = lists->ops[r],
                            .ops = pp_arena_alloc_raw(scratch, (size_t)room * sizeof(struct pp_op)),
                            .line = pp_arena_alloc_raw(scratch, (size_t)room * sizeof(int32_t)),
                            .column = pp_arena_alloc_raw(scratch, (size_t)room * sizeof(int32_t)),
                            .from_line = reading->line[r],
                            .from_column = reading->column[r],
                            .open = pp_map64_create(scratch, lists->count[r]),
                            .said = pp_map64_create(scratch, lists->count[r])};
        rewrite_list(&w, lists->count[r]);
        lists->ops[r] = w.ops;
        lists->count[r] = lists->capacity[r] = w.count;
        reading->line[r] = w.line;
        reading->column[r] = w.column;
    }
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* In 2024, B was the input gradient (today's I) and BW the full backward (today's B). Rewrites the
 * cell in place; false if it has an I, which did not exist. */
static bool translate_2024(char *cell)
{
    char *to = cell;

    for (const char *from = cell; *from; from++) {
        const bool is_kind = from > cell && is_digit(from[-1]);
        if (is_kind && *from == 'I' && is_digit(from[1]))
            return false;
        if (is_kind && *from == 'B' && from[1] == 'W' && is_digit(from[2])) {
            *to++ = 'B';
            from++;
        } else if (is_kind && *from == 'B' && is_digit(from[1])) {
            *to++ = 'I';
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
    return true;
}

static bool is_idle(const char *cell)
{
    return cell[strspn(cell, " \t\r\n")] == '\0';
}

static enum pp_status read_cell(const struct pp_reading *reading, enum pp_dialect dialect,
                                const char *cell, struct pp_op ops[2], int *count)
{
    if (dialect == PP_DIALECT_2024) {
        char *modern = pp_arena_strdup(reading->scratch, cell);
        if (!translate_2024(modern))
            return pp_error_set(reading->err, PP_EPROGRAM,
                                "'%.60s': files of 2024 have no I (their B is the input gradient): "
                                "read this one without --dialect 2024",
                                cell);
        cell = modern;
    }
    return pp_op_parse(cell, ops, count, reading->err);
}

static enum pp_status read_row(struct pp_reading *reading, enum pp_dialect dialect, int rank,
                               const struct pp_csv_row *row)
{
    const size_t room = 2 * (size_t)row->count;
    struct pp_op *ops = pp_arena_alloc_raw(reading->scratch, room * sizeof(*ops));
    int32_t *line = pp_arena_alloc_raw(reading->scratch, room * sizeof(*line));
    int32_t *column = pp_arena_alloc_raw(reading->scratch, room * sizeof(*column));
    int total = 0, count;

    for (int k = 0; k < row->count; k++) {
        if (is_idle(row->fields[k]))
            continue;
        if (read_cell(reading, dialect, row->fields[k], &ops[total], &count) != PP_OK) {
            pp_error_prefix(reading->err, "%s:%d:%d: ", reading->file, row->line, k + 1);
            return PP_EPROGRAM;
        }
        for (; count > 0; count--, total++) {
            line[total] = row->line;
            column[total] = k + 1;
        }
    }
    if (total == 0)
        return pp_error_set(reading->err, PP_EPROGRAM,
                            "%s:%d: rank %d has no instructions: every row is a rank and needs at "
                            "least one",
                            reading->file, row->line, rank);
    reading->lists->ops[rank] = ops;
    reading->lists->count[rank] = reading->lists->capacity[rank] = total;
    reading->line[rank] = line;
    reading->column[rank] = column;
    return PP_OK;
}

static enum pp_status read_rows(struct pp_reading *reading, enum pp_dialect dialect,
                                const struct pp_csv *csv)
{
    int ranks = csv->count;
    int64_t total = 0;

    while (ranks > 0 && csv->rows[ranks - 1].count == 0)
        ranks--;
    if (ranks == 0)
        return pp_error_set(reading->err, PP_EPROGRAM,
                            "%s: no ranks: expected one row of cells like 0F0,0B0 per rank",
                            reading->file);
    if (ranks > PP_MAX_RANKS)
        return pp_error_set(reading->err, PP_EPROGRAM, "%s: %d rows: at most %d ranks",
                            reading->file, ranks, PP_MAX_RANKS);
    for (int r = 0; r < ranks; r++)
        total += csv->rows[r].count;
    if (total > PP_MAX_PROGRAM_OPS / 4) /* a cell may become two, and a message adds a WAIT */
        return pp_error_set(reading->err, PP_EPROGRAM, "%s: %lld cells: at most %d", reading->file,
                            (long long)total, PP_MAX_PROGRAM_OPS / 4);
    reading->head.ranks = ranks;
    reading->lists = pp_orders_create(reading->scratch, ranks);
    reading->line = PP_ARRAY(reading->scratch, int32_t *, ranks);
    reading->column = PP_ARRAY(reading->scratch, int32_t *, ranks);
    for (int r = 0; r < ranks; r++)
        PP_TRY(read_row(reading, dialect, r, &csv->rows[r]));
    return PP_OK;
}

/* Refuses full backwards followed by weight gradients: a file of 2024 read by today's rules. */
static enum pp_status check_era(const struct pp_reading *reading)
{
    const struct pp_orders *lists = reading->lists;
    int64_t kinds[PP_OP_KINDS] = {0};

    for (int r = 0; r < lists->ranks; r++)
        for (int at = 0; at < lists->count[r]; at++)
            kinds[lists->ops[r][at].kind]++;
    if (kinds[PP_I] > 0 || kinds[PP_B] == 0 || kinds[PP_W] == 0)
        return PP_OK;
    for (int r = 0; r < lists->ranks; r++)
        for (int at = 0; at < lists->count[r]; at++)
            if (lists->ops[r][at].kind == PP_W)
                return pp_reading_error(
                    reading, r, at,
                    "a weight gradient (W) in a file without input gradients (I): if the file is "
                    "of 2024, when B was the input gradient, read it with --dialect 2024");
    return PP_OK;
}

static enum pp_status read_all(struct pp_reading *reading, enum pp_dialect dialect,
                               const char *text, size_t length)
{
    struct pp_csv csv, comments;

    if (pp_csv_parse(reading->scratch, reading->file, text, length, &csv, &comments,
                     reading->err) != PP_OK) {
        if (reading->err)
            reading->err->status = PP_EPROGRAM;
        return PP_EPROGRAM;
    }
    PP_TRY(pp_program_meta_parse(reading->arena, reading->file, &comments, &reading->meta,
                                 reading->err));
    PP_TRY(read_rows(reading, dialect, &csv));
    PP_TRY(check_era(reading));
    PP_TRY(pp_reading_sizes(reading));
    PP_TRY(pp_reading_placement(reading));
    if (!reading->meta.is_given)
        reading_add_waits(reading);
    return PP_OK;
}

enum pp_status pp_program_parse(struct pp_arena *arena, const char *name, const char *text,
                                size_t length, enum pp_dialect dialect, struct pp_program **program,
                                struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const char *file = pp_arena_strdup(arena, name);
    struct pp_reading reading = {.arena = arena, .scratch = scratch, .file = file, .err = err};

    PP_TRY(read_all(&reading, dialect, text, length));
    reading.head.file = file;
    reading.head.name = reading.meta.schedule ? reading.meta.schedule : file;
    reading.head.line = (const int32_t *const *)reading.line;
    reading.head.column = (const int32_t *const *)reading.column;
    return pp_program_freeze(arena, &reading.head, reading.lists, program, err);
}

enum pp_status pp_program_read(struct pp_arena *arena, const char *path, enum pp_dialect dialect,
                               struct pp_program **program, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    char *text;
    size_t length;

    PP_TRY(pp_file_read(scratch, path, &text, &length, err));
    return pp_program_parse(arena, path, text, length, dialect, program, err);
}
