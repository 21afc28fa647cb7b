/* Tensor parallelism: the part of a net, and of each of its tensors, that a device has. */
#include "exec/net/net.h"

#include <assert.h>

static int greatest_divisor(int a, int b)
{
    return b == 0 ? a : greatest_divisor(b, a % b);
}

/* Returns the elements of the feed-forward layers that devices must divide: of dense blocks, and of
 * experts. */
static int elements_of(const struct pp_net *net)
{
    const int mixtures = pp_net_mixtures(net, 0, net->layers),
              dense = mixtures < net->layers ? net->ffn : 0;
    int common = 0;

    for (int i = 0,
             of[] = {dense, mixtures > 0 ? net->expert_ffn : 0, mixtures > 0 ? net->shared_ffn : 0};
         i < 3; i++)
        common = greatest_divisor(common, of[i]);
    return common;
}

static bool is_even(const struct pp_net *net, int tp)
{
    return net->heads % tp == 0 && net->kv_heads % tp == 0 && elements_of(net) % tp == 0;
}

enum pp_status pp_net_check_tp(const struct pp_net *whole, int tp, int etp, struct pp_error *err)
{
    struct pp_net cut = *whole, *net = &cut;

    if (etp < tp)
        cut.expert_ffn = 0;
    int below = tp < net->kv_heads ? tp : net->kv_heads, above = tp;

    if (net->vocab < tp)
        return pp_error_set(err, PP_EINVAL,
                            "--tp %d: %.80s has a vocabulary of %d words, and each device takes at "
                            "least one: at most %d",
                            tp, net->name, net->vocab, net->vocab);
    if (is_even(net, tp))
        return PP_OK;
    while (!is_even(net, below))
        below--;
    while (above <= net->kv_heads && !is_even(net, above))
        above++;
    pp_error_set(err, PP_EINVAL,
                 elements_of(net) > 0
                     ? "--tp %d does not divide %d attention heads, %d of keys, and %d elements of "
                       "the feed-forward layer"
                     : "--tp %d does not divide %d attention heads, and %d of keys",
                 tp, net->heads, net->kv_heads, elements_of(net));
    pp_error_append(err, " of %.80s; nearest: %d", net->name, below);
    return above <= net->kv_heads ? pp_error_append(err, " or %d", above) : PP_EINVAL;
}

struct pp_net pp_net_part(const struct pp_net *net, int tp, int etp)
{
    struct pp_net part = *net;

    part.heads /= tp;
    part.kv_heads /= tp;
    part.ffn /= tp;
    part.expert_ffn /= etp;
    part.shared_ffn /= tp;
    return part;
}

/* The first word of a device is number vocab * index / tp, rounded up. */
struct pp_words pp_net_words(const struct pp_net *net, int tp, int index)
{
    const int64_t vocab = net->vocab, devices = tp > 1 ? tp : 1;
    const int first = (int)((vocab * index + devices - 1) / devices),
              end = (int)((vocab * (index + 1) + devices - 1) / devices);

    return (struct pp_words){first, end - first};
}

/* ---- slices of tensors ----------------------------------------------------------------------- */

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

struct pp_slice pp_slice_by_words(int64_t rows, int64_t row, struct pp_words words)
{
    const int64_t here = words.count * row;

    return (struct pp_slice){rows * row, 1, {{words.first * row, here, here, 1}}};
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

struct pp_slice_piece pp_slice_runs(const struct pp_slice *slice, int64_t i, int64_t most)
{
    int64_t run, before = 0;
    const int64_t first = pp_slice_at(slice, i, &run);

    for (int p = 0; p < slice->pieces; p++) {
        const struct pp_slice_piece *piece = &slice->piece[p];
        const int64_t end = before + piece->run * piece->runs,
                      left = end - i < most ? end - i : most;

        if (i < end && run == piece->run && left >= run)
            return (struct pp_slice_piece){first, run, piece->stride, left / run};
        if (i < end)
            break;
        before = end;
    }
    return pp_slice_run(first, first + (run < most ? run : most));
}

int64_t pp_slice_from(const struct pp_slice *slice, int64_t at)
{
    int64_t before = 0;

    if (slice->whole == 0)
        return at;
    for (int p = 0; p < slice->pieces; p++) {
        const struct pp_slice_piece *piece = &slice->piece[p];
        const int64_t into = at - piece->first, run = into > 0 ? into / piece->stride : 0,
                      rest = into > 0 ? into % piece->stride : 0,
                      i = run * piece->run + (rest < piece->run ? rest : piece->run);

        if (i < piece->run * piece->runs)
            return before + i;
        before += piece->run * piece->runs;
    }
    return before;
}
