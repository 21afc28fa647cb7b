/* A process for each worker, forked from this one, which looks after them all. */
#define _GNU_SOURCE /* waitid, strsignal */
#include "core/process.h"
#include "exec/machine_parts.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Ctrl-C reaches all processes of the terminal; only the first one answers, and takes the others
 * with it. */
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
        w->process = child; /* where the child may see it, too: nothing that it may write */
        if (child < 0)
            return pp_error_set(err, PP_EFAIL, "cannot start process %d of %d: %s (ulimit -u)",
                                m->started + 1, m->worker_count, strerror(errno));
    }
    return PP_OK;
}

void pp_processes_reap(struct pp_machine *m)
{
    for (int k = 0; k < m->started; k++)
        while (waitpid(m->workers[k].process, NULL, 0) < 0 && errno == EINTR) {
        }
    m->started = 0;
}

void pp_processes_kill(struct pp_machine *m)
{
    for (int k = 0; k < m->started; k++)
        kill(m->workers[k].process, SIGKILL);
    pp_processes_reap(m);
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

enum pp_status pp_processes_check(struct pp_machine *m, struct pp_error *err)
{
    siginfo_t info;
    const struct pp_worker *w = dead_worker(m, &info);

    if (!w)
        return PP_OK;
    pp_processes_kill(m);
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

