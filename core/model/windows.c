/* Blocks with windows: which ones, and the keys that their queries meet. */
#include "core/model/model.h"

#include <math.h>

bool pp_model_is_windowed(const struct pp_model *model, int block)
{
    const struct pp_window *w = &model->window;

    return w->keys > 0 && block >= w->full_first &&
           (w->full_every == 0 || (block + 1) % w->full_every != 0);
}

int pp_model_windowed_blocks(const struct pp_model *model)
{
    int windowed = 0;

    for (int i = 0; i < model->layers && model->window.keys > 0; i++)
        windowed += pp_model_is_windowed(model, i);
    return windowed;
}

/* Returns the keys of all queries before position x. Those of a window grow to its width and stay
 * there; those of a chunk start anew with each chunk. */
static double keys_before(const struct pp_window *w, double x)
{
    if (w->keys == 0 || x <= w->keys)
        return x * x / 2;
    if (w->is_chunked) {
        const double within = fmod(x, w->keys);
        return floor(x / w->keys) * w->keys * w->keys / 2.0 + within * within / 2;
    }
    return w->keys * (x - w->keys / 2.0);
}

double pp_model_window_keys(const struct pp_window *window, double from, double to)
{
    return (keys_before(window, to) - keys_before(window, from)) / (to - from);
}

double pp_model_keys_met(const struct pp_model *model, double seq, enum pp_flops_rule rule)
{
    const double windowed_frac = (double)pp_model_windowed_blocks(model) / model->layers;

    if (rule != PP_FLOPS_CAUSAL || !model->is_causal)
        return (1 - windowed_frac) * seq + windowed_frac * fmin(model->window.keys, seq);
    return (1 - windowed_frac) * seq / 2 +
           windowed_frac * pp_model_window_keys(&model->window, 0, seq);
}
