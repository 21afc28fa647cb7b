#include "core/cluster/cluster.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

Test(cluster, presets_are_sorted_sourced_and_physical)
{
    for (const struct pp_cluster *c = pp_cluster_presets; c->name != NULL; c++) {
        cr_assert(c[1].name == NULL || strcmp(c->name, c[1].name) < 0, "%s", c->name);
        cr_assert_not_null(c->source);
        cr_assert_not_null(c->device.source);
        cr_assert_not_null(c->title);
        cr_assert(c->gpus_per_node >= 1);
        cr_assert(c->device.gemm_eta > 0 && c->device.gemm_eta < 1);
        cr_assert(c->device.memory_eta > 0 && c->device.memory_eta < 1);
        cr_assert(c->eta_link > 0 && c->eta_link < 1);
        cr_assert(c->other_bytes > 0 && c->other_bytes < c->device.memory_bytes / 8);
        /* a node's own links are never slower than the network, messages never free */
        cr_assert(c->intra.bytes_per_s >= c->inter.bytes_per_s);
        cr_assert(c->intra.alpha_s > 0 && c->inter.alpha_s >= c->intra.alpha_s);
    }
}

static double preset_peak(const char *name)
{
    for (const struct pp_cluster *c = pp_cluster_presets; c->name != NULL; c++)
        if (strcmp(c->name, name) == 0)
            return c->device.peak_flops_per_s;
    return 0;
}

/* Dense peaks: the sheets print twice as much with sparsity. */
Test(cluster, peaks_are_dense)
{
    cr_assert_eq(preset_peak("a100"), 312e12);
    cr_assert_eq(preset_peak("h100"), 989e12);
    cr_assert_eq(preset_peak("h200"), 989e12);
    cr_assert_eq(preset_peak("b200"), 2250e12);
    cr_assert_eq(preset_peak("mi300x"), 1307.4e12);
    cr_assert_eq(preset_peak("l40s"), 362.05e12);
    cr_assert_eq(preset_peak("rtx4090"), 165.2e12);
    cr_assert_eq(preset_peak("v100-dgx1"), 125e12);
    cr_assert_eq(preset_peak("p100-daint"), 9.3e12);
    cr_assert_eq(preset_peak("gtx1080ti"), 11.3e12);
}

/* A peak is multiprocessors x FLOPs of one in a clock x boost clock, all from architecture white
 * papers. Sparse figures would need twice the clock. */
Test(cluster, peaks_are_multiprocessors_times_clocks)
{
    static const struct {
        const char *device;
        double half_flops, fp32_flops, boost_hz;
    } rows[] = {
        {"p100", 256, 128, 1.303e9},    {"v100", 1024, 128, 1.53e9},
        {"a100", 2048, 128, 1.41e9},    {"h100", 4096, 256, 1.83e9},
        {"gh200", 4096, 256, 1.83e9},   {"mi300x", 2048, 256, 2.1e9},
        {"mi325x", 2048, 256, 2.1e9},   {"l40s", 1024, 256, 2.52e9},
        {"rtx4090", 512, 256, 2.52e9},  {"rtx5090", 512, 256, 2.407e9},
        {"gtx1080ti", 0, 256, 1.582e9},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pp_device *d = pp_device_presets;
        while (strcmp(d->name, rows[i].device) != 0)
            d++;
        const double clocks = d->multiprocessors * rows[i].boost_hz;
        if (rows[i].half_flops > 0)
            cr_assert_float_eq(d->half_flops_per_s / (clocks * rows[i].half_flops), 1, 0.02,
                               "%s: %g", d->name, d->half_flops_per_s);
        /* vectors of a H100 may run at 1.98 GHz */
        cr_assert_float_eq(d->fp32_flops_per_s / (clocks * rows[i].fp32_flops), 1, 0.09, "%s: %g",
                           d->name, d->fp32_flops_per_s);
    }
}

/* Each narrower precision doubles the rate, but fp4 of later devices. Graphics cards of Pascal have
 * no fp16 to speak of. */
