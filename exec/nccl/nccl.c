/* Failures of communicators, waits for them, and aborts. */
#define _GNU_SOURCE /* usleep */
#include "exec/nccl/parts.h"

#include "core/clock.h"

#include <stdlib.h>
#include <unistd.h>

enum { POLL_US = 20 };
static const double STUCK_S = 0.1, /* for a call to release the mutex */
    GRACE_S = 1;                   /* for a call to return after an abort */

/* ---- failures -------------------------------------------------------------------------------- */

enum pp_status pp_nccl_judge(struct pp_nccl *nccl, const struct pp_nccl_comm *comm,
                             ncclResult_t result, struct pp_error *err)
{
    const struct pp_nccl_library *l = nccl->library;

    if (result == ncclSuccess || result == ncclInProgress)
        return PP_OK;
    return pp_error_set(err, PP_EFAIL, "NCCL: %s: %s\n  %s", comm ? comm->text : "a group of calls",
                        l->GetErrorString(result), l->GetLastError(comm ? comm->handle : NULL));
}

enum pp_status pp_nccl_aborted(struct pp_error *err)
{
    return pp_error_set(err, PP_EFAIL, "NCCL: aborted");
}

static enum pp_status look_at(struct pp_nccl *nccl, const struct pp_nccl_comm *comm,
                              struct pp_error *err)
{
    ncclResult_t state = ncclSuccess;

    PP_TRY(pp_nccl_judge(nccl, comm, nccl->library->CommGetAsyncError(comm->handle, &state), err));
    return pp_nccl_judge(nccl, comm, state, err);
}

enum pp_status pp_nccl_look(struct pp_nccl *nccl, struct pp_error *err)
{
    for (int i = 0; i < nccl->comm_count; i++)
        if (nccl->comms[i].handle)
            PP_TRY(look_at(nccl, &nccl->comms[i], err));
    return PP_OK;
}

enum pp_status pp_nccl_check(struct pp_nccl *nccl, struct pp_error *err)
{
    if (nccl->is_aborted)
        return pp_nccl_aborted(err);
    if (pthread_mutex_trylock(&nccl->mutex) != 0)
        return PP_OK;
    const enum pp_status status = nccl->is_aborted ? pp_nccl_aborted(err) : pp_nccl_look(nccl, err);
    pthread_mutex_unlock(&nccl->mutex);
    return status;
}

/* ---- calls that wait for other processes ----------------------------------------------------- */

struct call {
    struct pp_nccl *nccl;
    pp_nccl_job run;
    const void *closure;
    int gpu;
    atomic_bool is_over;
    enum pp_status status;
    struct pp_error err;
};

static void *run_call(void *argument)
{
    struct call *c = argument;

    pthread_mutex_lock(&c->nccl->mutex);
    cudaSetDevice(c->gpu);
    c->status = c->run(c->nccl, c->closure, &c->err);
    pthread_mutex_unlock(&c->nccl->mutex);
    c->is_over = true;
    return NULL;
}

static bool is_over_within(const struct call *c, double limit_s)
{
    const double end_s = pp_clock_s() + limit_s;

    while (!c->is_over && pp_clock_s() < end_s)
        usleep(POLL_US);
    return c->is_over;
}

static enum pp_status overdue(const struct pp_nccl *nccl, struct pp_error *err)
{
    int own = 0, first = -1;

    for (int i = nccl->comm_count - 1; i >= 0; i--)
        if (nccl->comms[i].own >= 0) {
            own++;
            first = i;
        }
    pp_error_set(err, PP_EFAIL, "NCCL: %s", nccl->comms[first].text);
    if (own > 1)
        pp_error_append(err, ", or another of %d", own);
    return pp_error_append(err, ": nothing for %g s: its other processes have not come to it",
                           nccl->plan->timeout_s);
}

/* An abort makes a call return that waits inside of NCCL. If it does not, its thread and the lists
 * that it uses are left: the process is about to end. */
enum pp_status pp_nccl_call(struct pp_nccl *nccl, pp_nccl_job run, const void *closure,
                            struct pp_error *err)
{
    struct call *c = calloc(1, sizeof *c);
    pthread_t thread;

    if (!c)
        return pp_error_set(err, PP_EFAIL, "NCCL: no memory");
    *c = (struct call){.nccl = nccl, .run = run, .closure = closure};
    cudaGetDevice(&c->gpu);
    if (pthread_create(&thread, NULL, run_call, c) != 0) {
        free(c);
        return pp_error_set(err, PP_EFAIL, "NCCL: cannot start a thread");
    }
    const bool is_over = is_over_within(c, nccl->plan->timeout_s);
    if (!is_over)
        pp_nccl_abort(nccl);
    if (!is_over && !is_over_within(c, GRACE_S)) {
        nccl->is_left = true;
        pthread_detach(thread);
        return overdue(nccl, err);
    }
    pthread_join(thread, NULL);
    const enum pp_status status = is_over ? c->status : overdue(nccl, err);
    if (is_over && status != PP_OK)
        *err = c->err;
    free(c);
    return status;
}

/* ---- waiting, aborting ----------------------------------------------------------------------- */

static enum pp_status stuck(struct pp_nccl *nccl, void *stream, struct pp_error *err)
{
    pp_error_set(err, PP_EFAIL, "NCCL: nothing for %g s on the stream of", nccl->plan->timeout_s);
    for (int i = 0; i < nccl->comm_count; i++)
        if (nccl->comms[i].issued > 0 && nccl->comms[i].stream == stream)
            pp_error_append(err, "\n  %s, last operation %ld", nccl->comms[i].text,
                            nccl->comms[i].issued);
    return PP_EFAIL;
}

enum pp_status pp_nccl_finish(struct pp_nccl *nccl, void *stream, struct pp_error *err)
{
    const double end_s = pp_clock_s() + nccl->plan->timeout_s;

    for (;;) {
        const cudaError_t state = cudaStreamQuery(stream);
        if (state == cudaSuccess) /* an abort also ends a stream's work */
            return nccl->is_aborted ? pp_nccl_aborted(err) : PP_OK;
        if (state != cudaErrorNotReady)
            return pp_error_set(err, PP_EFAIL, "CUDA: %s", cudaGetErrorString(state));
        cudaGetLastError(); /* no failure, but some versions keep it as one */
        PP_TRY(pp_nccl_check(nccl, err));
        if (pp_clock_s() > end_s)
            return stuck(nccl, stream, err);
        usleep(POLL_US);
    }
}

/* Tells all in one group before waiting: communicators that wait for each other never end. A call
 * that is stuck in NCCL holds the mutex. NCCL allows an abort then, which ends the call. */
static void abort_all(struct pp_nccl *nccl)
{
    const struct pp_nccl_library *l = nccl->library;

    l->GroupStart();
    for (int i = 0; i < nccl->comm_count; i++) {
        if (nccl->comms[i].handle)
            l->CommAbort(nccl->comms[i].handle);
        nccl->comms[i].handle = NULL;
    }
    l->GroupEnd();
}

static bool lock_soon(pthread_mutex_t *mutex)
{
    const double end_s = pp_clock_s() + STUCK_S;
    bool is_locked;

    while (!(is_locked = pthread_mutex_trylock(mutex) == 0) && pp_clock_s() < end_s)
        usleep(POLL_US);
    return is_locked;
}

void pp_nccl_abort(struct pp_nccl *nccl)
{
    if (atomic_exchange(&nccl->is_aborted, true))
        return;
    const bool is_locked = lock_soon(&nccl->mutex);
    abort_all(nccl);
    if (is_locked)
        pthread_mutex_unlock(&nccl->mutex);
}
