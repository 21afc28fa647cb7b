/* Parameters of a stage: how they are found, where their gradients go, which elements are here. */
#include "exec/stage/graph.h"

#include <assert.h>

const struct pp_param *pp_stage_find(const struct pp_stage *stage, int id)
{
    for (int i = 0; i < stage->param_count; i++)
        if (stage->params[i].id == id)
            return &stage->params[i];
    return NULL;
}

const struct pp_param *pp_stage_tied(const struct pp_stage *stage)
{
    for (int i = 0; i < stage->param_count; i++)
        if (stage->params[i].is_tied)
            return &stage->params[i];
    return NULL;
}

void *pp_call_target(const struct pp_call *c, const struct pp_param *param)
{
    const struct pp_grads *g = &c->w->grads;

    return g->is_exact ? g->scratch : (char *)g->sum + (size_t)param->offset * c->g->gradient_bytes;
}

void pp_call_add_exactly(const struct pp_call *c, const struct pp_param *param, const void *grad)
{
    const struct pp_grads *g = &c->w->grads;

    if (g->is_exact)
        c->k->fixed_add(c->stream, param->count, grad, PP_GRAD_BITS, g->fixed + param->offset,
                        g->status);
}

/* ---- slices ---------------------------------------------------------------------------------- */

struct pp_slice pp_slice_by_rows(int tp, int index, int64_t row,
                                 const int groups[static PP_SLICE_PIECES])
{
    struct pp_slice slice = {0};

    for (int g = 0; g < PP_SLICE_PIECES && groups[g] > 0; g++) {
        const int64_t here = groups[g] * row;

        slice.piece[slice.pieces++] =
            (struct pp_slice_piece){slice.whole + index * here, here, here, 1};
        slice.whole += tp * here;
    }
    return slice;
}

struct pp_slice pp_slice_by_columns(int tp, int index, int64_t rows, int64_t columns)
{
    return (struct pp_slice){
        tp * rows * columns, 1, {{index * columns, columns, tp * columns, rows}}};
}

int64_t pp_slice_at(const struct pp_slice *slice, int64_t i, int64_t *run)
{
    if (slice->whole == 0) {
        *run = INT64_MAX;
        return i;
    }
    for (int p = 0; p < slice->pieces; p++) {
        const struct pp_slice_piece *piece = &slice->piece[p];

        if (i < piece->run * piece->runs) {
            *run = piece->run - i % piece->run;
            return piece->first + i / piece->run * piece->stride + i % piece->run;
        }
        i -= piece->run * piece->runs;
    }
    assert(!"an element of the slice");
    return -1;
}
