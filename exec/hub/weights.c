/* Weights of files as ours: rows of several tensors, one after the other, or transposed. */
#include "exec/hub/weights.h"

#include "core/text/file.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- names, shapes and types ----------------------------------------------------------------- */

/* Old files of BERT name gain and bias of a norm by their letters. */
static const struct pp_safetensor *find_old(const struct pp_safetensors *files, const char *name)
{
    static const char *const ends[][2] = {{"LayerNorm.weight", "gamma"},
                                          {"LayerNorm.bias", "beta"}};
    char old[256];

    for (size_t i = 0; i < PP_COUNT(ends); i++)
        if (pp_has_suffix(name, ends[i][0])) {
            snprintf(old, sizeof(old), "%.*s%s", (int)(strrchr(name, '.') + 1 - name), name,
                     ends[i][1]);
            return pp_safetensors_find(files, old);
        }
    return NULL;
}

static const struct pp_safetensor *find(const struct pp_safetensors *files,
                                        const struct pp_hub_layout *l, const char *name)
{
    const size_t prefix = strlen(l->family->prefix);
    const bool has_prefix = strncmp(name, l->family->prefix, prefix) == 0;
    const char *const names[] = {name, has_prefix ? name + prefix : name};
    const struct pp_safetensor *tensor = NULL;

    for (size_t i = 0; i < PP_COUNT(names) && !tensor; i++) {
        tensor = pp_safetensors_find(files, names[i]);
        tensor = tensor ? tensor : find_old(files, names[i]);
    }
    return tensor;
}

/* Appends a shape as "[64, 64]". */
static void append_shape(struct pp_error *err, int dimensions, const int64_t *shape)
{
    for (int i = 0; i < dimensions; i++)
        pp_error_append(err, "%s%" PRId64, i ? ", " : "[", shape[i]);
    pp_error_append(err, "%s", dimensions ? "]" : "[]");
}

static int shape_of(const struct pp_hub_piece *piece, int64_t shape[2])
{
    shape[0] = piece->order->is_transposed ? piece->columns : piece->stored_rows;
    shape[1] = piece->order->is_transposed ? piece->stored_rows : piece->columns;
    return piece->is_vector ? 1 : 2;
}

static enum pp_status match_piece(const struct pp_safetensors *files, const char *path,
                                  const struct pp_hub_layout *l, struct pp_hub_piece *piece,
                                  struct pp_error *err)
{
    const struct pp_safetensor *tensor = find(files, l, piece->name);
    int64_t shape[2];
    const int dimensions = shape_of(piece, shape);

    piece->tensor = tensor;
    if (!tensor) {
        pp_error_set(err, PP_EINVAL, "%s: tensor '%s' is missing: by config.json it has the shape ",
                     path, piece->name);
        append_shape(err, dimensions, shape);
        return err->status;
    }
    if (tensor->dimensions != dimensions || tensor->shape[0] != shape[0] ||
        (dimensions == 2 && tensor->shape[1] != shape[1])) {
        pp_error_set(err, PP_EINVAL, "%s: tensor '%s' has the shape ", tensor->file, tensor->name);
        append_shape(err, tensor->dimensions, tensor->shape);
        pp_error_append(err, ", by config.json ");
        append_shape(err, dimensions, shape);
        return err->status;
    }
    return tensor->type->read ? PP_OK
                              : pp_error_set(err, PP_EINVAL,
                                             "%s: tensor '%s' has numbers of type %s: F32, BF16 "
                                             "and F16 can be read",
                                             tensor->file, tensor->name, tensor->type->name);
}

/* Returns our tensor of which one of the files must be a copy; NULL = none. The head's matrix of a
 * tied model is one of the embedding. */
static const char *original_of(const struct pp_hub_layout *l, const char *name)
{
    for (const struct pp_hub_copy *copy = l->family->copies; copy && copy->name; copy++)
        if (strcmp(copy->name, name) == 0)
            return copy->ours;
    for (const struct pp_hub_name *row = l->family->names; l->model->is_tied && row->ours; row++)
        if (strcmp(row->ours, "head.weight") == 0 && strcmp(row->name, name) == 0)
            return "embedding.weight";
    return NULL;
}

/* True if both have the same numbers, whatever their types. */
static bool is_equal(const struct pp_safetensor *a, const struct pp_safetensor *b)
{
    enum { AT_ONCE = 1024 };
    float values[2][AT_ONCE];

    if (!a->type->read || a->dimensions != b->dimensions ||
        memcmp(a->shape, b->shape, sizeof(*a->shape) * (size_t)a->dimensions) != 0)
        return false;
    for (int64_t i = 0; i < a->count; i += AT_ONCE) {
        const int64_t count = a->count - i < AT_ONCE ? a->count - i : AT_ONCE;
        a->type->read(a->data + i * a->type->bytes, count, values[0]);
        b->type->read(b->data + i * b->type->bytes, count, values[1]);
        if (memcmp(values[0], values[1], sizeof(float) * (size_t)count) != 0)
            return false;
    }
    return true;
}

