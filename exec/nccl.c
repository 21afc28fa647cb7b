/* Operations on lines, and what may go wrong with them. */
#define _GNU_SOURCE /* usleep */
#include "exec/nccl_parts.h"

#include "core/clock.h"

#include <assert.h>
#include <unistd.h>

enum { POLL_US = 20 };

/* ---- what went wrong ------------------------------------------------------------------------- */

static const char *text_of(const struct pp_nccl_line *line)
{
    return line ? line->text : "a group of calls";
}

enum pp_status pp_nccl_judge(struct pp_nccl *nccl, const struct pp_nccl_line *line,
                             ncclResult_t result, struct pp_error *err)
{
    const struct pp_nccl_library *l = nccl->library;

    if (result == ncclSuccess || result == ncclInProgress)
        return PP_OK;
    return pp_error_set(err, PP_EFAIL, "NCCL: %s: %s\n  %s", text_of(line),
                        l->GetErrorString(result), l->GetLastError(line ? line->comm : NULL));
}

static enum pp_status aborted(struct pp_error *err)
{
    return pp_error_set(err, PP_EFAIL, "NCCL: aborted");
}

static enum pp_status overdue(const struct pp_nccl *nccl, const struct pp_nccl_line *line,
                              struct pp_error *err)
{
    return pp_error_set(err, PP_EFAIL,
                        "NCCL: %s: nothing for %g s: its other processes have not come to it",
                        line->text, nccl->plan->timeout_s);
}

/* Whether a line that has not failed is busy. */
static enum pp_status look_at(struct pp_nccl *nccl, const struct pp_nccl_line *line, bool *is_busy,
                              struct pp_error *err)
{
    ncclResult_t state = ncclSuccess;

    PP_TRY(pp_nccl_judge(nccl, line, nccl->library->CommGetAsyncError(line->comm, &state), err));
    PP_TRY(pp_nccl_judge(nccl, line, state, err));
    *is_busy = state == ncclInProgress;
    return PP_OK;
}

/* *busy: the first line that is; NULL: none. */
static enum pp_status look_at_all(struct pp_nccl *nccl, const struct pp_nccl_line **busy,
                                  struct pp_error *err)
{
    *busy = NULL;
    for (int i = 0; i < nccl->line_count; i++) {
        const struct pp_nccl_line *line = &nccl->lines[i];
        bool is_busy = false;
        if (line->comm)
            PP_TRY(look_at(nccl, line, &is_busy, err));
        if (is_busy && !*busy)
            *busy = line;
    }
    return PP_OK;
}

enum pp_status pp_nccl_settle(struct pp_nccl *nccl, struct pp_error *err)
{
    const double end_s = pp_clock_s() + nccl->plan->timeout_s;
    const struct pp_nccl_line *busy;

    for (;;) {
        if (nccl->is_aborted)
            return aborted(err);
        PP_TRY(look_at_all(nccl, &busy, err));
        if (!busy)
            return PP_OK;
        if (pp_clock_s() > end_s)
            return overdue(nccl, busy, err);
        usleep(POLL_US);
    }
}

enum pp_status pp_nccl_settle_line(struct pp_nccl *nccl, const struct pp_nccl_line *line,
                                   struct pp_error *err)
{
    const double end_s = pp_clock_s() + nccl->plan->timeout_s;
    bool is_busy;

    for (;;) {
        if (nccl->is_aborted)
            return aborted(err);
        PP_TRY(look_at(nccl, line, &is_busy, err));
        if (!is_busy)
            return PP_OK;
        if (pp_clock_s() > end_s)
            return overdue(nccl, line, err);
        usleep(POLL_US);
    }
}

enum pp_status pp_nccl_check(struct pp_nccl *nccl, struct pp_error *err)
{
    const struct pp_nccl_line *busy;

    if (nccl->is_aborted)
        return aborted(err);
    if (pthread_mutex_trylock(&nccl->mutex) != 0)
        return PP_OK;
    const enum pp_status status = nccl->is_aborted ? aborted(err) : look_at_all(nccl, &busy, err);
    pthread_mutex_unlock(&nccl->mutex);
    return status;
}

/* ---- operations ------------------------------------------------------------------------------ */

/* Until NCCL has put it into the stream: before, whatever is issued next would come first. */
static enum pp_status accepted(struct pp_nccl *nccl, struct pp_nccl_line *line, ncclResult_t result,
                               void *stream, struct pp_error *err)
{
    PP_TRY(pp_nccl_judge(nccl, line, result, err));
    line->stream = stream;
    line->issued++;
    return pp_nccl_settle_line(nccl, line, err);
}

struct operation {
    const void *from;
    void *to;
    size_t count;
    ncclDataType_t type;
    void *stream;
};
typedef ncclResult_t start(const struct pp_nccl_library *l, const struct pp_nccl_line *line,
                           const struct operation *o);

