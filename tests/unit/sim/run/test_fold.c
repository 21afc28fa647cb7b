#include "sim/run/fold.h"
#include "sim/run/links.h"
#include "tests/unit/support/listed_net.h"
#include "tests/unit/support/random_program.h"

#include <math.h>
#include <string.h>

/* ---- random networks: devices in nodes, NICs that some share, one core -------------------- */

enum { MAX_DEVICES = 24 };
struct wires {
    int gpus_per_node, nic_of[MAX_DEVICES];
    int up[MAX_DEVICES], down[MAX_DEVICES]; /* of a device, -1 = none */
    int nic_up[MAX_DEVICES], nic_down[MAX_DEVICES], core;
};

static int find_route(void *context, int source, int dest, int32_t *links, int max,
                      struct pp_error *err)
{
    const struct wires *w = context;
    const bool is_near = source / w->gpus_per_node == dest / w->gpus_per_node;
    const int route[] = {w->up[source], is_near ? -1 : w->nic_up[w->nic_of[source]],
                         is_near ? -1 : w->core, is_near ? -1 : w->nic_down[w->nic_of[dest]],
                         w->down[dest]};
    int count = 0;

    (void)err;
    for (int i = 0; i < 5; i++)
        if (route[i] >= 0) {
            cr_assert_lt(count, max);
            links[count++] = route[i];
        }
    return count;
}

static void make_net(struct pp_arena *arena, struct rng *rng, struct wires *w,
                     struct listed_net *net, struct pp_layout layout)
{
    static const double factors[] = {0.5, 1, 1, 2};
    const int devices = layout.tp * layout.pp * layout.dp, sharers = rng_int(rng, 1, 2);
    const bool has_own = rng_chance(rng, 80), has_core = rng_chance(rng, 60);
    const double own = 100 * factors[rng_int(rng, 0, 3)], core = rng_int(rng, 1, 2 * devices);

    *net = (struct listed_net){.find = find_route, .context = w};
    w->gpus_per_node = has_own ? rng_int(rng, 1, 4) : 1;
    for (int d = 0; d < devices; d++) {
        w->nic_of[d] = d / sharers;
        w->up[d] = has_own ? ln_link(net, own, 1e-6, "gpu%d.up", d) : -1;
        w->down[d] = has_own ? ln_link(net, own, 1e-6, "gpu%d.down", d) : -1;
        w->nic_up[d] = ln_link(net, 100, 2e-6, "nic%d.up", d);
        w->nic_down[d] = ln_link(net, 100, 2e-6, "nic%d.down", d);
    }
    w->core = has_core ? ln_link(net, 50 * core, 3e-6, "core", 0) : -1;
    if (has_core)
        net->link[w->core].is_fatpipe = rng_chance(rng, 20);
    if (rng_chance(rng, 20)) /* one link is another one */
        net->link[rng_int(rng, 0, net->count - 1)].bytes_per_s *= 0.75;
    ln_finish(arena, net, layout);
}

/* ---- the same questions, asked slowly
 * ------------------------------------------------------------
 */

enum { MAX_STREAMS = 512 };
struct stream {
    int replica, count;
    int32_t link[LN_MAX_ROUTE];
    double alone;
};

static int streams_of(const struct pp_program *p, const struct pp_network *n,
                      struct stream list[MAX_STREAMS])
{
    int count = 0;

    for (int r = 0; r < n->layout.dp; r++)
        for (int c = 0; c < p->channel_count; c++)
            for (int lane = 0; lane < n->lanes; lane++) {
                struct stream *s = &list[count++];
                cr_assert_leq(count, MAX_STREAMS);
                const struct pp_route route =
                    pp_fabric_route(n->fabric, pp_network_device(n, p->channels[c].source, r, lane),
                                    pp_network_device(n, p->channels[c].dest, r, lane), s->link);
                s->replica = r;
                s->count = route.count;
                s->alone = route.bytes_per_s;
            }
    return count;
}

static bool is_like(struct pp_fabric_link a, struct pp_fabric_link b)
{
    return a.bytes_per_s == b.bytes_per_s && a.latency_s == b.latency_s &&
           a.is_fatpipe == b.is_fatpipe;
}

/* Any two hops of a replica are one link exactly when they are in the first one. */
static bool are_wired_alike(const struct listed_net *net, const struct stream *a,
                            const struct stream *b, int count)
{
    for (int i = 0; i < count; i++) {
        if (a[i].count != b[i].count)
            return false;
        for (int h = 0; h < a[i].count; h++) {
            if (!is_like(net->link[a[i].link[h]], net->link[b[i].link[h]]))
                return false;
            for (int j = 0; j < i; j++)
                for (int k = 0; k < a[j].count && k < b[j].count; k++)
                    if ((a[i].link[h] == a[j].link[k]) != (b[i].link[h] == b[j].link[k]))
                        return false;
        }
    }
    return true;
}

static bool uses(const struct stream *s, int link)
{
    for (int h = 0; h < s->count; h++)
        if (s->link[h] == link)
            return true;
    return false;
}

