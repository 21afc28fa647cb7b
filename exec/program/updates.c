/* Places optimizer state, and what the host updates with. */
#include "exec/program/parts.h"

int64_t pp_update_moved(const struct pp_state_spec *spec, int64_t elements)
{
    const double frac = pp_state_moved(spec, PP_STATE_OPTIMIZER);
    const int64_t moved = pp_flat_unit_from((int64_t)(frac * (double)elements));

    return moved < elements ? moved : elements;
}

int64_t pp_update_streamed(const struct pp_state_spec *spec, const struct pp_kernels *kernels,
                           int64_t moved)
{
    enum { USUAL = 16000000 };
    const double given = spec->update_bucket_params;
    const int64_t wanted = given > 0 && given < (double)moved ? (int64_t)given : USUAL,
                  unit = spec->home[PP_STATE_OPTIMIZER] == PP_TIER_NVME
                             ? PP_TIER_BLOCK / (int64_t)kernels->gradient_bytes
                             : PP_FLAT_UNIT,
                  bucket = (wanted + unit - 1) / unit * unit;

    if (spec->is_cpu_update || !pp_state_is_away(spec, PP_STATE_OPTIMIZER))
        return 0;
    return bucket < moved ? bucket : moved;
}

size_t pp_update_element_bytes(const struct pp_state_spec *spec, const struct pp_kernels *kernels,
                               bool is_exact)
{
    const size_t vectors = kernels->element_bytes != kernels->gradient_bytes ? 3 : 2;

    return vectors * kernels->gradient_bytes + (!pp_state_is_away(spec, PP_STATE_GRADS) ? 0
                                                : is_exact ? sizeof(int64_t)
                                                           : kernels->gradient_bytes);
}

/* Places a vector, the v-th: its first share on the home tier, the rest on the device. */
static void place_moment(const struct pp_placing *l, struct pp_state_bytes bytes, int place, int v,
                         struct pp_rank_layout *rank)
{
    struct pp_update_layout *update = &rank->updates[place];
    const size_t moved = (size_t)update->moved * l->kernels->gradient_bytes,
                 rest = bytes.moment - moved,
                 from = bytes.weights + bytes.gradients + (size_t)v * bytes.moment;

    update->moved_at[v] = pp_layout_take_at(rank, l->p->state.spec.home[PP_STATE_OPTIMIZER],
                                            PP_STATE_OPTIMIZER, moved);
    update->rest_at[v] = (struct pp_tier_place){PP_TIER_DEVICE, pp_layout_take(rank, rest)};
    pp_layout_note(rank, place, from, moved, update->moved_at[v]);
    pp_layout_note(rank, place, from + moved, rest, update->rest_at[v]);
    rank->optimizer_bytes += rest;
}

/* Places what the host updates with, unless it lives there. */
static void place_rooms(const struct pp_placing *l, struct pp_update_layout *update,
                        struct pp_rank_layout *rank)
{
    const struct pp_state_spec *spec = &l->p->state.spec;
    const size_t count = (size_t)update->moved,
                 each = l->is_exact ? sizeof(int64_t) : l->kernels->gradient_bytes;

    if (!spec->is_cpu_update)
        return;
    if (!pp_state_is_away(spec, PP_STATE_GRADS))
        update->grads = pp_layout_take_at(rank, PP_TIER_HOST, PP_STATE_GRADS, count * each);
    if (!pp_state_is_away(spec, PP_STATE_PARAMS))
        update->weights = pp_layout_take_at(rank, PP_TIER_HOST, PP_STATE_PARAMS,
                                            count * l->kernels->element_bytes);
}

void pp_update_place(const struct pp_placing *l, struct pp_state_bytes bytes, int place,
                     struct pp_rank_layout *rank)
{
    struct pp_update_layout *update = &rank->updates[place];
    const int64_t elements = (int64_t)(bytes.moment / l->kernels->gradient_bytes);

    *update = (struct pp_update_layout){.elements = elements,
                                        .moved = pp_update_moved(&l->p->state.spec, elements)};
    for (int v = 0; elements > 0 && v < (int)(bytes.optimizer / bytes.moment); v++)
        place_moment(l, bytes, place, v, rank);
    rank->home[place][PP_STATE_OPTIMIZER] =
        update->moved > 0 ? update->moved_at[0] : update->rest_at[0];
    place_rooms(l, update, rank);
    update->bucket = pp_update_streamed(&l->p->state.spec, l->kernels, update->moved);
    if (update->bucket > 0)
        update->buckets = (int)((update->moved + update->bucket - 1) / update->bucket);
}

