/* The fabric of a cluster text. */
#ifndef PP_TESTS_FABRIC_OF_H
#define PP_TESTS_FABRIC_OF_H

#include "core/cluster/fabric.h"

#include <criterion/criterion.h>

static inline struct pp_fabric *fabric_of(struct pp_arena *arena, const char *text, int devices)
{
    struct pp_error err = {0};
    struct pp_cluster cluster;
    struct pp_fabric *fabric;

    cr_assert_eq(pp_cluster_load(arena, text, &cluster, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_fabric_make(arena, &cluster, devices, &fabric, &err), PP_OK, "%s: %s", text,
                 err.message);
    return fabric;
}

#endif
