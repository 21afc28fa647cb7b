/* --explain: what a stage does once a step, with formulas and values. */
#include "core/cost/analytic/parts.h"
#include "core/units.h"

/* ---- formulas -------------------------------------------------------------------------------- */

/* Formulas of a sum and of a scatter or gather, for groups of g replicas in each of m nodes. Bytes
 * and rounds are those in a node, and those between nodes. */
struct formula {
    const char *node, *network, *node_rounds, *network_rounds, *remark;
};
static const struct formula formulas[PP_ALGORITHMS][2] = {
    [PP_ALGORITHM_AUTO] = {{"2 (n-1)/n bytes", "2 (n-1)/n bytes/g", "2 (n-m)", "2 (m-1)",
                            ", n = g m; the slower counts"},
                           {"(n-1)/n bytes", "(n-1)/n bytes/g", "(n-m)", "(m-1)",
                            ", n = g m; the slower counts"}},
    [PP_ALGORITHM_RING] = {{"2 (n-1)/n bytes", "2 (n-1)/n bytes", "2 (n-1)", "2 (n-1)",
                            ", n = g m: network if m > 1, else node"},
                           {"(n-1)/n bytes", "(n-1)/n bytes", "(n-1)", "(n-1)",
                            ", n = g m: network if m > 1, else node"}},
    [PP_ALGORITHM_TREE] = {{"2 bytes", "2 bytes/g", "2 (g-1)", "2 ceil(log2 m)",
                            ": the slower of node and network"},
                           {"(g-1)/g bytes", "(m-1)/m bytes/g", "ceil(log2 g)", "ceil(log2 m)",
                            ""}},
    [PP_ALGORITHM_HIERARCHICAL] = {{"2 (g-1)/g bytes", "2 (m-1)/m bytes/g", "2 (g-1)", "2 (m-1)",
                                    ""},
                                   {"(g-1)/g bytes", "(m-1)/m bytes/g", "(g-1)", "(m-1)", ""}},
};
static const struct formula auto_trees = {
    "2 bytes/e", "2 bytes/(e g)", "2 (g-1)", "2 ceil(log2 m)",
    ", at a share e of the bandwidth of rings; the slower counts"};

static void explain_start(const struct pp_cost_inputs *in, FILE *out)
{
    const struct pp_device_links links = pp_analytic_links(in);

    if (in->algorithm == PP_ALGORITHM_AUTO &&
        links.intra_ring.start_s + links.inter_ring.start_s > 0)
        fprintf(out, "    start    %s if g > 1, + %s if m > 1: once each, in the latency\n",
                PP_TIME(links.intra_ring.start_s), PP_TIME(links.inter_ring.start_s));
}

/* Returns the share of the links of a node that its devices use, for nodes without a switch. */
static const char *mesh_text(enum pp_algorithm algorithm, const struct pp_device_links *links)
{
    if (algorithm != PP_ALGORITHM_AUTO)
        return "";
    return links->is_cube_mesh     ? " x rings/6 of the cube mesh"
           : links->mesh_links > 0 ? " x (g-1)/links of the mesh"
                                   : "";
}

/* Returns the number of stages whose sums take trees by `auto`. */
static int count_trees(const struct pp_cost_inputs *in, const struct pp_sum_links *sums)
{
    const bool is_spread = pp_state_is_spread(&in->state);
    int count = 0;

    for (int s = 0; s < in->stages; s++) {
        const struct pp_state_sums sum = pp_analytic_state_sums(in, s);
        count +=
            pp_collective_time(PP_AR, in->algorithm, is_spread ? sum.rest : sum.sum, &sums[s].links,
                               is_spread ? sum.rest_bytes : sum.grads_bytes / sum.pieces)
                .tree_frac > 0;
    }
    return count;
}

static void explain_formula(const struct pp_cost_inputs *in, const char *name, const char *by,
                            const struct formula *formula, FILE *out)
{
    const struct pp_device_links links = pp_collective_links(pp_analytic_links(in), in->algorithm);

    fprintf(out,
            "  %s%s%s, g replicas in each of m nodes%s:\n"
            "    node     %s / %s%s\n"
            "    network  %s / %s\n"
            "    latency  %s %s %s %s %s\n",
            name, *by ? " by " : "", by, formula->remark, formula->node,
            PP_TEXT(links.intra.bytes_per_s, PP_UNIT_BYTES_PER_S), mesh_text(in->algorithm, &links),
            formula->network, PP_TEXT(links.inter.bytes_per_s, PP_UNIT_BYTES_PER_S),
            formula->node_rounds, PP_TIME(links.intra.alpha_s),
            in->algorithm == PP_ALGORITHM_RING ? "or" : "+", formula->network_rounds,
            PP_TIME(links.inter.alpha_s));
    explain_start(in, out);
}

