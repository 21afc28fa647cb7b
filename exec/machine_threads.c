/* One thread for each worker, from the first step to the last: asleep between steps. A backend that
 * is not immediate needs none: its work is issued by the caller, worker by worker. */
#include "exec/machine_parts.h"

static void *worker_main(void *argument)
{
    struct pp_worker *w = argument;
    struct pp_machine *m = w->machine;
    unsigned round = 0;

    pthread_mutex_lock(&m->step_mutex);
    for (;;) {
        while (m->round == round && !m->is_over)
            pthread_cond_wait(&m->step_changed, &m->step_mutex);
        if (m->is_over)
            break;
        round = m->round;
        pthread_mutex_unlock(&m->step_mutex);
        pp_worker_run(w);
        pthread_mutex_lock(&m->step_mutex);
        if (--m->running == 0)
            pthread_cond_broadcast(&m->step_changed);
    }
    pthread_mutex_unlock(&m->step_mutex);
    return NULL;
}

enum pp_status pp_threads_start(struct pp_machine *m, struct pp_error *err)
{
    pthread_attr_t attributes;

    if (!m->backend->is_immediate)
        return PP_OK;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    for (; m->thread_count < m->worker_count; m->thread_count++)
        if (pthread_create(&m->workers[m->thread_count].thread, &attributes, worker_main,
                           &m->workers[m->thread_count]) != 0)
            break;
    pthread_attr_destroy(&attributes);
    if (m->thread_count < m->worker_count)
        return pp_error_set(err, PP_EFAIL,
                            "cannot start thread %d of %d: the system's limit (ulimit -u)",
                            m->thread_count + 1, m->worker_count);
    return PP_OK;
}

void pp_threads_run(struct pp_machine *m)
{
    if (!m->backend->is_immediate) {
        for (int k = 0; k < m->worker_count; k++)
            pp_worker_run(&m->workers[k]);
        return;
    }
    pthread_mutex_lock(&m->step_mutex);
    m->running = m->worker_count;
    m->round++;
    pthread_cond_broadcast(&m->step_changed);
    while (m->running > 0)
        pthread_cond_wait(&m->step_changed, &m->step_mutex);
    pthread_mutex_unlock(&m->step_mutex);
}