static bool is_met(const struct stream *list, int count, int link)
{
    int first = -1;

    for (int i = 0; i < count; i++)
        if (uses(&list[i], link)) {
            if (first >= 0 && list[i].replica != first)
                return true;
            first = list[i].replica;
        }
    return false;
}

/* A link of a stream's route that only its own replica uses, between one end of the route and the
 * first shared link. It is the last such link, or the narrowest; -1 = none. */
static int gate_of(const struct listed_net *net, const struct stream *list, int count,
                   const struct stream *s, bool is_from_source, bool is_narrowest)
{
    int best = -1;

    for (int k = 0; k < s->count; k++) {
        const int link = s->link[is_from_source ? k : s->count - 1 - k];
        if (is_met(list, count, link))
            break;
        if (!net->link[link].is_fatpipe &&
            (best < 0 || !is_narrowest ||
             net->link[link].bytes_per_s <= net->link[best].bytes_per_s))
            best = link;
    }
    return best;
}

static double demand_on(const struct listed_net *net, const struct stream *list, int count,
                        int link, int way)
{
    double shared[LN_MAX_LINKS] = {0}, total = 0;

    for (int i = 0; i < count; i++)
        if (uses(&list[i], link)) {
            const int gate = gate_of(net, list, count, &list[i], way & 1, way & 2);
            if (gate < 0)
                total += list[i].alone;
            else
                shared[gate] += list[i].alone;
        }
    for (int g = 0; g < net->count; g++)
        total += fmin(shared[g], net->link[g].bytes_per_s);
    return total;
}

static enum pp_fold_obstacle slow_verdict(const struct listed_net *net, const struct stream *list,
                                          int count)
{
    const int replicas = net->network.layout.dp, each = count / replicas;

    for (int r = 1; r < replicas; r++)
        if (!are_wired_alike(net, list, list + r * each, each))
            return PP_FOLD_WIRING;
    for (int link = 0; link < net->count; link++) {
        double least = (double)INFINITY;
        for (int way = 0; way < 4 && is_met(list, count, link); way++)
            least = fmin(least, demand_on(net, list, count, link, way));
        if (!net->link[link].is_fatpipe && least < (double)INFINITY &&
            least > net->link[link].bytes_per_s * (1 + 1e-9))
            return PP_FOLD_SHARED;
    }
    return PP_FOLD_EXACT;
}

/* ---- what it is for: max-min fair rates
 * -----------------------------------------------------------
 */

/* Rates of the streams that are on, [stream]: again and again the link that gives least. */
static void fair_rates(const struct listed_net *net, const struct stream *list, const bool *is_on,
                       int count, double *rate)
{
    double left[LN_MAX_LINKS];
    bool is_fixed[MAX_STREAMS] = {false};

    for (int l = 0; l < net->count; l++)
        left[l] = net->link[l].bytes_per_s;
    for (;;) {
        double least = (double)INFINITY;
        int at = -1;
        for (int l = 0; l < net->count; l++) {
            int users = 0;
            for (int i = 0; i < count; i++)
                users += is_on[i] && !is_fixed[i] && uses(&list[i], l);
            const double share = net->link[l].is_fatpipe ? left[l] : left[l] / users;
            if (users && share < least) {
                least = share;
                at = l;
            }
        }
        if (at < 0)
            return;
        for (int i = 0; i < count; i++)
            if (is_on[i] && !is_fixed[i] && uses(&list[i], at)) {
                is_fixed[i] = true;
                rate[i] = least;
                for (int h = 0; h < list[i].count; h++)
                    if (!net->link[list[i].link[h]].is_fatpipe)
                        left[list[i].link[h]] -= least;
            }
    }
}

/* Does any replica notice the others when some streams are on? */
static bool do_replicas_disturb(const struct listed_net *net, const struct stream *list, int count,
                                const bool *is_on)
{
    const int each = count / net->network.layout.dp;
    double together[MAX_STREAMS], apart[MAX_STREAMS];

    fair_rates(net, list, is_on, count, together);
    for (int r = 0; r < net->network.layout.dp; r++)
        fair_rates(net, list + r * each, is_on + r * each, each, apart + r * each);
    for (int i = 0; i < count; i++)
        if (is_on[i] && fabs(together[i] - apart[i]) > 1e-9 * apart[i])
            return true;
    return false;
}

