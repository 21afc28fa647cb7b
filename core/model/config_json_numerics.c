/* Activation, norms, rotary positions and scales of a config.json: numbers that only training needs
 */
#include "core/model/config_json.h"

#include <math.h>
#include <string.h>

enum { TEXT_BYTES = 64 };

/* Keeps `*value` if the file has none. */
static enum pp_status read_number(const struct pp_model_reader *r, json_t *object, const char *keys,
                                  double low, double high, double *value)
{
    bool found;

    return pp_json_number(r->json, object, keys, low, high, value, &found, r->err);
}

static enum pp_status read_text(struct pp_arena *arena, const struct pp_model_reader *r,
                                json_t *object, const char *keys, const char **text)
{
    const char *value = NULL;
    bool found;

    PP_TRY(pp_json_string(r->json, object, keys, &value, &found, r->err));
    if (found)
        *text = pp_arena_printf(arena, "%.*s", TEXT_BYTES, value);
    return PP_OK;
}

/* ---- rotary positions ------------------------------------------------------------------------ */

/* Newer files have base, share and scaling in one object. */
static json_t *rope_object(const struct pp_model_reader *r)
{
    json_t *newer = json_object_get(r->object, "rope_parameters");

    return json_is_object(newer) ? newer : json_object_get(r->object, "rope_scaling");
}

/* True for an object for each type of layers (Gemma 3). */
static bool is_by_layer(json_t *rope)
{
    const char *key;
    json_t *value;

    json_object_foreach(rope, key, value)
    {
        if (json_is_object(value))
            return true;
    }
    return false;
}

static enum pp_status read_scaling(struct pp_arena *arena, const struct pp_model_reader *r,
                                   json_t *rope, struct pp_rope *out)
{
    int64_t seq;
    bool found;

    out->scaling = "an unnamed method";
    PP_TRY(read_text(arena, r, rope, "rope_type|type", &out->scaling));
    if (strcmp(out->scaling, "default") == 0)
        out->scaling = NULL;
    PP_TRY(read_number(r, rope, "factor", 1e-9, 1e9, &out->factor));
    PP_TRY(read_number(r, rope, "low_freq_factor", 1e-9, 1e9, &out->low_factor));
    PP_TRY(read_number(r, rope, "high_freq_factor", 1e-9, 1e9, &out->high_factor));
    PP_TRY(pp_json_int(r->json, rope, "original_max_position_embeddings", 1, 1 << 28, &seq, &found,
                       r->err));
    out->original_seq = found ? (int)seq : 0;
    return PP_OK;
}

static enum pp_status read_rope(struct pp_arena *arena, const struct pp_model_reader *r,
                                struct pp_rope *rope)
{
    json_t *object = rope_object(r);
    json_t *const places[] = {r->object, object};

    if (is_by_layer(object)) {
        rope->scaling = "one for each type of layers";
        return PP_OK;
    }
    for (size_t i = 0; i < PP_COUNT(places) && json_is_object(places[i]); i++) {
        PP_TRY(read_number(r, places[i], "rope_theta|rotary_emb_base", 1e-9, 1e15, &rope->theta));
        PP_TRY(read_number(r, places[i], "partial_rotary_factor|rotary_pct", 1e-9, 1, &rope->frac));
    }
    return json_is_object(object) ? read_scaling(arena, r, object, rope) : PP_OK;
}

/* ---- switches -------------------------------------------------------------------------------- */

/* Keys that change what is computed, with the values that do not. */
static const struct {
    const char *key;
    enum { UNLESS_FALSE, UNLESS_TRUE, UNLESS_NULL, UNLESS_ZERO } when;
} switches[] = {
    {"attn_logit_softcapping", UNLESS_NULL},
    {"final_logit_softcapping", UNLESS_NULL},
    {"logit_scale", UNLESS_NULL},
    {"output_router_logits", UNLESS_FALSE}, /* of families with experts, it is read elsewhere */
    {"router_jitter_noise", UNLESS_ZERO},
    {"scale_attn_by_inverse_layer_idx", UNLESS_FALSE},
    {"scale_attn_weights", UNLESS_TRUE},
};

static const char *odd_switch(json_t *object, bool has_experts)
{
    for (size_t i = 0; i < PP_COUNT(switches); i++) {
        const json_t *value = json_object_get(object, switches[i].key);
        const bool is_read = has_experts && strcmp(switches[i].key, "output_router_logits") == 0,
                   is_plain = is_read || !value || json_is_null(value) ||
                              (switches[i].when == UNLESS_ZERO && json_is_number(value) &&
                               json_number_value(value) == 0) ||
                              (switches[i].when == UNLESS_FALSE && json_is_false(value)) ||
                              (switches[i].when == UNLESS_TRUE && json_is_true(value));
        if (!is_plain)
            return switches[i].key;
    }
    return NULL;
}

enum pp_status pp_model_read_numerics(struct pp_arena *arena, const struct pp_model_reader *r,
                                      const struct pp_model_family *family, struct pp_model *model)
{
    bool is_parallel = family->norm_place == PP_NORM_PARALLEL;
    struct pp_numerics *n = &model->numerics;

    *n = (struct pp_numerics){
        .activation = family->activation,
        .norm_epsilon = family->epsilon,
        .rope = {.theta = family->theta, .frac = family->rotary_frac},
        .norm_place = family->norm_place,
        .has_norm_offset = family->has_norm_offset,
        .embedding_scale = family->is_embedding_scaled ? sqrt(model->hidden) : 0,
        .position_offset =
            family->has_padding_offset ? model->positions - model->seq : family->extra_positions,
        .odd = odd_switch(r->object, model->experts.count > 0),
    };
    PP_TRY(read_text(arena, r, r->object, "hidden_activation|hidden_act|activation_function",
                     &n->activation));
    PP_TRY(read_number(r, r->object,
                       "rms_norm_eps|layer_norm_epsilon|layer_norm_eps|norm_eps|norm_epsilon",
                       1e-300, 1, &n->norm_epsilon));
    if (is_parallel) {
        PP_TRY(pp_model_read_bool(r, "use_parallel_residual", &is_parallel));
        n->norm_place = is_parallel ? PP_NORM_PARALLEL : PP_NORM_PRE;
    }
    return read_rope(arena, r, &n->rope);
}
