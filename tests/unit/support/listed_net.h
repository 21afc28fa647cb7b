/* A small network of listed links and a program over it, for tests of what runs use links for.
 * Routes are given by a function of two devices. */
#ifndef PP_TESTS_LISTED_NET_H
#define PP_TESTS_LISTED_NET_H

#include "schedules/lower/lower.h"
#include "schedules/registry.h"
#include "sim/engine/network.h"
#include "tests/unit/support/state_specs.h"

#include <criterion/criterion.h>

enum { LN_MAX_LINKS = 256, LN_MAX_ROUTE = 6 };
struct listed_net {
    struct pp_fabric_link link[LN_MAX_LINKS];
    char name[LN_MAX_LINKS][PP_LINK_NAME_BYTES];
    const char *names[LN_MAX_LINKS];
    int count;
    int (*find)(void *context, int source, int dest, int32_t *links, int max, struct pp_error *err);
    void *context;
    struct pp_network network;
};

static inline int ln_link(struct listed_net *net, double bytes_per_s, double latency_s,
                          const char *name, int number)
{
    cr_assert_lt(net->count, LN_MAX_LINKS);
    net->link[net->count] =
        (struct pp_fabric_link){.bytes_per_s = bytes_per_s, .latency_s = latency_s};
    snprintf(net->name[net->count], PP_LINK_NAME_BYTES, name, number);
    net->names[net->count] = net->name[net->count];
    return net->count++;
}

/* Links are given, a layout in the default order of devices follows. */
static inline void ln_finish(struct pp_arena *arena, struct listed_net *net,
                             struct pp_layout layout)
{
    const struct pp_route_source source = {.find = net->find, .context = net->context};

    layout.cp = layout.cp ? layout.cp : 1;
    layout.gpus = layout.tp * layout.cp * layout.pp * layout.dp;
    net->network = (struct pp_network){
        .fabric = pp_fabric_listed(arena, layout.gpus, net->link, net->names, net->count, source),
        .layout = layout,
        .map = pp_map_make(pp_map_default, &layout),
        .lanes = layout.tp * layout.cp};
}

/* A schedule of `ranks` ranks, lowered with gradient sums where asked. */
static inline struct pp_program *ln_program(struct pp_arena *arena, const char *schedule, int ranks,
                                            int micro_batches, int zero, bool has_sync)
{
    const struct pp_schedule *s = pp_schedule_find(schedule);
    const struct pp_shape shape = {.ranks = ranks,
                                   .chunks = s->chunks ? s->chunks : 1,
                                   .micro_batches = micro_batches,
                                   .splits = 1,
                                   .pipelines = s->placement == PP_PLACE_TWO_WAY ? 2 : 1};
    const struct pp_lower_options lower = {
        .recv_slots = 2, .state = specs_zero(zero), .has_sync = has_sync};
    struct pp_program *compute, *program;
    struct pp_error err = {0};

    cr_assert_eq(pp_schedule_program(arena, s, &shape, NULL, &compute, &err), PP_OK, "%s",
                 err.message);
    cr_assert_eq(pp_lower(arena, compute, &lower, &program, &err), PP_OK, "%s", err.message);
    return program;
}

#endif
