#include "tests/oracle/maxmin.h"

#include <math.h>

/* What a flow may have at most, whatever the others do. */
static double own_bound(const struct fluid_link *links, const struct fluid_flow *f)
{
    double bound = INFINITY;

    for (int k = 0; k < f->link_count; k++)
        if (links[f->links[k]].is_fatpipe)
            bound = fmin(bound, links[f->links[k]].bytes_per_s);
    return bound;
}

/* Fair share of the fullest link of a flow, as things stand. */
static double share_of(const struct fluid_link *links, const struct fluid_flow *f,
                       const double *room, const int *users)
{
    double share = own_bound(links, f);

    for (int k = 0; k < f->link_count; k++)
        if (!links[f->links[k]].is_fatpipe)
            share = fmin(share, room[f->links[k]] / users[f->links[k]]);
    return share;
}

static void freeze(const struct fluid_link *links, struct fluid_flow *f, double rate, double *room,
                   int *users)
{
    f->rate = rate;
    for (int k = 0; k < f->link_count; k++)
        if (!links[f->links[k]].is_fatpipe) {
            room[f->links[k]] -= rate;
            users[f->links[k]]--;
        }
}

int fluid_share(const struct fluid_link *links, struct fluid_flow *const *flows, int count,
                double *room, int *users)
{
    int open = count, most = 0;

    for (int i = 0; i < count; i++) {
        flows[i]->rate = -1;
        for (int k = 0; k < flows[i]->link_count; k++) {
            room[flows[i]->links[k]] = links[flows[i]->links[k]].bytes_per_s;
            users[flows[i]->links[k]] = 0;
        }
    }
    for (int i = 0; i < count; i++)
        for (int k = 0; k < flows[i]->link_count; k++) {
            int *now = &users[flows[i]->links[k]];
            *now += !links[flows[i]->links[k]].is_fatpipe;
            most = *now > most ? *now : most;
        }
    while (open > 0) {
        double least = INFINITY;
        for (int i = 0; i < count; i++)
            if (flows[i]->rate < 0)
                least = fmin(least, share_of(links, flows[i], room, users));
        /* A full link keeps its share while its flows are frozen one by one. */
        const double limit = least * (1 + 1e-12);
        for (int i = 0; i < count; i++)
            if (flows[i]->rate < 0 && share_of(links, flows[i], room, users) <= limit) {
                freeze(links, flows[i], least, room, users);
                open--;
            }
    }
    return most;
}
