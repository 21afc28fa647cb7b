/* Blocks of gradients whose squares are summed: their places in the flat vectors, and the norm. */
#include "exec/state/state.h"

#include <math.h>

/* ---- ranges ---------------------------------------------------------------------------------- */

struct pp_range pp_range_common(struct pp_range a, struct pp_range b)
{
    return (struct pp_range){a.from > b.from ? a.from : b.from,
                             a.until < b.until ? a.until : b.until};
}

int64_t pp_flat_unit_from(int64_t element)
{
    return (element + PP_FLAT_UNIT - 1) / PP_FLAT_UNIT * PP_FLAT_UNIT;
}

struct pp_range pp_range_of(const struct pp_param *param)
{
    return (struct pp_range){param->offset, param->offset + param->count};
}

/* ---- blocks ---------------------------------------------------------------------------------- */

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

int64_t pp_squares_before(const struct pp_stage *stage, int64_t element)
{
    int64_t count = 0;

    for (int p = 0; p < stage->param_count; p++)
        count += block_from(&stage->params[p], element);
    return count;
}

/* ---- norm ------------------------------------------------------------------------------------ */

/* The copy of a tied matrix counts at the stage with the embedding. Tensors that each device of a
 * tensor-parallel group has count on the first one, and so do those that are not experts'. Of an
 * expert, the group is that of the devices that share it. */
static bool is_counted(const struct pp_stage *stage, const struct pp_param *param)
{
    const struct pp_expert_share share = pp_share_experts(&stage->shape, stage->net->experts);

    return (!param->is_tied || stage->shape.has_embedding) &&
           (stage->shape.ep_index == 0 || param->experts > 0) &&
           (param->is_cut || (param->experts > 0 ? share.etp_index : stage->shape.tp_index) == 0);
}

/* The sum of a parameter begins with blocks of the first replica: only these may be added up before
 * others have come. */
static bool is_folded(const struct pp_stage *stage, const struct pp_param *param, int64_t from)
{
    return block_from(param, from) == 0 && stage->shape.ep_index == 0;
}

void pp_squares_fold(const struct pp_stage *stage, struct pp_range share, double *blocks)
{
    for (int p = 0; p < stage->param_count; blocks += blocks_of(&stage->params[p++])) {
        const struct pp_param *param = &stage->params[p];
        const int64_t until = block_from(param, share.until);

        for (int64_t i = 1; is_folded(stage, param, share.from) && i < until; i++) {
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
                      count = until > 1 && is_folded(stage, param, share.from) ? 1 : until - from;

        if (is_counted(stage, param) && count > 0)
            move(closure, blocks + from, sizeof(*blocks) * (size_t)count);
    }
}

/* Returns `sum` with the blocks of parameter p added, which come next in the part. */
static double add_blocks(struct pp_squares_part *part, int p, bool is_experts, double sum)
{
    const struct pp_param *param = &part->stage->params[p];
    const double **next = is_experts ? &part->experts : &part->blocks,
                 *end = *next + blocks_of(param);

    for (const double *block = *next; block < end && is_counted(part->stage, param); block++)
        sum += *block;
    *next = end;
    return sum;
}

/* Number of tensors before shared experts. */
static int tensors_of_all(const struct pp_stage *stage)
{
    int count = 0;

    while (count < stage->param_count &&
           (stage->experts_from == 0 || stage->params[count].offset < stage->experts_from))
        count++;
    return count;
}

/* Tensors come in the order in which a stage without shared experts has them. */
void pp_squares_add(struct pp_squares_part *parts, int count, double *squares)
{
    const struct pp_stage *stage = parts[0].stage;
    const int of_all = tensors_of_all(stage);

    for (int k = 0; k < count; k++)
        parts[k].experts = parts[k].blocks + pp_squares_before(stage, stage->experts_from);
    for (int i = 0, j = of_all; i < of_all || j < stage->param_count;) {
        const bool is_experts = i == of_all || (j < stage->param_count &&
                                                stage->params[j].order < stage->params[i].order);
        const int p = is_experts ? j++ : i++;
        const struct pp_param *param = &stage->params[p];
        double sum = 0;

        for (int k = 0; k < count; k++)
            sum = add_blocks(&parts[k], p, is_experts, sum);
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
