/* Laws of all fabrics; links that are scaled; links that are listed. */
#include "tests/unit/core/cluster/fabric_of.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINKS_MAX = 64 };

static const struct {
    const char *text;
    int devices;
} fabrics[] = {
    {"h100", 64},
    {"h100", 8},
    {"v100-dgx1", 40},
    {"v100-dgx2", 64},
    {"p100-daint", 1024},
    {"gb200", 144},
    {"gpu:8 leaf:2 oversub:2", 64},
    {"gpu:8 nic:4x100Gbps leaf:4 oversub:2", 100},
    {"gpu:8 nic:3x100Gbps leaf:4 oversub:2", 100},
    {"gpu:8 leaf:4 oversub:2 routing:static", 96},
    {"gpu:8 leaf:2 routing:static", 96},
    {"gpu:4 nic:2x100Gbps leaf:2 routing:static", 32},
    {"gpu:4 fabric:torus torus:3x4x2", 96},
    {"gpu:1 fabric:torus", 30},
    {"gpu:2 fabric:torus torus:5x4", 40},
    {"p100-daint routing:static", 1200},
    {"gpu:2 fabric:dragonfly dragonfly:3x2x3x2 rank1:1GBps rank2:2GBps rank3:4GBps", 72},
    {"gpu:2 fabric:dragonfly dragonfly:4x2x3x2 routing:static", 90},
    {"gpu:8 fabric:star", 64},
    {"gpu:1 fabric:star", 16},
    {"gpu:4 fabric:ideal", 17},
    {"gpu:4 pcie:25GBps nic:1x100Gbps", 12},
    {"gpu:4 pcie:25GBps host:40GBps fabric:star", 12},
    {"gpu:1 pcie:25GBps", 4},
};
enum { FABRICS = sizeof fabrics / sizeof *fabrics };

static bool has_torus(int i)
{
    return strstr(fabrics[i].text, "torus") != NULL;
}

static void check_route(int i, const struct pp_fabric *f, int a, int b, char *is_used)
{
    int32_t links[LINKS_MAX];
    const struct pp_route route = pp_fabric_route(f, a, b, links), cost = pp_fabric_cost(f, a, b);
    double alpha = 0, slowest = INFINITY;

    cr_assert_leq(route.count, pp_fabric_route_max(f));
    cr_assert_eq(route.count == 0, a == b);
    for (int k = 0; k < route.count; k++) {
        cr_assert(links[k] >= 0 && links[k] < pp_fabric_links(f));
        for (int j = 0; j < k; j++)
            cr_assert_neq(links[j], links[k], "%s %d-%d", fabrics[i].text, a, b);
        const struct pp_fabric_link link = pp_fabric_link(f, links[k]);
        alpha += link.latency_s;
        slowest = fmin(slowest, link.bytes_per_s);
        is_used[links[k]] = 1;
    }
    cr_assert_eq(cost.alpha_s, route.alpha_s);
    cr_assert_eq(cost.bytes_per_s, route.bytes_per_s, "%s %d-%d", fabrics[i].text, a, b);
    cr_assert_eq(slowest, route.bytes_per_s);
    if (!has_torus(i))
        cr_assert_float_eq(alpha, route.alpha_s, 1e-15, "%s %d-%d", fabrics[i].text, a, b);
}

/* The way back is as long and as fast; it has a link for each of the way there. */
static void check_back(int i, const struct pp_fabric *f, int a, int b)
{
    int32_t links[LINKS_MAX];
    const struct pp_route there = pp_fabric_route(f, a, b, links),
                          back = pp_fabric_route(f, b, a, links);

    cr_assert_eq(there.count, back.count, "%s %d-%d", fabrics[i].text, a, b);
    cr_assert_eq(there.alpha_s, back.alpha_s);
    cr_assert_eq(there.bytes_per_s, back.bytes_per_s);
}

/* The cost is that of the route. Latencies add up. No link occurs twice. A full machine uses every
 * link, except that a dimension of one node has none, and a gateway has no way to its own group. */
