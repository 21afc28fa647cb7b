#include "core/cost/measured/file.h"
#include "tests/unit/support/listed_net.h"
#include "sim/report/text.h"

#include <stdlib.h>
#include <string.h>

/* Two devices and a link each way, which a step of `iteration_s` fills to 8000 B / (B/s * step). */
static int by_pair(void *context, int source, int dest, int32_t *links, int max,
                   struct pp_error *err)
{
    (void)context, (void)dest, (void)max, (void)err;
    links[0] = source;
    return 1;
}

static const struct pp_engine sharing = {.name = "sharing", .shares_links = true};

struct scene {
    struct pp_arena *arena;
    struct listed_net net;
    struct pp_result result;
};

static void set(struct scene *s, struct pp_arena *arena)
{
    const struct pp_layout layout = {.tp = 1, .cp = 1, .pp = 2, .dp = 1, .gpus = 2};
    const struct pp_unit_costs unit = {.f = 1, .b = 2, .i = 1, .w = 1, .fb = 3};

    *s = (struct scene){.arena = arena, .net = {.find = by_pair}};
    ln_link(&s->net, 10e3, 0, "rank%d.out", 0);
    ln_link(&s->net, 20e3, 0, "rank%d.out", 1);
    ln_finish(arena, &s->net, layout);
    struct pp_result *r = &s->result;
    r->program = ln_program(arena, "1f1b", 2, 8, 0, false);
    r->costs = pp_costs_unit(arena, &unit, 2, 2, 1, 1);
    r->costs->memory = PP_ARRAY(arena, struct pp_stage_memory, 2);
    r->costs->memory[0].boundary_bytes = 1000;
    r->metrics.iteration_s = 1;
    r->metrics.exposed_comm_frac = 0.275;
    r->config.layout = layout;
    r->config.cluster.gpus_per_node = 1;
    r->config.cluster.fabric.kind = PP_FABRIC_STAR;
    r->config.engine = &pp_engine_dag;
    r->config.engine_options.network = &s->net.network;
}

static void expect(const struct scene *s, const char *wanted)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    pp_report_network(&s->result, 80, out);
    fclose(out);
    cr_assert_str_eq(text, wanted);
    free(text);
}

Test(report_network, demand_near_the_bandwidth_is_noted_where_contention_is_ignored)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct scene s;

    set(&s, arena);
    expect(&s, "  network  exposed 27.5 % of the step; links are not shared (dag)\n"
               "  links    rank*.out: 2 links, 60.0 % mean, 80.0 % max (rank0.out)\n"
               "           the demand on rank0.out is 80 % of its capacity; transfers do not\n"
               "           wait for each other in this engine, but in --engine simgrid\n");
    s.result.metrics.iteration_s = 2;
    expect(&s, "  network  exposed 27.5 % of the step; links are not shared (dag)\n"
               "  links    rank*.out: 2 links, 30.0 % mean, 40.0 % max (rank0.out)\n");
    s.result.metrics.iteration_s = 4; /* 20 % busy: nothing to mention */
    expect(&s, "  network  exposed 27.5 % of the step; links are not shared (dag)\n");
}

Test(report_network, channels_that_were_measured_are_no_links)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_cost_file cost = {.path = "cost.json"};
    struct scene s;

    set(&s, arena);
    s.result.config.engine_options.network = NULL;
    s.result.config.cost = &cost;
    expect(&s, "  network  exposed 27.5 % of the step; times of cost.json (dag)\n");
}

Test(report_network, engines_that_share_links_say_what_met)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct scene s;

    set(&s, arena);
    s.result.config.engine = &sharing;
    s.result.network_stats.transfers = 1024;
    expect(&s, "  network  exposed 27.5 % of the step; 1,024 transfers, 0 shared a link\n"
               "           (sharing)\n"
               "  links    rank*.out: 2 links, 60.0 % mean, 80.0 % max (rank0.out)\n");
    s.result.network_stats.shared = 12;
    s.result.network_stats.shared_links = 1;
    expect(&s, "  network  exposed 27.5 % of the step; 1,024 transfers, 12 shared a link\n"
               "           (sharing)\n"
               "  links    rank*.out: 2 links, 60.0 % mean, 80.0 % max (rank0.out)\n");
}

/* Sums of a formula do not wait for messages: more than a link carries is said. */
Test(report_network, more_than_a_link_carries_is_noted)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct scene s;

    set(&s, arena);
    s.result.config.engine = &sharing;
    s.result.metrics.iteration_s = 0.75;
    expect(&s, "  network  exposed 27.5 % of the step; no transfers (sharing)\n"
               "  links    rank*.out: 2 links, 80.0 % mean, 106.7 % max (rank0.out)\n"
               "           the demand on rank0.out is 107 % of its capacity: sums take the time\n"
               "           of their formula, without other messages and sums on the link;\n"
               "           --collectives flows simulates them\n");
}

Test(report_network, nothing_without_a_network)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct scene s;

    set(&s, arena);
    s.result.config.engine_options.network = NULL;
    expect(&s, "");
}
