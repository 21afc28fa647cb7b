/* Division of blocks into stages: evenly, with counted ends, or by time. */
#include "core/cost/analytic/parts.h"

/* Returns the suffix in "1 layer", "2 layers". */
static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

/* Embedding and head. */
enum { ENDS = 2 };

static enum pp_status too_many_stages(int blocks, int stages, struct pp_error *err)
{
    pp_error_set(err, PP_EINVAL,
                 "%d layer%s cannot fill %d stages with at least one each: use at most %d "
                 "stage%s (lower --pp or --vp)",
                 blocks, plural(blocks), stages, blocks, plural(blocks));
    if (stages - ENDS <= blocks && stages > ENDS)
        pp_error_append(err, ", or --head counted: embedding and head fill a stage each");
    return PP_EINVAL;
}

/* Begins the message with the given flags, as typed. */
static enum pp_status set_given(int first, int last, struct pp_error *err)
{
    pp_error_set(err, PP_EINVAL, "%s", "");
    if (first > 0)
        pp_error_append(err, "--first-stage-layers %d%s", first, last > 0 ? " and " : "");
    if (last > 0)
        pp_error_append(err, "--last-stage-layers %d", last);
    return PP_EINVAL;
}

static enum pp_status check_ends(int blocks, int stages, int first, int last, struct pp_error *err)
{
    const int inner = stages - (first > 0) - (last > 0), most = blocks - inner;
    const int64_t ends = (int64_t)first + last;
    const char *for_both = first > 0 && last > 0 ? " for both together" : "";

    if (stages == 1 && ((first > 0 && first != blocks) || (last > 0 && last != blocks))) {
        set_given(first, last, err);
        return pp_error_append(err, ": the only stage holds all %d layer%s: expected %d or nothing",
                               blocks, plural(blocks), blocks);
    }
    if (stages == 1 || (first == 0 && last == 0) || (inner == 0 ? ends == blocks : ends <= most))
        return PP_OK;
    set_given(first, last, err);
    if (inner == 0)
        return pp_error_append(err, ": the two stages hold all %d layers: expected %d%s", blocks,
                               blocks, for_both);
    return pp_error_append(err,
                           ": %d layers must leave at least one for %s other stage%s: expected at "
                           "most %d%s",
                           blocks, inner == 1 ? "the" : "each of the", plural(inner), most,
                           for_both);
}

enum pp_status pp_partition_blocks(struct pp_arena *arena, int blocks, int stages, int first,
                                   int last, int **blocks_per_stage, struct pp_error *err)
{
    if (stages < 1 || blocks < 1 || first < 0 || last < 0)
        return pp_error_set(
            err, PP_EINVAL,
            "cannot divide %d layers among %d stages (first %d, last %d): layers and "
            "stages are at least 1, the ends not negative",
            blocks, stages, first, last);
    if (blocks < stages)
        return too_many_stages(blocks, stages, err);
    PP_TRY(check_ends(blocks, stages, first, last, err));

    int *share = PP_ARRAY(arena, int, stages);
    const int from = first > 0 && stages > 1, to = last > 0 && stages > 1 ? stages - 1 : stages;
    const int free_stages = to - from;
    const int rest = stages == 1 ? blocks : blocks - first - last;
    if (from > 0)
        share[0] = first;
    if (to < stages)
        share[stages - 1] = last;
    int extra = free_stages > 0 ? rest % free_stages : 0;
    for (int s = from; s < to; s++)
        share[s] = rest / free_stages;
    /* Inner stages first: the ends hold embedding and head. There is at least one stage more than
     * extra blocks, so that the stage of the head gets none. */
    for (int s = 1; s < to && s < stages - 1 && extra > 0; s++, extra--)
        share[s]++;
    if (extra > 0)
        share[0]++;
    *blocks_per_stage = share;
    return PP_OK;
}

enum pp_status pp_partition_counted(struct pp_arena *arena, int blocks, int stages,
                                    int **blocks_per_stage, struct pp_error *err)
{
    if (blocks > INT32_MAX - ENDS || (blocks >= 1 && stages > blocks + ENDS))
        return pp_error_set(err, PP_EINVAL,
                            "%d layer%s, embedding and head cannot fill %d stages with at least "
                            "one each: use at most %d stages (lower --pp or --vp)",
                            blocks, plural(blocks), stages,
                            blocks < INT32_MAX - ENDS ? blocks + ENDS : blocks);
    if (stages == 1 || blocks < 1)
        return pp_partition_blocks(arena, blocks, stages, 0, 0, blocks_per_stage, err);
    PP_TRY(pp_partition_blocks(arena, blocks + ENDS, stages, 0, 0, blocks_per_stage, err));
    (*blocks_per_stage)[0]--;
    (*blocks_per_stage)[stages - 1]--;
    return PP_OK;
}

/* Gives block by block to the stage that is the fastest with it: the best division of equal blocks.
 * Inner stages are alike, so a round gives each of them one. */
enum pp_status pp_partition_balanced(struct pp_arena *arena, const struct pp_cost_inputs *in,
                                     int **blocks_per_stage, struct pp_error *err)
{
    const int blocks = in->model->layers, stages = in->stages, inner = stages - 2;
    /* mixtures of experts and the dense blocks before them do nearly the same work */
    const double block_s = pp_analytic_layer_s(in, pp_model_last_kind(in->model));
    double first_s = block_s + pp_analytic_layer_s(in, PP_LAYER_EMBEDDING);
    double last_s =
               block_s + pp_analytic_layer_s(in, PP_LAYER_HEAD) +
               (in->model->mtp > 0 ? in->model->mtp * pp_analytic_layer_s(in, PP_LAYER_MTP) : 0),
           inner_s = block_s;

    if (blocks < stages)
        return too_many_stages(blocks, stages, err);
    if (stages < 2)
        return pp_partition_blocks(arena, blocks, stages, 0, 0, blocks_per_stage, err);
    int *share = PP_ARRAY(arena, int, stages);
    for (int left = blocks; left > 0;) {
        if (inner > 0 && inner_s <= first_s && inner_s <= last_s) {
            for (int s = 1; s <= inner && left > 0; s++, left--)
                share[s]++;
            inner_s += block_s;
        } else if (first_s <= last_s) {
            share[0]++;
            left--;
            first_s += block_s;
        } else {
            share[stages - 1]++;
            left--;
            last_s += block_s;
        }
    }
    *blocks_per_stage = share;
    return PP_OK;
}
