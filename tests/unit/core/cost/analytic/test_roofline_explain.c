#include "core/units.h"
#include "tests/unit/support/cost_inputs.h"

#include <stdio.h>
#include <string.h>

static char *explanation(struct pp_arena *arena, const struct pp_cost_inputs *in,
                         const struct pp_costs *costs)
{
    enum { ROOM = 1 << 16 };
    char *text = pp_arena_alloc(arena, ROOM);
    FILE *out = fmemopen(text, ROOM, "w");

    pp_costs_explain(in, costs, out);
    cr_assert(ftell(out) < ROOM - 1);
    fclose(out);
    return text;
}

/* A row of the tables, which no wrapping mends. */
static bool is_kernel(const char *line)
{
    static const char *const bounds[] = {" compute", " memory", " launch"};
    const char *last = strrchr(line, ' ');

    for (size_t i = 0; last && i < sizeof bounds / sizeof *bounds; i++)
        if (!strcmp(last, bounds[i]))
            return true;
    return false;
}

Test(roofline_explain, the_explanation_names_every_term_and_kernels_fit_80_columns)
{
    static const struct setting settings[] = {
        {"gpt3-175b", "h100", 8, 16, 16, 1, 1, 2048},
        {"llama3-70b", "a100", 2, 4, 2, 2, 3, 8192},
        {"bert-large", "piz-daint", 1, 2, 8192, 1, 1, 512},
        {"gpt-1t", "b200", 8, 64, 4, 1, 64, 1 << 17},
    };
    static const char *const words[] = {"qkv",
                                        "attention",
                                        "logits",
                                        "message between stages",
                                        "over the network",
                                        "stages 1-",
                                        "gradient sum of",
                                        "replicas, g = ",
                                        "optimizer: ",
                                        "bound"};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        for (int recompute = 0; recompute <= 2; recompute++) {
            struct pp_model model;
            struct pp_cluster cluster;
            struct pp_cost_inputs in = inputs_of(arena, settings[i], &model, &cluster);
            in.recompute = (enum pp_recompute)recompute;
            const bool is_cut = recompute == 2;
            in.state = pp_state_spec_zero(is_cut, pp_cost_replicas(&in));
            char *text = explanation(arena, &in, costs_of(arena, &in));
            for (size_t w = 0; w < sizeof words / sizeof *words; w++)
                if ((settings[i].pp > 2 || w != 5) && (!is_cut || w != 6))
                    cr_assert_not_null(strstr(text, words[w]), "%s not in:\n%s", words[w], text);
            cr_assert_eq(strstr(text, "parameter gather of") != NULL, is_cut);
            cr_assert_eq(strstr(text, ", R ") != NULL, recompute > 0);
            for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
                cr_assert(strlen(line) <= 80 || !is_kernel(line), "%s", line);
        }
}

/* What is explained is what is charged: the terms, with their units, add up to the table. */
Test(roofline_explain, the_explained_terms_add_up)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting setting = {"gpt3-175b", "h100", 2, 16, 16, 1, 1, 2048};
    struct pp_model model;
    struct pp_cluster cluster;
    const struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);
    const struct pp_costs *costs = costs_of(arena, &in);
    char *text = explanation(arena, &in, costs), unit[6][8];
    double sum, node, network, latency, total, launch, bytes, params, rate;

    const char *at = strstr(strstr(text, "stages 1-14"), "gradient sum of");
    cr_assert_eq(sscanf(strchr(at, ':'),
                        ": %lf %7s = node %lf %7s + network %lf %7s + latency %lf %7s", &sum,
                        unit[0], &node, unit[1], &network, unit[2], &latency, unit[3]),
                 8, "%s", at);
    cr_assert_eq(node, 0, "%s", at); /* the network is the slower */
    cr_assert_str_eq(unit[0], "ms", "%s", at);
    cr_assert_str_eq(unit[2], "ms", "%s", at);
    cr_assert_str_eq(unit[3], "us", "%s", at);
    cr_assert_float_eq((network + latency / 1e3) / sum, 1, 0.01);
    cr_assert_float_eq(sum / 1e3 / pp_units_s(costs->op[PP_AR][5].ps), 1, 0.01);

    at = strstr(at, "optimizer: ");
    int launches;
    cr_assert_eq(sscanf(at, "optimizer: %lf ms = %d x %lf us + %lf B x %lfB / %lf TB/s", &total,
                        &launches, &launch, &bytes, &params, &rate),
                 6, "%s", at);
    cr_assert_float_eq((launches * launch / 1e3 + bytes * params / rate) / total, 1, 0.01, "%s",
                       at);
    cr_assert_float_eq(total / 1e3 / pp_units_s(costs->op[PP_U][5].ps), 1, 0.01);
}

