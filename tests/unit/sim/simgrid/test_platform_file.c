/* Platform files of users: what is read, and what is refused how. */
#include "sim/platform/text.h"
#include "sim/simgrid/platform_file.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES PP_TESTS_DIR "/fuzz/corpus/platform/"
enum { LINKS_MAX = 1024 };

static struct pp_arena *arena;
static struct pp_platform *platform;
static struct pp_cluster cluster;
static struct pp_error err;

static void start(void)
{
    arena = pp_arena_create();
}

static void stop(void)
{
    pp_arena_destroy(arena);
    cr_expect(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "a child is left");
}

TestSuite(platform_file, .init = start, .fini = stop);

static enum pp_status open_file(const char *name)
{
    char path[4096];

    snprintf(path, sizeof(path), FILES "%s", name);
    err = (struct pp_error){0};
    cluster = (struct pp_cluster){0};
    return pp_platform_open(arena, path, &platform, &cluster, &err);
}

/* ---- what is refused ----------------------------------------------------------------------- */

static const struct {
    const char *file, *message; /* after the path */
} refused[] = {
    {"bad_unit.xml", ":7: unknown unit: GByte"},
    {"bandwidth_nan.xml", ":7: link l: bandwidth nan bytes/s is out of range: 1 to 1e18"},
    {"bandwidth_negative.xml", ":7: link l: bandwidth -1e+09 bytes/s is out of range: 1 to 1e18"},
    {"bandwidth_zero.xml", ":7: link l: bandwidth 0 bytes/s is out of range: 1 to 1e18"},
    {"device_unknown.xml",
     ":4: property device: unknown device 'h1000': did you mean 'h100'? (`pipesim "
     "clusters` lists them)"},
    {"devices_differ.xml", ": property device is not given for host b, but a100 for host a: all "
                           "devices must be alike"},
    {"dragonfly_bad.xml", ": Dragonfly are defined by the number of groups, chassis per groups, "
                          "blades per chassis, nodes per blade"},
    {"duplex_without_direction.xml", ":8: Link not found: l"},
    {"empty.xml", ":1: EOF in prolog."},
    {"eta_above_one.xml", ": property pipesim.eta_link: 1.5 is out of range: more than 0, up to 1"},
    {"fat_tree_bad.xml", ":4: Fat trees are defined by the levels number and 3 vectors, see the "
                         "documentation for more information."},
    {"fat_tree_level.xml", ": property pipesim.level3.bandwidth: no link has level 3"},
    {"host_twice.xml", ":6: Refusing to create a second host named 'a'."},
    {"latency_negative.xml", ":7: link l: latency -1e-06 s is out of range: 0 to 10"},
    {"level_unit.xml", ": property pipesim.level1.bandwidth: \"20\" has no unit: 20GBps (bytes) or "
                       "20Gbps (bits)?"},
    {"link_name.xml",
     ":9: link 01234567890123456789...: its name has 130 characters, at most 127 can "
     "be kept"},
    {"link_twice.xml", ":8: Link 'l' declared several times in the platform."},
    {"link_twice_in_route.xml", ": the route from host a to host b uses link l twice"},
    {"link_unused_route.xml", ": no route from host a to host b"},
    {"memory_unit.xml", ":4: property memory: 40XB: \"40XB\" is not bytes such as 80GiB, 80GB or "
                        "512 (as in memory:40GB)"},
    {"new.xml", ":3: the version is newer than this SimGrid: expected <platform version=\"4.1\">"},
    {"no_hosts.xml", ": it has no hosts: every host is one device"},
    {"no_routes.xml", ": no route from host a to host b"},
    {"no_unit.xml", ":7: bandwidth of link l has no unit: 10 (as in 10GBps, 100Gbps, 5us, 1Gf)"},
    {"no_version.xml", ":3: no version is given: expected <platform version=\"4.1\">"},
    {"nodes_uneven.xml", ":4: 11 hosts are no whole number of nodes: property gpus_per_node is 4"},
    {"nodes_uneven_prefixed.xml",
     ":5: 8 hosts are no whole number of nodes: property pipesim.gpu is 3"},
    {"property_misspelt.xml",
     ":5: unknown property pipesim.gpus: did you mean pipesim.gpu? (known are pipesim.cluster "
     "pipesim.level1.bandwidth pipesim.level1.latency pipesim.gpu pipesim.gpus_per_node "
     "pipesim.device pipesim.memory pipesim.hbm pipesim.peak pipesim.attention pipesim.alpha "
     "pipesim.eta_link)"},
    {"radical_huge.xml", ":4: cluster c: up to here 100000000 hosts, and every host is one device: "
                         "expected at most 1048576"},
    {"old.xml", ":3: the version is too old: expected <platform version=\"4.1\">; "
                "simgrid_update_xml can translate the file"},
    {"property_words.xml", ": property memory is \"40GB peak:1TF\": expected one word, as in a "
                           "--cluster text"},
    {"radical_down.xml", ": it has no hosts: every host is one device"},
    {"radical_text.xml", ":4: x is not an int"},
    {"random.xml", ":1: Unexpected character `?' in prolog."},
    {"route_twice.xml",
     ": The route between a and b already exists (Rq: routes are symmetrical by default)."},
    {"text.xml", ":1: Unexpected character `h' in prolog."},
    {"torus_bad.xml", ": TorusZone: incorrect dimensions parameter, each value must be > 0"},
    {"truncated.xml", ":8: Unexpected character `<': `</zone>' expected."},
    {"unknown_attribute.xml", ":5: Bad attribute `sped' in `host' element start tag."},
    {"unknown_host.xml", ":8: a route is from or to a host or router that does not exist"},
    {"unknown_link.xml", ":8: Link not found: m"},
    {"unknown_routing.xml", ": a zone has an unknown routing: expected Full, Floyd, Dijkstra, "
                            "DijkstraCache, Cluster or None"},
    {"unknown_tag.xml", ":5: Unexpected character `<': `</zone>' expected."},
    {"vivaldi.xml", ": no route from host a to host b"},
    {"vivaldi_peer.xml", ": the route from host a to host b has a latency of 0.0156569 s, but its "
                         "links have 0 s: no latency may come from elsewhere"},
};

