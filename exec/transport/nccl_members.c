/* Groups of copies within a collective: each has a communicator of its own. A process has copies in
 * one of them. */
#include "exec/transport/gpu.h"

#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static bool is_together(const struct pp_sum *sum, int a, int b)
{
    return !sum->group || sum->group[a] == sum->group[b];
}

static bool is_first_of(const struct pp_sum *sum, int copy)
{
    for (int c = 0; c < copy; c++)
        if (is_together(sum, c, copy))
            return false;
    return true;
}

/* Returns the processes of a copy's group, each once, ascending. */
static struct pp_nccl_group members_of(struct pp_machine *m, const struct pp_sum *sum, int copy)
{
    int *members = PP_ARRAY(m->arena, int, sum->copies), count = 0;

    for (int c = 0; c < sum->copies; c++) {
        bool is_new = is_together(sum, c, copy);
        for (int k = 0; k < count; k++)
            is_new = is_new && members[k] != sum->owner[c];
        if (is_new)
            members[count++] = sum->owner[c];
    }
    qsort(members, (size_t)count, sizeof(*members), ascending);
    return (struct pp_nccl_group){.members = members, .count = count};
}

/* Returns the number of a group of a collective's stream, maybe a new one. */
static int find(struct pp_machine *m, int collective, struct pp_nccl_group group,
                struct pp_nccl_plan *plan, struct pp_nccl_group *groups)
{
    const struct pp_machine_collective *c = &m->collectives[collective];
    const int stage = m->p->collectives[collective % m->p->collective_count].stage;

    group.name = pp_arena_printf(m->arena, "stage %d, sum %d", stage, c->stream_of);
    for (int g = 0; g < plan->group_count; g++)
        if (groups[g].count == group.count && strcmp(groups[g].name, group.name) == 0 &&
            memcmp(groups[g].members, group.members,
                   sizeof(*group.members) * (size_t)group.count) == 0)
            return g;
    groups[plan->group_count] = group;
    return plan->group_count++;
}

/* Returns the first collective of the same members and groups. */
static int first_alike(const struct pp_machine *m, int collective)
{
    const struct pp_machine_collective *all = m->collectives, *c = &all[collective];
    const size_t bytes = sizeof(*c->sum.group) * (size_t)c->sum.copies;
    int first = c->stream_of;

    while (all[first].stream_of != c->stream_of || !all[first].sum.group ||
           memcmp(all[first].sum.group, c->sum.group, bytes) != 0)
        first++;
    return first;
}

int pp_nccl_find_group(struct pp_machine *m, int collective, const struct pp_sum *sum,
                       struct pp_nccl_run *run, struct pp_nccl_group *groups)
{
    const bool is_first = sum == &m->collectives[collective].sum;
    const int alike = is_first ? first_alike(m, collective) : collective;
    int own = -1;

    if (alike < collective)
        return run->sums[alike].group;
    for (int copy = 0; copy < sum->copies; copy++) {
        if (!is_first_of(sum, copy))
            continue;
        const struct pp_nccl_group group = members_of(m, sum, copy);
        const int found = group.count > 1 ? find(m, collective, group, &run->plan, groups) : -1;
        for (int k = 0; k < group.count; k++)
            if (group.members[k] == m->options.meeting.index)
                own = found;
    }
    return own;
}

int pp_nccl_most_groups(const struct pp_machine *m)
{
    int most = 0;

    for (int c = 0; c < m->collective_count; c++) {
        const struct pp_sum *first = &m->collectives[c].sum;

        if (first->group && first_alike(m, c) == c)
            most += first->copies;
        for (const struct pp_sum *sum = first->next; sum != NULL; sum = sum->next)
            most += sum->copies;
    }
    return most;
}

/* Returns the elements of an array for the copies of one group. */
static void *of_group(const struct pp_machine *m, const struct pp_sum *sum, const void *array,
                      size_t bytes, int of, int count)
{
    char *list = array ? pp_arena_alloc(m->arena, bytes * (size_t)count) : NULL, *at = list;

    for (int c = 0; c < sum->copies && list; c++) {
        if (sum->group[c] != sum->group[of])
            continue;
        memcpy(at, (const char *)array + bytes * (size_t)c, bytes);
        at += bytes;
    }
    return list;
}

struct pp_sum pp_nccl_own_copies(const struct pp_machine *m, const struct pp_sum *sum)
{
    struct pp_sum own = *sum;
    int here = 0, count = 0;

    if (!sum->group)
        return own;
    while (here < sum->copies && pp_is_elsewhere(m, &m->workers[sum->owner[here]]))
        here++;
    for (int c = 0; c < sum->copies && here < sum->copies; c++)
        count += sum->group[c] == sum->group[here];
    own.group = NULL;
    own.copies = count;
    if (count == 0)
        return own;
    own.at = of_group(m, sum, sum->at, sizeof(*sum->at), here, count);
    own.owner = of_group(m, sum, sum->owner, sizeof(*sum->owner), here, count);
    own.share = of_group(m, sum, sum->share, sizeof(*sum->share), here, count);
    own.norm = of_group(m, sum, sum->norm, sizeof(*sum->norm), here, count);
    own.has = of_group(m, sum, sum->has, sizeof(*sum->has), here, count);
    own.own = of_group(m, sum, sum->own, sizeof(*sum->own), here, count);
    return own;
}
