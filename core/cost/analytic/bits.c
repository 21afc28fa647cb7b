/* Saved values in few bits (--act-bits). An op quantises what it saves, tensor by tensor. It
 * restores what it is about to read, so that few tensors exist in full at a time (Pan et al. 2021,
 * Mesa). Formulas: docs/tiers.md, "Bits of what is saved". */
#include "core/cost/analytic/parts.h"
#include "core/units.h"

#include <math.h>

double pp_analytic_most_bytes(const struct pp_cost_inputs *in)
{
    enum { GROUP_BYTES = 4 }; /* a scale and a minimum */

    return in->state.activation_bits / 8.0 + (double)GROUP_BYTES / PP_QUANTISED_GROUP;
}

bool pp_analytic_has_bits(const struct pp_cost_inputs *in)
{
    return pp_state_is_quantised(&in->state) && !in->has_bits_apart;
}

/* ---- tensors in full ------------------------------------------------------------------------- */

/* A saved tensor: values of a token on one device. */
struct tensor {
    double values;
    enum pp_saved class;
    bool is_input; /* of a matrix, for its weight gradient */
};
enum { TENSORS = 7 };

/* The two widest tensors so far: bytes in full, and those of them that bits free. */
struct widest {
    double full[2], freed[2];
};

static void put(struct widest *w, double full, double freed)
{
    const int at = full > w->full[0] ? 0 : 1;

    if (full <= w->full[1])
        return;
    if (at == 0) {
        w->full[1] = w->full[0];
        w->freed[1] = w->freed[0];
    }
    w->full[at] = full;
    w->freed[at] = freed;
}

struct sizes {
    struct pp_saved_sizes plain, rest;
};

static struct sizes sizes_of(const struct pp_cost_inputs *in, enum pp_layer_kind kind)
{
    const struct pp_saved_sizes plain = pp_analytic_sizes(in, kind);

    return (struct sizes){plain, pp_analytic_narrowed(plain, pp_analytic_most_bytes(in))};
}

static void put_tensors(const struct pp_cost_inputs *in, const struct sizes *z,
                        const struct tensor *list, bool are_inputs, struct widest *w)
{
    for (int i = 0; i < TENSORS; i++) {
        const double values = z->plain.tokens * list[i].values,
                     full = values * pp_analytic_width(in, &z->plain, list[i].class),
                     rest = values * pp_analytic_width(in, &z->rest, list[i].class);
        if (list[i].is_input || !are_inputs)
            put(w, full, full - rest);
    }
}

static double attention_in_full(const struct pp_cost_inputs *in, const struct sizes *z,
                                bool are_inputs)
{
    const struct pp_saved_sizes *p = &z->plain;
    const double cut = 1 / p->tp;
    const struct tensor list[TENSORS] = {
        {p->h * p->share, PP_SAVED_NORMS, false},
        {p->h * p->share, PP_SAVED_MATRICES, true},
        {p->normed * p->share, PP_SAVED_MATRICES, true},
        {p->q * cut, PP_SAVED_HEADS, false},
        {p->kv * cut, PP_SAVED_HEADS, false},
        {p->kv * cut, PP_SAVED_HEADS, false},
        {p->out * cut, PP_SAVED_OUT, true},
    };
    double plain[PP_SCORE_TENSORS], rest[PP_SCORE_TENSORS];
    struct widest w = {0};

    put_tensors(in, z, list, are_inputs, &w);
    pp_analytic_score_tensors(in, &z->plain, plain);
    pp_analytic_score_tensors(in, &z->rest, rest);
    for (int i = 0; i < PP_SCORE_TENSORS && !are_inputs; i++)
        put(&w, plain[i], plain[i] - rest[i]);
    return w.freed[0] + w.freed[1];
}

static double mlp_in_full(const struct pp_cost_inputs *in, const struct sizes *z, bool are_inputs)
{
    const struct pp_saved_sizes *p = &z->plain;
    const double cut = 1 / p->tp;
    const struct tensor list[TENSORS] = {
        {p->h * p->share, PP_SAVED_NORMS, false},
        {p->h * p->share, PP_SAVED_MATRICES, true},
        {p->ffn * cut, PP_SAVED_ACT, false},
        {(p->fan - 1) * p->ffn * cut, PP_SAVED_ACT, false},
        {p->ffn * cut, PP_SAVED_MATRICES, true},
        {p->routed * cut, PP_SAVED_MATRICES, true},
    };
    struct widest w = {0};

    put_tensors(in, z, list, are_inputs, &w);
    return w.freed[0] + w.freed[1];
}

