/* Identity of a checkpoint: shapes and precision, which must agree with the run. */
#include "exec/checkpoint/checkpoint.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

struct field {
    const char *name, *option; /* option that sets it; NULL = follows from the model */
    size_t offset;             /* in struct pp_net */
    bool is_flag;
};
#define NUMBER(member, option)                                                                     \
    {                                                                                              \
#member, option, offsetof(struct pp_net, member), false                                    \
    }
#define FLAG(member, option)                                                                       \
    {                                                                                              \
#member, option, offsetof(struct pp_net, member), true                                     \
    }

/* precision_bits and positions are not members. */
static const struct field FIELDS[PP_IDENTITY_FIELDS] = {
    [PP_IDENTITY_PRECISION] = {"precision_bits", "--precision", 0, false},
    [PP_IDENTITY_LAYERS] = NUMBER(layers, "--layers"),
    NUMBER(hidden, "--hidden"),
    NUMBER(heads, "--heads"),
    NUMBER(kv_heads, "--kv-heads"),
    NUMBER(head_dim, NULL),
    NUMBER(ffn, "--ffn"),
    NUMBER(vocab, "--vocab"),
    {"positions", "--seq", 0, false},
    FLAG(is_gated, "--mlp"),
    FLAG(is_tied, "--embedding"),
    FLAG(is_rms, NULL),
    FLAG(has_bias_qkv, NULL),
    FLAG(has_bias_out, NULL),
    FLAG(has_bias_mlp, NULL),
    FLAG(has_bias_norm, NULL),
};
enum { POSITIONS = 8 };

const char *pp_identity_name(int field)
{
    return FIELDS[field].name;
}

struct pp_identity pp_identity_of(const struct pp_net *net, const struct pp_kernels *kernels)
{
    struct pp_identity identity;

    for (int i = 0; i < PP_IDENTITY_FIELDS; i++) {
        const char *at = (const char *)net + FIELDS[i].offset;

        identity.value[i] = FIELDS[i].is_flag ? *(const bool *)at : *(const int *)(const void *)at;
    }
    identity.value[PP_IDENTITY_PRECISION] = CHAR_BIT * (int64_t)kernels->element_bytes;
    identity.value[POSITIONS] = net->has_positions ? net->seq : 0;
    return identity;
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
        pp_error_append(err, "%s%s is %lld there and %lld here", separator, FIELDS[i].name,
                        (long long)stored->value[i], (long long)own->value[i]);
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
