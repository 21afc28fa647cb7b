/* Data on other memory tiers: lines of the report, and the member `tiers` of the JSON. */
#include "exec/report/report.h"

#include "core/text/json_write.h"
#include "schedules/program/uses.h"
#include "schedules/select/offload.h"

#include <math.h>

#define MIB (1024.0 * 1024.0)

/* Is true if something lives on a tier other than the device's. */
static bool is_used(const struct pp_exec_run *run)
{
    return run->result.tiers != NULL;
}

static const struct pp_state_spec *spec_of(const struct pp_exec_run *run)
{
    return &run->plan.program->state.spec;
}

/* ---- figures --------------------------------------------------------------------------------- */

static double all_bytes(const struct pp_copied copied[PP_STATE_CLASSES])
{
    double bytes = 0;

    for (int c = 0; c < PP_STATE_CLASSES; c++)
        bytes += copied[c].down_bytes + copied[c].up_bytes;
    return bytes;
}

/* Returns the rank that copies most. */
static int most_copied(const struct pp_exec_run *run)
{
    const struct pp_tier_figures *tiers = run->result.tiers;
    int most = 0;

    for (int rank = 1; rank < run->plan.program->ranks; rank++)
        if (all_bytes(tiers[rank].copied) > all_bytes(tiers[most].copied))
            most = rank;
    return most;
}

/* Returns the most bytes of a rank's block, or file. */
static double block_bytes(const struct pp_exec_run *run, enum pp_tier tier)
{
    double most_bytes = 0;

    for (int rank = 0; rank < run->plan.program->ranks; rank++)
        most_bytes = fmax(most_bytes, (double)run->result.layout[rank].tier_bytes[tier]);
    return most_bytes;
}

/* Seconds of a step, of the rank for which the host updates longest. */
struct updates {
    double s, exposed_s;
};

/* Is true for an event that is an update by the host. */
static bool is_host_update(const struct pp_exec_run *run, const struct pp_trace_event *event)
{
    return pp_state_has_host_stream(spec_of(run))
               ? event->kind == PP_MOVE && event->cause == PP_MOVES_HOST
               : event->kind == PP_U;
}

static struct updates updates_of(const struct pp_exec_run *run)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_trace *trace = run->result.trace;
    double *s = PP_ARRAY(arena, double, trace->ranks);
    struct updates most = {0};

    for (int i = 0; i < trace->count; i++)
        if (trace->events[i].replica == 0 && is_host_update(run, &trace->events[i]))
            s[trace->events[i].rank] +=
                (trace->events[i].end_s - trace->events[i].start_s) / trace->steps;
    for (int rank = 0; rank < trace->ranks; rank++)
        if (s[rank] > most.s)
            most = (struct updates){
                s[rank], pp_state_has_host_stream(spec_of(run))
                             ? fmin(s[rank], run->result.metrics.ranks[rank].moves_s[PP_MOVES_HOST])
                             : s[rank]};
    return most;
}

/* ---- text ------------------------------------------------------------------------------------ */

void pp_exec_report_state(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_offload_found none = {0};
    const char *words = pp_offload_words(arena, spec_of(run), &none);

    if (*words)
        pp_exec_paragraph(page, "state", "%s", words + 2); /* without the separator */
}

/* Appends "137 of 200~MiB". */
static size_t append_room(char text[PP_EXEC_TEXT_BYTES], size_t used, double bytes,
                          size_t most_bytes)
{
    return most_bytes > 0 ? pp_exec_append(text, used, "%.1f of %.1f~MiB", bytes / MIB,
                                           (double)most_bytes / MIB)
                          : pp_exec_append(text, used, "%.1f~MiB", bytes / MIB);
}

