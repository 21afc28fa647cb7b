/* One process for each worker, forked from this one; what they share was mapped before. */
#define _GNU_SOURCE /* waitid, strsignal */
#include "core/process.h"
#include "exec/machine_parts.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Ctrl-C reaches all processes of the terminal; only the first one answers, and takes the others
 * with it. */
static void child_main(struct pp_worker *w, pid_t parent)
{
    signal(SIGINT, SIG_IGN);
    if (pp_process_follow(parent))
        pp_worker_serve(w);
    _exit(PP_OK);
}

static enum pp_status shm_start(struct pp_machine *m, struct pp_error *err)
{
    const pid_t parent = getpid();

    for (; m->started < m->worker_count; m->started++) {
        struct pp_worker *w = &m->workers[m->started];

        const pid_t child = fork();
        if (child == 0)
            child_main(w, parent);
        w->process = child; /* where the child sees it, too: nothing that it may write */
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

static void shm_kill(struct pp_machine *m)
{
    for (int k = 0; k < m->started; k++)
        kill(m->workers[k].process, SIGKILL);
    reap(m);
}

static const struct pp_worker *dead_worker(const struct pp_machine *m, siginfo_t *info)
{
    *info = (siginfo_t){0};
    if (waitid(P_ALL, 0, info, WEXITED | WNOHANG | WNOWAIT) != 0)
        return NULL;
    for (int k = 0; k < m->started; k++)
        if (info->si_pid == m->workers[k].process)
            return &m->workers[k];
    return NULL;
}

static enum pp_status shm_check(struct pp_machine *m, struct pp_error *err)
{
    siginfo_t info;
    const struct pp_worker *w = dead_worker(m, &info);

    if (!w)
        return PP_OK;
    shm_kill(m);
    pp_error_set(err, PP_EFAIL, "step %d: ", m->step + 1);
    pp_stall_place(w, err);
    pp_error_append(err, ": its process %d ", (int)info.si_pid);
    if (info.si_code == CLD_EXITED)
        pp_error_append(err, "has ended with exit code %d", info.si_status);
    else
        pp_error_append(err, "was ended by signal %d (%s)", info.si_status,
                        strsignal(info.si_status));
    pp_stall_waiters(m, err);
    return PP_EFAIL;
}

const struct pp_transport pp_transport_shm = {
    .name = "shm",
    .summary = "processes of this machine, on memory that they share",
    .worker = "process",
    .workers = "processes",
    .is_shared = true,
    .start = shm_start,
    .check = shm_check,
    .kill = shm_kill,
    .stop = reap,
};
