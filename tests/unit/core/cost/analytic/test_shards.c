/* Meshes of sharded state: text, defaults, rules, and what a stage then holds. */
#include "core/cost/analytic/parts.h"
#include "core/units.h"
#include "tests/unit/support/cost_inputs.h"

#include <math.h>

static const struct pp_mesh nodes16 = {8, 16};

/* As --shard, on 16 nodes of 8. */
static enum pp_status complete(const char *text, struct pp_state_spec *spec, struct pp_error *err)
{
    *spec = (struct pp_state_spec){.replicas = nodes16};
    PP_TRY(pp_state_parse(text, spec->shard, err));
    return pp_state_complete(spec, err);
}

Test(shards, classes_left_out_are_cut_as_coarsely_as_the_rules_allow)
{
    static const struct {
        const char *text, *shards;
        int zero;
    } rows[] = {
        {"p=1", "p=1x1,g=1x1,os=1x1", 0},         {"os=8x16", "p=1x1,g=1x1,os=8x16", 1},
        {"g=8x16", "p=1x1,g=8x16,os=8x16", 2},    {"p=8x16", "p=8x16,g=8x16,os=8x16", 3},
        {"p=8,os=8x4", "p=8x1,g=8x1,os=8x4", -1}, {"os=8", "p=1x1,g=1x1,os=8x1", -1},
        {"g=4,os=4", "p=1x1,g=4x1,os=4x1", -1},   {"os=2x1,g=1,p=1x1", "p=1x1,g=1x1,os=2x1", -1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pp_error err = {0};
        struct pp_state_spec spec;
        char text[PP_STATE_TEXT_BYTES];

        cr_assert_eq(complete(rows[i].text, &spec, &err), PP_OK, "%s: %s", rows[i].text,
                     err.message);
        cr_assert_str_eq(pp_state_print(&spec, text), rows[i].shards);
        cr_assert_eq(pp_state_zero(&spec), rows[i].zero, "%s", rows[i].text);
        struct pp_mesh again[PP_STATE_SHARDED];
        cr_assert_eq(pp_state_parse(text, again, &err), PP_OK);
        for (int c = 0; c < PP_STATE_SHARDED; c++)
            cr_assert(pp_mesh_is_same(again[c], spec.shard[c]));
    }
}

Test(shards, refusals_name_the_class_and_what_is_legal_near_it)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {"os=3", "os=3x1: the replicas of a stage are a mesh of 8x16, and 3 does not divide its 8 "
                 "devices a node; nearest: 2, 4"},
        {"os=8x3", "3 does not divide its 16 nodes; nearest: 2, 4"},
        {"os=16", "16 does not divide its 8 devices a node; nearest: 8"},
        {"p=4x2", "p=4x2: a mesh that crosses nodes takes all 8 replicas of each; nearest: 8x2, "
                  "4x1"},
        {"p=8,g=4", "g=4x1"},
        {"p=8,os=4", "os=4x1"},
        {"p=2,g=4,os=8", "g=4x1: gradients are cut like parameters or like the optimizer state; "
                         "nearest: g=2x1, g=8x1"},
        {"q=1", "unknown class 'q'"},
        {"os=8,os=4", "os is given twice"},
        {"os", "os='' is no mesh"},
        {"os=0x4", "'0x4' is no mesh"},
        {"os=8x", "is no mesh"},
        {"os=-1", "is no mesh"},
        {"os=1048576x1048576", "is no mesh"},
        {"", "unknown class ''"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pp_error err = {0};
        struct pp_state_spec spec;

        cr_assert_eq(complete(rows[i].text, &spec, &err), PP_EINVAL, "%s", rows[i].text);
        cr_assert_not_null(strstr(err.message, rows[i].words), "%s: %s", rows[i].text, err.message);
    }
}

/* Every spec that the rules allow, counted one by one: Chen et al. 2024, section 4, for R = 8 and
 * N = 16, against pp_state_complete on all triples of meshes. */
Test(shards, the_legal_specs_are_those_of_the_rules)
{
    enum { IN = 9, ACROSS = 17 };
    struct pp_mesh all[IN * ACROSS];
    int count = 0, accepted = 0, legal = 0;

    for (int a = 1; a < IN; a++)
        for (int b = 1; b < ACROSS; b++)
            all[count++] = (struct pp_mesh){a, b};
    const int of = 4 + 4; /* 1, 2, 4, 8 devices of a node; all of 2, 4, 8, 16 nodes */
    for (int p = 0; p < of; p++)
        for (int g = 0; g < of; g++)
            for (int o = 0; o < of; o++)
                /* the meshes are powers of two in a chain: nested where not smaller */
                legal += p <= g && g <= o && (g == p || g == o);
    for (int p = 0; p < count; p++)
        for (int g = 0; g < count; g++)
            for (int o = 0; o < count; o++) {
                struct pp_error err;
                struct pp_state_spec spec = {.replicas = nodes16,
                                             .shard = {all[p], all[g], all[o]}};
                accepted += pp_state_complete(&spec, &err) == PP_OK;
            }
    cr_assert_eq(accepted, legal);
}

