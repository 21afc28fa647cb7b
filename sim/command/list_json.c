/* Lists of what is built in, as JSON: one object with a list of rows. */
#include "sim/command/list_json.h"

#include "core/text/json_write.h"
#include "schedules/registry.h"

/* Prints {"schema": "pipesim.models/1", "models": [...]}, and frees the list. */
static void print_list(const char *name, json_t *list, FILE *out)
{
    json_t *o = json_object();

    json_object_set_new(o, "schema", json_sprintf("pipesim.%s/1", name));
    json_object_set_new(o, name, list);
    pp_json_print(o, out);
}

static json_t *texts(const char *const *all)
{
    json_t *list = json_array();

    for (int i = 0; all && all[i]; i++)
        json_array_append_new(list, pp_json_text(all[i]));
    return list;
}

/* ---- schedules ------------------------------------------------------------------------------- */

static json_t *form_json(const struct pp_closed_form *form)
{
    json_t *o = json_object();

    pp_json_put_text(o, "text", form->text);
    pp_json_put_bool(o, "exact", form->is_exact);
    return o;
}

static json_t *calls_json(const struct pp_schedule *s)
{
    json_t *o = json_object();

    for (const struct pp_schedule_call *c = s->calls; c && c->tool; c++)
        pp_json_put_text(o, c->tool, c->name);
    return o;
}

static json_t *schedule_json(const struct pp_schedule *s)
{
    json_t *o = json_object();

    pp_json_put_text(o, "name", s->name);
    pp_json_put_text(o, "summary", s->summary);
    pp_json_put_text(o, "rule", s->rule);
    pp_json_put_text(o, "limits", s->limits);
    json_object_set_new(o, "bubble_frac", form_json(&s->bubble_frac));
    json_object_set_new(o, "peak_activations", form_json(&s->peak));
    pp_json_put_text(o, "use", s->when);
    pp_json_put_text(o, "placement", pp_placement_names[s->placement]);
    json_object_set_new(o, "vp", s->chunks > 0 ? json_integer(s->chunks) : json_null());
    pp_json_put_bool(o, "executable", !s->is_simulated_only);
    pp_json_put_text(o, "source", s->source);
    json_object_set_new(o, "aliases", texts(s->aliases));
    json_object_set_new(o, "frameworks", calls_json(s));
    return o;
}

static json_t *schedules_json(const struct pp_schedule *const *all, const struct pp_schedule *one)
{
    json_t *list = json_array();

    for (int i = 0; all[i]; i++)
        if (!one || one == all[i])
            json_array_append_new(list, schedule_json(all[i]));
    return list;
}

void pp_list_schedules_json(const struct pp_schedule *one, FILE *out)
{
    json_t *o = json_object();

    json_object_set_new(o, "schema", json_string("pipesim.schedules/1"));
    json_object_set_new(o, "schedules", schedules_json(pp_schedules, one));
    json_object_set_new(o, "generators", schedules_json(pp_generators, one));
    pp_json_print(o, out);
}

/* ---- models ---------------------------------------------------------------------------------- */

static json_t *model_json(const struct pp_model *m)
{
    const struct {
        const char *key;
        int value;
    } sizes[] = {
        {"layers", m->layers},         {"hidden", m->hidden},
        {"heads", m->heads},           {"kv_heads", m->kv_heads},
        {"head_dim", m->head_dim},     {"ffn", m->ffn},
        {"vocab", m->vocab},           {"seq", m->seq},
        {"experts", m->experts.count}, {"top_k", m->experts.count > 0 ? m->experts.top_k : 0}};
    json_t *o = json_object();

    pp_json_put_text(o, "name", m->name);
    pp_json_put_text(o, "family", m->family);
    pp_json_put(o, "params", pp_model_params(m));
    pp_json_put(o, "active_params", pp_model_active_params(m));
    for (size_t i = 0; i < PP_COUNT(sizes); i++)
        pp_json_put_int(o, sizes[i].key, sizes[i].value);
    pp_json_put_bool(o, "tied", m->is_tied);
    pp_json_put_text(o, "source", m->source);
    return o;
}

void pp_list_models_json(const struct pp_model *one, FILE *out)
{
    json_t *list = json_array();

    if (one)
        json_array_append_new(list, model_json(one));
    for (const struct pp_model *m = pp_model_presets; !one && m->name; m++)
        json_array_append_new(list, model_json(m));
    print_list("models", list, out);
}

/* ---- clusters -------------------------------------------------------------------------------- */

static json_t *device_json(const struct pp_device *d)
{
    json_t *o = json_object(), *peaks = json_object();

    pp_json_put_text(o, "name", d->name);
    pp_json_put_text(o, "title", d->title);
    pp_json_put_text(o, "precision", pp_precision_names[d->precision]);
    for (int i = 0; i < PP_PRECISIONS; i++) {
        const double peak = pp_device_peak(d, (enum pp_precision)i);
        if (peak > 0)
            pp_json_put(peaks, pp_precision_names[i], peak);
    }
    json_object_set_new(o, "peak_flops_per_s", peaks);
    pp_json_put_bytes(o, "memory_bytes", d->memory_bytes);
    pp_json_put(o, "memory_bytes_per_s", d->memory_bytes_per_s);
    pp_json_put(o, "launch_s", d->launch_s);
    pp_json_put_text(o, "constants_of", d->constants_of ? d->constants_of : d->name);
    pp_json_put_text(o, "source", d->source);
    return o;
}

static json_t *cluster_json(const struct pp_cluster *c)
{
    json_t *o = json_object();

    pp_json_put_text(o, "name", c->name);
    pp_json_put_text(o, "title", c->title);
    json_object_set_new(o, "device", device_json(&c->device));
    pp_json_put_int(o, "gpus_per_node", c->gpus_per_node);
    pp_json_put(o, "node_bytes_per_s", c->intra.bytes_per_s);
    pp_json_put(o, "network_bytes_per_s", c->inter.bytes_per_s);
    pp_json_put_int(o, "nics", c->fabric.nics);
    pp_json_put_text(o, "fabric", pp_fabric_names[c->fabric.kind]);
    pp_json_put_text(o, "source", c->source);
    return o;
}

void pp_list_clusters_json(const struct pp_cluster *one, FILE *out)
{
    json_t *list = json_array();

    if (one)
        json_array_append_new(list, cluster_json(one));
    for (const struct pp_cluster *c = pp_cluster_presets; !one && c->name; c++)
        json_array_append_new(list, cluster_json(c));
    print_list("clusters", list, out);
}

/* ---- presets --------------------------------------------------------------------------------- */

void pp_list_presets_json(const struct pp_preset *one, FILE *out)
{
    json_t *list = json_array();

    for (const struct pp_preset *p = pp_presets; p->name; p++) {
        if (one && p != one)
            continue;
        json_t *o = json_object();
        pp_json_put_text(o, "name", p->name);
        pp_json_put_text(o, "summary", p->summary);
        pp_json_put_text(o, "source", p->source);
        pp_json_put_text(o, "published", p->published);
        json_object_set_new(o, "arguments", texts(p->arguments));
        json_array_append_new(list, o);
    }
    print_list("presets", list, out);
}
