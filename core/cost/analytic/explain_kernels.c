/* --explain: the kernels of layers, one line each, with shape, share of the peak and what bounds
 * them. */
#include "core/cost/analytic/parts.h"
#include "core/units.h"

#define TIME(value) pp_units_print((value), PP_UNIT_SECONDS, (char[PP_UNITS_TEXT_BYTES]){0})

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
    const struct pp_layer_work work = pp_roofline_work(in, 0);
    const struct pp_compute compute = pp_roofline_layer(in, kind, work, pass);
    const double host_s = pp_roofline_has_fused_experts(in)
                              ? 0
                              : compute.launches * pp_roofline_framework(in)->kernel_gap_s;
    struct pp_layer_kernels list;

    fprintf(out, "  %s %s: %s compute + %s tensor-parallel", what, pass_names[pass],
            TIME(compute.s), TIME(pp_roofline_tp_s(in, kind, work, pass)));
    if (kind == PP_LAYER_MOE && in->layout.ep > 1)
        fprintf(out, " + %s expert-parallel", TIME(pp_roofline_ep_s(in, kind, work, pass)));
    if (kind != PP_LAYER_HEAD && kind != PP_LAYER_EMBEDDING && in->layout.cp > 1)
        fprintf(out, " + %s context-parallel", TIME(pp_roofline_cp_s(in, work, pass)));
    if (host_s > 0)
        fprintf(out, ", host at least %s", TIME(host_s));
    fputc('\n', out);
    pp_layer_kernels(in, kind, work, pass, &list);
    for (int i = 0; i < list.count; i++)
        explain_kernel(&in->cluster->device, &list.kernel[i], out);
}

void pp_roofline_explain_kernels(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                 const char *what, FILE *out)
{
    for (int pass = 0; pass < PP_PASSES; pass++)
        explain_pass(in, kind, what, (enum pp_pass)pass, out);
}

void pp_roofline_explain_window(const struct pp_cost_inputs *in, FILE *out)
{
    const struct pp_model *m = in->model;
    const struct pp_layer_work full = pp_roofline_work(in, 0), near = pp_roofline_near_work(in, 0);

    if (m->window.keys == 0)
        return;
    fprintf(out,
            "  windows: in %d of %d blocks a query meets %s of %d keys: c = %.0f, else %.0f; "
            "forward %s, else %s between the projections\n",
            pp_model_windowed_blocks(m, 0, m->layers), m->layers,
            m->window.is_chunked ? "its chunk" : "the last", m->window.keys, near.context,
            full.context, TIME(pp_roofline_attention(in, near).s),
            TIME(pp_roofline_attention(in, full).s));
}
