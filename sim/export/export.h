/* sim/export/export.h — a run for other engines: one step as a graph of tasks, in their formats.
 *
 * A node of the graph is a program rank of one replica. Its tasks depend on tasks of the same node
 * alone; nodes exchange messages. Durations of ops are those of the run, calibrated, jittered and
 * slowed as in its engine. */
#pragma once

#include "sim/config/config.h"

/* Source of the times of messages and collectives. */
enum pp_export_wires {
    PP_WIRES_NETWORK, /* the graph's reader: messages have bytes, sums become rings of messages that
                       * take what the sum took. All replicas are in it. FIXED in unit mode */
    PP_WIRES_FIXED, /* this run: transfers and collectives are tasks with its durations, which start
                     * when they might start here. Messages themselves must be free and immediate;
                     * the step ends as in the run. One replica stands for all if it did in the run.
                     * In unit mode messages take `latency_ps` */
    PP_WIRES_COLLECTIVES, /* as NETWORK, for a reader that has collectives, too. A RECV is added at
                           * its WAIT: earlier, it could block a reader with one communication at a
                           * time. The reader decides how long a message takes */
};
enum pp_task_kind { PP_TASK_CALC, PP_TASK_SEND, PP_TASK_RECV, PP_TASK_COLLECTIVE };
struct pp_task {
    enum pp_task_kind kind;
    int lane;   /* of the node: tasks of one lane cannot overlap. 0: compute. FIXED: its tasks run
                 * in the order of the list, but a RECV only before the first that needs it */
    int64_t ps; /* CALC */
    int64_t bytes; /* SEND, RECV: at least 1. COLLECTIVE: the buffer of an AR or BC, the whole that
                    * an RS scatters or an AG gathers */
    int peer; /* SEND, RECV: the other node. COLLECTIVE: index of its pp_group, whose ranks take
               * part with all replicas */
    int peer_lane; /* SEND, RECV: that of the other end */
    uint32_t tag;  /* SEND, RECV: unique between a source and a destination */
    int port; /* SEND: messages through one port of a node are serial. Channels have their own ports
               * at both ends while there are enough */
    int instruction;  /* of the program; -1 = none, the task only orders others */
    int first, count; /* range of pp_tasks.inputs: tasks that must end first */
};
struct pp_tasks {
    struct pp_task *list; /* inputs before the tasks that need them */
    int count, capacity;
    int32_t *inputs; /* indices of tasks */
    int input_count, input_capacity;
};
struct pp_export {
    const struct pp_result *result;
    enum pp_export_wires wires;
    int nodes; /* node = replica * ranks + rank */
    /* the reader's network: a message of n bytes takes latency + n * s_per_byte */
    int64_t latency_ps;
    double s_per_byte;
    int64_t ps_per_tick; /* the unit of durations: 1000, or more in unit mode with a great C */
    /* internal */
    int replicas;        /* of the graph */
    int32_t *channel_of; /* [message] */
    int *out_lane,
        *in_lane;   /* [channel]: its number among those of its source, and of its destination */
    uint32_t *tag0; /* [collective]; the last element is that of the first barrier */
    int *event0;    /* [replica of the run * ranks + rank]: first event of its trace */
};

/* Opens the export of a run of one step with its trace. PP_EINVAL if no format holds it: too many
 * channels of a node (lanes are bytes), tags beyond 32 bits. */
enum pp_status pp_export_open(struct pp_arena *arena, const struct pp_result *result,
                              enum pp_export_wires wires, struct pp_export *export,
                              struct pp_error *err);
/* Makes the tasks of one node, in the arena. */
void pp_export_tasks(struct pp_arena *arena, const struct pp_export *export, int node,
                     struct pp_tasks *tasks);

/* Actions that PyTorch reads: compute_only, or compute_comms with SEND and RECV from its own pass.
 * WAITS: all that PyTorch 2.15 runs, so also sums of gradients and gathers of cut parameters. */
enum pp_pytorch_list { PP_PYTORCH_COMPUTE, PP_PYTORCH_COMMS, PP_PYTORCH_WAITS };
/* Writes the ops of a run for torch.distributed.pipelining, one row per rank; PyTorch receives,
 * recomputes and updates by itself. `*warning` says what PyTorch cannot load, or is NULL. */
enum pp_status pp_export_pytorch(struct pp_arena *arena, const struct pp_program *program,
                                 enum pp_pytorch_list list, FILE *out, const char **warning,
                                 struct pp_error *err);

/* Writes GOAL text for LogGOPSim and other readers: a calc, send or recv a line, in nanoseconds.
 * Its first lines give the reader's options. Errors of the stream are sticky. */
void pp_export_goal(const struct pp_export *export, FILE *out);

/* Writes Chakra execution traces for ASTRA-sim, of an export with PP_WIRES_COLLECTIVES. The folder
 * has "step.NODE.et" for each node, and "groups.json" with the nodes of each group. Durations are
 * microseconds. PP_EFAIL, with nothing left, if the folder exists or cannot be made. */
enum pp_status pp_export_chakra(const struct pp_export *export, const char *folder,
                                struct pp_error *err);
