/* The weights for the hub that this process writes: those of which it has the first copy. */
#include "exec/train/parts.h"

#include "kernels/numbers.h"

/* A part of this process that has elements of a tensor. */
struct source {
    const struct pp_checkpoint_parts *parts;
    int part;
    const char *vector; /* the run of the part */
    int64_t from;       /* element of the tensor at its begin */
    void *chunk;        /* [PP_CHECKPOINT_CHUNK_BYTES] */
};

static enum pp_status fetch(void *closure, const struct pp_param *tensor, struct pp_range range,
                            float *values, struct pp_error *err)
{
    const struct source *s = closure;
    const size_t bytes = s->parts->kernels->gradient_bytes;
    const int64_t most = PP_CHECKPOINT_CHUNK_BYTES / (int64_t)bytes;

    (void)tensor;
    for (int64_t done = range.from; done < range.until;) {
        const int64_t left = range.until - done, some = left < most ? left : most;
        const void *at =
            pp_checkpoint_fetch(s->parts, s->part, s->vector + (size_t)(done - s->from) * bytes,
                                (size_t)some * bytes, s->chunk, err);
        if (!at)
            return err->status;
        for (int64_t i = 0; i < some; i++)
            values[done - range.from + i] = (float)pp_number_get(at, bytes, i);
        done += some;
    }
    return PP_OK;
}

/* Takes each element from the first part that has it, if that is here. */
static enum pp_status put_piece(struct pp_hub_writer *writer, const struct pp_hub_layout *layout,
                                int i, struct source *s, struct pp_error *err)
{
    const struct pp_hub_piece *piece = &layout->pieces[i];
    const int64_t end = piece->from + piece->rows * piece->columns;
    struct pp_checkpoint_run run;

    for (int64_t done = piece->from; done < end; done = run.of.until) {
        s->part = pp_checkpoint_take(s->parts, piece->param->id, 0, done, &run);
        if (s->part < 0)
            return pp_error_set(err, PP_EFAIL, "no process has all of %s in layer %d",
                                piece->param->name, piece->param->layer);
        if (s->parts->part[s->part].is_elsewhere)
            continue;
        s->vector = pp_checkpoint_vector(s->parts, s->part, 0, run.at);
        s->from = done;
        const struct pp_range range = {done, run.of.until < end ? run.of.until : end};
        PP_TRY(pp_hub_writer_put(writer, i, range, fetch, s, err));
    }
    return PP_OK;
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