Test(cluster, precisions_double_the_rate)
{
    for (const struct pp_device *d = pp_device_presets; d->name != NULL; d++) {
        if (d->half_flops_per_s > 0 || strcmp(d->generation, "pascal-gtx") != 0)
            cr_assert_geq(d->half_flops_per_s, 2 * d->fp32_flops_per_s * 0.999, "%s", d->name);
        if (d->fp8_flops_per_s > 0)
            cr_assert_float_eq(d->fp8_flops_per_s / d->half_flops_per_s, 2, 0.03, "%s", d->name);
        if (d->fp4_flops_per_s > 0)
            cr_assert_geq(d->fp4_flops_per_s, 2 * d->fp8_flops_per_s, "%s", d->name);
    }
}

/* A device that was not measured has the fitted constants of the one that it names. */
Test(cluster, borrowed_constants_are_those_of_a_measured_device)
{
    int count = 0;

    for (const struct pp_device *d = pp_device_presets; d->name != NULL; d++) {
        if (d->constants_of == NULL)
            continue;
        const struct pp_device *of = pp_device_presets;
        while (of->name != NULL && strcmp(of->name, d->constants_of) != 0)
            of++;
        cr_assert_not_null(of->name, "%s", d->name);
        cr_assert_null(of->constants_of, "%s", d->name);
        cr_assert(d->gemm_eta == of->gemm_eta && d->memory_eta == of->memory_eta &&
                      d->attention_eta == of->attention_eta && d->launch_s == of->launch_s,
                  "%s", d->name);
        count++;
    }
    cr_assert_eq(count, 8);
}

/* Links of a mesh are those to the other devices of the node, and its rate is their sum. */
Test(cluster, a_mesh_has_a_link_to_each_other_device)
{
    static const struct {
        const char *name;
        double link_bytes_per_s;
    } meshes[] = {{"gh200", 150e9}, {"mi300x", 64e9}, {"mi325x", 64e9}};

    for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++) {
        const struct pp_cluster *c = pp_cluster_presets;
        while (strcmp(c->name, meshes[i].name) != 0)
            c++;
        cr_assert_eq(c->mesh_links, c->gpus_per_node - 1);
        cr_assert_float_eq(c->intra.bytes_per_s, c->mesh_links * meshes[i].link_bytes_per_s, 1);
    }
}

Test(cluster, a_device_of_other_peak_or_memory_is_custom)
{
    static const char *const texts[][2] = {
        {"gpu:8 peak:1307TF memory:192GB", "custom (based on h100)"},
        {"device:a100 hbm:2TB/s", "custom (based on a100)"},
        {"gpu:8 nic:8x200Gb/s", "H100-SXM 80GB"},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pp_error err = {0};
        struct pp_cluster c;
        cr_assert_eq(pp_cluster_load(arena, texts[i][0], &c, &err), PP_OK, "%s", err.message);
        cr_assert_str_eq(c.device.title, texts[i][1]);
    }
}

Test(cluster, a_text_overrides_what_it_names)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_cluster c;

    cr_assert_eq(pp_cluster_load(arena,
                                 "node:2 gpu:4 device:a100, nvlink:200GBps nic:8x200Gbps "
                                 "memory:40GB peak:300TF latency:5us hbm=1500GBps",
                                 &c, &err),
                 PP_OK, "%s", err.message);
    cr_assert_eq(c.nodes, 2);
    cr_assert_eq(c.gpus_per_node, 4);
    cr_assert_str_eq(c.device.name, "a100");
    cr_assert_float_eq(c.intra.bytes_per_s, 200e9, 1);
    cr_assert_float_eq(c.inter.bytes_per_s, 50e9, 1); /* two cards for each of four devices */
    cr_assert_float_eq(c.device.memory_bytes, 40e9, 1);
    cr_assert_float_eq(c.device.memory_bytes_per_s, 1500e9, 1);
    cr_assert_float_eq(c.device.peak_flops_per_s, 300e12, 1);
    cr_assert_float_eq(c.inter.alpha_s, 5e-6, 1e-15);
    cr_assert_eq(c.intra.alpha_s, pp_cluster_presets[0].intra.alpha_s);

    cr_assert_eq(pp_cluster_load(arena, "gpu:8", &c, &err), PP_OK);
    cr_assert_str_eq(c.device.name, "h100");
    cr_assert_eq(pp_cluster_load(arena, "a100 nic:400Gbps", &c, &err), PP_OK, "%s", err.message);
    cr_assert_float_eq(c.inter.bytes_per_s, 50e9 / 8, 1);
    cr_assert_eq(pp_cluster_load(arena, "a100 attention:unfused", &c, &err), PP_OK);
    cr_assert(c.device.is_attention_unfused);
}

