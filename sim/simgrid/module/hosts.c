/* Hosts of a loaded platform in the order of the file. */
#define _GNU_SOURCE /* strverscmp */
#include "sim/simgrid/module/platform.h"

#include "core/units.h"
#include "sim/platform/platform.h"
#include "sim/platform/props.h"
#include "sim/platform/text.h"
#include "sim/simgrid/module/version.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- order ----------------------------------------------------------------------------------- */

/* Place of an id in the file. */
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

/* Places of the elements that make hosts. SimGrid refuses a host with the name of a zone. */
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

/* ---- properties ------------------------------------------------------------------------------ */

/* A property of a host or of a zone around it, under the name that the file uses. */
struct property {
    const char *value, *name;
};
struct properties {
    struct property of[PP_PROPS];
    const char *owner; /* first host, whose properties these are */
};

static const char *host_value(const void *host, const char *name)
{
    return sg_host_get_property_value((sg_host_t)host, name);
}

static const char *zone_value(const void *zone, const char *name)
{
    return sg_zone_get_property_value((sg_netzone_t)zone, name);
}

/* Property of the owner, else `around`. */
static struct property find(const void *owner, const char *(*value_of)(const void *, const char *),
                            int i, struct property around)
{
    for (int k = 0; k < PP_PROP_NAMES && pp_props[i].names[k]; k++) {
        const char *value = value_of(owner, pp_props[i].names[k]);

        if (value)
            return (struct property){value, pp_props[i].names[k]};
    }
    return around;
}

static bool is_alike(struct property a, struct property b)
{
    return a.value && b.value ? !strcmp(a.value, b.value) : !a.value && !b.value;
}

static enum pp_status check_host(sg_host_t host, const struct properties *around,
                                 struct properties *all, struct pp_error *err)
{
    const bool is_first = !all->owner;

    for (int i = 0; i < PP_PROPS; i++) {
        const struct property p = find(host, host_value, i, around->of[i]), first = all->of[i];

        if (is_first)
            all->of[i] = p;
        else if (!is_alike(p, first))
            return pp_error_set(err, PP_EINVAL,
                                "property %s is %.40s for host %.60s, but %.40s for host %.60s: "
                                "all devices must be alike",
                                p.name ? p.name : first.name, p.value ? p.value : "not given",
                                sg_host_get_name(host), first.value ? first.value : "not given",
                                all->owner);
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

    for (int i = 0; i < PP_PROPS; i++)
        around.of[i] = find(zone, zone_value, i, around.of[i]);
    for (int i = 0; i < hosts && status == PP_OK; i++)
        status = check_host(host[i], &around, all, err);
    for (int i = 0; i < zones && status == PP_OK; i++)
        status = check_zone(inner[i], around, all, err);
    free(host);
    free(inner);
    return status;
}

static enum pp_status join_words(struct pp_arena *arena, const struct properties *all,
                                 const char **words, struct pp_error *err)
{
    *words = "";
    for (int i = 0; i < PP_PROPS; i++) {
        const struct property p = all->of[i];

        if (!p.value || !pp_props[i].word)
            continue;
        if (!p.value[0] || strpbrk(p.value, " \t\r\n,:="))
            return pp_error_set(err, PP_EINVAL,
                                "property %s is \"%.40s\": expected one word, as in a --cluster "
                                "text",
                                p.name, p.value);
        *words = pp_arena_printf(arena, "%s%s%s:%s", *words, **words ? " " : "", pp_props[i].word,
                                 p.value);
    }
    return PP_OK;
}

/* Parses a property that is no word of a cluster text. */
static enum pp_status parse(const struct properties *all, const char *name, enum pp_unit unit,
                            double *number, struct pp_error *err)
{
    for (int i = 0; i < PP_PROPS; i++)
        if (!strcmp(pp_props[i].names[0], name) && all->of[i].value &&
            pp_units_parse(all->of[i].value, unit, number, err) != PP_OK)
            return pp_error_prefix(err, "property %s: ", name);
    return PP_OK;
}

enum pp_status pp_simgrid_properties(struct pp_arena *arena, struct pp_simgrid_properties *found,
                                     struct pp_error *err)
{
    struct properties all = {0};

    *found = (struct pp_simgrid_properties){.eta_link_frac = 1};
    PP_TRY(check_zone(sg_zone_get_root(), (struct properties){0}, &all, err));
    PP_TRY(join_words(arena, &all, &found->words, err));
    PP_TRY(parse(&all, PP_PROP_ALPHA, PP_UNIT_SECONDS, &found->alpha_s, err));
    PP_TRY(parse(&all, PP_PROP_ETA_LINK, PP_UNIT_FRAC, &found->eta_link_frac, err));
    if (!(found->eta_link_frac > 0 && found->eta_link_frac <= 1))
        return pp_error_set(err, PP_EINVAL, "property %s: %g is out of range: more than 0, up to 1",
                            PP_PROP_ETA_LINK, found->eta_link_frac);
    return PP_OK;
}