static ncclResult_t start_send(const struct pp_nccl_library *l, const struct pp_nccl_line *line,
                               const struct operation *o)
{
    return l->Send(o->from, o->count, o->type, line->peer, line->comm, o->stream);
}

static ncclResult_t start_recv(const struct pp_nccl_library *l, const struct pp_nccl_line *line,
                               const struct operation *o)
{
    return l->Recv(o->to, o->count, o->type, line->peer, line->comm, o->stream);
}

static ncclResult_t start_sum(const struct pp_nccl_library *l, const struct pp_nccl_line *line,
                              const struct operation *o)
{
    return l->AllReduce(o->from, o->to, o->count, o->type, ncclSum, line->comm, o->stream);
}

static enum pp_status issue(struct pp_nccl *nccl, struct pp_nccl_line *line, start *begin,
                            const struct operation *o, struct pp_error *err)
{
    pthread_mutex_lock(&nccl->mutex);
    const enum pp_status status =
        nccl->is_aborted ? aborted(err)
                         : accepted(nccl, line, begin(nccl->library, line, o), o->stream, err);
    pthread_mutex_unlock(&nccl->mutex);
    return status;
}

enum pp_status pp_nccl_send(struct pp_nccl *nccl, int channel, const void *buffer, size_t bytes,
                            void *stream, struct pp_error *err)
{
    struct pp_nccl_line *line = &nccl->lines[channel];

    assert(channel < nccl->plan->channel_count && line->own == 0);
    return issue(nccl, line, start_send,
                 &(struct operation){buffer, NULL, bytes, ncclUint8, stream}, err);
}

enum pp_status pp_nccl_recv(struct pp_nccl *nccl, int channel, void *buffer, size_t bytes,
                            void *stream, struct pp_error *err)
{
    struct pp_nccl_line *line = &nccl->lines[channel];

    assert(channel < nccl->plan->channel_count && line->own == 1);
    return issue(nccl, line, start_recv,
                 &(struct operation){NULL, buffer, bytes, ncclUint8, stream}, err);
}

enum pp_status pp_nccl_sum(struct pp_nccl *nccl, int group, void *buffer, size_t count,
                           enum pp_nccl_type type, void *stream, struct pp_error *err)
{
    static const ncclDataType_t types[] = {
        [PP_NCCL_INT64] = ncclInt64,
        [PP_NCCL_FLOAT] = ncclFloat32,
    };
    struct pp_nccl_line *line = &nccl->lines[nccl->plan->channel_count + group];

    assert(group < nccl->plan->group_count && line->own >= 0);
    return issue(nccl, line, start_sum,
                 &(struct operation){buffer, buffer, count, types[type], stream}, err);
}

/* ---- waiting, aborting ----------------------------------------------------------------------- */

static enum pp_status stuck(struct pp_nccl *nccl, void *stream, struct pp_error *err)
{
    pp_error_set(err, PP_EFAIL, "NCCL: nothing for %g s on the stream of", nccl->plan->timeout_s);
    for (int i = 0; i < nccl->line_count; i++)
        if (nccl->lines[i].issued > 0 && nccl->lines[i].stream == stream)
            pp_error_append(err, "\n  %s, last operation %ld", nccl->lines[i].text,
                            nccl->lines[i].issued);
    return PP_EFAIL;
}

enum pp_status pp_nccl_finish(struct pp_nccl *nccl, void *stream, struct pp_error *err)
{
    const double end_s = pp_clock_s() + nccl->plan->timeout_s;

    for (;;) {
        const cudaError_t state = cudaStreamQuery(stream);
        if (state == cudaSuccess) /* an abort ends what it meets as well */
            return nccl->is_aborted ? aborted(err) : PP_OK;
        if (state != cudaErrorNotReady)
            return pp_error_set(err, PP_EFAIL, "CUDA: %s", cudaGetErrorString(state));
        cudaGetLastError(); /* no failure, though some versions keep it as one */
        PP_TRY(pp_nccl_check(nccl, err));
        if (pp_clock_s() > end_s)
            return stuck(nccl, stream, err);
        usleep(POLL_US);
    }
}

/* In a group all are told before any is waited for: one that waits for another would wait for ever.
 */
static void abort_all(struct pp_nccl *nccl)
{
    const struct pp_nccl_library *l = nccl->library;

    l->GroupStart();
    for (int i = 0; i < nccl->line_count; i++) {
        if (nccl->lines[i].comm)
            l->CommAbort(nccl->lines[i].comm);
        nccl->lines[i].comm = NULL;
    }
    l->GroupEnd();
}

void pp_nccl_abort(struct pp_nccl *nccl)
{
    nccl->is_aborted = true; /* whoever waits gives up the mutex */
    pthread_mutex_lock(&nccl->mutex);
    abort_all(nccl);
    pthread_mutex_unlock(&nccl->mutex);
}
