/* Writes a layout search as JSON and CSV, and a point as a command. */
#include "core/cost/fitted.h"
#include "core/text/csv.h"
#include "core/text/json_write.h"
#include "sim/cli/cli.h"
#include "sim/config/inputs.h"
#include "sim/config/price.h"
#include "sim/plan/search.h"
#include "sim/report/text.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* Sets an option of a command. It is of a layout that was resolved, so it is legal. */
static void put(struct pp_arena *arena, struct pp_parsed *command, const char *name,
                const char *value)
{
    struct pp_error ignored;

    pp_command_set(arena, command, name, value, &ignored);
}

static void put_int(struct pp_arena *arena, struct pp_parsed *command, const char *name,
                    int64_t value)
{
    put(arena, command, name, pp_arena_printf(arena, "%lld", (long long)value));
}

const struct pp_parsed *pp_search_command(struct pp_arena *arena, const struct pp_search_space *s,
                                          int64_t k)
{
    const struct pp_search_point p = pp_search_point(s, k);
    const struct pp_search_frame *f = p.frame;
    struct pp_parsed *command =
        pp_inputs_command(arena, &s->fixed, PP_SIM_OF_PLANNER | PP_SIM_BY_SEARCH);
    char again[PP_RECOMPUTE_TEXT_BYTES];
    struct pp_config config;
    struct pp_error ignored;

    put(arena, command, "schedule", p.order->base.schedule_name);
    put_int(arena, command, "gpus", s->gpus);
    put_int(arena, command, "tp", f->tp);
    put_int(arena, command, "pp", f->pp);
    if (f->cp > 1)
        put_int(arena, command, "cp", f->cp);
    if (s->fixed.model.experts.count)
        put_int(arena, command, "ep", f->ep);
    if (f->tp > 1) /* pipeexec has it off by default */
        put(arena, command, "sequence-parallel", s->fixed.costs.is_tp_only ? "off" : "on");
    if (p.order->vp)
        put_int(arena, command, "vp", p.order->vp);
    put_int(arena, command, "mbs", f->mbs);
    put_int(arena, command, "gbs", f->gbs);
    if (p.zero != PP_SEARCH_AS_GIVEN && (f->dp * f->cp > 1 || p.rule->bound.shape.pipelines > 1))
        put_int(arena, command, "zero", p.zero);
    put(arena, command, "recompute",
        p.again.recompute == PP_RECOMPUTE_STAGE ? (s->wish->recompute ? s->wish->recompute : "none")
                                                : pp_search_again_text(s, p.again, again));
    if (pp_search_has_tiers(s) && pp_search_config(arena, s, k, &config, &ignored) == PP_OK)
        pp_tier_command(arena, &config.state, s->is_tier_free, command);
    return command;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *layout_json(const struct pp_search_space *s, const struct pp_search_point *p)
{
    const struct pp_search_frame *f = p->frame;
    json_t *o = pp_report_layout_json(&(struct pp_layout){.gpus = s->gpus,
                                                          .tp = f->tp,
                                                          .pp = f->pp,
                                                          .dp = f->dp,
                                                          .cp = f->cp,
                                                          .ep = f->ep,
                                                          .vp = p->order->base.shape.chunks,
                                                          .micro_batches = f->micro_batches,
                                                          .mbs = f->mbs,
                                                          .gbs = f->gbs});

    pp_json_put_int(o, "seq", s->fixed.layout.seq);
    return o;
}

static void put_price(json_t *o, const struct pp_search_space *s, const struct pp_outcome *outcome)
{
    if (s->fixed.origin.price.per_gpu_hour <= 0)
        return;
    pp_json_put(o, "cost_per_step", pp_price_step(&s->fixed, s->gpus, outcome->step_s));
    pp_json_put(o, "cost_per_trillion_tokens",
                pp_price_tokens(&s->fixed, outcome->tokens_per_s_per_gpu));
}

/* Puts the values of the free knobs of tiers, null for their defaults. */
static void put_tiers(const struct pp_search_space *s, int64_t point, json_t *o)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_config config;
    struct pp_error ignored;

    if (!pp_search_has_tiers(s) || pp_search_config(arena, s, point, &config, &ignored) != PP_OK)
        return;
    for (int k = 0; k < PP_TIER_KNOBS; k++) {
        const char *text = pp_tier_text(arena, (enum pp_tier_knob)k, &config.state);
        if (s->is_tier_free[k])
            pp_json_put_text(o, pp_tier_keys[k], strcmp(text, "none") != 0 ? text : NULL);
    }
}