Test(shards, a_second_copy_lies_between_a_device_and_the_parameters)
{
    static const struct {
        struct pp_mesh secondary;
        bool is_legal;
    } rows[] = {{{8, 1}, true}, {{1, 1}, true}, {{8, 2}, true}, {{8, 4}, false}, {{3, 1}, false}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pp_error err = {0};
        struct pp_state_spec spec = {
            .replicas = nodes16, .shard = {{8, 4}, {0}, {0}}, .secondary = rows[i].secondary};

        cr_assert_eq(pp_state_complete(&spec, &err) == PP_OK, rows[i].is_legal, "%zu: %s", i,
                     err.message);
    }
}

/* Mixed precision with Adam holds (2/s_p + 2/s_g + 12/s_os) bytes a parameter (Chen et al. 2024,
 * section 4): the published strategies of AMSP and of MiCS on 1,024 A800. */
Test(shards, state_memory_is_the_closed_form)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static const struct {
        const char *text;
        double params, gb;
    } rows[] = {
        {"p=1,g=1,os=8", 7e9, 38.5},       {"p=4,g=4,os=8", 13e9, 32.5},
        {"p=8,g=8,os=8x4", 30e9, 26.25},   {"p=8,g=8,os=8x2", 7e9, 8.75},
        {"p=1,g=1,os=8x128", 7e9, 28.082}, {"p=8x128", 30e9, 16 * 30.0 / 1024},
    };
    const struct setting setting = {"gpt-7.5b", "a800", 1, 1, 1024, 1, 1, 1024};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pp_error err = {0};
        struct pp_model model;
        struct pp_cluster cluster;
        struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);

        cr_assert_eq(pp_model_from_params(arena, rows[i].params, &model, &err), PP_OK);
        in.blocks_per_stage = &model.layers;
        in.state = (struct pp_state_spec){.replicas = pp_cost_replicas(&in), .buffers = 2};
        cr_assert_eq(pp_state_parse(rows[i].text, in.state.shard, &err), PP_OK);
        cr_assert_eq(pp_state_complete(&in.state, &err), PP_OK, "%s", err.message);
        const struct pp_stage_memory *m = costs_of(arena, &in)->memory;
        const double gb = (m->params_bytes + m->grads_bytes + m->optimizer_bytes) / 1e9;
        cr_assert_float_eq(gb, rows[i].gb, 1e-3, "%s: %g GB", rows[i].text, gb);
    }
}

/* With one buffer an op takes its compute and the gathers of all units except the one that the
 * program fetches. With two it takes its compute and the part of each gather that outlasts the
 * concurrent unit. */
Test(shards, gathers_inside_of_an_op_are_the_closed_form)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting setting = {"llama2-7b", "a100", 1, 1, 16, 1, 1, 2048};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);
    const struct pp_costs *whole = costs_of(arena, &in);
    const struct pp_device_group all = {16, 8, 2};
    const double block = 2 * pp_model_layer_params(&model, PP_LAYER_BLOCK),
                 embedding = 2 * pp_model_layer_params(&model, PP_LAYER_EMBEDDING),
                 head = 2 * pp_model_layer_params(&model, PP_LAYER_HEAD);
    const double gather_s = pp_analytic_collective_s(&in, PP_AG, all, block),
                 scatter_s = pp_analytic_collective_s(&in, PP_RS, all, block),
                 head_s = pp_analytic_collective_s(&in, PP_AG, all, block + head),
                 embedding_s = pp_analytic_collective_s(&in, PP_AG, all, block + embedding),
                 head_scatter_s = pp_analytic_collective_s(&in, PP_RS, all, block + head);

    in.state = pp_state_spec_zero(3, pp_cost_replicas(&in));
    in.state.buffers = 1;
    const struct pp_costs *one = costs_of(arena, &in);
    const int inner = model.layers - 2;
    cr_assert_float_eq(pp_units_s(one->op[PP_F][0].ps - whole->op[PP_F][0].ps),
                       inner * gather_s + head_s, 1e-9);
    cr_assert_float_eq(pp_units_s(one->op[PP_B][0].gather_ps),
                       inner * (gather_s + scatter_s) + embedding_s + head_scatter_s, 1e-9);
    cr_assert_float_eq(pp_units_s(one->purpose[PP_FOR_FORWARD][0].ps), embedding_s, 2e-12);
    cr_assert_float_eq(pp_units_s(one->purpose[PP_FOR_BACKWARD][0].ps), head_s, 2e-12);
    in.state.buffers = 2;
    const struct pp_costs *two = costs_of(arena, &in);
    const double unit_s = pp_units_s(whole->op[PP_F][0].ps) / model.layers;
    cr_assert_leq(two->op[PP_F][0].gather_ps, one->op[PP_F][0].gather_ps);
    cr_assert_leq(pp_units_s(two->op[PP_F][0].gather_ps),
                  (inner + 1) * fmax(0, head_s - 0.8 * unit_s));
    /* in one node the compute of so many tokens hides all gathers of a layer */
    in.state = pp_state_spec_zero(0, pp_cost_replicas(&in));
    for (int c = 0; c < PP_STATE_SHARDED; c++)
        in.state.shard[c] = (struct pp_mesh){8, 1};
    cr_assert_lt(costs_of(arena, &in)->op[PP_F][0].gather_ps, two->op[PP_F][0].gather_ps + 1);
    /* ZeRO++: the backward gathers inside of a node */
    in.state = pp_state_spec_zero(3, pp_cost_replicas(&in));
    in.state.buffers = 1;
    in.state.secondary = (struct pp_mesh){8, 1};
    const struct pp_costs *second = costs_of(arena, &in);
    cr_assert_eq(second->op[PP_F][0].ps, one->op[PP_F][0].ps);
    cr_assert_lt(second->op[PP_I][0].ps, one->op[PP_I][0].ps);
    cr_assert_float_eq(second->memory[0].params_bytes, one->memory[0].params_bytes * (1 + 16 / 8.0),
                       1);
}

