#include "sim/import/topology.h"

#include <criterion/criterion.h>
#include <string.h>

static enum pp_status parse(struct pp_arena *arena, const char *text, struct pp_topology *t,
                            struct pp_error *err)
{
    return pp_topology_parse(arena, "t", text, strlen(text), t, err);
}

/* Escapes, text around the table, spaces for tabs, and columns of affinity, which may be empty. */
Test(topology, a_table_is_read)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_topology t;
    struct pp_error err = {0};

    cr_assert_eq(parse(arena,
                       "$ nvidia-smi topo -m\n"
                       "\t\x1b[4mGPU0\x1b[0m\t\x1b[4mGPU1\x1b[0m\tmlx5_0\tCPU Affinity\tNUMA\n"
                       "GPU0\t X \tNV4\tPIX\t0-3\t0\n"
                       "GPU1   NV4    X    NODE\n"
                       "mlx5_0\tPIX\tNODE\t X \t\t\n"
                       "\nLegend:\n\n  X    = Self\n  NV#  = bonded\n",
                       &t, &err),
                 PP_OK, "%s", err.message);
    cr_assert(t.gpus == 2 && t.nics == 1);
    cr_assert_str_eq(t.names[2], "mlx5_0");
    cr_assert_eq(pp_topology_pair(&t, 0, 1).path, PP_PATH_NVLINK);
    cr_assert_eq(pp_topology_pair(&t, 1, 0).nvlinks, 4);
    cr_assert_eq(pp_topology_pair(&t, 1, 2).path, PP_PATH_NODE);
    cr_assert_eq(pp_topology_pair(&t, 2, 2).path, PP_PATH_SELF);
}

Test(topology, what_is_no_table_is_refused_with_its_line)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "t:0: ends without a table"},
        {"GPU0 X\n", "t:1: ends without a table"},
        {" GPU0 NIC0 GPU1\n", "t:1: GPU1 comes after NIC0"},
        {" GPU0 GPU1\nGPU0 X NV2\n", "t:2: ends without the row of GPU1"},
        {" GPU0 GPU1\nGPU0 X\n", "t:2: the row of GPU0 has 1 entries for 2 columns"},
        {" GPU0 GPU1\nGPU0 X NV\n", "t:2: 'NV' of GPU0 to GPU1, expected X, NV<n>"},
        {" GPU0 GPU1\nGPU0 X NV0\n", "t:2: 'NV0' of GPU0 to GPU1"},
        {" GPU0 GPU1\nGPU0 X OK\n", "t:2: 'OK' of GPU0 to GPU1"},
        {" GPU0 GPU1\nGPU0 SYS SYS\n", "t:2: SYS of GPU0 to GPU0: X is that of itself"},
        {" GPU0 GPU1\nGPU0 X X\n", "t:2: X of GPU0 to GPU1: X is that of itself"},
        {" GPU0\nGPU0 X\nGPU0 X\n", "t:3: a second row of GPU0"},
        {" GPU0 GPU1\nGPU0 X NV2\nGPU1 NV3 X\n", "t: GPU1 to GPU0 is not as GPU0 to GPU1"},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct pp_topology t;
        struct pp_error err = {0};
        cr_assert_eq(parse(arena, cases[k].text, &t, &err), PP_EINVAL, "%zu", k);
        cr_assert_not_null(strstr(err.message, cases[k].why), "%zu: %s", k, err.message);
    }
}
