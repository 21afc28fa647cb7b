/* The ops of a timeline for the page's script. */
#include "plots/page/timeline.h"

#include "plots/page/page.h"

#include "core/quantile.h"
#include "core/units.h"

#include <inttypes.h>
#include <stdlib.h>

/* Properties that many ops share. */
struct look {
    int kind, class, granules, shade;
};
struct data {
    struct pp_arena *arena;
    const struct pp_timeline_panel *panel;
    int64_t quantum_ps;
    int64_t *times; /* ascending, each once */
    int time_count;
    struct look *looks;
    int look_count, look_capacity;
    FILE *out;
};

/* ---- times ----------------------------------------------------------------------------------- */

/* The quantum of at most 10^12 a step: a program that counts in doubles adds them exactly. */
static int64_t quantum_of(const struct pp_timeline *t)
{
    const int64_t most = 1000000000000;
    int64_t quantum_ps = 1;

    while (pp_units_ps(t->end_s) / quantum_ps > most)
        quantum_ps *= 10;
    return quantum_ps;
}

static int64_t quanta(const struct data *d, double seconds)
{
    const int64_t ps = pp_units_ps(seconds < 0 ? -seconds : seconds);
    const int64_t count = (ps + d->quantum_ps / 2) / d->quantum_ps;

    return seconds < 0 ? -count : count;
}

/* Start minus the previous end, and duration. */
struct step {
    int64_t gap, length;
};
static struct step step_of(const struct data *d, const struct pp_timeline_box *box, int64_t *end)
{
    const int64_t start = quanta(d, box->start_s), next = quanta(d, box->end_s);
    const struct step step = {start - *end, next - start};

    *end = next;
    return step;
}

bool pp_timeline_is_shown(const struct pp_timeline_panel *panel, const struct pp_timeline_box *box)
{
    return (box->end_s > panel->from_s || box->start_s >= panel->from_s) &&
           (box->start_s < panel->to_s || box->end_s <= panel->to_s);
}

static void collect_times(struct data *d)
{
    const struct pp_timeline *t = &d->panel->timeline;
    int count = 0;

    d->times = PP_ARRAY(d->arena, int64_t, 2 * t->count + 1);
    for (int row = 0; row < d->panel->rows; row++) {
        const int rank = d->panel->first_rank + row * d->panel->every;
        int64_t end = 0;
        for (int i = t->begin[rank]; i < t->begin[rank + 1]; i++) {
            if (!pp_timeline_is_shown(d->panel, &t->boxes[i]))
                continue;
            const struct step step = step_of(d, &t->boxes[i], &end);
            d->times[count++] = step.gap;
            d->times[count++] = step.length;
        }
    }
    qsort(d->times, (size_t)count, sizeof(*d->times), pp_ascending_int64);
    for (int i = 0; i < count; i++)
        if (i == 0 || d->times[i] != d->times[d->time_count - 1])
            d->times[d->time_count++] = d->times[i];
}

static int time_at(const struct data *d, int64_t time)
{
    const int64_t *found =
        bsearch(&time, d->times, (size_t)d->time_count, sizeof(*d->times), pp_ascending_int64);

    return (int)(found - d->times);
}

/* ---- looks ----------------------------------------------------------------------------------- */

static int look_at(struct data *d, const struct pp_timeline_op *op)
{
    const struct look look = {op->kind, pp_timeline_class(&d->panel->timeline, op), op->granules,
                              (int)pp_timeline_rgb(&d->panel->timeline, op)};

    for (int i = 0; i < d->look_count; i++) {
        const struct look *other = &d->looks[i];
        if (other->kind == look.kind && other->class == look.class &&
            other->granules == look.granules && other->shade == look.shade)
            return i;
    }
    *PP_PUSH(d->arena, d->looks, d->look_count, d->look_capacity) = look;
    return d->look_count - 1;
}

static void write_looks(const struct data *d)
{
    const struct pp_timeline *t = &d->panel->timeline;

    fputs("],\n\"looks\":[", d->out);
    for (int i = 0; i < d->look_count; i++) {
        const struct look *look = &d->looks[i];
        fprintf(d->out, "%s[%d,\"#%06x\",%.3g,%d,%d,%d]", i ? "," : "", look->kind,
                (unsigned)look->shade, pp_timeline_foot(look->class, pp_timeline_classes(t)),
                look->class / t->chunks, look->class % t->chunks, look->granules);
    }
}

/* ---- boxes ----------------------------------------------------------------------------------- */

/* Writes look, first micro-batch and split, stage. */
static void write_op(struct data *d, const struct pp_timeline_op *op)
{
    const int splits = d->panel->timeline.splits;

    fprintf(d->out, ",%d,%d,%d", look_at(d, op), op->mb < 0 ? -1 : op->mb * splits + op->split,
            op->stage);
}

