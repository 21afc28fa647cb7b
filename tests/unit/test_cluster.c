#include "core/cluster.h"

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
    cr_assert_eq(preset_peak("v100-dgx1"), 125e12);
    cr_assert_eq(preset_peak("p100-daint"), 9.3e12);
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