/* Places of a rank whose state streams, in the order of their updates. Returns their number. */
static int streamed(const struct pp_placing *l, int r, const struct pp_rank_layout *rank,
                    int *places)
{
    const struct pp_program *p = l->p;
    int count = 0;

    for (int i = p->begin[r]; i < p->begin[r + 1]; i++) {
        const int place = p->pipe[i] * p->stages + p->stage[i];
        if (p->kind[i] == PP_U && rank->updates[place].bucket > 0)
            places[count++] = place;
    }
    return count;
}

/* Index of a move of a place. */
static int index_of(const struct pp_program *p, int r, int place, enum pp_purpose purpose)
{
    int i = p->begin[r];

    while (i < p->begin[r + 1] && !(p->kind[i] == PP_MOVE && p->purpose[i] == purpose &&
                                    p->pipe[i] * p->stages + p->stage[i] == place))
        i++;
    return i;
}

/* Returns the buffers that the updates need in turn, at least `buffers`: state is fetched once that
 * in its buffer is on its way out. A file may fetch all before it stores any. */
static int enough(const struct pp_placing *l, int r, const int *places, int count, int buffers)
{
    for (int n = buffers; n < count; n++)
        if (index_of(l->p, r, places[n - buffers], PP_FOR_STORE) >
            index_of(l->p, r, places[n], PP_FOR_FETCH))
            return enough(l, r, places, count, buffers + 1);
    return buffers;
}

void pp_layout_buckets(const struct pp_placing *l, int r, struct pp_rank_layout *rank)
{
    enum { USUAL = 3, PAGE = 4096 };
    const struct pp_state_spec *spec = &l->p->state.spec;
    int *places = PP_ARRAY(l->arena, int, l->p->pipelines * l->p->stages + 1);
    const int count = streamed(l, r, rank, places),
              most = spec->update_buckets > 0 ? spec->update_buckets : USUAL,
              buffers = enough(l, r, places, count, count < most ? count : most);

    for (int k = 0; k < buffers; k++) {
        int64_t elements = 0;
        rank->block_bytes = (rank->block_bytes + PAGE - 1) / PAGE * PAGE;
        for (int n = k; n < count; n += buffers) {
            struct pp_update_layout *update = &rank->updates[places[n]];
            elements = update->bucket > elements ? update->bucket : elements;
            update->buffer_at = rank->block_bytes;
        }
        const size_t bytes =
            (size_t)elements * pp_update_element_bytes(spec, l->kernels, l->is_exact);
        pp_layout_take(rank, bytes);
        rank->buffers_bytes += bytes;
    }
}

/* Most elements of a bucket, so that its begins are begins of blocks of a file in each type. */
static int64_t bucket_elements(const struct pp_state_spec *spec)
{
    static const double USUAL = 16e6;
    const int64_t wanted =
        (int64_t)(spec->update_bucket_params > 0 ? spec->update_bucket_params : USUAL);

    return (wanted + PP_TIER_BLOCK - 1) / PP_TIER_BLOCK * PP_TIER_BLOCK;
}

void pp_update_place_bucket(const struct pp_placing *l, struct pp_rank_layout *rank)
{
    const struct pp_state_spec *spec = &l->p->state.spec;
    const enum pp_tier *home = spec->home;
    const bool is_filed = home[PP_STATE_OPTIMIZER] == PP_TIER_NVME;
    const size_t g = l->kernels->gradient_bytes, t = l->kernels->element_bytes;
    const size_t each[PP_BUCKET_VECTORS] = {
        [PP_BUCKET_M] = is_filed ? g : 0,
        [PP_BUCKET_V] = is_filed ? g : 0,
        [PP_BUCKET_MASTER] = is_filed && t != g ? g : 0,
        [PP_BUCKET_WEIGHTS] = home[PP_STATE_PARAMS] == PP_TIER_NVME ? t : 0,
        [PP_BUCKET_GRADS] = home[PP_STATE_GRADS] != PP_TIER_NVME ? 0
                            : l->is_exact                        ? sizeof(int64_t)
                                                                 : g};
    struct pp_update_bucket *bucket = &rank->bucket;
    size_t sum = 0;

    for (int v = 0; v < PP_BUCKET_VECTORS; v++)
        sum += each[v];
    for (int k = 0; k < l->p->pipelines * l->p->stages && spec->is_cpu_update && sum > 0; k++)
        if (rank->updates[k].moved > bucket->elements)
            bucket->elements = rank->updates[k].moved;
    if (bucket->elements > bucket_elements(spec))
        bucket->elements = bucket_elements(spec);
    for (int v = 0; v < PP_BUCKET_VECTORS; v++)
        if (each[v] > 0 && bucket->elements > 0)
            bucket->at[v] = pp_layout_take_at(rank, PP_TIER_HOST, PP_STATE_OPTIMIZER,
                                              (size_t)bucket->elements * each[v]);
}
