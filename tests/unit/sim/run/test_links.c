#include "tests/unit/support/listed_net.h"
#include "sim/run/links.h"

#include <math.h>
#include <string.h>

/* Every device has a link up to and a link down from one switch. */
static int by_switch(void *context, int source, int dest, int32_t *links, int max,
                     struct pp_error *err)
{
    (void)context, (void)err;
    cr_assert_geq(max, 2);
    links[0] = 2 * source;
    links[1] = 2 * dest + 1;
    return 2;
}

/* Links only between nodes of four. */
static int by_node_of_four(void *context, int source, int dest, int32_t *links, int max,
                           struct pp_error *err)
{
    return source / 4 == dest / 4 ? 0 : by_switch(context, source, dest, links, max, err);
}

static void make_star_by(struct pp_arena *arena, struct listed_net *net, double bytes_per_s,
                         struct pp_layout layout, struct listed_net how)
{
    const int devices = layout.tp * layout.pp * layout.dp;

    *net = how;
    for (int d = 0; d < devices; d++) {
        ln_link(net, bytes_per_s, 1e-6, "node%d.up", d);
        ln_link(net, bytes_per_s, 1e-6, "node%d.down", d);
    }
    ln_finish(arena, net, layout);
}

static void make_star(struct pp_arena *arena, struct listed_net *net, double bytes_per_s,
                      struct pp_layout layout)
{
    make_star_by(arena, net, bytes_per_s, layout, (struct listed_net){.find = by_switch});
}

enum { BOUNDARY = 1000, GRADS = 12000 };
static struct pp_costs *make_costs(struct pp_arena *arena, const struct pp_program *p)
{
    const struct pp_unit_costs unit = {.f = 1, .b = 2, .i = 1, .w = 1, .fb = 3};
    struct pp_costs *costs = pp_costs_unit(arena, &unit, p->ranks, p->stages, 1, p->granules);

    costs->memory = PP_ARRAY(arena, struct pp_stage_memory, p->stages);
    for (int s = 0; s + 1 < p->stages; s++)
        costs->memory[s].boundary_bytes = BOUNDARY;
    static const int sums[] = {PP_AR, PP_RS, PP_AG};
    for (int k = 0; k < 3; k++) {
        costs->op[sums[k]] = PP_ARRAY(arena, struct pp_cost, p->stages);
        for (int s = 0; s < p->stages; s++)
            costs->op[sums[k]][s].bytes = GRADS;
    }
    return costs;
}

static const struct pp_link_class *find(const struct pp_link_loads *loads, const char *name)
{
    for (int i = 0; i < loads->count; i++)
        if (!strcmp(loads->classes[i].name, name))
            return &loads->classes[i];
    return NULL;
}

static struct pp_link_loads loads_of(struct pp_arena *arena, const struct listed_net *net,
                                     const struct pp_program *program, const struct pp_costs *costs,
                                     int gpus_per_node)
{
    const struct pp_link_inputs in = {.program = program,
                                      .costs = costs,
                                      .network = &net->network,
                                      .gpus_per_node = gpus_per_node,
                                      .steps = 1,
                                      .iteration_s = 0.5};

    return pp_link_loads(arena, &in);
}

/* N activations one way, N gradients the other. */
Test(links, messages_of_two_nodes)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_program *program = ln_program(arena, "1f1b", 2, 6, 0, false);
    struct listed_net net;

    make_star(arena, &net, 48e3, (struct pp_layout){.tp = 1, .pp = 2, .dp = 1});
    const struct pp_link_loads loads =
        loads_of(arena, &net, program, make_costs(arena, program), 1);
    cr_assert_eq(loads.count, 2);
    const struct pp_link_class *up = find(&loads, "node*.up");
    cr_assert_eq(up->count, 2);
    cr_assert_float_eq(up->bytes, 2 * 6 * BOUNDARY, 1e-9);
    cr_assert_float_eq(up->max_frac, 6.0 * BOUNDARY / (48e3 * 0.5), 1e-15);
    cr_assert_float_eq(up->mean_frac, up->max_frac, 1e-15);
    cr_assert_str_eq(up->hottest, "node0.up");
    cr_assert_str_eq(loads.classes[0].name, "node*.down"); /* equal use: by name */
}

