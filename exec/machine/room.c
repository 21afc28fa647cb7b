/* Whether the memory of workers fits, before any of it is taken. */
#include "exec/host/host.h"
#include "exec/machine/parts.h"

static const double MIB = 1024.0 * 1024.0;

/* Rough bytes of lists and times: of each row and, in the trace, for each kept step. */
static double bookkeeping_bytes(const struct pp_machine *m)
{
    enum {
        ROW_BYTES = sizeof(struct pp_bound_call) + sizeof(struct pp_stage_work),
        EVENT_BYTES = 256
    };

    return (double)pp_rows(m) * (ROW_BYTES + EVENT_BYTES * (double)(m->kept + 1));
}

/* Host bytes next to a worker's block that last: figures, and states and frames of gradients if
 * they are read. */
static double copy_bytes(const struct pp_machine *m, const struct pp_worker *w)
{
    const struct pp_rank_layout *l = &m->layout[w->rank];
    const bool is_elsewhere = pp_is_elsewhere(m, w), reads = m->options.reads_states;
    double bytes = 0;

    if (is_elsewhere && !pp_is_conductor(m))
        return 0;
    if (is_elsewhere || m->backend->is_apart)
        bytes += (double)(l->loss_bytes + l->expert_bytes);
    if (reads && (is_elsewhere || pp_has_copies_of_states(w)))
        bytes += (double)l->state_bytes;
    return bytes + (m->remote && reads ? (double)l->grads_bytes : 0);
}

/* Host bytes that a worker needs for a moment: the state of a chunk until it is where it lives. A
 * poisoned block is here whole, while its touched bytes are counted. */
static double moment_bytes(const struct pp_machine *m, const struct pp_worker *w)
{
    const struct pp_rank_layout *l = &m->layout[w->rank];
    size_t most_bytes = 0;

    if (pp_is_elsewhere(m, w) || !pp_has_copies_of_states(w))
        return 0;
    if (m->options.is_poisoned && m->backend->is_apart)
        return (double)l->block_bytes;
    for (int place = 0; place < m->places && !m->options.reads_states; place++)
        if (l->state_offset[place] != SIZE_MAX && pp_chunk_bytes(m, place) > most_bytes)
            most_bytes = pp_chunk_bytes(m, place);
    return (double)most_bytes;
}

/* Lowest rank with a stage: over tcp, its worker in the first replica adds the gradients of all. */
static int sums_at(const struct pp_machine *m, int stage)
{
    int lowest = m->p->ranks;

    for (int pipe = 0; pipe < m->p->pipelines; pipe++)
        if (pp_program_rank_of(m->p, pipe, stage) < lowest)
            lowest = pp_program_rank_of(m->p, pipe, stage);
    return lowest;
}

/* Host bytes for parts of sums that a worker sends over tcp to a process on this host. */
static double parts_bytes(const struct pp_machine *m, const struct pp_worker *w)
{
    const struct pp_kernels *k = m->options.kernels;
    double bytes = 0;

    for (int place = 0; m->transport->send && place < m->places; place++) {
        const int stage = place % m->stages, owner = sums_at(m, stage) + w->tp_index * m->p->ranks;
        const struct pp_state_bytes state = pp_state_bytes(
            m->options.stages[stage], k, m->options.recipe->is_exact, pp_cuts_none());

        if (pp_program_rank_of(m->p, place / m->stages, stage) == w->rank && w->index != owner &&
            (m->own_worker == owner || m->own_worker == m->worker_count))
            bytes += (double)(state.gradients + (m->cuts[stage].optimizer > 1 ? state.weights : 0));
    }
    return bytes;
}

/* Host bytes for pieces that groups exchange, with those in queues. */
static double pieces_bytes(const struct pp_machine *m)
{
    const int workers = m->own_worker == m->worker_count ? m->worker_count : 1;

    return 1.5 * workers * (double)pp_inbox_bytes(m);
}

/* Host bytes of a worker of this process for its other tiers. */
static double tiers_bytes(const struct pp_machine *m, const struct pp_worker *w)
{
    const bool is_here = m->own_worker == m->worker_count || !pp_is_elsewhere(m, w);

    return is_here ? (double)pp_memory_host_bytes(&m->layout[w->rank]) : 0;
}

/* Host bytes next to blocks: copies, parts, pieces, other tiers, and what is counted as reserved.
 */
static double copies_bytes(const struct pp_machine *m)
{
    double sum_bytes = pieces_bytes(m) +
                       (m->backend->is_apart ? (double)m->options.reserved_staging_bytes : 0),
           largest_bytes = 0;

    for (int k = 0; k < m->worker_count; k++) {
        const double moment = moment_bytes(m, &m->workers[k]);

        sum_bytes += copy_bytes(m, &m->workers[k]) + parts_bytes(m, &m->workers[k]) +
                     tiers_bytes(m, &m->workers[k]);
        largest_bytes = moment > largest_bytes ? moment : largest_bytes;
    }
    return sum_bytes + largest_bytes;
}

/* Checks the host's memory, if the device has its own. */
static enum pp_status check_host(const struct pp_machine *m, struct pp_error *err)
{
    const double available_bytes = (double)pp_host_available_bytes(),
                 lists_bytes = bookkeeping_bytes(m), copied_bytes = copies_bytes(m);