static const char *s_text(double s, char text[PP_UNITS_TEXT_BYTES])
{
    return pp_units_print(s, PP_UNIT_SECONDS, text);
}

/* Every way to share the state: its collectives as explained are those of the table. */
Test(roofline_explain, collectives_of_every_state_add_up)
{
    static const struct {
        const char *framework;
        struct pp_mesh shard[PP_STATE_SHARDED];
        bool is_overlapped, has_sum, has_gather;
    } rows[] = {
        {"plain", {{1, 1}, {1, 1}, {1, 1}}, false, true, false},
        {"deepspeed", {{1, 1}, {1, 1}, {1, 1}}, true, true, false},
        {"deepspeed", {{1, 1}, {1, 1}, {8, 1}}, false, true, true},
        {"deepspeed", {{8, 1}, {8, 1}, {8, 1}}, false, true, false},
        {"internevo", {{1, 1}, {1, 1}, {8, 4}}, false, true, true},
        {"internevo", {{8, 1}, {8, 1}, {8, 2}}, true, true, true},
        {"fsdp", {{1, 1}, {1, 1}, {8, 4}}, true, true, true},
        {"fsdp", {{8, 4}, {8, 4}, {8, 4}}, true, false, false},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting setting = {"llama-7b", "a100", 1, 1, 32, 1, 1, 2048};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pp_model model;
        struct pp_cluster cluster;
        struct pp_error err = {0};
        struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);
        char expected[64], time[PP_UNITS_TEXT_BYTES];
        cr_assert_eq(pp_framework_find(rows[i].framework, &in.framework, &err), PP_OK);
        in.state = (struct pp_state_spec){.replicas = {8, 4}, .buffers = 2};
        memcpy(in.state.shard, rows[i].shard, sizeof rows[i].shard);
        in.is_dp_overlapped = rows[i].is_overlapped;
        const struct pp_costs *costs = costs_of(arena, &in);
        const char *text = explanation(arena, &in, costs);
        const int kind = pp_state_is_spread(&in.state) ? PP_RS : PP_AR;
        const char *sum = strstr(text, kind == PP_RS ? "gradient scatter of" : "gradient sum of"),
                   *gather = strstr(text, "parameter gather of");
        cr_assert_eq(sum != NULL, rows[i].has_sum, "row %zu: %s", i, text);
        cr_assert_eq(gather != NULL, rows[i].has_gather, "row %zu: %s", i, text);
        if (sum) {
            snprintf(expected, sizeof expected, ": %s = node ",
                     s_text(pp_units_s(costs->op[kind][0].ps), time));
            cr_assert_eq(strncmp(strchr(sum, ':'), expected, strlen(expected)), 0, "%s not in %s",
                         expected, sum);
        }
        const bool is_ahead = rows[i].is_overlapped && in.framework->has_params_ahead;
        snprintf(expected, sizeof expected, is_ahead ? "hides all but %s" : ": %s = node ",
                 s_text(pp_units_s(costs->op[PP_AG][0].ps), time));
        cr_assert(!gather || strstr(gather, expected), "%s not in %s", expected, text);
    }
}