Test(cluster, names_and_aliases_are_forgiving)
{
    static const char *const names[][2] = {
        {"H100", "h100"},           {"piz-daint", "p100-daint"}, {"PizDaint", "p100-daint"},
        {"dgx1-v100", "v100-dgx1"}, {"v100", "v100-dgx1"},       {" a100 ", "a100"},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_cluster c;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        cr_assert_eq(pp_cluster_load(arena, names[i][0], &c, &err), PP_OK, "%s", err.message);
        cr_assert_str_eq(c.name, names[i][1]);
    }
}

Test(cluster, a_text_names_the_fabric)
{
    static const struct {
        const char *text;
        struct pp_fabric_shape shape;
    } cases[] = {
        {"node:256 gpu:8 nvlink:450GBps nic:8x400Gbps fabric:fat-tree",
         {.kind = PP_FABRIC_FAT_TREE, .nics = 8, .leaf_nodes = 32}},
        {"fabric:rails", {.kind = PP_FABRIC_FAT_TREE, .nics = 8, .leaf_nodes = 32}},
        {"leaf:16 oversub:2.5 routing:static",
         {.kind = PP_FABRIC_FAT_TREE,
          .nics = 8,
          .leaf_nodes = 16,
          .oversubscription = 2.5,
          .is_static = true}},
        {"fabric:Star nic:2x100Gbps", {.kind = PP_FABRIC_STAR, .nics = 2, .leaf_nodes = 32}},
        {"fabric:ideal", {.kind = PP_FABRIC_IDEAL, .nics = 8, .leaf_nodes = 32}},
        {"torus:16x16x8 hop:25GBps", /* the key chooses the fabric */
         {.kind = PP_FABRIC_TORUS,
          .nics = 8,
          .leaf_nodes = 32,
          .torus = {16, 16, 8},
          .torus_bytes_per_s = 25e9}},
        {"fabric:torus torus:6x4",
         {.kind = PP_FABRIC_TORUS, .nics = 8, .leaf_nodes = 32, .torus = {6, 4, 0}}},
        {"dragonfly:14x6x16x4 rank1:10GBps rank2:20GBps rank3:300GBps routing:adaptive",
         {.kind = PP_FABRIC_DRAGONFLY,
          .nics = 8,
          .leaf_nodes = 32,
          .groups = 14,
          .chassis = 6,
          .routers = 16,
          .router_nodes = 4,
          .chassis_bytes_per_s = 10e9,
          .group_bytes_per_s = 20e9,
          .global_bytes_per_s = 300e9}},
        {"pcie:25GBps host:100GBps",
         {.kind = PP_FABRIC_FAT_TREE,
          .nics = 8,
          .leaf_nodes = 32,
          .is_pcie = true,
          .host_bytes_per_s = 100e9}},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pp_error err = {0};
        struct pp_cluster c;
        const struct pp_fabric_shape *want = &cases[i].shape, *s = &c.fabric;
        cr_assert_eq(pp_cluster_load(arena, cases[i].text, &c, &err), PP_OK, "%s", err.message);
        cr_assert(s->kind == want->kind && s->is_pcie == want->is_pcie &&
                      s->host_bytes_per_s == want->host_bytes_per_s && s->nics == want->nics &&
                      s->leaf_nodes == want->leaf_nodes &&
                      s->oversubscription == want->oversubscription &&
                      s->is_static == want->is_static &&
                      !memcmp(s->torus, want->torus, sizeof s->torus) &&
                      s->torus_bytes_per_s == want->torus_bytes_per_s &&
                      s->groups == want->groups && s->chassis == want->chassis &&
                      s->routers == want->routers && s->router_nodes == want->router_nodes &&
                      s->chassis_bytes_per_s == want->chassis_bytes_per_s &&
                      s->group_bytes_per_s == want->group_bytes_per_s &&
                      s->global_bytes_per_s == want->global_bytes_per_s,
                  "%s", cases[i].text);
    }
}

