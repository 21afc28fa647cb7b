#include "core/model_options.h"

/* Index of a CHOICE, or `fallback` where it is not given. */
static int choice(const struct pp_request *request, const char *name, int fallback)
{
    const struct pp_option_value *value = pp_request_get(request, name, NULL);

    return value ? (int)value->integer : fallback;
}

static bool is_same(const struct pp_model *a, const struct pp_model *b)
{
    return a->layers == b->layers && a->hidden == b->hidden && a->heads == b->heads &&
           a->kv_heads == b->kv_heads && a->ffn == b->ffn && a->vocab == b->vocab &&
           a->is_gated == b->is_gated && a->is_tied == b->is_tied;
}

/* Sizes that follow another one keep their ratio to it. A model of other dimensions is trained anew
 * with a table of as many positions as its samples need. */
static void override_dimensions(struct pp_arena *arena, const struct pp_request *request,
                                struct pp_model *m)
{
    const struct pp_model before = *m;
    const int hidden = pp_request_int(request, "hidden", m->hidden);
    const int heads = pp_request_int(request, "heads", m->heads);
    const bool is_plain_head = m->head_dim * m->heads == m->hidden;

    m->layers = pp_request_int(request, "layers", m->layers);
    m->vocab = pp_request_int(request, "vocab", m->vocab);
    if (hidden != m->hidden)
        m->ffn = (int)((double)m->ffn / m->hidden * hidden + 0.5);
    m->ffn = pp_request_int(request, "ffn", m->ffn);
    m->kv_heads =
        pp_request_int(request, "kv-heads", m->kv_heads == m->heads ? heads : m->kv_heads);
    m->is_gated = choice(request, "mlp", m->is_gated) == 1;
    m->is_tied = choice(request, "embedding", !m->is_tied) == 0;
    m->hidden = hidden;
    m->heads = heads;
    if (is_plain_head)
        m->head_dim = hidden / heads;
    if (is_same(m, &before))
        return;
    m->name = pp_arena_printf(arena, "%s-like", before.name);
    const int seq = pp_request_int(request, "seq", 0);
    if (m->positions > 0 && seq > m->positions)
        m->positions = seq;
}

enum pp_status pp_model_take(struct pp_arena *arena, const struct pp_request *request,
                             const char *usual, struct pp_model *model, struct pp_error *err)
{
    char typed[PP_REQUEST_TYPED_BYTES];

    PP_TRY(pp_model_load(arena, pp_request_text(request, "model", usual), model, err));
    const int hidden = pp_request_int(request, "hidden", model->hidden);
    const int heads = pp_request_int(request, "heads", model->heads);
    if (model->head_dim * model->heads == model->hidden && hidden % heads)
        return pp_error_set(
            err, PP_EINVAL, "%s: hidden size %d is not a multiple of %d heads",
            pp_request_typed(request, pp_request_has(request, "heads") ? "heads" : "hidden", typed),
            hidden, heads);
    override_dimensions(arena, request, model);
    return pp_model_check(model, err);
}
