/* Kernels of a layer, summed to seconds, bytes and flops. */
#include "core/cost/analytic/parts.h"

struct pp_layer_work pp_analytic_work(const struct pp_cost_inputs *in, int split)
{
    const struct pp_layout *l = &in->layout;
    const double splits = in->splits, seq = l->seq;
    struct pp_layer_work work = {
        .tokens = (double)l->mbs * seq / l->cp / splits,
        .context = seq,
    };

    /* A split attends to itself and to what came before. Fused kernels skip the masked half of
     * the diagonal, others compute whole rectangles. */
    if (in->model->is_causal)
        work.context = in->cluster->device.is_attention_unfused ? seq * (split + 1) / splits
                                                                : seq * (split + 0.5) / splits;
    return work;
}

struct pp_layer_work pp_analytic_near_work(const struct pp_cost_inputs *in, int split)
{
    const struct pp_window *window = &in->model->window;
    const double length = (double)in->layout.seq / in->splits;
    struct pp_layer_work work = pp_analytic_work(in, split);

    if (window->keys == 0 || in->cluster->device.is_attention_unfused)
        return work;
    work.is_near = window->keys < in->layout.seq;
    work.context = pp_model_window_keys(window, split * length, (split + 1) * length);
    return work;
}

/* Choice of the kernels of a layer that count. */
enum choice { ALL, OF_MODULES, UNTIL_END, SELECTED };

static double share_of(const struct pp_kernel *kernel, enum choice choice, unsigned modules)
{
    const double shares[] = {
        [ALL] = 1,
        [OF_MODULES] = (kernel->modules & modules) != 0,
        [UNTIL_END] = !kernel->is_never_again,
        [SELECTED] = kernel->is_never_again ? 0 : kernel->again_frac,
    };

    return shares[choice];
}

static struct pp_compute sum_of(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                struct pp_layer_work work, enum pp_pass pass, enum choice choice,
                                unsigned modules)
{
    struct pp_layer_kernels list;
    struct pp_compute sum = {0};

    pp_layer_kernels(in, kind, work, pass, &list);
    for (int i = 0; i < list.count; i++) {
        const struct pp_kernel *kernel = &list.kernel[i];
        const double frac = share_of(kernel, choice, modules);
        if (frac == 0)
            continue;
        const double s = frac * pp_kernel_time(&in->cluster->device, kernel).s;
        sum.s += s;
        sum.bytes += frac * kernel->bytes;
        sum.flops += frac * kernel->flops * in->layout.tp * in->layout.cp;
        sum.matrix_s += kernel->kind == PP_KERNEL_GEMM ? s : 0;
        sum.launches += kernel->launches;
    }
    return sum;
}

struct pp_compute pp_analytic_layer(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                    struct pp_layer_work work, enum pp_pass pass)
{
    return sum_of(in, kind, work, pass, ALL, 0);
}

struct pp_compute pp_analytic_modules(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                      struct pp_layer_work work, unsigned modules)
{
    return sum_of(in, kind, work, PP_PASS_F, OF_MODULES, modules);
}

struct pp_compute pp_analytic_attention(const struct pp_cost_inputs *in, struct pp_layer_work work)
{
    return pp_analytic_modules(in, PP_LAYER_BLOCK, work, PP_AGAIN_CORE);
}

struct pp_compute pp_analytic_whole_again(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                          struct pp_layer_work work)
{
    return sum_of(in, kind, work, PP_PASS_F, UNTIL_END, 0);
}

struct pp_compute pp_analytic_selected(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                       struct pp_layer_work work)
{
    return sum_of(in, kind, work, PP_PASS_F, SELECTED, 0);
}