/* Links of one's own share nothing, unless the text says so. */
Test(cluster, a_text_with_links_to_the_host_drops_the_shared_ones)
{
    static const struct {
        const char *text;
        double link_bytes_per_s, uplink_bytes_per_s;
    } cases[] = {
        {"v100-dgx2", 12.5e9, 64e9},        {"a100", 25e9, 130e9},
        {"a100-40 gpu:4", 25e9, 130e9},     {"a800", 25e9, 0},
        {"device:a100 gpu:8", 25e9, 130e9}, {"a100 h2d:20GBps", 20e9, 0},
        {"a100 pcie:20GBps", 20e9, 0},      {"a100 h2d:20GBps uplink:60GBps", 20e9, 60e9},
        {"h100 uplink:60GBps", 50e9, 60e9},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pp_error err = {0};
        struct pp_cluster c;
        cr_assert_eq(pp_cluster_load(arena, cases[i].text, &c, &err), PP_OK, "%s", err.message);
        cr_assert_eq(c.tiers[PP_TIER_HOST].link_bytes_per_s, cases[i].link_bytes_per_s, "%s",
                     cases[i].text);
        cr_assert_eq(c.tiers[PP_TIER_HOST].uplink_bytes_per_s, cases[i].uplink_bytes_per_s, "%s",
                     cases[i].text);
    }
}

static const struct pp_cluster *preset(const char *name)
{
    const struct pp_cluster *c = pp_cluster_presets;

    while (c->name && strcmp(c->name, name) != 0)
        c++;
    return c;
}

Test(cluster, presets_have_their_real_shape)
{
    cr_assert_eq(preset("p100-daint")->fabric.kind, PP_FABRIC_DRAGONFLY);
    cr_assert_eq(preset("p100-daint")->fabric.routers, 16);
    cr_assert_eq(preset("v100-dgx1")->fabric.nics, 4);
    cr_assert_eq(preset("v100-dgx2")->fabric.nics, 8);
    cr_assert_eq(preset("h100")->fabric.nics, 8);
    cr_assert_eq(preset("gb200")->fabric.nics, preset("gb200")->gpus_per_node);
    for (const struct pp_cluster *c = pp_cluster_presets; c->name; c++) {
        cr_assert(c->fabric.nics > 0 && c->fabric.nics <= c->gpus_per_node);
        cr_assert_eq(c->gpus_per_node % c->fabric.nics, 0);
    }
}