/* Returns what exists in full in half a block, in addition to what bits leave. */
static struct pp_in_full in_full(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                 bool are_inputs)
{
    const struct sizes z = sizes_of(in, kind);

    return (struct pp_in_full){.attention = attention_in_full(in, &z, are_inputs),
                               .mlp = mlp_in_full(in, &z, are_inputs)};
}

/* ---- memory of a stage ----------------------------------------------------------------------- */

/* Returns the bytes that bits free of an end of the model, 0 where the stage keeps none of it. */
static double ends_in_full(const struct pp_cost_inputs *in, int stage)
{
    static const enum pp_layer_kind ends[] = {PP_LAYER_EMBEDDING, PP_LAYER_HEAD};
    const bool has_mtp = in->model->mtp > 0 && stage == in->stages - 1;
    double most = 0;

    for (size_t i = 0; i < PP_COUNT(ends); i++) {
        const bool is_head = ends[i] == PP_LAYER_HEAD;
        const double share = is_head && has_mtp ? 1
                             : is_head && pp_head_is_shared(in->head)
                                 ? 0
                                 : pp_analytic_end_share(in, ends[i], stage);
        if (share > 0)
            most = fmax(most,
                        share * (pp_analytic_saved_bytes(in, ends[i]) -
                                 pp_analytic_layer_bytes(in, ends[i], pp_analytic_most_bytes(in))));
    }
    return most;
}

/* Returns the bytes that bits free of what a recomputed block keeps. */
static double kept_freed(const struct pp_cost_inputs *in, enum pp_layer_kind kind)
{
    const struct sizes z = sizes_of(in, kind);

    return pp_analytic_kept_of(in, &z.plain) - pp_analytic_kept_of(in, &z.rest);
}

/* Bytes that a stage has saved as an op begins, and those that the op leaves for W. */
struct kept {
    double saved, left;
};

/* Returns the bytes of it that are on the device while the op runs. If blocks move one by one, that
 * is what does not move, and the next block. */
static double on_device(double moved_frac, double inner_frac, struct kept kept)
{
    const double inner = moved_frac * inner_frac * kept.saved,
                 by_copy = moved_frac * kept.saved - inner,
                 here = fmax(kept.saved - inner, kept.left);

    return here + fmax(0, fmin(fmin(by_copy, inner), kept.saved - here));
}

/* Returns the bytes that bits free on the device. Parts of a cell that move are whole bytes. */
static double freed(const struct pp_cost_inputs *in, double inner_frac, struct kept plain,
                    struct kept rest)
{
    enum { ROUNDED_BYTES = 4 };
    const double frac = pp_state_moved(&in->state, PP_STATE_ACTIVATIONS),
                 bytes = on_device(frac, inner_frac, plain) - on_device(frac, inner_frac, rest);

    return inner_frac > 0 ? fmax(0, bytes - ROUNDED_BYTES * (double)in->granules * in->splits)
                          : bytes;
}

/* With bits, no op holds more than without: limits are the bytes that bits have freed by then. */
static struct pp_stage_full stage_full(const struct pp_cost_inputs *in, double recompute_frac,
                                       int stage, const struct pp_saved_stage *plain,
                                       const struct pp_saved_stage *rest)
{
    static const enum pp_layer_kind kinds[PP_BLOCK_KINDS] = {PP_LAYER_BLOCK, PP_LAYER_MOE};
    const struct pp_stage_layers held = pp_analytic_stage_layers(in, stage);
    const double inner_frac = pp_analytic_inner_frac(in, stage),
                 back_frac =
                     recompute_frac > 0 ? 0 : inner_frac, /* else R has brought all blocks */
        forward = freed(in, inner_frac, (struct kept){plain->checkpoint, 0},
                        (struct kept){rest->checkpoint, 0}),
                 saved = freed(in, back_frac, (struct kept){plain->saved, 0},
                               (struct kept){rest->saved, 0});
    struct pp_stage_full full = {.ends = fmin(ends_in_full(in, stage), fmin(forward, saved)),
                                 .saved = saved,
                                 .until = freed(in, back_frac,
                                                (struct kept){plain->saved, plain->until_weights},
                                                (struct kept){rest->saved, rest->until_weights})};

    for (size_t i = 0; i < PP_COUNT(kinds); i++) {
        if (held.count[kinds[i]] == 0)
            continue;
        const struct pp_in_full all = in_full(in, kinds[i], false),
                                inputs = in_full(in, kinds[i], true);
        const double widest = fmax(all.attention, all.mlp),
                     kept = recompute_frac < 1 ? widest : fmin(widest, kept_freed(in, kinds[i]));
        full.blocks[i] = all;
        full.forward = fmax(full.forward, kept);
        full.again = recompute_frac > 0 ? fmax(full.again, widest) : 0;
        full.weights = fmax(full.weights, fmax(inputs.attention, inputs.mlp));
    }
    full.forward = fmin(full.forward, forward);
    full.weights = fmin(fmax(full.weights, full.ends), plain->until_weights - rest->until_weights);
    return full;
}

