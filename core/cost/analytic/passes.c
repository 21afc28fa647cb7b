/* Passes through the units of an op, with the gathers, scatters and copies that run at the same
 * time. Formulas: docs/costs-memory.md, "Sharded state" and "Offloading". */
#include "core/cost/analytic/parts.h"
#include "core/units.h"

#include <math.h>

/* ---- units ----------------------------------------------------------------------------------- */

struct pp_stage_units pp_analytic_stage_units(struct pp_arena *scratch,
                                              const struct pp_cost_inputs *in,
                                              const struct pp_device_links *links, int stage)
{
    const struct pp_gather_units sizes = pp_analytic_units(in, stage);
    struct pp_stage_units u = {.in = in,
                               .links = links,
                               .stage = stage,
                               .count = sizes.count,
                               .resident = sizes.resident,
                               .params = sizes.params};
    const double all = pp_cost_stage_params(in, stage);

    if (all > 0)
        u.moved_frac = pp_state_moved(&in->state, PP_STATE_PARAMS) / all *
                       pp_analytic_cut_params(in, stage, pp_state_cut(&in->state, PP_STATE_PARAMS));
    if (all > 0)
        u.left_bytes = pp_analytic_left_bytes(in, stage) / all;
    u.left_s = PP_ARRAY(scratch, double, u.count);
    u.loaded_s = PP_ARRAY(scratch, double, u.count);
    u.gathered_s = PP_ARRAY(scratch, double, u.count);
    u.scattered_s = PP_ARRAY(scratch, double, u.count);
    return u;
}

/* Returns the units in which gradients leave for another tier; 0 if they stay. */
int pp_analytic_unit_parts(const struct pp_stage_units *u)
{
    return u->left_bytes == 0 ? 0 : pp_analytic_is_summed(u->in, u->stage) ? 1 : u->count;
}

/* ---- times of a unit ------------------------------------------------------------------------- */

static double layer_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind, int split,
                      enum pp_pass pass)
{
    const struct pp_layer_work work = pp_analytic_work(in, split);

    return pp_analytic_layer(in, kind, work, pass).s + pp_analytic_tp_s(in, kind, work, pass);
}

/* Returns seconds of one pass by unit: the ends take their own time, blocks share the rest. */
static struct pp_by_unit pass_of(const struct pp_stage_units *u, int split, enum pp_pass pass,
                                 int64_t ps)
{
    const struct pp_cost_inputs *in = u->in;
    const double ends = in->head != PP_HEAD_IGNORED,
                 first = ends * pp_analytic_end_share(in, PP_LAYER_EMBEDDING, u->stage),
                 last = ends * pp_analytic_end_share(in, PP_LAYER_HEAD, u->stage);
    struct pp_by_unit s = {0};

    if (first > 0)
        s.first = first * layer_s(in, PP_LAYER_EMBEDDING, split, pass);
    if (last > 0)
        s.last = last * layer_s(in, PP_LAYER_HEAD, split, pass);
    s.each = fmax(0, pp_units_s(ps) - s.first - s.last) / u->count;
    return s;
}

/* Returns the time of the collectives of `units` units: for a layer at once, or matrix by matrix. A
 * scatter includes its copies. Gathers of single tensors are too small for NCCL to open a ring
 * through each network card. */
static struct pp_collective_time unit_time(const struct pp_stage_units *u, enum pp_op_kind kind,
                                           struct pp_mesh mesh, double bytes, int units)
{
    const struct pp_framework *f = pp_cost_framework(u->in);
    const struct pp_device_group group =
        pp_analytic_group_within(u->in, u->stage, mesh, (struct pp_mesh){1, 1});
    const int calls = units * (f->has_gather_per_matrix ? pp_analytic_matrices(u->in) : 1);
    struct pp_device_links links = *u->links;

    if (f->is_gathered_by_tensor)
        links.inter.bytes_per_s /= group.fewest > 0 ? group.fewest : group.per_node;
    const struct pp_collective_time one =
        pp_collective_time(kind, u->in->algorithm, group, &links, bytes / calls);
    return (struct pp_collective_time){
        .node_s = calls * one.node_s + (kind == PP_RS ? pp_analytic_regroup_s(u->in, bytes) : 0),
        .network_s = calls * one.network_s,
        .latency_s = calls * one.latency_s,
    };
}

