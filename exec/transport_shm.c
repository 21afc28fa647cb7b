/* One process for each worker, forked from this one; what they share was mapped before. */
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

        w->process = fork();
        if (w->process == 0)
            child_main(w, parent);
        if (w->process < 0)
            return pp_error_set(err, PP_EFAIL, "cannot start process %d of %d: %s (ulimit -u)",
                                m->started + 1, m->worker_count, strerror(errno));
    }
    return PP_OK;
}

static void shm_stop(struct pp_machine *m)
{
    for (int k = 0; k < m->started; k++)
        waitpid(m->workers[k].process, NULL, 0);
}

const struct pp_transport pp_transport_shm = {
    .name = "shm",
    .summary = "processes of this machine, on memory that they share",
    .worker = "process",
    .workers = "processes",
    .is_shared = true,
    .start = shm_start,
    .stop = shm_stop,
};
