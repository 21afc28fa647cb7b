/* sim/export/export.h — a run for other engines: one step as a graph of tasks, in their formats.
 *
 * A node of the graph is a program rank of one replica. Its tasks depend on tasks of the same node
 * alone; what one node needs of another comes as a message. Durations are those of the run, op by
 * op: calibrated, jittered, slowed, as its engine had them. */
#pragma once

#include "sim/config/config.h"

/* Who decides what messages and collectives take. */
enum pp_export_wires {
    PP_WIRES_NETWORK, /* the engine that reads the graph: messages have their bytes, sums become
                       * rings. All replicas are there */
    PP_WIRES_FIXED, /* this run: transfers and collectives are tasks that take what they took here,
                     * and start when they might start here. Messages themselves have to be free
                     * and at once; the end of the step is that of the run. One replica stands for
                     * all where it did in the run. In unit mode messages take `latency_ps` */
    PP_WIRES_COLLECTIVES, /* as network, for a reader that has collectives, too. A RECV comes
                           * where it is waited for, so that it blocks nothing where
                           * communication is one at a time. The reader decides how long a
                           * message takes */
};
enum pp_task_kind { PP_TASK_CALC, PP_TASK_SEND, PP_TASK_RECV, PP_TASK_COLLECTIVE };
struct pp_task {
    enum pp_task_kind kind;
    int lane;      /* of the node: tasks of one lane cannot overlap. 0: compute; SEND and RECV: 1 */
    int64_t ps;    /* CALC */
    int64_t bytes; /* SEND, RECV: at least 1. COLLECTIVE: the buffer of an AR or BC, the whole that
                    * an RS scatters or an AG gathers */
    int peer;     /* SEND, RECV: the other node. COLLECTIVE: index of its pp_group, whose ranks take
                   * part with all their replicas */
    uint32_t tag; /* SEND, RECV: unique between a source and a destination */
    int port;     /* SEND: messages through one port of a node follow one another. A channel
                   * has a port of its own at both ends as long as there are enough */
    int instruction;  /* of the program that it stands for; -1 = none, it only orders others */
    int first, count; /* in pp_tasks.inputs: what must be over */
};
struct pp_tasks {
    struct pp_task *list; /* every input before what needs it */
    int count, capacity;
    int32_t *inputs; /* indices of tasks */
    int input_count, input_capacity;
};
struct pp_export {
    const struct pp_result *result;
    enum pp_export_wires wires;
    int nodes; /* node = replica * ranks + rank */
    /* what the reader's network is to have: a message of n bytes takes latency + n * s_per_byte */
    int64_t latency_ps;
    double s_per_byte;
    /* internal */
    int replicas;        /* of the graph */
    int32_t *channel_of; /* [message] */
    int *out_lane,
        *in_lane;   /* [channel]: its number among those of its source, of its destination */
    uint32_t *tag0; /* [collective], and of the first barrier after the last one */
    int *event0;    /* [replica of the run * ranks + rank]: first event of its trace */
};

/* Of a run of one step with its trace. PP_EINVAL for what no format holds: too many channels of a
 * node (lanes are bytes), tags beyond 32 bits. */
enum pp_status pp_export_open(struct pp_arena *arena, const struct pp_result *result,
                              enum pp_export_wires wires, struct pp_export *export,
                              struct pp_error *err);
/* The tasks of one node, in the arena. */
void pp_export_tasks(struct pp_arena *arena, const struct pp_export *export, int node,
                     struct pp_tasks *tasks);

/* ---- sim/export/pytorch.c ---- */
/* One of its lists of actions. compute_only; compute_comms with SEND and RECV where its own
 * pass puts them; the same with a WAIT for each SEND, as PyTorch 2.15 demands. */
enum pp_pytorch_list { PP_PYTORCH_COMPUTE, PP_PYTORCH_COMMS, PP_PYTORCH_WAITS };
/* The compute ops of a run as torch.distributed.pipelining reads them, one row a rank. It receives,
 * recomputes and updates by itself.
 * `*warning` is what of it PyTorch cannot load, or NULL. */
enum pp_status pp_export_pytorch(struct pp_arena *arena, const struct pp_program *program,
                                 enum pp_pytorch_list list, FILE *out, const char **warning,
                                 struct pp_error *err);

/* ---- sim/export/goal.c ---- */
/* GOAL text for LogGOPSim and what else reads it: a calc, send or recv a line, in nanoseconds. Its
 * first lines say what to call it with. Errors of the stream are sticky. */
void pp_export_goal(const struct pp_export *export, FILE *out);

/* ---- sim/export/chakra.c ---- */
/* Chakra execution traces for ASTRA-sim, of an export with PP_WIRES_COLLECTIVES. The folder
 * has "step.NODE.et" for each node, and "groups.json" with the nodes of each group of
 * collectives. Durations are microseconds. PP_EFAIL where the folder exists already or cannot
 * be made; then nothing of it is there. */
enum pp_status pp_export_chakra(const struct pp_export *export, const char *folder,
                                struct pp_error *err);