/* A copy is left out, so it must have the numbers of the tensor that is read. */
static enum pp_status check_copy(const struct pp_hub_layout *l, const struct pp_safetensor *copy,
                                 const char *ours, struct pp_error *err)
{
    const struct pp_hub_piece *original = l->pieces;

    while (strcmp(original->param->name, ours) != 0)
        original++;
    if (is_equal(copy, original->tensor))
        return PP_OK;
    pp_error_set(err, PP_EINVAL, "%s: tensor '%s' differs from '%s', but ", copy->file, copy->name,
                 original->tensor->name);
    return l->family->is_always_tied
               ? pp_error_append(err,
                                 "family %s of the hub has one tensor for both; nearest: remove it "
                                 "from the file",
                                 l->family->type)
               : pp_error_append(err, "config.json has one matrix for both; nearest: set "
                                      "tie_word_embeddings to false there");
}

/* True for constants, which files may have and no computation needs. */
static bool is_ignored(const struct pp_hub_layout *l, const char *name)
{
    for (const char *const *end = l->family->ignored; *end; end++)
        if (pp_has_suffix(name, *end))
            return true;
    return false;
}

static enum pp_status check_other(const struct pp_hub_layout *l, const struct pp_safetensor *tensor,
                                  struct pp_error *err)
{
    const char *original = original_of(l, tensor->name);

    if (original)
        return check_copy(l, tensor, original, err);
    if (is_ignored(l, tensor->name))
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s: tensor '%.200s' belongs to no part of a model of family %s "
                        "with %d blocks, as config.json describes it",
                        tensor->file, tensor->name, l->family->type, l->model->layers);
}

static enum pp_status check_rest(struct pp_arena *arena, const struct pp_safetensors *files,
                                 const struct pp_hub_layout *l, struct pp_error *err)
{
    bool *is_used = PP_ARRAY(arena, bool, files->count + 1);

    for (int i = 0; i < l->count; i++)
        is_used[l->pieces[i].tensor - files->tensors] = true;
    for (int i = 0; i < files->count; i++)
        if (!is_used[i])
            PP_TRY(check_other(l, &files->tensors[i], err));
    return PP_OK;
}

enum pp_status pp_hub_match(struct pp_arena *arena, const struct pp_safetensors *files,
                            const char *path, struct pp_hub_layout *layout, struct pp_error *err)
{
    for (int i = 0; i < layout->count; i++)
        PP_TRY(match_piece(files, path, layout, &layout->pieces[i], err));
    return check_rest(arena, files, layout, err);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Reads runs of a piece, counted in ours from its begin. */
static void read_piece(const struct pp_hub_piece *piece, struct pp_slice_piece runs, float *values)
{
    const int64_t count = runs.run * runs.runs;

    for (int64_t done = 0, from = 0; done < count; from = done) {
        const struct pp_hub_block block = pp_hub_next_block(piece, runs, INT64_MAX, &done);
        piece->order->read(piece, &block, values + from);
    }
    for (int64_t i = 0; piece->added != 0 && i < count; i++)
        values[i] += piece->added;
}

static const struct pp_hub_piece *first_of(const struct pp_hub_layout *l, int id)
{
    int low = 0, high = l->count;

    while (low < high) {
        const int middle = (low + high) / 2;
        if (l->pieces[middle].param->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return &l->pieces[low];
}

/* Returns the number of runs that begin and end in a piece, from the first on. */
static int64_t runs_inside(const struct pp_hub_piece *piece, struct pp_slice_piece runs)
{
    const int64_t left = piece->from + piece->rows * piece->columns - runs.first,
                  inside = left < runs.run ? 0 : (left - runs.run) / runs.stride + 1;

    return inside < runs.runs ? inside : runs.runs;
}

/* Reads one run, or those that are inside of the piece where it begins; returns their number. */
static int64_t read_runs(const struct pp_hub_layout *l, int id, struct pp_slice_piece runs,
                         float *values)
{
    const struct pp_hub_piece *p = first_of(l, id);
    int64_t done = 0;

    while (runs.first >= p->from + p->rows * p->columns)
        p++;
    const int64_t inside = runs_inside(p, runs);
    if (inside > 0) {
        read_piece(p, (struct pp_slice_piece){runs.first - p->from, runs.run, runs.stride, inside},
                   values);
        return inside;
    }
    for (; done < runs.run; p++) {
        const int64_t from = runs.first + done - p->from, left = runs.run - done,
                      end = p->rows * p->columns, until = from + left < end ? from + left : end;
        read_piece(p, pp_slice_run(from, until), values + done);
        done += until - from;
    }
    return 1;
}

static void read(const void *closure, const struct pp_param *param, struct pp_slice_piece runs,
                 float *values)
{
    while (runs.runs > 0) {
        const int64_t done = read_runs(closure, param->id, runs, values);

        values += done * runs.run;
        runs.first += done * runs.stride;
        runs.runs -= done;
    }
}

struct pp_weights_source pp_hub_source(const struct pp_hub_layout *layout)
{
    return (struct pp_weights_source){read, layout};
}
