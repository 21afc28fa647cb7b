/* Samples of durations: their means, sets of them by size, and the layers that share them. */
#include "core/quantile.h"
#include "exec/predict/calibration.h"

const struct pp_pass pp_passes[PP_TIMED_PASSES] = {
    [PP_TIMED_F] = {PP_F, 0, PP_TIMED_F},  [PP_TIMED_R] = {PP_R, 0, PP_TIMED_F},
    [PP_TIMED_I] = {PP_I, 1, PP_TIMED_BI}, [PP_TIMED_W] = {PP_W, 2, PP_TIMED_BW},
    [PP_TIMED_BI] = {PP_B, 1, PP_TIMED_I}, [PP_TIMED_BW] = {PP_B, 2, PP_TIMED_W},
};

void pp_samples_push(struct pp_arena *arena, struct pp_samples *samples, double value)
{
    *PP_PUSH(arena, samples->ps, samples->count, samples->capacity) = value;
}

void pp_samples_add(struct pp_calibration *c, struct pp_samples *samples, double value)
{
    pp_samples_push(c->arena, samples, value);
}

double pp_samples_median(const struct pp_samples *samples)
{
    return pp_median(samples->ps, samples->count);
}

/* A sum of ops lasts as the sum of their means. The mean of all would follow a single stall. */
double pp_samples_mean(const struct pp_samples *samples)
{
    const double median = pp_samples_median(samples);
    double sum = 0;
    int count = 0;

    for (int k = 0; k < samples->count && !samples->is_signed; k++)
        if (median / 2 < samples->ps[k] && samples->ps[k] < 4 * median) {
            sum += samples->ps[k];
            count++;
        }
    return count > 0 ? sum / count : median;
}

struct pp_samples *pp_sized(struct pp_arena *arena, struct pp_by_size *by_size, double size)
{
    for (int k = 0; k < by_size->count; k++)
        if (by_size->at[k].size == size)
            return &by_size->at[k].took;
    struct pp_sized_samples *made = PP_PUSH(arena, by_size->at, by_size->count, by_size->capacity);
    *made = (struct pp_sized_samples){.size = size};
    return &made->took;
}

void pp_sized_ends(const struct pp_by_size *by_size, const struct pp_sized_samples **least,
                   const struct pp_sized_samples **most)
{
    *least = *most = by_size->at;
    for (int k = 1; k < by_size->count; k++) {
        const struct pp_sized_samples *one = &by_size->at[k];
        *least = one->size < (*least)->size ? one : *least;
        *most = one->size > (*most)->size ? one : *most;
    }
}

int pp_calibration_layers(const struct pp_stage *stage, int kind, enum pp_layer_part part)
{
    const struct pp_stage_shape *shape = &stage->shape;
    const int mixtures = pp_net_mixtures(stage->net, shape->first_block, shape->blocks);

    if (kind == PP_R && pp_stage_is_partly_again(shape))
        return pp_stage_layers_again(stage, part);
    return part == PP_PART_EMBEDDING ? shape->has_embedding
           : part == PP_PART_HEAD    ? shape->has_head
           : part == PP_PART_EXPERTS ? mixtures
                                     : shape->blocks - mixtures;
}