/* Choices of a point; `zero` is null if --shard gives the state. */
static json_t *point_json(const struct pp_search *search, int64_t point)
{
    const struct pp_search_point p = pp_search_point(&search->space, point);
    char again[PP_RECOMPUTE_TEXT_BYTES];
    json_t *o = json_pack("{so ss ss}", "layout", layout_json(&search->space, &p), "schedule",
                          p.order->base.schedule_name, "recompute",
                          pp_search_again_text(&search->space, p.again, again));

    json_object_set_new(o, "zero",
                        p.zero == PP_SEARCH_AS_GIVEN ? json_null() : json_integer(p.zero));
    put_tiers(&search->space, point, o);
    return o;
}

/* Returns the error of published runs like a point. */
static json_t *error_json(const struct pp_search_space *s, int64_t point)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_config config;
    struct pp_error ignored;

    return pp_search_config(arena, s, point, &config, &ignored) == PP_OK ? pp_error_json(&config)
                                                                         : json_null();
}

static json_t *row_json(const struct pp_search *search, const struct pp_search_row *row)
{
    const struct pp_search_point p = pp_search_point(&search->space, row->point);
    json_t *o = point_json(search, row->point), *twins = json_array();

    json_object_set_new(o, "fits", json_true());
    pp_json_put_bool(o, "tight", row->outcome.is_tight);
    pp_json_put_bool(o, "strained", row->outcome.is_strained);
    pp_json_put_bool(o, "tie", row->is_tie);
    pp_json_put_text(o, "engine", row->is_simulated ? search->space.fixed.engine->name : "dag");
    pp_json_put(o, "iteration_s", row->outcome.step_s);
    pp_json_put(o, "bound_s", row->bound_s * (double)p.frame->gbs);
    pp_json_put(o, "mfu", row->outcome.mfu);
    pp_json_put(o, "tokens_per_s_per_gpu", row->outcome.tokens_per_s_per_gpu);
    put_price(o, &search->space, &row->outcome);
    pp_json_put(o, "exposed_comm_frac",
                row->is_simulated ? row->outcome.exposed_frac : (double)NAN);
    pp_json_put_bytes(o, "state_bytes", row->outcome.state_bytes);
    pp_json_put_bytes(o, "peak_mem_bytes", row->outcome.peak_bytes);
    for (int i = 0; i < row->twin_count; i++)
        json_array_append_new(twins, point_json(search, row->twins[i].point));
    json_object_set_new(o, "twins", twins);
    if (row == search->rows)
        json_object_set_new(o, "error", error_json(&search->space, row->point));
    return o;
}

static void put_command(struct pp_arena *arena, json_t *o, const char *key,
                        const struct pp_parsed *command)
{
    pp_json_put_text(o, key, pp_command_text(arena, command));
}

static json_t *counts_json(const struct pp_search *search)
{
    const int64_t *n = search->counts;
    const int64_t illegal = n[PP_SEARCH_BATCH] + n[PP_SEARCH_SHAPE] + n[PP_SEARCH_REFUSED];

    return json_pack(
        "{sI sI sI sI sI sI}", "all", (json_int_t)(search->space.points - n[PP_SEARCH_ABSENT]),
        "fit", (json_int_t)n[PP_SEARCH_FITS], "too_large",
        (json_int_t)(n[PP_SEARCH_NO_ROOM] + n[PP_SEARCH_TOO_LARGE]), "refused", (json_int_t)illegal,
        "slower", (json_int_t)(n[PP_SEARCH_OPEN] + n[PP_SEARCH_MILDER]), "lost",
        (json_int_t)search->loss_count);
}