Test(cluster, mistakes_are_named_with_the_way_out)
{
    static const char *const wrong[][2] = {
        {"", "empty"},
        {"  ", "empty"},
        {"h10O", "h100"},
        {"nvlnk:300GBps", "nvlink"},
        {"node:2 node:3", "twice"},
        {"node:2 nodes:3", "twice"},
        {"nvlink:300GBps pcie:20GBps", "twice"},
        {"gpu:0", "gpu"},
        {"gpu:-1", "gpu"},
        {"node:99999999999", "node"},
        {"nic:0Gbps", "nic"},
        {"nic:0x400Gbps", "nic"},
        {"nic:8x", "nic"},
        {"nic:-8x400Gbps", "nic"},
        {"memory:0", "memory"},
        {"memory:nan", "memory"},
        {"peak:1e300TF", "peak"},
        {"latency:5parsecs", "latency"},
        {"latency:5", "latency:5: \"5\" has no unit: 5us (or ns, ms, s)? (as in latency:5us)"},
        {"latency:1e9s", "latency:1e9s: 1e9s is out of range: expected up to 10 s (as in latenc"},
        {"device:k80", "built in are"},
        {"gpu:8 a100", "first"},
        {"a100 device:h100", "one of them"},
        {"attention:maybe", "attention:maybe: expected fused or unfused (as in attention:unfused)"},
        {"nic:400",
         "nic:400: \"400\" has no unit: 400GBps (bytes) or 400Gbps (bits)? (as in nic:8x"},
        {"nic:8x400", "nic:8x400: \"400\" has no unit"},
        {"nvlink:300", "nvlink:300: \"300\" has no unit"},
        {"pcie:32G", "as in pcie:25GBps"},
        {"hbm:1555", "as in hbm:1555GBps"},
        {"peak:312", "peak:312: \"312\" has no unit: 312TF?"},
        {"gpu:0", "gpu:0: 0 is out of range: 1 to 4096 (as in gpu:8)"},
        {"memory:0", "memory:0: 0 is out of range"},
        {"fabric:fattre", "did you mean fat-tree?"},
        {"fabric:hypercube", "known are fat-tree dragonfly torus star ideal"},
        {"fabric:file", "known are fat-tree"},
        {"fabric:torus fabric:star", "twice"},
        {"leaf:0", "leaf:0: 0 is out of range: 1 to"},
        {"oversub:0.5", "oversub:0.5: expected a number from 1"},
        {"oversub:nan", "oversub:nan"},
        {"routing:shortest",
         "routing:shortest: expected static or adaptive (as in routing:static)"},
        {"torus:4x", "torus:4x: expected up to 3 numbers with x between (as in torus:16x16x8)"},
        {"torus:4x4x4x4", "expected up to 3 numbers"},
        {"torus:0x4", "torus:0x4: 0 is out of range"},
        {"torus:axb", "torus:axb"},
        {"dragonfly:4x4x4", "expected 4 numbers"},
        {"rank1:0GBps", "rank1"},
        {"hop:5", "hop:5: \"5\" has no unit"},
        {"host:0GBps pcie:5GBps", "host"},
        {"host:50GBps", "pcie:25GBps with it, or without host"},
        {"fabric:torus leaf:4", "'leaf' is a key of fabric:fat-tree, not of fabric:torus"},
        {"fabric:star routing:static", "'routing' is a key of fabric:fat-tree, not of fabric:star"},
        {"torus:4x4 oversub:2", "'oversub' is a key of fabric:fat-tree, not of fabric:torus"},
        {"rank1:1GBps hop:1GBps", "'rank1' is a key of fabric:dragonfly, not of fabric:torus"},
        {"node:17 torus:4x4", "torus:4x4x1 holds 16 nodes, and 17 are needed: torus:5x4x1"},
        {"node:800 dragonfly:2x6x16x4", "holds 768 nodes, and 800 are needed: 3 groups"},
        {"node:16777216 gpu:4096 fabric:torus", "a torus of 68719476736 devices is too large"},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_cluster c;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pp_error err = {0};
        cr_assert_eq(pp_cluster_load(arena, wrong[i][0], &c, &err), PP_EINVAL, "'%s'", wrong[i][0]);
        cr_assert_not_null(strstr(err.message, wrong[i][1]), "'%s' -> %s", wrong[i][0],
                           err.message);
        cr_assert_not_null(strstr(err.message, "--cluster"), "%s", err.message);
    }
}

Test(cluster, a_device_is_found_by_its_drivers_name)
{
    static const struct {
        const char *driver, *device;
    } CASES[] = {
        {"NVIDIA H200", "h200"},
        {"NVIDIA H100 80GB HBM3", "h100"},
        {"NVIDIA A100-SXM4-80GB", "a100"},
        {"Tesla V100-SXM2-16GB", "v100"},
        {"NVIDIA GeForce RTX 4090", "rtx4090"},
        {"NVIDIA GH200 480GB", "gh200"},
        {"NVIDIA L40S", "l40s"},
        {"NVIDIA H100 PCIe", NULL},
        {"NVIDIA H100 NVL", NULL},
        {"NVIDIA GeForce RTX 4", NULL},
        {"NVIDIA H1", NULL},
        {"NVIDIA H1001", NULL},
        {"emulated device 0", NULL},
        {" - ", NULL},
        {"", NULL},
    };

    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const struct pp_device *d = pp_device_by_driver(CASES[i].driver);

        cr_expect_str_eq(d ? d->name : "none", CASES[i].device ? CASES[i].device : "none", "%s",
                         CASES[i].driver);
    }
}
