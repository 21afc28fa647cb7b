/* The first error of a machine, which cancels its step. */
#include "exec/worker/worker.h"

void pp_machine_fail(struct pp_machine *m, const struct pp_error *err)
{
    if (!atomic_flag_test_and_set(&m->is_reported)) {
        m->error = *err;
        m->has_failed = true;
        if (m->remote)
            m->transport->failed(m);
    }
    m->backend->cancel(m->device);
}

bool pp_machine_try(struct pp_machine *m, enum pp_status status, const struct pp_error *err)
{
    if (status != PP_OK)
        pp_machine_fail(m, err);
    return status == PP_OK;
}
