/* core/cost/framework.h — costs of the software around the kernels: exposed host time, memory
 * outside of tensors, and habits. One row per framework; each constant has its source in
 * docs/costs.md or is "fitted on rows ..." of the published measurements. */
#pragma once

#include "core/cluster/tiers.h"
#include "core/error.h"

#include <stdbool.h>

/* Classes of the values that a block saves for its backward. */
enum pp_saved {
    PP_SAVED_NORMS, /* inputs of norms: the residual stream, narrow vectors of latent attention */
    PP_SAVED_MATRICES, /* inputs of matrices that nothing else needs, routed tokens among them */
    PP_SAVED_COPIES,   /* further copies in fp8: of attention's output for the projection, of the
                        * input of shared experts, of the second narrow matrix. 0 bits: none */
    PP_SAVED_ROUTER,   /* input of a router */
    PP_SAVED_HEADS,    /* queries, keys, values */
    PP_SAVED_OUT,      /* output of attention, also the projection's input if that has no copy */
    PP_SAVED_ACT,      /* inputs of activation functions */
    PP_SAVED_GATE,     /* silu(gate), if it is kept apart */
    PP_SAVED_CLASSES
};

/* Kernels of the softmax of unfused attention. */
enum pp_softmax {
    PP_SOFTMAX_ONE,  /* one, where its shapes allow */
    PP_SOFTMAX_CUT,  /* cut at its reductions, as XLA fuses */
    PP_SOFTMAX_WIDE, /* cut, and in fp32 */
    PP_SOFTMAX_FP32  /* one for all shapes, of scores in fp32 */
};

/* Work of a rank while it exchanges messages with its neighbours. */
enum pp_exchange {
    PP_EXCHANGE_HIDDEN,  /* other ops */
    PP_EXCHANGE_AT_ONCE, /* nothing; it sends and receives at the same time */
    PP_EXCHANGE_IN_TURN  /* nothing; it sends, then receives */
};