struct pp_cost pp_analytic_unit_cost(const struct pp_stage_units *u, enum pp_op_kind kind,
                                     struct pp_mesh mesh, double bytes, int units)
{
    return pp_analytic_collective_cost(unit_time(u, kind, mesh, bytes, units), bytes);
}

static double gather_s(const struct pp_stage_units *u, struct pp_mesh mesh, int unit)
{
    const double bytes = pp_analytic_unit_params(u, unit) * pp_dtype_bytes(&u->in->cluster->device);

    return pp_collective_s(unit_time(u, PP_AG, mesh, bytes, 1));
}

static double load_s(const struct pp_stage_units *u, int unit)
{
    return u->moved_frac > 0 ? pp_analytic_unit_load_bytes(u, pp_analytic_unit_params(u, unit)) /
                                   pp_analytic_move_rate(u->in, PP_FOR_LOAD)
                             : 0;
}

static double part_s(const struct pp_stage_units *u, int unit)
{
    return u->left_bytes * pp_analytic_unit_params(u, unit) / pp_analytic_part_rate(u->in);
}

static double scatter_s(const struct pp_stage_units *u, int unit)
{
    const double bytes = pp_analytic_unit_params(u, unit) * pp_cost_state_bytes(u->in).grads;

    return pp_collective_s(unit_time(u, PP_RS, u->in->state.shard[PP_STATE_PARAMS], bytes, 1));
}

/* ---- a pass ---------------------------------------------------------------------------------- */

/* Returns the share of a unit that is gathered a second time in its backward after a recomputation.
 * A module releases its parameters after its forward, recomputed or not, unless the next use is
 * less than max_reuse_distance parameters away. The last matrix is used again at once. Source:
 * DeepSpeed runtime/zero/partitioned_param_coordinator.py, release_sub_module. */
static double again_frac(const struct pp_stage_units *u, bool is_recomputed)
{
    const double most = pp_cost_framework(u->in)->gathered_params;

    return is_recomputed && most > 0 && u->params.each > most
               ? 1 - pp_analytic_widest_params(u->in) / u->params.each
               : 0;
}

/* A pass through the units of an op, with the communication that overlaps with its compute. */
struct pass {
    const struct pp_stage_units *u;
    struct pp_mesh mesh;                                /* over which its parameters are cut */
    bool is_backward, has_fetch, has_scatter, has_load; /* fetch: gather or load */
    bool has_part;                                      /* gradients leave for another tier */
    double again_frac;                                  /* share of a unit that is gathered twice */
    double clock_s, end_s, load_end_s; /* ends of compute, of collectives and of loads */
    double part_end_s;                 /* end of copies down */
    double collectives_s;              /* sum of collectives */
    int gathered, loaded;              /* units that are fetched, or about to be */
};

static int unit_at(const struct pass *l, int i)
{
    return l->is_backward ? l->u->count - 1 - i : i;
}

/* Runs a collective whose input is ready at `from_s`; returns its end. */
static double run_collective(struct pass *l, double from_s, double s)
{
    l->end_s = fmax(l->end_s, fmax(l->clock_s, from_s)) + s;
    l->collectives_s += s;
    return l->end_s;
}

/* Scatters the gradients of unit i - 1, and waits for a buffer for those of unit i. */
static void scatter_after(struct pass *l, int i)
{
    const int buffers = l->u->in->state.buffers;
    double *there_s = l->u->scattered_s;

    if (!l->has_scatter || i == 0)
        return;
    if (i >= buffers && buffers > 1)
        l->clock_s = fmax(l->clock_s, there_s[i - buffers]);
    there_s[i - 1] = run_collective(l, 0, scatter_s(l->u, unit_at(l, i - 1)));
    if (buffers == 1)
        l->clock_s = there_s[i - 1];
}

/* Moves the gradients of unit i - 1 down, and waits for a buffer for those of unit i. */
static void part_after(struct pass *l, int i)
{
    const int buffers = l->u->in->state.buffers;
    double *there_s = l->u->left_s;

    if (!l->has_part || i == 0)
        return;
    if (i >= buffers && buffers > 1)
        l->clock_s = fmax(l->clock_s, there_s[i - buffers]);
    const double ready_s = l->has_scatter ? l->u->scattered_s[i - 1] : l->clock_s;
    there_s[i - 1] = l->part_end_s =
        fmax(l->part_end_s, fmax(l->clock_s, ready_s)) + part_s(l->u, unit_at(l, i - 1));
    if (buffers == 1)
        l->clock_s = there_s[i - 1];
}

