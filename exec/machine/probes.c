/* What the parts of an op take: asked for by probes in its calls. */
#include "exec/host/host.h"
#include "exec/machine/parts.h"

#include <math.h>
#include <string.h>

static void place_marks(struct pp_machine *m, struct pp_bound_call *call)
{
    int most = 0;

    for (int g = 0; g < call->count; g++)
        most += pp_stage_marks(call->works[g].stage);
    if (most > 0 && !call->part.marks)
        call->part.marks = PP_ARRAY(m->arena, uint8_t, most);
}

void pp_machine_probes(struct pp_machine *m, bool on)
{
    void (*const mark)(void *stream) = on ? m->backend->mark : NULL;

    m->has_probes = on;
    for (size_t row = 0; row < (size_t)m->size * (size_t)m->replicas; row++) {
        struct pp_bound_call *call = &m->calls[row];
        if (mark)
            place_marks(m, call);
        call->part.mark = mark;
        call->part.now_s = on && !mark ? pp_host_thread_s : NULL;
        for (int g = 0; g < call->count; g++)
            call->works[g].probe = on ? &call->part : NULL;
    }
    if (m->has_run)
        pp_machine_keep(m);
}

static void read_marks(const struct pp_machine *m, const struct pp_worker *w, size_t row)
{
    const pp_stream_id stream = pp_stream_of(w, (int)(row / (size_t)m->replicas));
    struct pp_bound_call *call = &m->calls[row];
    double last_s = NAN;

    memset(call->probe.s, 0, sizeof(call->probe.s));
    for (int k = 0; k < call->part.mark_count; k++) {
        const int what = call->part.marks[k];
        const double at_s = m->backend->mark_s(m->device, stream, m->launch_of[row], k);

        if (what != PP_MARK_BEGIN)
            call->probe.s[what / PP_PARTS][what % PP_PARTS] += at_s - last_s;
        last_s = at_s;
    }
}

void pp_probes_read(struct pp_machine *m)
{
    for (int k = 0; k < m->worker_count && m->has_probes && m->backend->mark; k++) {
        const struct pp_worker *w = &m->workers[k];
        for (int i = m->p->begin[w->rank]; !pp_is_elsewhere(m, w) && i < m->p->begin[w->rank + 1];
             i++)
            if (m->calls[pp_row(m, i, w->replica)].count > 0)
                read_marks(m, w, pp_row(m, i, w->replica));
    }
}

const struct pp_probe *pp_machine_probe(const struct pp_machine *m, int instruction, int replica)
{
    const struct pp_bound_call *call = &m->calls[pp_row(m, instruction, replica)];

    return m->has_probes && call->count > 0 ? &call->probe : NULL;
}
