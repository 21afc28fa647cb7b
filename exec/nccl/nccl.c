/* Failures of communicators, waits for them, and aborts. */
#define _GNU_SOURCE /* usleep */
#include "exec/nccl/parts.h"

#include "core/clock.h"

#include <unistd.h>

enum { POLL_US = 20 };

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

static enum pp_status overdue(const struct pp_nccl *nccl, const struct pp_nccl_comm *comm,
                              struct pp_error *err)
{
    return pp_error_set(err, PP_EFAIL,
                        "NCCL: %s: nothing for %g s: its other processes have not come to it",
                        comm->text, nccl->plan->timeout_s);
}

/* Sets *busy to this communicator, if it is busy and *busy is not set. PP_EFAIL: it has failed. */
static enum pp_status look_at(struct pp_nccl *nccl, const struct pp_nccl_comm *comm,
                              const struct pp_nccl_comm **busy, struct pp_error *err)
{
    ncclResult_t state = ncclSuccess;

    PP_TRY(pp_nccl_judge(nccl, comm, nccl->library->CommGetAsyncError(comm->handle, &state), err));
    PP_TRY(pp_nccl_judge(nccl, comm, state, err));
    if (state == ncclInProgress && !*busy)
        *busy = comm;
    return PP_OK;
}

static enum pp_status look_at_all(struct pp_nccl *nccl, const struct pp_nccl_comm **busy,
                                  struct pp_error *err)
{
    for (int i = 0; i < nccl->comm_count; i++)
        if (nccl->comms[i].handle)
            PP_TRY(look_at(nccl, &nccl->comms[i], busy, err));
    return PP_OK;
}

enum pp_status pp_nccl_settle(struct pp_nccl *nccl, const struct pp_nccl_comm *comm,
                              struct pp_error *err)
{
    const double end_s = pp_clock_s() + nccl->plan->timeout_s;

    for (;;) {
        const struct pp_nccl_comm *busy = NULL;

        if (nccl->is_aborted)
            return pp_nccl_aborted(err);
        PP_TRY(comm ? look_at(nccl, comm, &busy, err) : look_at_all(nccl, &busy, err));
        if (!busy)
            return PP_OK;
        if (pp_clock_s() > end_s)
            return overdue(nccl, busy, err);
        usleep(POLL_US);
    }
}

enum pp_status pp_nccl_check(struct pp_nccl *nccl, struct pp_error *err)
{
    const struct pp_nccl_comm *busy = NULL;

    if (nccl->is_aborted)
        return pp_nccl_aborted(err);
    if (pthread_mutex_trylock(&nccl->mutex) != 0)
        return PP_OK;
    const enum pp_status status =
        nccl->is_aborted ? pp_nccl_aborted(err) : look_at_all(nccl, &busy, err);
    pthread_mutex_unlock(&nccl->mutex);
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

/* Tells all in one group before waiting: communicators that wait for each other never end. */
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

void pp_nccl_abort(struct pp_nccl *nccl)
{
    nccl->is_aborted = true; /* so a waiting thread releases the mutex */
    pthread_mutex_lock(&nccl->mutex);
    abort_all(nccl);
    pthread_mutex_unlock(&nccl->mutex);
}
