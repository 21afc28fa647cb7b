/* The layouts that serve, as a table, as JSON and as CSV. */
#include "core/text/json_write.h"
#include "core/units.h"
#include "sim/cli/cli.h"
#include "sim/config/inputs.h"
#include "sim/config/price.h"
#include "sim/fit/change.h"
#include "sim/report/lines.h"
#include "sim/report/text.h"
#include "sim/run/simulate.h"
#include "sim/serving/serving.h"

#include <jansson.h>
#include <math.h>

enum { WIDTH = 80, INDENT = 11 };

static const char *time_of(double seconds, char text[PP_UNITS_TEXT_BYTES])
{
    return isfinite(seconds) ? pp_units_print(seconds, PP_UNIT_SECONDS, text) : "-";
}

/* Returns "at most 50.0 ms a token and 1.00 s to the first"; "" without limits. */
static const char *limits_text(struct pp_arena *arena, const struct pp_serving *s)
{
    char token[PP_UNITS_TEXT_BYTES], first[PP_UNITS_TEXT_BYTES];
    const char *text = "";

    if (s->max_token_s > 0)
        text = pp_arena_printf(arena, "at most %s a token", time_of(s->max_token_s, token));
    if (s->max_first_token_s > 0)
        text = pp_arena_printf(arena, "%s%s%s to the first", text, *text ? ", " : "at most ",
                               time_of(s->max_first_token_s, first));
    return text;
}

/* Returns the tokens/s of a device, or with --price what 1M tokens cost. */
static const char *rate_text(struct pp_arena *arena, const struct pp_config *c,
                             double tokens_per_s_per_gpu)
{
    char count[PP_UNITS_TEXT_BYTES], price[PP_PRICE_TEXT_BYTES];

    return pp_arena_strdup(
        arena, c->origin.price.per_gpu_hour > 0
                   ? pp_price_print(c, pp_price_tokens(c, tokens_per_s_per_gpu) / 1e6, price)
                   : pp_units_print(tokens_per_s_per_gpu, PP_UNIT_COUNT, count));
}

/* Returns "2 GPUs are within the limits: TP 2 x PP 1 x DP 1 with batch 8, 20 ms a token, ...". */
static const char *fewest_text(struct pp_arena *arena, const struct pp_serving *s,
                               const struct pp_serving_point *p)
{
    const bool is_one = p->layout.gpus == 1, has_limits = s->max_token_s + s->max_first_token_s > 0;
    char first[PP_UNITS_TEXT_BYTES], token[PP_UNITS_TEXT_BYTES], all[PP_UNITS_TEXT_BYTES];

    return pp_arena_printf(
        arena,
        "%d~GPU%s %s: TP~%d x PP~%d x DP~%d with batch~%d, %s to the first token, %s for each, "
        "%s~tokens/s",
        p->layout.gpus, is_one ? "" : "s",
        has_limits ? (is_one ? "is within the limits" : "are within the limits")
                   : (is_one ? "has room" : "have room"),
        p->layout.tp, p->layout.pp, p->layout.dp, p->batch, time_of(p->first_token_s, first),
        time_of(p->token_s, token), pp_units_print(p->tokens_per_s, PP_UNIT_COUNT, all));
}

static void print_point(struct pp_arena *arena, const struct pp_serving_point *p, int place,
                        const char *rate, FILE *out)
{
    char first[PP_UNITS_TEXT_BYTES], token[PP_UNITS_TEXT_BYTES], all[PP_UNITS_TEXT_BYTES];

    fprintf(out, "%4d%5d%3d%4d%9s%6d%7d%8s%8s%9s%8s%7.1f%s\n", place, p->layout.gpus, p->layout.tp,
            p->layout.pp, pp_serving_replicas(arena, p), p->batch, p->groups,
            time_of(p->first_token_s, first), time_of(p->token_s, token),
            pp_units_print(p->tokens_per_s, PP_UNIT_COUNT, all), rate, p->peak_bytes / PP_GIB,
            !p->fits   ? " !"
            : p->meets ? ""
                       : " >");
}

const char *pp_serving_replicas(struct pp_arena *arena, const struct pp_serving_point *p)
{
    return p->most_replicas > p->layout.dp
               ? pp_arena_printf(arena, "%d-%d", p->layout.dp, p->most_replicas)
               : pp_arena_printf(arena, "%d", p->layout.dp);
}

