/* The keys of a cluster text and their values: numbers with units, sizes, links. */
#include "core/cluster/text.h"

#include "core/cli/options.h"
#include "core/units.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_NODES = 1 << 24,
    MAX_GPUS_PER_NODE = 4096,
    MAX_NICS = 1024,
    MAX_SIZE = 1 << 20,
    MAX_LATENCY_S = 10,
    DRAGONFLY_SIZES = 4,
    INT_BYTES = 16,
    NUMBER_BYTES = 48,
};

/* ---- values: PP_EINVAL without the key, which is added later --------------------------------- */

static enum pp_status read_count(const char *value, int high, int *count, struct pp_error *err)
{
    int64_t number;

    PP_TRY(pp_units_parse_whole(value, 1, high, &number, err));
    *count = (int)number;
    return PP_OK;
}

/* Reads a number above 0 with its unit, at most 1e18; seconds are at most 10. */
static enum pp_status read_quantity(const char *value, enum pp_unit unit, double *number,
                                    struct pp_error *err)
{
    PP_TRY(pp_units_parse(value, unit, number, err));
    if (!(*number > 0) || !isfinite(*number) || *number > 1e18)
        return pp_error_set(err, PP_EINVAL,
                            "%s is out of range: expected more than 0, at most 1e18", value);
    if (unit == PP_UNIT_SECONDS && *number > MAX_LATENCY_S)
        return pp_error_set(err, PP_EINVAL, "%s is out of range: expected up to %d s", value,
                            MAX_LATENCY_S);
    return PP_OK;
}

/* Reads "450GBps", or "450GBps@2us". Without the second number, `second` stays unchanged. */
static enum pp_status read_pair(const char *value, enum pp_unit unit, double *number,
                                enum pp_unit second_unit, double *second, const char *expected,
                                struct pp_error *err)
{
    const size_t length = strcspn(value, "@");
    char first[NUMBER_BYTES];

    if (length >= sizeof first)
        return pp_error_set(err, PP_EINVAL, "expected %s", expected);
    snprintf(first, sizeof first, "%.*s", (int)length, value);
    PP_TRY(read_quantity(first, unit, number, err));
    return value[length] ? read_quantity(value + length + 1, second_unit, second, err) : PP_OK;
}

/* Reads "16x16x8": from `least` to `most` numbers; those left out are 0. */
static enum pp_status read_sizes(const char *value, int least, int most, int *sizes,
                                 struct pp_error *err)
{
    char number[INT_BYTES];
    int count = 0;

    for (const char *at = value; at; count++) {
        const size_t length = strcspn(at, "xX");
        if (count == most || length == 0 || length >= sizeof number)
            return pp_error_set(err, PP_EINVAL, "expected %s%d numbers with x between",
                                least < most ? "up to " : "", most);
        snprintf(number, sizeof number, "%.*s", (int)length, at);
        PP_TRY(read_count(number, MAX_SIZE, &sizes[count], err));
        at = at[length] ? at + length + 1 : NULL;
    }
    if (count < least)
        return pp_error_set(err, PP_EINVAL, "expected %d numbers with x between", least);
    for (; count < most; count++)
        sizes[count] = 0;
    return PP_OK;
}

/* ---- the devices ----------------------------------------------------------------------------- */

/* Reads a rate, or the rate and the latency of a message. */
static enum pp_status set_intra(struct pp_cluster_text *text, const char *value,
                                struct pp_error *err)
{
    struct pp_link *link = &text->cluster.intra;

    return read_pair(value, PP_UNIT_BYTES_PER_S, &link->bytes_per_s, PP_UNIT_SECONDS,
                     &link->alpha_s, "a bandwidth, or bandwidth@latency", err);
}

static enum pp_status set_nvlink(struct pp_cluster_text *text, const char *value,
                                 struct pp_error *err)
{
    text->cluster.fabric.is_pcie = false;
    return set_intra(text, value, err);
}

static enum pp_status set_pcie(struct pp_cluster_text *text, const char *value,
                               struct pp_error *err)
{
    text->cluster.fabric.is_pcie = true;
    text->cluster.is_cube_mesh = false;
    text->cluster.mesh_links = 0;
    return set_intra(text, value, err);
}

/* Reads "8x400Gbps", eight cards in a node, or "400Gbps", one. */
static enum pp_status set_nic(struct pp_cluster_text *text, const char *value, struct pp_error *err)
{
    char count_text[INT_BYTES];
    const size_t digits = strspn(value, "0123456789");
    int count = 1;

