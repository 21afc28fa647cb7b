/* A table of nvidia-smi topo -m: read, or refused with the name of the file. What was read is
 * symmetric, and, from a preset, makes a cluster whose text is one. */
#include "sim/import/cluster_import.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

static void check_table(const struct pp_topology *t)
{
    FUZZ_CHECK(t->gpus > 0 && t->nics >= 0 && t->gpus + t->nics <= PP_TOPOLOGY_MOST);
    for (int a = 0; a < t->gpus + t->nics; a++)
        for (int b = 0; b < t->gpus + t->nics; b++) {
            const struct pp_topology_pair p = pp_topology_pair(t, a, b);
            FUZZ_CHECK((p.path == PP_PATH_SELF) == (a == b) && p.path < PP_PATHS);
            FUZZ_CHECK((p.nvlinks > 0) == (p.path == PP_PATH_NVLINK));
            FUZZ_CHECK(p.nvlinks == pp_topology_pair(t, b, a).nvlinks);
        }
}

static void check_cluster(struct pp_arena *arena, const struct pp_topology *t, const char *base)
{
    struct pp_cluster_import import = {.base = base, .topology = t};
    struct pp_error err = {0};

    const enum pp_status status = pp_cluster_import(arena, &import, &err);
    FUZZ_CHECK(status == PP_OK || (status == PP_EINVAL && *err.message));
    FUZZ_CHECK(status == PP_OK || !base);
    if (status == PP_OK)
        FUZZ_CHECK(import.cluster.gpus_per_node == t->gpus && import.cluster.intra.bytes_per_s > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pp_arena *arena = pp_arena_create();
    struct pp_topology t;
    struct pp_error err = {0};

    const enum pp_status status = pp_topology_parse(arena, "f", (const char *)data, size, &t, &err);
    FUZZ_CHECK(status == PP_OK || (status == PP_EINVAL && !strncmp(err.message, "f:", 2)));
    if (status == PP_OK) {
        check_table(&t);
        check_cluster(arena, &t, NULL);
        check_cluster(arena, &t, "a100");
        check_cluster(arena, &t, "v100-dgx1");
    }
    pp_arena_destroy(arena);
    return 0;
}
