#include "core/model_options.h"

/* Sizes that follow another one keep their ratio to it. */
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
    if (m->kv_heads == m->heads)
        m->kv_heads = heads;
    m->hidden = hidden;
    m->heads = heads;
    if (is_plain_head)
        m->head_dim = hidden / heads;
    if (m->layers != before.layers || m->hidden != before.hidden || m->heads != before.heads ||
        m->vocab != before.vocab)
        m->name = pp_arena_printf(arena, "%s-like", before.name);
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