    if (digits > 0 && digits < sizeof count_text &&
        (value[digits] == 'x' || value[digits] == 'X')) {
        snprintf(count_text, sizeof count_text, "%.*s", (int)digits, value);
        PP_TRY(read_count(count_text, MAX_NICS, &count, err));
        value += digits + 1;
    }
    PP_TRY(read_quantity(value, PP_UNIT_BYTES_PER_S, &text->nic_bytes_per_s, err));
    text->nic_bytes_per_s *= count;
    text->cluster.fabric.nics = count;
    return PP_OK;
}

static enum pp_status set_peak(struct pp_cluster_text *text, const char *value,
                               struct pp_error *err)
{
    double peak_flops_per_s;

    PP_TRY(read_quantity(value, PP_UNIT_FLOPS_PER_S, &peak_flops_per_s, err));
    pp_device_scale_peak(&text->cluster.device, peak_flops_per_s);
    return PP_OK;
}

/* "unfused" prices software without FlashAttention. */
static enum pp_status set_attention(struct pp_cluster_text *text, const char *value,
                                    struct pp_error *err)
{
    text->cluster.device.is_attention_stated = true;
    text->cluster.device.is_attention_unfused = strcmp(value, "unfused") == 0;
    if (text->cluster.device.is_attention_unfused || strcmp(value, "fused") == 0)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL, "expected fused or unfused");
}

/* ---- the fabric ------------------------------------------------------------------------------ */

const char *const pp_fabric_names[PP_FABRIC_KINDS] = {
    [PP_FABRIC_FAT_TREE] = "fat-tree", [PP_FABRIC_DRAGONFLY] = "dragonfly",
    [PP_FABRIC_TORUS] = "torus",       [PP_FABRIC_STAR] = "star",
    [PP_FABRIC_IDEAL] = "ideal",       [PP_FABRIC_FILE] = "file",
};

static const struct {
    const char *alias;
    enum pp_fabric_kind kind;
} fabric_aliases[] = {
    {"rail", PP_FABRIC_FAT_TREE}, {"rails", PP_FABRIC_FAT_TREE},  {"clos", PP_FABRIC_FAT_TREE},
    {"tree", PP_FABRIC_FAT_TREE}, {"aries", PP_FABRIC_DRAGONFLY}, {"switch", PP_FABRIC_STAR},
    {"mesh", PP_FABRIC_TORUS},
};

static enum pp_status set_fabric(struct pp_cluster_text *text, const char *value,
                                 struct pp_error *err)
{
    for (int i = 0; i < PP_FABRIC_FILE; i++)
        if (pp_same_name(value, pp_fabric_names[i])) {
            text->cluster.fabric.kind = (enum pp_fabric_kind)i;
            return PP_OK;
        }
    for (size_t i = 0; i < PP_COUNT(fabric_aliases); i++)
        if (pp_same_name(value, fabric_aliases[i].alias)) {
            text->cluster.fabric.kind = fabric_aliases[i].kind;
            return PP_OK;
        }
    const char *names[PP_FABRIC_FILE + 1] = {0};
    for (int i = 0; i < PP_FABRIC_FILE; i++)
        names[i] = pp_fabric_names[i];
    const char *near = pp_suggest(value, names);
    pp_error_set(err, PP_EINVAL, "unknown topology: ");
    if (near)
        pp_error_append(err, "did you mean %s? ", near);
    return pp_error_append(err, "known are fat-tree dragonfly torus star ideal");
}

static enum pp_status set_oversub(struct pp_cluster_text *text, const char *value,
                                  struct pp_error *err)
{
    double *over = &text->cluster.fabric.oversubscription;

    PP_TRY(pp_units_parse(value, PP_UNIT_COUNT, over, err));
    return *over >= 1 && *over <= MAX_SIZE
               ? PP_OK
               : pp_error_set(err, PP_EINVAL, "expected a number from 1 (never blocks) to %d",
                              MAX_SIZE);
}

static enum pp_status set_routing(struct pp_cluster_text *text, const char *value,
                                  struct pp_error *err)
{
    text->cluster.fabric.is_static = strcmp(value, "static") == 0;
    if (text->cluster.fabric.is_static || strcmp(value, "adaptive") == 0)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL, "expected static or adaptive");
}

static enum pp_status set_torus(struct pp_cluster_text *text, const char *value,
                                struct pp_error *err)
{
    return read_sizes(value, 1, PP_TORUS_DIMS, text->cluster.fabric.torus, err);
}

/* Reads groups, chassis of a group, routers of a chassis, nodes of a router. */
static enum pp_status set_dragonfly(struct pp_cluster_text *text, const char *value,
                                    struct pp_error *err)
{
    struct pp_fabric_shape *s = &text->cluster.fabric;
    int sizes[DRAGONFLY_SIZES];

    PP_TRY(read_sizes(value, DRAGONFLY_SIZES, DRAGONFLY_SIZES, sizes, err));
    s->groups = sizes[0], s->chassis = sizes[1], s->routers = sizes[2], s->router_nodes = sizes[3];
    return PP_OK;
}