void pp_analytic_explain_formulas(const struct pp_cost_inputs *in, const struct pp_sum_links *sums,
                                  FILE *out)
{
    const bool is_sharded = pp_state_cut(&in->state, PP_STATE_OPTIMIZER) > 1,
               is_spread = pp_state_is_spread(&in->state),
               is_auto = in->algorithm == PP_ALGORITHM_AUTO;
    const char *by = !is_auto ? pp_algorithm_names[in->algorithm] : is_spread ? "" : "rings";
    const int trees = count_trees(in, sums);

    if (in->layout.dp * in->layout.cp * in->pipelines > 1) {
        if (is_spread || trees < in->stages)
            explain_formula(in, is_spread ? "gradient scatter, parameter gather" : "gradient sum",
                            by, &formulas[in->algorithm][is_spread], out);
        if (trees > 0)
            explain_formula(in, is_spread ? "sum of scattered gradients" : "gradient sum", "trees",
                            &auto_trees, out);
    }
    fprintf(out,
            "  optimizer: (blocks + 1) launches + bytes moved a parameter x parameters%s / memory "
            "rate\n",
            is_sharded ? " / replicas" : "");
}

/* ---- collectives ----------------------------------------------------------------------------- */

/* One collective of a stage. */
struct explained {
    const char *name;
    struct pp_device_group group; /* one member: there is no such collective */
    double bytes;
    struct pp_collective_time time; /* of one of `pieces` */
    int pieces;                     /* one after the other */
    double copies_s, shown_s;       /* shown_s: after the next forward has hidden the rest; or 0 */
};

static void explain_collective(const struct explained *e, int replicas, FILE *out)
{
    if (e->group.members < 2)
        return;
    fprintf(out, "    %s of %s", e->name, PP_TEXT(e->bytes, PP_UNIT_BYTES));
    if (e->group.members != replicas)
        fprintf(out, " over %d devices, g = %d, m = %d", e->group.members, e->group.per_node,
                e->group.nodes);
    if (e->time.tree_frac > 0)
        fprintf(out, " by trees, e = %.3g", e->time.tree_frac);
    fprintf(out, ": %s = node %s + network %s + latency %s",
            PP_TIME(e->pieces * pp_collective_s(e->time) + e->copies_s),
            PP_TIME(e->pieces * e->time.node_s), PP_TIME(e->pieces * e->time.network_s),
            PP_TIME(e->pieces * e->time.latency_s));
    if (e->copies_s > 0)
        fprintf(out, " + copies %s", PP_TIME(e->copies_s));
    if (e->shown_s > 0)
        fprintf(out, "; the next forward hides all but %s", PP_TIME(e->shown_s));
    fputc('\n', out);
}

void pp_analytic_explain_limit(const struct pp_cost_inputs *in, struct pp_link link,
                               struct pp_sum_limit limit, const char *where, FILE *out)
{
    char name[PP_LINK_NAME_BYTES];

    if (limit.sums == 0)
        return;
    fprintf(out, "    %s at %s, limited by %s", where,
            PP_TEXT(link.bytes_per_s, PP_UNIT_BYTES_PER_S),
            pp_fabric_link_name(in->fabric, limit.link, name));
    if (limit.sums > 1)
        fprintf(out, ", %d sums share it", limit.sums);
    fputc('\n', out);
}

/* Returns the seconds of a gather that the next forward does not hide; 0 if it hides nothing. */
static double shown_s(const struct pp_cost_inputs *in, const struct pp_costs *costs, int stage,
                      const struct explained *gather)
{
    const struct pp_framework *f = pp_cost_framework(in);
    const int blocks = in->blocks_per_stage[stage];

    if (!in->is_dp_overlapped || !f->has_params_ahead)
        return 0;
    const struct pp_cost whole = pp_analytic_collective_cost(gather->time, gather->bytes),
                         shown = pp_analytic_spread_ahead(
                             whole, costs->op[PP_F][stage * in->splits].ps, blocks > 0 ? blocks : 1,
                             f->gather_share_frac);
    return pp_units_s(shown.ps);
}

static struct explained of_state(const struct pp_cost_inputs *in, const char *name,
                                 enum pp_op_kind kind, struct pp_device_group group,
                                 const struct pp_device_links *links, double bytes, int pieces)
{
    return (struct explained){
        .name = name,
        .group = group,
        .bytes = bytes,
        .time = pp_collective_time(kind, in->algorithm, group, links, bytes / pieces),
        .pieces = pieces};
}

