/* Reads a platform file, lists its hosts and links, serves routes. */
#define _GNU_SOURCE /* memfd_create */
#include "sim/simgrid/module/probe.h"

#include "sim/simgrid/module/platform.h"
#include "sim/simgrid/module/version.h"

#include <errno.h>
#include <limits.h>
#include <simgrid/engine.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

enum { CPU_MAX_S = 600, ROUTE_MAX_S = 3 };
static const rlim_t data_max_bytes = (rlim_t)8 << 30;

/* ---- loading --------------------------------------------------------------------------------- */

/* Limits memory and time, in case a size in the file is a typing error. Sanitizers map far more
 * memory than there is, so they have no limit of memory. */
static void limit_resources(void)
{
    const struct rlimit cpu_s = {CPU_MAX_S, CPU_MAX_S + 1};
    const rlim_t page = (rlim_t)sysconf(_SC_PAGESIZE);
    const rlim_t half = (rlim_t)sysconf(_SC_PHYS_PAGES) / 2 * page;
    const rlim_t most = half < data_max_bytes ? half : data_max_bytes;
    const struct rlimit data = {most, most};
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long long pages = 0;

    setrlimit(RLIMIT_CPU, &cpu_s);
    if (file && fscanf(file, "%llu", &pages) == 1 && pages * page < most)
        setrlimit(RLIMIT_DATA, &data);
    if (file)
        fclose(file);
}

static void go_to_folder_of(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');

    if (!slash || (size_t)(slash - path) >= sizeof(folder))
        return;
    snprintf(folder, sizeof(folder), "%.*s/", (int)(slash - path), path);
    if (chdir(folder) != 0)
        fprintf(stderr, "%s: %s\n", folder, strerror(errno));
}

/* Loads the file from a copy in memory: SimGrid needs a file name. */
static enum pp_status load(const struct pp_platform_source *source, struct pp_error *err)
{
    const int file = memfd_create("platform", 0);
    char name[64];

    for (size_t done = 0; file >= 0 && done < source->length;) {
        const ssize_t got = write(file, source->text + done, source->length - done);
        if (got <= 0)
            return pp_error_set(err, PP_EFAIL, "cannot copy it: %s", strerror(errno));
        done += (size_t)got;
    }
    if (file < 0)
        return pp_error_set(err, PP_EFAIL, "cannot copy it: %s", strerror(errno));
    snprintf(name, sizeof(name), PP_PROBE_NAME "%d", file);
    go_to_folder_of(source->path);
    limit_resources();
    pp_simgrid_start();
    simgrid_load_platform(name);
    simgrid_run(); /* without actors: Floyd and Dijkstra zones find their routes at its start */
    close(file);
    return PP_OK;
}

/* ---- the listing ----------------------------------------------------------------------------- */

struct listing {
    sg_host_t *hosts;
    sg_link_t *links;
    int host_count, link_count;
    struct pp_simgrid_properties properties;
};

/* Joins the properties and the names of hosts and links, each ended by NUL. */
static char *join_names(struct pp_arena *arena, const struct listing *l, int64_t *bytes)
{
    const int count = 1 + l->host_count + l->link_count;
    const char **names = PP_ARRAY(arena, const char *, count);
    int at = 0;

    names[at++] = l->properties.words;
    for (int i = 0; i < l->host_count; i++)
        names[at++] = sg_host_get_name(l->hosts[i]);
    for (int i = 0; i < l->link_count; i++)
        names[at++] = sg_link_get_name(l->links[i]);
    *bytes = 0;
    for (int i = 0; i < count; i++)
        *bytes += (int64_t)strlen(names[i]) + 1;
    char *text = pp_arena_alloc_raw(arena, (size_t)*bytes), *end = text;
    for (int i = 0; i < count; i++)
        end = stpcpy(end, names[i]) + 1;
    return text;
}

static bool send_listing(struct pp_arena *arena, const struct listing *l, int channel)
{
    struct pp_probe_header header = {.hosts = l->host_count,
                                     .links = l->link_count,
                                     .alpha_s = l->properties.alpha_s,
                                     .eta_link_frac = l->properties.eta_link_frac};
    const char *text = join_names(arena, l, &header.text_bytes);
    struct pp_fabric_link *links = PP_ARRAY(arena, struct pp_fabric_link, l->link_count);

    for (int i = 0; i < l->link_count; i++)
        links[i] = (struct pp_fabric_link){sg_link_get_bandwidth(l->links[i]),
                                           sg_link_get_latency(l->links[i]),
                                           !sg_link_is_shared(l->links[i])};
    return pp_probe_send(channel, &header, sizeof(header)) &&
           pp_probe_send(channel, links, sizeof(*links) * (size_t)l->link_count) &&
           pp_probe_send(channel, text, (size_t)header.text_bytes);
}

/* ---- routes ---------------------------------------------------------------------------------- */

/* Limits the time of a search: it never ends in a Dijkstra zone that is not connected. */
static void limit_route(void)
{
    const struct itimerval most = {.it_value = {.tv_sec = ROUTE_MAX_S}};

    setitimer(ITIMER_VIRTUAL, &most, NULL); /* counts the process' own time: waiting takes none */
}

static bool answer(const struct listing *l, int channel, struct pp_probe_request request)
{
    int32_t ids[PP_PROBE_ROUTE_MAX];
    sg_host_t source = l->hosts[request.source], dest = l->hosts[request.dest];
    int count;

    limit_route();
    sg_link_t *link = pp_sg_route(source, dest, &count);

    for (int i = 0; i < count && i < PP_PROBE_ROUTE_MAX; i++)
        ids[i] = (int32_t)(intptr_t)sg_link_get_data(link[i]);
    free(link);
    const struct pp_probe_answer reply = {.count = count <= PP_PROBE_ROUTE_MAX ? count : 0,
                                          .latency_s = sg_host_get_route_latency(source, dest)};
    return pp_probe_send(channel, &reply, sizeof(reply)) &&
           pp_probe_send(channel, ids, sizeof(*ids) * (size_t)reply.count);
}

static enum pp_status list(struct pp_arena *arena, const char *text, struct listing *l,
                           struct pp_error *err)
{
    PP_TRY(pp_simgrid_hosts(arena, text, &l->hosts, &l->host_count, err));
    PP_TRY(pp_simgrid_properties(arena, &l->properties, err));
    l->link_count = (int)sg_link_count();
    l->links = l->link_count > 0 ? sg_link_list() : NULL;
    for (int i = 0; i < l->link_count; i++)
        sg_link_set_data(l->links[i], (void *)(intptr_t)i); /* NOLINT: a number as a pointer */
    return pp_simgrid_set_levels(arena, l->hosts[0], l->links, l->link_count, err);
}

enum pp_status pp_simgrid_serve_platform(const struct pp_platform_source *source, int channel,
                                         struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_probe_request request;
    struct listing l = {0};

    PP_TRY(load(source, err));
    PP_TRY(list(arena, source->text, &l, err));
    bool is_open = send_listing(arena, &l, channel);
    while (is_open && pp_probe_receive(channel, &request, sizeof(request)))
        is_open = request.source >= 0 && request.source < l.host_count && request.dest >= 0 &&
                  request.dest < l.host_count && answer(&l, channel, request);
    return PP_OK;
}