/* Seconds of a layer in a forward. */
static double forward_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind)
{
    const struct pp_layer_work work = pp_analytic_work(in, 0);

    return pp_analytic_layer(in, kind, work, PP_PASS_F).s +
           pp_analytic_tp_s(in, kind, work, PP_PASS_F);
}

/* More buffers expose less. With room for all layers they come as fast as the links allow. Layer i
 * starts when it and all layers before it have come, and what follows is computed then. */
static void check_buffers(int seq, bool is_bound_by_links)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting setting = {"llama2-7b", "a100", 1, 1, 16, 1, 1, seq};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);
    static const int kinds[] = {PP_F, PP_B, PP_I, PP_W};
    const struct pp_costs *whole = costs_of(arena, &in), *last = NULL, *first = NULL;
    const struct pp_device_group all = {16, 8, 2};

    in.state = pp_state_spec_zero(3, pp_cost_replicas(&in));
    for (in.state.buffers = 1; in.state.buffers <= model.layers + 2; in.state.buffers++) {
        const struct pp_costs *costs = costs_of(arena, &in);
        for (size_t k = 0; last && k < sizeof kinds / sizeof *kinds; k++)
            cr_assert_leq(costs->op[kinds[k]][0].ps, last->op[kinds[k]][0].ps, "%d buffers",
                          in.state.buffers);
        first = in.state.buffers == 2 ? costs : first;
        last = costs;
    }
    const double layers = model.layers, block = 2 * pp_model_layer_params(&model, PP_LAYER_BLOCK),
                 head = 2 * pp_model_layer_params(&model, PP_LAYER_HEAD),
                 gather_s = pp_analytic_collective_s(&in, PP_AG, all, block),
                 last_s = pp_analytic_collective_s(&in, PP_AG, all, block + head),
                 head_s = forward_s(&in, PP_LAYER_HEAD), all_s = pp_units_s(whole->op[PP_F][0].ps),
                 embedding_s = forward_s(&in, PP_LAYER_EMBEDDING),
                 layer_s = (all_s - head_s - embedding_s) / layers;
    double end_s = all_s;
    for (int i = 1; i < model.layers; i++)
        end_s = fmax(end_s, (i < model.layers - 1 ? i * gather_s : (i - 1) * gather_s + last_s) +
                                (layers - i) * layer_s + head_s);
    const double hidden_s = (layers - 2) * gather_s + last_s - (end_s - all_s),
                 share = pp_cost_framework(&in)->gather_share_frac;
    cr_assert_float_eq(pp_units_s(last->op[PP_F][0].gather_ps), end_s - all_s + share * hidden_s,
                       1e-9);
    cr_assert_eq(end_s > all_s, is_bound_by_links);
    cr_assert_eq(last->op[PP_F][0].ps < first->op[PP_F][0].ps, !is_bound_by_links);
}

Test(shards, more_buffers_hide_more_of_the_gathers)
{
    check_buffers(768, true);
    check_buffers(1024, false); /* the head's comes while two layers compute */
}