/* Prints sums of whole gradients, or scatters, sums of the remainders and gathers. */
static void explain_dense(const struct pp_cost_inputs *in, const struct pp_costs *costs, int stage,
                          const struct pp_device_links *links, int replicas, FILE *out)
{
    const struct pp_state_sums s = pp_analytic_state_sums(in, stage);
    const bool is_spread = pp_state_is_spread(&in->state);
    struct explained sum =
        is_spread ? of_state(in, "gradient scatter", PP_RS, s.scatter, links, s.grads_bytes, 1)
                  : of_state(in, "gradient sum", PP_AR, s.sum, links, s.grads_bytes, s.pieces);

    sum.copies_s = pp_state_is_gathered(&in->state) ? 0 : pp_analytic_regroup_s(in, s.grads_bytes);
    explain_collective(&sum, replicas, out);
    if (!is_spread)
        return;
    const struct explained rest =
        of_state(in, "sum of scattered gradients", PP_AR, s.rest, links, s.rest_bytes, 1);
    struct explained gather =
        of_state(in, "parameter gather", PP_AG, s.scatter, links, s.params_bytes, 1);
    gather.time = pp_analytic_spread(in, links, s.scatter, stage, s.params_bytes);
    gather.shown_s = shown_s(in, costs, stage, &gather);
    explain_collective(&rest, replicas, out);
    explain_collective(&gather, replicas, out);
}

/* Prints the same of experts, which fewer devices share. */
static void explain_apart(const struct pp_cost_inputs *in, int stage,
                          const struct pp_device_links *links, int replicas, FILE *out)
{
    const bool is_spread = pp_state_is_spread(&in->state);
    const double params = pp_analytic_apart_params(in, stage),
                 grads_bytes = params * pp_cost_state_bytes(in).grads;
    const struct pp_device_group group = pp_analytic_expert_replicas(in);

    if (params == 0)
        return;
    const struct explained sum =
        is_spread ? of_state(in, "experts' gradient scatter", PP_RS, group, links, grads_bytes, 1)
                  : of_state(in, "experts' gradient sum", PP_AR, group, links, grads_bytes, 1);
    const struct explained gather = of_state(in, "experts' parameter gather", PP_AG, group, links,
                                             params * pp_dtype_bytes(&in->cluster->device), 1);
    explain_collective(&sum, replicas, out);
    if (is_spread)
        explain_collective(&gather, replicas, out);
}

static void explain_collectives(const struct pp_cost_inputs *in, const struct pp_costs *costs,
                                int stage, struct pp_device_group group,
                                const struct pp_sum_links *sum, FILE *out)
{
    explain_dense(in, costs, stage, &sum->links, group.members, out);
    explain_apart(in, stage, &sum->links, group.members, out);
    if (group.members > 1 && group.per_node > 1)
        pp_analytic_explain_limit(in, sum->links.intra, sum->node, "node", out);
    if (group.members > 1 && group.nodes > 1)
        pp_analytic_explain_limit(in, sum->links.inter, sum->network, "network", out);
}

/* ---- updates --------------------------------------------------------------------------------- */

static void explain_optimizer(const struct pp_cost_inputs *in, struct pp_cost update, int stage,
                              FILE *out)
{
    const struct pp_device *device = &in->cluster->device;
    const bool is_streamed = pp_state_has_host_stream(&in->state);
    const double gap_s = pp_cost_framework(in)->step_gap_s,
                 all = pp_analytic_updated_params(in, stage),
                 params = all - pp_analytic_host_params(in, stage); /* of the device */

    fprintf(out, "    optimizer: %s", PP_TIME(pp_units_s(update.ps)));
    if (in->state.is_cpu_update && !is_streamed)
        fputs(" on the host", out);
    else if (params > 0)
        fprintf(out, " = %d x %s + %g B x %s / %s", in->blocks_per_stage[stage] + 1,
                PP_TIME(device->launch_s), pp_analytic_update_bytes(in, stage) / all,
                PP_TEXT(params, PP_UNIT_COUNT),
                PP_TEXT(device->memory_bytes_per_s * device->memory_eta, PP_UNIT_BYTES_PER_S));
    if (gap_s > 0)
        fprintf(out, "%s %s between steps", params > 0 ? " +" : ", with", PP_TIME(gap_s));
    if (is_streamed)
        fprintf(out, ", next to %s of the host", PP_TIME(pp_analytic_host_update_s(in, stage)));
    if (update.copy_ps > 0)
        fprintf(out, " + %s of copies", PP_TIME(pp_units_s(update.copy_ps)));
    if (update.gather_ps > 0)
        fprintf(out, " + %s by which sums slow the backward",
                PP_TIME(pp_units_s(update.gather_ps)));
    fputc('\n', out);
}

void pp_analytic_explain_update(const struct pp_cost_inputs *in, const struct pp_costs *costs,
                                int stage, const struct pp_sum_links *sum, FILE *out)
{
    const struct pp_device_group group = pp_analytic_stage_group(in, stage);

    fprintf(out, "    %s parameters a device",
            PP_TEXT(pp_cost_stage_params(in, stage), PP_UNIT_COUNT));
    if (group.members > 1)
        fprintf(out, ", %d replicas, g = %d, m = %d", group.members, group.per_node, group.nodes);
    fputc('\n', out);
    explain_collectives(in, costs, stage, group, sum, out);
    explain_optimizer(in, costs->op[PP_U][stage], stage, out);
}
