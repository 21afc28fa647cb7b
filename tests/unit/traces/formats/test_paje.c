/* Traces in Paje's format, read by its definitions alone. Every event has its defined fields, names
 * existing objects, and comes in the order of time. Its states and links are the events and
 * messages of the trace. Where pj_dump is installed, it agrees. */
#include "tests/unit/support/sim_run.h"

#include "traces/formats/formats.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const RUNS[] = {
    "--schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2,C=0.25",
    "--schedule dualpipe --pp 4 --micro-batches 8 --unit F=1,B=2 --steps 2",
    "--schedule chimera --model gpt2-64 --pp 4 --tp 1 --dp 2 --mbs 1 --micro-batches 8 --zero 1 "
    "--engine dag --jitter 5% --no-fold",
    "--schedule zbv --model gpt2-64 --pp 4 --tp 1 --dp 1 --mbs 1 --micro-batches 8 --offload "
    "a=host "
    "--engine dag --steps 3 --step-barrier off",
};

static char folder[] = "/tmp/pipesim-paje-XXXXXX";

static void enter(void)
{
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

static void leave(void)
{
    unlink("run.paje");
    cr_assert_eq(chdir("/"), 0);
    cr_assert_eq(rmdir(folder), 0);
}

TestSuite(paje, .init = enter, .fini = leave);

/* ---- a reader of Paje ------------------------------------------------------------------------ */

enum { EVENTS = 32, FIELDS = 12, NAMES = 4096, DEPTH = 4 };
struct definition {
    char name[64], fields[FIELDS][32], types[FIELDS][16];
    int count;
};
struct name { /* a type, value or container */
    char alias[32], type[32], parent[32];
    int depth; /* containers: states that are pushed */
    int64_t pushed_ps[DEPTH];
    char cell[DEPTH][96];
    bool is_gone;
};
struct interval {
    int64_t start_ps, end_ps;
    int event; /* hash of the cell */
};
struct link {
    char key[32];
    int64_t start_ps;
};
struct reader {
    struct definition definitions[EVENTS];
    struct name *names; /* [NAMES] */
    int name_count;
    struct link *links;
    int link_count, link_capacity;
    struct pp_arena *arena;
    int64_t now_ps;
    const char *cell; /* of the event at hand */
    /* what was found */
    struct interval *states;
    int state_count, state_capacity;
    struct interval *messages;
    int message_count, message_capacity;
};

static const struct name *find(const struct reader *r, const char *alias)
{
    for (int i = 0; i < r->name_count; i++)
        if (!strcmp(r->names[i].alias, alias))
            return &r->names[i];
    return NULL;
}

static const struct name *need(const struct reader *r, const char *alias, const char *type)
{
    const struct name *name = find(r, alias);

    cr_assert(name != NULL, "'%s' is not defined", alias);
    cr_assert(!type || !strcmp(name->type, type), "'%s' is a %s, not a %s", alias, name->type,
              type);
    cr_assert(!name->is_gone, "'%s' is gone", alias);
    return name;
}

static void add(struct reader *r, const char *alias, const char *type, const char *parent)
{
    cr_assert(find(r, alias) == NULL, "'%s' is defined twice", alias);
    cr_assert_lt(r->name_count, NAMES);
    struct name *name = &r->names[r->name_count++];
    snprintf(name->alias, sizeof(name->alias), "%s", alias);
    snprintf(name->type, sizeof(name->type), "%s", type);
    snprintf(name->parent, sizeof(name->parent), "%s", parent);
}

/* Seconds as decimal text, to the picosecond. */
static int64_t read_date(const char *text)
{
    char *end;
    const int64_t seconds = strtoll(text, &end, 10);
    char digits[13] = "000000000000";

    cr_assert(end > text && seconds >= 0, "'%s' is no date", text);
    if (*end == '.') {
        const size_t length = strspn(end + 1, "0123456789");
        cr_assert(length <= 12 && end[1 + length] == '\0', "'%s' is no date", text);
        memcpy(digits, end + 1, length);
    } else {
        cr_assert_eq(*end, '\0', "'%s' is no date", text);
    }
    return seconds * INT64_C(1000000000000) + strtoll(digits, NULL, 10);
}

static void check_type(const char *type, const char *value)
{
    char *end = NULL;

    if (!strcmp(type, "date"))
        read_date(value);
    else if (!strcmp(type, "int"))
        strtol(value, &end, 10);
    else if (!strcmp(type, "double"))
        strtod(value, &end);
    else if (!strcmp(type, "color"))
        cr_assert_eq(sscanf(value, "%*f %*f %*f"), 0, "%s", value);
    else
        cr_assert_str_eq(type, "string");
    cr_assert(end == NULL || (end > value && *end == '\0'), "'%s' is no %s", value, type);
}

/* Cut a line into its words; quotes hold one together. */
static int words_of(char *line, char **words)
{
    int count = 0;

    for (char *p = line; *p && *p != '\n';) {
        p += *p == ' ';
        const char end = *p == '"' ? '"' : ' ';
        p += end == '"';
        cr_assert_lt(count, FIELDS);
        words[count++] = p;
        while (*p && *p != '\n' && *p != end)
            p++;
        cr_assert(end == ' ' || *p == end, "a quote is open");
        if (*p)
            *p++ = '\0';
    }
    return count;
}

static const char *field(const struct definition *d, char *const *values, const char *name)
{
    for (int i = 0; i < d->count; i++)
        if (!strcmp(d->fields[i], name))
            return values[i];
    cr_assert_fail("%s has no %s", d->name, name);
    return "";
}

/* Of a box found in the file: where and when, and what by the hash of its text. */
static struct interval found(int64_t start_ps, int64_t end_ps, const char *text)
{
    unsigned hash = 5381;

    for (; *text; text++)
        hash = 33 * hash + (unsigned char)*text;
    return (struct interval){.start_ps = start_ps, .end_ps = end_ps, .event = (int)(hash >> 1)};
}

static void push(struct reader *r, struct name *container, const char *cell)
{
    cr_assert_lt(container->depth, 1, "%s: two states at once", container->alias);
    container->pushed_ps[container->depth] = r->now_ps;
    snprintf(container->cell[container->depth], sizeof(container->cell[0]), "%s", cell);
    container->depth++;
}

static void pop(struct reader *r, struct name *container)
{
    cr_assert_gt(container->depth, 0, "%s: nothing to pop", container->alias);
    container->depth--;
    *PP_PUSH(r->arena, r->states, r->state_count, r->state_capacity) =
        found(container->pushed_ps[container->depth], r->now_ps, container->cell[container->depth]);
}

static void end_link(struct reader *r, const char *key, const char *value)
{
    for (int i = 0; i < r->link_count; i++)
        if (!strcmp(r->links[i].key, key)) {
            *PP_PUSH(r->arena, r->messages, r->message_count, r->message_capacity) =
                found(r->links[i].start_ps, r->now_ps, value);
            r->links[i] = r->links[--r->link_count];
            return;
        }
    cr_assert_fail("link %s ends before it starts", key);
}

static void happens(struct reader *r, const struct definition *d, char *const *v)
{
    const char *name = d->name;
    const int64_t before_ps = r->now_ps;

    if (!strcmp(d->fields[0], "Time")) {
        r->now_ps = read_date(v[0]);
        cr_assert_geq(r->now_ps, before_ps, "time goes back at %s", v[0]);
    }
    if (!strcmp(name, "PajeDefineContainerType")) {
        if (strcmp(field(d, v, "Type"), "0") != 0)
            need(r, field(d, v, "Type"), "container type");
        add(r, field(d, v, "Alias"), "container type", field(d, v, "Type"));
    } else if (!strcmp(name, "PajeDefineStateType")) {
        need(r, field(d, v, "Type"), "container type");
        add(r, field(d, v, "Alias"), "state type", field(d, v, "Type"));
    } else if (!strcmp(name, "PajeDefineLinkType")) {
        need(r, field(d, v, "Type"), "container type");
        need(r, field(d, v, "StartContainerType"), "container type");
        need(r, field(d, v, "EndContainerType"), "container type");
        add(r, field(d, v, "Alias"), "link type", field(d, v, "Type"));
    } else if (!strcmp(name, "PajeDefineEntityValue")) {
        need(r, field(d, v, "Type"), "state type");
        add(r, field(d, v, "Alias"), field(d, v, "Type"), "");
    } else if (!strcmp(name, "PajeCreateContainer")) {
        const struct name *type = need(r, field(d, v, "Type"), "container type");
        if (strcmp(type->parent, "0") != 0) /* lies in one of the type that its type lies in */
            need(r, field(d, v, "Container"), type->parent);
        add(r, field(d, v, "Alias"), type->alias, field(d, v, "Container"));
    } else if (!strcmp(name, "PajeDestroyContainer")) {
        ((struct name *)(uintptr_t)need(r, field(d, v, "Name"), field(d, v, "Type")))->is_gone =
            true;
    } else if (!strcmp(name, "PajeStartLink")) {
        const struct name *type = need(r, field(d, v, "Type"), "link type");
        need(r, field(d, v, "Container"), type->parent);
        need(r, field(d, v, "StartContainer"), NULL);
        struct link *link = PP_PUSH(r->arena, r->links, r->link_count, r->link_capacity);
        link->start_ps = r->now_ps;
        snprintf(link->key, sizeof(link->key), "%s", field(d, v, "Key"));
    } else if (!strcmp(name, "PajeEndLink")) {
        need(r, field(d, v, "EndContainer"), NULL);
        end_link(r, field(d, v, "Key"), field(d, v, "Value"));
    } else {
        const struct name *type = need(r, field(d, v, "Type"), "state type");
        struct name *container =
            (struct name *)(uintptr_t)need(r, field(d, v, "Container"), type->parent);
        if (!strcmp(name, "PajePushState")) {
            need(r, field(d, v, "Value"), type->alias);
            push(r, container, field(d, v, "Cell"));
        } else {
            cr_assert_str_eq(name, "PajePopState");
            pop(r, container);
        }
    }
}

static void define(struct reader *r, char *line, int *open)
{
    char name[64], type[32];

    if (sscanf(line, "%%EventDef %63s %d", name, open) == 2) {
        cr_assert(*open >= 0 && *open < EVENTS && r->definitions[*open].name[0] == '\0');
        snprintf(r->definitions[*open].name, sizeof(name), "%s", name);
    } else if (!strncmp(line, "%EndEventDef", 12)) {
        *open = -1;
    } else {
        struct definition *d = &r->definitions[*open];
        cr_assert_eq(sscanf(line, "%% %31s %31s", name, type), 2, "%s", line);
        snprintf(d->fields[d->count], sizeof(d->fields[0]), "%.31s", name);
        snprintf(d->types[d->count++], sizeof(d->types[0]), "%.15s", type);
    }
}

static void read_paje(struct reader *r, FILE *in)
{
    char line[1024], *words[FIELDS];
    int open = -1;

    while (fgets(line, sizeof(line), in)) {
        if (line[0] == '%') {
            define(r, line, &open);
            continue;
        }
        const int count = words_of(line, words), event = atoi(words[0]);
        const struct definition *d = &r->definitions[event];
        cr_assert(d->name[0] && count == 1 + d->count, "%s: %d fields", d->name, count - 1);
        for (int i = 0; i < d->count; i++)
            check_type(d->types[i], words[1 + i]);
        happens(r, d, words + 1);
    }
    cr_assert_eq(r->link_count, 0, "a link has no end");
    for (int i = 0; i < r->name_count; i++)
        cr_assert_eq(r->names[i].depth, 0, "%s: a state has no end", r->names[i].alias);
}

/* ---- against the trace ----------------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
    const struct interval *a = left, *b = right;

    if (a->event != b->event)
        return a->event < b->event ? -1 : 1;
    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps ? -1 : 1;
    return a->end_ps < b->end_ps ? -1 : a->end_ps > b->end_ps;
}

static void check_same(const char *what, struct interval *a, int a_count, struct interval *b,
                       int b_count)
{
    cr_assert_eq(a_count, b_count, "%s: %d, expected %d", what, a_count, b_count);
    qsort(a, (size_t)a_count, sizeof(*a), compare);
    qsort(b, (size_t)b_count, sizeof(*b), compare);
    for (int i = 0; i < a_count; i++)
        cr_assert_eq(compare(&a[i], &b[i]), 0, "%s %d: %" PRId64 " to %" PRId64, what, i,
                     a[i].start_ps, a[i].end_ps);
}

static void check_events(struct reader *r, const char *line, const struct pp_trace *trace)
{
    struct interval *states = PP_ARRAY(r->arena, struct interval, trace->count),
                    *messages = PP_ARRAY(r->arena, struct interval, trace->count);
    int state_count = 0, message_count = 0;

    for (int i = 0; i < trace->count; i++) {
        const struct pp_trace_event *e = &trace->events[i];
        const int64_t start_ps = llround(e->start_s * 1e12), end_ps = llround(e->end_s * 1e12);
        if (e->stream != PP_STREAM_CONTROL || end_ps > start_ps)
            states[state_count++] = found(start_ps, end_ps, e->cell);
        if (pp_op_is_send(e->kind)) /* a transfer is alike on both sides */
            messages[message_count++] = found(start_ps, end_ps, pp_op_kinds[e->kind].text);
    }
    check_same(line, r->states, r->state_count, states, state_count);
    check_same(line, r->messages, r->message_count, messages, message_count);
}