/* Inner ranks send twice as much as the ends; replicas and lanes are all counted. */
Test(links, replicas_and_lanes_are_counted)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_program *program = ln_program(arena, "1f1b", 4, 8, 0, false);
    struct listed_net net;

    make_star(arena, &net, 1e6, (struct pp_layout){.tp = 2, .pp = 4, .dp = 3});
    const struct pp_link_loads loads =
        loads_of(arena, &net, program, make_costs(arena, program), 1);
    const struct pp_link_class *up = find(&loads, "node*.up");
    cr_assert_eq(up->count, 24);
    cr_assert_float_eq(up->bytes, 6 * 6.0 * 8 * BOUNDARY, 1e-6);
    cr_assert_float_eq(up->max_frac, 16.0 * BOUNDARY / (1e6 * 0.5), 1e-15);
    cr_assert_float_eq(up->mean_frac, 0.75 * up->max_frac, 1e-15);
    cr_assert_str_eq(up->hottest, "node6.up"); /* the first device of rank 1 */
}

/* One device a node: a ring over all. An all-reduce passes 2 (n-1)/n of the payload on; a
 * reduce-scatter and an all-gather half of that each. */
Test(links, sums_go_around_a_ring)
{
    for (int zero = 0; zero < 2; zero++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_program *program = ln_program(arena, "1f1b", 1, 2, zero, true);
        struct listed_net net;

        make_star(arena, &net, 1e6, (struct pp_layout){.tp = 2, .pp = 1, .dp = 4});
        const struct pp_link_loads loads =
            loads_of(arena, &net, program, make_costs(arena, program), 2);
        const struct pp_link_class *up = find(&loads, "node*.up");
        cr_assert_eq(up->count, 8);
        cr_assert_float_eq(up->bytes, 8 * 2 * 0.75 * GRADS, 1e-6);
        cr_assert_float_eq(up->max_frac, 2 * 0.75 * GRADS / (1e6 * 0.5), 1e-15);
        cr_assert_float_eq(up->mean_frac, up->max_frac, 1e-15);
    }
}

/* Two nodes of two members: half a payload inside each node, then a quarter each way across. */
static int by_node(void *context, int source, int dest, int32_t *links, int max,
                   struct pp_error *err)
{
    (void)context, (void)err;
    cr_assert_geq(max, 2);
    if (source / 2 == dest / 2) {
        links[0] = source;
        return 1;
    }
    links[0] = 4 + source;
    links[1] = 8 + dest;
    return 2;
}

static void make_two_nodes(struct pp_arena *arena, struct listed_net *net)
{
    *net = (struct listed_net){.find = by_node};
    for (int d = 0; d < 4; d++)
        ln_link(net, 1e6, 0, "gpu%d.out", d);
    for (int d = 0; d < 4; d++)
        ln_link(net, 1e5, 0, "nic%d.up", d);
    for (int d = 0; d < 4; d++)
        ln_link(net, 1e5, 0, "nic%d.down", d);
    ln_finish(arena, net, (struct pp_layout){.tp = 1, .pp = 1, .dp = 4});
}

Test(links, sums_go_inside_nodes_first)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_program *program = ln_program(arena, "1f1b", 1, 2, 0, true);
    struct listed_net net;

    make_two_nodes(arena, &net);
    const struct pp_link_loads loads =
        loads_of(arena, &net, program, make_costs(arena, program), 2);
    cr_assert_float_eq(find(&loads, "gpu*.out")->bytes, 4 * 2 * 0.5 * GRADS, 1e-6);
    cr_assert_float_eq(find(&loads, "nic*.up")->bytes, 4 * 2 * 0.25 * GRADS, 1e-6);
    cr_assert_eq(find(&loads, "nic*.up")->count, 4);
    const struct pp_link_inputs flat = {.program = program,
                                        .costs = make_costs(arena, program),
                                        .network = &net.network,
                                        .gpus_per_node = 2,
                                        .is_flat = true,
                                        .steps = 1,
                                        .iteration_s = 1};
    const struct pp_link_loads ring = pp_link_loads(arena, &flat);
    cr_assert_float_eq(find(&ring, "gpu*.out")->bytes, 2 * 2 * 0.75 * GRADS, 1e-6);
    cr_assert_eq(find(&ring, "nic*.up")->count, 2); /* each node is left once */
}

