#include "core/roofline_parts.h"
#include "core/units.h"

static const char *const pass_names[] = {
    [PP_PASS_F] = "forward", [PP_PASS_I] = "input gradient", [PP_PASS_W] = "weight gradient"};

static void explain_terms(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                          const char *what, FILE *out)
{
    const struct pp_device *device = &in->cluster->device;
    const struct pp_terms terms = pp_roofline_terms(in, kind, pp_roofline_work(in, 0));
    char time[PP_UNITS_TEXT_BYTES];

    for (int i = 0; i < terms.count; i++) {
        const struct pp_term *term = &terms.term[i];
        const struct pp_compute cost = pp_roofline_term_cost(device, term, PP_PASS_F);
        const double bytes_s = term->bytes / (device->memory_bytes_per_s * device->memory_eta);
        const double launches_s = term->kernels * device->launch_s;
        const char *bound = launches_s > cost.s / 2                      ? "launch"
                            : cost.s - launches_s > bytes_s * (1 + 1e-9) ? "compute"
                                                                         : "memory";
        fprintf(out, "  %s forward, %s: %s = %s (%s bound)\n", what, term->name, term->formula,
                pp_units_print(cost.s, PP_UNIT_SECONDS, time), bound);
    }
}

static void explain_layer(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                          const char *what, FILE *out)
{
    const struct pp_work work = pp_roofline_work(in, 0);
    char total[PP_UNITS_TEXT_BYTES], tp[PP_UNITS_TEXT_BYTES];

    for (int pass = 0; pass < PP_PASSES; pass++) {
        const double compute_s = pp_roofline_layer(in, kind, work, (enum pp_pass)pass).s;
        const double tp_s = pp_roofline_tp_s(in, kind, work, (enum pp_pass)pass);
        fprintf(out, "  %s %s: %s compute + %s tensor-parallel\n", what, pass_names[pass],
                pp_units_print(compute_s, PP_UNIT_SECONDS, total),
                pp_units_print(tp_s, PP_UNIT_SECONDS, tp));
    }
}

static void explain_links(const struct pp_costs *costs, FILE *out)
{
    char alpha[PP_UNITS_TEXT_BYTES], beta[PP_UNITS_TEXT_BYTES];

    for (int i = 0; i < costs->links; i++)
        fprintf(out, "  message over the %s: %s + bytes / %s\n", costs->link_names[i],
                pp_units_print(pp_units_s(costs->alpha_ps[i]), PP_UNIT_SECONDS, alpha),
                pp_units_print(1 / costs->s_per_byte[i], PP_UNIT_BYTES_PER_S, beta));
}

static void explain_stages(const struct pp_cost_inputs *in, const struct pp_costs *costs, FILE *out)
{
    char f[PP_UNITS_TEXT_BYTES], b[PP_UNITS_TEXT_BYTES], sync[PP_UNITS_TEXT_BYTES],
        saved[PP_UNITS_TEXT_BYTES];
    const int splits = costs->splits;

    for (int s = 0; s < in->stages; s++) {
        /* a run of equal stages is one line */
        int last = s;
        while (last + 1 < in->stages - 1 && s > 0 &&
               in->blocks_per_stage[last + 1] == in->blocks_per_stage[s] &&
               costs->op[PP_AR][last + 1].ps == costs->op[PP_AR][s].ps &&
               costs->memory[last + 1].saved_bytes == costs->memory[s].saved_bytes)
            last++;
        fprintf(out, "  stage %d", s);
        if (last > s)
            fprintf(out, "-%d", last);
        fprintf(out, ": %d blocks, F %s, B %s, gradient sum %s, saves %s a micro-batch\n",
                in->blocks_per_stage[s],
                pp_units_print(pp_units_s(costs->op[PP_F][s * splits].ps), PP_UNIT_SECONDS, f),
                pp_units_print(pp_units_s(costs->op[PP_B][s * splits].ps), PP_UNIT_SECONDS, b),
                pp_units_print(pp_units_s(costs->op[PP_AR][s].ps), PP_UNIT_SECONDS, sync),
                pp_units_print(costs->memory[s].saved_bytes, PP_UNIT_BYTES, saved));
        s = last;
    }
}

void pp_costs_explain(const struct pp_cost_inputs *in, const struct pp_costs *costs, FILE *out)
{
    fprintf(out,
            "costs: %s; t = tokens a device and micro-batch, c = keys a query sees, h = %d, d = "
            "heads x head size, f = %d, V = %d, tp = %d\n",
            costs->origin, in->model->hidden, in->model->ffn, in->model->vocab, in->layout.tp);
    explain_terms(in, PP_LAYER_BLOCK, "block", out);
    explain_layer(in, PP_LAYER_BLOCK, "block", out);
    explain_terms(in, PP_LAYER_HEAD, "head", out);
    explain_layer(in, PP_LAYER_HEAD, "head", out);
    explain_layer(in, PP_LAYER_EMBEDDING, "embedding", out);
    explain_links(costs, out);
    explain_stages(in, costs, out);
}
