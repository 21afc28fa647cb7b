#include "tests/oracle/loggp.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* et_def.proto read field by field, with nothing but the wire format. */
struct cursor {
    const unsigned char *at, *end;
};
struct value { /* of a field */
    int field, type;
    uint64_t number;
    struct cursor bytes;
};
struct reader {
    struct loggp *graph;
    json_t *groups;
    int node, first;  /* of the file at hand; its first task */
    uint32_t met[64]; /* [group]: collectives of this node so far */
    char *message;
};

static bool wrong(const struct reader *r, const char *what)
{
    snprintf(r->message, 256, "node %d: %s", r->node, what);
    return false;
}

static bool get_varint(struct cursor *c, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; c->at < c->end && shift < 64; shift += 7) {
        *value |= (uint64_t)(*c->at & 127) << shift;
        if (!(*c->at++ & 128))
            return true;
    }
    return false;
}

static bool get_bytes(struct cursor *c, struct cursor *bytes)
{
    uint64_t length;

    if (!get_varint(c, &length) || length > (uint64_t)(c->end - c->at))
        return false;
    *bytes = (struct cursor){c->at, c->at + length};
    c->at += length;
    return true;
}

static bool get_field(struct cursor *c, struct value *v)
{
    uint64_t key;

    if (!get_varint(c, &key))
        return false;
    v->field = (int)(key >> 3);
    v->type = (int)(key & 7);
    return v->type == 0 ? get_varint(c, &v->number) : v->type == 2 && get_bytes(c, &v->bytes);
}

static bool is_text(struct cursor bytes, const char *text)
{
    return (size_t)(bytes.end - bytes.at) == strlen(text) && !memcmp(bytes.at, text, strlen(text));
}

/* What a Node may say. */
struct node {
    uint64_t id, type, micros;
    struct cursor deps;
    int64_t size, source, dest, tag, comm_type, is_cpu;
    char group[16];
};

/* Each attribute has the one type that the feeder of ASTRA-sim reads it by. */
static bool get_attribute(struct cursor c, struct node *n)
{
    const struct {
        const char *name;
        int field;
        int64_t *value;
    } NUMBERS[] = {
        {"is_cpu_op", 27, &n->is_cpu}, {"comm_size", 9, &n->size}, {"comm_type", 9, &n->comm_type},
        {"comm_src", 7, &n->source},   {"comm_dst", 7, &n->dest},  {"comm_tag", 7, &n->tag},
    };
    struct value name, v;

    if (!get_field(&c, &name) || name.field != 1 || name.type != 2 || !get_field(&c, &v) ||
        c.at != c.end)
        return false;
    for (size_t i = 0; i < sizeof(NUMBERS) / sizeof(*NUMBERS); i++)
        if (is_text(name.bytes, NUMBERS[i].name)) {
            *NUMBERS[i].value = (int64_t)v.number;
            return v.type == 0 && v.field == NUMBERS[i].field && v.number <= INT64_MAX;
        }
    if (!is_text(name.bytes, "pg_name") || v.type != 2 || v.field != 29 ||
        v.bytes.end - v.bytes.at >= (long)sizeof(n->group))
        return false;
    memcpy(n->group, v.bytes.at, (size_t)(v.bytes.end - v.bytes.at));
    return true;
}

static bool get_node(struct cursor c, struct node *n)
{
    struct value v;

    *n = (struct node){.source = -1, .dest = -1, .tag = -1, .comm_type = -1, .is_cpu = -1};
    while (c.at < c.end) {
        if (!get_field(&c, &v))
            return false;
        if (v.field == 1 && v.type == 0)
            n->id = v.number;
        else if (v.field == 3 && v.type == 0)
            n->type = v.number;
        else if (v.field == 7 && v.type == 0)
            n->micros = v.number;
        else if (v.field == 5 && v.type == 2)
            n->deps = v.bytes;
        else if (v.field == 10 && v.type == 2) {
            if (!get_attribute(v.bytes, n))
                return false;
        } else if (v.field != 2 || v.type != 2) {
            return false;
        }
    }
    return true;
}

static bool take_message(const struct reader *r, const struct node *n, struct loggp_task *task)
{
    const bool is_send = n->type == 5;

    task->kind = is_send ? LOGGP_SEND : LOGGP_RECV;
    task->bytes = (double)n->size;
    task->peer = (int)(is_send ? n->dest : n->source);
    task->tag = (uint32_t)n->tag;
    /* Channels do not get in each other's way: a port for each peer and direction. */
    task->port = (int)(2 * (n->tag % 64)) + is_send;
    return (n->size > 0 && n->tag >= 0 && n->tag <= INT32_MAX && n->is_cpu == 0 &&
            task->peer >= 0 && task->peer < r->graph->nodes &&
            (is_send ? n->source : n->dest) == r->node) ||
           wrong(r, "a message without its ends");
}