    if (m->backend->available_bytes == NULL || lists_bytes + copied_bytes <= available_bytes)
        return PP_OK;
    return pp_error_set(err, PP_EFAIL,
                        "the host needs %.0f MiB and has %.0f MiB free: copies of what the device "
                        "holds %.0f, lists and times %.0f; %slower %s--layers or --hidden",
                        (lists_bytes + copied_bytes) / MIB, available_bytes / MIB,
                        copied_bytes / MIB, lists_bytes / MIB,
                        m->options.reads_states ? "--no-check leaves out some of the copies, or "
                                                : "",
                        m->replicas > 1 ? "--dp, " : "");
}

/* Memory of the device that is allocated after the blocks, though not by a machine. */
static double libraries_bytes(const struct pp_machine *m)
{
    const int communicators = m->transport->communicators ? m->transport->communicators(m) : 0;

    const size_t room_bytes = m->transport->room_bytes ? m->transport->room_bytes(m) : 0;

    return (double)room_bytes + (m->backend->reserve_bytes
                                     ? (double)m->backend->reserve_bytes(m->device, communicators)
                                     : 0);
}

/* Needs of this process, and the memory that is free for it. */
struct fit {
    double needed_bytes, available_bytes, lists_bytes, later_bytes;
    bool is_host;
};

static struct fit fit_of(const struct pp_machine *m)
{
    const bool is_host = m->backend->available_bytes == NULL;
    struct fit fit = {
        .available_bytes = is_host ? (double)pp_host_available_bytes()
                                   : (double)m->backend->available_bytes(m->device),
        .lists_bytes = is_host ? bookkeeping_bytes(m) + copies_bytes(m) : 0,
        .later_bytes = libraries_bytes(m),
        .is_host = is_host,
    };

    fit.needed_bytes = fit.lists_bytes + fit.later_bytes + (double)m->options.reserved_bytes;
    for (int k = 0; k < m->worker_count; k++)
        if (m->own_worker == m->worker_count || !pp_is_elsewhere(m, &m->workers[k]))
            fit.needed_bytes += (double)m->layout[m->workers[k].rank].block_bytes;
    return fit;
}

/* ---- what does not fit ----------------------------------------------------------------------- */

static int fullest(const struct pp_machine *m)
{
    int found = 0;

    for (int r = 1; r < m->p->ranks; r++)
        if (m->layout[r].block_bytes > m->layout[found].block_bytes)
            found = r;
    return found;
}

static void tell_parts(const struct pp_machine *m, int rank, struct pp_error *err)
{
    const struct pp_rank_layout *l = &m->layout[rank];

    pp_error_append(err, "\n  rank %d, in MiB: weights %.0f", rank, (double)l->params_bytes / MIB);
    if (!m->options.generation)
        pp_error_append(err, ", gradients %.0f, optimizer %.0f", (double)l->grads_bytes / MIB,
                        (double)l->optimizer_bytes / MIB);
    pp_error_append(err, ", activations %.0f, other %.0f", (double)l->activations_bytes / MIB,
                    (double)(l->buffers_bytes + l->other_bytes) / MIB);
}

/* Ranks without room where this one has none: how many, and the first. */
static int count_large(const struct pp_machine *m, const struct fit *fit, int own, int *first)
{
    const double others_bytes = fit->needed_bytes - (double)m->layout[own].block_bytes;
    int count = 0;

    for (int r = m->p->ranks - 1; r >= 0; r--)
        if (others_bytes + (double)m->layout[r].block_bytes > fit->available_bytes) {
            *first = r;
            count++;
        }
    return count;
}

/* Appends a line about ranks that are not told one by one. */
static void tell_others(const struct pp_machine *m, int rank, int large, struct pp_error *err)
{
    const int others = pp_is_alone(m) ? large - 1 : m->worker_count - 1;
    double bytes = -(double)m->layout[rank].block_bytes;

    for (int k = 0; k < m->worker_count; k++)
        bytes += (double)m->layout[m->workers[k].rank].block_bytes;
    if (others > 0 && pp_is_alone(m))
        pp_error_append(err, "\n  nor would %d other rank%s fit", others, others > 1 ? "s" : "");
    else if (others > 0)
        pp_error_append(err, "\n  %d other%s: %.0f in all", others, others > 1 ? "s" : "",
                        bytes / MIB);
}

/* Only the process of the first rank without room says all; the others say a line. */
static enum pp_status refuse(const struct pp_machine *m, const struct fit *fit,
                             struct pp_error *err)
{
    const bool alone = pp_is_alone(m);
    const int rank = alone ? m->workers[m->own_worker].rank : fullest(m);
    int first = rank;
    const int large = alone ? count_large(m, fit, rank, &first) : 0;

    pp_error_set(err, PP_EFAIL, "the run");
    if (alone)
        pp_error_set(err, PP_EFAIL, "rank %d", rank);
    pp_error_append(err, " needs %.0f MiB in all, this %s has %.0f MiB free",
                    fit->needed_bytes / MIB, fit->is_host ? "machine" : "device",
                    fit->available_bytes / MIB);
    if (alone && (first != rank || m->workers[m->own_worker].replica > 0))
        return PP_EFAIL;
    pp_error_append(err,
                    "; lists, times and copies %.0f, libraries and graphs %.0f, reference of the "
                    "check %.0f",
                    fit->lists_bytes / MIB, fit->later_bytes / MIB,
                    (double)m->options.reserved_bytes / MIB);
    pp_room_help(m, fit->needed_bytes, rank, err);
    tell_parts(m, rank, err);
    tell_others(m, rank, large, err);
    return PP_EFAIL;
}

enum pp_status pp_check_memory(const struct pp_machine *m, struct pp_error *err)
{
    const struct fit fit = fit_of(m);

    return fit.needed_bytes <= fit.available_bytes ? check_host(m, err) : refuse(m, &fit, err);
}
