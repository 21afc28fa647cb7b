/* Identity of a checkpoint: shapes, precision and formulas, which must agree with the run. */
#include "exec/checkpoint/checkpoint.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

enum {
    FIRST_ROTARY = 27,
    END_ROTARY = 33,
    DENSE_BLOCKS = PP_IDENTITY_FIELDS - 1 /* a number made of their list; 0 = none */
};

enum kind { IS_NUMBER, IS_FLAG, IS_ENUM, IS_REAL };
struct field {
    const char *name, *option; /* option that sets it; NULL = follows from the model */
    size_t offset;             /* in struct pp_net */
    enum kind kind;
    double usual; /* of a field from PP_IDENTITY_FIRST_UNUSUAL on, unless activation */
};
#define NUMBER(member, option)                                                                     \
    {                                                                                              \
#member, option, offsetof(struct pp_net, member), IS_NUMBER, 0                             \
    }
#define FLAG(member, option)                                                                       \
    {                                                                                              \
#member, option, offsetof(struct pp_net, member), IS_FLAG, 0                               \
    }
#define REAL(name, member, usual)                                                                  \
    {                                                                                              \
        name, NULL, offsetof(struct pp_net, member), IS_REAL, usual                                \
    }

/* precision_bits, positions and dense_blocks are not members. */
static const struct field FIELDS[PP_IDENTITY_FIELDS] = {
    [PP_IDENTITY_PRECISION] = {"precision_bits", "--precision", 0, IS_NUMBER, 0},
    [PP_IDENTITY_LAYERS] = NUMBER(layers, "--layers"),
    NUMBER(hidden, "--hidden"),
    NUMBER(heads, "--heads"),
    NUMBER(kv_heads, "--kv-heads"),
    NUMBER(head_dim, NULL),
    NUMBER(ffn, "--ffn"),
    NUMBER(vocab, "--vocab"),
    [PP_IDENTITY_POSITIONS] = {"positions", "--seq", 0, IS_NUMBER, 0},
    [PP_IDENTITY_GATED] = FLAG(is_gated, "--mlp"),
    FLAG(is_tied, "--embedding"),
    FLAG(is_rms, NULL),
    FLAG(has_bias_qkv, NULL),
    FLAG(has_bias_out, NULL),
    FLAG(has_bias_mlp, NULL),
    FLAG(has_bias_norm, NULL),
    [PP_IDENTITY_FIRST_UNUSUAL] = {"activation", NULL, offsetof(struct pp_net, activation), IS_ENUM,
                                   0},
    FLAG(is_parallel, NULL),
    FLAG(has_qk_norm, NULL),
    NUMBER(position_offset, NULL),
    REAL("norm_epsilon", norm_epsilon, 1e-5),
    REAL("embedding_scale", embedding_scale, 0),
    FLAG(is_encoder, NULL),
    NUMBER(token_types, NULL),
    {"window", NULL, offsetof(struct pp_net, window.keys), IS_NUMBER, 0},
    {"window_full_every", NULL, offsetof(struct pp_net, window.full_every), IS_NUMBER, 0},
    {"window_full_first", NULL, offsetof(struct pp_net, window.full_first), IS_NUMBER, 0},
    [FIRST_ROTARY] = {"rotary_dim", NULL, offsetof(struct pp_net, rotary.dim), IS_NUMBER, 0},
    REAL("rotary_theta", rotary.theta, 10000),
    REAL("rotary_factor", rotary.factor, 0),
    REAL("rotary_low", rotary.low, 0),
    REAL("rotary_high", rotary.high, 0),
    [END_ROTARY - 1] = {"rotary_original_seq", NULL, offsetof(struct pp_net, rotary.original_seq),
                        IS_NUMBER, 0},
    NUMBER(experts, "--experts"),
    NUMBER(top_k, "--top-k"),
    NUMBER(expert_ffn, "--moe-ffn"),
    NUMBER(shared_ffn, "--shared-ffn"),
    NUMBER(dense_first, "--dense-layers"),
    NUMBER(every, "--moe-every"),
    NUMBER(capacity, "--capacity-factor"),
    FLAG(has_plain_gates, NULL),
    {"balance_loss", "--balance-loss", offsetof(struct pp_net, balance_loss), IS_REAL, 0},
    [DENSE_BLOCKS] = {"dense_blocks", NULL, 0, IS_NUMBER, 0},
};

/* As transformers names them. */
static const char *const ACTIVATIONS[PP_ACTIVATIONS] = {
    [PP_GELU_TANH] = "gelu_new", [PP_GELU_ERF] = "gelu", [PP_RELU] = "relu", [PP_SILU] = "silu"};

const char *pp_identity_name(int field)
{
    return FIELDS[field].name;
}

