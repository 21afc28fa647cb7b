/* Messages between workers. The worker that posts second finds the other side's buffer and copies.
 * Where workers share no memory, each post is sent to the other side. The sender sends the bytes
 * once both have posted.
 *
 * Both sides state what they expect; a difference ends the run. Posts of a channel have the same
 * order on both sides. The second post of a message comes after both posts of the message before.
 * So the end of a channel's last transfer is known when it is needed. */
#include "exec/machine/parts.h"

#include <inttypes.h>
#include <stdio.h>

static struct pp_message_side *side_of(const struct pp_worker *w, int i)
{
    struct pp_machine_message *message = pp_message_at(w, i);

    return pp_op_is_send(w->machine->p->kind[i]) ? &message->send : &message->recv;
}

static struct pp_header header_of(const struct pp_machine *m, int i, int sequence)
{
    const struct pp_op op = pp_program_op(m->p, i);
    const bool is_recv = pp_op_is_recv(op.kind),
               is_forward = op.kind == PP_SEND_F || op.kind == PP_RECV_F;

    return (struct pp_header){
        .program_hash = m->program_hash,
        .bytes = op.granules * pp_message_pitch(m->p, m->options.stages, i),
        .mb = op.mb,
        .sequence = sequence,
        .stage = (uint16_t)(op.stage - (is_recv ? is_forward ? 1 : -1 : 0)), /* of the sender */
        .kind = is_forward ? PP_SEND_F : PP_SEND_B,
        .split = op.split,
        .granules = op.granules,
    };
}

static void bind_message(struct pp_machine *m, int c, int k, int replica, int tp_index)
{
    const struct pp_program *p = m->p;
    const int at = (tp_index * p->message_count + p->channels[c].first + k) * m->replicas + replica;
    struct pp_machine_message *message = &m->messages[at];

    message->machine = m;
    message->channel = (tp_index * p->channel_count + c) * m->replicas + replica;
    message->launch = k;
    message->done = (int)pp_rows(m) + at;
}

static void bind_side(struct pp_worker *w, int i)
{
    const struct pp_machine *m = w->machine;
    struct pp_machine_message *message = pp_message_at(w, i);
    const struct pp_message_side side = {pp_row(w, i), pp_worker_buffer(w, i),
                                         header_of(m, i, message->launch)};

    *side_of(w, i) = side;
    if (pp_op_is_send(m->p->kind[i]))
        message->bytes = side.header.bytes;
}

void pp_bind_messages(struct pp_machine *m)
{
    const struct pp_program *p = m->p;

    m->messages = PP_ARRAY(m->arena, struct pp_machine_message,
                           (size_t)p->message_count * (size_t)(m->replicas * m->tp) + 1);
    m->channel_ps = PP_ARRAY(m->arena, int64_t, p->channel_count * m->replicas * m->tp + 1);
    for (int c = 0; c < p->channel_count; c++)
        for (int k = 0; k < p->channels[c].count; k++)
            for (int lane = 0; lane < m->replicas * m->tp; lane++)
                bind_message(m, c, k, lane / m->tp, lane % m->tp);
    for (int k = 0; k < m->worker_count; k++)
        for (int i = p->begin[m->workers[k].rank]; i < p->begin[m->workers[k].rank + 1]; i++)
            if (pp_op_is_send(p->kind[i]) || pp_op_is_recv(p->kind[i]))
                bind_side(&m->workers[k], i);
}

void pp_messages_begin(struct pp_machine *m)
{
    for (int k = 0; k < m->p->message_count * m->replicas * m->tp; k++)
        m->messages[k].posts = m->messages[k].landed = 0;
    for (int c = 0; c < m->p->channel_count * m->replicas * m->tp; c++)
        m->channel_ps[c] = m->begin_ps;
}

/* ---- matching -------------------------------------------------------------------------------- */

static void describe(const struct pp_header *h, char text[static PP_OP_TEXT_BYTES])
{
    snprintf(text, PP_OP_TEXT_BYTES, "%d%s%d split %d x%d seq %d", h->stage,
             pp_op_kinds[h->kind].text, h->mb, h->split, h->granules, h->sequence);
}

static bool is_same(const struct pp_header *a, const struct pp_header *b)
{
    return a->program_hash == b->program_hash && a->bytes == b->bytes && a->step == b->step &&
           a->mb == b->mb && a->sequence == b->sequence && a->stage == b->stage &&
           a->kind == b->kind && a->split == b->split && a->granules == b->granules;
}

