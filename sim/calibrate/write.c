/* Writes cost.json: the costs and their sources. */
#include "sim/calibrate/calibrate.h"

#include "core/text/json_write.h"
#include "core/text/output.h"

#include <inttypes.h>

/* Returns `value`, or frees it and returns NULL if a part of it failed. */
static json_t *whole(json_t *value, int failed)
{
    if (!failed)
        return value;
    json_decref(value);
    return NULL;
}

static json_t *shape_of(const struct pp_measured_shape *s)
{
    char again[PP_RECOMPUTE_TEXT_BYTES];

    pp_again_print((unsigned)s->again, again, sizeof(again));
    return json_pack("{si si si si si si si si si si ss si si si si si si si}", "hidden", s->hidden,
                     "heads", s->heads, "kv_heads", s->kv_heads, "ffn", s->ffn, "vocab", s->vocab,
                     "is_gated", s->is_gated, "rows", s->rows, "seq", s->seq, "splits", s->splits,
                     "split", s->split, "recomputed", again, "experts", s->experts, "top_k",
                     s->top_k, "expert_ffn", s->expert_ffn, "shared_ffn", s->shared_ffn, "tp",
                     s->tp, "is_sequence", s->is_sequence, "ep", s->ep);
}

static json_t *op_of(const struct pp_measured_op *op)
{
    json_t *o = json_object();
    int failed = 0;

    for (int k = 0; k < PP_MEASURED_PARTS; k++)
        failed |= json_object_set_new(o, pp_measured_keys[k], json_real(op->part_s[k]));
    failed |= json_object_set_new(o, "samples", json_integer(op->samples));
    failed |= json_object_set_new(o, "residual_frac", json_real(op->residual_frac));
    return whole(o, failed);
}

static json_t *layers_of(const struct pp_cost_file *f)
{
    json_t *list = json_array();
    int failed = 0;

    for (int k = 0; k < f->set_count; k++) {
        json_t *set = json_pack("{so}", "shape", shape_of(&f->sets[k].shape));
        for (int i = 0; i < PP_MEASURED_KINDS; i++) {
            const int kind = pp_measured_kinds[i];
            if (f->sets[k].op[kind].samples > 0)
                failed |=
                    json_object_set_new(set, pp_op_kinds[kind].text, op_of(&f->sets[k].op[kind]));
        }
        failed |= json_array_append_new(list, set);
    }
    return whole(list, failed);
}

static json_t *channels_of(const struct pp_cost_file *f)
{
    json_t *list = json_array();
    int failed = 0;

    for (int k = 0; k < f->line_count; k++) {
        const struct pp_measured_line *l = &f->lines[k];
        failed |= json_array_append_new(
            list, json_pack("{so sf sf si si sf}", "name", pp_json_text(l->name), "alpha_s",
                            l->alpha_s, "s_per_byte", l->s_per_byte, "ranks", l->ranks, "samples",
                            l->samples, "residual_frac", l->residual_frac));
    }
    return whole(list, failed);
}

static json_t *trace_of(struct pp_arena *arena, const struct pp_calibrate_run *run)
{
    json_t *o = json_pack("{so ss}", "file", pp_json_text(run->path), "program_hash",
                          pp_arena_printf(arena, "%016" PRIx64, run->trace->program_hash));
    json_t *options = run->about ? json_array() : json_null();

    for (int k = 0; run->about && k < run->about->option_count; k++)
        json_array_append_new(options, pp_json_text(run->about->options[k]));
    json_object_set_new(o, "options", options);
    pp_json_put_text(o, "machine", run->about ? pp_trace_about_machine(arena, run->about) : NULL);
    pp_json_put_text(o, "version", run->about ? run->about->version : NULL);
    json_object_set_new(o, "steps", json_integer(run->trace->steps));
    return o;
}

static json_t *traces_of(const struct pp_calibrate *c)
{
    json_t *list = json_array();

    for (int k = 0; k < c->run_count; k++)
        if (!c->runs[k].is_left_out)
            json_array_append_new(list, trace_of(c->arena, &c->runs[k]));
    return list;
}

static json_t *trials_of(const struct pp_calibrate *c, const struct pp_calibrate_trial *trials,
                         int count)
{
    json_t *list = json_array();
    int failed = 0;

    for (int k = 0; k < count; k++) {
        const struct pp_calibrate_trial *t = &trials[k];
        json_t *o = trace_of(c->arena, t->run);
        failed |= json_object_update_new(
            o, json_pack("{ss sf sf sf sf sf sf}", "schedule", t->run->schedule, "measured_step_s",
                         t->measured_s, "predicted_step_s", t->predicted_s, "error_frac",
                         t->predicted_s / t->measured_s - 1, "formula_step_s", t->null_s,
                         "band_low_s", t->band.low_s, "band_high_s", t->band.high_s));
        failed |= json_array_append_new(list, o);
    }
    return whole(list, failed);
}

static json_t *file_of(const struct pp_calibrate *c, const struct pp_calibrate_trial *trials,
                       int count)
{
    const struct pp_cost_file *f = c->file;
    json_t *model = json_array(), *logs = json_array();

    for (int k = 0; k < f->model_count; k++)
        json_array_append_new(model, pp_json_text(f->model[k]));
    for (int k = 0; k < c->log_count; k++)
        json_array_append_new(logs, pp_json_text(c->logs[k]));
    return json_pack("{ss ss so so si si sb so s{sf sf si} so so so so}", "schema",
                     "pipesim.cost/1", "version", PP_VERSION, "machine", pp_json_text(f->machine),
                     "model", model, "value_bytes", f->value_bytes, "gradient_bytes",
                     f->gradient_bytes, "is_clipped", f->is_clipped, "layers", layers_of(f),
                     "update", "param_s", f->update_param_s, "op_s", f->update_op_s, "samples",
                     f->update_samples, "channels", channels_of(f), "traces", traces_of(c),
                     "left_out", trials_of(c, trials, count), "logs", logs);
}

enum pp_status pp_calibrate_write(const struct pp_calibrate *c,
                                  const struct pp_calibrate_trial *trials, int count,
                                  const char *path, struct pp_error *err)
{
    struct pp_output output;
    json_t *file = file_of(c, trials, count);

    if (!file)
        return pp_error_set(err, PP_EFAIL, "%s: a number that JSON cannot hold", path);
    if (pp_output_open(c->arena, path, &output, err) != PP_OK) {
        json_decref(file);
        return err->status;
    }
    pp_json_print(file, output.file); /* pp_output_commit reports failed writes */
    return pp_output_commit(&output, err);
}
