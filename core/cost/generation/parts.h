/* core/cost/generation/parts.h — the parts of the costs of generation, private to this folder. */
#pragma once

#include "core/cost/analytic/roofline.h"
#include "core/cost/generation/cache.h"
#include "core/cost/generation/generation.h"
#include "core/cost/layers/layers.h"

/* Work of one pass of a group, of pass 0 of a piece. `in` has its layout: sequences as mbs, tokens
 * of a sequence as seq. It points to `model`, so that a value must not be copied. */
struct pp_pass_work {
    struct pp_cost_inputs in;
    struct pp_model model; /* without multi-token prediction */
    const struct pp_generation *generation;
    int pass;
    double sequences, tokens; /* tokens: new ones, of all sequences, without padding */
};
void pp_pass_open(const struct pp_cost_inputs *in, int pass, struct pp_pass_work *work);

/* kernels.c, mlp.c, experts.c: kernels of a layer. Those of a block are without its attention,
 * unless it is of pass 0. */
void pp_pass_layer(const struct pp_pass_work *work, enum pp_layer_kind kind, bool is_near,
                   struct pp_layer_kernels *list);
/* Adds the attention of one block in a later pass, to `keys` keys of each sequence. */
void pp_pass_add_cached(const struct pp_pass_work *work, double keys,
                        struct pp_layer_kernels *list);
/* Adds a mixture of experts in place of the feed-forward matrices. */
void pp_pass_add_experts(const struct pp_pass_work *work, struct pp_layer_kernels *list);
/* Adds the matrices of a feed-forward layer of a width on this device. */
void pp_pass_add_mlp(struct pp_layer_kernels *list, double tokens, double width, double count);
/* Adds `count` equal products in one kernel. */
void pp_pass_add_grouped(struct pp_layer_kernels *list, const char *name, double tokens, double k,
                         double n, double count);

/* layers.c: layers with their exchanges, then stages. */
struct pp_pass_layers {
    struct pp_pass_cost kind[PP_LAYER_KINDS], near[PP_LAYER_KINDS];
};
void pp_pass_layers(const struct pp_pass_work *work, struct pp_pass_layers *layers);
struct pp_pass_cost pp_pass_cached(const struct pp_pass_work *work, double keys);
/* Returns the sum over the layers of a stage, before the time of the host. */
struct pp_pass_cost pp_pass_sum(const struct pp_pass_layers *layers,
                                const struct pp_stage_layers *held);
void pp_pass_add(struct pp_pass_cost *sum, const struct pp_pass_cost *part, double count);
/* Adds what the host adds; `is_last`: of the last stage, which samples. */
void pp_pass_add_host(const struct pp_pass_work *work, bool is_last, struct pp_pass_cost *sum);

/* copies.c: keys and values on another tier. Fills what moves before, inside and after the ops of
 * stage v, which `pieces` ops of this pass share. Returns what shows of all copies in one of them;
 * `loads` is what shows of parameters alone. */
struct pp_cost pp_pass_copies(const struct pp_pass_work *work, const struct pp_pass_cost *sum,
                              const struct pp_stage_layers *held, struct pp_cost loads, int v,
                              double pieces, struct pp_costs *costs);
/* Adds the buffers for moved keys and values of `pieces` ops: those of the copies, and those of the
 * other blocks in flight. */
void pp_pass_copy_room(const struct pp_pass_work *work, const struct pp_stage_layers *held,
                       double pieces, struct pp_stage_memory *memory);

/* memory.c: memory of all stages in all passes. */
void pp_pass_memory(const struct pp_cost_inputs *in, struct pp_stage_memory *memory);