static bool check_headers(struct pp_machine *m, const struct pp_machine_message *message)
{
    const struct pp_header *sent = &message->send.header, *expected = &message->recv.header;
    const int send = pp_instruction_at(m, message->send.row),
              replica = message->send.row % m->replicas;
    char a[PP_OP_TEXT_BYTES], b[PP_OP_TEXT_BYTES];
    struct pp_error err = {0};

    if (is_same(sent, expected))
        return true;
    describe(sent, a);
    describe(expected, b);
    pp_error_set(&err, PP_EFAIL,
                 "step %d, replica %d: rank %d received %s (step %d, %" PRIu64
                 " bytes), but expected %s (step %d, %" PRIu64 " bytes)%s",
                 m->step + 1, replica, m->p->peer[send], a, sent->step + 1, sent->bytes, b,
                 expected->step + 1, expected->bytes,
                 sent->program_hash == expected->program_hash ? "" : " of another program");
    pp_machine_fail(m, &err);
    return false;
}

static void copy_message(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_machine_message *message = argument;

    k->copy(stream, message->bytes, message->send.buffer, message->recv.buffer);
}

/* End of the channel's last message; atomic, as another thread may write it on the wall clock. */
static int64_t channel_end_ps(const struct pp_machine *m, const struct pp_machine_message *message)
{
    return __atomic_load_n(&m->channel_ps[message->channel], __ATOMIC_RELAXED);
}

static void stamp_end(struct pp_machine *m, struct pp_machine_message *message, int64_t end_ps)
{
    __atomic_store_n(&m->channel_ps[message->channel], end_ps, __ATOMIC_RELAXED);
    m->end_ps[pp_cell(m, message->send.row)] = end_ps;
    m->end_ps[pp_cell(m, message->recv.row)] = end_ps;
}

/* Stamps the match: when the bytes can move and, on the virtual clock, when they have arrived. */
static void stamp(struct pp_machine *m, struct pp_machine_message *message)
{
    const size_t send = pp_cell(m, message->send.row), recv = pp_cell(m, message->recv.row);
    const int64_t matched_ps = pp_later_ps(m->posted_ps[send], m->posted_ps[recv]);
    const int64_t start_ps = m->options.costs->is_unit
                                 ? matched_ps
                                 : pp_later_ps(matched_ps, channel_end_ps(m, message));

    m->matched_ps[send] = m->matched_ps[recv] = matched_ps;
    m->start_ps[send] = m->start_ps[recv] = start_ps;
    if (!pp_is_virtual(m))
        return;
    const struct pp_op op = pp_program_op(m->p, pp_instruction_at(m, message->send.row));
    const int source = m->p->peer[pp_instruction_at(m, message->recv.row)];
    stamp_end(m, message, start_ps + pp_costs_p2p(m->options.costs, &op, source).ps);
}

static void finish(struct pp_machine *m, struct pp_machine_message *message)
{
    const int64_t start_ps = m->start_ps[pp_cell(m, message->send.row)];

    if (!pp_is_virtual(m))
        stamp_end(m, message, pp_later_ps(start_ps, pp_now_ps(m)));
    m->backend->record(m->device, m->worker_count + message->channel, message->done);
}

/* Ends the message at the match or at the last byte, whichever is later. */
void pp_message_landed(struct pp_machine *m, struct pp_machine_message *message)
{
    if (atomic_fetch_add(&message->landed, 1) == 1)
        finish(m, message);
}

static bool match(struct pp_machine *m, struct pp_machine_message *message)
{
    const struct pp_backend *backend = m->backend;
    const pp_stream_id stream = m->worker_count + message->channel;

    if (!check_headers(m, message) || !backend->wait(m->device, stream, message->send.row) ||
        !backend->wait(m->device, stream, message->recv.row))
        return false;
    stamp(m, message);
    if (m->remote) {
        m->transport->send(m, message);
        pp_message_landed(m, message);
        return true;
    }
    backend->launch(m->device, stream, copy_message, message);
    finish(m, message);
    return true;
}

/* True: the other side had posted before. */
static bool post(struct pp_worker *w, int i, int64_t posted_ps)
{
    struct pp_machine *m = w->machine;
    const int32_t row = pp_row(w, i);

    m->posted_ps[pp_cell(m, row)] = posted_ps;
    m->backend->record(m->device, w->index, row);
    return atomic_fetch_add(&pp_message_at(w, i)->posts, 1) != 0;
}

bool pp_message_post(struct pp_worker *w, int i)
{
    struct pp_machine *m = w->machine;
    struct pp_message_side *side = side_of(w, i);

    side->header.step = m->step;
    const bool is_second = post(w, i, w->clock_ps);
    if (m->remote)
        m->transport->posted(w, i, &side->header);
    return !is_second || match(m, pp_message_at(w, i));
}

bool pp_message_post_of(struct pp_worker *w, int i, const struct pp_header *header,
                        int64_t posted_ps)
{
    side_of(w, i)->header = *header;
    return !post(w, i, posted_ps) || match(w->machine, pp_message_at(w, i));
}

bool pp_message_wait(struct pp_worker *w, int target)
{
    struct pp_machine *m = w->machine;
    const struct pp_machine_message *message = pp_message_at(w, target);

    return m->backend->wait(m->device, w->index, message->done);
}