const struct pp_serving_point *pp_serving_fewest(const struct pp_serving *s)
{
    const struct pp_serving_point *fewest = NULL;

    for (int i = 0; i < s->count && !s->has_gpus; i++)
        if (s->points[i].meets && (!fewest || s->points[i].layout.gpus < fewest->layout.gpus))
            fewest = &s->points[i];
    return fewest;
}

/* Returns the command whose report has the figures of a point. */
static struct pp_parsed *command_of(struct pp_arena *arena, const struct pp_serving *s,
                                    const struct pp_serving_point *p)
{
    struct pp_parsed *command =
        pp_inputs_command(arena, &s->first, PP_SIM_OF_PLANNER | PP_SIM_BY_SEARCH);
    const struct {
        const char *option;
        int value;
    } degrees[] = {{"gpus", p->layout.gpus},
                   {"tp", p->layout.tp},
                   {"pp", p->layout.pp},
                   {"dp", p->layout.dp},
                   {"batch", p->batch}};
    struct pp_error ignored; /* the point was resolved with these values */

    pp_command_drop(command, "nodes");
    for (size_t i = 0; i < PP_COUNT(degrees); i++)
        pp_command_set_int(arena, command, degrees[i].option, degrees[i].value, &ignored);
    return command;
}

/* Prints changes with which a command that does not fit does, if some are known. */
static void print_to_fit(struct pp_arena *arena, const struct pp_parsed *command, FILE *out)
{
    struct pp_config config;
    struct pp_result result;
    struct pp_error ignored;
    const char *text;

    if (pp_change_resolve(arena, command, &config, NULL, &ignored) == PP_OK &&
        pp_simulate(arena, &config, PP_METRICS, NULL, &result, &ignored) == PP_OK &&
        (text = pp_generation_to_fit(arena, &result)))
        pp_text_paragraph(out, WIDTH, INDENT, "to fit", text);
}

void pp_serving_print(struct pp_arena *arena, const struct pp_serving *s, int rows, FILE *out)
{
    const struct pp_config *c = &s->first;
    const char *limits = limits_text(arena, s);
    char params[PP_UNITS_TEXT_BYTES], in[PP_UNITS_TEXT_BYTES], generated[PP_UNITS_TEXT_BYTES];
    bool has_more = false, has_none = false, has_copies = false;

    fprintf(out, "pipesim %s  plan to serve %s (%s) on %s\n", PP_VERSION, c->model.name,
            pp_units_print(pp_model_params(&c->model), PP_UNIT_COUNT, params), c->cluster.name);
    pp_text_paragraph(
        out, WIDTH, 2, "",
        pp_arena_printf(arena, "%d %s of a replica; objective %s%s%s; %s token%s in, %s out",
                        s->count, s->count == 1 ? "layout and batch" : "layouts and batches",
                        pp_serving_objective_names[s->objective], *limits ? ", " : "", limits,
                        pp_units_print_count(c->generation.prompt_tokens, in),
                        c->generation.prompt_tokens == 1 ? "" : "s",
                        pp_units_print_count(c->generation.passes, generated)));
    fprintf(out, "\n   #%5s%3s%4s%9s%6s%7s%8s%8s%9s%8s%7s\n", "GPUs", "TP", "PP", "replicas",
            "batch", "groups", "first", "token", "tokens/s",
            c->origin.price.per_gpu_hour > 0 ? "1M cost" : "a GPU", "GiB");
    for (int i = 0; i < s->count && i < rows; i++) {
        print_point(arena, &s->points[i], i + 1,
                    rate_text(arena, c, s->points[i].tokens_per_s_per_gpu), out);
        has_copies = has_copies || s->points[i].most_replicas > s->points[i].layout.dp;
        has_none = has_none || !s->points[i].fits;
        has_more = has_more || (s->points[i].fits && !s->points[i].meets);
    }
    if (has_copies)
        fputs("      1-2: replicas are alike; GPUs and tokens/s are those of the fewest\n", out);
    if (has_more)
        fputs("      > beyond a limit\n", out);
    if (has_none)
        fputs("      ! does not fit\n", out);
    const struct pp_serving_point *best = &s->points[0], *fewest = pp_serving_fewest(s);
    if (fewest)
        pp_text_paragraph(out, WIDTH, INDENT, "fewest", fewest_text(arena, s, fewest));
    struct pp_config likely = *c;
    likely.layout = best->layout;
    pp_text_paragraph(out, WIDTH, INDENT, "error", pp_line_error(arena, &likely));
    const struct pp_parsed *command = command_of(arena, s, best);
    pp_text_command(out, WIDTH, INDENT, best->fits ? "choose" : "nearest", command);
    if (!best->fits)
        print_to_fit(arena, command, out);
}

