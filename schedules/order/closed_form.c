/* Closed forms that several schedules share. */
#include "schedules/order/closed_form.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

double pp_bubble_flush(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    const double ranks = shape->ranks, chunks = shape->chunks;
    const double n = (double)shape->micro_batches * shape->splits;
    const double wait = n < ranks ? (chunks - 1) * (ranks - n) : 0;

    (void)unit, (void)rank;
    return (ranks - 1 + wait) / (n * chunks + ranks - 1 + wait);
}

bool pp_is_even(const struct pp_shape *shape, int value)
{
    (void)shape;
    return value % 2 == 0;
}

enum pp_status pp_want_legal(struct pp_error *err, const struct pp_shape *shape,
                             struct pp_wanted wanted, const char *format, ...)
{
    int below = PP_MIN(PP_MAX(wanted.value, wanted.min), wanted.max), above = below;
    char message[512];
    va_list args;

    if (wanted.is_legal(shape, wanted.value))
        return PP_OK;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    pp_error_set(err, PP_EINVAL, "%s", message);
    while (below >= wanted.min && !wanted.is_legal(shape, below))
        below--;
    while (above <= wanted.max && !wanted.is_legal(shape, above))
        above++;
    if (below >= wanted.min && above <= wanted.max && below != above)
        pp_error_append(err, "; nearest: %d or %d", below, above);
    else if (below >= wanted.min || above <= wanted.max)
        pp_error_append(err, "; nearest: %d", below >= wanted.min ? below : above);
    return PP_EINVAL;
}

double pp_bubble_split(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    const double least = fmin(unit->f, fmin(unit->i, unit->w)), ranks = shape->ranks;
    const double work = (double)shape->micro_batches * shape->chunks * (unit->f + unit->b);
    const double idle =
        (ranks - 1) * (unit->f + unit->i - least) + fmax(0, ranks - shape->micro_batches) * least;

    (void)rank;
    return shape->chunks > 1 && shape->micro_batches < shape->ranks ? (double)NAN
                                                                    : idle / (work + idle);
}

/* Returns the number of groups if none is given: their splits keep all ranks busy. */
static int default_rounds(const struct pp_shape *shape, int micro_batches)
{
    const int least = (shape->ranks - 1) / PP_MAX(1, shape->splits) + 1;

    return PP_MAX(1, micro_batches / least);
}

static bool has_default_group(const struct pp_shape *shape, int micro_batches)
{
    return micro_batches % default_rounds(shape, micro_batches) == 0;
}

void pp_group_defaults(struct pp_shape *shape)
{
    const int n = shape->micro_batches;

    if (shape->option[PP_GROUP_AT] == 0 && has_default_group(shape, n))
        shape->option[PP_GROUP_AT] = n / default_rounds(shape, n);
}

bool pp_group_is_torch(const struct pp_shape *shape)
{
    struct pp_shape torch = *shape;

    torch.option[PP_GROUP_AT] = 0;
    pp_group_defaults(&torch);
    return shape->chunks > 1 && shape->splits <= 1 &&
           shape->option[PP_GROUP_AT] == torch.option[PP_GROUP_AT];
}

/* Is true if no group, not even the last, has fewer splits of micro-batches than `least`. */
static bool is_group_of(const struct pp_shape *shape, int group, int least)
{
    const int n = shape->micro_batches, q = shape->splits, least_mb = (least - 1) / q + 1;

    return group >= PP_MIN(least_mb, n) && group <= n && (n % group == 0 || n % group >= least_mb);
}

static bool is_legal_group(const struct pp_shape *shape, int group)
{
    return is_group_of(shape, group, shape->ranks);
}

static bool is_legal_half_group(const struct pp_shape *shape, int group)
{
    return is_group_of(shape, group, (shape->ranks + 1) / 2);
}

bool pp_group_is_small(const struct pp_shape *shape)
{
    return shape->chunks > 1 && !is_legal_group(shape, shape->option[PP_GROUP_AT]);
}

static enum pp_status group_accepts(const struct pp_shape *shape, bool is_half,
                                    struct pp_error *err)
{
    const int n = shape->micro_batches, ranks = shape->ranks, group = shape->option[PP_GROUP_AT];
    char splits[32] = "";

    if (shape->splits > 1)
        snprintf(splits, sizeof(splits), " / --splits %d", shape->splits);
    if (group > 0)
        return pp_want_legal(
            err, shape,
            (struct pp_wanted){group, 1, n, is_half ? is_legal_half_group : is_legal_group},
            "--group %d: no group, not even the last, may be below the lesser of %s%s %d%s and "
            "--micro-batches %d",
            group, is_half ? "half of " : "", pp_shape_ranks_option(shape), ranks, splits, n);
    return pp_want_legal(
        err, shape, (struct pp_wanted){n, 1, 2 * n, has_default_group},
        "--micro-batches %d does not split into %d equal groups for %s %d without a --group", n,
        default_rounds(shape, n), pp_shape_ranks_option(shape), ranks);
}

enum pp_status pp_group_accepts(const struct pp_shape *shape, struct pp_error *err)
{
    return group_accepts(shape, false, err);
}

enum pp_status pp_group_accepts_half(const struct pp_shape *shape, struct pp_error *err)
{
    return group_accepts(shape, true, err);
}