static json_t *flips_json(const struct pp_search *search)
{
    json_t *list = json_array();

    for (int i = 0; search->flips && i < PP_SEARCH_WHAT_IFS; i++) {
        const struct pp_search_flip *flip = &search->flips[i];
        json_t *o =
            json_pack("{ss sb}", "what_if", pp_search_what_ifs[i].name, "best_fits", flip->fits);
        json_object_set_new(o, "winner", flip->is_known ? json_integer(flip->winner) : json_null());
        pp_json_put(o, "best_behind_frac", flip->fits ? flip->slower_frac : (double)NAN);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *published_json(const struct pp_search *search)
{
    json_t *list = json_array();

    for (int i = 0; i < search->published_count; i++) {
        const struct pp_search_published *p = &search->published[i];
        const struct pp_search_recipe *r = p->recipe;
        json_t *o = json_pack("{ss ss si si si si si si si ss sb}", "source", r->source, "device",
                              r->device, "gpus", r->gpus, "tp", r->tp, "pp", r->pp, "cp", r->cp,
                              "ep", r->ep, "vp", r->vp, "mbs", r->mbs, "schedule", r->schedule,
                              "fits", p->outcome.fits);
        const bool is_found = p->point >= 0 || p->preset_gbs;
        pp_json_put_text(o, "id", r->id);
        pp_json_put_text(o, "preset", p->preset_gbs ? r->preset : NULL);
        pp_json_put_text(o, "published_precision", pp_precision_names[r->precision]);
        pp_json_put(o, "published_gbs", r->gbs > 0 ? r->gbs : (double)NAN);
        pp_json_put(o, "published_iteration_s", r->step_s > 0 ? r->step_s : (double)NAN);
        pp_json_put(o, "published_tokens_per_s_per_gpu",
                    r->tokens_per_s_per_gpu > 0 ? r->tokens_per_s_per_gpu : (double)NAN);
        pp_json_put(o, "tokens_per_s_per_gpu",
                    is_found ? p->outcome.tokens_per_s_per_gpu : (double)NAN);
        pp_json_put(o, "iteration_s", is_found ? p->outcome.step_s : (double)NAN);
        pp_json_put(o, "peak_mem_bytes", is_found ? p->outcome.peak_bytes : (double)NAN);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *nearest_json(struct pp_arena *arena, const struct pp_search *search)
{
    const struct pp_search_nearest *nearest = &search->nearest;
    json_t *o, *list = json_array();

    if (search->count || nearest->point < 0) {
        json_decref(list);
        return json_null();
    }
    o = point_json(search, nearest->point);
    pp_json_put_bytes(o, "peak_mem_bytes", nearest->outcome.peak_bytes);
    put_command(arena, o, "command", nearest->command);
    for (int i = 0; i < nearest->count; i++) {
        const struct pp_relief *relief = &nearest->reliefs[i];
        json_t *one = json_pack("{ss si}", "flags", relief->flags, "gpus", relief->gpus);
        pp_json_put_bytes(one, "peak_mem_bytes", relief->peak_bytes);
        pp_json_put(one, "iteration_s", relief->iteration_s);
        json_array_append_new(list, one);
    }
    json_object_set_new(o, "fits_with", list);
    return o;
}

void pp_search_json(struct pp_arena *arena, const struct pp_search *search, FILE *out)
{
    const struct pp_search_space *s = &search->space;
    json_t *free_knobs = json_array(), *points = json_array();

    for (int i = 0; i < PP_SEARCH_AXES; i++)
        if (s->is_free[i])
            json_array_append_new(free_knobs, json_string(pp_search_knobs[i].name));
    for (int k = 0; k < PP_TIER_KNOBS; k++)
        if (s->is_tier_free[k])
            json_array_append_new(free_knobs, json_string(pp_tier_knob_names[k]));
    for (int i = 0; i < search->count; i++)
        json_array_append_new(points, row_json(search, &search->rows[i]));
    json_t *o =
        json_pack("{ss ss ss so ss}", "schema", "pipesim.plan/1", "model", s->fixed.model.name,
                  "cluster", s->fixed.cluster.name, "free", free_knobs, "objective", "step");
    pp_json_put_text(o, "constants",
                     s->fixed.fitted ? pp_fitted_text(arena, s->fixed.fitted, &s->fixed.model)
                                     : NULL);
    json_object_set_new(o, "count", counts_json(search));
    if (search->count) {
        const struct pp_search_point p = pp_search_point(s, search->rows[0].point);
        pp_json_put_text(o, "schedule", p.order->base.schedule_name);
        json_object_set_new(o, "layout", layout_json(s, &p));
        put_command(arena, o, "choose", pp_search_command(arena, s, search->rows[0].point));
        json_object_set_new(o, "safest", row_json(search, &search->rows[search->safest]));
    }
    json_object_set_new(o, "best",
                        search->count ? row_json(search, &search->rows[0]) : json_null());
    json_object_set_new(o, "published_mfu",
                        search->count
                            ? pp_published_mfu_json(&s->fixed, search->rows[0].outcome.mfu)
                            : json_null());
    json_object_set_new(o, "nearest", nearest_json(arena, search));
    json_object_set_new(o, "sensitivity", flips_json(search));
    json_object_set_new(o, "published", published_json(search));
    json_object_set_new(o, "points", points);
    pp_json_print(o, out);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void print_row(const struct pp_search_row *row, FILE *out)
{
    if (row && row->status == PP_SEARCH_FITS)
        fprintf(out, "%.17g,%.17g,%.17g,%d,%d,", row->outcome.step_s, row->outcome.mfu,
                row->outcome.peak_bytes, row->is_tie, row->outcome.is_tight);
    else
        fputs(",,,,,", out);
}

/* Returns the reason against a point that was not ranked. */
static const char *reason_of(struct pp_arena *arena, const struct pp_search *search, int64_t k)
{
    static const char *const REASONS[PP_SEARCH_STATUSES] = {
        [PP_SEARCH_NO_ROOM] = "its least memory is more than a device has",
        [PP_SEARCH_MILDER] = "has room with less recomputation, too",
        [PP_SEARCH_OPEN] = "cannot be among the best: see bound_s",
        [PP_SEARCH_TOO_LARGE] = "does not fit",
        [PP_SEARCH_FITS] = ""};
    const char *reason = REASONS[search->board.status[k]];
    struct pp_config config;
    struct pp_error err = {0};

    if (reason)
        return reason;
    for (int i = 0; i < search->loss_count; i++)
        if (search->losses[i].point == k)
            return pp_arena_printf(arena, "not known: %s", search->losses[i].why);
    return pp_search_config(arena, &search->space, k, &config, &err) == PP_OK
               ? "cannot be simulated"
               : pp_arena_strdup(arena, err.message);
}

void pp_search_csv(struct pp_arena *arena, const struct pp_search *search, FILE *out)
{
    const struct pp_search_space *s = &search->space;
    const struct pp_search_row **row_of = PP_ARRAY(arena, const struct pp_search_row *, s->points);

    for (int i = 0; i < search->count; i++) {
        row_of[search->rows[i].point] = &search->rows[i];
        for (int k = 0; k < search->rows[i].twin_count; k++)
            row_of[search->rows[i].twins[k].point] = &search->rows[i].twins[k];
    }
    fprintf(out,
            "tp,pp,cp,dp,ep,vp,mbs,micro_batches,gbs,schedule,recompute,zero,%sstatus,bound_s,"
            "bound_mem_bytes,iteration_s,mfu,peak_mem_bytes,tie,tight,reason\n",
            pp_search_has_tiers(s) ? "tiers," : "");
    for (int64_t k = 0; k < s->points; k++) {
        const struct pp_search_point p = pp_search_point(s, k);
        const struct pp_search_frame *f = p.frame;
        const struct pp_arena_mark mark = pp_arena_mark(arena);
        const enum pp_search_status status = (enum pp_search_status)search->board.status[k];
        char again[PP_RECOMPUTE_TEXT_BYTES];
        if (status == PP_SEARCH_ABSENT)
            continue;
        fprintf(out, "%d,%d,%d,%d,%d,%d,%d,%d,%lld,%s,", f->tp, f->pp, f->cp, f->dp, f->ep,
                p.order->base.shape.chunks, f->mbs, f->micro_batches, (long long)f->gbs,
                p.order->base.schedule_name);
        pp_csv_write_field(out, pp_search_again_text(s, p.again, again));
        fputc(',', out);
        if (p.zero != PP_SEARCH_AS_GIVEN)
            fprintf(out, "%d", p.zero);
        if (pp_search_has_tiers(s)) {
            fputc(',', out);
            pp_csv_write_field(
                out, pp_tier_choice_text(arena, &s->tiers.list[f->tiers], s->is_tier_free));
        }
        fprintf(out, ",%s,%.9g,%.9g,", pp_search_status_names[status],
                (double)search->board.bound_s[k] * (double)f->gbs,
                (double)search->board.bound_bytes[k]);
        print_row(row_of[k], out);
        pp_csv_write_field(out, reason_of(arena, search, k));
        fputc('\n', out);
        pp_arena_release(arena, mark);
    }
}
