/* The weights for the hub that this process writes: those of which it has the first copy. */
#include "exec/train/parts.h"

#include "kernels/numbers.h"

struct source {
    const struct pp_checkpoint_parts *parts;
    void *chunk; /* [PP_CHECKPOINT_CHUNK_BYTES] */
};

/* Sets `run` to the elements from `from` on that the first part with that one has. Returns the
 * part; -1 = none. */
static int take(const struct source *s, const struct pp_param *tensor, int64_t from,
                struct pp_checkpoint_run *run, struct pp_error *err)
{
    const int part = pp_checkpoint_take(s->parts, tensor->id, 0, from, run);

    if (part < 0)
        pp_error_set(err, PP_EFAIL, "no process has all of %s in layer %d", tensor->name,
                     tensor->layer);
    return part;
}

/* Takes elements of a part, at most a chunk of them. */
static enum pp_status fetch_some(const struct source *s, int part, int64_t at, int64_t count,
                                 float *values, struct pp_error *err)
{
    const size_t bytes = s->parts->kernels->gradient_bytes;
    const void *from =
        pp_checkpoint_fetch(s->parts, part, pp_checkpoint_vector(s->parts, part, 0, at),
                            (size_t)count * bytes, s->chunk, err);

    if (!from)
        return err->status;
    for (int64_t i = 0; i < count; i++)
        values[i] = (float)pp_number_get(from, bytes, i);
    return PP_OK;
}

static enum pp_status fetch_run(const struct source *s, const struct pp_param *tensor, int64_t from,
                                int64_t until, float *values, struct pp_error *err)
{
    const int64_t most = PP_CHECKPOINT_CHUNK_BYTES / (int64_t)s->parts->kernels->gradient_bytes;
    struct pp_checkpoint_run run;

    for (int64_t done = from; done < until;) {
        const int part = take(s, tensor, done, &run, err);
        if (part < 0)
            return err->status;
        const int64_t end = run.of.until < until ? run.of.until : until, left = end - done,
                      some = left < most ? left : most;
        PP_TRY(fetch_some(s, part, run.at, some, values + (done - from), err));
        done += some;
    }
    return PP_OK;
}

static enum pp_status fetch(void *closure, const struct pp_param *tensor,
                            struct pp_slice_piece runs, float *values, struct pp_error *err)
{
    for (int64_t r = 0; r < runs.runs; r++) {
        const int64_t from = runs.first + r * runs.stride;
        PP_TRY(fetch_run(closure, tensor, from, from + runs.run, values + r * runs.run, err));
    }
    return PP_OK;
}

/* Sets `*until` to the end of the elements from `from` on that are all here, or all elsewhere. */
static enum pp_status find_end(const struct source *s, const struct pp_hub_piece *piece,
                               int64_t from, int64_t *until, bool *is_here, struct pp_error *err)
{
    const int64_t end = piece->from + piece->rows * piece->columns;
    struct pp_checkpoint_run run;

    for (*until = from; *until < end; *until = run.of.until < end ? run.of.until : end) {
        const int part = take(s, piece->param, *until, &run, err);
        if (part < 0)
            return err->status;
        const bool is_next_here = !s->parts->part[part].is_elsewhere;
        if (*until > from && is_next_here != *is_here)
            return PP_OK;
        *is_here = is_next_here;
    }
    return PP_OK;
}

/* True, and adds the elements, if they are a column of the next row. */
static bool extend(struct pp_slice_piece *runs, const struct pp_hub_piece *piece, int64_t from,
                   int64_t until)
{
    const bool is_next = runs->runs > 0 && runs->run == until - from &&
                         from == runs->first + runs->runs * piece->columns;

    runs->stride = is_next ? piece->columns : runs->stride;
    runs->runs += is_next;
    return is_next;
}

/* Puts each element that the first part with it has here: columns of several rows at once. */
static enum pp_status put_piece(struct pp_hub_writer *writer, const struct pp_hub_layout *layout,
                                int i, struct source *s, struct pp_error *err)
{
    const struct pp_hub_piece *piece = &layout->pieces[i];
    const int64_t end = piece->from + piece->rows * piece->columns;
    struct pp_slice_piece runs = {0};
    bool is_here = false;

    for (int64_t from = piece->from, until; from < end; from = until) {
        PP_TRY(find_end(s, piece, from, &until, &is_here, err));
        if (!is_here || extend(&runs, piece, from, until))
            continue;
        PP_TRY(pp_hub_writer_put(writer, i, runs, fetch, s, err));
        runs = pp_slice_run(from, until);
    }
    return pp_hub_writer_put(writer, i, runs, fetch, s, err);
}

enum pp_status pp_train_export_parts(const struct pp_hub_export *export, const char *path,
                                     const struct pp_checkpoint_parts *parts, int64_t *bytes,
                                     struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_hub_draft draft = pp_hub_draft_of(scratch, export, path);
    struct pp_hub_writer *writer = pp_hub_writer_open(scratch, &draft);
    struct source source = {.parts = parts,
                            .chunk = pp_arena_alloc_raw(scratch, PP_CHECKPOINT_CHUNK_BYTES)};
    enum pp_status status = PP_OK;

    for (int i = 0; i < export->layout->count && status == PP_OK; i++)
        status = put_piece(writer, export->layout, i, &source, err);
    return pp_hub_writer_close(writer, status, bytes, err);
}
