/* Writes tasks as text in GOAL, the language of LogGOPSim. */
#include "sim/export/chains.h"

#include "core/arena.h"

#include <inttypes.h>

/* Format: the text that LogGOPSim's txt2bin reads (T. Hoefler, T. Schneider, A. Lumsdaine,
 * "LogGOPSim", LSAP'10; spcl/LogGOPSim 76451de, txt2bin.re): `l1: calc NS cpu C`, `l2: send 8b to 1
 * tag 0 cpu C nic P`, `l3: recv 8b from 1 tag 0 cpu C`, `l2 requires l1`.
 *
 * LogGOPSim itself frees the users of a calc when the calc starts, and gives each the time at which
 * its own cpu is free. So a dependency between two cpus has no duration there. It has whole
 * nanoseconds per byte, and a message keeps the receiving cpu busy for all its bytes. Fixed wires
 * are therefore written as chains, each a rank with one cpu; messages are free. ATLAHS' fork
 * (spcl/atlahs 8837294) passes on the end of a task, and reads fractions. So network wires are
 * written for it: a lane is a cpu, which costs nothing with o = 0. Messages have a cpu of their
 * own. */

static int64_t ticks(const struct pp_export *e, int64_t ps)
{
    return (ps + e->ps_per_tick / 2) / e->ps_per_tick;
}

static const char *const KINDS[] = {[PP_TASK_SEND] = "send", [PP_TASK_RECV] = "recv"};
static const char *const SIDES[] = {[PP_TASK_SEND] = "to", [PP_TASK_RECV] = "from"};

/* ---- network wires: a rank for each node ----------------------------------------------------- */

static void print_task(const struct pp_export *e, const struct pp_task *task, int number, FILE *out)
{
    fprintf(out, "l%d: ", number);
    if (task->kind == PP_TASK_CALC)
        fprintf(out, "calc %" PRId64 " cpu %d", ticks(e, task->ps), task->lane);
    else
        fprintf(out, "%s %" PRId64 "b %s %d tag %" PRIu32 " cpu %d nic %d", KINDS[task->kind],
                task->bytes, SIDES[task->kind], task->peer, task->tag, LANE_MESSAGES, task->port);
    fputc('\n', out);
}

static void print_node(const struct pp_export *export, int node, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_tasks tasks;

    pp_export_tasks(arena, export, node, &tasks);
    fprintf(out, "\nrank %d {\n", node);
    for (int i = 0; i < tasks.count; i++) {
        const struct pp_task *task = &tasks.list[i];
        print_task(export, task, i + 1, out);
        for (int k = 0; k < task->count; k++)
            fprintf(out, "l%d requires l%" PRId32 "\n", i + 1, tasks.inputs[task->first + k] + 1);
    }
    fputs("}\n", out);
}

/* ---- fixed wires: a rank for each lane of a node -----------------------------------------------
 */

/* Numbers of GOAL's ranks. Replicas have the same lanes. */
struct numbers {
    int *lane; /* [rank * MAX_LANES + lane]: from 0 in its replica; -1 = not used */
    int *dest; /* [rank * MAX_LANES + lane]: of a channel's transfers */
    int ranks; /* of the program */
    int in_replica;
};

static struct numbers number_ranks(struct pp_arena *arena, const struct pp_export *e)
{
    const struct pp_program *p = e->result->program;
    const int ranks = p->ranks;
    struct numbers n = {.lane = PP_ARRAY(arena, int, ranks *MAX_LANES),
                        .dest = PP_ARRAY(arena, int, ranks *MAX_LANES),
                        .ranks = ranks};

    for (int c = 0; c < p->channel_count; c++)
        n.dest[p->channels[c].source * MAX_LANES + LANE_WIRES + e->out_lane[c]] =
            p->channels[c].dest;
    for (int rank = 0; rank < ranks; rank++) {
        PP_ARENA_AUTO struct pp_arena *own = pp_arena_create();
        int *lane = &n.lane[rank * MAX_LANES];
        struct pp_tasks tasks;
        pp_export_tasks(own, e, rank, &tasks);
        for (int i = 0; i < tasks.count; i++)
            lane[tasks.list[i].lane] = 1;
        lane[LANE_COMPUTE] = 1; /* a rank without work is a rank */
        for (int k = 0; k < MAX_LANES; k++)
            lane[k] = lane[k] ? n.in_replica++ : -1;
    }
    return n;
}

