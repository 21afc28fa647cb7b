/* Places optimizer state, and what the host updates with. */
#include "exec/program/parts.h"

int64_t pp_update_moved(const struct pp_state_spec *spec, int64_t elements)
{
    const double frac = pp_state_moved(spec, PP_STATE_OPTIMIZER);
    const int64_t moved = pp_flat_unit_from((int64_t)(frac * (double)elements));

    return moved < elements ? moved : elements;
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
    if (spec->home[PP_STATE_GRADS] != PP_TIER_HOST)
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
}