struct pp_tool;
struct pp_framework {
    const char *name, *title, *source;
    const char *family;         /* versions of one framework share it; NULL = no framework */
    const struct pp_tool *tool; /* what it runs, core/cost/tool.h; NULL: anything */
    /* exposed host time */
    double step_gap_s;   /* once per step: data, loss, logging, optimizer bookkeeping */
    double op_gap_s;     /* per F and per B of a chunk of several: schedule, calls of p2p */
    double kernel_gap_s; /* to launch a kernel. A pass over a chunk lasts at least as long as it
                          * takes to launch all its kernels */
    double host_frac; /* share of those launches that is exposed if the device is slower: it starts
                       * each pass with an empty queue */
    /* generation: after the last stage of a pass */
    double token_gap_s;    /* of the host, once per pass */
    double sample_gap_s;   /* of the device, to choose the token of a sequence */
    double one_shot_s;     /* of a sum over a switch in one kernel, which reads the values of all
                            * other devices, without its bytes; 0 = there is none */
    double host_link_frac; /* of the link to the host that copies reach, fitted on published rates;
                            * 0 = all */
    bool ends_prompts_apart; /* a prompt's last token has a pass of its own, after the others */
    /* messages between stages */
    enum pp_exchange exchange;
    bool sends_whole; /* every tensor-parallel device sends and receives all of a message */
    /* kernels */
    double loss_traffic_bytes[2]; /* memory traffic of the loss per logit, forward and back */
    bool pads_vocabulary;         /* rounds it up to a multiple of 128 tp rows */
    bool adds_grads_apart;        /* by separate kernels, not by the product itself */
    /* memory per device outside of the program's tensors */
    double context_bytes;         /* CUDA context, library workspaces */
    double communicator_bytes;    /* NCCL buffers of each group with more than one member */
    double fragment_frac;         /* allocator's waste while there is room, share of its peak */
    double stuck_frac;            /* waste without room, as it then gives back whole blocks */
    double usable_frac[PP_TIERS]; /* share of a memory tier that it fills at most; 0 = all of it */
    bool has_tensors_only;        /* none of these is counted (max_memory_allocated of PyTorch) */
    /* state, bytes per parameter with 16-bit training; of gradients in bf16 and in fp16 */
    double params_bytes, grads_bytes, fp16_grads_bytes, optimizer_bytes;
    double low_grads_bytes; /* of 16-bit gradients that stay next to sums in fp32 */
    double host_sum_bytes;  /* of sums in fp32 on the host, next to 16-bit gradients that come */
    double norm_bytes;      /* of a saved value that a norm reads; 0 = as computed */
    /* tensors that live while one op runs */
    double update_bytes, fp16_update_bytes; /* of the optimizer, per parameter that it updates */
    bool has_flat_update; /* they are flat buffers, which no blocks of the passes can hold */
    double update_params; /* updated at most at a time if parameters are cut; 0 = all */
    int update_buckets;   /* of optimizer state from another tier that have room at once; 0 = 3 */
    double loss_bytes;    /* per logit at the peak of the loss */
    bool has_dropout;     /* models without a gated MLP are trained with it */
    bool has_dense_embedding_grad; /* backward makes a whole matrix before it is added up */
    bool keeps_output;             /* the message of a stage stays until its backward */
    bool frees_head; /* what the head has saved goes before blocks go backward (autograd) */
    unsigned char fp8_bits[PP_SAVED_CLASSES]; /* of saved values with fp8; 0 = as computed */
    bool is_gate_unfused;     /* silu and product are two kernels: one more tensor is saved */
    bool stops_recompute;     /* of a block at the last tensor that its backward needs */
    bool is_selective_per_op; /* --recompute selective keeps attention outputs and every other
                               * matrix product (PyTorch), else all but the attention core */
    unsigned modules; /* of enum pp_again: what its selective recomputation may compute again */
    bool is_act_of_experts; /* and there activation functions are those of experts alone */
    /* habits */
    enum pp_softmax softmax;    /* kernels of unfused attention between its products */
    bool has_unfused_attention; /* scores are stored on devices with fused kernels, too,
                                 * unless --attention or the cluster's text says how */
    bool has_cudnn_attention;   /* of Transformer Engine */
    bool is_cut_by_sequence;    /* tensors between matrices are cut along their second dimension */
    bool is_scaled_first;       /* fp8 scales are of the values themselves: two passes over them */
    bool has_fp32_norms;        /* norms read a copy of the residual stream in fp32 */
    bool has_async_grads;       /* tensor-parallel exchanges of input gradients overlap with weight
                                 * gradients */
    double regroup_passes;      /* over gradients to sum: copied into a bucket, scaled, copied back.
                                 * Each reads or writes them once */
    bool has_sync_overlap;      /* gradient sums overlap with the last backward (--dp-overlap) */
    double bucket_bytes;        /* bucket of a gradient sum; 0 = 25 MB, as PyTorch's DDP */
    double bucket_replica_bytes; /* least bucket per replica: rings get slower with every member */
    bool has_params_ahead;      /* parameters are gathered during the next forward (--dp-overlap) */
    bool has_param_broadcasts;  /* devices broadcast updated parameters in turn, without a gather */
    bool has_gather_overlap;    /* parameters are fetched during compute */
    bool has_gather_ahead;      /* only those that other nodes hold are */
    bool is_gathered_by_tensor; /* parameters are gathered tensor by tensor: a gather uses one
                                 * network card of a node, not all */
    double gathered_params;   /* least parameters that stay gathered, plus at most one tensor; 0 = a
                               * unit */
    double gather_share_frac; /* of compute that concurrent gathers and scatters take */
    bool has_gather_per_matrix; /* each matrix of a layer is gathered by itself */
    /* mixtures of experts */
    double expert_bias_bytes[2]; /* traffic of kernels that weigh and add biases of experts, per
                                  * value, forward and back; 0 = products add them */
    bool has_fused_experts; /* in fp8 on devices with scales of blocks. Products, biases, activation
                             * and casts of experts are one kernel each way, and a graph launches a
                             * whole step */
};

extern const struct pp_framework pp_frameworks[]; /* alphabetical, terminated by name NULL */
extern const struct pp_framework *const pp_framework_plain; /* the row "plain" */
/* Returns the name of the i-th row; NULL after the last. */
const char *pp_framework_name(int i);
/* Finds a framework by name; PP_EINVAL with a suggestion. */
enum pp_status pp_framework_find(const char *name, const struct pp_framework **framework,
                                 struct pp_error *err);
