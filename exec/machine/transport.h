/* exec/machine/transport.h — where the workers of a program run, and how they reach each other. One
 * file per transport; the lists, their messages and their times are the same for all. */
#pragma once

#include "core/error.h"

#include <stdbool.h>

struct pp_machine;
struct pp_worker;
struct pp_header;
struct pp_machine_message;
/* Where workers share no memory, each tells the others what they must know. Any thread may call
 * these functions, and those of a transport that stand next to them; only begin and fetch wait for
 * other processes. */
struct pp_remote {
    /* Caller of a step: all processes have begun it. PP_EFAIL: a process has failed or is gone. */
    enum pp_status (*begin)(struct pp_machine *machine, struct pp_error *err);
    /* The worker has come to a barrier. Caller of a step: all may pass it. */
    void (*arrived)(struct pp_worker *worker, int barrier);
    void (*released)(struct pp_machine *machine, int barrier);
    /* Between steps: bring here what the workers hold. PP_EFAIL when a process has failed or is
     * gone: what is here then is of no step. */
    enum pp_status (*fetch)(const struct pp_machine *machine, struct pp_error *err);
    /* Between steps, on the wall clock: hold all clocks against that of the first process, if that
     * was long ago, or at the end. PP_EFAIL when a process has failed or is gone. */
    enum pp_status (*align)(struct pp_machine *machine, bool is_last, struct pp_error *err);
    /* Close all connections but that to the first process: a fault to try. */
    void (*drop)(struct pp_machine *machine);
    /* A process that conducts nothing: until it is told to end. PP_EFAIL with the reason. */
    bool (*is_member)(const struct pp_machine *machine);
    enum pp_status (*serve)(struct pp_machine *machine, struct pp_error *err);
};

struct pp_transport {
    const char *name, *summary;
    const char *worker, *workers;   /* what a worker is, and several: "thread", "threads" */
    const char *means;              /* of devices that are apart, in a report: "by NCCL" */
    const struct pp_remote *remote; /* NULL: workers share memory. Else with these: */
    /* The worker has posted a SEND or RECV, a sum */
    void (*posted)(struct pp_worker *worker, int instruction, const struct pp_header *header);
    void (*summed)(struct pp_worker *worker, int instruction);
    /* Both sides of a message have posted: its bytes go, if they are here. NULL: they go as soon as
     * they are posted. */
    void (*send)(struct pp_machine *machine, struct pp_machine_message *message);
    void (*failed)(struct pp_machine *machine); /* caller of a step: all are to stop */
    bool is_shared; /* the machine and its blocks lie in memory that is shared */
    bool is_apart;  /* for memory of devices; else for that of the host */
    bool is_mapped; /* processes map each other's memory of devices */
    /* Start all workers: each runs pp_worker_serve. PP_EFAIL when the system gives no more. */
    enum pp_status (*start)(struct pp_machine *machine, struct pp_error *err);
    /* Once all processes have met, and before anything else goes between them; NULL = nothing. */
    enum pp_status (*met)(struct pp_machine *machine, struct pp_error *err);
    /* The run has ended well and goes on nowhere: unmap the memory of other processes before they
     * free it; NULL = nothing. */
    enum pp_status (*leave)(struct pp_machine *machine, struct pp_error *err);
    /* Where workers are processes, else NULL. check, every few milliseconds: PP_EFAIL says which
     * one has died. Of several it names one that a signal has ended. All others have been killed
     * then. kill: all of them. */
    enum pp_status (*check)(struct pp_machine *machine, struct pp_error *err);
    void (*kill)(struct pp_machine *machine);
    /* They have been told to end: wait until they have. Also after a start that failed. */
    void (*stop)(struct pp_machine *machine);
};
