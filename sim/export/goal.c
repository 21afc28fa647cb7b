/* Writes tasks as text in GOAL, the language of LogGOPSim. */
#include "sim/export/export.h"

#include "core/arena.h"

#include <inttypes.h>

/* Format: the text that LogGOPSim's txt2bin reads (T. Hoefler, T. Schneider, A. Lumsdaine,
 * "LogGOPSim", LSAP'10). Its grammar is in txt2bin.re: `l1: calc NS cpu C`, `l2: send 8b to 1
 * tag 0 cpu C nic P`, `l3: recv 8b from 1 tag 0 cpu C`, `l2 requires l1`. A lane is a cpu,
 * which costs nothing with o = 0. Messages have a cpu of their own, since an arriving one
 * waits for the cpu of its send. */

static int64_t nanoseconds(int64_t ps)
{
    return (ps + 500) / 1000;
}

static void print_task(const struct pp_task *task, int number, FILE *out)
{
    static const char *const KINDS[] = {[PP_TASK_SEND] = "send", [PP_TASK_RECV] = "recv"};
    static const char *const SIDES[] = {[PP_TASK_SEND] = "to", [PP_TASK_RECV] = "from"};

    fprintf(out, "l%d: ", number);
    if (task->kind == PP_TASK_CALC)
        fprintf(out, "calc %" PRId64 " cpu %d", nanoseconds(task->ps), task->lane);
    else
        fprintf(out, "%s %" PRId64 "b %s %d tag %" PRIu32 " cpu %d nic %d", KINDS[task->kind],
                task->bytes, SIDES[task->kind], task->peer, task->tag, task->lane, task->port);
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
        print_task(task, i + 1, out);
        for (int k = 0; k < task->count; k++)
            fprintf(out, "l%d requires l%" PRId32 "\n", i + 1, tasks.inputs[task->first + k] + 1);
    }
    fputs("}\n", out);
}

/* Prints the head; -G is in nanoseconds per byte. */
static void print_head(const struct pp_export *e, FILE *out)
{
    const struct pp_result *r = e->result;

    fprintf(out, "// pipesim %s: %d pipeline ranks, %d of %d replicas, engine %s\n", PP_VERSION,
            r->program->ranks, e->replicas, r->config.layout.dp, r->trace->engine);
    fprintf(out, "// predicted step: %.3f ns\n", r->metrics.iteration_s * 1e9);
    fprintf(out, "// LogGOPSim -L %" PRId64 " -o 0 -g 0 -O 0 -G %.9g -S 4294967295\n",
            nanoseconds(e->latency_ps), e->s_per_byte * 1e9);
    fprintf(out, "num_ranks %d\n", e->nodes);
}

void pp_export_goal(const struct pp_export *export, FILE *out)
{
    print_head(export, out);
    for (int node = 0; node < export->nodes && !ferror(out); node++)
        print_node(export, node, out);
}
