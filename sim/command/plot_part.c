/* The part of a trace that is drawn: ranks, window, step. */
#include "sim/command/plot_part.h"

#include "core/units.h"
#include "traces/step.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* The ends of "A:B", or "A" twice. Longer texts are cut; the callers refuse them. */
struct range {
    char from[64], to[64];
};

static struct range cut(const char *text)
{
    const char *colon = strchr(text, ':');
    const int length = colon ? (int)(colon - text) : (int)strlen(text);
    struct range range;

    snprintf(range.from, sizeof(range.from), "%.*s", length, text);
    snprintf(range.to, sizeof(range.to), "%s", colon ? colon + 1 : text);
    return range;
}

static bool read_rank(const char *text, int *rank)
{
    int64_t value;

    if (!*text) /* open end */
        return true;
    if (pp_units_parse_int(text, 0, INT_MAX - 1, &value, NULL) != PP_OK)
        return false;
    *rank = (int)value;
    return true;
}

static enum pp_status read_ranks(const char *text, struct pp_plot_timeline *timeline,
                                 struct pp_error *err)
{
    const struct range range = cut(text);

    if (strlen(text) < 2 * sizeof(range.from) && strcmp(text, ":") && *text &&
        read_rank(range.from, &timeline->first_rank) && read_rank(range.to, &timeline->last_rank) &&
        (timeline->last_rank < 0 || timeline->first_rank <= timeline->last_rank))
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "--ranks %s: the first and the last rank are expected, such as 0:7, 4: or "
                        "3",
                        text);
}

static bool read_time(const char *text, bool is_unit, double *time_s)
{
    return !*text ||
           pp_units_parse(text, is_unit ? PP_UNIT_COUNT : PP_UNIT_SECONDS, time_s, NULL) == PP_OK;
}

static enum pp_status read_window(const char *text, struct pp_plot_timeline *timeline,
                                  struct pp_error *err)
{
    const bool is_unit = timeline->time_unit != NULL;
    const struct range range = cut(text);

    if (strlen(text) < 2 * sizeof(range.from) && strchr(text, ':') && strcmp(text, ":") &&
        read_time(range.from, is_unit, &timeline->from_s) &&
        read_time(range.to, is_unit, &timeline->to_s) &&
        !(timeline->to_s <= (isnan(timeline->from_s) ? 0 : timeline->from_s)))
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "--window %s: two times are expected, the later one after the colon, such "
                        "as %s",
                        text, is_unit ? "10:20 or 10:" : "10ms:20ms, 1.5s: or :200us");
}

static enum pp_status read_step(const char *text, int *step, struct pp_error *err)
{
    int64_t number;

    *step = PP_PLOT_STEP_ALL;
    if (!strcmp(text, "all"))
        return PP_OK;
    if (pp_units_parse_int(text, 1, 1 << 20, &number, err) != PP_OK) {
        pp_error_prefix(err, "--step: ");
        return pp_error_append(err, "; a number from 1 on, or all");
    }
    *step = (int)number - 1;
    return PP_OK;
}

enum pp_status pp_plot_part_read(const struct pp_wish *wish, const char *time_unit,
                                 struct pp_plot_part *part, struct pp_error *err)
{
    if (wish->given.time_unit.count)
        time_unit = wish->time_unit > 0 ? "units" : NULL;
    *part = (struct pp_plot_part){.timeline = pp_plot_timeline_whole(time_unit, 0),
                                  .step = PP_PLOT_STEP_CHOSEN};
    if (wish->step)
        PP_TRY(read_step(wish->step, &part->step, err));
    if (wish->ranks)
        PP_TRY(read_ranks(wish->ranks, &part->timeline, err));
    return wish->window ? read_window(wish->window, &part->timeline, err) : PP_OK;
}

enum pp_status pp_plot_part_trace(struct pp_arena *arena, const struct pp_plot_part *part,
                                  struct pp_trace **trace, struct pp_error *err)
{
    struct pp_step *step = PP_NEW(arena, struct pp_step);

    if (part->step < 0)
        return PP_OK; /* a timeline takes the step of pp_plot_step() */
    PP_TRY(pp_step_at(arena, *trace, part->step, step, err));
    step->trace.program = pp_arena_printf(arena, "%s, step %d", (*trace)->program, part->step + 1);
    *trace = &step->trace;
    return PP_OK;
}
