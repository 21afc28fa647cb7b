/* Traces written for ViTE and pajeng in the Paje format. */
#include "traces/formats/formats.h"
#include "traces/formats/lanes.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Format: "The Paje trace file format", L. M. Schnorr, version 1.2.5: event definitions, then
 * events in the order of time, read by ViTE and pajeng. A rank is a container, and so is each of
 * its tracks. An op is a state of its track, a message a link between two tracks. */
enum event {
    DEFINE_CONTAINER,
    DEFINE_STATE,
    DEFINE_LINK,
    DEFINE_VALUE,
    CREATE,
    DESTROY,
    PUSH,
    POP,
    START_LINK,
    END_LINK,
    EVENTS
};
enum { MAX_FIELDS = 7 };
#define PS_PER_S INT64_C(1000000000000)
static const struct {
    const char *name, *fields[MAX_FIELDS + 1];
} DEFINITIONS[EVENTS] = {
    [DEFINE_CONTAINER] = {"PajeDefineContainerType", {"Alias", "Type", "Name"}},
    [DEFINE_STATE] = {"PajeDefineStateType", {"Alias", "Type", "Name"}},
    [DEFINE_LINK] = {"PajeDefineLinkType",
                     {"Alias", "Type", "StartContainerType", "EndContainerType", "Name"}},
    [DEFINE_VALUE] = {"PajeDefineEntityValue", {"Alias", "Type", "Name", "Color"}},
    [CREATE] = {"PajeCreateContainer", {"Time", "Alias", "Type", "Container", "Name"}},
    [DESTROY] = {"PajeDestroyContainer", {"Time", "Type", "Name"}},
    [PUSH] = {"PajePushState", {"Time", "Type", "Container", "Value", "Cell", "Step", "Bytes"}},
    [POP] = {"PajePopState", {"Time", "Type", "Container"}},
    [START_LINK] = {"PajeStartLink",
                    {"Time", "Type", "Container", "Value", "StartContainer", "Key"}},
    [END_LINK] = {"PajeEndLink", {"Time", "Type", "Container", "Value", "EndContainer", "Key"}},
};
/* Types of fields; the others are strings. */
static const struct {
    const char *field, *type;
} TYPES[] = {{"Time", "date"}, {"Color", "color"}, {"Step", "int"}, {"Bytes", "double"}};
/* Aliases: r<process> of ranks, t<process>_<track>_<lane> of tracks, v<kind> of values; types. */
#define RUN_TYPE   "RUN"
#define RANK_TYPE  "RANK"
#define TRACK_TYPE "TRACK"
#define OP_TYPE    "OP"
#define MESSAGE    "MESSAGE"
#define WHOLE      "run"
enum { FUSED = PP_OP_KINDS }; /* an overlapped pair, after the kinds */

/* One line with a time. */
struct moment {
    int64_t ps;
    enum event type;
    int index; /* index of a box or an arrow */
    int order; /* among lines at the same time */
};
struct writer {
    const struct pp_trace *trace;
    struct pp_drawing drawing;
    FILE *file;
};

/* ---- definitions ----------------------------------------------------------------------------- */

static const char *type_of(const char *field)
{
    for (size_t i = 0; i < PP_COUNT(TYPES); i++)
        if (!strcmp(field, TYPES[i].field))
            return TYPES[i].type;
    return "string";
}

static void write_definitions(FILE *out)
{
    for (int e = 0; e < EVENTS; e++) {
        fprintf(out, "%%EventDef %s %d\n", DEFINITIONS[e].name, e);
        for (const char *const *field = DEFINITIONS[e].fields; *field; field++)
            fprintf(out, "%% %s %s\n", *field, type_of(*field));
        fputs("%EndEventDef\n", out);
    }
}

/* Writes a hue, far from those of neighbouring kinds, the same in every trace. */
static void write_color(FILE *out, int kind)
{
    const double hue = 6 * fmod(0.6 + 0.618034 * kind, 1);
    double rgb[3];

    for (int c = 0; c < 3; c++) {
        const double away = fabs(fmod(hue + 6 - 2 * c, 6) - 3); /* 3: the full colour */
        rgb[c] = 0.25 + 0.65 * fmin(fmax(away - 1, 0), 1);
    }
    fprintf(out, " \"%.2f %.2f %.2f\"\n", rgb[0], rgb[1], rgb[2]);
}

static void write_types(FILE *out)
{
    fprintf(out, "%d " RUN_TYPE " 0 \"run\"\n", DEFINE_CONTAINER);
    fprintf(out, "%d " RANK_TYPE " " RUN_TYPE " \"rank\"\n", DEFINE_CONTAINER);
    fprintf(out, "%d " TRACK_TYPE " " RANK_TYPE " \"track\"\n", DEFINE_CONTAINER);
    fprintf(out, "%d " OP_TYPE " " TRACK_TYPE " \"op\"\n", DEFINE_STATE);
    fprintf(out, "%d " MESSAGE " " RUN_TYPE " " TRACK_TYPE " " TRACK_TYPE " \"message\"\n",
            DEFINE_LINK);
    for (int kind = 0; kind <= FUSED; kind++) {
        fprintf(out, "%d v%d " OP_TYPE " \"%s\"", DEFINE_VALUE, kind,
                kind == FUSED ? "F+B" : pp_op_kinds[kind].text);
        write_color(out, kind);
    }
}

/* ---- containers ------------------------------------------------------------------------------ */