Test(platform_file, refuses_with_the_place)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        cr_expect(open_file(refused[i].file) == PP_EINVAL, "%s: %s", refused[i].file, err.message);
        const char *name = strstr(err.message, refused[i].file);
        cr_assert(name, "%s: %s", refused[i].file, err.message);
        cr_expect_str_eq(name + strlen(refused[i].file), refused[i].message);
    }
}

Test(platform_file, a_file_that_cannot_be_read_is_a_failure)
{
    cr_expect(open_file("nowhere.xml") == PP_EFAIL);
    cr_expect(strstr(err.message, "nowhere.xml: No such file or directory"), "%s", err.message);
    cr_expect(open_file("") == PP_EFAIL);
    cr_expect(strstr(err.message, "Is a directory"), "%s", err.message);
}

/* ---- what is read -------------------------------------------------------------------------- */

/* "link link": names of the route's links, those of loops left out. */
static const char *route(const struct pp_fabric *fabric, int source, int dest)
{
    int32_t links[LINKS_MAX];
    char name[PP_LINK_NAME_BYTES];
    const char *text = "";
    const struct pp_route r = pp_fabric_route(fabric, source, dest, links);

    for (int i = 0; i < r.count; i++)
        text = pp_arena_printf(arena, "%s%s%s", text, i ? " " : "",
                               pp_fabric_link_name(fabric, links[i], name));
    return text;
}

static struct pp_fabric *open_fabric(const char *name)
{
    cr_assert(open_file(name) == PP_OK, "%s", err.message);
    return pp_platform_fabric(arena, platform);
}

static void expect_link(struct pp_link link, double alpha_s, double bytes_per_s)
{
    cr_expect_float_eq(link.alpha_s, alpha_s, 1e-15);
    cr_expect_float_eq(link.bytes_per_s, bytes_per_s, 1e-3);
}

Test(platform_file, hosts_come_in_the_order_of_the_file)
{
    const struct pp_fabric *f = open_fabric("zones.xml");

    cr_expect_str_eq(route(f, 0, 1), "nv2");
    cr_expect_str_eq(route(f, 2, 3), "nv1");
    cr_expect_str_eq(route(f, 0, 2), "nic2_UP switch nic1_DOWN");
    cr_expect_str_eq(route(f, 3, 1), "nic1_UP switch nic2_DOWN");
    cr_expect_str_eq(route(f, 3, 3), "");
    cr_expect(pp_fabric_check(f, &err) == PP_OK);
    cr_expect(cluster.nodes == 2 && cluster.gpus_per_node == 2 && cluster.eta_link == 1);
    cr_expect(cluster.fabric.kind == PP_FABRIC_FILE);
    cr_expect_str_eq(cluster.device.name, "v100");
    expect_link(cluster.intra, 1e-6, 100e9);
    expect_link(cluster.inter, 5e-6, 5e9); /* two devices share the card */
    cr_expect(cluster.fabric.nics == 1);
    cr_expect(pp_fabric_devices(f) == 4);
    pp_platform_close(platform);
}

Test(platform_file, properties_of_a_zone)
{
    open_fabric("zone_eta.xml");
    cr_expect(cluster.nodes == 1 && cluster.gpus_per_node == 2);
    expect_link(cluster.intra, 5e-6, 5e9);
    pp_platform_close(platform);
}