void pp_analytic_saved(const struct pp_cost_inputs *in, double recompute_frac, int stage,
                       struct pp_stage_memory *memory)
{
    const struct pp_saved_stage plain =
        pp_analytic_saved_stage(in, recompute_frac, stage, INFINITY);
    struct pp_saved_stage rest = plain;
    struct pp_stage_full full = {0};

    if (pp_state_is_quantised(&in->state))
        rest = pp_analytic_saved_stage(in, recompute_frac, stage, pp_analytic_most_bytes(in));
    if (pp_analytic_has_bits(in)) {
        rest.until_weights = fmin(rest.until_weights, plain.until_weights);
        full = stage_full(in, recompute_frac, stage, &plain, &rest);
    }
    memory->resting_frac =
        in->has_bits_apart && plain.checkpoint > 0 ? rest.checkpoint / plain.checkpoint : 1;
    pp_analytic_fill_saved(in, stage, pp_analytic_has_bits(in) ? &rest : &plain, &full, memory);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Returns kernels that read and write so many bytes. */
static struct pp_layer_sum kernels_of(const struct pp_cost_inputs *in, double launches,
                                      double bytes)
{
    const struct pp_device *d = &in->cluster->device;
    const double each = bytes / in->splits;

    return (struct pp_layer_sum){.s = launches * d->launch_s +
                                      each / (d->memory_bytes_per_s * d->memory_eta),
                                 .bytes = each,
                                 .launches = launches};
}

/* Bytes that a tensor has in full and in few bits, less those that are not quantised. */
static double traffic(double plain, double rest, double bare)
{
    return plain + rest - 2 * bare;
}

struct pp_bits_work pp_analytic_bits_work(const struct pp_cost_inputs *in, double recompute_frac,
                                          int stage)
{
    const struct pp_saved_stage plain =
                                    pp_analytic_saved_stage(in, recompute_frac, stage, INFINITY),
                                rest = pp_analytic_saved_stage(in, recompute_frac, stage,
                                                               pp_analytic_most_bytes(in)),
                                bare = pp_analytic_saved_stage(in, recompute_frac, stage, 0);
    const double kept = traffic(plain.checkpoint, rest.checkpoint, bare.checkpoint),
                 again = traffic(plain.again, rest.again, bare.again),
                 inputs = traffic(plain.inputs, rest.inputs, bare.inputs),
                 blocks = in->blocks_per_stage[stage];

    return (struct pp_bits_work){
        .forward = kernels_of(in, blocks, kept),
        .again = kernels_of(in, recompute_frac * blocks, again),
        .input = kernels_of(in, blocks, fmax(0, kept + again - inputs)),
        .weights = kernels_of(in, 0, fmin(inputs, kept + again)),
    };
}

/* ---- --explain ------------------------------------------------------------------------------- */

static double bits_frac(const struct pp_cost *cost)
{
    return cost->ps > 0 ? (double)cost->bits_ps / (double)cost->ps : 0;
}

void pp_analytic_explain_bits(const struct pp_cost_inputs *in, const struct pp_costs *costs,
                              FILE *out)
{
    const struct pp_saved_stage plain = pp_analytic_saved_stage(in, 0, 0, INFINITY),
                                rest =
                                    pp_analytic_saved_stage(in, 0, 0, pp_analytic_most_bytes(in));

    fprintf(
        out,
        "  saved values in %d bits, a scale and a minimum for %d: %.4g bytes each, masks and "
        "token numbers as they are; of stage 0 without recomputation %.4g of %s\n"
        "  the two widest saved tensors of a block are in full while it runs; quantised: %.1f %% "
        "of forward, %.1f %% of backward of stage 0\n",
        in->state.activation_bits, PP_QUANTISED_GROUP, pp_analytic_most_bytes(in),
        rest.saved / plain.saved,
        pp_units_print(plain.saved, PP_UNIT_BYTES, (char[PP_UNITS_TEXT_BYTES]){0}),
        100 * bits_frac(&costs->op[PP_F][0]), 100 * bits_frac(&costs->op[PP_B][0]));
}