/* ---- memory tiers ---------------------------------------------------------------------------- */

static enum pp_status set_tier(struct pp_cluster_text *text, enum pp_tier tier, const char *value,
                               struct pp_error *err)
{
    struct pp_tier_memory *memory = &text->cluster.tiers[tier];
    const char *lack_rate = pp_tier_rows[tier].lack_rate;

    PP_TRY(read_pair(value, PP_UNIT_BYTES, &memory->bytes, PP_UNIT_BYTES_PER_S,
                     &memory->bytes_per_s, "bytes, or bytes@rate", err));
    return memory->bytes_per_s > 0 || lack_rate == NULL
               ? PP_OK
               : pp_error_set(err, PP_EINVAL, "%s", lack_rate);
}

/* ---- the table ------------------------------------------------------------------------------- */

#define TREES (1u << PP_FABRIC_FAT_TREE)
#define FLIES (1u << PP_FABRIC_DRAGONFLY)
#define TORI  (1u << PP_FABRIC_TORUS)

#define QUANTITY(member, of) .offset = offsetof(struct pp_cluster, member), .unit = PP_UNIT_##of
#define NUMBER(member, high) .offset = offsetof(struct pp_cluster, member), .most = (high)

/* Key of a cluster text: calls `set`, else sets a tier, a number or a quantity of the cluster. */
static const struct key {
    const char *name;
    enum pp_status (*set)(struct pp_cluster_text *, const char *, struct pp_error *);
    const char *example;
    unsigned fabrics;        /* that have the key, 0 = all; without `fabric:` the first is set */
    enum pp_tier tier;       /* tier whose bytes@rate it sets */
    size_t offset;           /* of an int or a double in struct pp_cluster; 0 = none */
    int most;                /* bound of the int; 0 = a double */
    enum pp_unit unit;       /* of the double */
    bool is_alias, is_rival; /* of the row before: only one of both may be given */
} keys[] = {
    {"node", NULL, "2", NUMBER(nodes, MAX_NODES)},
    {"nodes", NULL, "2", NUMBER(nodes, MAX_NODES), .is_alias = true},
    {"gpu", NULL, "8", NUMBER(gpus_per_node, MAX_GPUS_PER_NODE)},
    {"gpus", NULL, "8", NUMBER(gpus_per_node, MAX_GPUS_PER_NODE), .is_alias = true},
    {"device", NULL, "a100"},
    {"nvlink", set_nvlink, "300GBps"},
    {"pcie", set_pcie, "25GBps", .is_rival = true},
    {"nic", set_nic, "8x200Gbps"},
    {"memory", NULL, "40GB", QUANTITY(device.memory_bytes, BYTES)},
    {"hbm", NULL, "1555GBps", QUANTITY(device.memory_bytes_per_s, BYTES_PER_S)},
    {"peak", set_peak, "312TF"},
    {"latency", NULL, "5us", QUANTITY(inter.alpha_s, SECONDS)},
    {"attention", set_attention, "unfused"},
    {"fabric", set_fabric, "fat-tree"},
    {"host", NULL, "64GBps", QUANTITY(fabric.host_bytes_per_s, BYTES_PER_S)},
    {"ram", NULL, "1TB@200GBps", .tier = PP_TIER_HOST},
    {"h2d", NULL, "25GBps", QUANTITY(tiers[PP_TIER_HOST].link_bytes_per_s, BYTES_PER_S)},
    {"uplink", NULL, "64GBps", QUANTITY(tiers[PP_TIER_HOST].uplink_bytes_per_s, BYTES_PER_S)},
    {"nvme", NULL, "8TB@25GBps", .tier = PP_TIER_NVME},
    {"cpu", NULL, "5e9", QUANTITY(update_params_per_s, COUNT)},
    {"leaf", NULL, "32", TREES, NUMBER(fabric.leaf_nodes, MAX_NODES)},
    {"oversub", set_oversub, "2", TREES},
    {"routing", set_routing, "static", TREES | FLIES},
    {"torus", set_torus, "16x16x8", TORI},
    {"hop", NULL, "25GBps", TORI, QUANTITY(fabric.torus_bytes_per_s, BYTES_PER_S)},
    {"dragonfly", set_dragonfly, "14x6x16x4", FLIES},
    {"rank1", NULL, "10.5GBps", FLIES, QUANTITY(fabric.chassis_bytes_per_s, BYTES_PER_S)},
    {"rank2", NULL, "15.75GBps", FLIES, QUANTITY(fabric.group_bytes_per_s, BYTES_PER_S)},
    {"rank3", NULL, "337GBps", FLIES, QUANTITY(fabric.global_bytes_per_s, BYTES_PER_S)},
};
enum { KEYS = PP_COUNT(keys) };

