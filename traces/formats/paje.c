/* Traces written for ViTE and pajeng in the Paje format. */
#include "core/heap.h"
#include "traces/formats/formats.h"
#include "traces/formats/lanes.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
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
    int64_t order; /* among lines at the same time */
    enum event type;
    int index; /* index in the boxes of the drawing, or of an arrow */
};
static inline bool is_before(struct moment a, struct moment b)
{
    return a.ps != b.ps ? a.ps < b.ps : a.order < b.order;
}
PP_HEAP(moments, struct moment, 2, is_before)

struct writer {
    struct pp_arena *arena;
    const struct pp_trace *trace;
    struct pp_drawing drawing;
    int *arrow_of;       /* [event]: its arrow + 1 */
    struct moments next; /* of every lane one, and ends of links */
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
    fprintf(w->file, " t%d_%d_%d", pp_trace_list_of(w->trace, &box->event), (int)box->track,
            box->lane);
}

static void create_rank(const struct writer *w, const struct pp_trace_event *event)
{
    fprintf(w->file, "%d 0 r%d " RANK_TYPE " " WHOLE " \"", CREATE,
            pp_trace_list_of(w->trace, event));
    pp_write_rank(w->trace, event, w->file);
    fputs("\"\n", w->file);
}

static void create_track(const struct writer *w, const struct pp_box *box)
{
    fprintf(w->file, "%d 0", CREATE);
    write_track(w, box);
    fprintf(w->file, " " TRACK_TYPE " r%d \"", pp_trace_list_of(w->trace, &box->event));
    pp_write_rank(w->trace, &box->event, w->file);
    fputc(' ', w->file);
    pp_write_track(box, w->file);
    fputs("\"\n", w->file);
}

/* Draws all lists, creates their containers, and collects the first moment of every lane. Returns
 * the end of the last box. */
static int64_t create_containers(struct writer *w)
{
    struct pp_drawing *d = &w->drawing;
    int64_t end_ps = 0;

    for (int from = pp_trace_next(w->trace, -1), next; from >= 0; from = next) {
        const struct pp_trace_event first = pp_trace_at(w->trace, from, NULL);
        int k = d->count;
        next = pp_drawing_add_list(d, from);
        create_rank(w, &first);
        for (; k < d->count; k++) {
            const struct pp_box box = pp_drawing_box(d, d->boxes[k]);
            end_ps = box.span.end_ps > end_ps ? box.span.end_ps : end_ps;
            if (!box.is_first)
                continue;
            create_track(w, &box);
            moments_push(w->arena, &w->next,
                         (struct moment){box.span.start_ps, 2 * (int64_t)k, PUSH, k});
        }
    }
    return end_ps;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void write_push(const struct writer *w, const struct pp_box *box)
{
    char cell[PP_TRACE_CELL_BYTES];
    const struct pp_trace_event event = pp_trace_at(w->trace, box->number, cell);

    write_track(w, box);
    fprintf(w->file, " v%d", event.is_fused ? FUSED : event.kind);
    write_text(w->file, event.cell);
    fprintf(w->file, " %d %.17g", event.step, event.bytes);
}

static void write_end_of_link(const struct writer *w, const struct pp_arrow *arrow, bool is_start)
{
    const struct pp_box box = pp_drawing_box(&w->drawing, is_start ? arrow->send : arrow->recv);
    const struct pp_trace_event send = pp_trace_at(w->trace, arrow->send, NULL);

    fputs(" " WHOLE, w->file);
    write_text(w->file, pp_op_kinds[send.kind].text);
    write_track(w, &box);
    fprintf(w->file, " m%d", arrow->id);
}

static void write_moment(const struct writer *w, const struct moment *moment)
{
    const bool is_link = moment->type == START_LINK || moment->type == END_LINK;

    fprintf(w->file, "%d %" PRId64 ".%012" PRId64 " %s", moment->type, moment->ps / PS_PER_S,
            moment->ps % PS_PER_S, is_link ? MESSAGE : OP_TYPE);
    if (is_link) {
        write_end_of_link(w, &w->drawing.arrows[moment->index], moment->type == START_LINK);
    } else {
        const struct pp_box box = pp_drawing_box(&w->drawing, w->drawing.boxes[moment->index]);
        if (moment->type == PUSH)
            write_push(w, &box);
        else
            write_track(w, &box);
    }
    fputc('\n', w->file);
}

/* Adds the end of a link at a box's moment, after all boxes of that time. */
static void add_link(struct writer *w, const struct moment *at)
{
    const int arrow = w->arrow_of[w->drawing.boxes[at->index]] - 1;

    if (arrow < 0)
        return;
    const bool is_start = w->drawing.arrows[arrow].send == w->drawing.boxes[at->index];
    if (is_start == (at->type == PUSH))
        moments_push(w->arena, &w->next,
                     (struct moment){at->ps, 2 * ((int64_t)w->drawing.count + arrow) + !is_start,
                                     is_start ? START_LINK : END_LINK, arrow});
}

/* Adds what follows on the lane: the end of the box, or its next box. */
static void add_next(struct writer *w, const struct moment *at)
{
    const struct pp_drawing *d = &w->drawing;
    const int number = d->boxes[at->index], lane = d->lane_of[number] & ~PP_FIRST_OF_LANE;
    int k = at->index;

    if (at->type == PUSH) {
        moments_push(
            w->arena, &w->next,
            (struct moment){pp_trace_times_of(w->trace, number).end_ps, at->order + 1, POP, k});
        return;
    }
    while (++k < d->count && d->lane_of[d->boxes[k]] != lane)
        if (d->lane_of[d->boxes[k]] == (1 | PP_FIRST_OF_LANE)) /* another track */
            return;
    if (k < d->count)
        moments_push(w->arena, &w->next,
                     (struct moment){pp_trace_times_of(w->trace, d->boxes[k]).start_ps,
                                     2 * (int64_t)k, PUSH, k});
}

/* Merges the lanes: the moments of each are in the order of time, and at equal times ends come
 * before begins. */
static void write_moments(struct writer *w)
{
    while (w->next.count > 0 && !ferror(w->file)) {
        const struct moment moment = moments_pop(&w->next);
        write_moment(w, &moment);
        if (moment.type == START_LINK || moment.type == END_LINK)
            continue;
        add_link(w, &moment);
        add_next(w, &moment);
    }
}

void pp_trace_print_paje(const struct pp_trace *trace, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct writer w = {
        .arena = arena, .trace = trace, .drawing = pp_drawing_begin(arena, trace), .file = out};

    write_definitions(out);
    write_types(out);
    fprintf(out, "%d 0 " WHOLE " " RUN_TYPE " 0", CREATE);
    write_text(out, trace->program);
    fputc('\n', out);
    const int64_t end_ps = create_containers(&w);
    pp_drawing_add_arrows(arena, &w.drawing);
    w.arrow_of = PP_ARRAY(arena, int, trace->count);
    for (int i = 0; i < w.drawing.arrow_count; i++)
        w.arrow_of[w.drawing.arrows[i].send] = w.arrow_of[w.drawing.arrows[i].recv] = i + 1;
    write_moments(&w);
    fprintf(out, "%d %" PRId64 ".%012" PRId64 " " RUN_TYPE " " WHOLE "\n", DESTROY,
            end_ps / PS_PER_S, end_ps % PS_PER_S);
}