/* Ways that SimGrid finds itself, at the start of its run. */
Test(platform_file, routes_over_several_hops)
{
    static const char *const lines[] = {"line_floyd.xml", "line_dijkstra.xml",
                                        "line_dijkstracache.xml"};
    const struct pp_fabric *f = open_fabric("floyd_router.xml");

    cr_expect_str_eq(route(f, 0, 1), "la lb");
    cr_expect_str_eq(route(f, 3, 2), "ld lc");
    expect_link(cluster.inter, 10e-6, 10e9);
    pp_platform_close(platform);
    for (int i = 0; i < 3; i++) {
        f = open_fabric(lines[i]);
        cr_expect_str_eq(route(f, 0, 1), "l1");
        cr_expect_str_eq(route(f, 0, 3), "l1 l2 l3");
        cr_expect_str_eq(route(f, 3, 1), "l3 l2");
        cr_expect_float_eq(pp_fabric_cost(f, 0, 3).alpha_s, 15e-6, 1e-15);
        cr_expect_float_eq(pp_fabric_cost(f, 0, 3).bytes_per_s, 5e9, 1e-3);
        pp_platform_close(platform);
    }
    f = open_fabric("nested.xml");
    cr_expect_str_eq(route(f, 0, 1), "la lb");
    cr_expect_float_eq(pp_fabric_cost(f, 3, 0).alpha_s, 1e-3 + 10e-6, 1e-15);
    cr_expect_float_eq(pp_fabric_cost(f, 3, 0).bytes_per_s, 1e9, 1e-3);
    pp_platform_close(platform);
    f = open_fabric("profile.xml");
    cr_expect_str_eq(route(f, 0, 1), "l");
    pp_platform_close(platform);
}

Test(platform_file, parts_that_are_not_connected)
{
    static const char *const cut[] = {"floyd_cut.xml", "line_cut.xml"};

    for (int i = 0; i < 2; i++) {
        const struct pp_fabric *f = open_fabric(cut[i]);

        err = (struct pp_error){0};
        cr_expect_str_eq(route(f, 3, 2), "l2");
        cr_expect_str_eq(route(f, 2, 1), "");
        cr_expect(pp_fabric_check(f, &err) == PP_EINVAL);
        cr_expect(strstr(err.message, "no route from host c to host b"), "%s", err.message);
        pp_platform_close(platform);
    }
}

Test(platform_file, clusters_come_in_the_order_of_their_numbers)
{
    const struct pp_fabric *f = open_fabric("star_order.xml");

    cr_expect_str_eq(route(f, 2, 4), "c_link_2_UP c_link_10_DOWN");
    cr_expect_str_eq(cluster.device.name, "h100");
    cr_expect(cluster.gpus_per_node == 1 && cluster.nodes == 5);
    pp_platform_close(platform);
}

Test(platform_file, properties_describe_the_device)
{
    const struct pp_fabric *f = open_fabric("star.xml");

    cr_expect(cluster.nodes == 3 && cluster.gpus_per_node == 4);
    cr_expect_str_eq(cluster.device.name, "a100");
    cr_expect(cluster.device.memory_bytes == 40e9);
    expect_link(cluster.intra, 2e-6, 50e9);
    expect_link(cluster.inter, 2e-6, 50e9);
    cr_expect(pp_fabric_devices(f) == 12);
    pp_platform_close(platform);
}

/* A duplex link is two, a shared one is one for both directions; the settings of the file do not
 * matter. */
Test(platform_file, sharing_of_links)
{
    const struct pp_fabric *f = open_fabric("duplex.xml");
    int fatpipes = 0;

    cr_expect_str_eq(route(f, 0, 1), "l_UP core");
    cr_expect_str_eq(route(f, 1, 0), "core l_DOWN");
    for (int i = 0; i < pp_fabric_links(f); i++) {
        char name[PP_LINK_NAME_BYTES];
        if (!strcmp(pp_fabric_link_name(f, i, name), "core"))
            fatpipes += pp_fabric_link(f, i).is_fatpipe;
        else if (name[0] == 'l')
            fatpipes += 100 * pp_fabric_link(f, i).is_fatpipe;
    }
    cr_expect(fatpipes == 1);
    pp_platform_close(platform);
    f = open_fabric("config.xml");
    cr_expect_str_eq(route(f, 0, 1), "l");
    cr_expect_str_eq(route(f, 1, 0), "l");
    pp_platform_close(platform);
}

static double speed(const struct pp_fabric *f, int source, int dest)
{
    return pp_fabric_cost(f, source, dest).bytes_per_s;
}

