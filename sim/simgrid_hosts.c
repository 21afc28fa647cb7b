#define _GNU_SOURCE /* strverscmp */
#include "sim/simgrid_hosts.h"

#include "core/units.h"
#include "sim/platform.h"
#include "sim/platform_text.h"
#include "sim/simgrid_version.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- order ------------------------------------------------------------------------------- */

/* Where an id stands in the file. */
struct place {
    const char *id;
    int rank;
};
struct places {
    struct place *place;
    int count, capacity;
};
struct ranked {
    sg_host_t host;
    int rank;
};
struct ranking {
    struct places places;
    struct ranked *hosts;
    int count, room;
};

static int compare_ids(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return strcmp(x->id, y->id);
}

static int compare_hosts(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return strverscmp(sg_host_get_name(x->host), sg_host_get_name(y->host));
}

/* Elements that make hosts. A host of the same name as a zone has its place by being first: SimGrid
 * refuses such files anyway. */
static struct places find_places(struct pp_arena *arena, const char *text)
{
    static const char *const tags[] = {"host", "peer", "cluster", "zone"};
    struct pp_elements elements = {.rest = text, .line = 1};
    struct places places = {0};
    struct pp_element e;

    for (int rank = 0; pp_elements_next(&elements, &e); rank++)
        for (int i = 0; i < 4; i++)
            if (strlen(tags[i]) == (size_t)e.tag_length &&
                !strncmp(e.tag, tags[i], (size_t)e.tag_length)) {
                const char *id = pp_arena_printf(arena, "%.*s", e.id_length, e.id);
                *PP_PUSH(arena, places.place, places.count, places.capacity) =
                    (struct place){id, rank};
            }
    if (places.count > 0)
        qsort(places.place, (size_t)places.count, sizeof(*places.place), compare_ids);
    return places;
}

static int find_rank(const struct places *places, const char *id, int otherwise)
{
    const struct place key = {.id = id};
    const struct place *found =
        places->count == 0
            ? NULL
            : bsearch(&key, places->place, (size_t)places->count, sizeof(key), compare_ids);

    return found ? found->rank : otherwise;
}

static void rank_zone(struct ranking *ranking, sg_netzone_t zone)
{
    const int zone_rank = find_rank(&ranking->places, sg_zone_get_name(zone), INT_MAX);
    int hosts, zones;
    sg_host_t *host = pp_sg_zone_hosts(zone, &hosts);
    sg_netzone_t *inner = pp_sg_zone_children(zone, &zones);

    for (int i = 0; i < hosts && ranking->count < ranking->room; i++)
        ranking->hosts[ranking->count++] = (struct ranked){
            host[i], find_rank(&ranking->places, sg_host_get_name(host[i]), zone_rank)};
    for (int i = 0; i < zones; i++)
        rank_zone(ranking, inner[i]);
    free(host);
    free(inner);
}

enum pp_status pp_simgrid_hosts(struct pp_arena *arena, const char *text, sg_host_t **hosts,
                                int *count, struct pp_error *err)
{
    const size_t all = sg_host_count();

    if (all == 0 || all > INT_MAX / 2)
        return pp_error_set(err, PP_EINVAL, "it has no hosts: every host is one device");
    struct ranking ranking = {.places = find_places(arena, text),
                              .hosts = PP_ARRAY(arena, struct ranked, all),
                              .room = (int)all};
    rank_zone(&ranking, sg_zone_get_root());
    if (ranking.count != ranking.room)
        return pp_error_set(err, PP_EINVAL, "%d of its %zu hosts are in no zone",
                            ranking.room - ranking.count, all);
    qsort(ranking.hosts, all, sizeof(*ranking.hosts), compare_hosts);
    *count = ranking.count;
    *hosts = PP_ARRAY(arena, sg_host_t, all);
    for (size_t i = 0; i < all; i++)
        (*hosts)[i] = ranking.hosts[i].host;
    return PP_OK;
}

/* ---- properties -------------------------------------------------------------------------- */

/* Properties, the same under a plain name, and what they are called in a cluster text. */
static const struct known {
    const char *property, *plain, *word;
} known[] = {
    {PP_PROP_GPUS, "gpus_per_node", "gpu"}, {PP_PROP_DEVICE, "device", "device"},
    {PP_PROP_MEMORY, "memory", "memory"},   {PP_PROP_HBM, "hbm", "hbm"},
    {PP_PROP_PEAK, "peak", "peak"},         {"pipesim.attention", "attention", "attention"},
};
enum { KNOWN = sizeof(known) / sizeof(*known) };

