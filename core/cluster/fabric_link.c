/* Links of a fabric: the level of each, its values, its name. */
#include "core/cluster/fabric_parts.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- links ----------------------------------------------------------------------------------- */

/* Source and destination of a link of an ideal fabric. */
static int pair_source(const struct pp_fabric *f, int index)
{
    return index / (f->devices - 1);
}

static int pair_dest(const struct pp_fabric *f, int index)
{
    const int source = pair_source(f, index), other = index % (f->devices - 1);

    return other < source ? other : other + 1;
}

/* Returns the level of a link of a computed fabric; sets its index in the level. */
static enum pp_fabric_level_kind level_of(const struct pp_fabric *f, int link, int *index)
{
    int level = 0;

    assert(link >= 0 && link < f->links);
    while (link < f->level[level].first || link - f->level[level].first >= f->level[level].count)
        level++;
    *index = link - f->level[level].first;
    if (level == PP_LEVEL_PAIR &&
        pp_fabric_node(f, pair_source(f, *index)) == pp_fabric_node(f, pair_dest(f, *index)))
        return PP_LEVEL_PAIR_NODE;
    return (enum pp_fabric_level_kind)level;
}

struct pp_fabric_link pp_fabric_link(const struct pp_fabric *f, int link)
{
    struct pp_fabric_link l;
    int index;

    if (f->listed) {
        l = f->listed[link];
    } else {
        const struct pp_fabric_level *level = &f->level[level_of(f, link, &index)];
        l = (struct pp_fabric_link){level->bytes_per_s, level->latency_s,
                                    f->size.kind == PP_FABRIC_IDEAL};
    }
    if (f->factors)
        l.bytes_per_s *= f->factors[link];
    return l;
}

/* ---- names ----------------------------------------------------------------------------------- */

static const char *const ways[] = {"up", "down"};

struct device_name {
    char text[PP_LINK_NAME_BYTES / 2];
};

static struct device_name name_device(const struct pp_fabric *f, int device)
{
    struct device_name name;

    snprintf(name.text, sizeof name.text, "node%d.gpu%d", pp_fabric_node(f, device),
             device % f->size.gpus_per_node);
    return name;
}

static void print_device(const struct pp_fabric *f, int i, char *text)
{
    snprintf(text, PP_LINK_NAME_BYTES, "%s.%s", name_device(f, i / 2).text, ways[i % 2]);
}

static void print_host(const struct pp_fabric *f, int i, char *text)
{
    (void)f;
    snprintf(text, PP_LINK_NAME_BYTES, "node%d.host", i);
}

static void print_nic(const struct pp_fabric *f, int i, char *text)
{
    snprintf(text, PP_LINK_NAME_BYTES, "node%d.nic%d.%s", i / 2 / f->size.rails,
             i / 2 % f->size.rails, ways[i % 2]);
}

static void print_leaf(const struct pp_fabric *f, int i, char *text)
{
    const int uplink = i / 2 % f->size.uplinks, leaf = i / 2 / f->size.uplinks;
    char spine[24] = "";

    if (f->size.uplinks > 1)
        snprintf(spine, sizeof spine, ".spine%d", uplink);
    snprintf(text, PP_LINK_NAME_BYTES, "leaf%d.rail%d%s.%s", leaf / f->size.rails,
             leaf % f->size.rails, spine, ways[i % 2]);
}

static void print_router(const struct pp_fabric *f, int i, char *text)
{
    const int of_group = f->size.chassis * f->size.routers;

    snprintf(text, PP_LINK_NAME_BYTES, "group%d.router%d.%s", i / 2 / of_group, i / 2 % of_group,
             ways[i % 2]);
}

static int nth_other(int self, int n)
{
    return n < self ? n : n + 1;
}

static void print_chassis(const struct pp_fabric *f, int i, char *text)
{
    const int router = i / (f->size.routers - 1), slot = router % f->size.routers;

    snprintf(text, PP_LINK_NAME_BYTES, "group%d.chassis%d.router%d-%d",
             router / f->size.routers / f->size.chassis, router / f->size.routers % f->size.chassis,
             slot, nth_other(slot, i % (f->size.routers - 1)));
}

static void print_group(const struct pp_fabric *f, int i, char *text)
{
    const int router = i / (f->size.chassis - 1),
              chassis = router / f->size.routers % f->size.chassis;

    snprintf(text, PP_LINK_NAME_BYTES, "group%d.slot%d.chassis%d-%d",
             router / f->size.routers / f->size.chassis, router % f->size.routers, chassis,
             nth_other(chassis, i % (f->size.chassis - 1)));
}

static void print_global(const struct pp_fabric *f, int i, char *text)
{
    const int group = i / (f->size.groups - 1);

    snprintf(text, PP_LINK_NAME_BYTES, "group%d-%d", group,
             nth_other(group, i % (f->size.groups - 1)));
}

