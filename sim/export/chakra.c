/* Writes tasks as Chakra execution traces: protobuf messages, encoded by hand. */
#include "sim/export/export.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Format: messages of et_def.proto (MLCommons Chakra, schema 0.0.4), first one
 * GlobalMetadata, then Nodes. Each has its length in front, as a varint. Attributes have the
 * types that ASTRA-sim's feeder reads. */
enum { VARINT = 0, BYTES = 2 }; /* wire types */
enum { METADATA_VERSION = 1 };
enum {
    NODE_ID = 1,
    NODE_NAME = 2,
    NODE_TYPE = 3,
    NODE_DATA_DEPS = 5,
    NODE_MICROS = 7,
    NODE_ATTR = 10
};
enum { ATTR_NAME = 1, ATTR_INT32 = 7, ATTR_INT64 = 9, ATTR_BOOL = 27, ATTR_STRING = 29 };
/* NodeType, CollectiveCommType */
static const int TYPES[] = {
    [PP_TASK_CALC] = 4, [PP_TASK_SEND] = 5, [PP_TASK_RECV] = 6, [PP_TASK_COLLECTIVE] = 7};
static const int COLLECTIVES[PP_OP_KINDS] = {
    [PP_AR] = 0, [PP_AG] = 2, [PP_BC] = 5, [PP_A2A] = 6, [PP_RS] = 7};

/* ---- protobuf -------------------------------------------------------------------------------- */

struct bytes {
    struct pp_arena *arena;
    unsigned char *data;
    int count, capacity;
};

static void put_varint(struct bytes *b, uint64_t value)
{
    for (; value > 127; value >>= 7)
        *PP_PUSH(b->arena, b->data, b->count, b->capacity) = (unsigned char)(value | 128);
    *PP_PUSH(b->arena, b->data, b->count, b->capacity) = (unsigned char)value;
}

static void put_number(struct bytes *b, int field, uint64_t value)
{
    put_varint(b, (uint64_t)field << 3 | VARINT);
    put_varint(b, value);
}

static void put_bytes(struct bytes *b, int field, const void *data, size_t length)
{
    put_varint(b, (uint64_t)field << 3 | BYTES);
    put_varint(b, length);
    for (size_t i = 0; i < length; i++)
        *PP_PUSH(b->arena, b->data, b->count, b->capacity) = ((const unsigned char *)data)[i];
}

static void put_text(struct bytes *b, int field, const char *text)
{
    put_bytes(b, field, text, strlen(text));
}

static void put_attribute(struct bytes *node, const char *name, int type, uint64_t value)
{
    struct bytes b = {.arena = node->arena};

    put_text(&b, ATTR_NAME, name);
    put_number(&b, type, value);
    put_bytes(node, NODE_ATTR, b.data, (size_t)b.count);
}

static void put_text_attribute(struct bytes *node, const char *name, const char *text)
{
    struct bytes b = {.arena = node->arena};

    put_text(&b, ATTR_NAME, name);
    put_text(&b, ATTR_STRING, text);
    put_bytes(node, NODE_ATTR, b.data, (size_t)b.count);
}

/* Writes a message after its length. */
static void write_message(const struct bytes *message, FILE *out)
{
    struct bytes length = {.arena = message->arena};

    put_varint(&length, (uint64_t)message->count);
    fwrite(length.data, 1, (size_t)length.count, out);
    fwrite(message->data, 1, (size_t)message->count, out);
}

/* ---- nodes of a trace ------------------------------------------------------------------------ */

/* Names of groups are positive numbers. */
static int group_number(int group)
{
    return group + 1;
}

static const char *name_of(const struct pp_export *e, const struct pp_task *task,
                           char text[PP_OP_TEXT_BYTES])
{
    struct pp_op_style style = pp_program_style(e->result->program);

    if (task->instruction < 0)
        return "order";
    const struct pp_op op = pp_program_op(e->result->program, task->instruction);
    style.slots = false;
    pp_op_print(&op, style, text);
    return text;
}

static void put_calc(struct bytes *b, const struct pp_task *task)
{
    put_number(b, NODE_MICROS, (uint64_t)(task->ps + 500000) / 1000000);
    /* Copies and sums run concurrently with compute, which must not wait for them. */
    put_attribute(b, "is_cpu_op", ATTR_BOOL, task->lane != 0);
}

static void put_message(struct bytes *b, const struct pp_task *task, int node)
{
    const bool is_send = task->kind == PP_TASK_SEND;

    put_attribute(b, "is_cpu_op", ATTR_BOOL, false);
    put_attribute(b, "comm_size", ATTR_INT64, (uint64_t)task->bytes);
    put_attribute(b, "comm_src", ATTR_INT32, (uint64_t)(is_send ? node : task->peer));
    put_attribute(b, "comm_dst", ATTR_INT32, (uint64_t)(is_send ? task->peer : node));
    put_attribute(b, "comm_tag", ATTR_INT32, task->tag);
}

