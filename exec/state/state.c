/* Weights, gradients and optimizer state of a stage: their layout, shares, norm and update. */
#include "exec/state/state.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { SHARE_UNIT = PP_FLAT_UNIT };

int64_t pp_share_elements(const struct pp_stage *stage, int copies)
{
    const int64_t each = (stage->elements + copies - 1) / copies;

    return (each + SHARE_UNIT - 1) / SHARE_UNIT * SHARE_UNIT;
}

struct pp_range pp_share_of(const struct pp_stage *stage, int copy, int copies)
{
    const int64_t each = pp_share_elements(stage, copies);
    const struct pp_range share = {copy * each, (copy + 1) * each};

    return pp_range_common(share, (struct pp_range){0, stage->elements});
}

struct pp_range pp_range_common(struct pp_range a, struct pp_range b)
{
    return (struct pp_range){a.from > b.from ? a.from : b.from,
                             a.until < b.until ? a.until : b.until};
}

static bool has_master(const struct pp_kernels *k)
{
    return k->element_bytes != k->gradient_bytes;
}

struct pp_state_bytes pp_state_bytes(const struct pp_stage *stage, const struct pp_kernels *k,
                                     bool is_exact, int copies)
{
    const size_t elements = (size_t)stage->elements,
                 moment = (size_t)pp_share_elements(stage, copies) * k->gradient_bytes;

    return (struct pp_state_bytes){
        .weights = elements * k->element_bytes,
        .gradients = elements * (is_exact ? sizeof(int64_t) : k->gradient_bytes),
        .optimizer = (has_master(k) ? 3 : 2) * moment,
        .moment = moment,
    };
}

struct pp_state pp_state_at(const struct pp_stage *stage, const struct pp_kernels *k, bool is_exact,
                            int copy, int copies, char *at)
{
    const struct pp_state_bytes bytes = pp_state_bytes(stage, k, is_exact, copies);
    char *gradients = at + bytes.weights, *m = gradients + bytes.gradients, *v = m + bytes.moment;

    return (struct pp_state){.weights = at,
                             .sum = is_exact ? NULL : gradients,
                             .fixed = is_exact ? (int64_t *)(void *)gradients : NULL,
                             .m = m,
                             .v = v,
                             .master = has_master(k) ? v + bytes.moment : NULL,
                             .share = pp_share_of(stage, copy, copies)};
}

static void *moved(const void *vector, const char *there, char *here)
{
    return vector ? here + ((const char *)vector - there) : NULL;
}

struct pp_state pp_state_shifted(const struct pp_state *state, const char *there, char *here)
{
    return (struct pp_state){.weights = moved(state->weights, there, here),
                             .master = moved(state->master, there, here),
                             .m = moved(state->m, there, here),
                             .v = moved(state->v, there, here),
                             .sum = moved(state->sum, there, here),
                             .fixed = moved(state->fixed, there, here),
                             .share = state->share};
}

/* Returns the address of an element of G; NULL if there is no vector. */
static void *at(void *vector, const struct pp_kernels *k, int64_t element)
{
    return vector == NULL ? NULL : (char *)vector + (size_t)element * k->gradient_bytes;
}

struct pp_range pp_range_of(const struct pp_param *param)
{
    return (struct pp_range){param->offset, param->offset + param->count};
}

static struct pp_flat flat_of(const struct pp_stage *stage, const struct pp_kernels *k,
                              const struct pp_state *state, struct pp_range range)
{
    return (struct pp_flat){.tensors = stage->tensors,
                            .tensor_count = stage->param_count,
                            .from = range.from,
                            .until = range.until,
                            .grad = at(state->sum, k, range.from),
                            .fixed = state->fixed ? state->fixed + range.from : NULL,
                            .bits = PP_GRAD_BITS};
}

/* ---- norm ------------------------------------------------------------------------------------ */

static int64_t blocks_of(const struct pp_param *param)
{
    return (param->count + PP_SQUARES_BLOCK - 1) / PP_SQUARES_BLOCK;
}

/* Returns the first block of a tensor that begins at `element` or after it. */
static int64_t block_from(const struct pp_param *param, int64_t element)
{
    const int64_t before = element - param->offset;
    const int64_t block = before > 0 ? (before + PP_SQUARES_BLOCK - 1) / PP_SQUARES_BLOCK : 0;

    return block < blocks_of(param) ? block : blocks_of(param);
}

/* Returns the elements of a tensor's blocks that begin in a share. */
static struct pp_range squared(const struct pp_param *param, struct pp_range share)
{
    const struct pp_range blocks = {
        param->offset + PP_SQUARES_BLOCK * block_from(param, share.from),
        param->offset + PP_SQUARES_BLOCK * block_from(param, share.until)};

    return pp_range_common(blocks, pp_range_of(param));
}

int64_t pp_squares_blocks(const struct pp_stage *stage)
{
    int64_t count = 0;

    for (int p = 0; p < stage->param_count; p++)
        count += blocks_of(&stage->params[p]);
    return count;
}

int64_t pp_squares_end(const struct pp_stage *stage, struct pp_range share)
{
    int64_t end = share.until;

    for (int p = 0; p < stage->param_count; p++) {
        const struct pp_range range = squared(&stage->params[p], share);
        if (range.from < range.until && range.until > end)
            end = range.until;
    }
    return end;
}

/* Returns the earliest begin of a tensor after one that ends at `element`. */
static int64_t unit_from(int64_t element)
{
    return (element + PP_FLAT_UNIT - 1) / PP_FLAT_UNIT * PP_FLAT_UNIT;
}

