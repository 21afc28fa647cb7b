/* --explain: every term of a step, with its formula and its value. */
#include "core/cost/analytic/parts.h"
#include "core/units.h"

/* Text of a quantity; lives until the end of the block. */
#define TEXT(value, unit) pp_units_print((value), (unit), (char[PP_UNITS_TEXT_BYTES]){0})
#define TIME(value)       TEXT(value, PP_UNIT_SECONDS)

/* ---- kernels of a layer, one line each: shape, share of the peak, bound ---------------------- */

enum { SHAPE_BYTES = 64 };

static const char *const pass_names[] = {
    [PP_PASS_F] = "forward", [PP_PASS_I] = "input gradient", [PP_PASS_W] = "weight gradient"};

static void print_shape(const struct pp_kernel *kernel, char shape[SHAPE_BYTES])
{
    const struct pp_gemm_shape *g = &kernel->gemm;

    if (kernel->kind != PP_KERNEL_GEMM)
        pp_units_print(kernel->bytes, PP_UNIT_BYTES, shape);
    else if (g->batch > 1)
        snprintf(shape, SHAPE_BYTES, "%.0f x %.0f x %.0f x %.0f", g->batch, g->m, g->n, g->k);
    else
        snprintf(shape, SHAPE_BYTES, "%.0f x %.0f x %.0f", g->m, g->n, g->k);
}

static void explain_kernel(const struct pp_device *device, const struct pp_kernel *kernel,
                           FILE *out)
{
    const struct pp_kernel_time time = pp_kernel_time(device, kernel);
    char shape[SHAPE_BYTES], eta[16] = "";

    print_shape(kernel, shape);
    if (time.eta > 0)
        snprintf(eta, sizeof eta, "%.0f %%", 100 * time.eta);
    fprintf(out, "    %-22s %-26s %5s %9s  %s\n", kernel->name, shape, eta, TIME(time.s),
            pp_bound_names[time.bound]);
}

static void explain_pass(const struct pp_cost_inputs *in, enum pp_layer_kind kind, const char *what,
                         enum pp_pass pass, FILE *out)
{
    const struct pp_layer_work work = pp_analytic_work(in, 0);
    const struct pp_compute compute = pp_analytic_layer(in, kind, work, pass);
    const double host_s =
        pp_cost_has_graph(in) ? 0 : compute.launches * pp_cost_framework(in)->kernel_gap_s;
    struct pp_layer_kernels list;

    fprintf(out, "  %s %s: %s compute + %s tensor-parallel", what, pass_names[pass],
            TIME(compute.s), TIME(pp_analytic_tp_s(in, kind, work, pass)));
    if (kind == PP_LAYER_MOE && in->layout.ep > 1)
        fprintf(out, " + %s expert-parallel", TIME(pp_analytic_ep_s(in, kind, work, pass)));
    if (kind != PP_LAYER_HEAD && kind != PP_LAYER_EMBEDDING && in->layout.cp > 1)
        fprintf(out, " + %s context-parallel", TIME(pp_analytic_cp_s(in, work, pass)));
    if (host_s > 0)
        fprintf(out, ", host at least %s", TIME(host_s));
    fputc('\n', out);
    pp_layer_kernels(in, kind, work, pass, &list);
    for (int i = 0; i < list.count; i++)
        explain_kernel(&in->cluster->device, &list.kernel[i], out);
}

static void explain_kernels(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                            const char *what, FILE *out)
{
    for (int pass = 0; pass < PP_PASSES; pass++)
        explain_pass(in, kind, what, (enum pp_pass)pass, out);
}

static void explain_window(const struct pp_cost_inputs *in, FILE *out)
{
    const struct pp_model *m = in->model;
    const struct pp_layer_work full = pp_analytic_work(in, 0), near = pp_analytic_near_work(in, 0);

    if (m->window.keys == 0)
        return;
    fprintf(out,
            "  windows: in %d of %d blocks a query meets %s of %d keys: c = %.0f, else %.0f; "
            "forward %s, else %s between the projections\n",
            pp_model_windowed_blocks(m, 0, m->layers), m->layers,
            m->window.is_chunked ? "its chunk" : "the last", m->window.keys, near.context,
            full.context, TIME(pp_analytic_attention(in, near).s),
            TIME(pp_analytic_attention(in, full).s));
}

/* ---- messages -------------------------------------------------------------------------------- */