/* 0-3 | 4-7 in one half, 8-15 in the other; eta_link is 0.5, alpha 3 us. */
Test(platform_file, levels_of_a_fat_tree)
{
    const struct pp_fabric *f = open_fabric("fat_tree.xml");

    cr_expect_float_eq(speed(f, 0, 1), 150e9, 1);
    cr_expect_float_eq(speed(f, 0, 4), 12.5e9, 1);
    cr_expect_float_eq(speed(f, 0, 8), 10e9, 1);
    cr_expect_float_eq(pp_fabric_cost(f, 0, 1).alpha_s, (2 + 2 + 3) * 1e-6, 1e-15);
    cr_expect_float_eq(pp_fabric_cost(f, 0, 8).alpha_s, (2 + 1 + 1 + 1 + 1 + 2 + 3) * 1e-6, 1e-15);
    expect_link(cluster.intra, 7e-6, 150e9);
    expect_link(cluster.inter, 9e-6, 12.5e9);
    pp_platform_close(platform);
}

Test(platform_file, levels_of_a_dragonfly_and_a_torus)
{
    static const struct {
        const char *prefix;
        double bytes_per_s;
    } levels[] = {{"local", 10e9}, {"green", 11e9}, {"black", 12e9}, {"blue", 13e9}};
    const struct pp_fabric *f = open_fabric("dragonfly.xml");
    int hits[4] = {0};

    for (int i = 0; i < pp_fabric_links(f); i++)
        for (int k = 0; k < 4; k++) {
            char text[PP_LINK_NAME_BYTES];
            if (strncmp(pp_fabric_link_name(f, i, text), levels[k].prefix,
                        strlen(levels[k].prefix)) != 0)
                continue;
            cr_expect(pp_fabric_link(f, i).bytes_per_s == levels[k].bytes_per_s);
            hits[k]++;
        }
    for (int k = 0; k < 4; k++)
        cr_expect(hits[k] > 0);
    pp_platform_close(platform);
    f = open_fabric("torus.xml");
    cr_expect_float_eq(speed(f, 0, 11), 7e9, 1);
    pp_platform_close(platform);
}

/* A missing route that no early query needs. */
Test(platform_file, a_missing_route_is_found_when_asked_for)
{
    const struct pp_fabric *f = open_fabric("hole.xml");

    cr_expect_str_eq(route(f, 1, 2), "m");
    cr_expect(pp_fabric_check(f, &err) == PP_OK);
    cr_expect_str_eq(route(f, 0, 2), "");
    cr_expect(pp_fabric_check(f, &err) == PP_EINVAL);
    cr_expect(strstr(err.message, "hole.xml: no route from host a to host c"), "%s", err.message);
    pp_platform_close(platform);
}

Test(platform_file, names)
{
    static const char *const files[] = {"a.xml", "a.xml.gz", "./a", "/dev/stdin", "x/y.xml"};
    static const char *const texts[] = {"h100", "node:2 gpu:8", "xml", "", ".xml"};

    for (size_t i = 0; i < 5; i++) {
        cr_expect(pp_platform_is_file(files[i]));
        cr_expect(!pp_platform_is_file(texts[i]));
    }
}

Test(platform_file, hosts_are_counted)
{
    static const struct {
        const char *text;
        int64_t hosts;
    } elements[] = {
        {"<host id='a'/>", 1},
        {"<peer id='a'/>", 1},
        {"<link id='a' radical='0-9'/>", 0},
        {"<cluster id='a' radical='0-5,8,10-12'/>", 10},
        {"<cluster radical = \"7\" id='a'/>", 1},
        {"<cluster id='a'/>", 0},
        {"<cluster id='a' radical=''/>", 0},
        {"<cluster id='a' radical='5-2,x,-3,4-'/>", 2},
        {"<cluster id='a' radical='0-99999999999999999999,0-9223372036854775807'/>", INT64_MAX / 4},
    };

    for (size_t i = 0; i < sizeof(elements) / sizeof(*elements); i++) {
        struct pp_elements reader = {.rest = elements[i].text, .line = 1};
        struct pp_element e;

        cr_assert(pp_elements_next(&reader, &e));
        cr_expect(pp_element_hosts(&e) == elements[i].hosts, "%s: %lld", elements[i].text,
                  (long long)pp_element_hosts(&e));
    }
}

Test(platform_file, elements_have_lines)
{
    static const char text[] =
        "<a id='x'/>\n<!-- <a id='y'/>\n --><a\n b='1' id = \"y\">\n<b id='y'/>"
        "<a id='x' /><a id='broken><c id='y'";

    cr_expect(pp_element_line(text, "a", "x", 1) == 1);
    cr_expect(pp_element_line(text, "a", "x", 2) == 5);
    cr_expect(pp_element_line(text, "a", "x", 3) == 0);
    cr_expect(pp_element_line(text, "a", "y", 1) == 3);
    cr_expect(pp_element_line(text, "b", "y", 1) == 5);
    cr_expect(pp_element_line(text, "c", "y", 1) == 0);
    cr_expect(pp_element_line("", "c", "y", 1) == 0);
}