/* A ring: an all-gather counts shares, all others the whole. */
static bool take_collective(struct reader *r, const struct node *n, struct loggp_task *task)
{
    const json_t *group = json_object_get(r->groups, n->group);
    const int members = (int)json_array_size(group), key = atoi(n->group);
    const double share = (double)n->size / (n->comm_type == 2 ? 1 : members);
    const int steps = (n->comm_type == 0 ? 2 : 1) * (members - 1);
    bool is_member = false;

    for (int k = 0; k < members; k++)
        is_member |= json_integer_value(json_array_get(group, (size_t)k)) == r->node;
    if (!is_member || members > 64 || key < 1 || key >= 64 || n->is_cpu != 0 || n->size < 1 ||
        (n->comm_type != 0 && n->comm_type != 2 && n->comm_type != 7))
        return wrong(r, "a collective of no group of its own");
    *task =
        (struct loggp_task){.kind = LOGGP_MEET,
                            .node = r->node,
                            .peer = key,
                            .tag = r->met[key]++,
                            .members = members,
                            .bytes = (double)n->size,
                            .ns = steps * (r->graph->latency_ns + r->graph->ns_per_byte * share)};
    return true;
}

static bool take_node(struct reader *r, const struct node *n)
{
    struct loggp *g = r->graph;
    struct loggp_task task = {.node = r->node, .ns = 1000 * (double)n->micros};
    struct cursor deps = n->deps;
    uint64_t dep;

    if (n->id != (uint64_t)(g->count - r->first))
        return wrong(r, "numbers are 0, 1, 2, ...");
    if (n->type == 7 && !take_collective(r, n, &task))
        return false;
    if ((n->type == 5 || n->type == 6) && !take_message(r, n, &task))
        return false;
    if (n->type < 4 || n->type > 7 || (n->type == 4 && n->is_cpu < 0))
        return wrong(r, "a node of another type");
    if (n->type == 4)
        task.cpu = (int)n->is_cpu;
    while (deps.at < deps.end) {
        if (!get_varint(&deps, &dep) || dep >= n->id)
            return wrong(r, "it depends on what is not before it");
        *PP_PUSH(g->arena, g->edges, g->edge_count, g->edge_capacity) =
            (struct loggp_edge){.task = g->count, .needs = r->first + (int)dep};
    }
    *PP_PUSH(g->arena, g->tasks, g->count, g->capacity) = task;
    return true;
}

static bool read_trace(struct reader *r, const unsigned char *data, size_t length)
{
    struct cursor c = {data, data + length}, message;
    struct value version;
    struct node node;

    if (!get_bytes(&c, &message) || !get_field(&message, &version) || version.field != 1 ||
        version.type != 2 || !is_text(version.bytes, "0.0.4"))
        return wrong(r, "no metadata of version 0.0.4");
    while (c.at < c.end)
        if (!get_bytes(&c, &message) || !get_node(message, &node))
            return wrong(r, "no message of the schema");
        else if (!take_node(r, &node))
            return false;
    return true;
}

static unsigned char *read_file(struct pp_arena *arena, const char *path, size_t *length)
{
    FILE *in = fopen(path, "rb");

    if (!in)
        return NULL;
    fseek(in, 0, SEEK_END);
    const size_t size = (size_t)ftell(in);
    unsigned char *data = pp_arena_alloc(arena, size + 1);
    rewind(in);
    *length = fread(data, 1, size, in);
    fclose(in);
    return data;
}

bool chakra_read(struct pp_arena *arena, const char *folder, struct loggp *graph, char message[256])
{
    struct reader r = {.graph = graph, .message = message};
    const unsigned char *data;
    size_t length = 0;
    bool is_read = true;

    r.groups = json_load_file(pp_arena_printf(arena, "%s/groups.json", folder), 0, NULL);
    if (!r.groups)
        return wrong(&r, "no groups.json");
    graph->arena = arena;
    while ((data = read_file(arena, pp_arena_printf(arena, "%s/step.%d.et", folder, graph->nodes),
                             &length)) != NULL)
        graph->nodes++;
    for (; is_read && r.node < graph->nodes; r.node++) {
        data = read_file(arena, pp_arena_printf(arena, "%s/step.%d.et", folder, r.node), &length);
        r.first = graph->count;
        memset(r.met, 0, sizeof(r.met));
        is_read = read_trace(&r, data, length);
    }
    json_decref(r.groups);
    return is_read;
}