/* A real number is stored as the bits of a float, which are positive as the number is. */
static int64_t bits_of(double real)
{
    const float rounded = (float)real;
    int32_t bits;

    memcpy(&bits, &rounded, sizeof bits);
    return bits;
}

static double real_of(int64_t value)
{
    const int32_t bits = (int32_t)value;
    float real;

    memcpy(&real, &bits, sizeof real);
    return (double)real;
}

static int64_t value_of(const struct field *field, const struct pp_net *net)
{
    const void *at = (const char *)net + field->offset;

    switch (field->kind) {
    case IS_FLAG:
        return *(const bool *)at;
    case IS_ENUM:
        return *(const enum pp_activation *)at;
    case IS_REAL:
        return bits_of(*(const double *)at);
    default:
        return *(const int *)at;
    }
}

int64_t pp_identity_usual(const struct pp_identity *identity, int field)
{
    if (field == PP_IDENTITY_FIRST_UNUSUAL)
        return identity->value[PP_IDENTITY_GATED] ? PP_SILU : PP_GELU_TANH;
    return bits_of(FIELDS[field].usual);
}

/* FNV-1a (Fowler, Noll, Vo), of 31 bits. */
static int64_t list_number(const int *list, int count)
{
    uint32_t number = 2166136261;

    for (int i = 0; i < count; i++)
        number = (number ^ (uint32_t)list[i]) * 16777619;
    return count > 0 ? (int64_t)(number & INT_MAX) | 1 : 0;
}

struct pp_identity pp_identity_of(const struct pp_net *net, const struct pp_kernels *kernels)
{
    struct pp_identity identity;

    for (int i = 0; i < PP_IDENTITY_FIELDS; i++)
        identity.value[i] = value_of(&FIELDS[i], net);
    identity.value[PP_IDENTITY_PRECISION] = CHAR_BIT * (int64_t)kernels->element_bytes;
    identity.value[DENSE_BLOCKS] = list_number(net->dense, net->dense_count);
    identity.value[PP_IDENTITY_POSITIONS] = net->has_positions ? net->seq : 0;
    for (int i = FIRST_ROTARY; i < END_ROTARY && net->has_positions; i++)
        identity.value[i] = pp_identity_usual(&identity, i);
    if (net->rotary.dim == net->head_dim)
        identity.value[FIRST_ROTARY] = 0;
    return identity;
}

static void append_value(struct pp_error *err, const struct field *field, int64_t value)
{
    if (field->kind == IS_REAL)
        pp_error_append(err, "%g", real_of(value));
    else if (field->kind == IS_ENUM && value < PP_ACTIVATIONS)
        pp_error_append(err, "%s", ACTIVATIONS[value]);
    else
        pp_error_append(err, "%lld", (long long)value);
}

enum pp_status pp_identity_check(const char *path, const struct pp_identity *stored,
                                 const struct pp_identity *own, struct pp_error *err)
{
    const char *separator = "";

    err->status = PP_OK;
    for (int i = 0; i < PP_IDENTITY_FIELDS; i++) {
        if (stored->value[i] == own->value[i])
            continue;
        if (err->status == PP_OK)
            pp_error_set(err, PP_EINVAL, "%s is of another model: ", path);
        pp_error_append(err, "%s%s is ", separator, FIELDS[i].name);
        append_value(err, &FIELDS[i], stored->value[i]);
        pp_error_append(err, " there and ");
        append_value(err, &FIELDS[i], own->value[i]);
        pp_error_append(err, " here");
        if (FIELDS[i].option)
            pp_error_append(err, " (%s)", FIELDS[i].option);
        separator = ", ";
    }
    return err->status;
}

const char *pp_manifest_value(const struct pp_manifest *m, const char *name)
{
    for (int i = 0; i < m->option_count; i++)
        if (strcmp(m->options[i].name, name) == 0)
            return m->options[i].value;
    return NULL;
}

enum pp_status pp_manifest_check(const char *path, const struct pp_manifest *stored,
                                 const struct pp_manifest *own, struct pp_error *err)
{
    const char *seeds[] = {pp_manifest_value(stored, "seed"), pp_manifest_value(own, "seed")};

    PP_TRY(pp_identity_check(path, &stored->identity, &own->identity, err));
    if (stored->tokens != own->tokens || stored->tokens_crc != own->tokens_crc)
        return pp_error_set(err, PP_EINVAL, "%s was trained on other data", path);
    if (strcmp(seeds[0] ? seeds[0] : "", seeds[1] ? seeds[1] : "") == 0)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL, "%s has another seed: %s there and %s here", path,
                        seeds[0] ? seeds[0] : "none", seeds[1] ? seeds[1] : "none");
}
