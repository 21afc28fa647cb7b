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

/* Returns the earliest begin of a tensor after one that ends at `element`. */
static int64_t unit_from(int64_t element)
{
    return (element + PP_FLAT_UNIT - 1) / PP_FLAT_UNIT * PP_FLAT_UNIT;
}

static bool has_master(const struct pp_kernels *k)
{
    return k->element_bytes != k->gradient_bytes;
}

static struct pp_range all_of(const struct pp_stage *stage)
{
    return (struct pp_range){0, stage->elements};
}

/* Returns the longest part of a class that is cut over `cut` copies: so many whole shares. */
static int64_t part_elements(const struct pp_stage *stage, int cut, struct pp_cuts cuts)
{
    const int64_t part = pp_share_elements(stage, cuts.optimizer) * (cuts.optimizer / cut),
                  all = unit_from(stage->elements);

    return part < all ? part : all;
}

static struct pp_range part_of(const struct pp_stage *stage, int copy, int cut, struct pp_cuts cuts)
{
    const int shares = cuts.optimizer / cut;
    const int64_t each = pp_share_elements(stage, cuts.optimizer) * shares,
                  from = copy / shares * each;

    return pp_range_common((struct pp_range){from, from + each}, all_of(stage));
}

/* Returns the gradients that a copy keeps: all that its blocks of squares have. */
static struct pp_range summed_of(const struct pp_stage *stage, int copy, struct pp_cuts cuts)
{
    if (cuts.grads == 1)
        return all_of(stage);
    const struct pp_range part = part_of(stage, copy, cuts.grads, cuts);
    return (struct pp_range){part.from, pp_squares_end(stage, part)};
}

int64_t pp_most_grads(const struct pp_stage *stage, struct pp_cuts cuts)
{
    int64_t most = cuts.grads > 1 ? part_elements(stage, cuts.grads, cuts) : stage->elements;

    for (int copy = 0; cuts.grads > 1 && copy < cuts.optimizer;
         copy += cuts.optimizer / cuts.grads) {
        const struct pp_range summed = summed_of(stage, copy, cuts);
        const int64_t count = unit_from(summed.until) - summed.from;
        most = count > most ? count : most;
    }
    return most;
}

struct pp_state_bytes pp_state_bytes(const struct pp_stage *stage, const struct pp_kernels *k,
                                     bool is_exact, struct pp_cuts cuts)
{
    const size_t moment = (size_t)pp_share_elements(stage, cuts.optimizer) * k->gradient_bytes,
                 held = (size_t)(cuts.params > 1 ? part_elements(stage, cuts.params, cuts)
                                                 : stage->elements),
                 most_grads =
                     (size_t)(cuts.most_grads > 0 ? cuts.most_grads : pp_most_grads(stage, cuts));

    return (struct pp_state_bytes){
        .weights = held * k->element_bytes,
        .gradients = most_grads * (is_exact ? sizeof(int64_t) : k->gradient_bytes),
        .optimizer = (has_master(k) ? 3 : 2) * moment,
        .moment = moment,
    };
}

struct pp_state pp_state_at(const struct pp_stage *stage, const struct pp_kernels *k, bool is_exact,
                            int copy, struct pp_cuts cuts, char *at)
{
    const struct pp_state_bytes bytes = pp_state_bytes(stage, k, is_exact, cuts);
    char *gradients = at + bytes.weights, *m = gradients + bytes.gradients, *v = m + bytes.moment;

    return (struct pp_state){.weights = at,
                             .sum = is_exact ? NULL : gradients,
                             .fixed = is_exact ? (int64_t *)(void *)gradients : NULL,
                             .m = m,
                             .v = v,
                             .master = has_master(k) ? v + bytes.moment : NULL,
                             .share = pp_share_of(stage, copy, cuts.optimizer),
                             .held = cuts.params > 1 ? part_of(stage, copy, cuts.params, cuts)
                                                     : all_of(stage),
                             .summed = summed_of(stage, copy, cuts)};
}

void *pp_state_weight(const struct pp_state *state, const struct pp_kernels *k, int64_t element)
{
    return (char *)state->weights + (size_t)(element - state->held.from) * k->element_bytes;
}

