/* schedules/verify/comm.c — messages: each once, sent in the order of their receives, waited for at
 * most once, and collectives exactly once. Freezing has linked SENDs, RECVs and WAITs. */
#include "schedules/verify/parts.h"

static const uint8_t post_table[PP_OP_KINDS] = {[PP_SEND_F] = AT_SEND_F,
                                                [PP_SEND_B] = AT_SEND_B,
                                                [PP_RECV_F] = AT_RECV_F,
                                                [PP_RECV_B] = AT_RECV_B};

static enum pp_status fill_post(struct pp_verify *v, int i, int32_t *side)
{
    const struct pp_program *p = v->p;
    int32_t *at = v->at[post_table[p->kind[i]]];
    int64_t unit = pp_verify_unit(v, p->stage[i], p->mb[i], p->split[i]);

    side[p->arg[i]] = i;
    for (int g = 0; g < p->granule_count[i]; g++, unit += p->splits) {
        if (at[unit] >= 0)
            return pp_verify_fail_twice(v, at[unit], i);
        at[unit] = i;
    }
    return PP_OK;
}

static enum pp_status fill_wait(struct pp_verify *v, int rank, int i)
{
    const struct pp_program *p = v->p;
    const int target = p->begin[rank] + p->arg[i];

    if (v->is_waited[target])
        return pp_verify_refuse(v, i, "waits a second time for the same post");
    v->is_waited[target] = 1;
    if (!pp_op_is_recv(p->kind[target]))
        return PP_OK;
    int32_t *at = v->at[p->kind[target] == PP_RECV_F ? AT_WAIT_F : AT_WAIT_B];
    int64_t unit = pp_verify_unit(v, p->stage[target], p->mb[target], p->split[target]);
    for (int g = 0; g < p->granule_count[target]; g++, unit += p->splits)
        at[unit] = i;
    return PP_OK;
}

static bool is_same_tensor(const struct pp_program *p, int send, int recv)
{
    const int next = p->kind[send] == PP_SEND_F ? p->stage[send] + 1 : p->stage[send] - 1;

    return p->stage[recv] == next && p->mb[recv] == p->mb[send] &&
           p->split[recv] == p->split[send] && p->granule_count[recv] == p->granule_count[send] &&
           p->pipe[recv] == p->pipe[send];
}

static enum pp_status check_channels(struct pp_verify *v, const int32_t *send, const int32_t *recv)
{
    const struct pp_program *p = v->p;

    for (int c = 0; c < p->channel_count; c++)
        for (int k = 0; k < p->channels[c].count; k++) {
            const int m = p->channels[c].first + k;
            if (is_same_tensor(p, send[m], recv[m]))
                continue;
            return pp_verify_fail(
                v, recv[m],
                "message %d from rank %d to rank %d is sent as %s but received as "
                "%s: a channel delivers in the order of its sends",
                k, p->channels[c].source, p->channels[c].dest, pp_verify_text(v, send[m]),
                pp_verify_text(v, recv[m]));
        }
    return PP_OK;
}

enum pp_status pp_verify_comm(struct pp_verify *v)
{
    const struct pp_program *p = v->p;
    int32_t *send = PP_ARRAY(v->arena, int32_t, p->message_count);
    int32_t *recv = PP_ARRAY(v->arena, int32_t, p->message_count);

    v->is_waited = PP_ARRAY(v->arena, uint8_t, pp_program_size(p));
    for (int rank = 0; rank < p->ranks; rank++)
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
            if (pp_op_is_send(p->kind[i]))
                PP_TRY(fill_post(v, i, send));
            else if (pp_op_is_recv(p->kind[i]))
                PP_TRY(fill_post(v, i, recv));
            else if (p->kind[i] == PP_WAIT)
                PP_TRY(fill_wait(v, rank, i));
        }
    return check_channels(v, send, recv);
}

enum pp_status pp_verify_waits(struct pp_verify *v)
{
    const struct pp_program *p = v->p;

    for (int i = 0; i < pp_program_size(p); i++)
        if (pp_op_is_collective(p->kind[i]) && !v->is_waited[i])
            return pp_verify_fail(v, i, "nothing waits for %s: (%s)WAIT is missing",
                                  pp_verify_text(v, i), pp_verify_text(v, i));
    return PP_OK;
}
