/* The channels and groups that a program needs, and what each of its messages and sums has to do
 * with this process. */
#include "exec/transport/nccl.h"

#include <string.h>

static void plan_channels(struct pp_machine *m, struct pp_nccl_plan *plan)
{
    struct pp_nccl_channel *channels =
        PP_ARRAY(m->arena, struct pp_nccl_channel, m->p->channel_count * m->replicas + 1);

    for (int c = 0; c < m->p->channel_count; c++)
        for (int replica = 0; replica < m->replicas; replica++) {
            const struct pp_channel *from = &m->p->channels[c];

            channels[c * m->replicas + replica] =
                (struct pp_nccl_channel){.source = pp_worker_at(m, from->source, replica)->index,
                                         .dest = pp_worker_at(m, from->dest, replica)->index,
                                         .pipe = from->pipe,
                                         .kind = from->kind == PP_SEND_F ? 'F' : 'B'};
        }
    plan->channels = channels;
    plan->channel_count = m->p->channel_count * m->replicas;
}

static bool has_members(const struct pp_nccl_group *group, const struct pp_machine_collective *c)
{
    return group->count == c->row_count &&
           memcmp(group->members, c->members, sizeof(int) * (size_t)group->count) == 0;
}

/* The group of these processes, which may be a new one. */
static int group_of(struct pp_machine *m, struct pp_nccl_plan *plan, struct pp_nccl_group *groups,
                    int collective)
{
    const struct pp_machine_collective *c = &m->collectives[collective];
    const struct pp_collective *from = &m->p->collectives[collective];

    for (int g = 0; g < plan->group_count; g++)
        if (has_members(&groups[g], c))
            return g;
    groups[plan->group_count] = (struct pp_nccl_group){
        .name = from->tied ? "the tied matrix" : pp_arena_printf(m->arena, "stage %d", from->stage),
        .members = c->members,
        .count = c->row_count};
    return plan->group_count++;
}

static void plan_sums(struct pp_machine *m, struct pp_nccl_run *run)
{
    struct pp_nccl_group *groups =
        PP_ARRAY(m->arena, struct pp_nccl_group, m->p->collective_count + 1);

    run->sums = PP_ARRAY(m->arena, struct nccl_sum, m->p->collective_count + 1);
    for (int c = 0; c < m->p->collective_count; c++)
        run->sums[c] = pp_nccl_plan_sum(
            m, c, m->collectives[c].row_count > 1 ? group_of(m, &run->plan, groups, c) : -1);
    run->plan.groups = groups;
}

static struct nccl_message *plan_messages(struct pp_machine *m)
{
    const int count = m->p->message_count * m->replicas;
    struct nccl_message *messages = PP_ARRAY(m->arena, struct nccl_message, count + 1);

    for (int k = 0; k < count; k++)
        messages[k] = (struct nccl_message){
            .m = m,
            .message = &m->messages[k],
            .is_send = !pp_is_elsewhere(m, &m->workers[pp_tcp_ends(m, &m->messages[k]).source])};
    return messages;
}

void pp_nccl_plan_comms(struct pp_machine *m, struct pp_nccl_run *run)
{
    run->messages = plan_messages(m);
    plan_channels(m, &run->plan);
    plan_sums(m, run);
}
