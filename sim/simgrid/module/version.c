/* Differences between SimGrid 3.32 and 4.x. */
#include "sim/simgrid/module/version.h"

#include <stdlib.h>

#if SIMGRID_VERSION < 40300 /* the old lists exist until then */

#include <xbt/dict.h>
#include <xbt/dynar.h>

/* Copies the elements of a dynar of pointers, and frees it. */
static void *take(xbt_dynar_t dynar, int *count)
{
    *count = (int)xbt_dynar_length(dynar);
    void **list = malloc(sizeof(*list) * (size_t)(*count + 1));
    for (int i = 0; i < *count && list; i++)
        list[i] = xbt_dynar_get_as(dynar, (unsigned long)i, void *);
    *count = list ? *count : 0;
    xbt_dynar_free(&dynar);
    return list;
}

sg_host_t *pp_sg_zone_hosts(sg_netzone_t zone, int *count)
{
    xbt_dynar_t hosts = xbt_dynar_new(sizeof(void *), NULL);

    sg_zone_get_hosts(zone, hosts);
    return take(hosts, count);
}

sg_netzone_t *pp_sg_zone_children(sg_netzone_t zone, int *count)
{
    xbt_dict_t zones = xbt_dict_new_homogeneous(NULL);
    xbt_dynar_t list = xbt_dynar_new(sizeof(void *), NULL);
    xbt_dict_cursor_t cursor;
    void *child;
    char *key;

    sg_zone_get_sons(zone, zones);
    xbt_dict_foreach(zones, cursor, key, child) xbt_dynar_push(list, &child);
    xbt_dict_free(&zones);
    return take(list, count);
}

sg_link_t *pp_sg_route(sg_host_t source, sg_host_t dest, int *count)
{
    xbt_dynar_t links = xbt_dynar_new(sizeof(void *), NULL);

    sg_host_get_route(source, dest, links);
    return take(links, count);
}

#else /* lists that end with NULL; hosts and links are constant there */

/* Removes the hosts of `zone` from a list. */
static int leave_out(sg_host_t *host, int count, sg_netzone_t zone)
{
    int others, kept = 0;
    const_sg_host_t *other = sg_zone_get_all_hosts(zone, &others);

    for (int i = 0; i < count; i++) {
        int k = 0;
        while (k < others && other[k] != host[i])
            k++;
        if (k == others)
            host[kept++] = host[i];
    }
    free((void *)other);
    return kept;
}

sg_host_t *pp_sg_zone_hosts(sg_netzone_t zone, int *count)
{
    int zones;
    sg_host_t *host = (sg_host_t *)(void *)sg_zone_get_all_hosts(zone, count);
    sg_netzone_t *inner = sg_zone_get_childs(zone, &zones);

    for (int i = 0; i < zones; i++)
        *count = leave_out(host, *count, inner[i]);
    free(inner);
    return host;
}

sg_netzone_t *pp_sg_zone_children(sg_netzone_t zone, int *count)
{
    return sg_zone_get_childs(zone, count);
}

sg_link_t *pp_sg_route(sg_host_t source, sg_host_t dest, int *count)
{
    return (sg_link_t *)(void *)sg_host_get_route_links(source, dest, count);
}

#endif
