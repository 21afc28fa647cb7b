/* Mixtures of experts and latent attention in config.json: every family has its own names. */
#include "core/model/config_json.h"

#include <string.h>

/* Keys of one family; NULL = none. */
struct keys {
    const char *type;
    const char *count, *ffn;
    const char *shared_ffn;   /* width of all shared experts ... */
    const char *shared_count; /* ... or their number, of the usual width */
    const char *dense_first, *every;
    const char *normalized; /* whether weights of a token's experts add up to 1; NULL = they do */
    const char *dense_ffn;  /* if "intermediate_size" is that of an expert */
    bool has_router_bias, has_shared_gate;
};

/* clang-format off */
static const struct keys families[] = {
    {"deepseek_v2", "n_routed_experts", "moe_intermediate_size", .shared_count = "n_shared_experts",
     .dense_first = "first_k_dense_replace"},
    {"deepseek_v3", "n_routed_experts", "moe_intermediate_size", .shared_count = "n_shared_experts",
     .dense_first = "first_k_dense_replace", .has_router_bias = true},
    {"gpt_oss", "num_local_experts", "intermediate_size", .has_router_bias = true},
    {"grok-1", "num_experts|num_local_experts", "intermediate_size"},
    {"kimi_k2", "n_routed_experts", "moe_intermediate_size", .shared_count = "n_shared_experts",
     .dense_first = "first_k_dense_replace", .has_router_bias = true},
    {"llama4_text", "num_local_experts", "intermediate_size", .shared_ffn = "intermediate_size",
     .every = "interleave_moe_layer_step", .dense_ffn = "intermediate_size_mlp"},
    {"mixtral", "num_local_experts", "intermediate_size"},
    {"qwen2_moe", "num_experts", "moe_intermediate_size", "shared_expert_intermediate_size",
     .every = "decoder_sparse_step", .has_shared_gate = true},
    {"qwen3_moe", "num_experts|num_local_experts", "moe_intermediate_size",
     .every = "decoder_sparse_step", .normalized = "norm_topk_prob"},
};
/* clang-format on */
static const char top_k_keys[] = "num_experts_per_tok|experts_per_token|num_selected_experts";
static const char count_keys[] = "num_local_experts|num_experts|n_routed_experts";

static enum pp_status refuse(const struct pp_model_reader *r)
{
    int64_t count;
    bool found;

    PP_TRY(pp_json_int(r->json, r->object, count_keys, 0, 1 << 20, &count, &found, r->err));
    if (found && count > 1)
        return pp_error_set(r->err, PP_EINVAL,
                            "%s: %lld experts in a family that has none: mixtures can be read of "
                            "deepseek_v2, deepseek_v3, gpt_oss, grok-1, kimi_k2, llama4_text, "
                            "mixtral, qwen2_moe, qwen3_moe, or given by --experts --top-k "
                            "--moe-ffn",
                            r->json->name, (long long)count);
    return PP_OK;
}

static enum pp_status check_pattern(const struct pp_model_reader *r)
{
    int frequency = 1;

    PP_TRY(pp_model_read_int(r, "moe_layer_freq", 1 << 16, &frequency));
    if (frequency != 1)
        return pp_error_set(r->err, PP_EINVAL, "%s: moe_layer_freq %d is not modeled: expected 1",
                            r->json->name, frequency);
    return PP_OK;
}

enum { MOST_BLOCKS = 1 << 16 };

/* Takes the listed blocks that would have experts: those at the start, and a list of others. */
static void take_dense(struct pp_arena *arena, const bool *is_listed, struct pp_experts *experts)
{
    const int every = experts->every > 0 ? experts->every : 1;
    int block = every - 1, *dense = NULL, capacity = 0;

    for (; block < MOST_BLOCKS && is_listed[block]; block += every)
        experts->dense_first = block + 1;
    for (; block < MOST_BLOCKS; block += every)
        if (is_listed[block])
            *PP_PUSH(arena, dense, experts->dense_count, capacity) = block;
    experts->dense = dense;
}

/* Blocks in "mlp_only_layers", from 0, have no experts, whatever `every` says. */
static enum pp_status read_dense(struct pp_arena *arena, const struct pp_model_reader *r,
                                 struct pp_experts *experts)
{
    static const char KEY[] = "mlp_only_layers";
    bool is_listed[MOST_BLOCKS] = {false}; /* a file may list a block twice */
    const json_t *list = json_object_get(r->object, KEY), *number;
    size_t i;

    if (list != NULL && !json_is_null(list) && !json_is_array(list))
        return pp_error_set(r->err, PP_EINVAL, "%s: %s is not a list", r->json->name, KEY);
    json_array_foreach(list, i, number)
    {
        const json_int_t block = json_integer_value(number);
        if (!json_is_integer(number) || block < 0 || block >= MOST_BLOCKS)
            return pp_error_set(r->err, PP_EINVAL, "%s: %s has no block number in entry %zu",
                                r->json->name, KEY, i);
        is_listed[block] = true;
    }
    take_dense(arena, is_listed, experts);
    return PP_OK;
}

