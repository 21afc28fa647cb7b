/* The comparison for programs: "pipesim.compare/1". What has no value is null. */
#include "sim/report/compare.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>

static void put(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key, isfinite(value) ? json_real(value) : json_null());
}

/* File names need not be UTF-8. */
static json_t *text_json(const char *text)
{
    json_t *string = json_string(text);

    return string != NULL ? string : json_string("?");
}

static json_t *parts_json(const struct pp_compare_side *side)
{
    json_t *o = json_object();

    for (int part = 0; part < PP_TIME_PARTS; part++)
        put(o, pp_time_part_names[part], side->part_s[part]);
    return o;
}

static json_t *side_json(const struct pp_compare_side *side)
{
    const struct pp_trace *trace = side->trace;
    char hash[17];

    snprintf(hash, sizeof(hash), "%016" PRIx64, trace->program_hash);
    json_t *o = json_pack("{so ss? si si si si sb}", "file", text_json(trace->program),
                          "program_hash", trace->is_partial ? NULL : hash, "ranks", trace->ranks,
                          "replicas", trace->replicas, "events", trace->count, "steps", side->steps,
                          "steps_overlap", (int)side->is_overlapping);
    put(o, "step_s", side->step_s);
    put(o, "bubble_frac", side->bubble_frac);
    put(o, "span_bubble_frac", side->span_bubble_frac);
    put(o, "before_any_rank_s", side->before_s);
    json_object_set_new(o, "time_s", parts_json(side));
    return o;
}

static json_t *steps_json(const struct pp_comparison *c)
{
    json_t *list = json_array();

    for (int i = 0; i < c->step_count; i++) {
        const struct pp_compare_step *step = &c->steps[i];
        json_t *o = json_pack("{si si}", "predicted_step", step->predicted, "measured_step",
                              step->measured);
        put(o, "predicted_s", step->predicted_s);
        put(o, "measured_s", step->measured_s);
        put(o, "error_frac", step->error_frac);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *rank_json(const struct pp_compare_side *side, int rank)
{
    json_t *o = json_object();

    if (rank >= side->trace->ranks)
        return json_null();
    put(o, "busy_s", side->ranks[rank].busy_s);
    put(o, "idle_s", side->ranks[rank].idle_s);
    put(o, "span_s", side->ranks[rank].span_s);
    return o;
}

static json_t *ranks_json(const struct pp_comparison *c)
{
    json_t *list = json_array();

    for (int r = 0; r < c->predicted.trace->ranks || r < c->measured.trace->ranks; r++)
        json_array_append_new(list, json_pack("{si so so}", "rank", r, "predicted",
                                              rank_json(&c->predicted, r), "measured",
                                              rank_json(&c->measured, r)));
    return list;
}

static json_t *rows_json(const struct pp_compare_row *rows, int count, bool has_share)
{
    json_t *list = json_array();

    for (int i = 0; i < count; i++) {
        const struct pp_compare_row *row = &rows[i];
        json_t *o = json_pack("{ss sI}", "kind", pp_compare_kind_name(row), "count",
                              (json_int_t)row->count);
        put(o, "predicted_mean_s", row->predicted_mean_s);
        put(o, "measured_mean_s", row->measured_mean_s);
        put(o, "measured_p50_s", row->measured_p50_s);
        put(o, "measured_p95_s", row->measured_p95_s);
        put(o, "error_frac", row->error_frac);
        if (has_share)
            put(o, "share_frac", row->share_frac);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *event_json(const struct pp_compare_event *event)
{
    json_t *o = json_pack("{so si si si}", "cell", text_json(event->cell), "rank", event->rank,
                          "replica", event->replica, "step", event->step);

    put(o, "predicted_start_s", event->predicted_start_s);
    put(o, "measured_start_s", event->measured_start_s);
    put(o, "predicted_s", event->predicted_s);
    put(o, "measured_s", event->measured_s);
    put(o, "error_s", event->error_s);
    return o;
}

static json_t *events_json(const struct pp_compare_event *events, int count)
{
    json_t *list = json_array();

    for (int i = 0; i < count; i++)
        json_array_append_new(list, event_json(&events[i]));
    return list;
}

static json_t *odd_json(const struct pp_compare_list *list)
{
    const int shown = list->count < PP_COMPARE_FEW ? (int)list->count : PP_COMPARE_FEW;

    return json_pack("{sI so}", "count", (json_int_t)list->count, "first",
                     events_json(list->first, shown));
}

static json_t *notes_json(const struct pp_comparison *c)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    json_t *list = json_array();

    for (const char *const *note = pp_compare_notes(arena, c); *note; note++) {
        char *text = pp_arena_strdup(arena, *note);
        for (char *p = text; *p; p++)
            *p = *p == '~' ? ' ' : *p;
        json_array_append_new(list, text_json(text));
    }
    return list;
}

void pp_report_compare_json(const struct pp_compare_report *report, FILE *out)
{
    const struct pp_comparison *c = report->comparison;
    json_t *o = json_pack("{ss}", "schema", "pipesim.compare/1");

    put(o, "predicted_step_s", c->predicted.step_s);
    put(o, "measured_step_s", c->measured.step_s);
    put(o, "step_error_s", c->step_error_s);
    put(o, "step_error_frac", c->step_error_frac);
    put(o, "tolerance_frac", report->tolerance_frac);
    json_object_set_new(o, "within_tolerance",
                        isnan(report->tolerance_frac) ? json_null()
                                                      : json_boolean(pp_compare_is_within(report)));
    json_object_set_new(o, "same_program", json_boolean(c->is_same_program));
    json_object_set_new(o, "pairwise_steps", json_boolean(c->is_pairwise));
    json_object_set_new(o, "folded_prediction", json_boolean(c->is_folded));
    json_object_set_new(o, "notes", notes_json(c));
    json_object_set_new(o, "predicted", side_json(&c->predicted));
    json_object_set_new(o, "measured", side_json(&c->measured));
    json_object_set_new(o, "steps", steps_json(c));
    json_object_set_new(o, "ranks", ranks_json(c));
    json_object_set_new(o, "durations", rows_json(c->kinds, c->kind_count, true));
    json_object_set_new(o, "waits", rows_json(c->waits, c->wait_count, false));
    json_object_set_new(o, "worst", events_json(c->worst, c->worst_count));
    json_object_set_new(o, "matched_events", json_integer((json_int_t)c->matched));
    json_object_set_new(o, "only_predicted", odd_json(&c->missing));
    json_object_set_new(o, "only_measured", odd_json(&c->extra));
    json_dumpf(o, out, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    fputc('\n', out);
    json_decref(o);
}