Test(fold, agrees_with_the_slow_rule_and_with_fair_shares)
{
    static const char *const schedules[] = {"1f1b", "chimera", "dualpipe"};
    int verdicts[3] = {0}, disturbed = 0;

    for (uint64_t seed = 1; seed <= 600; seed++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct rng rng = {seed * 7919};
        const int pp = 2 * rng_int(&rng, 1, 2);
        const struct pp_layout layout = {
            .tp = rng_int(&rng, 1, 2), .pp = pp, .dp = rng_int(&rng, 2, 3)};
        const struct pp_program *program =
            ln_program(arena, schedules[rng_int(&rng, 0, 2)], pp, 2 * pp, 0, false);
        struct wires wires;
        struct listed_net net;
        struct stream list[MAX_STREAMS];
        make_net(arena, &rng, &wires, &net, layout);
        const int count = streams_of(program, &net.network, list);
        const struct pp_fold fold = pp_fold_network(program, &net.network);
        cr_assert_eq(fold.obstacle, slow_verdict(&net, list, count), "seed %d: %d, not %d",
                     (int)seed, (int)fold.obstacle, (int)slow_verdict(&net, list, count));
        verdicts[fold.obstacle]++;
        if (fold.obstacle == PP_FOLD_SHARED)
            cr_assert(is_met(list, count, fold.link));
        bool is_disturbed = false, is_on[MAX_STREAMS];
        for (int trial = 0; fold.obstacle != PP_FOLD_WIRING && trial < 8; trial++) {
            for (int i = 0; i < count; i++)
                is_on[i] = rng_chance(&rng, trial ? 50 : 100);
            is_disturbed = is_disturbed || do_replicas_disturb(&net, list, count, is_on);
        }
        cr_assert(fold.obstacle != PP_FOLD_EXACT || !is_disturbed, "seed %d", (int)seed);
        disturbed += is_disturbed;
    }
    for (int k = 0; k < 3; k++)
        cr_assert_gt(verdicts[k], 50);
    cr_assert_gt(2 * disturbed, verdicts[PP_FOLD_SHARED]); /* the rule is no more than cautious */
}

/* ---- the decision of a run
 * ------------------------------------------------------------------------
 */

static const struct pp_engine sharing = {.name = "sharing", .shares_links = true};

static int decide(const struct pp_config *config, const struct pp_costs *costs,
                  const struct pp_network *network, const char *wanted)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_program *program = ln_program(arena, "1f1b", 2, 4, 0, false);
    const char *note;
    const int replicas = pp_fold_replicas(arena, config, program, costs, network, &note);

    cr_assert_str_eq(note, wanted);
    return replicas;
}

Test(fold, notes_say_why)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static const char *slow_all[] = {"1=0.5"}, *slow_one[] = {"1.1=0.5"};
    struct rng rng = {1};
    int64_t hop_ps[] = {10, 20};
    struct pp_ring ring = {.positions = 2, .hop_ps = hop_ps};
    const struct pp_costs costs = {.stages = 1, .rings = &ring};
    const struct pp_layout layout = {.tp = 1, .pp = 2, .dp = 2};
    struct pp_config c = {.layout = layout, .engine = &pp_engine_dag};
    struct wires wires;
    struct listed_net net;

    static const char ALIKE[] =
        "data-parallel replicas are identical and share no link in this engine";
    cr_assert_eq(decide(&c, &costs, NULL, ALIKE), 1);
    c.slow = slow_all;
    c.slow_count = 1;
    cr_assert_eq(decide(&c, &costs, NULL, ALIKE), 1);
    c.slow = slow_one;
    cr_assert_eq(decide(&c, &costs, NULL, "not folded: --slow makes replicas differ"), 2);
    c.engine_options.perturbation.jitter_frac = 0.1;
    cr_assert_eq(decide(&c, &costs, NULL, "not folded: --jitter makes replicas differ"), 2);
    c.engine_options.perturbation.jitter_frac = c.slow_count = 0;
    c.engine_options.eval.ring_flows = true;
    cr_assert_eq(
        decide(&c, &costs, NULL, "not folded: hops of the ring of stage 0 take different times"),
        2);
    hop_ps[1] = 10;
    cr_assert_eq(decide(&c, &costs, NULL, ALIKE), 1);
    c.engine = &sharing;
    cr_assert_eq(decide(&c, &costs, NULL,
                        "not folded: rings of --collectives flows run through all replicas"),
                 2);
    c.engine_options.eval.ring_flows = false;
    do
        make_net(arena, &rng, &wires, &net, layout);
    while (wires.core < 0 || wires.gpus_per_node > 1 || wires.nic_of[1] == 0 ||
           net.link[wires.core].is_fatpipe || net.link[wires.nic_up[0]].bytes_per_s != 100);
    net.link[wires.core].bytes_per_s = 1e9;
    cr_assert_eq(
        decide(&c, &costs, &net.network,
               "data-parallel replicas are identical, and no link that they share can be full"),
        1);
    net.link[wires.core].bytes_per_s = 100;
    cr_assert_eq(decide(&c, &costs, &net.network,
                        "not folded: replicas 0 and 1 meet on core, which can be asked for 4 times "
                        "its bandwidth"),
                 2);
    net.link[wires.nic_up[1]].bytes_per_s = 50;
    cr_assert_eq(decide(&c, &costs, &net.network,
                        "not folded: replicas 0 and 1 are wired differently at nic1.up"),
                 2);
    c.no_fold = true;
    cr_assert_eq(decide(&c, &costs, &net.network, "not folded: --no-fold"), 2);
    c.layout.dp = 1;
    cr_assert_eq(decide(&c, &costs, &net.network, ""), 1);
}
