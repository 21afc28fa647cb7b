/* The channels and groups that a program needs, and what each of its messages and sums has to do
 * with this process. */
#include "exec/transport_nccl.h"

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

static struct pp_sum copies_here(const struct pp_machine *m, const struct pp_sum *all)
{
    struct pp_sum here = *all;

    here.copies = 0;
    here.at = PP_ARRAY(m->arena, char *, all->copies);
    for (int c = 0; c < all->copies; c++)
        if (!pp_is_elsewhere(m, &m->workers[all->owner[c]]))
            here.at[here.copies++] = all->at[c];
    return here;
}

static void plan_sums(struct pp_machine *m, struct pp_nccl_run *run)
{
    struct pp_nccl_group *groups =
        PP_ARRAY(m->arena, struct pp_nccl_group, m->p->collective_count + 1);

    run->sums = PP_ARRAY(m->arena, struct nccl_sum, m->p->collective_count + 1);
    for (int c = 0; c < m->p->collective_count; c++)
        run->sums[c] = (struct nccl_sum){
            .m = m,
            .here = copies_here(m, &m->collectives[c].sum),
            .group = m->collectives[c].row_count > 1 ? group_of(m, &run->plan, groups, c) : -1};
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

/* Parts of a sum stay where NCCL would have to know of shares. */
static enum pp_status check_kinds(const struct pp_machine *m, struct pp_error *err)
{
    for (int c = 0; c < m->p->collective_count; c++)
        if (m->p->collectives[c].kind != PP_AR)
            return pp_error_set(err, PP_EINVAL,
                                "--transport nccl sums whole gradients (AR), and the program has "
                                "%s: leave out --zero, or use --transport local",
                                pp_op_kinds[m->p->collectives[c].kind].text);
    return PP_OK;
}

enum pp_status pp_nccl_plan_lines(struct pp_machine *m, struct pp_nccl_run *run,
                                  struct pp_error *err)
{
    PP_TRY(check_kinds(m, err));
    run->messages = plan_messages(m);
    plan_channels(m, &run->plan);
    plan_sums(m, run);
    return PP_OK;
}
