/* Copies between memory tiers, and the work of the host: lanes at the foot of each rank's row. */
#include "plots/timeline/parts.h"

#include <math.h>

const char *const pp_timeline_lane_names[PP_COPY_STREAMS] = {[PP_COPY_DOWN] = "copies down",
                                                             [PP_COPY_UP] = "copies up",
                                                             [PP_COPY_HOST] = "work of the host"};

static const unsigned COLOURS[PP_COPY_STREAMS] = {
    [PP_COPY_DOWN] = 0x4d4d4d, [PP_COPY_UP] = 0x999999, [PP_COPY_HOST] = 0x7a5195};

/* Share of a row that a lane takes, and the gap above it. */
static const double LANE = 0.13, GAP = 0.03;

/* ---- from the trace -------------------------------------------------------------------------- */

/* Returns the stream of a copy; a cell without a purpose goes down, as in the engines. */
static enum pp_copy_stream stream_of(const struct pp_trace_event *event)
{
    struct pp_op ops[2];
    int count;

    return event->cell && pp_op_parse(event->cell, ops, &count, NULL) == PP_OK
               ? pp_move_stream(ops[0].purpose)
               : PP_COPY_DOWN;
}

void pp_timeline_find_copies(struct pp_arena *arena, int events, struct pp_timeline *t)
{
    int capacity = 0;

    for (int i = 0; i < events; i++) {
        const struct pp_trace_event *event = &t->trace->events[i];
        if (event->stream != PP_STREAM_COPY || !(event->end_s > event->start_s))
            continue;
        const struct pp_timeline_copy copy = {event->rank, stream_of(event), event->start_s,
                                              event->end_s};
        *PP_PUSH(arena, t->copies, t->copy_count, capacity) = copy;
        t->has_lane[copy.stream] = true;
    }
}

/* ---- places ---------------------------------------------------------------------------------- */

int pp_timeline_lanes(const struct pp_timeline *t)
{
    int lanes = 0;

    for (int stream = 0; stream < PP_COPY_STREAMS; stream++)
        lanes += t->has_lane[stream];
    return lanes;
}

double pp_timeline_lanes_share(const struct pp_timeline *t)
{
    return (LANE + GAP) * pp_timeline_lanes(t);
}

double pp_timeline_box_share(const struct pp_timeline_panel *panel)
{
    return panel->is_binned ? 1 : 1 - pp_timeline_lanes_share(&panel->timeline);
}

unsigned pp_timeline_lane_rgb(enum pp_copy_stream stream)
{
    return COLOURS[stream];
}

double pp_timeline_lane_foot(const struct pp_timeline *t, enum pp_copy_stream stream)
{
    int below = 0;

    for (int other = (int)stream + 1; other < PP_COPY_STREAMS; other++)
        below += t->has_lane[other];
    return (LANE + GAP) * below;
}

double pp_timeline_lane_share(void)
{
    return LANE;
}

/* ---- in a figure ----------------------------------------------------------------------------- */

void pp_timeline_print_copies(const struct pp_timeline_page *page, int index)
{
    const struct pp_timeline_panel *panel = &page->panels[index];
    const struct pp_timeline *t = &panel->timeline;
    FILE *script = page->figure->script;

    fprintf(script, "# copies: row start end colour foot(share of the height)\n$copies%d << EOD\n",
            index);
    for (int i = 0; i < t->copy_count; i++) {
        const struct pp_timeline_copy *copy = &t->copies[i];
        const int row = pp_timeline_row(panel, copy->rank);
        const double start = fmax(pp_timeline_x(page, panel, copy->start_s), 0),
                     end = fmin(pp_timeline_x(page, panel, copy->end_s),
                                pp_timeline_span(page, panel));
        if (row >= 0 && start < end)
            fprintf(script, "%d %.7g %.7g 0x%06x %.3g\n", row, start, end, COLOURS[copy->stream],
                    pp_timeline_lane_foot(t, copy->stream));
    }
    fputs("EOD\n", script);
}

void pp_timeline_plot_copies(const struct pp_timeline_page *page, int index)
{
    const double height = page->height_in / page->pitch_in;

    fprintf(
        page->figure->script,
        ", \\\n  $copies%d using (($2+$3)/2):1:2:3:($1+%.3g-%.3g*($5+%.3g)):($1+%.3g-%.3g*$5):4 "
        "with boxxyerror fillstyle solid noborder fillcolor rgb variable",
        index, height / 2, height, LANE, height / 2, height);
}
