/* Shard factors in words: "1 (sharded within 8 GPUs)". */
#include "sim/validate_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Devices in a node times nodes: a node is filled first. */
static const char *mesh(struct pp_measure_writer *w, int count)
{
    const int node = w->per_node > 0 ? (int)w->per_node : 8;

    if (count <= node)
        return pp_arena_printf(w->arena, "%dx1", count);
    return pp_arena_printf(w->arena, "%dx%d", node, (count + node - 1) / node);
}

/* "custom P/G/OS sharding (7B:1/1/8, 13B:4/4/8)": the entry of the size next to the model's. */
static enum pp_status listed(struct pp_measure_writer *w, const char *cell, struct pp_error *err)
{
    const double params_b = pp_measure_number(w->row, PP_COL_PARAMS_B);
    const char *at = strpbrk(cell, "(");
    double best = HUGE_VAL;
    int factors[3] = {0};

    while (at && *++at) {
        double size;
        int p, g, os;
        if (sscanf(at, " %lfB:%d/%d/%d", &size, &p, &g, &os) == 4 && size > 0 && p > 0 && g > 0 &&
            os > 0 && fabs(log(size / params_b)) < best) {
            best = fabs(log(size / params_b));
            factors[0] = p, factors[1] = g, factors[2] = os;
        }
        at = strpbrk(at, ",");
    }
    if (best > 0.2) /* of another size than all that are listed, or none is stated */
        return pp_error_set(err, PP_EINVAL, "zero_stage_or_fsdp \"%.60s\": not for params_b \"%s\"",
                            cell, w->row->cell[PP_COL_PARAMS_B]);
    pp_measure_put(w, "shard",
                   pp_arena_printf(w->arena, "p=%s,g=%s,os=%s", mesh(w, factors[0]),
                                   mesh(w, factors[1]), mesh(w, factors[2])));
    return PP_OK;
}

enum pp_status pp_measure_put_shard(struct pp_measure_writer *w, const struct pp_measure_rule *rule,
                                    struct pp_error *err)
{
    const char *cell = w->row->cell[rule->column];

    if (!strcmp(rule->value, "P/G/OS"))
        return listed(w, cell, err);
    const int number = strchr(rule->pattern, '#') ? pp_measure_number_in(cell, rule->pattern)
                       : w->per_node > 0          ? (int)w->per_node
                                                  : 8;
    if (number == 0)
        return pp_error_set(err, PP_EINVAL, "zero_stage_or_fsdp \"%.60s\": no size of a group",
                            cell);
    char *text = pp_arena_strdup(w->arena, "");
    for (const char *at = rule->value; *at;) {
        const size_t word = !strncmp(at, "node", 4) ? 4 : *at == '#' ? 1 : 0;
        text = word ? pp_arena_printf(w->arena, "%s%s", text, mesh(w, number))
                    : pp_arena_printf(w->arena, "%s%c", text, *at);
        at += word ? word : 1;
    }
    pp_measure_put(w, rule->option, text);
    return PP_OK;
}

void pp_measure_put_offload(struct pp_measure_writer *w, const struct pp_measure_rule *rule)
{
    const char *at = pp_measure_contains(w->row->cell[rule->column], rule->pattern);
    const double share = at ? strtod(at + strlen(rule->pattern), NULL) : 0;

    if (share > 0 && share <= 1)
        pp_measure_put(w, rule->option, pp_arena_printf(w->arena, "%s:%g", rule->value, share));
}
