/* core/model/config_json.h — parts of the reader of config.json. Internal to core/model. */
#pragma once

#include "core/model/model.h"
#include "core/text/json.h"

struct pp_model_family {
    const char *type;   /* "model_type" */
    const char *prefix; /* of "architectures" */
    const char *family;
    bool is_encoder, is_gated, is_tied;
    bool has_qkv_bias, has_other_bias, has_norm_bias, has_embedding_norm, has_qk_norm, has_sinks;
    bool has_position_table;
    int extra_positions;     /* rows of the table beyond max_position_embeddings (OPT) */
    bool has_padding_offset; /* positions are counted from the padding token's id + 1 (RoBERTa) */
    int ffn_divisor;         /* Qwen 1 stores twice the size of the gated layer */
    int head_dim;            /* 0 = hidden size / heads */
    int norms;               /* norms of a block; 0 = 2 */
    const char *bias_key;    /* key that switches attention's biases, NULL = none */
    /* attention windows: by the configuration class of the family */
    const char *window_key;  /* key of their width, NULL = none */
    int window;              /* width if the file has none; null there means no windows */
    bool has_window_switch;  /* off unless "use_sliding_window" is true */
    int full_every;          /* one full block in so many, unless the file has a number; 0 = none */
    const char *pattern_key; /* key of full_every, NULL = none */
    const char *switched_from; /* key of the first block with a window, NULL = 0 */
    bool is_chunked;
    /* numerics; 0 = usual: pp_model_numerics() */
    const char *activation;
    double epsilon, theta, rotary_frac;
    enum pp_norm_place norm_place;
    bool has_norm_offset, is_embedding_scaled;
};

/* A document; `object` is the part that describes the text model. */
struct pp_model_reader {
    const struct pp_json *json;
    json_t *object;
    struct pp_error *err;
};

/* Returns the first of "architectures", "" if there is none. */
const char *pp_model_architecture(json_t *object);
/* Finds the family by "model_type", else by "architectures". PP_EINVAL with the known ones. */
enum pp_status pp_model_find_family(const struct pp_model_reader *r,
                                    const struct pp_model_family **family);

/* An optional value keeps `*value` if it is absent; a required one must be there. */
enum pp_status pp_model_read_int(const struct pp_model_reader *r, const char *keys, int64_t high,
                                 int *value);
enum pp_status pp_model_read_required(const struct pp_model_reader *r, const char *keys,
                                      int64_t high, int *value);
enum pp_status pp_model_read_bool(const struct pp_model_reader *r, const char *keys, bool *value);

/* Reads the experts of families that have them. PP_EINVAL for experts of other families, and for
 * patterns of dense blocks that are not modeled. */
enum pp_status pp_model_read_experts(struct pp_arena *arena, const struct pp_model_reader *r,
                                     const char *type, struct pp_model *model);
/* Reads ranks and widths of latent attention, if the file has them. */
enum pp_status pp_model_read_latent(const struct pp_model_reader *r, struct pp_model *model);
/* Reads what only training needs. The model has its dimensions. */
enum pp_status pp_model_read_numerics(struct pp_arena *arena, const struct pp_model_reader *r,
                                      const struct pp_model_family *family, struct pp_model *model);
/* PP_EINVAL, with the method, for quantised weights other than fp8. */
enum pp_status pp_model_check_quantization(const struct pp_model_reader *r);