static void print_torus(const struct pp_fabric *f, int i, char *text)
{
    (void)f;
    snprintf(text, PP_LINK_NAME_BYTES, "node%d.%c.%s", i / 2 / PP_TORUS_DIMS,
             "xyz"[i / 2 % PP_TORUS_DIMS], ways[i % 2]);
}

static void print_pair(const struct pp_fabric *f, int i, char *text)
{
    snprintf(text, PP_LINK_NAME_BYTES, "%s-%s", name_device(f, pair_source(f, i)).text,
             name_device(f, pair_dest(f, i)).text);
}

static const struct {
    void (*print)(const struct pp_fabric *, int index, char *text);
    bool is_network; /* class of --link-bw: "network", else "node" */
} levels[PP_LEVELS] = {
    [PP_LEVEL_DEVICE] = {print_device, false},  [PP_LEVEL_HOST] = {print_host, false},
    [PP_LEVEL_NIC] = {print_nic, true},         [PP_LEVEL_LEAF] = {print_leaf, true},
    [PP_LEVEL_ROUTER] = {print_router, true},   [PP_LEVEL_CHASSIS] = {print_chassis, true},
    [PP_LEVEL_GROUP] = {print_group, true},     [PP_LEVEL_GLOBAL] = {print_global, true},
    [PP_LEVEL_TORUS] = {print_torus, true},     [PP_LEVEL_PAIR] = {print_pair, true},
    [PP_LEVEL_PAIR_NODE] = {print_pair, false},
};

bool pp_fabric_is_network(enum pp_fabric_level_kind level)
{
    return levels[level].is_network;
}

const char *pp_fabric_link_name(const struct pp_fabric *f, int link, char text[PP_LINK_NAME_BYTES])
{
    int index;

    if (f->listed)
        return f->names[link];
    const enum pp_fabric_level_kind level = level_of(f, link, &index);
    levels[level].print(f, index, text);
    return text;
}

int pp_fabric_link_form(const struct pp_fabric *f, int link)
{
    enum { FORMS = 2 * PP_TORUS_DIMS }; /* of a level: ways, and the letters of a torus */
    int index;

    static_assert(PP_LINK_FORMS == PP_LEVELS * FORMS, "a number for each form of each level");
    if (f->listed)
        return -1;
    const enum pp_fabric_level_kind level = level_of(f, link, &index);
    return (int)level * FORMS + index % FORMS;
}

/* ---- kept values ----------------------------------------------------------------------------- */

enum { KEPT_BYTES = 1 << 20 };

struct pp_kept_value {
    const struct pp_kept_value *before;
    int64_t count; /* of the figures of the key */
    size_t bytes;  /* of the value */
    double data[]; /* the key, then the value */
};

void pp_fabric_forget(struct pp_fabric_kept *kept)
{
    pp_arena_destroy(kept->arena);
    *kept = (struct pp_fabric_kept){0};
}

static void forget(void *kept)
{
    pp_fabric_forget(kept);
}

struct pp_fabric_kept *pp_fabric_kept_make(struct pp_arena *arena)
{
    struct pp_fabric_kept *kept = PP_NEW(arena, struct pp_fabric_kept);

    pp_arena_defer(arena, forget, kept);
    return kept;
}

void pp_fabric_keep(const struct pp_fabric *f, const struct pp_fabric_key *key, const void *value,
                    size_t bytes)
{
    struct pp_fabric_kept *kept = f->kept;
    const size_t key_bytes = sizeof(*key->value) * (size_t)key->count,
                 all_bytes = sizeof(struct pp_kept_value) + key_bytes + bytes;

    if (all_bytes > KEPT_BYTES)
        return;
    if (kept->bytes + all_bytes > KEPT_BYTES)
        pp_fabric_forget(kept);
    if (!kept->arena)
        kept->arena = pp_arena_create();
    struct pp_kept_value *entry = pp_arena_alloc_raw(kept->arena, all_bytes);
    *entry = (struct pp_kept_value){kept->last, key->count, bytes};
    memcpy(entry->data, key->value, key_bytes);
    memcpy(entry->data + key->count, value, bytes);
    kept->last = entry;
    kept->bytes += all_bytes;
}

bool pp_fabric_recall(const struct pp_fabric *f, const struct pp_fabric_key *key, void *value,
                      size_t bytes)
{
    const size_t key_bytes = sizeof(*key->value) * (size_t)key->count;

    for (const struct pp_kept_value *e = f->kept->last; e; e = e->before)
        if (e->count == key->count && e->bytes == bytes &&
            !memcmp(e->data, key->value, key_bytes)) {
            memcpy(value, e->data + e->count, bytes);
            return true;
        }
    return false;
}
