/* Text of the chart: labels of rows, times, the legend. */
#include "core/text/terminal.h"
#include "core/units.h"
#include "plots/timeline/parts.h"

void pp_gantt_print_label(const struct pp_gantt *g, int rank)
{
    fprintf(g->out, "P%-*d|", g->label_width - 2, rank);
}

const char *pp_gantt_print_time(const struct pp_gantt *g, int64_t ps, char *text, size_t bytes)
{
    char seconds[PP_UNITS_TEXT_BYTES];
    const double units = pp_units_s(ps) / g->divisor;

    if (g->is_unit)
        snprintf(text, bytes, "%.4g unit%s", units, units == 1 ? "" : "s");
    else
        snprintf(text, bytes, "%s", pp_units_print(pp_units_s(ps), PP_UNIT_SECONDS, seconds));
    return text;
}

static const char *const kind_names[PP_OP_KINDS] = {
    [PP_F] = "forward",         [PP_B] = "backward",  [PP_I] = "input~gradient",
    [PP_W] = "weight~gradient", [PP_R] = "recompute", [PP_U] = "optimizer",
    [PP_Q] = "quantise",        [PP_DQ] = "restore"};

static void print_kinds(const struct pp_gantt *g)
{
    const struct pp_timeline *t = &g->timeline;
    bool occurs[PP_OP_KINDS] = {false}, is_fused = false;
    const char *text = "";

    for (int i = 0; i < t->count; i++) {
        occurs[t->boxes[i].op.kind] |= t->boxes[i].end_s > t->boxes[i].start_s;
        is_fused |= t->boxes[i].is_fused;
    }
    occurs[PP_F] |= is_fused;
    occurs[PP_B] |= is_fused;
    for (int kind = 0; kind < PP_OP_KINDS; kind++)
        if (occurs[kind] && kind_names[kind] != NULL)
            text = pp_arena_printf(g->arena, "%s%c~%s, ", text, pp_op_kinds[kind].text[0],
                                   kind_names[kind]);
    text = pp_arena_printf(g->arena, "%ssmall~letter:~same~op, .~idle", text);
    pp_text_wrap(g->out, g->terminal.width, 0, 0, text);
    if (is_fused)
        fputs("an overlapped pair is drawn as its F, then its B; both run all the time\n", g->out);
}

/* The chunks of a run that generates are its passes. */
static void print_passes(const struct pp_gantt *g)
{
    enum { LETTERS = 26 };
    const int chunks = g->timeline.chunks;

    if (g->granules > 1)
        fprintf(g->out, "numbers count pieces, %d a group; an op names its first\n", g->granules);
    if (chunks == 2)
        fputs("F0 is of the pass over the prompts, F0' makes the second token\n", g->out);
    else if (chunks <= LETTERS)
        fprintf(g->out, "F0a is of the pass over the prompts, F0%c makes the last token\n",
                'a' + chunks - 1);
    else
        fprintf(g->out, "F0a is of the pass over the prompts, F0z makes token %d, F0+ later ones\n",
                LETTERS);
}

static void print_numbers(const struct pp_gantt *g)
{
    const struct pp_timeline *t = &g->timeline;

    if (pp_timeline_generates(t)) {
        print_passes(g);
        return;
    }
    if (g->granules > 1)
        fprintf(g->out, "numbers count 1/%d micro-batches; an op names its first\n", g->granules);
    if (t->splits > 1)
        fputs("F3.1 is sequence split 1 of micro-batch 3\n", g->out);
    if (t->chunks == 2)
        fputs("F3 is in a rank's first chunk, F3' in its second\n", g->out);
    else if (t->chunks > 2)
        fprintf(g->out, "F3a is in a rank's first chunk, F3%c in its last\n",
                t->chunks <= 26 ? 'a' + t->chunks - 1 : '+');
}

/* Prints ids of a pipeline: "0-1,4-5", at most MAX_RANGES ranges. */
static void print_ids(const struct pp_gantt *g, int pipe)
{
    enum { MAX_RANGES = 6 };
    const uint16_t *pipe_of = g->timeline.pipe_of;
    const int ids = g->timeline.ids;
    int ranges = 0;

    for (int m = 0; m < ids; m++) {
        if (pipe_of[m] != pipe || (m > 0 && pipe_of[m - 1] == pipe))
            continue;
        int last = m;
        while (last + 1 < ids && pipe_of[last + 1] == pipe)
            last++;
        if (ranges == MAX_RANGES) {
            fputs(",...", g->out);
            return;
        }
        fprintf(g->out, ranges++ > 0 ? ",%d" : " %d", m);
        if (last > m)
            fprintf(g->out, "-%d", last);
    }
    if (ranges == 0)
        fputs(" none", g->out);
}

static void print_pipelines(const struct pp_gantt *g)
{
    enum { MAX_PIPELINES = 8 };
    const struct pp_timeline *t = &g->timeline;

    for (int pipe = 0; pipe < t->pipes && t->pipes > 1; pipe++) {
        if (pipe == MAX_PIPELINES) {
            fprintf(g->out, "... %d more pipelines\n", t->pipes - pipe);
            return;
        }
        const int32_t *way = &t->rank_of[(size_t)pipe * (size_t)t->stages];
        fprintf(g->out, "pipeline %d, P%d to P%d: %s", pipe, way[0],
                way[t->stages / t->chunks - 1], /* of the first chunk: a V returns */
                g->granules > 1 ? "numbers" : "micro-batches");
        print_ids(g, pipe);
        fputc('\n', g->out);
    }
}

void pp_gantt_print_legend(const struct pp_gantt *g)
{
    const struct pp_timeline *t = &g->timeline;

    print_kinds(g);
    pp_gantt_print_lane_names(g);
    print_numbers(g);
    print_pipelines(g);
    if (t->trace->replicas > 1)
        fprintf(g->out, "replica 0 of %d\n", t->trace->replicas);
}