static const char *host_property(sg_host_t host, const struct known *k)
{
    const char *value = sg_host_get_property_value(host, k->property);

    return value ? value : sg_host_get_property_value(host, k->plain);
}

static const char *zone_property(sg_netzone_t zone, const struct known *k)
{
    const char *value = sg_zone_get_property_value(zone, k->property);

    return value ? value : sg_zone_get_property_value(zone, k->plain);
}

struct properties {
    const char *value[KNOWN];
    const char *owner; /* the first host seen, whose properties these are */
};

static enum pp_status check_host(sg_host_t host, const struct properties *around,
                                 struct properties *all, struct pp_error *err)
{
    const bool is_first = !all->owner;

    for (int i = 0; i < KNOWN; i++) {
        const char *value = host_property(host, &known[i]);

        value = value ? value : around->value[i];
        if (is_first)
            all->value[i] = value;
        else if ((value ? 1 : 0) != (all->value[i] ? 1 : 0) ||
                 (value && strcmp(value, all->value[i]) != 0))
            return pp_error_set(err, PP_EINVAL,
                                "property %s is %.40s for host %.60s, but %.40s for host %.60s: "
                                "all devices must be alike",
                                known[i].plain, value ? value : "not given", sg_host_get_name(host),
                                all->value[i] ? all->value[i] : "not given", all->owner);
    }
    if (is_first)
        all->owner = sg_host_get_name(host);
    return PP_OK;
}

static enum pp_status check_zone(sg_netzone_t zone, struct properties around,
                                 struct properties *all, struct pp_error *err)
{
    enum pp_status status = PP_OK;
    int hosts, zones;
    sg_host_t *host = pp_sg_zone_hosts(zone, &hosts);
    sg_netzone_t *inner = pp_sg_zone_children(zone, &zones);

    for (int k = 0; k < KNOWN; k++) {
        const char *value = zone_property(zone, &known[k]);
        around.value[k] = value ? value : around.value[k];
    }
    for (int i = 0; i < hosts && status == PP_OK; i++)
        status = check_host(host[i], &around, all, err);
    for (int i = 0; i < zones && status == PP_OK; i++)
        status = check_zone(inner[i], around, all, err);
    free(host);
    free(inner);
    return status;
}

enum pp_status pp_simgrid_properties(struct pp_arena *arena, const char **words,
                                     struct pp_error *err)
{
    struct properties all = {0};

    *words = "";
    PP_TRY(check_zone(sg_zone_get_root(), (struct properties){0}, &all, err));
    for (int i = 0; i < KNOWN; i++) {
        const char *value = all.value[i];

        if (!value)
            continue;
        if (!value[0] || strpbrk(value, " \t\r\n,:="))
            return pp_error_set(err, PP_EINVAL,
                                "property %s is \"%.40s\": expected one word, as in a --cluster "
                                "text",
                                known[i].plain, value);
        *words =
            pp_arena_printf(arena, "%s%s%s:%s", *words, **words ? " " : "", known[i].word, value);
    }
    return PP_OK;
}

enum pp_status pp_simgrid_link_properties(sg_host_t host, double *alpha_s, double *eta_link_frac,
                                          struct pp_error *err)
{
    const char *alpha = sg_host_get_property_value(host, PP_PROP_ALPHA);
    const char *eta = sg_host_get_property_value(host, PP_PROP_ETA_LINK);

    *alpha_s = 0;
    *eta_link_frac = 1;
    if (alpha && pp_units_parse(alpha, PP_UNIT_SECONDS, alpha_s, err) != PP_OK)
        return pp_error_prefix(err, "property %s: ", PP_PROP_ALPHA);
    if (eta && pp_units_parse(eta, PP_UNIT_FRAC, eta_link_frac, err) != PP_OK)
        return pp_error_prefix(err, "property %s: ", PP_PROP_ETA_LINK);
    if (!(*eta_link_frac > 0 && *eta_link_frac <= 1))
        return pp_error_set(err, PP_EINVAL, "property %s: %s is out of range: more than 0, up to 1",
                            PP_PROP_ETA_LINK, eta);
    return PP_OK;
}
