/* The comparison as JSON, "pipesim.compare/1". Missing values are null. */
#include "core/text/json_write.h"
#include "sim/compare/compare.h"
#include "sim/report/text.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>

static json_t *side_json(const struct pp_compare_side *side)
{
    const struct pp_trace *trace = side->trace;
    char hash[17];

    snprintf(hash, sizeof(hash), "%016" PRIx64, trace->program_hash);
    json_t *o = json_pack("{so ss? si si si si sb}", "file", pp_json_text(trace->program),
                          "program_hash", trace->is_partial ? NULL : hash, "ranks", trace->ranks,
                          "replicas", trace->replicas, "events", trace->count, "steps", side->steps,
                          "steps_overlap", (int)side->is_overlapping);
    pp_json_put(o, "step_s", side->step_s);
    pp_json_put(o, "bubble_frac", side->bubble_frac);
    pp_json_put(o, "span_bubble_frac", side->span_bubble_frac);
    pp_json_put(o, "before_any_rank_s", side->before_s);
    json_object_set_new(o, "time_s", pp_report_parts_json(side->part_s));
    return o;
}

static json_t *steps_json(const struct pp_comparison *c)
{
    json_t *list = json_array();

    for (int i = 0; i < c->step_count; i++) {
        const struct pp_compare_step *step = &c->steps[i];
        json_t *o = json_pack("{si si}", "predicted_step", step->predicted, "measured_step",
                              step->measured);
        pp_json_put(o, "predicted_s", step->predicted_s);
        pp_json_put(o, "measured_s", step->measured_s);
        pp_json_put(o, "error_frac", step->error_frac);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *rank_json(const struct pp_compare_side *side, int rank)
{
    json_t *o = json_object();

    if (rank >= side->trace->ranks)
        return json_null();
    pp_json_put(o, "busy_s", side->ranks[rank].busy_s);
    pp_json_put(o, "idle_s", side->ranks[rank].idle_s);
    pp_json_put(o, "span_s", side->ranks[rank].span_s);
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
        pp_json_put(o, "predicted_mean_s", row->predicted_mean_s);
        pp_json_put(o, "measured_mean_s", row->measured_mean_s);
        pp_json_put(o, "measured_p50_s", row->measured_p50_s);
        pp_json_put(o, "measured_p95_s", row->measured_p95_s);
        pp_json_put(o, "error_frac", row->error_frac);
        if (has_share)
            pp_json_put(o, "share_frac", row->share_frac);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *event_json(const struct pp_compare_event *event)
{
    json_t *o = json_pack("{so si si si}", "cell", pp_json_text(event->cell), "rank", event->rank,
                          "replica", event->replica, "step", event->step);

    pp_json_put(o, "predicted_start_s", event->predicted_start_s);
    pp_json_put(o, "measured_start_s", event->measured_start_s);
    pp_json_put(o, "predicted_s", event->predicted_s);
    pp_json_put(o, "measured_s", event->measured_s);
    pp_json_put(o, "error_s", event->error_s);
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
        json_array_append_new(list, pp_json_text(text));
    }
    return list;
}

void pp_report_compare_json(const struct pp_compare_report *report, FILE *out)
{
    const struct pp_comparison *c = report->comparison;
    json_t *o = json_pack("{ss}", "schema", "pipesim.compare/1");

    pp_json_put(o, "predicted_step_s", c->predicted.step_s);
    pp_json_put(o, "measured_step_s", c->measured.step_s);
    pp_json_put(o, "step_error_s", c->step_error_s);
    pp_json_put(o, "step_error_frac", c->step_error_frac);
    pp_json_put(o, "tolerance_frac", report->tolerance_frac);
    json_object_set_new(o, "within_tolerance",
                        isnan(report->tolerance_frac) ? json_null()
                                                      : json_boolean(pp_compare_is_within(report)));
    pp_json_put_bool(o, "same_program", c->is_same_program);
    pp_json_put_bool(o, "pairwise_steps", c->is_pairwise);
    pp_json_put_bool(o, "folded_prediction", c->is_folded);
    json_object_set_new(o, "notes", notes_json(c));
    json_object_set_new(o, "predicted", side_json(&c->predicted));
    json_object_set_new(o, "measured", side_json(&c->measured));
    json_object_set_new(o, "steps", steps_json(c));
    json_object_set_new(o, "ranks", ranks_json(c));
    json_object_set_new(o, "durations", rows_json(c->kinds, c->kind_count, true));
    json_object_set_new(o, "waits", rows_json(c->waits, c->wait_count, false));
    json_object_set_new(o, "worst", events_json(c->worst, c->worst_count));
    pp_json_put_int(o, "matched_events", c->matched);
    json_object_set_new(o, "only_predicted", odd_json(&c->missing));
    json_object_set_new(o, "only_measured", odd_json(&c->extra));
    pp_json_print(o, out);
}
