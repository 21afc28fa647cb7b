/* A cluster printed as a SimGrid platform and read again: SimGrid's own routes are those of the
 * fabric. */
#define _GNU_SOURCE /* memfd_create */
#include "sim/platform/platform.h"
#include "sim/simgrid/platform_file.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINKS_MAX = 1024, PAIRS_MAX = 4096 };

/* Are the links the same ones, in the same order? Else the cost of the routes is: the platform has
 * links more that never bind, or that only have a latency. */
enum match { LINKS, COST };

static const struct shape {
    const char *text;
    int devices;
    enum match match;
} shapes[] = {
    {"h100", 8, LINKS},
    {"h100", 16, LINKS},
    {"h100", 64, LINKS},
    {"h100 leaf:2 oversub:2", 64, LINKS},
    {"node:8 gpu:4 leaf:2 oversub:2", 32, LINKS},
    {"node:8 gpu:4 leaf:2 routing:static", 32, LINKS},
    {"node:16 gpu:4 leaf:4 oversub:2 routing:static", 64, LINKS},
    {"node:27 gpu:2 leaf:3 oversub:3 routing:static", 54, LINKS},
    {"v100-dgx1", 16, LINKS},
    {"a100 node:6 gpu:8 nic:4x200Gbps", 48, LINKS},
    {"node:12 gpu:1 fabric:star", 12, LINKS},
    {"node:1 gpu:8 fabric:star", 8, LINKS},
    {"p100-daint", 64, COST},
    {"p100-daint", 800, COST},
    {"gpu:1 dragonfly:4x1x4x2 routing:static", 32, LINKS},
    {"gpu:1 dragonfly:3x1x8x1 routing:static", 24, LINKS},
    {"gpu:1 dragonfly:1x1x4x4 routing:static", 16, LINKS},
    {"gpu:1 dragonfly:1x3x1x2 routing:static", 6, LINKS},
    {"gpu:1 torus:4x4x4", 64, LINKS},
    {"gpu:1 torus:5x3x2", 30, LINKS},
    {"gpu:1 torus:8x2x1", 16, LINKS},
    {"gpu:2 torus:3x3x1", 18, COST},
    {"node:4 gpu:4 pcie:16GBps", 16, LINKS},
    {"node:4 gpu:4 pcie:16GBps nic:1x100Gbps fabric:star", 16, LINKS},
    {"node:2 gpu:4 fabric:ideal", 8, LINKS},
};

static struct pp_fabric *read_again(struct pp_arena *arena, const struct pp_cluster *cluster,
                                    int devices, struct pp_cluster *read)
{
    const int file = memfd_create("platform", 0);
    FILE *out = fdopen(file, "w");
    struct pp_platform *platform;
    struct pp_error err = {0};
    char path[64];

    cr_assert(pp_platform_print(arena, cluster, devices, out, &err) == PP_OK, "%s: %s",
              cluster->name, err.message);
    fflush(out);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    cr_assert(pp_platform_open(arena, path, &platform, read, &err) == PP_OK, "%s: %s",
              cluster->name, err.message);
    fclose(out);
    return pp_platform_fabric(arena, platform);
}

static void expect_near(double a, double b, const char *what, const struct shape *s, int source,
                        int dest)
{
    cr_assert(fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b)), "%s: %s of %d -> %d: %.17g, %.17g",
              s->text, what, source, dest, a, b);
}

/* Ours <-> theirs, one to one over all routes. */
struct pairing {
    int32_t *theirs, *ours; /* [link] + 1; 0 = not seen */
};

static void pair_links(struct pairing *p, const struct shape *s, const struct pp_fabric *ours,
                       const struct pp_fabric *theirs, int source, int dest)
{
    int32_t a[LINKS_MAX], b[LINKS_MAX];
    char a_name[PP_LINK_NAME_BYTES], b_name[PP_LINK_NAME_BYTES];
    const int count = pp_fabric_route(ours, source, dest, a).count;

    cr_assert(count == pp_fabric_route(theirs, source, dest, b).count, "%s: %d -> %d", s->text,
              source, dest);
    for (int i = 0; i < count; i++) {
        if (!p->theirs[a[i]] && !p->ours[b[i]]) {
            p->theirs[a[i]] = b[i] + 1;
            p->ours[b[i]] = a[i] + 1;
        }
        cr_assert(p->theirs[a[i]] == b[i] + 1 && p->ours[b[i]] == a[i] + 1,
                  "%s: %d -> %d has %s, SimGrid %s", s->text, source, dest,
                  pp_fabric_link_name(ours, a[i], a_name),
                  pp_fabric_link_name(theirs, b[i], b_name));
        expect_near(pp_fabric_link(ours, a[i]).bytes_per_s,
                    pp_fabric_link(theirs, b[i]).bytes_per_s, "link", s, source, dest);
    }
}

static void check(const struct shape *s)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_cluster cluster, read;
    struct pp_fabric *ours;
    struct pp_error err = {0};

    cr_assert(pp_cluster_load(arena, s->text, &cluster, &err) == PP_OK, "%s", err.message);
    cr_assert(pp_fabric_make(arena, &cluster, s->devices, &ours, &err) == PP_OK, "%s", err.message);
    struct pp_fabric *theirs = read_again(arena, &cluster, s->devices, &read);
    cr_assert(pp_fabric_devices(theirs) >= s->devices);
    cr_assert_str_eq(read.device.name, cluster.device.name);
    cr_assert(read.gpus_per_node == cluster.gpus_per_node);
    expect_near(read.device.memory_bytes, cluster.device.memory_bytes, "memory", s, 0, 0);
    struct pairing pairing = {PP_ARRAY(arena, int32_t, pp_fabric_links(ours)),
                              PP_ARRAY(arena, int32_t, pp_fabric_links(theirs))};
    const int64_t pairs = (int64_t)s->devices * s->devices;
    for (int64_t i = 0; i<pairs; i += pairs> PAIRS_MAX ? 1 + pairs / PAIRS_MAX : 1) {
        const int source = (int)(i / s->devices), dest = (int)(i % s->devices);
        if (source == dest)
            continue;
        const struct pp_route a = pp_fabric_cost(ours, source, dest),
                              b = pp_fabric_cost(theirs, source, dest);
        expect_near(a.alpha_s, b.alpha_s, "latency", s, source, dest);
        expect_near(a.bytes_per_s, b.bytes_per_s, "bandwidth", s, source, dest);
        if (s->match == LINKS)
            pair_links(&pairing, s, ours, theirs, source, dest);
    }
    cr_assert(pp_fabric_check(theirs, &err) == PP_OK, "%s", err.message);
}

Test(platform_routes, simgrid_goes_the_same_way)
{
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
        check(&shapes[i]);
}
