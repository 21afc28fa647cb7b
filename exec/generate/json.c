/* The report as JSON: "pipeexec.generate/1". */
#include "exec/generate/parts.h"

#include "core/text/json_write.h"

#include <jansson.h>
#include <math.h>

static json_t *tokens_json(const struct pp_generate *g)
{
    json_t *list = json_array();

    for (int s = 0; s < pp_generate_sequences(g); s++) {
        json_t *of = json_array();
        for (int i = 0; i < g->of.passes; i++)
            json_array_append_new(of,
                                  json_integer(g->result.tokens[(int64_t)s * g->of.passes + i]));
        json_array_append_new(list, of);
    }
    return list;
}

static json_t *texts_json(struct pp_arena *arena, const struct pp_generate *g)
{
    json_t *list = json_array();

    for (int s = 0; s < pp_generate_sequences(g); s++)
        json_array_append_new(list, json_string(pp_generate_text(arena, g, s)));
    return list;
}

static json_t *difference_json(const struct pp_generate_difference *d, bool has_logits)
{
    json_t *o = json_object();

    pp_json_put_int(o, "tokens", d->compared);
    pp_json_put_bool(o, "tokens_equal", d->first.sequence < 0);
    json_object_set_new(o, "sequence",
                        d->first.sequence < 0 ? json_null() : json_integer(d->first.sequence));
    json_object_set_new(o, "position",
                        d->first.sequence < 0 ? json_null() : json_integer(d->first.position));
    if (!has_logits)
        return o;
    pp_json_put(o, "max_abs_diff", d->any.most);
    pp_json_put(o, "max_rel_diff", d->frac.most);
    return o;
}

static json_t *check_json(const struct pp_generate *g)
{
    const struct pp_generate_bound bound = pp_generate_bound(g);
    json_t *o = json_object();

    if (!g->result.alone.is_done) {
        json_decref(o);
        return json_null();
    }
    json_object_set_new(o, "one_rank", difference_json(&g->result.alone, false));
    json_object_set_new(o, "without_cache", difference_json(&g->result.again, true));
    pp_json_put(o, "bound", bound.most);
    pp_json_put_bool(o, "bound_is_relative", bound.is_frac);
    return o;
}

static json_t *layout_json(const struct pp_generate *g)
{
    json_t *o = json_object();

    pp_json_put_int(o, "np", g->program->ranks);
    pp_json_put_int(o, "tp", g->config.tp);
    pp_json_put_int(o, "dp", g->config.replicas);
    pp_json_put_int(o, "batch", g->of.batch);
    pp_json_put_int(o, "groups", g->of.groups);
    pp_json_put_int(o, "prompt_groups", g->of.prompt_groups);
    pp_json_put_int(o, "prompt_tokens", g->of.prompt_tokens);
    pp_json_put_int(o, "new_tokens", g->of.passes);
    return o;
}

static void put_figures(json_t *o, const struct pp_generate *g)
{
    const struct pp_generate_result *r = &g->result;

    pp_json_put(o, "first_token_s", r->first_token_s);
    pp_json_put(o, "token_s", r->token_s);
    pp_json_put(o, "tokens_per_s", r->tokens_per_s);
    pp_json_put(o, "total_s", r->total_s);
    pp_json_put(o, "late_token_s", r->late_token_s);
    pp_json_put(o, "predicted_late_token_s", r->predicted_late_token_s);
    pp_json_put(o, "model_error_frac", r->predicted_late_token_s / r->late_token_s - 1);
    pp_json_put(o, "structural_error_s", r->structural_error_s);
    pp_json_put(o, "machinery_frac", r->machinery_frac);
    pp_json_put_bytes(o, "kv_bytes", r->kv_bytes);
    pp_json_put_bytes(o, "predicted_kv_bytes", r->predicted_kv_bytes);
}

void pp_generate_json(struct pp_arena *arena, const struct pp_generate *g, FILE *out)
{
    const struct pp_exec_config *c = &g->config;
    json_t *o = json_object();

    pp_json_put_text(o, "schema", "pipeexec.generate/1");
    pp_json_put_text(o, "schedule", g->program->name);
    pp_json_put_text(o, "model", c->net.name);
    pp_json_put_text(o, "weights", g->weights ? g->weights : "drawn");
    pp_json_put_text(o, "backend", c->backend->name);
    pp_json_put_text(o, "transport", c->transport->name);
    pp_json_put_text(o, "precision", c->precision);
    pp_json_put_text(o, "clock", c->clock == PP_CLOCK_VIRTUAL ? "virtual" : "wall");
    pp_json_put_text(o, "sampling", g->sampling);
    json_object_set_new(o, "layout", layout_json(g));
    json_object_set_new(o, "tokens", tokens_json(g));
    json_object_set_new(o, "text", texts_json(arena, g));
    put_figures(o, g);
    json_object_set_new(o, "check", check_json(g));
    json_object_set_new(o, "meta", pp_json_meta(g->wall_s));
    pp_json_print_rows(o, out);
}