static int number_of(const struct numbers *n, int node, int lane)
{
    return node / n->ranks * n->in_replica + n->lane[node % n->ranks * MAX_LANES + lane];
}

static void print_message(enum pp_task_kind kind, int peer, uint32_t tag, FILE *out)
{
    fprintf(out, "%s 1b %s %d tag %" PRIu32 "\n", KINDS[kind], SIDES[kind], peer, tag);
}

static void print_line(const struct pp_export *e, const struct numbers *n,
                       const struct pp_tasks *tasks, int node, const struct pp_chain_line *line,
                       FILE *out)
{
    const struct pp_task *task = &tasks->list[line->task];

    if (line->kind >= 0)
        print_message((enum pp_task_kind)line->kind, number_of(n, node, line->lane),
                      (uint32_t)line->task, out);
    else if (task->kind == PP_TASK_CALC)
        fprintf(out, "calc %" PRId64 "\n", ticks(e, task->ps));
    else
        print_message(task->kind, number_of(n, task->peer, task->peer_lane), task->tag, out);
}

static void print_remark(const struct numbers *n, int node, int lane, FILE *out)
{
    static const char *const LANES[] = {"compute",     "",          "collectives",
                                        "copies down", "copies up", "host"};
    const int rank = node % n->ranks;

    fprintf(out, "\n// replica %d, rank %d: ", node / n->ranks, rank);
    if (lane < LANE_WIRES)
        fprintf(out, "%s\n", LANES[lane]);
    else
        fprintf(out, "messages to rank %d\n", n->dest[rank * MAX_LANES + lane]);
}

static void print_chains(const struct pp_export *e, const struct numbers *n, int node, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_tasks tasks;
    struct pp_chains chains;

    pp_export_tasks(arena, e, node, &tasks);
    pp_chains_divide(arena, &tasks, &chains);
    for (int lane = 0; lane < MAX_LANES; lane++) {
        int number = 0;
        if (n->lane[node % n->ranks * MAX_LANES + lane] < 0)
            continue;
        print_remark(n, node, lane, out);
        fprintf(out, "rank %d {\n", number_of(n, node, lane));
        for (const struct pp_chain_line *line = chains.of[lane].begin; line; line = line->next) {
            fprintf(out, "l%d: ", ++number);
            print_line(e, n, &tasks, node, line, out);
            if (number > 1)
                fprintf(out, "l%d requires l%d\n", number, number - 1);
        }
        fputs("}\n", out);
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Prints the head; -G is in nanoseconds per byte. */
static void print_head(const struct pp_export *e, int ranks, FILE *out)
{
    const struct pp_result *r = e->result;
    const double ticks_ps = (double)e->ps_per_tick;

    fprintf(out, "// pipesim %s: %d pipeline ranks, %d of %d replicas, engine %s\n", PP_VERSION,
            r->program->ranks, e->replicas, r->config.layout.dp, r->trace->engine);
    fprintf(out, "// predicted step: %.3f ns\n", r->metrics.iteration_s * 1e12 / ticks_ps);
    if (e->ps_per_tick > 1000)
        fprintf(out, "// 1 unit = %.0f ns\n", 1e12 / ticks_ps);
    fprintf(out, "// LogGOPSim%s -L %" PRId64 " -o 0 -g 0 -O 0 -G %.9g -S 4294967295\n",
            e->wires == PP_WIRES_FIXED ? "" : " of ATLAHS", ticks(e, e->latency_ps),
            e->s_per_byte * 1e9);
    fprintf(out, "num_ranks %d\n", ranks);
}

void pp_export_goal(const struct pp_export *export, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct numbers numbers = {0};

    if (export->wires == PP_WIRES_FIXED)
        numbers = number_ranks(arena, export);
    print_head(export,
               export->wires == PP_WIRES_FIXED ? export->replicas * numbers.in_replica
                                               : export->nodes,
               out);
    for (int node = 0; node < export->nodes && !ferror(out); node++)
        if (export->wires == PP_WIRES_FIXED)
            print_chains(export, &numbers, node, out);
        else
            print_node(export, node, out);
}