Test(fabric, closed_form_is_the_route)
{
    for (int i = 0; i < FABRICS; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_fabric *f = fabric_of(arena, fabrics[i].text, fabrics[i].devices);
        const int devices = pp_fabric_devices(f), step = devices > 200 ? 7 : 1;
        char *is_used = PP_ARRAY(arena, char, pp_fabric_links(f));

        cr_assert_eq(devices, fabrics[i].devices);
        cr_assert_leq(pp_fabric_route_max(f), LINKS_MAX);
        for (int a = 0; a < devices; a += step)
            for (int b = 0; b < devices; b += step) {
                check_route(i, f, a, b, is_used);
                check_back(i, f, a, b);
            }
        const struct pp_fabric_size size = pp_fabric_size(f);
        const bool is_full = devices == size.nodes * size.gpus_per_node && size.rails > 0 &&
                             size.gpus_per_node % size.rails == 0;
        for (int k = 0;
             step == 1 && is_full && size.nodes > 1 && !has_torus(i) &&
             (!size.is_static || size.kind != PP_FABRIC_DRAGONFLY) && k < pp_fabric_links(f);
             k++) {
            char name[PP_LINK_NAME_BYTES];
            cr_assert(is_used[k], "%s %s", fabrics[i].text, pp_fabric_link_name(f, k, name));
        }
    }
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool differ_in_digits(const char *a, const char *b)
{
    static const char DIGITS[] = "0123456789";

    for (;; a++, b++) {
        a += strspn(a, DIGITS);
        b += strspn(b, DIGITS);
        if (*a != *b || !*a)
            return *a == *b;
    }
}

Test(fabric, links_of_one_form_have_names_that_differ_in_digits_alone)
{
    for (int i = 0; i < FABRICS; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_fabric *f = fabric_of(arena, fabrics[i].text, fabrics[i].devices);
        char first[PP_LINK_FORMS][PP_LINK_NAME_BYTES] = {{0}}, name[PP_LINK_NAME_BYTES];

        for (int k = 0; k < pp_fabric_links(f); k++) {
            const int form = pp_fabric_link_form(f, k);
            cr_assert(form >= 0 && form < PP_LINK_FORMS);
            pp_fabric_link_name(f, k, name);
            if (!*first[form])
                strcpy(first[form], name);
            cr_assert(differ_in_digits(first[form], name), "%s %s", first[form], name);
        }
    }
}

Test(fabric, names_are_unique_and_name_one_link)
{
    for (int i = 0; i < FABRICS; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_fabric *f = fabric_of(arena, fabrics[i].text, fabrics[i].devices);
        const int links = pp_fabric_links(f), step = links > 300 ? links / 100 : 1;
        const char **names = PP_ARRAY(arena, const char *, links);
        struct pp_error err = {0};
        char name[PP_LINK_NAME_BYTES];

        for (int k = 0; k < links; k++) {
            names[k] = pp_arena_strdup(arena, pp_fabric_link_name(f, k, name));
            cr_assert_null(strpbrk(names[k], " \t*=,"), "%s", names[k]);
        }
        for (int k = 0; k < links; k += step) {
            const struct pp_fabric_link before = pp_fabric_link(f, k);
            cr_assert_eq(pp_fabric_scale(f, names[k], 0.5, &err), PP_OK, "%s", err.message);
            cr_assert_eq(pp_fabric_link(f, k).bytes_per_s, before.bytes_per_s / 2);
            cr_assert_eq(pp_fabric_link(f, k).latency_s, before.latency_s);
        }
        qsort(names, (size_t)links, sizeof *names, compare_names);
        for (int k = 1; k < links; k++)
            cr_assert_str_neq(names[k - 1], names[k]);
    }
}

Test(fabric, scaled_links_are_in_costs)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_fabric *f = fabric_of(arena, "h100", 64);
    struct pp_error err = {0};
    int32_t links[LINKS_MAX];

    cr_assert_eq(pp_fabric_scale(f, "network", 0.5, &err), PP_OK);
    cr_assert_float_eq(pp_fabric_cost(f, 0, 8).bytes_per_s, 23e9, 1);
    cr_assert_float_eq(pp_fabric_cost(f, 0, 1).bytes_per_s, 414e9, 1);
    cr_assert_eq(pp_fabric_scale(f, "node", 0.5, &err), PP_OK);
    cr_assert_float_eq(pp_fabric_cost(f, 0, 1).bytes_per_s, 207e9, 1);
    cr_assert_eq(pp_fabric_scale(f, "node3.*", 0.1, &err), PP_OK);
    cr_assert_float_eq(pp_fabric_cost(f, 24, 25).bytes_per_s, 20.7e9, 1);
    cr_assert_float_eq(pp_fabric_cost(f, 24, 32).bytes_per_s, 2.3e9, 1);
    cr_assert_float_eq(pp_fabric_cost(f, 32, 24).bytes_per_s, 2.3e9, 1);
    cr_assert_float_eq(pp_fabric_cost(f, 0, 8).bytes_per_s, 23e9, 1);
    cr_assert_eq(pp_fabric_scale(f, "*.nic7.up", 0.5, &err), PP_OK);
    cr_assert_float_eq(pp_fabric_cost(f, 0, 15).bytes_per_s, 11.5e9, 1);
    cr_assert_float_eq(pp_fabric_cost(f, 0, 14).bytes_per_s, 23e9, 1);
    for (int b = 0; b < 64; b++)
        cr_assert_eq(pp_fabric_cost(f, 5, b).bytes_per_s,
                     pp_fabric_route(f, 5, b, links).bytes_per_s);
}

