/* Options of the command line that change a model. */
#include "core/model/options.h"

#include "core/text/file.h"

#include <math.h>
#include <string.h>

static bool is_same(const struct pp_model *a, const struct pp_model *b)
{
    return a->layers == b->layers && a->hidden == b->hidden && a->heads == b->heads &&
           a->kv_heads == b->kv_heads && a->ffn == b->ffn && a->vocab == b->vocab &&
           a->is_gated == b->is_gated && a->is_tied == b->is_tied && a->positions == b->positions;
}

/* Returns --positions. Megatron-LM's --max-position-embeddings bounds the samples of every model;
 * it sizes a table only if the model learns one. */
static int positions_of(const struct pp_request *request, const struct pp_model *model)
{
    const struct pp_option_value *value = pp_request_get(request, "positions", NULL);

    if (!value || (model->positions == 0 && strstr(value->typed, "max-position-embeddings")))
        return model->positions;
    return (int)value->integer;
}

/* A model of a file is named by the file, or by its folder: "./small-like". */
static void change_name(struct pp_arena *arena, struct pp_model *model)
{
    static const char *const ends[] = {"/config.json", ".json"};
    size_t length = strlen(model->name);

    if (pp_has_suffix(model->name, "-like"))
        return;
    for (size_t i = 0; i < PP_COUNT(ends); i++)
        if (pp_has_suffix(model->name, ends[i]) && length == strlen(model->name))
            length -= strlen(ends[i]);
    model->name = pp_arena_printf(arena, "%.*s-like", (int)length, model->name);
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
    if (hidden != m->hidden) {
        int *const widths[] = {&m->ffn, &m->experts.ffn, &m->experts.shared_ffn};
        for (size_t i = 0; i < PP_COUNT(widths); i++)
            *widths[i] = (int)((double)*widths[i] / m->hidden * hidden + 0.5);
        if (m->numerics.embedding_scale > 0) /* Gemma, Grok */
            m->numerics.embedding_scale = sqrt(hidden);
    }
    m->ffn = pp_request_int(request, "ffn", m->ffn);
    m->kv_heads =
        pp_request_int(request, "kv-heads", m->kv_heads == m->heads ? heads : m->kv_heads);
    m->positions = positions_of(request, m);
    m->is_gated = pp_request_int(request, "mlp", m->is_gated) == 1;
    m->is_tied = pp_request_int(request, "embedding", !m->is_tied) == 0;
    m->hidden = hidden;
    m->heads = heads;
    if (is_plain_head)
        m->head_dim = hidden / heads;
    if (is_same(m, &before))
        return;
    change_name(arena, m);
    const int seq = pp_request_int(request, "seq", 0);
    if (!pp_request_has(request, "positions") && m->positions > 0 && seq > m->positions)
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

static enum pp_status needs_experts(const struct pp_request *request, struct pp_error *err)
{
    static const char *const options[] = {"top-k", "moe-ffn", "shared-ffn", "dense-layers",
                                          "moe-every"};
    char typed[PP_REQUEST_TYPED_BYTES];
    enum pp_origin origin;

    for (size_t i = 0; i < PP_COUNT(options); i++)
        if (pp_request_get(request, options[i], &origin) && origin == PP_FROM_FLAG)
            return pp_error_set(err, PP_EINVAL, "%s: the model has no experts; give --experts",
                                pp_request_typed(request, options[i], typed));
    return PP_OK;
}

void pp_model_take_mtp(struct pp_arena *arena, const struct pp_request *request,
                       struct pp_model *model)
{
    const int mtp = pp_request_int(request, "mtp", model->mtp);

    if (mtp != model->mtp)
        change_name(arena, model);
    model->mtp = mtp;
}

/* Without dense blocks, --ffn is the size of experts, unless these have one of their own.
 * Scripts of Megatron-LM always have its --ffn-hidden-size. */
static enum pp_status needs_dense(const struct pp_request *request, const struct pp_model *model,
                                  bool has_own, struct pp_error *err)
{
    char typed[PP_REQUEST_TYPED_BYTES];
    enum pp_origin origin;
    const struct pp_option_value *ffn = pp_request_get(request, "ffn", &origin);

    if (!ffn || origin != PP_FROM_FLAG || strcmp(ffn->typed, "--ffn") != 0 ||
        pp_model_moe_blocks(model, 0, model->layers) < model->layers ||
        (!has_own && !pp_request_has(request, "moe-ffn")))
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s: every block of the model has experts; nearest: --moe-ffn %d",
                        pp_request_typed(request, "ffn", typed), model->ffn);
}

enum pp_status pp_model_take_experts(struct pp_arena *arena, const struct pp_request *request,
                                     struct pp_model *model, struct pp_error *err)
{
    struct pp_experts *e = &model->experts;
    const struct pp_experts before = *e;

    e->count = pp_request_int(request, "experts", e->count);
    if (e->count <= 1) {
        *e = (struct pp_experts){0};
        PP_TRY(needs_experts(request, err));
    } else {
        e->top_k = pp_request_int(request, "top-k", before.count > 0 ? before.top_k : 2);
        e->has_plain_gates = e->top_k == before.top_k ? e->has_plain_gates : e->top_k == 1;
        e->every = pp_request_int(request, "moe-every", e->every);
        e->ffn = pp_request_int(request, "moe-ffn", before.count > 0 ? before.ffn : model->ffn);
        e->shared_ffn = pp_request_int(request, "shared-ffn", e->shared_ffn);
        e->dense_first = pp_request_int(request, "dense-layers", e->dense_first);
        if (pp_request_has(request, "dense-layers") || pp_request_has(request, "moe-every"))
            e->dense_count = 0; /* options say which blocks are dense */
    }
    PP_TRY(needs_dense(request, model, before.count > 0, err));
    if (e->count != before.count || e->top_k != before.top_k || e->ffn != before.ffn ||
        e->shared_ffn != before.shared_ffn || e->dense_first != before.dense_first ||
        e->every != before.every || e->dense_count != before.dense_count)
        change_name(arena, model);
    return pp_model_check(model, err);
}