/* What pj_dump prints: "State, container, type, start, end, duration, depth, value". */
static void check_dump(const struct reader *r, const char *line)
{
    char text[512];
    int states = 0, links = 0;
    double start_s, end_s, sum_s = 0, expected_s = 0;
    FILE *dump = popen("pj_dump run.paje", "r");

    cr_assert_not_null(dump);
    while (fgets(text, sizeof(text), dump)) {
        links += !strncmp(text, "Link", 4);
        if (sscanf(text, "State, %*[^,], op, %lf, %lf", &start_s, &end_s) == 2) {
            states++;
            sum_s += end_s - start_s;
        }
    }
    cr_assert_eq(pclose(dump), 0, "%s: pj_dump refuses the file", line);
    for (int i = 0; i < r->state_count; i++)
        expected_s += (double)(r->states[i].end_ps - r->states[i].start_ps) * 1e-12;
    cr_assert(states == r->state_count && links == r->message_count, "%s: %d states, %d links",
              line, states, links);
    /* It prints six decimals. */
    cr_assert_float_eq(sum_s, expected_s, 1e-6 * states, "%s", line);
}

static void check_run(const char *line)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct reader *r = PP_NEW(arena, struct reader);
    struct pp_error err = {0};
    struct pp_result run;

    r->arena = arena;
    r->names = PP_ARRAY(arena, struct name, NAMES);
    cr_assert_eq(sim_run(arena, line, &run, &err), PP_OK, "%s: %s", line, err.message);
    cr_assert_eq(pp_trace_write(run.trace, "run.paje", &err), PP_OK, "%s", err.message);
    FILE *in = fopen("run.paje", "r");
    cr_assert_not_null(in);
    read_paje(r, in);
    fclose(in);
    check_events(r, line, run.trace);
    if (system("command -v pj_dump >/dev/null") == 0)
        check_dump(r, line);
    else
        fputs("# pj_dump is not installed: not compared with it\n", stderr);
}

