/* A forked process for each worker, which this one watches. Shared memory was mapped before. */
#define _GNU_SOURCE /* waitid */
#include "core/process/process.h"
#include "exec/transport/parts.h"
#include "exec/transport/transports.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_US = 1000, GRACE_LOOKS = 2000, FAILED_LOOKS = 200 };

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

    for (; m->started < m->worker_count; m->started++) {
        struct pp_worker *w = &m->workers[m->started];

        const pid_t child = fork();
        if (child == 0)
            begin_child(w, parent, run);
        w->process = child; /* the child may see it, but writes nothing here */
        if (child < 0)
            return pp_error_set(err, PP_EFAIL, "cannot start process %d of %d: %s (ulimit -u)",
                                m->started + 1, m->worker_count, strerror(errno));
    }
    return PP_OK;
}

static void reap(struct pp_machine *m)
{
    for (int k = 0; k < m->started; k++)
        while (waitpid(m->workers[k].process, NULL, 0) < 0 && errno == EINTR) {
        }
    m->started = 0;
}

static bool have_ended(const struct pp_machine *m)
{
    for (int k = 0; k < m->started; k++) {
        siginfo_t info = {0};

        if (waitid(P_PID, (id_t)m->workers[k].process, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid == 0)
            return false;
    }
    return true;
}

/* Kills processes that do not end by themselves, for instance stopped ones. */
void pp_processes_reap(struct pp_machine *m)
{
    const int looks = m->has_failed ? FAILED_LOOKS : GRACE_LOOKS;

    for (int look = 0; look < looks && !have_ended(m); look++)
        usleep(LOOK_US);
    pp_processes_kill(m);
}

void pp_processes_kill(struct pp_machine *m)
{
    for (int k = 0; k < m->started; k++)
        kill(m->workers[k].process, SIGKILL);
    reap(m);
}

/* Returns a worker that a signal has ended, else one that has exited, as others do after that. */
static const struct pp_worker *dead_worker(const struct pp_machine *m, siginfo_t *info)
{
    const struct pp_worker *dead = NULL;

    for (int k = 0; k < m->started; k++) {
        siginfo_t seen = {0};

        if (waitid(P_PID, (id_t)m->workers[k].process, &seen, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            seen.si_pid == 0 || (dead && seen.si_code == CLD_EXITED))
            continue;
        dead = &m->workers[k];
        *info = seen;
        if (seen.si_code != CLD_EXITED)
            break;
    }
    return dead;
}

enum pp_status pp_processes_check(struct pp_machine *m, struct pp_error *err)
{
    siginfo_t info;
    const struct pp_worker *w = dead_worker(m, &info);

    if (!w)
        return PP_OK;
    pp_processes_kill(m);
    pp_error_set(err, PP_EFAIL, "step %d: ", m->step + 1);
    pp_stall_instruction(w, err);
    pp_error_append(err, ": its process %d ", (int)info.si_pid);
    pp_process_tell_end(&info, err);
    pp_stall_waiters(m, w, err);
    return PP_EFAIL;
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
    .summary = "processes of this machine, on memory that they share",
    .worker = "process",
    .workers = "processes",
    .is_shared = true,
    .start = shm_start,
    .check = pp_processes_check,
    .kill = pp_processes_kill,
    .stop = pp_processes_reap,
};