void *pp_state_gradient(const struct pp_state *state, const struct pp_kernels *k, int64_t element)
{
    const int64_t at = element - state->summed.from;

    return state->fixed ? (void *)(state->fixed + at)
                        : (char *)state->sum + (size_t)at * k->gradient_bytes;
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
                             .share = state->share,
                             .held = state->held,
                             .summed = state->summed};
}

struct pp_range pp_range_of(const struct pp_param *param)
{
    return (struct pp_range){param->offset, param->offset + param->count};
}

static struct pp_flat flat_of(const struct pp_stage *stage, const struct pp_kernels *k,
                              const struct pp_state *state, struct pp_range range)
{
    void *grad = pp_state_gradient(state, k, range.from);

    return (struct pp_flat){.tensors = stage->tensors,
                            .tensor_count = stage->tensor_count,
                            .from = range.from,
                            .until = range.until,
                            .grad = state->fixed ? NULL : grad,
                            .fixed = state->fixed ? grad : NULL,
                            .bits = PP_GRAD_BITS};
}

/* ---- norm ------------------------------------------------------------------------------------ */

/* Elements and blocks of one tensor of a parameter. */
static int64_t each_of(const struct pp_param *param)
{
    return param->count / pp_param_tensors(param);
}

static int64_t blocks_of_each(const struct pp_param *param)
{
    return (each_of(param) + PP_SQUARES_BLOCK - 1) / PP_SQUARES_BLOCK;
}

static int64_t blocks_of(const struct pp_param *param)
{
    return pp_param_tensors(param) * blocks_of_each(param);
}

/* Returns the first block of a parameter that begins at `element` or after it. */
static int64_t block_from(const struct pp_param *param, int64_t element)
{
    const int64_t before = element > param->offset ? element - param->offset : 0;
    const int64_t tensor = before / each_of(param),
                  in_it = (before % each_of(param) + PP_SQUARES_BLOCK - 1) / PP_SQUARES_BLOCK,
                  block = tensor * blocks_of_each(param) + in_it;

    return block < blocks_of(param) ? block : blocks_of(param);
}

/* Returns the element at which a block begins. */
static int64_t block_at(const struct pp_param *param, int64_t block)
{
    return param->offset + block / blocks_of_each(param) * each_of(param) +
           block % blocks_of_each(param) * PP_SQUARES_BLOCK;
}

/* Returns the elements of a parameter's blocks that begin in a share. */
static struct pp_range squared(const struct pp_param *param, struct pp_range share)
{
    return (struct pp_range){block_at(param, block_from(param, share.from)),
                             block_at(param, block_from(param, share.until))};
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
 * tensor-parallel group has count on the first one, and so do those that are not experts'. */
static bool is_counted(const struct pp_stage *stage, const struct pp_param *param)
{
    return (!param->is_tied || stage->shape.has_embedding) &&
           ((stage->shape.tp_index == 0 && stage->shape.ep_index == 0) || param->slice.whole > 0);
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

/* Returns `sum` with the blocks of parameter p added, which come next in the part. */
static double add_blocks(struct pp_squares_part *part, int p, double sum)
{
    const struct pp_param *param = &part->stage->params[p];
    const double *end = part->blocks + blocks_of(param);

    for (const double *block = part->blocks; block < end && is_counted(part->stage, param); block++)
        sum += *block;
    part->blocks = end;
    return sum;
}

void pp_squares_add(struct pp_squares_part *parts, int count, double *squares)
{
    for (int p = 0; p < parts[0].stage->param_count; p++) {
        const struct pp_param *param = &parts[0].stage->params[p];
        double sum = 0;

        for (int k = 0; k < count; k++)
            sum = add_blocks(&parts[k], p, sum);
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
    const struct pp_range share = state->share, all = state->summed;
    const struct pp_range around = {share.from > all.from ? all.from : share.until,
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
        k->adamw(stream, &flat, &adamw, now, pp_state_weight(state, k, flat.from), state->master,
                 state->m, state->v);
    zero_rest(k, stream, stage, state);
}
