/* A forked process for each worker, which this one watches. Shared memory was mapped before. */
#define _GNU_SOURCE /* waitid */
#include "core/process/process.h"
#include "exec/transport/parts.h"
#include "exec/transport/transports.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GRACE_MS = 2000, FAILED_MS = 200 };

/* Ctrl-C reaches all processes of the terminal; only the first one handles it and ends the rest. */
static void begin_child(struct pp_worker *w, pid_t parent, void (*run)(struct pp_worker *))
{
    signal(SIGINT, SIG_IGN);
    if (pp_process_follow(parent))
        run(w);
    _exit(PP_EFAIL);
}

enum pp_status pp_processes_start(struct pp_machine *m, void (*run)(struct pp_worker *),
                                  struct pp_error *err)
{
    const pid_t parent = getpid();

    m->processes = PP_ARRAY(m->arena, pid_t, m->worker_count);
    for (; m->started < m->worker_count; m->started++) {
        struct pp_worker *w = &m->workers[m->started];

        const pid_t child = fork();
        if (child == 0)
            begin_child(w, parent, run);
        m->processes[m->started] = child; /* the child may see it, but writes nothing here */
        if (child < 0)
            return pp_error_set(err, PP_EFAIL, "cannot start process %d of %d: %s (ulimit -u)",
                                m->started + 1, m->worker_count, strerror(errno));
    }
    return PP_OK;
}

/* Stopped processes do not end by themselves. */
void pp_processes_reap(struct pp_machine *m)
{
    pp_process_reap(m->processes, m->started, m->has_failed ? FAILED_MS : GRACE_MS);
    m->started = 0;
}

void pp_processes_kill(struct pp_machine *m)
{
    pp_process_reap(m->processes, m->started, 0);
    m->started = 0;
}

enum pp_status pp_processes_check(struct pp_machine *m, struct pp_error *err)
{
    siginfo_t info;
    const int dead = pp_process_find_ended(m->processes, m->started, &info);

    if (dead < 0)
        return PP_OK;
    pp_processes_kill(m);
    return pp_stall_ended(&m->workers[dead], &info, err);
}

static bool tell_stopped(const struct pp_worker *w, struct pp_error *err)
{
    const pid_t process = w->machine->processes[w->index];
    siginfo_t info = {0};

    if (waitid(P_PID, (id_t)process, &info, WSTOPPED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
        return false;
    pp_error_append(err, "its process %d is stopped", (int)process);
    return true;
}

static void child_main(struct pp_worker *w)
{
    pp_worker_serve(w);
    _exit(PP_OK);
}

static enum pp_status shm_start(struct pp_machine *m, struct pp_error *err)
{
    return pp_processes_start(m, child_main, err);
}

const struct pp_transport pp_transport_shm = {
    .name = "shm",
    .is_shared = true,
    .start = shm_start,
    .check = pp_processes_check,
    .tell_silent = tell_stopped,
    .kill = pp_processes_kill,
    .stop = pp_processes_reap,
};