static void print_rooms(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    const size_t *most_bytes = run->config.tiers.most_bytes;
    char text[PP_EXEC_TEXT_BYTES];
    size_t used = 0;

    for (int tier = PP_TIER_HOST; tier < PP_TIERS; tier++) {
        const double bytes = block_bytes(run, (enum pp_tier)tier);
        if (bytes == 0)
            continue;
        used = pp_exec_append(text, used, "%s%s ", used ? ", " : "", pp_tier_rows[tier].name);
        used = append_room(text, used, bytes, most_bytes[tier]);
    }
    pp_exec_append(text, used, " a rank");
    pp_exec_paragraph(page, "tiers", "%s", text);
}

static void print_copies(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    const struct pp_training_result *r = &run->result;
    const struct pp_copied *copied = r->tiers[most_copied(run)].copied;
    const double exposed_frac = r->metrics.time_frac[PP_TIME_MOVES];
    char text[PP_EXEC_TEXT_BYTES], exposed[PP_UNITS_TEXT_BYTES];
    size_t used = pp_exec_append(text, 0, "copied a step, down | up, MiB: ");
    const char *separator = "";

    if (all_bytes(copied) == 0)
        return;
    for (int c = 0; c < PP_STATE_CLASSES; c++)
        if (copied[c].down_bytes + copied[c].up_bytes > 0) {
            used =
                pp_exec_append(text, used, "%s%s~%.4g~|~%.4g", separator, pp_state_class_names[c],
                               copied[c].down_bytes / MIB, copied[c].up_bytes / MIB);
            separator = ", ";
        }
    pp_exec_append(text, used, "; exposed~%s (%.1f~%%)",
                   pp_exec_seconds(exposed_frac * r->metrics.iteration_s, exposed),
                   100 * exposed_frac);
    pp_exec_paragraph(page, "", "%s", text);
}

static void print_updates(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    char all[PP_UNITS_TEXT_BYTES], hidden[PP_UNITS_TEXT_BYTES], text[PP_EXEC_TEXT_BYTES];

    if (!spec_of(run)->is_cpu_update)
        return;
    const struct updates updates = updates_of(run);
    const size_t used = pp_exec_append(text, 0, "host updates %s", pp_exec_seconds(updates.s, all));
    if (updates.s > updates.exposed_s)
        pp_exec_append(text, used, ", %s of it while the device works",
                       pp_exec_seconds(updates.s - updates.exposed_s, hidden));
    pp_exec_paragraph(page, "", "%s", text);
}

void pp_exec_report_tiers(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    if (!is_used(run))
        return;
    print_rooms(page, run);
    print_copies(page, run);
    print_updates(page, run);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Lists the classes that move in a step. Bytes are those of the rank that copies most. */
static json_t *copies_json(const struct pp_exec_run *run)
{
    const struct pp_training_result *r = &run->result;
    const int rank = most_copied(run);
    json_t *list = json_array();

    for (int c = 0; c < PP_STATE_CLASSES; c++) {
        const struct pp_copied *counted = &r->tiers[rank].copied[c],
                               *predicted = &r->predicted_tiers[rank].copied[c];
        if (counted->down_bytes + counted->up_bytes + predicted->down_bytes + predicted->up_bytes ==
            0)
            continue;
        const enum pp_tier home = spec_of(run)->home[c];
        json_t *o = json_pack("{ss ss}", "class", pp_state_class_names[c], "tier",
                              pp_tier_rows[home ? home : PP_TIER_HOST].name);
        pp_json_put_bytes(o, "down_bytes", counted->down_bytes);
        pp_json_put_bytes(o, "up_bytes", counted->up_bytes);
        pp_json_put_bytes(o, "predicted_down_bytes", predicted->down_bytes);
        pp_json_put_bytes(o, "predicted_up_bytes", predicted->up_bytes);
        pp_json_put(o, "exposed_s", r->metrics.moves_frac[c] * r->metrics.iteration_s);
        json_array_append_new(list, o);
    }
    return list;
}

static void put_spec(json_t *o, const struct pp_state_spec *spec)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    pp_json_put_text(o, "offload", pp_offload_print(arena, spec));
    if (spec->is_cpu_update)
        pp_json_put_text(o, "update", spec->has_early_update ? "jit" : "end");
    if (spec->cached > 1)
        pp_json_put_text(o, "evict", pp_evict_names[spec->evict]);
    if (spec->activation_bits > 0)
        pp_json_put_int(o, "act_bits", spec->activation_bits);
    if (spec->has_grads_in_params)
        json_object_set_new(o, "grads_in_params", json_true());
}