Test(paje, states_and_links_are_the_events_of_the_trace)
{
    for (size_t i = 0; i < sizeof(RUNS) / sizeof(*RUNS); i++)
        check_run(RUNS[i]);
}

Test(paje, names_of_programs_cannot_break_the_file)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace trace = {.program = "a \"b\"\nc", .ranks = 1, .replicas = 1, .steps = 1};
    struct pp_error err = {0};
    struct reader *r = PP_NEW(arena, struct reader);

    r->arena = arena;
    r->names = PP_ARRAY(arena, struct name, NAMES);
    cr_assert_eq(pp_trace_write(&trace, "run.paje", &err), PP_OK, "%s", err.message);
    FILE *in = fopen("run.paje", "r");
    cr_assert_not_null(in);
    read_paje(r, in);
    fclose(in);
    cr_assert_eq(r->state_count, 0);
}

Test(paje, reading_it_as_a_trace_is_refused_in_words)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace trace = {.program = "p", .ranks = 1, .replicas = 1, .steps = 1}, *read;
    struct pp_error err = {0};

    cr_assert_eq(pp_trace_write(&trace, "run.paje", &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_trace_read(arena, "run.paje", &read, &err), PP_EINVAL);
    cr_assert(strstr(err.message, "Paje") && strstr(err.message, ".csv"), "%s", err.message);
}
