/* Which tensors of the hub each of ours consists of. */
#include "exec/hub/weights.h"

#include "core/text/file.h"
#include "kernels/kernels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static enum pp_status has_no_place(const struct pp_hub_layout *l, const struct pp_param *param,
                                   struct pp_error *err)
{
    return pp_error_set(err, PP_EINVAL,
                        "model '%.80s': family %s of the hub has no place for its tensor %s of "
                        "%" PRId64 " elements",
                        l->model->name, l->family->type, param->name, param->count);
}

/* Returns `text` with `number` for its first %d. */
static const char *numbered(struct pp_arena *arena, const char *text, int number)
{
    const char *at = strstr(text, "%d");

    return at ? pp_arena_printf(arena, "%.*s%d%s", (int)(at - text), text, number, at + 2) : text;
}

/* Norms of some families multiply by 1 + weight, ours by the weight. */
static float added_to(const struct pp_model *model, const struct pp_param *param)
{
    return model->numerics.has_norm_offset && strncmp(param->name, "norm", 4) == 0 &&
                   pp_has_suffix(param->name, ".weight")
               ? 1
               : 0;
}

/* Appends the pieces of one of our tensors that belong to an expert, or to none; returns the place
 * after them. */
static int64_t add_rows(struct pp_arena *arena, const struct pp_param *param,
                        const struct pp_hub_name *names, int expert, int64_t from,
                        struct pp_hub_layout *l)
{
    for (const struct pp_hub_name *row = names; row->ours; row++) {
        if (strcmp(row->ours, param->name) != 0)
            continue;
        const int64_t columns = pp_hub_size(l->model, row->columns),
                      stored = pp_hub_size(l->model, row->rows), left = param->count / columns;
        const bool is_cut = row->rows == PP_HUB_POSITIONS && left < stored;
        struct pp_hub_piece *piece = &l->pieces[l->count++];
        *piece = (struct pp_hub_piece){
            .name = numbered(arena, numbered(arena, row->name, param->layer - 1), expert),
            .param = param,
            .from = from,
            .rows = is_cut ? left : stored,
            .columns = columns,
            .stored_rows = stored,
            .is_vector = row->columns == PP_HUB_ONE,
            .head_dim = l->model->head_dim,
            .added = added_to(l->model, param),
            .order = row->order};
        from += piece->rows * columns;
    }
    return from;
}

/* Appends the pieces of one of our tensors, which they must fill. */
static enum pp_status add_pieces(struct pp_arena *arena, const struct pp_param *param,
                                 struct pp_hub_layout *l, struct pp_error *err)
{
    const bool is_of_each = strncmp(param->name, "experts.", 8) == 0,
               is_of_experts = is_of_each || strcmp(param->name, "router.weight") == 0;
    const struct pp_hub_name *names = is_of_experts ? l->family->experts : l->family->names;
    int64_t from = 0;

    for (int e = 0; e < (is_of_each ? l->model->experts.count : 1); e++)
        from = add_rows(arena, param, names, e, from, l);
    return from == param->count ? PP_OK : has_no_place(l, param, err);
}

/* Files of some families cannot say which blocks have experts, and how these are weighed. */
static enum pp_status check_experts(const struct pp_hub_layout *l, struct pp_error *err)
{
    const struct pp_model *m = l->model;
    const bool is_usual =
        pp_model_moe_blocks(m, 0, m->layers) == m->layers && !m->experts.has_plain_gates;

    if (m->experts.count == 0 || l->family->is_switchable || is_usual)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "model '%.80s': in family %s of the hub all blocks have experts, whose "
                        "weights add up to 1: leave out --moe-every and --dense-layers, and give "
                        "--top-k 2 or more",
                        m->name, l->family->type);
}

/* A family with a table of positions cannot do without, as its files have no rotary ones. */
static enum pp_status check_positions(const struct pp_hub_layout *l, struct pp_error *err)
{
    for (const struct pp_hub_name *row = l->family->names; row->ours; row++)
        if (row->rows == PP_HUB_POSITIONS && l->model->positions == 0)
            return pp_error_set(err, PP_EINVAL,
                                "model '%.80s' has no table of positions, and family %s of the hub "
                                "has one: give --positions, at least the tokens of a sample",
                                l->model->name, l->family->type);
    return PP_OK;
}

static enum pp_status check_tied(const struct pp_hub_layout *l, struct pp_error *err)
{
    return l->model->is_tied || !l->family->is_always_tied
               ? PP_OK
               : pp_error_set(err, PP_EINVAL,
                              "model '%.80s' has a matrix of its own in its head, and family %s of "
                              "the hub shares that of the embedding: give --embedding tied",
                              l->model->name, l->family->type);
}

static int by_place(const void *a, const void *b)
{
    const struct pp_hub_piece *x = a, *y = b;

    if (x->param->id != y->param->id)
        return x->param->id < y->param->id ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

enum pp_status pp_hub_layout(struct pp_arena *arena, const struct pp_model *model,
                             const struct pp_net *net, struct pp_hub_layout *layout,
                             struct pp_error *err)
{
    enum { MOST_PIECES = 3 }; /* of one of ours */
    const struct pp_stage *whole = pp_stage_whole(arena, net, 1, 1, &pp_kernels_reference);

    *layout = (struct pp_hub_layout){
        .model = model,
        .pieces = PP_ARRAY(arena, struct pp_hub_piece,
                           (MOST_PIECES + 2 * model->experts.count) * whole->param_count)};
    PP_TRY(pp_hub_family(model, &layout->family, err));
    PP_TRY(check_positions(layout, err));
    PP_TRY(check_experts(layout, err));
    PP_TRY(check_tied(layout, err));
    for (int p = 0; p < whole->param_count; p++)
        PP_TRY(add_pieces(arena, &whole->params[p], layout, err));
    qsort(layout->pieces, (size_t)layout->count, sizeof(*layout->pieces), by_place);
    return PP_OK;
}