Test(fabric, names_that_nothing_has)
{
    static const char *const wrong[][2] = {
        {"node3.gpu2.upp", "did you mean node3.gpu2.up?"},
        {"node99.nic0.up", "node0.nic0.up"},
        {"spine*", "no link has this name"},
        {"", "no link has this name"},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_fabric *f = fabric_of(arena, "h100", 64);

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pp_error err = {0};
        cr_assert_eq(pp_fabric_scale(f, wrong[i][0], 0.5, &err), PP_EINVAL);
        cr_assert_not_null(strstr(err.message, wrong[i][1]), "%s", err.message);
    }
    struct pp_error err = {0};
    cr_assert_eq(pp_fabric_scale(f, "network", 0, &err), PP_EINVAL);
    cr_assert_eq(pp_fabric_scale(f, "node0.gpu0.up", -1, &err), PP_EINVAL);
    cr_assert_eq(pp_fabric_scale(f, "node0.gpu0.up", NAN, &err), PP_EINVAL);
}

Test(fabric, machines_that_do_not_hold_the_devices)
{
    static const struct {
        const char *text;
        int devices;
        const char *message;
    } wrong[] = {
        {"node:2 gpu:8", 17, "the cluster has 2 nodes of 8, 16 devices"},
        {"gpu:1 torus:4x4", 17, "torus:4x4x1 holds 16 nodes, and 17 are needed: torus:5x4x1"},
        {"gpu:1 dragonfly:2x6x16x4", 769, "holds 768 nodes, and 769 are needed: 3 groups"},
        {"gpu:8 leaf:32 oversub:3 routing:static", 512, "needs a whole number: oversub:3.2"},
        {"gpu:8 leaf:2 oversub:4 routing:static", 512, "oversub:2"},
        {"gpu:8 fabric:ideal", 50000, "more than 2147483647 links"},
        {"torus:65536x32768", 8, "at most 16777216 nodes"},
        {"torus:1048576x1048576x1048576", 8, "at most 16777216 nodes"},
        {"dragonfly:1048576x1048576x1048576x1048576", 8, "at most 16777216 nodes"},
        {"gpu:1 routing:static dragonfly:9x2x4x1", 9, "reaches 7 others"},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pp_error err = {0};
        struct pp_cluster cluster;
        struct pp_fabric *f;
        cr_assert_eq(pp_cluster_load(arena, wrong[i].text, &cluster, &err), PP_OK, "%s",
                     err.message);
        cr_assert_eq(pp_fabric_make(arena, &cluster, wrong[i].devices, &f, &err), PP_EINVAL, "%s",
                     wrong[i].text);
        cr_assert_not_null(strstr(err.message, wrong[i].message), "%s", err.message);
    }
}

Test(fabric, a_torus_is_as_cubic_as_its_nodes_allow)
{
    static const struct {
        int nodes, torus[PP_TORUS_DIMS];
    } cases[] = {{64, {4, 4, 4}}, {16, {4, 2, 2}}, {7, {7, 1, 1}}, {1, {1, 1, 1}}, {48, {4, 4, 3}}};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct pp_fabric_size size =
            pp_fabric_size(fabric_of(arena, "gpu:1 fabric:torus", cases[i].nodes));
        for (int dim = 0; dim < PP_TORUS_DIMS; dim++)
            cr_assert_eq(size.torus[dim], cases[i].torus[dim], "%d nodes", cases[i].nodes);
    }
}

/* ---- listed ------------------------------------------------------------------------------ */

/* Devices in a line: link k leads from k to k + 1 and back. No way past a gap. */
struct line {
    int asked, gap;
};

static int find_line(void *context, int source, int dest, int32_t *links, int max,
                     struct pp_error *err)
{
    struct line *line = context;
    const int low = source < dest ? source : dest, high = source + dest - low;

    line->asked++;
    cr_assert_geq(max, high - low);
    if (low < line->gap && high >= line->gap) {
        pp_error_set(err, PP_EINVAL, "no route from %d to %d", source, dest);
        return -1;
    }
    for (int i = 0; i < high - low; i++)
        links[i] = low + i;
    return high - low;
}

