#include "tests/oracle/loggp.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The words of a line. */
struct line {
    char word[16][32];
    int count;
};
struct reader {
    struct loggp *graph;
    int node;  /* inside of its braces; -1 outside */
    int first; /* task of its first label */
    int number;
    char *message;
};

static bool wrong(const struct reader *r, const char *what)
{
    snprintf(r->message, 256, "line %d: %s", r->number, what);
    return false;
}

/* Words are letters, digits and _; ':' and braces stand alone. */
static bool split(const struct reader *r, const char *p, const char *end, struct line *line)
{
    line->count = 0;
    while (p < end) {
        size_t length = 0;
        if (*p == ' ' || *p == '\t') {
            p++;
            continue;
        }
        while (p + length < end && (isalnum((unsigned char)p[length]) || p[length] == '_'))
            length++;
        length += length == 0 && strchr(":{}", *p);
        if (length == 0 || length >= sizeof(line->word[0]) || line->count == 16)
            return wrong(r, "a word that is none");
        memcpy(line->word[line->count], p, length);
        line->word[line->count++][length] = '\0';
        p += length;
    }
    return true;
}

static bool is_word(const struct line *line, int at, const char *word)
{
    return at < line->count && !strcmp(line->word[at], word);
}

static bool number(const struct line *line, int at, int64_t most, int64_t *value)
{
    const char *text = at < line->count ? line->word[at] : "";

    if (!*text || text[strspn(text, "0123456789")] || strlen(text) > 18)
        return false;
    sscanf(text, "%" SCNd64, value);
    return *value <= most;
}

/* "l12": labels of a node count from 1, in order; then a task is found by its number. */
static int label(const struct reader *r, const struct line *line, int at)
{
    int k;

    if (at >= line->count || sscanf(line->word[at], "l%d", &k) != 1 || k < 1)
        return -1;
    return r->first + k - 1;
}

/* "cpu C nic P" from there to the end. */
static bool resources(const struct reader *r, const struct line *line, int at,
                      struct loggp_task *task)
{
    int64_t value;

    if (is_word(line, at, "cpu")) {
        if (!number(line, at + 1, 255, &value))
            return wrong(r, "cpu is a byte");
        task->cpu = (int)value;
        at += 2;
    }
    if (is_word(line, at, "nic") && task->kind != LOGGP_CALC) {
        if (!number(line, at + 1, 255, &value))
            return wrong(r, "nic is a byte");
        task->port = (int)value;
        at += 2;
    }
    return at == line->count || wrong(r, "something after the task");
}

static bool read_calc(struct reader *r, const struct line *line, struct loggp_task *task)
{
    int64_t ns;

    task->kind = LOGGP_CALC;
    if (!number(line, 3, INT64_MAX, &ns))
        return wrong(r, "calc needs nanoseconds");
    task->ns = (double)ns;
    return resources(r, line, 4, task);
}

/* l1 : send 8b to 1 tag 0 cpu 0 nic 0 */
static bool read_message(struct reader *r, const struct line *line, struct loggp_task *task)
{
    int64_t bytes, peer, tag;
    char unit;

    task->kind = is_word(line, 2, "send") ? LOGGP_SEND : LOGGP_RECV;
    if (line->count < 8 || sscanf(line->word[3], "%" SCNd64 "%c", &bytes, &unit) != 2 ||
        unit != 'b' || bytes < 1)
        return wrong(r, "expected bytes");
    if (!is_word(line, 4, task->kind == LOGGP_SEND ? "to" : "from") ||
        !number(line, 5, r->graph->nodes - 1, &peer))
        return wrong(r, "expected a rank");
    if (!is_word(line, 6, "tag") || !number(line, 7, UINT32_MAX, &tag))
        return wrong(r, "expected a tag");
    task->bytes = (double)bytes;
    task->peer = (int)peer;
    task->tag = (uint32_t)tag;
    return resources(r, line, 8, task);
}

static bool read_task(struct reader *r, const struct line *line)
{
    struct loggp *g = r->graph;
    struct loggp_task task = {.node = r->node};

    if (label(r, line, 0) != g->count)
        return wrong(r, "labels are l1, l2, ...");
    if (is_word(line, 2, "calc")) {
        if (!read_calc(r, line, &task))
            return false;
    } else if (is_word(line, 2, "send") || is_word(line, 2, "recv")) {
        if (!read_message(r, line, &task))
            return false;
    } else {
        return wrong(r, "expected calc, send or recv");
    }
    *PP_PUSH(g->arena, g->tasks, g->count, g->capacity) = task;
    return true;
}

static bool read_inside(struct reader *r, const struct line *line)
{
    struct loggp *g = r->graph;

    if (is_word(line, 0, "}") && line->count == 1) {
        r->node = -1;
        return true;
    }
    if (is_word(line, 1, ":"))
        return read_task(r, line);
    const int task = label(r, line, 0), needs = label(r, line, 2);
    if (line->count != 3 || !is_word(line, 1, "requires") || task < r->first || task >= g->count ||
        needs < r->first || needs >= g->count || task == needs)
        return wrong(r, "expected 'lA requires lB' of tasks above");
    *PP_PUSH(g->arena, g->edges, g->edge_count, g->edge_capacity) =
        (struct loggp_edge){.task = task, .needs = needs};
    return true;
}

static bool read_outside(struct reader *r, const struct line *line, bool *seen)
{
    int64_t value;

    if (is_word(line, 0, "num_ranks") && line->count == 2 && number(line, 1, 1 << 20, &value) &&
        r->graph->nodes == 0) {
        r->graph->nodes = (int)value;
        return true;
    }
    if (!is_word(line, 0, "rank") || line->count != 3 || !is_word(line, 2, "{") ||
        !number(line, 1, r->graph->nodes - 1, &value) || seen[value])
        return wrong(r, "expected 'num_ranks N' once, or 'rank R {' of another rank");
    r->node = (int)value;
    r->first = r->graph->count;
    seen[value] = true;
    return true;
}

/* "// LogGOPSim ... -L 12 -o 0 -g 0 -O 0 -G 0.1 ..." says what to run it with. */
static void read_remark(struct reader *r, const char *line)
{
    const char *options = strstr(line, "-L ");

    if (!options || strncmp(line, "// LogGOPSim ", 13) != 0)
        return;
    sscanf(options, "-L %lf -o 0 -g 0 -O 0 -G %lf", &r->graph->latency_ns, &r->graph->ns_per_byte);
}

bool goal_read(struct pp_arena *arena, const char *text, struct loggp *graph, char message[256])
{
    struct reader r = {.graph = graph, .node = -1, .message = message};
    bool *seen = PP_ARRAY(arena, bool, 1 << 20);

    *graph = (struct loggp){.arena = arena};
    for (const char *p = text; *p;) {
        const char *end = p + strcspn(p, "\n");
        struct line line;
        r.number++;
        if (!strncmp(p, "//", 2)) {
            read_remark(&r, p);
        } else {
            if (!split(&r, p, end, &line))
                return false;
            if (line.count > 0 &&
                !(r.node >= 0 ? read_inside(&r, &line) : read_outside(&r, &line, seen)))
                return false;
        }
        p = *end ? end + 1 : end;
    }
    for (int k = 0; k < graph->nodes; k++)
        if (!seen[k])
            return wrong(&r, "a rank is missing");
    return r.node < 0 || wrong(&r, "a brace is open");
}