static void explain_messages(const struct pp_cost_inputs *in, const struct pp_costs *costs,
                             FILE *out)
{
    const double bytes = pp_analytic_boundary_bytes(in) / in->splits;

    for (int i = 0; i < costs->links; i++)
        fprintf(out, "  message over the %s: %s + bytes / %s\n", costs->link_names[i],
                TIME(pp_units_s(costs->alpha_ps[i])),
                TEXT(1 / costs->s_per_byte[i], PP_UNIT_BYTES_PER_S));
    if (in->stages < 2)
        return;
    fprintf(out,
            "  message between stages: t h/tp values of %g B = %s a device and micro-batch%s\n",
            pp_dtype_bytes(&in->cluster->device), TEXT(bytes, PP_UNIT_BYTES),
            in->splits > 1 ? " split" : "");
    for (int i = 0; i < costs->links; i++)
        fprintf(out, "    over the %s %s\n", costs->link_names[i],
                TIME(pp_units_s(costs->alpha_ps[i]) + bytes * costs->s_per_byte[i]));
}

/* ---- once a step ----------------------------------------------------------------------------- */

/* Formulas of a sum and of a scatter or gather, for groups of g replicas in each of m nodes. Bytes
 * and rounds are those in a node, and those between nodes. */
struct formula {
    const char *node, *network, *node_rounds, *network_rounds, *remark;
};
static const struct formula formulas[PP_ALGORITHMS][2] = {
    [PP_ALGORITHM_AUTO] = {{"2 (n-1)/n bytes", "2 (n-1)/n bytes/g", "2 (n-m)", "2 (m-1)",
                            ", n = g m: the slower counts, or a tree if faster"},
                           {"(n-1)/n bytes", "(n-1)/n bytes/g", "(n-m)", "(m-1)",
                            ", n = g m: the slower counts"}},
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

static void explain_start(const struct pp_cost_inputs *in, FILE *out)
{
    const struct pp_device_links links = pp_analytic_links(in);

    if (in->algorithm == PP_ALGORITHM_AUTO &&
        links.intra_ring.start_s + links.inter_ring.start_s > 0)
        fprintf(out, "    start    %s if g > 1, + %s if m > 1: once each, in the latency\n",
                TIME(links.intra_ring.start_s), TIME(links.inter_ring.start_s));
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

static void explain_formulas(const struct pp_cost_inputs *in, FILE *out)
{
    const bool is_sharded = pp_state_cut(&in->state, PP_STATE_OPTIMIZER) > 1,
               is_ring = in->algorithm == PP_ALGORITHM_RING;
    const struct formula *formula = &formulas[in->algorithm][is_sharded];
    const struct pp_device_links links = pp_collective_links(pp_analytic_links(in), in->algorithm);

    if (in->layout.dp * in->layout.cp * in->pipelines > 1) {
        fprintf(out,
                "  %s%s%s, g replicas in each of m nodes%s:\n"
                "    node     %s / %s%s\n"
                "    network  %s / %s\n"
                "    latency  %s %s %s %s %s\n",
                is_sharded ? "gradient scatter, parameter gather" : "gradient sum",
                in->algorithm == PP_ALGORITHM_AUTO ? "" : " by ",
                in->algorithm == PP_ALGORITHM_AUTO ? "" : pp_algorithm_names[in->algorithm],
                formula->remark, formula->node, TEXT(links.intra.bytes_per_s, PP_UNIT_BYTES_PER_S),
                mesh_text(in->algorithm, &links), formula->network,
                TEXT(links.inter.bytes_per_s, PP_UNIT_BYTES_PER_S), formula->node_rounds,
                TIME(links.intra.alpha_s), is_ring ? "or" : "+", formula->network_rounds,
                TIME(links.inter.alpha_s));
        explain_start(in, out);
    }
    fprintf(out,
            "  optimizer: (blocks + 1) launches + bytes moved a parameter x parameters%s / memory "
            "rate\n",
            is_sharded ? " / replicas" : "");
}

static void explain_collective(enum pp_op_kind kind, struct pp_cost cost,
                               struct pp_collective_time time, double copies_s, FILE *out)
{
    static const char *const names[PP_OP_KINDS] = {
        [PP_AR] = "gradient sum", [PP_RS] = "gradient scatter", [PP_AG] = "parameter gather"};

    fprintf(out, "    %s of %s: %s = node %s + network %s + latency %s", names[kind],
            TEXT(cost.bytes, PP_UNIT_BYTES), TIME(pp_units_s(cost.ps)), TIME(time.node_s),
            TIME(time.network_s), TIME(time.latency_s));
    if (copies_s > 0)
        fprintf(out, " + copies %s", TIME(copies_s));
    fputc('\n', out);
}

static void explain_limit(const struct pp_cost_inputs *in, struct pp_link link,
                          struct pp_sum_limit limit, const char *where, FILE *out)
{
    char name[PP_LINK_NAME_BYTES];

    if (limit.sums == 0)
        return;
    fprintf(out, "    %s at %s, limited by %s", where, TEXT(link.bytes_per_s, PP_UNIT_BYTES_PER_S),
            pp_fabric_link_name(in->fabric, limit.link, name));
    if (limit.sums > 1)
        fprintf(out, ", %d sums share it", limit.sums);
    fputc('\n', out);
}

static void explain_collectives(const struct pp_cost_inputs *in, const struct pp_costs *costs,
                                int stage, struct pp_device_group group,
                                const struct pp_sum_links *sum, FILE *out)
{
    static const enum pp_op_kind kinds[] = {PP_AR, PP_RS, PP_AG};

    for (size_t i = 0; i < PP_COUNT(kinds) && group.members > 1; i++) {
        const struct pp_cost cost = costs->op[kinds[i]][stage];
        const bool is_copied = kinds[i] != PP_AG && !pp_state_is_gathered(&in->state);
        if ((kinds[i] == PP_AR) != (pp_state_cut(&in->state, PP_STATE_OPTIMIZER) > 1))
            explain_collective(
                kinds[i], cost,
                pp_collective_time(kinds[i], in->algorithm, group, &sum->links, cost.bytes),
                is_copied ? pp_analytic_regroup_s(in, cost.bytes) : 0, out);
    }
    if (group.members > 1 && group.per_node > 1)
        explain_limit(in, sum->links.intra, sum->node, "node", out);
    if (group.members > 1 && group.nodes > 1)
        explain_limit(in, sum->links.inter, sum->network, "network", out);
}

static void explain_update(const struct pp_cost_inputs *in, const struct pp_costs *costs, int stage,
                           const struct pp_sum_links *sum, FILE *out)
{
    const struct pp_device *device = &in->cluster->device;
    const struct pp_device_group group = pp_analytic_stage_group(in, stage);
    const struct pp_cost update = costs->op[PP_U][stage];
    const double params = pp_cost_stage_params(in, stage),
                 updated = params / pp_state_cut(&in->state, PP_STATE_OPTIMIZER);

    fprintf(out, "    %s parameters a device", TEXT(params, PP_UNIT_COUNT));
    if (group.members > 1)
        fprintf(out, ", %d replicas, g = %d, m = %d", group.members, group.per_node, group.nodes);
    fputc('\n', out);
    explain_collectives(in, costs, stage, group, sum, out);
    fprintf(out, "    optimizer: %s = %d x %s + %g B x %s / %s", TIME(pp_units_s(update.ps)),
            in->blocks_per_stage[stage] + 1, TIME(device->launch_s),
            pp_analytic_update_bytes(in, stage) / updated, TEXT(updated, PP_UNIT_COUNT),
            TEXT(device->memory_bytes_per_s * device->memory_eta, PP_UNIT_BYTES_PER_S));
    if (update.gather_ps > 0)
        fprintf(out, " + %s by which sums slow the backward", TIME(pp_units_s(update.gather_ps)));
    fputc('\n', out);
}

/* ---- stages ---------------------------------------------------------------------------------- */

static bool is_like(const struct pp_cost_inputs *in, const struct pp_costs *costs, int a, int b)
{
    static const enum pp_op_kind kinds[] = {PP_AR, PP_RS, PP_U};

    for (size_t i = 0; i < PP_COUNT(kinds); i++)
        if (costs->op[kinds[i]][a].ps != costs->op[kinds[i]][b].ps)
            return false;
    return in->blocks_per_stage[a] == in->blocks_per_stage[b] &&
           costs->op[PP_F][a * costs->splits].ps == costs->op[PP_F][b * costs->splits].ps &&
           costs->op[PP_R][a * costs->splits].ps == costs->op[PP_R][b * costs->splits].ps &&
           costs->memory[a].saved_bytes == costs->memory[b].saved_bytes;
}

static void explain_tied(const struct pp_cost_inputs *in, const struct pp_costs *costs,
                         const struct pp_sum_links *sum, FILE *out)
{
    if (!costs->tied)
        return;
    fprintf(out, "  tied embedding, summed over the first and the last stage: %s, %s\n",
            TEXT(costs->tied->bytes, PP_UNIT_BYTES), TIME(pp_units_s(costs->tied->ps)));
    if (pp_analytic_crosses(in, in->rank_of[0], in->rank_of[in->stages - 1]))
        explain_limit(in, sum->links.inter, sum->network, "network", out);
    else
        explain_limit(in, sum->links.intra, sum->node, "node", out);
}

static void explain_stages(const struct pp_cost_inputs *in, const struct pp_costs *costs, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_sum_links *sums = pp_analytic_sum_links(arena, in);

    for (int s = 0, last; s < in->stages; s = last + 1) {
        const int at = s * costs->splits;
        last = s; /* a run of equal stages is explained once */
        while (last + 1 < in->stages && is_like(in, costs, s, last + 1))
            last++;
        fprintf(out, "  stage%s %d", last > s ? "s" : "", s);
        if (last > s)
            fprintf(out, "-%d", last);
        fprintf(out, ": %d block%s, F %s, B %s", in->blocks_per_stage[s],
                in->blocks_per_stage[s] == 1 ? "" : "s", TIME(pp_units_s(costs->op[PP_F][at].ps)),
                TIME(pp_units_s(costs->op[PP_B][at].ps)));
        if (costs->op[PP_R][at].ps > 0)
            fprintf(out, ", R %s", TIME(pp_units_s(costs->op[PP_R][at].ps)));
        fprintf(out, ", saves %s a micro-batch\n",
                TEXT(costs->memory[s].saved_bytes, PP_UNIT_BYTES));
        explain_update(in, costs, s, &sums[s], out);
    }
    explain_tied(in, costs, &sums[in->stages], out);
}

static void explain_symbols(const struct pp_cost_inputs *in, const struct pp_costs *costs,
                            FILE *out)
{
    const struct pp_model *m = in->model;

    fprintf(out,
            "costs: %s; tp = %d, t = %.0f tokens a device and micro-batch%s, a query sees c keys; "
            "h = %d, a = %d heads, d = q = %d, kv = %d, f = %d, V = %d\n",
            costs->origin, in->layout.tp, pp_analytic_work(in, 0).tokens,
            in->splits > 1 ? " split" : "", m->hidden, m->heads, m->heads * m->head_dim,
            m->kv_heads * m->head_dim, m->ffn, m->vocab);
}

static void explain_head(const struct pp_cost_inputs *in, FILE *out)
{
    if (in->head == PP_HEAD_IGNORED)
        fputs("  --head ignored: embedding and head are left out of the stages' compute\n", out);
    if (in->head == PP_HEAD_BALANCED)
        fprintf(out,
                "  --head balanced: forward and backward of embedding and head are %.3g and %.3g "
                "blocks\n",
                pp_analytic_layer_s(in, PP_LAYER_EMBEDDING) /
                    pp_analytic_layer_s(in, PP_LAYER_BLOCK),
                pp_analytic_layer_s(in, PP_LAYER_HEAD) / pp_analytic_layer_s(in, PP_LAYER_BLOCK));
}

static void explain_experts(const struct pp_cost_inputs *in, FILE *out)
{
    const struct pp_layer_work work = pp_analytic_work(in, 0);
    const struct pp_experts *e = &in->model->experts;
    const struct pp_device_group group = pp_analytic_expert_group(in),
                                 replicas = pp_analytic_expert_replicas(in);

    if (e->count == 0)
        return;
    const struct pp_expert_work w = pp_layer_expert_work(in, work);
    fprintf(out,
            "  experts: %d of %d a token; ep = %d over %d node%s, etp = %d, each on %d device%s\n"
            "    a device holds %g of a block, each works on %.0f tokens of width %g\n",
            e->top_k, e->count, in->layout.ep, group.nodes, group.nodes == 1 ? "" : "s",
            pp_layout_etp(&in->layout), replicas.members, replicas.members == 1 ? "" : "s",
            w.experts, w.tokens, w.ffn);
    if (in->layout.ep > 1)
        fprintf(out, "    exchange: top_k t/tp h values = %s out of each device, twice: %s\n",
                TEXT(pp_analytic_expert_bytes(in, work), PP_UNIT_BYTES),
                TIME(pp_analytic_ep_s(in, PP_LAYER_MOE, work, PP_PASS_F)));
}

static void explain_block(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                          const char *name, FILE *out)
{
    explain_kernels(in, kind, name, out);
    fprintf(out, "  %s saves %s a micro-batch:", name,
            TEXT(pp_analytic_saved_bytes(in, kind), PP_UNIT_BYTES));
    pp_analytic_explain_classes(in, kind, out);
    fputc('\n', out);
}

void pp_costs_explain(const struct pp_cost_inputs *in, const struct pp_costs *costs, FILE *out)
{
    explain_symbols(in, costs, out);
    fputs("  kernels: shape (m x n x k) or bytes, share of the peak, time, what bounds it\n", out);
    if (in->is_graph)
        fputs("  CUDA graphs launch the kernels of layers: the host takes no time for them\n", out);
    explain_experts(in, out);
    if (pp_model_moe_blocks(in->model, 0, in->model->layers) < in->model->layers)
        explain_block(in, PP_LAYER_BLOCK, "block", out);
    if (in->model->experts.count > 0)
        explain_block(in, PP_LAYER_MOE, "mixture", out);
    explain_window(in, out);
    explain_kernels(in, PP_LAYER_HEAD, "head", out);
    explain_kernels(in, PP_LAYER_EMBEDDING, "embedding", out);
    explain_head(in, out);
    explain_messages(in, costs, out);
    explain_formulas(in, out);
    pp_analytic_explain_tiers(in, costs, out);
    explain_stages(in, costs, out);
}
