/* --explain: every term of a step, with its formula and its value. */
#include "core/cost/analytic/parts.h"
#include "core/units.h"

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
    fprintf(out, "    %-22s %-26s %5s %9s  %s\n", kernel->name, shape, eta, PP_TIME(time.s),
            pp_bound_names[time.bound]);
}

static void explain_pass(const struct pp_cost_inputs *in, enum pp_layer_kind kind, const char *what,
                         enum pp_pass pass, FILE *out)
{
    const int parts = pp_analytic_parts(in, kind);
    const struct pp_layer_work whole = pp_analytic_work(in, 0),
                               work = pp_analytic_part(whole, parts);
    const struct pp_compute compute = pp_analytic_layer(in, kind, work, pass);
    const double host_s =
        pp_cost_has_graph(in) ? 0 : compute.launches * pp_cost_framework(in)->kernel_gap_s;
    struct pp_layer_kernels list;

    fprintf(out, "  %s %s: %s compute + %s tensor-parallel", what, pass_names[pass],
            PP_TIME(compute.s), PP_TIME(pp_analytic_tp_s(in, kind, work, pass)));
    if (kind == PP_LAYER_MOE && in->layout.ep > 1)
        fprintf(out, " + %s expert-parallel", PP_TIME(pp_analytic_ep_s(in, kind, work, pass)));
    if (kind != PP_LAYER_HEAD && kind != PP_LAYER_EMBEDDING && in->layout.cp > 1)
        fprintf(out, " + %s context-parallel", PP_TIME(pp_analytic_cp_s(in, work, pass)));
    if (host_s > 0)
        fprintf(out, ", host at least %s", PP_TIME(host_s));
    if (parts > 1)
        fprintf(out, ", in each of %d parts by rows; together c + (n - 1) max(c, a) + a = %s",
                parts, PP_TIME(pp_analytic_layer_sum(in, kind, whole, pass).s));
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
            full.context, PP_TIME(pp_analytic_attention(in, near).s),
            PP_TIME(pp_analytic_attention(in, full).s));
}

/* ---- messages -------------------------------------------------------------------------------- */

static void explain_messages(const struct pp_cost_inputs *in, const struct pp_costs *costs,
                             FILE *out)
{
    static const char *const waits[] = {
        [PP_EXCHANGE_AT_ONCE] = "an op takes the message that it sends",
        [PP_EXCHANGE_IN_TURN] = "an op takes the messages that it receives and sends",
    };
    const double bytes = pp_analytic_boundary_bytes(in) / in->splits;
    const struct pp_framework *framework = pp_cost_framework(in);

    for (int i = 0; i < costs->links; i++)
        fprintf(out, "  message over the %s: %s + bytes / %s\n", costs->link_names[i],
                PP_TIME(pp_units_s(costs->alpha_ps[i])),
                PP_TEXT(1 / costs->s_per_byte[i], PP_UNIT_BYTES_PER_S));
    if (in->stages < 2)
        return;
    fprintf(out, "  message between stages: t h%s values of %g B = %s a device and micro-batch%s\n",
            framework->sends_whole ? "" : "/tp", pp_dtype_bytes(&in->cluster->device),
            PP_TEXT(bytes, PP_UNIT_BYTES), in->splits > 1 ? " split" : "");
    for (int i = 0; i < costs->links; i++)
        fprintf(out, "    over the %s %s\n", costs->link_names[i],
                PP_TIME(pp_units_s(costs->alpha_ps[i]) + bytes * costs->s_per_byte[i]));
    if (framework->exchange != PP_EXCHANGE_HIDDEN)
        fprintf(out, "    nothing computes meanwhile: %s\n", waits[framework->exchange]);
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
            PP_TEXT(costs->tied->bytes, PP_UNIT_BYTES), PP_TIME(pp_units_s(costs->tied->ps)));
    if (pp_analytic_crosses(in, in->rank_of[0], in->rank_of[in->stages - 1]))
        pp_analytic_explain_limit(in, sum->links.inter, sum->network, "network", out);
    else
        pp_analytic_explain_limit(in, sum->links.intra, sum->node, "node", out);
}

static void explain_stages(const struct pp_cost_inputs *in, const struct pp_costs *costs,
                           const struct pp_sum_links *sums, FILE *out)
{
    for (int s = 0, last; s < in->stages; s = last + 1) {
        const int at = s * costs->splits;
        last = s; /* a run of equal stages is explained once */
        while (last + 1 < in->stages && is_like(in, costs, s, last + 1))
            last++;
        fprintf(out, "  stage%s %d", last > s ? "s" : "", s);
        if (last > s)
            fprintf(out, "-%d", last);
        fprintf(out, ": %d block%s, F %s, B %s", in->blocks_per_stage[s],
                in->blocks_per_stage[s] == 1 ? "" : "s",
                PP_TIME(pp_units_s(costs->op[PP_F][at].ps)),
                PP_TIME(pp_units_s(costs->op[PP_B][at].ps)));
        if (costs->op[PP_R][at].ps > 0)
            fprintf(out, ", R %s", PP_TIME(pp_units_s(costs->op[PP_R][at].ps)));
        fprintf(out, ", saves %s a micro-batch\n",
                PP_TEXT(costs->memory[s].saved_bytes, PP_UNIT_BYTES));
        pp_analytic_explain_update(in, costs, s, &sums[s], out);
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
    if (pp_layer_expert_peers(in) > 1)
        fprintf(out, "    exchange: top_k t%s/tp h values = %s out of each device, twice: %s\n",
                in->is_tp_only ? " etp" : "",
                PP_TEXT(pp_analytic_expert_bytes(in, work), PP_UNIT_BYTES),
                PP_TIME(pp_analytic_ep_s(in, PP_LAYER_MOE, work, PP_PASS_F)));
}

static void explain_block(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                          const char *name, FILE *out)
{
    explain_kernels(in, kind, name, out);
    fprintf(out, "  %s saves %s a micro-batch:", name,
            PP_TEXT(pp_analytic_saved_bytes(in, kind), PP_UNIT_BYTES));
    pp_analytic_explain_classes(in, kind, out);
    fputc('\n', out);
}

void pp_costs_explain(const struct pp_cost_inputs *in, const struct pp_costs *costs, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_sum_links *sums = pp_analytic_sum_links(arena, in);

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
    pp_analytic_explain_formulas(in, sums, out);
    pp_analytic_explain_tiers(in, costs, out);
    explain_stages(in, costs, sums, out);
}