static void write_row(struct data *d, int rank)
{
    const struct pp_timeline *t = &d->panel->timeline;
    bool is_first = true;
    int64_t end = 0;

    for (int i = t->begin[rank]; i < t->begin[rank + 1]; i++) {
        const struct pp_timeline_box *box = &t->boxes[i];
        if (!pp_timeline_is_shown(d->panel, box))
            continue;
        const struct step step = step_of(d, box, &end);
        fprintf(d->out, "%s%d,%d", is_first ? "" : ",", time_at(d, step.gap),
                time_at(d, step.length));
        is_first = false;
        write_op(d, &box->op);
        fprintf(d->out, ",%d", box->is_fused ? (int)(1000 * (double)box->forward_frac + 0.5) : -1);
        if (box->is_fused)
            write_op(d, &box->second);
    }
}

int pp_timeline_shown(const struct pp_timeline_panel *panel)
{
    int count = 0;

    for (int i = 0; i < panel->timeline.count; i++)
        count += pp_timeline_row(panel, panel->timeline.boxes[i].rank) >= 0 &&
                 pp_timeline_is_shown(panel, &panel->timeline.boxes[i]);
    return count;
}

bool pp_timeline_has_data(const struct pp_timeline_page *page,
                          const struct pp_timeline_panel *panel)
{
    return pp_timeline_shown(panel) <= PP_HTML_DETAIL / page->count;
}

/* Writes colour, share of a row below the lane, and start and duration of each copy. */
static void write_lane(const struct data *d, int rank, enum pp_copy_stream stream)
{
    const struct pp_timeline *t = &d->panel->timeline;
    bool is_first = true;

    for (int i = 0; i < t->copy_count; i++) {
        const struct pp_timeline_copy *copy = &t->copies[i];
        if (copy->rank != rank || copy->stream != stream || copy->end_s <= d->panel->from_s ||
            copy->start_s >= d->panel->to_s)
            continue;
        const int64_t start = quanta(d, copy->start_s);
        fprintf(d->out, "%s%" PRId64 ",%" PRId64, is_first ? "" : ",", start,
                quanta(d, copy->end_s) - start);
        is_first = false;
    }
}

static void write_lanes(const struct data *d)
{
    const struct pp_timeline_panel *panel = d->panel;
    const char *before = "";

    if (pp_timeline_lanes(&panel->timeline) == 0)
        return;
    fprintf(d->out, ",\n\"share\":%.3g,\"lane\":%.3g,\"lanes\":[",
            1 - pp_timeline_lanes_share(&panel->timeline), pp_timeline_lane_share());
    for (int stream = 0; stream < PP_COPY_STREAMS; stream++) {
        if (!panel->timeline.has_lane[stream])
            continue;
        fprintf(d->out, "%s{\"colour\":\"#%06x\",\"foot\":%.3g,\"rows\":[", before,
                pp_timeline_lane_rgb((enum pp_copy_stream)stream),
                pp_timeline_lane_foot(&panel->timeline, (enum pp_copy_stream)stream));
        for (int row = 0; row < panel->rows; row++) {
            fputs(row ? "],\n[" : "[", d->out);
            write_lane(d, panel->first_rank + row * panel->every, (enum pp_copy_stream)stream);
        }
        fputs("]]}", d->out);
        before = ",";
    }
    fputs("]", d->out);
}

static void write_kinds(FILE *out)
{
    fputs("\"kinds\":[", out);
    for (int kind = 0; kind < PP_OP_KINDS; kind++)
        fprintf(out, "%s\"%s\"", kind ? "," : "",
                pp_timeline_kinds[kind] ? pp_timeline_kinds[kind] : "");
}

void pp_timeline_write_data(const struct pp_timeline_page *page, int index, FILE *out)
{
    const struct pp_timeline_panel *panel = &page->panels[index];
    struct data d = {.arena = page->arena,
                     .panel = panel,
                     .quantum_ps = quantum_of(&panel->timeline),
                     .out = out};

    if (!pp_timeline_has_data(page, panel))
        return;
    collect_times(&d);
    fputs("<script type=\"application/json\" class=\"ops\">{", out);
    write_kinds(out);
    fprintf(out,
            "],\n\"unit\":\"%s\",\"quantum\":%.17g,\"from\":%" PRId64 ",\"to\":%" PRId64
            ",\"divisor\":%g,\"origin\":%.17g,\"span\":%.17g,\"splits\":%d,\"first\":%d,\"every\":%"
            "d,\n\"times\":[",
            page->unit, (double)d.quantum_ps * 1e-12 / page->unit_s, quanta(&d, panel->from_s),
            quanta(&d, panel->to_s), panel->divisor, page->origin, page->span,
            panel->timeline.splits, panel->first_rank, panel->every);
    for (int i = 0; i < d.time_count; i++)
        fprintf(out, "%s%" PRId64, i ? "," : "", d.times[i]);
    fputs("],\n\"rows\":[", out);
    for (int row = 0; row < panel->rows; row++) {
        fputs(row ? "],\n[" : "[", out);
        write_row(&d, panel->first_rank + row * panel->every);
    }
    fputs("]", out);
    write_looks(&d);
    fputs("]", out);
    write_lanes(&d);
    fputs("}</script>\n", out);
}