static void write_text(FILE *out, const char *text)
{
    fputs(" \"", out);
    for (; text && *text; text++)
        fputc(*text == '"' || iscntrl((unsigned char)*text) ? '?' : *text, out);
    fputs("\"", out);
}

static void write_track(const struct writer *w, const struct pp_box *box)
{
    fprintf(w->file, " t%d_%d_%d", pp_trace_list_of(w->trace, &w->trace->events[box->event]),
            (int)box->track, box->lane);
}

static void create_rank(const struct writer *w, int event)
{
    fprintf(w->file, "%d 0 r%d " RANK_TYPE " " WHOLE " \"", CREATE,
            pp_trace_list_of(w->trace, &w->trace->events[event]));
    pp_write_rank(w->trace, event, w->file);
    fputs("\"\n", w->file);
}

static void create_track(const struct writer *w, const struct pp_box *box)
{
    fprintf(w->file, "%d 0", CREATE);
    write_track(w, box);
    fprintf(w->file, " " TRACK_TYPE " r%d \"",
            pp_trace_list_of(w->trace, &w->trace->events[box->event]));
    pp_write_rank(w->trace, box->event, w->file);
    fputc(' ', w->file);
    pp_write_track(box, w->file);
    fputs("\"\n", w->file);
}

static void create_containers(const struct writer *w)
{
    const struct pp_box *box = w->drawing.boxes, *end = box + w->drawing.count;

    for (int from = 0, to; from < w->trace->count; from = to) {
        to = pp_trace_list_end(w->trace, from);
        create_rank(w, from);
        for (; box < end && box->event < to; box++)
            if (box->is_first)
                create_track(w, box);
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

static void write_push(const struct writer *w, const struct pp_box *box)
{
    const struct pp_trace_event *event = &w->trace->events[box->event];

    write_track(w, box);
    fprintf(w->file, " v%d", event->is_fused ? FUSED : event->kind);
    write_text(w->file, event->cell);
    fprintf(w->file, " %d %.17g", event->step, event->bytes);
}

static void write_end_of_link(const struct writer *w, const struct pp_arrow *arrow, bool is_start)
{
    const struct pp_trace_event *send = &w->trace->events[arrow->send];
    const int event = is_start ? arrow->send : arrow->recv;

    fputs(" " WHOLE, w->file);
    write_text(w->file, pp_op_kinds[send->kind].text);
    write_track(w, &w->drawing.boxes[w->drawing.box_of[event]]);
    fprintf(w->file, " m%d", arrow->id);
}

static void write_moment(const struct writer *w, const struct moment *moment)
{
    const bool is_link = moment->type == START_LINK || moment->type == END_LINK;

    fprintf(w->file, "%d %" PRId64 ".%012" PRId64 " %s", moment->type, moment->ps / PS_PER_S,
            moment->ps % PS_PER_S, is_link ? MESSAGE : OP_TYPE);
    if (moment->type == PUSH)
        write_push(w, &w->drawing.boxes[moment->index]);
    else if (moment->type == POP)
        write_track(w, &w->drawing.boxes[moment->index]);
    else
        write_end_of_link(w, &w->drawing.arrows[moment->index], moment->type == START_LINK);
    fputc('\n', w->file);
}

static int compare_moments(const void *left, const void *right)
{
    const struct moment *a = left, *b = right;

    if (a->ps != b->ps)
        return a->ps < b->ps ? -1 : 1;
    return a->order - b->order;
}

/* A track's boxes are in the order of time, so at equal times ends come before begins. */
static void write_moments(struct pp_arena *arena, const struct writer *w)
{
    const struct pp_drawing *d = &w->drawing;
    const int count = 2 * (d->count + d->arrow_count);
    struct moment *moments = PP_ARRAY(arena, struct moment, count);
    int n = 0;

    for (int i = 0; i < d->count; i++) {
        moments[n++] = (struct moment){d->boxes[i].start_ps, PUSH, i};
        moments[n++] = (struct moment){d->boxes[i].end_ps, POP, i};
    }
    for (int i = 0; i < d->arrow_count; i++) {
        const struct pp_box *from = &d->boxes[d->box_of[d->arrows[i].send]],
                            *to = &d->boxes[d->box_of[d->arrows[i].recv]];
        moments[n++] = (struct moment){from->start_ps, START_LINK, i};
        moments[n++] = (struct moment){to->end_ps, END_LINK, i};
    }
    for (int i = 0; i < n; i++)
        moments[i].order = i;
    qsort(moments, (size_t)n, sizeof(*moments), compare_moments);
    for (int i = 0; i < n && !ferror(w->file); i++)
        write_moment(w, &moments[i]);
}

void pp_trace_print_paje(const struct pp_trace *trace, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct writer w = {trace, pp_drawing_of(arena, trace), out};
    int64_t end_ps = 0;

    for (int i = 0; i < w.drawing.count; i++)
        end_ps = w.drawing.boxes[i].end_ps > end_ps ? w.drawing.boxes[i].end_ps : end_ps;
    write_definitions(out);
    write_types(out);
    fprintf(out, "%d 0 " WHOLE " " RUN_TYPE " 0", CREATE);
    write_text(out, trace->program);
    fputc('\n', out);
    create_containers(&w);
    write_moments(arena, &w);
    fprintf(out, "%d %" PRId64 ".%012" PRId64 " " RUN_TYPE " " WHOLE "\n", DESTROY,
            end_ps / PS_PER_S, end_ps % PS_PER_S);
}
