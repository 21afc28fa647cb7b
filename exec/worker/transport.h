/* exec/worker/transport.h — how the workers of a program run and reach each other. One file per
 * transport; lists, messages and times are the same for all. */
#pragma once

#include "exec/backend/backend.h"

#include <stdbool.h>

struct pp_machine;
struct pp_worker;
struct pp_header;
struct pp_machine_message;
struct pp_question;
struct pp_answers;
struct pp_arena;
struct pp_made;
/* Calls between processes that share no memory. Any thread may call these, and `posted` to `failed`
 * of a transport. Only begin, fetch, ask, align and serve wait. */
struct pp_remote {
    /* Begins a step in all processes. PP_EFAIL: a process has failed or is gone. */
    enum pp_status (*begin)(struct pp_machine *machine, struct pp_error *err);
    /* `arrived` reports a worker at a barrier; `released`, by the step's caller, lets all pass. */
    void (*arrived)(struct pp_worker *worker, int barrier);
    void (*released)(struct pp_machine *machine, int barrier);
    /* Reports tokens that a worker of another process has made: pp_tokens_bytes(). */
    void (*made)(struct pp_worker *worker, const struct pp_made *made, const char *report);
    /* Between steps, after the first one: brings the touched bytes of all workers here, and their
     * states if wanted. PP_EFAIL if a process has failed or is gone. */
    enum pp_status (*fetch)(const struct pp_machine *machine, bool has_states,
                            struct pp_error *err);
    /* See pp_machine_ask(). */
    enum pp_status (*ask)(struct pp_arena *arena, const struct pp_machine *machine,
                          const struct pp_question *question, struct pp_answers *answers,
                          struct pp_error *err);
    /* Between steps, on the wall clock: compares all clocks with that of the first process, if
     * is_last or after a pause. PP_EFAIL if a process has failed or is gone. */
    enum pp_status (*align)(struct pp_machine *machine, bool is_last, struct pp_error *err);
    /* Closes all connections but that to the first process: an injected fault. */
    void (*drop)(struct pp_machine *machine);
    /* Returns the number of this process. Others than process 0 conduct nothing: `serve` runs there
     * until told to end, or PP_EFAIL. */
    int (*process)(const struct pp_machine *machine);
    /* True if another process has ended, or its connection to this one has. Any thread. */
    bool (*is_gone)(const struct pp_machine *machine, int process);
    enum pp_status (*serve)(struct pp_machine *machine, struct pp_error *err);
};

struct pp_transport {
    const char *name;
    const char *means;              /* for devices that are apart, in a report: "by NCCL" */
    const struct pp_remote *remote; /* NULL: workers share memory. Else with these: */
    /* The worker has posted a SEND or RECV; a collective. */
    void (*posted)(struct pp_worker *worker, int instruction, const struct pp_header *header);
    void (*summed)(struct pp_worker *worker, int instruction);
    /* The worker has come to a meeting of its group: tells another member, with a copy of bytes
     * that this one reads. NULL: groups need shared memory. */
    void (*came)(const struct pp_worker *worker, const struct pp_worker *to, int meeting,
                 const void *piece, size_t bytes);
    /* Sends the bytes of a matched message, if they are here. NULL: bytes go when posted. */
    void (*send)(struct pp_machine *machine, struct pp_machine_message *message);
    /* Work of a worker's stream in a group of devices of other processes. `meet` ends when all have
     * come to it; its argument is the worker. NULL: `exchange` waits for all. It makes the result
     * of a pp_worker_exchange. NULL: the group shares memory, or there is none. */
    pp_backend_work meet, exchange;
    /* Bytes of the device that `exchange` takes; NULL: none. */
    size_t (*room_bytes)(const struct pp_machine *machine);
    void (*failed)(struct pp_machine *machine); /* tells other processes the error */
    bool is_shared; /* the machine and its blocks are in shared memory */
    bool is_apart;  /* for device memory; else for host memory */
    bool is_mapped; /* processes map each other's device memory */
    /* Communicators of NCCL that this process opens in `met`, at most; NULL: none. */
    int (*communicators)(const struct pp_machine *machine);
    /* Starts all workers; each runs pp_worker_serve. PP_EFAIL when the system gives no more. */
    enum pp_status (*start)(struct pp_machine *machine, struct pp_error *err);
    /* Called once all processes have met, before any other traffic between them; NULL = nothing. */
    enum pp_status (*met)(struct pp_machine *machine, struct pp_error *err);
    /* Unmaps memory of other processes before they free it, after a good run; NULL = nothing. */
    enum pp_status (*leave)(struct pp_machine *machine, struct pp_error *err);
    /* Where workers are processes, else NULL. check, every few milliseconds: PP_EFAIL names a dead
     * process, if possible one that a signal ended. Forked ones are killed before, as by kill. */
    enum pp_status (*check)(struct pp_machine *machine, struct pp_error *err);
    void (*kill)(struct pp_machine *machine);
    /* Appends that a worker's process is stopped or silent, if it is. NULL: a process is not. */
    bool (*tell_silent)(const struct pp_worker *worker, struct pp_error *err);
    /* Waits for all workers, which have been told to end. Also called after a failed start. */
    void (*stop)(struct pp_machine *machine);
};