static json_t *point_json(const struct pp_config *c, const struct pp_serving_point *p)
{
    json_t *o = json_object();

    json_object_set_new(o, "layout", pp_report_layout_json(&p->layout));
    pp_json_put_int(o, "most_replicas", p->most_replicas);
    pp_json_put_int(o, "batch", p->batch);
    pp_json_put_int(o, "groups", p->groups);
    pp_json_put(o, "first_token_s", p->first_token_s);
    pp_json_put(o, "token_s", p->token_s);
    pp_json_put(o, "tokens_per_s", p->tokens_per_s);
    pp_json_put(o, "tokens_per_s_per_gpu", p->tokens_per_s_per_gpu);
    if (c->origin.price.per_gpu_hour > 0)
        pp_json_put(o, "cost_per_trillion_tokens", pp_price_tokens(c, p->tokens_per_s_per_gpu));
    pp_json_put_bytes(o, "peak_mem_bytes", p->peak_bytes);
    json_object_set_new(o, "fits", json_boolean(p->fits));
    json_object_set_new(o, "meets", json_boolean(p->meets));
    return o;
}

void pp_serving_json(const struct pp_serving *s, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    json_t *o = json_pack("{ss ss ss}", "schema", "pipesim.plan/1", "mode", "infer", "objective",
                          pp_serving_objective_names[s->objective]);
    json_t *points = json_array();

    pp_json_put(o, "max_token_s", s->max_token_s > 0 ? s->max_token_s : (double)NAN);
    pp_json_put(o, "max_first_token_s",
                s->max_first_token_s > 0 ? s->max_first_token_s : (double)NAN);
    json_object_set_new(o, "best",
                        s->points[0].meets ? point_json(&s->first, &s->points[0]) : json_null());
    pp_json_put_text(o, s->points[0].fits ? "choose" : "nearest",
                     pp_command_text(arena, command_of(arena, s, &s->points[0])));
    const struct pp_serving_point *fewest = pp_serving_fewest(s);
    json_object_set_new(o, "fewest", fewest ? point_json(&s->first, fewest) : json_null());
    for (int i = 0; i < s->count; i++)
        json_array_append_new(points, point_json(&s->first, &s->points[i]));
    json_object_set_new(o, "points", points);
    pp_json_print(o, out);
}

void pp_serving_csv(const struct pp_serving *s, FILE *out)
{
    fputs("gpus,tp,pp,dp,batch,groups,first_token_s,token_s,tokens_per_s,tokens_per_s_per_gpu,"
          "peak_mem_bytes,fits,meets,most_replicas\n",
          out);
    for (int i = 0; i < s->count; i++) {
        const struct pp_serving_point *p = &s->points[i];
        fprintf(out, "%d,%d,%d,%d,%d,%d,%.17g,", p->layout.gpus, p->layout.tp, p->layout.pp,
                p->layout.dp, p->batch, p->groups, p->first_token_s);
        if (isfinite(p->token_s))
            fprintf(out, "%.17g", p->token_s);
        fprintf(out, ",%.17g,%.17g,%.17g,%d,%d,%d\n", p->tokens_per_s, p->tokens_per_s_per_gpu,
                p->peak_bytes, p->fits, p->meets, p->most_replicas);
    }
}

enum pp_status pp_serving_check(const struct pp_serving *s, bool needs_fit, struct pp_error *err)
{
    const struct pp_serving_point *best = &s->points[0], *least = best;
    const bool has_limits = s->max_token_s > 0 || s->max_first_token_s > 0;
    char first[PP_UNITS_TEXT_BYTES], token[PP_UNITS_TEXT_BYTES];

    if (best->meets || !(has_limits || needs_fit))
        return PP_OK;
    if (!best->fits)
        return pp_error_set(err, PP_EFIT, "none of %d layouts and batches fits", s->count);
    for (int i = 1; i < s->count; i++)
        if (s->points[i].fits &&
            (s->max_token_s > 0 ? s->points[i].token_s < least->token_s
                                : s->points[i].first_token_s < least->first_token_s))
            least = &s->points[i];
    return pp_error_set(err, PP_EFIT,
                        "no layout is within the limits; the fastest, TP %d x PP %d x DP %d with "
                        "batch %d, has %s to the first token and %s for each",
                        least->layout.tp, least->layout.pp, least->layout.dp, least->batch,
                        time_of(least->first_token_s, first), time_of(least->token_s, token));
}