/* ASTRA-sim counts the bytes that a member brings: its share of an all-gather. */
static void put_collective(const struct pp_export *e, struct bytes *b, const struct pp_task *task)
{
    const struct pp_program *p = e->result->program;
    const int kind = p->kind[task->instruction],
              members = p->groups[task->peer].count * e->replicas;
    const int64_t bytes = kind == PP_AG ? (task->bytes + members - 1) / members : task->bytes;
    char name[16];

    snprintf(name, sizeof(name), "%d", group_number(task->peer));
    put_attribute(b, "is_cpu_op", ATTR_BOOL, false);
    put_attribute(b, "comm_type", ATTR_INT64, (uint64_t)COLLECTIVES[kind]);
    put_attribute(b, "comm_size", ATTR_INT64, (uint64_t)(bytes > 1 ? bytes : 1));
    put_text_attribute(b, "pg_name", name);
}

static void write_task(const struct pp_export *e, int node, const struct pp_tasks *tasks, int i,
                       struct pp_arena *arena, FILE *out)
{
    const struct pp_task *task = &tasks->list[i];
    struct bytes b = {.arena = arena}, deps = {.arena = arena};
    char name[PP_OP_TEXT_BYTES];

    put_number(&b, NODE_ID, (uint64_t)i);
    put_text(&b, NODE_NAME, name_of(e, task, name));
    put_number(&b, NODE_TYPE, (uint64_t)TYPES[task->kind]);
    for (int k = 0; k < task->count; k++)
        put_varint(&deps, (uint64_t)tasks->inputs[task->first + k]);
    if (task->count > 0)
        put_bytes(&b, NODE_DATA_DEPS, deps.data, (size_t)deps.count);
    if (task->kind == PP_TASK_CALC)
        put_calc(&b, task);
    else if (task->kind == PP_TASK_COLLECTIVE)
        put_collective(e, &b, task);
    else
        put_message(&b, task, node);
    write_message(&b, out);
}

static void write_node(const struct pp_export *e, int node, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct bytes metadata = {.arena = arena};
    struct pp_tasks tasks;

    put_text(&metadata, METADATA_VERSION, "0.0.4");
    write_message(&metadata, out);
    pp_export_tasks(arena, e, node, &tasks);
    for (int i = 0; i < tasks.count && !ferror(out); i++) {
        const struct pp_arena_mark mark = pp_arena_mark(arena);
        write_task(e, node, &tasks, i, arena, out);
        pp_arena_release(arena, mark);
    }
}

/* Writes {"1": [0, 2], ...}. */
static void write_groups(const struct pp_export *e, int ignored, FILE *out)
{
    const struct pp_program *p = e->result->program;
    json_t *groups = json_object();

    (void)ignored;
    for (int g = 0; g < p->group_count; g++) {
        json_t *nodes = json_array();
        char name[16];
        for (int replica = 0; replica < e->replicas; replica++)
            for (int k = 0; k < p->groups[g].count; k++)
                json_array_append_new(
                    nodes, json_integer(replica * p->ranks + p->members[p->groups[g].first + k]));
        snprintf(name, sizeof(name), "%d", group_number(g));
        json_object_set_new(groups, name, nodes);
    }
    json_dumpf(groups, out, JSON_COMPACT);
    fputc('\n', out);
    json_decref(groups);
}

/* ---- the folder ------------------------------------------------------------------------------ */

typedef void (*writer)(const struct pp_export *export, int node, FILE *out);

static enum pp_status write_file(const struct pp_export *e, const char *path, writer write,
                                 int node, struct pp_error *err)
{
    FILE *out = fopen(path, "wb");

    if (!out)
        return pp_error_set(err, PP_EFAIL, "cannot write '%s': %s", path, strerror(errno));
    write(e, node, out);
    const bool has_failed = ferror(out) != 0;
    if (fclose(out) != 0 || has_failed)
        return pp_error_set(err, PP_EFAIL, "cannot write '%s': %s", path, strerror(errno));
    return PP_OK;
}

static const char *file_of(struct pp_arena *arena, const char *folder, int node)
{
    return node < 0 ? pp_arena_printf(arena, "%s/groups.json", folder)
                    : pp_arena_printf(arena, "%s/step.%d.et", folder, node);
}

static enum pp_status fill(struct pp_arena *arena, const struct pp_export *e, const char *folder,
                           struct pp_error *err)
{
    PP_TRY(write_file(e, file_of(arena, folder, -1), write_groups, -1, err));
    for (int node = 0; node < e->nodes; node++)
        PP_TRY(write_file(e, file_of(arena, folder, node), write_node, node, err));
    return PP_OK;
}

static void remove_all(struct pp_arena *arena, const struct pp_export *e, const char *folder)
{
    for (int node = -1; node < e->nodes; node++)
        unlink(file_of(arena, folder, node));
    rmdir(folder);
}

/* The folder is filled under another name first. */
enum pp_status pp_export_chakra(const struct pp_export *export, const char *folder,
                                struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *temporary = pp_arena_printf(arena, "%s.part", folder);
    struct stat info;

    if (lstat(folder, &info) == 0)
        return pp_error_set(err, PP_EFAIL, "'%s' exists; name a new folder", folder);
    if (mkdir(temporary, 0777) != 0)
        return pp_error_set(err, PP_EFAIL, "cannot make the folder '%s': %s", temporary,
                            strerror(errno));
    enum pp_status status = fill(arena, export, temporary, err);
    if (status == PP_OK && rename(temporary, folder) != 0)
        status =
            pp_error_set(err, PP_EFAIL, "cannot make the folder '%s': %s", folder, strerror(errno));
    if (status != PP_OK)
        remove_all(arena, export, temporary);
    return status;
}
