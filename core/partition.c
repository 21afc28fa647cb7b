#include "core/roofline.h"

static enum pp_status too_many_stages(int blocks, int stages, struct pp_error *err)
{
    return pp_error_set(err, PP_EINVAL,
                        "%d layers cannot fill %d stages with at least one each: use at most %d "
                        "stages (lower --pp or --vp)",
                        blocks, stages, blocks);
}

static enum pp_status check_ends(int blocks, int stages, int first, int last, struct pp_error *err)
{
    const int inner = stages - (first > 0) - (last > 0);
    const int64_t rest = (int64_t)blocks - first - last;

    if (stages == 1 && ((first > 0 && first != blocks) || (last > 0 && last != blocks)))
        return pp_error_set(err, PP_EINVAL,
                            "the only stage holds all %d layers: --first-stage-layers and "
                            "--last-stage-layers must be %d or left out",
                            blocks, blocks);
    if (stages == 1)
        return PP_OK;
    if (rest < inner || (inner == 0 && rest != 0))
        return pp_error_set(err, PP_EINVAL,
                            "--first-stage-layers %d and --last-stage-layers %d leave %lld of %d "
                            "layers for %d other stages: expected %s%d for both ends together",
                            first, last, (long long)rest, blocks, inner,
                            inner == 0 ? "" : "at most ", blocks - inner);
    return PP_OK;
}

enum pp_status pp_partition_blocks(struct pp_arena *arena, int blocks, int stages, int first,
                                   int last, int **blocks_per_stage, struct pp_error *err)
{
    if (stages < 1 || blocks < 1 || first < 0 || last < 0)
        return pp_error_set(err, PP_EINVAL,
                            "cannot divide %d layers among %d stages (first %d, last %d)", blocks,
                            stages, first, last);
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
    const int even = free_stages > 0 ? rest / free_stages : 0;
    int extra = free_stages > 0 ? rest % free_stages : 0;
    for (int s = from; s < to; s++)
        share[s] = even;
    /* Inner stages first: the ends hold embedding and head. Stage 0 is the last to get one but
     * one, the stage of the head the very last. */
    const int inner_from = from > 1 ? from : 1;
    for (int s = inner_from; s < to && s < stages - 1 && extra > 0; s++, extra--)
        share[s]++;
    if (extra > 0 && from == 0 && stages > 1) {
        share[0]++;
        extra--;
    }
    if (extra > 0)
        share[stages - 1] += extra;
    *blocks_per_stage = share;
    return PP_OK;
}
