/* A fabric of listed links: routes are asked for once and kept. */
#include "core/cluster/fabric_parts.h"

#include "core/map64.h"

#include <math.h>
#include <string.h>

struct entry {
    struct pp_route route;
    const int32_t *links;
};

struct pp_fabric_cache {
    struct pp_route_source source;
    struct pp_map64 index; /* key: source * devices + dest */
    struct entry *entries;
    int count, capacity;
    struct pp_error failure; /* why the first missing route was not found */
};

static void destroy(void *arena)
{
    pp_arena_destroy(arena);
}

/* Routes have an arena of their own: the caller's may hold data that it soon releases. */
struct pp_fabric *pp_fabric_listed(struct pp_arena *arena, int devices,
                                   const struct pp_fabric_link *links, const char *const *names,
                                   int link_count, struct pp_route_source source)
{
    struct pp_fabric *f = PP_NEW(arena, struct pp_fabric);
    struct pp_fabric_cache *cache = PP_NEW(arena, struct pp_fabric_cache);
    struct pp_arena *routes = pp_arena_create();

    *cache = (struct pp_fabric_cache){.source = source, .index = pp_map64_create(routes, 128)};
    *f = (struct pp_fabric){.size = {.kind = PP_FABRIC_FILE, .gpus_per_node = 1, .nodes = devices},
                            .devices = devices,
                            .links = link_count,
                            .scratch = PP_ARRAY(arena, int32_t, PP_LISTED_ROUTE_MAX),
                            .arena = routes,
                            .kept = pp_fabric_kept_make(arena),
                            .listed = links,
                            .names = names,
                            .cache = cache};
    pp_arena_defer(arena, destroy, routes);
    return f;
}

enum pp_status pp_fabric_check(const struct pp_fabric *f, struct pp_error *err)
{
    if (!f->cache || f->cache->failure.status == PP_OK)
        return PP_OK;
    *err = f->cache->failure;
    return err->status;
}

static struct pp_route sum_links(const struct pp_fabric *f, const int32_t *links, int count)
{
    struct pp_route route = {
        .alpha_s = f->cache->source.alpha_s, .bytes_per_s = INFINITY, .count = count};

    for (int i = 0; i < count; i++) {
        const struct pp_fabric_link link = f->listed[links[i]];
        route.alpha_s += link.latency_s;
        route.bytes_per_s = fmin(route.bytes_per_s, link.bytes_per_s);
    }
    return route;
}

static void find(const struct pp_fabric *f, int source, int dest, struct entry *entry)
{
    struct pp_fabric_cache *cache = f->cache;
    struct pp_error err = {0};
    int32_t links[PP_LISTED_ROUTE_MAX];
    int count =
        cache->source.find(cache->source.context, source, dest, links, PP_LISTED_ROUTE_MAX, &err);

    if (count < 0) {
        if (cache->failure.status == PP_OK)
            cache->failure = err;
        if (cache->failure.status == PP_OK)
            pp_error_set(&cache->failure, PP_EINVAL, "--cluster: no route from device %d to %d",
                         source, dest);
        count = 0;
    }
    int32_t *kept = pp_arena_alloc_raw(f->arena, sizeof(int32_t) * (size_t)(count + 1));
    memcpy(kept, links, sizeof(int32_t) * (size_t)count);
    entry->links = kept;
    entry->route = sum_links(f, links, count);
}

struct pp_route pp_fabric_listed_route(const struct pp_fabric *f, int source, int dest,
                                       int32_t *links)
{
    struct pp_fabric_cache *cache = f->cache;
    const uint64_t key = (uint64_t)source * (uint64_t)f->devices + (uint64_t)dest;
    const int32_t index = *pp_map64_at(&cache->index, key, cache->count);

    if (index == cache->count)
        find(f, source, dest, PP_PUSH(f->arena, cache->entries, cache->count, cache->capacity));
    const struct entry *entry = &cache->entries[index];
    struct pp_route route = entry->route;
    memcpy(links, entry->links, sizeof(int32_t) * (size_t)route.count);
    if (f->factors && route.count > 0) {
        route.bytes_per_s = INFINITY;
        for (int i = 0; i < route.count; i++)
            route.bytes_per_s = fmin(route.bytes_per_s, pp_fabric_link(f, links[i]).bytes_per_s);
    }
    return route;
}