static int64_t blocks_before(const struct pp_stage *stage, int64_t element)
{
    int64_t count = 0;

    for (int p = 0; p < stage->param_count; p++)
        count += block_from(&stage->params[p], element);
    return count;
}

static void range_squares(const struct pp_kernels *k, void *stream, const struct pp_stage *stage,
                          const struct pp_state *state, struct pp_range range, double *scratch,
                          double *blocks)
{
    const int64_t first = blocks_before(stage, range.from), end = blocks_before(stage, range.until);

    if (first >= end)
        return;
    const struct pp_flat flat = flat_of(stage, k, state, range);
    k->squares(stream, &flat, scratch);
    k->copy(stream, sizeof(double) * (size_t)(end - first), scratch, blocks + first);
}

/* Leaves out the copy of a tied matrix, which the stage with the embedding counts. */
void pp_state_squares(const struct pp_kernels *k, void *stream, const struct pp_stage *stage,
                      const struct pp_state *state, double *scratch, double *blocks)
{
    const struct pp_param *tied = stage->shape.has_embedding ? NULL : pp_stage_tied(stage);
    const struct pp_range none = {stage->elements, stage->elements};
    const struct pp_range left_out = tied ? pp_range_of(tied) : none;
    const struct pp_range before = {0, left_out.from},
                          after = {unit_from(left_out.until), none.from};

    range_squares(k, stream, stage, state, pp_range_common(state->share, before), scratch, blocks);
    range_squares(k, stream, stage, state, pp_range_common(state->share, after), scratch, blocks);
}

/* The copy of a tied matrix counts at the stage with the embedding. Tensors that each device of a
 * tensor-parallel group has count on the first one. */
static bool is_counted(const struct pp_stage *stage, const struct pp_param *param)
{
    return (!param->is_tied || stage->shape.has_embedding) &&
           (stage->shape.tp_index == 0 || param->slice.whole > 0);
}

void pp_squares_fold(const struct pp_stage *stage, struct pp_range share, double *blocks)
{
    for (int p = 0; p < stage->param_count; blocks += blocks_of(&stage->params[p++])) {
        const struct pp_param *param = &stage->params[p];
        const int64_t until = block_from(param, share.until);

        for (int64_t i = 1; block_from(param, share.from) == 0 && i < until; i++) {
            blocks[0] += blocks[i];
            blocks[i] = 0;
        }
    }
}

void pp_squares_move(const struct pp_stage *stage, struct pp_range share, double *blocks,
                     pp_move move, void *closure)
{
    for (int p = 0; p < stage->param_count; blocks += blocks_of(&stage->params[p++])) {
        const struct pp_param *param = &stage->params[p];
        const int64_t from = block_from(param, share.from), until = block_from(param, share.until),
                      count = from == 0 && until > 1 ? 1 : until - from;

        if (is_counted(stage, param) && count > 0)
            move(closure, blocks + from, sizeof(*blocks) * (size_t)count);
    }
}

void pp_squares_add(const struct pp_stage *stage, const double *blocks, double *squares)
{
    for (int p = 0; p < stage->param_count; blocks += blocks_of(&stage->params[p++])) {
        const struct pp_param *param = &stage->params[p];
        double sum = 0;

        if (!is_counted(stage, param))
            continue;
        for (int64_t i = 0; i < blocks_of(param); i++)
            sum += blocks[i];
        squares[param->is_tied ? 0 : param->layer] += sum;
    }
}

const struct pp_param *pp_squares_not_finite(const struct pp_stage *stage, const double *blocks)
{
    for (int p = 0; p < stage->param_count; blocks += blocks_of(&stage->params[p++]))
        for (int64_t i = 0; i < blocks_of(&stage->params[p]); i++)
            if (!isfinite(blocks[i]))
                return &stage->params[p];
    return NULL;
}

/* ---- update ---------------------------------------------------------------------------------- */

/* Zeroes what is before and after the share: in one call, which goes over the share if both are. */
static void zero_rest(const struct pp_kernels *k, void *stream, const struct pp_stage *stage,
                      const struct pp_state *state)
{
    const struct pp_range share = state->share, all = {0, stage->elements};
    const struct pp_range around = {share.from > 0 ? 0 : share.until,
                                    share.until < all.until ? all.until : share.from};
    const struct pp_flat rest = flat_of(stage, k, state, pp_range_common(all, around));
    const size_t bytes = rest.fixed ? sizeof(*rest.fixed) : k->gradient_bytes;

    if (rest.from < rest.until)
        k->zero(stream, (size_t)(rest.until - rest.from) * bytes,
                rest.fixed ? rest.fixed : rest.grad);
}

void pp_state_update(const struct pp_kernels *k, void *stream, const struct pp_stage *stage,
                     const struct pp_state *state, const struct pp_recipe *recipe,
                     const struct pp_adamw_step *now)
{
    const struct pp_adamw adamw = {.beta1 = recipe->beta1,
                                   .beta2 = recipe->beta2,
                                   .epsilon = recipe->epsilon,
                                   .decay = recipe->decay};
    const struct pp_flat flat = flat_of(stage, k, state, state->share);

    assert(recipe->epsilon > 0);
    if (flat.from < flat.until)
        k->adamw(stream, &flat, &adamw, now,
                 (char *)state->weights + (size_t)flat.from * k->element_bytes, state->master,
                 state->m, state->v);
    zero_rest(k, stream, stage, state);
}