static enum pp_status read_shared(const struct pp_model_reader *r, const struct keys *keys,
                                  struct pp_experts *experts)
{
    int64_t count, width = 0;
    bool found = false;

    if (keys->shared_ffn != NULL)
        PP_TRY(
            pp_json_int(r->json, r->object, keys->shared_ffn, 0, 1 << 24, &width, &found, r->err));
    if (found)
        experts->shared_ffn = (int)width;
    if (keys->shared_count == NULL)
        return PP_OK;
    PP_TRY(pp_json_int(r->json, r->object, keys->shared_count, 0, 64, &count, &found, r->err));
    if (found && count * experts->ffn > 1 << 24)
        return pp_error_set(r->err, PP_EINVAL, "%s: %s %lld of width %d are too wide",
                            r->json->name, keys->shared_count, (long long)count, experts->ffn);
    experts->shared_ffn = found ? (int)count * experts->ffn : 0;
    return PP_OK;
}

/* transformers adds the loss of balance if it puts out the logits of routers. */
static enum pp_status read_balance(const struct pp_model_reader *r, struct pp_experts *experts)
{
    static const double USUAL = 0.001, MOST = 1e6;
    bool is_added = false, found;

    PP_TRY(pp_model_read_bool(r, "output_router_logits", &is_added));
    if (!is_added)
        return PP_OK;
    experts->balance_loss = USUAL;
    return pp_json_number(r->json, r->object, "router_aux_loss_coef", 0, MOST,
                          &experts->balance_loss, &found, r->err);
}

static enum pp_status read_keys(struct pp_arena *arena, const struct pp_model_reader *r,
                                const struct keys *keys, struct pp_model *model)
{
    struct pp_experts experts = {.has_router_bias = keys->has_router_bias,
                                 .has_shared_gate = keys->has_shared_gate};
    int64_t dense = 0;
    bool found = false;

    PP_TRY(check_pattern(r));
    PP_TRY(pp_model_read_required(r, keys->count, 1 << 16, &experts.count));
    PP_TRY(pp_model_read_required(r, top_k_keys, 1 << 16, &experts.top_k));
    PP_TRY(pp_model_read_required(r, keys->ffn, 1 << 24, &experts.ffn));
    PP_TRY(read_shared(r, keys, &experts));
    if (keys->dense_first != NULL)
        PP_TRY(
            pp_json_int(r->json, r->object, keys->dense_first, 0, 100000, &dense, &found, r->err));
    if (found)
        experts.dense_first = (int)dense;
    PP_TRY(pp_model_read_int(r, "n_group", 1 << 16, &experts.groups));
    experts.group_limit = experts.groups;
    PP_TRY(pp_model_read_int(r, "topk_group", 1 << 16, &experts.group_limit));
    if (experts.groups <= 1)
        experts.groups = experts.group_limit = 0;
    if (keys->every != NULL)
        PP_TRY(pp_model_read_int(r, keys->every, 100000, &experts.every));
    if (keys->dense_first == NULL)
        PP_TRY(read_dense(arena, r, &experts));
    if (keys->normalized != NULL) {
        bool is_normalized = false;
        PP_TRY(pp_model_read_bool(r, keys->normalized, &is_normalized));
        experts.has_plain_gates = !is_normalized;
    }
    PP_TRY(read_balance(r, &experts));
    if (keys->dense_ffn != NULL)
        PP_TRY(pp_model_read_int(r, keys->dense_ffn, 1 << 24, &model->ffn));
    model->experts = experts;
    return PP_OK;
}

enum pp_status pp_model_read_experts(struct pp_arena *arena, const struct pp_model_reader *r,
                                     const char *type, struct pp_model *model)
{
    for (size_t i = 0; i < PP_COUNT(families); i++)
        if (strcmp(type, families[i].type) == 0)
            return read_keys(arena, r, &families[i], model);
    return refuse(r);
}

enum pp_status pp_model_read_latent(const struct pp_model_reader *r, struct pp_model *model)
{
    struct pp_latent latent = {0};
    int key_dim = 0;

    PP_TRY(pp_model_read_int(r, "kv_lora_rank", 1 << 20, &latent.kv_rank));
    if (latent.kv_rank == 0)
        return PP_OK;
    PP_TRY(pp_model_read_int(r, "q_lora_rank", 1 << 20, &latent.q_rank));
    PP_TRY(pp_model_read_required(r, "qk_rope_head_dim", 1 << 15, &latent.rope_dim));
    PP_TRY(pp_model_read_required(r, "qk_nope_head_dim", 1 << 15, &key_dim));
    PP_TRY(pp_model_read_required(r, "v_head_dim", 1 << 15, &latent.value_dim));
    model->head_dim = key_dim + latent.rope_dim;
    model->kv_heads = model->heads;
    model->latent = latent;
    return PP_OK;
}