/* Nodes of four and of two: two rings, which leave each node by NICs of their own. */
Test(links, uneven_nodes_are_left_by_as_many_rings_as_the_least_has_members)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_program *program = ln_program(arena, "1f1b", 1, 2, 0, true);
    struct listed_net net;

    make_star_by(arena, &net, 1e6, (struct pp_layout){.tp = 1, .pp = 1, .dp = 6},
                 (struct listed_net){.find = by_node_of_four});
    const struct pp_link_loads loads =
        loads_of(arena, &net, program, make_costs(arena, program), 4);
    const double pass_bytes = 2 * (5.0 / 6) * GRADS; /* what a ring with all bytes passes on */
    cr_assert_eq(find(&loads, "node*.up")->count, 4);
    cr_assert_eq(find(&loads, "node*.down")->count, 4);
    cr_assert_float_eq(find(&loads, "node*.up")->bytes, 4 * pass_bytes / 2, 1e-6);
    cr_assert_float_eq(find(&loads, "node*.up")->max_frac, pass_bytes / 2 / (1e6 * 0.5), 1e-12);
    cr_assert_float_eq(find(&loads, "node*.down")->max_frac, pass_bytes / 2 / (1e6 * 0.5), 1e-12);
}

/* As flows the ring is the one of the costs: it leaves each node once. */
Test(links, flows_follow_the_ring_of_the_costs)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_program *program = ln_program(arena, "1f1b", 1, 2, 0, true);
    int32_t device[] = {0, 1, 2, 3};
    struct pp_ring ring = {.positions = 4, .device = device};
    struct pp_costs *costs = make_costs(arena, program);
    struct listed_net net;

    make_two_nodes(arena, &net);
    costs->rings = &ring;
    const struct pp_link_inputs in = {.program = program,
                                      .costs = costs,
                                      .network = &net.network,
                                      .gpus_per_node = 2,
                                      .has_flows = true,
                                      .steps = 1,
                                      .iteration_s = 1};
    const struct pp_link_loads loads = pp_link_loads(arena, &in);
    cr_assert_float_eq(find(&loads, "gpu*.out")->bytes, 2 * 2 * 0.75 * GRADS, 1e-6);
    cr_assert_float_eq(find(&loads, "nic*.up")->bytes, 2 * 2 * 0.75 * GRADS, 1e-6);
    cr_assert_float_eq(find(&loads, "nic*.up")->max_frac, 2 * 0.75 * GRADS / 1e5, 1e-12);
    cr_assert_str_eq(find(&loads, "nic*.up")->hottest, "nic1.up");
}

/* A class of one link keeps its name; a program of several steps is divided by them. */
Test(links, single_links_keep_their_names)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_program *program = ln_program(arena, "gpipe", 2, 4, 0, false);
    struct listed_net net;

    make_star(arena, &net, 1e6, (struct pp_layout){.tp = 1, .pp = 2, .dp = 1});
    snprintf(net.name[0], PP_LINK_NAME_BYTES, "uplink12");
    const struct pp_link_inputs in = {.program = program,
                                      .costs = make_costs(arena, program),
                                      .network = &net.network,
                                      .gpus_per_node = 1,
                                      .steps = 4,
                                      .iteration_s = 1};
    const struct pp_link_loads loads = pp_link_loads(arena, &in);
    cr_assert_not_null(find(&loads, "uplink12"));
    cr_assert_not_null(find(&loads, "node1.up"));
    cr_assert_eq(find(&loads, "node*.down")->count, 2);
    cr_assert_float_eq(find(&loads, "uplink12")->bytes, BOUNDARY, 1e-9);
}
