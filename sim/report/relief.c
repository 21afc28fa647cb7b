/* Memory of a run that does not fit, and helpful flags: as text, JSON and part of an error. */
#include "core/text/json_write.h"
#include "core/units.h"
#include "sim/report/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_HOLDERS = 5, FLAGS_WIDTH = 33 };

/* Text such as "optimizer of stage 0". */
static const char *holder_text(struct pp_arena *arena, const struct pp_holder *h)
{
    return h->stage < 0 ? h->what : pp_arena_printf(arena, "%s of stage %d", h->what, h->stage);
}

/* Percents of time that a relief adds; never "-0.0". */
static double added_percents(const struct pp_oom *oom, const struct pp_relief *relief)
{
    const double percents = 100 * (relief->iteration_s / oom->iteration_s - 1);

    return fabs(percents) < 0.05 ? 0 : percents;
}

/* Text such as "+3.1 % time, fits". */
static const char *effect_text(struct pp_arena *arena, const struct pp_oom *oom,
                               const struct pp_relief *relief)
{
    return pp_arena_printf(arena, "%+.1f %% time%s", added_percents(oom, relief),
                           relief->fits ? ", fits" : "");
}

/* Text such as "--cp 2 (ZeRO 1)": flags, and what the tool chooses otherwise with them. */
static const char *flags_text(struct pp_arena *arena, const struct pp_relief *relief)
{
    return *relief->also ? pp_arena_printf(arena, "%s (%s)", relief->flags, relief->also)
                         : relief->flags;
}

/* Text such as "--tp 4 in place of --tp 2". */
static const char *change_text(struct pp_arena *arena, const struct pp_relief *relief)
{
    return pp_arena_printf(arena, "%s%s%s", flags_text(arena, relief),
                           *relief->instead_of ? " in place of " : "", relief->instead_of);
}

/* Is true if a relief fits without the margin alone. */
static bool is_tight(const struct pp_result *r, const struct pp_relief *relief)
{
    return relief->fits && relief->peak_bytes > pp_config_room_bytes(&r->config);
}

/* Prints a relief; long flags have lines of their own. */
static void print_relief(struct pp_arena *arena, const struct pp_result *r,
                         const struct pp_relief *relief, int width, FILE *out)
{
    char time[PP_TEXT_BYTES];
    const char *flags = flags_text(arena, relief);
    const bool is_long = strlen(flags) > FLAGS_WIDTH;

    if (is_long)
        pp_text_paragraph(out, width, 4, "", flags);
    fprintf(out, "    %-*s%8.1f%c%11s   %s\n", FLAGS_WIDTH, is_long ? "" : flags,
            relief->peak_bytes / PP_GIB, is_tight(r, relief) ? '!' : ' ',
            pp_text_time(&r->config, relief->iteration_s, time),
            effect_text(arena, r->oom, relief));
}

void pp_oom_print(const struct pp_result *r, int width, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_oom *oom = r->oom;
    const char *line = pp_arena_printf(
        arena, "rank~%d needs %.1f~GiB more than its device has; it holds", r->peak_rank,
        pp_text_gib(r->memory[r->peak_rank].peak_bytes) -
            pp_text_gib(pp_config_capacity_bytes(&r->config)));

    for (int i = 0; i < oom->holder_count && i < SHOWN_HOLDERS; i++)
        line =
            pp_arena_printf(arena, "%s%s %s %.1f~GiB", line, i ? "," : "",
                            holder_text(arena, &oom->holders[i]), oom->holders[i].bytes / PP_GIB);
    fputc('\n', out);
    pp_text_paragraph(out, width, PP_TEXT_LABEL, "memory", line);
    if (oom->relief_count == 0)
        return;
    fprintf(out, "\n  %-*s%8s%12s\n", FLAGS_WIDTH + 2,
            oom->is_contention_free ? "less memory with (dag)" : "less memory with", "GiB",
            "iteration");
    bool is_any = false;
    for (int i = 0; i < oom->relief_count && i < PP_RELIEFS_SHOWN; i++) {
        print_relief(arena, r, &oom->reliefs[i], width, out);
        is_any |= is_tight(r, &oom->reliefs[i]);
    }
    if (is_any)
        pp_text_paragraph(out, width, 4, "", pp_text_tight(arena, &r->config));
    if (*oom->replaced)
        pp_text_paragraph(out, width, 4, "",
                          pp_arena_printf(arena, "these replace %s of the command", oom->replaced));
}

