/* Blocks with windows: which ones, and the keys that their queries meet. */
#include "core/model/model.h"

#include <math.h>

bool pp_model_is_windowed(const struct pp_model *model, int block)
{
    const struct pp_window *w = &model->window;

    return w->keys > 0 && block >= w->full_first &&
           (w->full_every == 0 || (block + 1) % w->full_every != 0);
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* Returns how many of the numbers first + 1 to last are multiples of `every`; 0 has none. */
static int multiples(int first, int last, int64_t every)
{
    return every > 0 && last > first ? (int)(last / every - first / every) : 0;
}

static int64_t least_common_multiple(int64_t a, int64_t b)
{
    int64_t x = a, y = b;

    while (y != 0) {
        const int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

/* Returns how many of blocks `first` to `last` - 1 are windowed and have a number, from 1, that
 * `every` divides. A block that both `every` and `full_every` divide is full. */
static int windowed(const struct pp_window *w, int first, int last, int every)
{
    const int from = larger(first, w->full_first);

    return w->keys == 0 ? 0
                        : multiples(from, last, every) -
                              multiples(from, last, least_common_multiple(every, w->full_every));
}

int pp_model_windowed_blocks(const struct pp_model *model, int first, int count)
{
    return windowed(&model->window, first, first + count, 1);
}

int pp_model_windowed_moe_blocks(const struct pp_model *model, int first, int count)
{
    const struct pp_experts *e = &model->experts;
    int listed = 0; /* dense blocks that are windowed */

    if (e->count == 0)
        return 0;
    for (int i = 0; i < e->dense_count; i++)
        listed += e->dense[i] >= first && e->dense[i] < first + count &&
                  pp_model_is_windowed(model, e->dense[i]);
    return windowed(&model->window, larger(first, e->dense_first), first + count,
                    larger(e->every, 1)) -
           listed;
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
    const double windowed_frac =
        (double)pp_model_windowed_blocks(model, 0, model->layers) / model->layers;

    if (rule != PP_FLOPS_CAUSAL || !model->is_causal)
        return (1 - windowed_frac) * seq + windowed_frac * fmin(model->window.keys, seq);
    return (1 - windowed_frac) * seq / 2 +
           windowed_frac * pp_model_window_keys(&model->window, 0, seq);
}
