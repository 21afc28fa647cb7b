/* Reads shard factors in words: "1 (sharded within 8 GPUs)". */
#include "sim/published/parts.h"

#include "core/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACTORS = 3, DIGITS = 24 };

/* Returns devices in a node times nodes; nodes are filled first. */
static const char *mesh(struct pp_measure_writer *w, int64_t count)
{
    const int64_t node = w->per_node > 0 ? w->per_node : 8;

    if (count <= node)
        return pp_arena_printf(w->arena, "%" PRId64 "x1", count);
    return pp_arena_printf(w->arena, "%" PRId64 "x%" PRId64, node, (count + node - 1) / node);
}

/* Reads "1/1/8" at the begin of the text. */
static enum pp_status read_factors(const char *text, int64_t factors[FACTORS], struct pp_error *err)
{
    for (int i = 0; i < FACTORS; i++) {
        const size_t length = strspn(text, "0123456789");
        char digits[DIGITS];
        snprintf(digits, sizeof(digits), "%.*s", (int)(length < DIGITS ? length : DIGITS), text);
        PP_TRY(pp_units_parse_int(digits, 1, PP_MEASURE_DEVICES, &factors[i], err));
        text += length;
        if (i + 1 < FACTORS && *text++ != '/')
            return pp_error_set(err, PP_EINVAL, "three factors P/G/OS are expected");
    }
    return PP_OK;
}

/* Returns the text after the size of "7B:1/1/8"; NULL if no size begins the text. */
static const char *read_size(const char *text, double *size_b)
{
    char *end;

    text += strspn(text, " ");
    *size_b = strtod(text, &end);
    return end != text && *size_b > 0 && isfinite(*size_b) && !strncmp(end, "B:", 2) ? end + 2
                                                                                     : NULL;
}

/* Reads "custom P/G/OS sharding (7B:1/1/8, 13B:4/4/8)": the entry of the nearest size. */
static enum pp_status listed(struct pp_measure_writer *w, const char *cell, struct pp_error *err)
{
    const double params_b = pp_measure_number(w->row, PP_COL_PARAMS_B);
    int64_t factors[FACTORS], found[FACTORS] = {0};
    double best = HUGE_VAL, size_b;

    for (const char *at = strchr(cell, '('); at; at = strchr(at + 1, ',')) {
        const char *text = read_size(at + 1, &size_b);
        if (!text)
            continue;
        if (read_factors(text, factors, err) != PP_OK)
            return pp_error_set(err, PP_EINVAL,
                                "zero_stage_or_fsdp \"%.60s\": factors are three numbers from 1 "
                                "to %d such as 7B:1/1/8",
                                cell, PP_MEASURE_DEVICES);
        if (fabs(log(size_b / params_b)) < best) {
            best = fabs(log(size_b / params_b));
            memcpy(found, factors, sizeof(found));
        }
    }
    if (!(best <= 0.2)) /* far from all listed sizes, or none is stated */
        return pp_error_set(err, PP_EINVAL, "zero_stage_or_fsdp \"%.60s\": not for params_b \"%s\"",
                            cell, w->row->cell[PP_COL_PARAMS_B]);
    pp_measure_put(w, "shard",
                   pp_arena_printf(w->arena, "p=%s,g=%s,os=%s", mesh(w, found[0]),
                                   mesh(w, found[1]), mesh(w, found[2])));
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