void pp_oom_append(const struct pp_oom *oom, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (int i = 0; i < oom->holder_count && i < SHOWN_HOLDERS; i++)
        pp_error_append(err, "\n  %s: %.1f GiB", holder_text(arena, &oom->holders[i]),
                        oom->holders[i].bytes / PP_GIB);
    for (int i = 0; i < oom->relief_count && i < PP_RELIEFS_SHOWN; i++)
        pp_error_append(err, "\n  with %s: %.1f GiB, %s", change_text(arena, &oom->reliefs[i]),
                        oom->reliefs[i].peak_bytes / PP_GIB,
                        effect_text(arena, oom, &oom->reliefs[i]));
}

/* Returns the first relief that leaves the margin free, or else the first. */
static const struct pp_relief *best_of(const struct pp_result *r)
{
    const struct pp_oom *oom = r->oom;

    for (int i = 0; i < oom->relief_count; i++)
        if (oom->reliefs[i].fits && !is_tight(r, &oom->reliefs[i]))
            return &oom->reliefs[i];
    return &oom->reliefs[0];
}

struct pp_advice pp_oom_advice(struct pp_arena *arena, const struct pp_result *r)
{
    const struct pp_oom *oom = r->oom;
    const struct pp_relief *best = best_of(r);

    if (oom->relief_count == 0)
        return (struct pp_advice){"does not fit, and no option that was tried needs less: it takes "
                                  "more GPUs or another model",
                                  NULL};
    if (!best->fits)
        return (struct pp_advice){"does not fit, even with all options that were tried together: "
                                  "it takes more GPUs or another model",
                                  NULL};
    return (struct pp_advice){
        pp_arena_printf(
            arena, "does not fit; with %.200s it needs %.1f~GiB (%s):", change_text(arena, best),
            best->peak_bytes / PP_GIB, effect_text(arena, oom, best)),
        best->command};
}

/* ---- for programs ---------------------------------------------------------------------------- */

static json_t *holders_json(const struct pp_oom *oom)
{
    json_t *list = json_array();

    for (int i = 0; i < oom->holder_count; i++) {
        const struct pp_holder *h = &oom->holders[i];
        json_t *o = json_pack("{ss}", "what", h->what);
        json_object_set_new(o, "stage", h->stage < 0 ? json_null() : json_integer(h->stage));
        pp_json_put_bytes(o, "bytes", h->bytes);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *reliefs_json(const struct pp_oom *oom)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    json_t *list = json_array();

    for (int i = 0; i < oom->relief_count; i++) {
        const struct pp_relief *relief = &oom->reliefs[i];
        json_t *o = json_pack("{ss}", "flags", relief->flags);
        pp_json_put_text(o, "in_place_of", relief->instead_of);
        pp_json_put_text(o, "command", pp_command_text(arena, relief->command));
        pp_json_put_bytes(o, "peak_mem_bytes", relief->peak_bytes);
        pp_json_put_bool(o, "fits", relief->fits);
        pp_json_put(o, "iteration_s", relief->iteration_s);
        json_array_append_new(list, o);
    }
    return list;
}

void pp_oom_json(const struct pp_oom *oom, json_t *object)
{
    json_object_set_new(object, "oom", reliefs_json(oom));
    json_object_set_new(object, "oom_tensors", holders_json(oom));
}