static void load_ahead(struct pass *l, int until)
{
    for (; l->has_load && l->loaded < until && l->loaded < l->u->count; l->loaded++)
        l->u->loaded_s[l->loaded] = l->load_end_s =
            fmax(l->load_end_s, l->clock_s) + load_s(l->u, unit_at(l, l->loaded));
}

/* Gathers as far ahead of unit i as there is room, loads one unit further, waits for unit i. With
 * several buffers, a unit that leaves the cache makes room for one that stays. */
static void fetch_ahead(struct pass *l, int i)
{
    const int buffers = l->u->in->state.buffers, left = l->u->count - i,
              room = buffers > 1 ? buffers + l->u->resident - 1 : 1,
              until = i + (room < left ? room : left);
    const bool is_cut = pp_mesh_size(l->mesh) > 1;

    if (!l->has_fetch)
        return;
    load_ahead(l, until + (is_cut && buffers > 1));
    for (; l->gathered < until; l->gathered++) {
        const double from_s = l->has_load ? l->u->loaded_s[l->gathered] : 0;
        l->u->gathered_s[l->gathered] =
            is_cut ? run_collective(l, from_s,
                                    (1 + l->again_frac) *
                                        gather_s(l->u, l->mesh, unit_at(l, l->gathered)))
                   : from_s;
    }
    if (i > 0)
        l->clock_s = fmax(l->clock_s, l->u->gathered_s[i]);
}

/* Exposed seconds of a pass: in gathers and scatters, in copies between tiers. */
struct exposed {
    double gather_s, copy_s;
};

/* Returns the seconds by which a pass outlasts its compute. The evaluator (schedules/evaluate/)
 * counts other transfers over the same link. */
static double outlasting_s(struct pass *l, const struct pp_by_unit *pass_s)
{
    double compute_s = 0;

    l->gathered = l->loaded = l->u->resident;
    for (int i = 0; i < l->u->count; i++) {
        const double s = pp_analytic_unit_value(l->u, pass_s, unit_at(l, i));
        scatter_after(l, i);
        part_after(l, i);
        fetch_ahead(l, i);
        l->clock_s += s;
        compute_s += s;
    }
    const double copies_s = fmax(l->load_end_s, l->part_end_s);
    return fmax(0, fmax(l->clock_s, fmax(l->end_s, copies_s)) - compute_s);
}

/* Returns the mesh over which the parameters of a pass are cut. */
static struct pp_mesh mesh_of(const struct pp_stage_units *u, bool is_backward)
{
    const struct pp_state_spec *state = &u->in->state;

    return is_backward && state->secondary.in_node ? state->secondary
                                                   : state->shard[PP_STATE_PARAMS];
}

/* With k buffers, unit i + k - 1 is gathered once unit i - 1 has left its buffer. The gradients of
 * unit i - 1 are scattered until unit i + k - 1 begins. Both use the same links, in turn, and take
 * their share of the device. Copies between tiers use links of their own. With one buffer nothing
 * overlaps. The gather before the first unit and the scatter after the last belong to the program.
 */
static struct exposed exposed_of(const struct pp_stage_units *u, const struct pp_by_unit *pass_s,
                                 bool is_backward, bool has_fetch, bool has_grads,
                                 double again_frac)
{
    const struct pp_state_spec *state = &u->in->state;
    const struct pass pass = {
        .u = u,
        .mesh = mesh_of(u, is_backward),
        .is_backward = is_backward,
        .has_fetch = has_fetch,
        .again_frac = again_frac,
        .has_scatter = has_grads && pp_state_is_gathered(state),
    };
    struct pass here = pass, copying = pass;
    const double exposed_s = outlasting_s(&here, pass_s),
                 share = pp_cost_framework(u->in)->gather_share_frac;

    copying.has_load = has_fetch && u->moved_frac > 0;
    copying.has_part = has_grads && pp_analytic_unit_parts(u) > 1;
    const bool has_copies = copying.has_load || copying.has_part;
    return (struct exposed){
        .gather_s = exposed_s + share * fmax(0, here.collectives_s - exposed_s),
        .copy_s = has_copies ? fmax(0, outlasting_s(&copying, pass_s) - exposed_s) : 0,
    };
}