static enum pp_status unknown_key(const char *word, struct pp_error *err)
{
    const char *names[KEYS + 1];

    for (int i = 0; i < KEYS; i++)
        names[i] = keys[i].name;
    names[KEYS] = NULL;
    const char *near = pp_suggest(word, names);
    pp_error_set(err, PP_EINVAL, "--cluster: unknown key '%.60s': ", word);
    if (near != NULL)
        pp_error_append(err, "did you mean '%s'? ", near);
    pp_error_append(err, "(known are");
    for (int i = 0; i < KEYS; i++)
        if (!keys[i].is_alias)
            pp_error_append(err, " %s", keys[i].name);
    return pp_error_append(err, ", as in \"node:2 gpu:8 device:a100 nic:8x200Gbps\")");
}

static enum pp_status set_value(struct pp_cluster_text *text, const struct key *key,
                                const char *value, struct pp_error *err)
{
    if (key->set)
        return key->set(text, value, err);
    if (key->tier != PP_TIER_DEVICE)
        return set_tier(text, key->tier, value, err);
    if (key->offset == 0) /* `device:` was read before the others */
        return PP_OK;
    void *field = (char *)&text->cluster + key->offset;
    return key->most > 0 ? read_count(value, key->most, field, err)
                         : read_quantity(value, key->unit, field, err);
}

static const struct key *find_key(const char *word)
{
    for (const struct key *key = keys; key < keys + KEYS; key++)
        if (strcmp(word, key->name) == 0)
            return key;
    return NULL;
}

static unsigned bit_of(const struct key *key)
{
    return 1u << (key - keys - (key->is_alias || key->is_rival));
}

static bool is_given(const struct pp_cluster_text *text, const char *word)
{
    return text->given & bit_of(find_key(word));
}

bool pp_cluster_has_own_device(const struct pp_cluster_text *text)
{
    return is_given(text, "peak") || is_given(text, "memory") || is_given(text, "hbm");
}

enum pp_status pp_cluster_set_key(struct pp_cluster_text *text, const char *word, const char *value,
                                  struct pp_error *err)
{
    const struct key *key = find_key(word);

    if (key == NULL)
        return unknown_key(word, err);
    if (text->given & bit_of(key))
        return pp_error_set(err, PP_EINVAL, "--cluster: '%s' is given twice", word);
    text->given |= bit_of(key);
    if (set_value(text, key, value, err) == PP_OK)
        return PP_OK;
    pp_error_prefix(err, "--cluster: %s:%s: ", word, value);
    return pp_error_append(err, " (as in %s:%s)", key->name, key->example);
}

static enum pp_fabric_kind first_of(unsigned fabrics)
{
    return (enum pp_fabric_kind)__builtin_ctz(fabrics);
}

/* Returns a given key that the chosen fabric does not have; NULL if there is none. */
static const struct key *contradiction(const struct pp_cluster_text *text)
{
    for (const struct key *key = keys; key < keys + KEYS; key++)
        if (text->given & bit_of(key) && key->fabrics &&
            !(key->fabrics & (1u << text->cluster.fabric.kind)))
            return key;
    return NULL;
}

/* Completes the links to the host. Those of one's own share nothing, unless the text says so. */
static void set_host_links(struct pp_cluster_text *text)
{
    struct pp_tier_memory *host = &text->cluster.tiers[PP_TIER_HOST];
    const bool is_pcie = is_given(text, "pcie") && text->cluster.fabric.is_pcie;

    text->cluster.is_h2d_stated = is_given(text, "h2d");
    if (is_pcie && !is_given(text, "h2d"))
        host->link_bytes_per_s = text->cluster.intra.bytes_per_s;
    if ((is_pcie || is_given(text, "h2d")) && !is_given(text, "uplink"))
        host->uplink_bytes_per_s = 0;
}

enum pp_status pp_cluster_check_keys(struct pp_cluster_text *text, struct pp_error *err)
{
    struct pp_fabric_shape *s = &text->cluster.fabric;
    const struct key *key = contradiction(text);

    if (key != NULL && !is_given(text, "fabric")) {
        s->kind = first_of(key->fabrics);
        key = contradiction(text);
    }
    if (key != NULL)
        return pp_error_set(err, PP_EINVAL,
                            "--cluster: '%s' is a key of fabric:%s, not of fabric:%s", key->name,
                            pp_fabric_names[first_of(key->fabrics)], pp_fabric_names[s->kind]);
    if (is_given(text, "host") && !s->is_pcie)
        return pp_error_set(err, PP_EINVAL,
                            "--cluster: 'host' is the memory in which devices of a node meet on "
                            "PCIe: pcie:25GBps with it, or without host");
    set_host_links(text);
    return PP_OK;
}