Test(fabric, listed_routes_are_asked_for_once)
{
    enum { DEVICES = 60 };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_fabric_link links[DEVICES];
    const char *names[DEVICES];
    struct line line = {.gap = DEVICES};
    struct pp_error err = {0};
    int32_t found[4096];

    for (int i = 0; i < DEVICES; i++) {
        links[i] = (struct pp_fabric_link){.bytes_per_s = 1000 + i, .latency_s = 1};
        names[i] = pp_arena_printf(arena, "wire%d", i);
    }
    struct pp_fabric *f = pp_fabric_listed(
        arena, DEVICES, links, names, DEVICES,
        (struct pp_route_source){.find = find_line, .context = &line, .alpha_s = 0.5});
    cr_assert_leq(pp_fabric_route_max(f), 4096);
    for (int again = 0; again < 2; again++)
        for (int a = 0; a < DEVICES; a++)
            for (int b = 0; b < DEVICES; b++) {
                const struct pp_route route = pp_fabric_route(f, a, b, found),
                                      cost = pp_fabric_cost(f, a, b);
                cr_assert_eq(route.count, abs(a - b));
                cr_assert_eq(route.alpha_s, a == b ? 0 : abs(a - b) + 0.5);
                cr_assert_eq(cost.alpha_s, route.alpha_s);
                cr_assert_eq(cost.bytes_per_s, a == b ? INFINITY : 1000 + (a < b ? a : b));
            }
    cr_assert_eq(line.asked, DEVICES * (DEVICES - 1));
    cr_assert_eq(pp_fabric_check(f, &err), PP_OK);

    cr_assert_eq(pp_fabric_scale(f, "wire7", 0.5, &err), PP_OK);
    cr_assert_eq(pp_fabric_cost(f, 5, 9).bytes_per_s, 503.5);
    cr_assert_eq(pp_fabric_cost(f, 8, 9).bytes_per_s, 1008);
    cr_assert_eq(pp_fabric_scale(f, "network", 2, &err), PP_OK);
    cr_assert_eq(pp_fabric_cost(f, 8, 9).bytes_per_s, 2016);
    cr_assert_eq(pp_fabric_scale(f, "node", 2, &err), PP_EINVAL);
    cr_assert_eq(pp_fabric_scale(f, "wyre7", 2, &err), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "did you mean wire7?"), "%s", err.message);
}

Test(fabric, the_first_missing_route_is_reported)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_fabric_link links[8] = {0};
    const char *const names[8] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    struct line line = {.gap = 4};
    struct pp_error err = {0};
    struct pp_fabric *f = pp_fabric_listed(
        arena, 8, links, names, 8, (struct pp_route_source){.find = find_line, .context = &line});

    cr_assert_eq(pp_fabric_cost(f, 0, 3).alpha_s, 0);
    cr_assert_eq(pp_fabric_check(f, &err), PP_OK);
    cr_assert_eq(pp_fabric_cost(f, 2, 5).alpha_s, 0);
    (void)pp_fabric_cost(f, 1, 6);
    cr_assert_eq(pp_fabric_check(f, &err), PP_EINVAL);
    cr_assert_str_eq(err.message, "no route from 2 to 5");
}

/* Values are found by key and size, and forgotten when the fabric changes or has too many. */
Test(fabric, keeps_values)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_fabric *f = fabric_of(arena, "h100", 16);
    double figures[] = {1, 2, 3};
    const struct pp_fabric_key keys[] = {{figures, 3, 3}, {figures, 2, 2}, {figures + 1, 2, 2}};
    const size_t large = (size_t)1 << 19;
    char *room = pp_arena_alloc(arena, 2 * large);
    struct pp_error err;
    int value;

    for (int i = 0; i < 3; i++)
        pp_fabric_keep(f, &keys[i], &i, sizeof(i));
    for (int i = 0; i < 3; i++)
        cr_assert(pp_fabric_recall(f, &keys[i], &value, sizeof(value)) && value == i);
    cr_assert_not(pp_fabric_recall(f, &keys[0], room, sizeof(value) + 1));
    pp_fabric_keep(f, &keys[0], room, 2 * large); /* too large */
    cr_assert_not(pp_fabric_recall(f, &keys[0], room, 2 * large));
    pp_fabric_keep(f, &keys[0], room, large);
    cr_assert(pp_fabric_recall(f, &keys[1], &value, sizeof(value)));
    pp_fabric_keep(f, &keys[1], room, large); /* no room for both */
    cr_assert_not(pp_fabric_recall(f, &keys[0], room, large));
    cr_assert(pp_fabric_recall(f, &keys[1], room, large));
    cr_assert_eq(pp_fabric_scale(f, "network", 0.5, &err), PP_OK);
    cr_assert_not(pp_fabric_recall(f, &keys[1], room, large));
}