static void expose(struct pp_cost *cost, struct exposed shown)
{
    const int64_t gather_ps = pp_units_ps(shown.gather_s), copy_ps = pp_units_ps(shown.copy_s);

    cost->ps += gather_ps + copy_ps;
    cost->gather_ps += gather_ps;
    cost->copy_ps += copy_ps;
}

static struct pp_by_unit both(struct pp_by_unit a, struct pp_by_unit b)
{
    return (struct pp_by_unit){a.each + b.each, a.first + b.first, a.last + b.last};
}

/* ---- the first pass of a visit --------------------------------------------------------------- */

/* A pass through all units, and how long its collectives and loads show if `resident` units are
 * there before it. */
struct whole_pass {
    struct pp_by_unit pass_s;
    bool is_backward;
    double again_frac;
    struct exposed shown;
};

static void shorten(struct pp_cost *cost, int64_t first_ps, double later_s)
{
    const int64_t ps = first_ps + pp_units_ps(fmax(0, later_s));

    cost->ps = ps < cost->ps ? ps : cost->ps;
}

/* The program fetches all units that will stay, and waits for the first one. The others arrive
 * while the first pass computes. What shows of them is part of the fetch. */
static void start_pass(const struct pp_stage_units *u, const struct whole_pass *pass,
                       struct pp_costs *costs)
{
    const bool is_back = pass->is_backward;
    const double bytes = pp_analytic_unit_params(u, is_back ? u->count - 1 : 0),
                 value_bytes = pp_dtype_bytes(&u->in->cluster->device);
    const enum pp_purpose gather = is_back ? PP_FOR_BACKWARD : PP_FOR_FORWARD,
                          load = is_back ? PP_FOR_RELOAD : PP_FOR_LOAD;
    struct pp_stage_units one = *u;

    if (u->resident == 1)
        return;
    one.resident = 1;
    const struct exposed all =
        exposed_of(&one, &pass->pass_s, is_back, true, is_back, pass->again_frac);
    shorten(&costs->purpose[gather][u->stage],
            pp_analytic_unit_cost(u, PP_AG, mesh_of(u, is_back), bytes * value_bytes, 1).ps,
            all.gather_s - pass->shown.gather_s);
    shorten(&costs->purpose[load][u->stage],
            pp_analytic_move(u->in, load, pp_analytic_unit_load_bytes(u, bytes)).ps,
            all.copy_s - pass->shown.copy_s);
}

struct pp_cost pp_analytic_shown_loads(const struct pp_stage_units *u,
                                       const struct pp_by_unit *pass_s)
{
    struct pp_by_unit each = *pass_s;
    struct pp_cost cost = {0};

    each.each /= u->count;
    expose(&cost, exposed_of(u, &each, false, true, false, 0));
    return cost;
}

void pp_analytic_expose_units(const struct pp_stage_units *u, struct pp_costs *costs)
{
    for (int q = 0; q < u->in->splits; q++) {
        const int at = u->stage * u->in->splits + q;
        struct pp_cost *f = &costs->op[PP_F][at], *b = &costs->op[PP_B][at],
                       *i = &costs->op[PP_I][at], *w = &costs->op[PP_W][at];
        const struct pp_by_unit forward = pass_of(u, q, PP_PASS_F, f->ps),
                                input = pass_of(u, q, PP_PASS_I, i->ps),
                                weight = pass_of(u, q, PP_PASS_W, w->ps),
                                again = {.each = pp_units_s(costs->op[PP_R][at].ps) / u->count};
        /* Recomputed blocks use the parameters that are gathered for their backward. */
        const struct pp_by_unit backward = both(input, again), whole = both(backward, weight);
        const double twice = again_frac(u, again.each > 0);
        const struct whole_pass down = {forward, false, 0,
                                        exposed_of(u, &forward, false, true, false, 0)},
                                up = {whole, true, twice,
                                      exposed_of(u, &whole, true, true, true, twice)};
        expose(f, down.shown);
        expose(i, exposed_of(u, &backward, true, true, false, twice));
        expose(w, exposed_of(u, &weight, true, false, true, 0));
        expose(b, up.shown);
        if (q == 0) {
            start_pass(u, &down, costs);
            start_pass(u, &up, costs);
        }
    }
}
