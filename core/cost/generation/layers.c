/* Kernels and exchanges of a layer, summed to the costs of a pass. */
#include "core/cost/generation/parts.h"

#include <math.h>

void pp_pass_add(struct pp_pass_cost *sum, const struct pp_pass_cost *part, double count)
{
    sum->s += count * part->s;
    sum->matrix_s += count * part->matrix_s;
    sum->attention_s += count * part->attention_s;
    sum->kernels_s += count * part->kernels_s;
    sum->tp_s += count * part->tp_s;
    sum->ep_s += count * part->ep_s;
    sum->host_s += count * part->host_s;
    sum->flops += count * part->flops;
    sum->bytes += count * part->bytes;
    sum->weight_bytes += count * part->weight_bytes;
    sum->cache_bytes += count * part->cache_bytes;
    sum->compute_s += count * part->compute_s;
    sum->memory_s += count * part->memory_s;
    sum->launches += count * part->launches;
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* Returns the bytes of parameters that a kernel reads. */
static double weights_of(const struct pp_layer_kernels *list, const struct pp_kernel *kernel)
{
    return kernel->kind == PP_KERNEL_GEMM && !(kernel->modules & PP_AGAIN_CORE)
               ? kernel->gemm.k * kernel->gemm.n * kernel->gemm.batch * list->weight_bytes
               : 0;
}

/* Products of few rows keep multiprocessors and memory busy about alike, and each waits for the
 * other at times. So near the ridge of the roofline a kernel reaches neither roof. Far from it, as
 * in training, the longer time counts. The exponent is fitted on rows ft-20b-tp1 of
 * tests/published/inference.csv. */
static const double knee = 3;

/* Is true for a kernel that the peak bounds, not the memory, by its own flops and bytes. */
static bool is_beyond_ridge(const struct pp_device *device, const struct pp_kernel *kernel)
{
    return kernel->flops / pp_device_peak(device, kernel->precision) >=
           kernel->bytes / device->memory_bytes_per_s;
}

static struct pp_pass_cost sum_of(const struct pp_pass_work *work, struct pp_layer_kernels *list)
{
    struct pp_pass_cost sum = {0};

    for (int i = 0; i < list->count; i++) {
        struct pp_kernel *kernel = &list->kernel[i];
        kernel->knee = kernel->kind == PP_KERNEL_GEMM ? knee : 0;
        const double s = pp_kernel_time(&work->in.cluster->device, kernel).s;
        double *part = kernel->modules & PP_AGAIN_CORE  ? &sum.attention_s
                       : kernel->kind == PP_KERNEL_GEMM ? &sum.matrix_s
                                                        : &sum.kernels_s;
        *part += s;
        sum.s += s;
        *(is_beyond_ridge(&work->in.cluster->device, kernel) ? &sum.compute_s : &sum.memory_s) += s;
        sum.bytes += kernel->bytes;
        sum.weight_bytes += weights_of(list, kernel);
        sum.flops += kernel->flops * work->in.layout.tp;
        sum.launches += kernel->launches;
    }
    return sum;
}

struct pp_pass_cost pp_pass_cached(const struct pp_pass_work *work, double keys)
{
    struct pp_layer_kernels list;

    pp_layer_open(&work->in, (struct pp_layer_work){.tokens = work->tokens}, PP_PASS_F, &list);
    pp_pass_add_cached(work, keys, &list);
    struct pp_pass_cost cost = sum_of(work, &list);
    cost.cache_bytes = work->sequences * keys * pp_kv_block_bytes(&work->in);
    return cost;
}

/* ---- exchanges ------------------------------------------------------------------------------- */

/* Returns the sums of hidden vectors of a layer. One ends each half of a block, or both halves if
 * they run next to each other. One ends the embedding. */
static int sums_of(const struct pp_model *m, enum pp_layer_kind kind)
{
    const int halves = m->numerics.norm_place == PP_NORM_PARALLEL ? 1 : 2;

    return kind == PP_LAYER_HEAD ? 0 : kind == PP_LAYER_EMBEDDING ? 1 : halves;
}

/* Returns the time of a sum over the tensor-parallel devices. It is that of the library, or of one
 * kernel in which each device reads the values of all others. The faster one counts. */
static double sum_s(const struct pp_cost_inputs *in, struct pp_device_group tp, double bytes)
{
    const struct pp_cluster *c = in->cluster;
    const double start_s = pp_cost_framework(in)->one_shot_s,
                 library_s = pp_analytic_collective_s(in, PP_AR, tp, bytes);
    const bool has_switch = !c->fabric.is_pcie && !c->is_cube_mesh && c->mesh_links == 0;

    return start_s > 0 && has_switch && tp.nodes == 1
               ? fmin(library_s, start_s + (tp.members - 1) * bytes /
                                               pp_collective_links_of(c).intra.bytes_per_s)
               : library_s;
}

static void add_exchanges(const struct pp_pass_work *work, enum pp_layer_kind kind,
                          struct pp_pass_cost *cost)
{
    const struct pp_cost_inputs *in = &work->in;
    const struct pp_device_group tp = pp_analytic_group(in, PP_AXIS_TP);
    const double value_bytes = pp_dtype_bytes(&in->cluster->device),
                 hidden = work->tokens * in->model->hidden * value_bytes,
                 logits =
                     work->sequences * ceil(in->model->vocab / (double)in->layout.tp) * value_bytes;
    const int sums = sums_of(in->model, kind);
    double tp_s = 0, ep_s = 0;

    if (tp.members > 1) {
        const bool has_logits = kind == PP_LAYER_HEAD;
        tp_s = (sums > 0 ? sums * sum_s(in, tp, hidden) : 0) +
               (has_logits ? sum_s(in, tp, logits) : 0);
        cost->launches += sums + has_logits;
    }
    if (kind == PP_LAYER_MOE)
        ep_s =
            pp_analytic_ep_s(in, kind, (struct pp_layer_work){.tokens = work->tokens}, PP_PASS_F);
    cost->tp_s += tp_s;
    cost->ep_s += ep_s;
    cost->s += tp_s + ep_s;
}

/* ---- layers ---------------------------------------------------------------------------------- */

static bool occurs(const struct pp_model *m, int kind)
{
    const int moe = pp_model_moe_blocks(m, 0, m->layers);

    return kind == PP_LAYER_MOE     ? moe > 0
           : kind == PP_LAYER_BLOCK ? moe < m->layers
                                    : kind != PP_LAYER_MTP;
}

static struct pp_pass_cost layer_of(const struct pp_pass_work *work, enum pp_layer_kind kind,
                                    bool is_near)
{
    struct pp_layer_kernels list;

    pp_pass_layer(work, kind, is_near, &list);
    struct pp_pass_cost cost = sum_of(work, &list);
    add_exchanges(work, kind, &cost);
    return cost;
}

void pp_pass_layers(const struct pp_pass_work *work, struct pp_pass_layers *layers)
{
    const bool has_near = work->model.window.keys > 0;

    *layers = (struct pp_pass_layers){0};
    for (int kind = 0; kind < PP_LAYER_KINDS; kind++)
        if (occurs(&work->model, kind)) {
            layers->kind[kind] = layer_of(work, (enum pp_layer_kind)kind, false);
            if (has_near)
                layers->near[kind] = layer_of(work, (enum pp_layer_kind)kind, true);
        }
}

struct pp_pass_cost pp_pass_sum(const struct pp_pass_layers *layers,
                                const struct pp_stage_layers *held)
{
    struct pp_pass_cost sum = {0};

    for (int kind = 0; kind < PP_LAYER_KINDS; kind++) {
        pp_pass_add(&sum, &layers->kind[kind], held->count[kind] - held->windowed[kind]);
        pp_pass_add(&sum, &layers->near[kind], held->windowed[kind]);
    }
    return sum;
}

/* The host launches kernels while the device works on others. Choosing tokens follows the last
 * stage on the device, sequence by sequence. */
void pp_pass_add_host(const struct pp_pass_work *work, bool is_last, struct pp_pass_cost *sum)
{
    const struct pp_framework *f = pp_cost_framework(&work->in);
    const double launch_s = pp_cost_has_graph(&work->in) ? 0 : sum->launches * f->kernel_gap_s,
                 sample_s = is_last ? f->sample_gap_s * work->sequences : 0,
                 s = fmax(launch_s, sum->s + f->host_frac * launch_s + sample_s) +
                     (is_last ? f->token_gap_s : 0);

    sum->host_s = s - sum->s;
    sum->s = s;
}
