/* One thread for each worker. */
#include "exec/transport/parts.h"
#include "exec/transport/transports.h"

enum { STACK_BYTES = 1 << 20 };

static void *thread_main(void *worker)
{
    pp_worker_serve(worker);
    return NULL;
}

enum pp_status pp_threads_start(struct pp_machine *m, struct pp_error *err)
{
    const int count = m->remote ? 1 : m->worker_count;
    pthread_attr_t attributes;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (; m->started < count; m->started++)
        if (pthread_create(&m->workers[m->started].thread, &attributes, thread_main,
                           &m->workers[m->started]) != 0)
            break;
    pthread_attr_destroy(&attributes);
    if (m->started < count)
        return pp_error_set(
            err, PP_EFAIL,
            "cannot start thread %d of %d: the system's limit is reached (ulimit -u)",
            m->started + 1, count);
    return PP_OK;
}

void pp_threads_join(struct pp_machine *m)
{
    for (int k = 0; k < m->started; k++)
        pthread_join(m->workers[k].thread, NULL);
    m->started = 0;
}

const struct pp_transport pp_transport_local = {
    .name = "local",
    .start = pp_threads_start,
    .stop = pp_threads_join,
};
