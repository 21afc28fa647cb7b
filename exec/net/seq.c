/* Tokens of a sample, and windows that they are longer than. */
#include "exec/net/net.h"

/* Is true if a query of such a sample does not meet all keys before it. */
static bool has_windows(const struct pp_model *m, int seq)
{
    return seq > m->window.keys && pp_model_windowed_blocks(m, 0, m->layers) > 0;
}

enum pp_status pp_net_take_seq(struct pp_net *net, const struct pp_model *m, int seq,
                               struct pp_error *err)
{
    const int positions = m->positions - m->numerics.position_offset;

    if (seq < 1)
        return pp_error_set(err, PP_EINVAL, "a sequence of %d tokens: expected at least 1", seq);
    if (m->positions > 0 && seq > positions)
        return pp_error_set(err, PP_EINVAL,
                            "a sequence of %d tokens: model '%.80s' has %d positions, so at most "
                            "%d tokens",
                            seq, m->name, positions, positions);
    if (m->window.is_chunked && has_windows(m, seq))
        return pp_error_set(err, PP_EINVAL,
                            "a sequence of %d tokens: attention of model '%.80s' has chunks of "
                            "%d keys, so at most %d tokens",
                            seq, m->name, m->window.keys, m->window.keys);
    net->seq = seq;
    net->window = has_windows(m, seq) ? m->window : (struct pp_window){0};
    return PP_OK;
}