/* Uses of parameters in a step, of the rank that loads most. */
struct uses {
    int64_t loads, hits;
};

/* An update of what has no other copy is a use that always loads. */
static struct uses uses_of(const struct pp_exec_run *run)
{
    const struct pp_program *p = run->plan.program;
    const struct pp_kernels *k = run->config.kernels;
    const bool loads_updates =
        pp_state_moves(&p->state.spec, PP_FOR_HOME) && k->element_bytes == k->gradient_bytes;
    struct uses most = {0};

    for (int rank = 0; rank < p->ranks; rank++) {
        struct uses uses = {.hits = pp_program_uses(p, rank)};
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
            uses.loads += p->kind[i] == PP_MOVE && pp_move_is_load(p->purpose[i]);
            uses.hits += loads_updates && p->kind[i] == PP_U;
        }
        uses.hits -= uses.loads;
        most = uses.loads > most.loads ? uses : most;
    }
    return most;
}

static void put_uses(json_t *o, const struct pp_exec_run *run)
{
    const struct uses uses = uses_of(run);
    const int cached = spec_of(run)->cached;

    if (uses.loads == 0)
        return;
    pp_json_put_int(o, "loads", uses.loads);
    pp_json_put_int(o, "hits", uses.hits);
    pp_json_put_int(o, "cached_units", cached > 1 ? cached : 1);
}

json_t *pp_exec_tiers_json(const struct pp_exec_run *run)
{
    if (!is_used(run))
        return json_null();
    json_t *o = json_object();
    put_spec(o, spec_of(run));
    for (int tier = PP_TIER_DEVICE; tier <= PP_TIER_NVME; tier++) {
        const size_t most_bytes = run->config.tiers.most_bytes[tier];
        char key[32];
        snprintf(key, sizeof key, "%s_bytes", pp_tier_rows[tier].name);
        if (tier > PP_TIER_DEVICE)
            pp_json_put_bytes(o, key, block_bytes(run, (enum pp_tier)tier));
        snprintf(key, sizeof key, "%s_room_bytes", pp_tier_rows[tier].name);
        if (tier < PP_TIER_NVME)
            pp_json_put_bytes(o, key, most_bytes > 0 ? (double)most_bytes : (double)NAN);
    }
    json_object_set_new(o, "copies", copies_json(run));
    if (spec_of(run)->is_cpu_update) {
        const struct updates updates = updates_of(run);
        pp_json_put(o, "host_update_s", updates.s);
        pp_json_put(o, "host_update_exposed_s", updates.exposed_s);
    }
    put_uses(o, run);
    return o;
}

void pp_exec_rank_tiers_json(const struct pp_exec_run *run, int rank, json_t *o)
{
    static const char *const KEYS[][2] = {
        [PP_TIER_HOST] = {"host_mem_bytes", "predicted_host_mem_bytes"},
        [PP_TIER_NVME] = {"nvme_bytes", "predicted_nvme_bytes"}};
    const struct pp_training_result *r = &run->result;

    for (int tier = PP_TIER_HOST; tier <= PP_TIER_NVME && is_used(run); tier++) {
        pp_json_put_bytes(o, KEYS[tier][0],
                          run->training.machine.is_poisoned
                              ? (double)r->tiers[rank].written_bytes[tier]
                              : (double)NAN);
        pp_json_put_bytes(o, KEYS[tier][1], (double)r->predicted_tiers[rank].written_bytes[tier]);
    }
}
