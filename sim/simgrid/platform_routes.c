/* Routes of an open platform file, its place in messages, its end. */
#include "sim/simgrid/platform_file_parts.h"

#include <math.h>

enum pp_status pp_platform_place(const struct pp_platform *p, int line, struct pp_error *err)
{
    if (line > 0)
        return pp_error_prefix(err, "%s:%d: ", p->source.path, line);
    return pp_error_prefix(err, "%s: ", p->source.path);
}

void pp_platform_close(struct pp_platform *p)
{
    struct pp_error ignored;

    if (p->is_open)
        pp_child_finish(&p->child, &ignored);
    p->is_open = false;
}

static enum pp_status check_route(const struct pp_platform *p, struct pp_probe_request ask,
                                  const struct pp_probe_answer *answer, const int32_t *links,
                                  struct pp_error *err)
{
    double latency_s = 0;

    for (int i = 0; i < answer->count; i++) {
        latency_s += p->link[links[i]].latency_s;
        for (int k = 0; k < i; k++)
            if (links[k] == links[i])
                return pp_error_set(err, PP_EINVAL,
                                    "%s: the route from host %s to host %s uses link %s twice",
                                    p->source.path, p->names[ask.source], p->names[ask.dest],
                                    p->names[p->hosts + links[i]]);
    }
    if (fabs(latency_s - answer->latency_s) > 1e-9 * fmax(latency_s, answer->latency_s))
        return pp_error_set(err, PP_EINVAL,
                            "%s: the route from host %s to host %s has a latency of %g s, but its "
                            "links have %g s: no latency may come from elsewhere",
                            p->source.path, p->names[ask.source], p->names[ask.dest],
                            answer->latency_s, latency_s);
    return PP_OK;
}

/* Asks the child for a route. SimGrid crashes if there is none: then the child has ended. */
static bool ask_route(struct pp_platform *p, struct pp_probe_request ask,
                      struct pp_probe_answer *answer, int32_t *links, int max)
{
    if (!p->is_open)
        return false;
    if (pp_probe_send(p->child.channel, &ask, sizeof(ask)) &&
        pp_probe_receive(p->child.channel, answer, sizeof(*answer)) && answer->count <= max &&
        pp_probe_receive(p->child.channel, links, sizeof(*links) * (size_t)answer->count))
        return answer->count > 0;
    pp_platform_close(p);
    return false;
}

int pp_platform_find_route(void *context, int source, int dest, int32_t *links, int max,
                           struct pp_error *err)
{
    struct pp_platform *p = context;
    const struct pp_probe_request ask = {source, dest};
    struct pp_probe_answer answer = {0};

    if (source == dest)
        return 0;
    if (!ask_route(p, ask, &answer, links, max)) {
        pp_error_set(err, PP_EINVAL, "%s: no route from host %s to host %s", p->source.path,
                     p->names[source], p->names[dest]);
        return -1;
    }
    return check_route(p, ask, &answer, links, err) == PP_OK ? answer.count : -1;
}

struct pp_fabric *pp_platform_fabric(struct pp_arena *arena, struct pp_platform *p)
{
    return pp_fabric_listed(arena, p->hosts, p->link, p->names + p->hosts, p->links,
                            (struct pp_route_source){pp_platform_find_route, p, p->alpha_s});
}
