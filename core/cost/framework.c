/* The rows of frameworks. */
#include "core/cost/framework.h"

#include "core/cli/options.h"
#include "core/cost/inputs.h"
#include "core/cost/tool.h"

#include <stddef.h>

#define MIB (1024.0 * 1024.0)

#define MICRO 1e-6
#define MILLI 1e-3

/* The loss of a logit in bytes, for one fused chain:
 *   forward   read 16-bit logits, write fp32 (6), logarithm of the softmax (4 + 4 + 4)
 *   backward  gradient of the pick (4 + 4), of the softmax (4 + 4), cast (6)
 * Split vocabularies take separate steps (megatron/core/tensor_parallel/cross_entropy.py):
 *   forward   cast, maximum (4), subtraction (8), exponential (8), sum (4), division (8)
 *   backward  scaling (8), cast (6); only the logits of targets are subtracted from */
#define LOSS_FUSED .loss_traffic_bytes = {18, 22}
#define LOSS_SPLIT .loss_traffic_bytes = {38, 14}
/* Transformer Engine's kernels read 16-bit logits twice and replace them by gradients, which the
 * backward scales (transformer_engine/common/triton/cross_entropy.py). */
#define LOSS_TE .loss_traffic_bytes = {6, 4}
/* InternEvo reports loss, accuracy and perplexity of every micro-batch (internlm/model/metrics.py,
 * AccPerplex). Its kernels pass nine times over 16-bit logits: loss, maximum (twice), its place,
 * subtraction (2), exponential (2), sum. */
#define LOSS_METRIC .loss_traffic_bytes = {18 + 9 * 2, 22}

/* Fitted on all rows of tests/published with a step time (docs/costs.md, "Constants"). Frameworks
 * differ by less than the error of these values. */
#define STEP_GAP (4 * MILLI)
#define HOST                                                                                       \
    .step_gap_s = STEP_GAP, .op_gap_s = 500 * MICRO, .kernel_gap_s = 51 * MICRO, .host_frac = 0.19

/* Fitted on rows llmfoundry-*; their errors vary less with the sizes of model and batch. NCCL's
 * blocks alone take 20 of 132 multiprocessors (DeepSeek-AI 2024, section 3.2.2). */
#define NCCL_SHARE 0.25

/* Common values: CUDA, libraries, NCCL; 16-bit parameters with fp32 copies and Adam's state. */
#define SOFTWARE_WITH(state_bytes)                                                                 \
    HOST, .context_bytes = 1200 * MIB, .communicator_bytes = 256 * MIB, .params_bytes = 2,         \
          .fp16_grads_bytes = 2, .optimizer_bytes = (state_bytes),                                 \
          .gather_share_frac = NCCL_SHARE, .frees_head = true
#define SOFTWARE SOFTWARE_WITH(12)

/* reduce_bucket_size is 512 MiB. Gradients of inputs are exchanged as in Megatron-LM
 * (internlm/model/utils.py, fused_dense_func). Norms get the residual stream in fp32
 * (internlm/model/modeling_internlm.py, norm1(residual.float())). */
#define INTERNEVO_HABITS                                                                           \
    SOFTWARE, LOSS_METRIC,                                                                         \
        .family = "internevo", .modules = PP_AGAIN_CORE, .adds_grads_apart = true,                 \
        .fragment_frac = 0.1, .stuck_frac = 0.05, .grads_bytes = 2, .update_bytes = 14,            \
        .fp16_update_bytes = 14, .has_flat_update = true, .loss_bytes = 14,                        \
        .is_gate_unfused = true, .has_sync_overlap = true, .bucket_bytes = 512 * MIB,              \
        .has_param_broadcasts = true, .has_gather_overlap = true, .has_gather_per_matrix = true,   \
        .has_async_grads = true, .has_fp32_norms = true

/* Biases after the second matrices of experts (megatron/core/transformer/moe/experts.py,
 * _apply_bias), in bytes, expert by expert:
 *   forward   times fp32 probabilities (4), added to the output (10), put together (8), cast (6)
 *   backward  cast (6), gradients: output (6), biases (8 + 4), probabilities (8 + 4); split (4) */
#define EXPERT_BIAS .expert_bias_bytes = {28, 40}

/* Classes that are saved in fp8 with fp8, and their sources: core/cost/analytic/values.c. */
#define SAVES_INPUTS .fp8_bits = {[PP_SAVED_MATRICES] = 8}
#define SAVES_COPIES .fp8_bits = {[PP_SAVED_MATRICES] = 8, [PP_SAVED_COPIES] = 8}
#define SAVES_LESS   .fp8_bits = {[PP_SAVED_MATRICES] = 8, [PP_SAVED_OUT] = 12, [PP_SAVED_ACT] = 8}

/* Habits of Megatron-Core, alone and under NeMo. */
#define MEGATRON_CORE_HABITS                                                                       \
    SOFTWARE, .family = "megatron", .pads_vocabulary = true, .fragment_frac = 0.03,                \
              .fp16_update_bytes = 4, .loss_bytes = 10, .has_dense_embedding_grad = true,          \
              .has_params_ahead = true, .has_gather_overlap = true, EXPERT_BIAS

/* Since 0.12, modules are chosen (--recompute-modules). */
#define MEGATRON_MODULES .modules = PP_AGAIN_ALL, .is_act_of_experts = true

#define NEMO_HABITS                                                                                \
    MEGATRON_CORE_HABITS, MEGATRON_ASYNC, MEGATRON_MODULES,                                        \
        .has_cudnn_attention = true, .stuck_frac = 0.01, /* expandable_segments */                 \
        .grads_bytes = 2, .has_sync_overlap = true,                                                \
        .bucket_bytes = 80e6, /* 40e6 values in bf16 */                                            \
        .bucket_replica_bytes = 2e6

/* Since version 3, Megatron-LM overlaps exchanges of input gradients with products of weight
 * gradients (core/tensor_parallel/layers.py, LinearWithGradAccumulationAndAsyncCommunication). */
#define MEGATRON_ASYNC .has_async_grads = true

/* Buckets are of 40e6 values, more with many replicas (distributed_data_parallel.py). */
#define MEGATRON_HABITS                                                                            \
    MEGATRON_CORE_HABITS, LOSS_SPLIT, .stuck_frac = 0.03, .grads_bytes = 4, .has_dropout = true,   \
                                      .bucket_bytes = 160e6, .bucket_replica_bytes = 4e6

/* Its schedules wait for messages, and for the device (megatron/schedules.py,
 * send_forward_recv_backward; megatron/p2p_communication.py, torch.cuda.synchronize). */
#define MEGATRON_V2_HABITS                                                                         \
    MEGATRON_HABITS, SAVES_COPIES, .tool = &pp_tool_megatron, .modules = PP_AGAIN_CORE,            \
                                   .adds_grads_apart = true, .is_gate_unfused = true,              \
                                   .exchange = PP_EXCHANGE_AT_ONCE

/* Kernels, messages and tensors: no time of a host, no memory but that of tensors. */
#define KERNELS                                                                                    \
    LOSS_FUSED, .params_bytes = 2, .grads_bytes = 2, .fp16_grads_bytes = 2, .optimizer_bytes = 12, \
                .loss_bytes = 6, SAVES_INPUTS, .modules = PP_AGAIN_ALL

/* Habits of PyTorch's own sharding, in llm-foundry and torchtitan. Since 2.1 its checkpoints stop a
 * recomputation early (torch/utils/checkpoint.py, set_checkpoint_early_stop). */
#define TORCH_FSDP_HABITS(name)                                                                    \
    SOFTWARE, LOSS_FUSED, .family = (name), .fragment_frac = 0.03, .stuck_frac = 0.03,             \
                          .grads_bytes = 2, .is_gate_unfused = true, .is_selective_per_op = true,  \
                          .has_sync_overlap = true, .has_params_ahead = true,                      \
                          .has_gather_overlap = true

/* Sizes of buckets and shards: docs/costs-memory.md, "Memory of frameworks". */
#define DEEPSPEED_HABITS                                                                           \
    SOFTWARE, LOSS_SPLIT,                                                                          \
        .family = "deepspeed", .modules = PP_AGAIN_CORE, .pads_vocabulary = true,                  \
        .adds_grads_apart = true, .fragment_frac = 0.1, .stuck_frac = 0.05,                        \
        .fp16_update_bytes = 6, .has_flat_update = true,                                           \
        .update_params = 1e9, /* sub_group_size */                                                 \
        .loss_bytes = 10, .has_dropout = true, .has_dense_embedding_grad = true,                   \
        .keeps_output = true, .bucket_bytes = 1e9, /* reduce_bucket_size: 5e8 values */            \
        .regroup_passes = 6, .has_gather_ahead = true, .is_gathered_by_tensor = true,              \
        .has_gather_per_matrix = true, .gathered_params = 1e9 /* max_live_parameters */

/* One program is a whole step, so that no host works between kernels. Layers are rounds of a loop,
 * whose collectives XLA of 2023 did not pipeline (xla_gpu_enable_pipelined_all_gather came later).
 * Clocks of the training loop include the gap of a step. */
#define PAXML_HABITS KERNELS, .family = "xla", .step_gap_s = STEP_GAP, .has_gather_per_matrix = true

/* Engines that serve: kernels without a backward, memory of software as everywhere. */
#define SERVING                                                                                    \
    KERNELS, .context_bytes = 1200 * MIB, .communicator_bytes = 256 * MIB, .fragment_frac = 0.03,  \
             .stuck_frac = 0.03

/* Engines that serve in eager PyTorch. */
#define SERVING_EAGER                                                                              \
    SERVING, .op_gap_s = 500 * MICRO, .kernel_gap_s = 51 * MICRO, .host_frac = 0.19

enum {
    AMSP,
    AUTOCAST,
    AXONN,
    BRIDGE,
    DEEPSPEED,
    DEEPSPEED_BF16,
    FASTERTRANSFORMER,
    FLEXGEN,
    FSDP,
    FSDP_PT1,
    HAI_LLM,
    INTERNEVO,
    LMDEPLOY,
    MEGATRON,
    MEGATRON_2020,
    MEGATRON_2023,
    MEGATRON_V2,
    NEMO,
    PATRICKSTAR,
    PAXML,
    PAXML_TE,
    PLAIN,
    SGLANG,
    TENSORRT_LLM,
    TORCHTITAN,
    VLLM,
    XLA,
    ZERO_INFERENCE,
    ZERO_INFERENCE_2023,
    FRAMEWORKS
};

/* Memory constants and their sources: docs/costs-memory.md, "Memory of frameworks". */
const struct pp_framework pp_frameworks[] = {
    [AMSP] = {.name = "amsp",
              .title = "InternEvo with parameters broadcast during the next forward",
              .source = "Chen et al. 2024, AMSP, sections 4 and 5; InternEvo",
              .has_params_ahead = true,
              INTERNEVO_HABITS},
    [AUTOCAST] = {.name = "autocast",
                  .title = "PyTorch AMP of 2021: all state in fp32, memory of tensors alone",
                  .source =
                      "PyTorch torch/cuda/amp, aten/src/ATen/autocast_mode.cpp (layer_norm and "
                      "softmax in fp32)",
                  .family = "autocast",
                  HOST,
                  LOSS_FUSED,
                  .has_tensors_only = true,
                  .params_bytes = 4,
                  .grads_bytes = 4,
                  .fp16_grads_bytes = 4,
                  .optimizer_bytes = 8,
                  .norm_bytes = 4,
                  .loss_bytes = 14,
                  .is_selective_per_op = true,
                  .adds_grads_apart = true,
                  .has_sync_overlap = true,
                  .has_fp32_norms = true,
                  .softmax = PP_SOFTMAX_WIDE},
    [AXONN] = {.name = "axonn",
               .title = "AxoNN of 2022: fp32 gradients with the optimizer, in one bucket elsewhere",
               .source = "AxoNN axonn/optim.py; Singh and Bhatele 2022, section IV-B",
               .family = "axonn",
               SOFTWARE_WITH(16), /* fp32 copies, gradients, two moments */
               LOSS_FUSED,
               .adds_grads_apart = true,
               .fragment_frac = 0.03,
               .stuck_frac = 0.03,
               .grads_bytes = 2,
               .update_buckets = 1,
               .loss_bytes = 14,
               .has_dropout = true,
               .is_gate_unfused = true},
    [BRIDGE] = {.name = "bridge",
                .tool = &pp_tool_megatron,
                .title =
                    "Megatron-Bridge of 2026: NeMo, mixtures in fp8 by fused experts and graphs",
                .source = "Megatron-Bridge 0.5.1, release notes and performance recipes "
                          "(cutedsl_fused_grouped_mlp, full_iteration)",
                NEMO_HABITS,
                LOSS_TE,
                SAVES_INPUTS,
                .has_fused_experts = true},
    [DEEPSPEED] = {.name = "deepspeed",
                   .tool = &pp_tool_deepspeed,
                   .title = "Megatron-DeepSpeed, ZeRO optimizer",
                   .source = "DeepSpeed runtime/zero/stage_1_and_2.py, runtime/pipe/engine.py",
                   DEEPSPEED_HABITS,
                   .exchange = PP_EXCHANGE_IN_TURN, /* runtime/pipe/schedule.py, p2p.py */
                   .grads_bytes = 2,
                   .host_sum_bytes = 4, /* single_partition_of_fp32_groups.grad */
                   .update_bytes = 6},
    [DEEPSPEED_BF16] =
        {.name = "deepspeed-bf16",
         .tool = &pp_tool_deepspeed,
         .title = "Megatron-DeepSpeed, BF16_Optimizer: gradients add up in fp32, whole",
         .source = "DeepSpeed runtime/bf16_optimizer.py; BigScience, chronicles of tr11-176B",
         DEEPSPEED_HABITS,
         .exchange = PP_EXCHANGE_IN_TURN,
         .grads_bytes = 4,
         .low_grads_bytes = 2},
    [FASTERTRANSFORMER] = {.name = "fastertransformer",
                           .title =
                               "FasterTransformer: serving by a C++ host that launches each kernel",
                           .source = "FasterTransformer src/fastertransformer/models/multi_gpu_gpt",
                           SERVING,
                           .family = "fastertransformer",
                           .has_unfused_attention = true, /* without FMHA_ENABLE */
                           .softmax = PP_SOFTMAX_FP32,    /* is_qk_buf_float_ */
                           .kernel_gap_s = 11.2 * MICRO,  /* rows ft-350m: a token, batch 1 */
                           .sample_gap_s = 17 * MICRO},   /* rows ft-20b-tp1 */
    [FLEXGEN] = {.name = "flexgen",
                 .title = "FlexGen: weights and cache on other memory tiers, eager PyTorch",
                 .source = "Sheng et al. 2023, FlexGen; flexgen/flex_opt.py",
                 .host_link_frac = 0.44, /* rows flexgen */
                 SERVING_EAGER,
                 .family = "flexgen"},
    [FSDP] = {.name = "fsdp",
              .title = "PyTorch FSDP, fused losses",
              .source = "PyTorch torch/distributed/fsdp; llm-foundry, loss_fn: fused_crossentropy",
              TORCH_FSDP_HABITS("fsdp"),
              .stops_recompute = true,
              .adds_grads_apart = true,
              SAVES_COPIES,
              .loss_bytes = 4},
    [FSDP_PT1] = {.name = "fsdp-pt1",
                  .title = "PyTorch FSDP until 2.0: whole blocks are recomputed",
                  .source = "PyTorch before set_checkpoint_early_stop (version 2.1)",
                  TORCH_FSDP_HABITS("fsdp"),
                  .adds_grads_apart = true,
                  SAVES_COPIES,
                  .loss_bytes = 4},
    [HAI_LLM] = {.name = "hai-llm",
                 .title =
                     "DeepSeek's HAI-LLM: activations by class in fp8 and E5M6, moments in bf16",
                 .source = "DeepSeek-AI 2024, DeepSeek-V3 Technical Report, sections 3.2 and 3.3",
                 .family = "hai-llm",
                 SOFTWARE_WITH(8), /* fp32 copies, two moments in bf16 */
                 LOSS_FUSED,
                 SAVES_LESS,
                 .modules = PP_AGAIN_ALL,
                 .fragment_frac = 0.03,
                 .stuck_frac = 0.03,
                 .grads_bytes = 4,
                 .loss_bytes = 6},
    [INTERNEVO] = {.name = "internevo",
                   .title = "InternEvo, hybrid ZeRO optimizer",
                   .source = "InternEvo internlm/solver/optimizer/hybrid_zero_optim.py",
                   INTERNEVO_HABITS},
    [LMDEPLOY] = {.name = "lmdeploy",
                  .title = "lmdeploy's TurboMind: serving with continuous batches",
                  .source = "InternLM/lmdeploy src/turbomind/models/llama",
                  SERVING,
                  .family = "lmdeploy",
                  .ends_prompts_apart = true,  /* LlamaBatch.cc at v0.1.0a1, ContextDecode() */
                  .sample_gap_s = 55 * MICRO}, /* rows lmdeploy-llama2-7b */
    [MEGATRON] = {.name = "megatron",
                  .sample_gap_s = 8.7 * MILLI, /* rows megatron-gen-89b */
                  .tool = &pp_tool_megatron,
                  .title = "Megatron-LM",
                  .source = "Megatron-LM megatron/core/optimizer, tensor_parallel/cross_entropy.py",
                  MEGATRON_ASYNC,
                  MEGATRON_MODULES,
                  SAVES_COPIES,
                  MEGATRON_HABITS},
    [MEGATRON_2020] = {.name = "megatron-2020",
                       .title = "Megatron-LM until January 2021: whole messages between stages",
                       .source = "Megatron-LM before scatter_gather_tensors_in_pipeline "
                                 "(megatron/p2p_communication.py)",
                       .sends_whole = true,
                       MEGATRON_V2_HABITS},
    [MEGATRON_2023] = {.name = "megatron-2023",
                       .tool = &pp_tool_megatron,
                       .title = "Megatron-LM until its SwiGLU became one kernel",
                       .source = "Megatron-LM before bias_swiglu_fusion (core 0.5), "
                                 "megatron/core/transformer/mlp.py",
                       .modules = PP_AGAIN_CORE,
                       .is_gate_unfused = true,
                       SAVES_COPIES,
                       MEGATRON_ASYNC,
                       MEGATRON_HABITS},
    [MEGATRON_V2] = {.name = "megatron-v2",
                     .title = "Megatron-LM until 2021: separate kernels add up weight gradients",
                     .source = "Megatron-LM before gradient_accumulation_fusion (version 3)",
                     MEGATRON_V2_HABITS},
    [NEMO] = {.name = "nemo",
              .tool = &pp_tool_megatron,
              .title = "NeMo, Megatron-Bridge: Megatron-Core with 16-bit gradients and overlap",
              .source =
                  "NeMo lightning/pytorch/plugins/mixed_precision.py (grad_reduce_in_fp32 off), "
                  "docs/source/performance (communication overlap)",
              LOSS_SPLIT,
              SAVES_COPIES,
              NEMO_HABITS},
    [PATRICKSTAR] =
        {.name = "patrickstar",
         .title = "PatrickStar: chunks, moved and gathered when they are needed",
         .source = "PatrickStar patrickstar/core/client.py (async_op=False), chunk_list.py "
                   "(access_chunk)",
         KERNELS,
         HOST,
         .family = "patrickstar",
         .usable_frac = {[PP_TIER_DEVICE] = 0.8, [PP_TIER_HOST] = 0.8}, /* overall_*_mem_ratio */
         .has_dropout = true},
    [PAXML] = {.name = "paxml",
               .title = "Paxml by XLA of 2023: softmax in fp32, no overlap",
               .source = "praxis/layers/attentions.py (_dot_atten); JAX-Toolbox, rosetta/projects/"
                         "pax (XLA flags)",
               PAXML_HABITS,
               .softmax = PP_SOFTMAX_WIDE},
    [PAXML_TE] = {.name = "paxml-te",
                  .title = "Paxml with Transformer Engine's kernels",
                  .source = "TransformerEngine/jax/flax/transformer.py (softmax kernels)",
                  PAXML_HABITS},
    [PLAIN] = {.name = "plain",
               .title = "no framework: kernels, messages and tensors only",
               .source = "by definition",
               KERNELS,
               .has_dropout = true,
               .has_params_ahead = true,
               .has_gather_overlap = true},
    [SGLANG] = {.name = "sglang",
                .title = "SGLang: serving by graphs of kernels, sums in one kernel",
                .source = "sgl-project/sglang, pull request 2904",
                SERVING,
                .family = "sglang",
                .one_shot_s = 5.9 * MICRO}, /* there: 8 H100, 512 values */
    [TENSORRT_LLM] = {.name = "tensorrt-llm",
                      .title = "TensorRT-LLM: serving by compiled graphs of kernels",
                      .source = "NVIDIA/TensorRT-LLM docs/source/performance.md",
                      SERVING,
                      .family = "tensorrt-llm"},
    [TORCHTITAN] =
        {.name = "torchtitan",
         .tool = &pp_tool_torchtitan,
         .title = "torchtitan: PyTorch FSDP, losses without fused kernels",
         .source = "torchtitan torchtitan/components/loss.py, distributed/activation_checkpoint.py",
         TORCH_FSDP_HABITS("torchtitan"),
         .is_cut_by_sequence = true,
         .is_scaled_first = true, /* torchao/float8, dynamic scaling */
         .stops_recompute = true,
         .loss_bytes = 14},
    [VLLM] = {.name = "vllm",
              .title = "vLLM: serving by graphs of kernels, sums in one kernel",
              .source = "vLLM csrc/custom_all_reduce.cuh; sgl-project/sglang, pull request 2904",
              SERVING,
              .family = "vllm",
              .one_shot_s = 10.1 * MICRO}, /* there: 8 H100, 512 values */
    [XLA] = {.name = "xla",
             .title = "JAX by XLA of 2022: no host between kernels, no overlap, no dropout",
             .source = "Alpa benchmark/alpa/benchmark_2d_one_case_gpt_bert.py (deterministic, "
                       "times of the executable)",
             .family = "xla",
             KERNELS,
             .softmax = PP_SOFTMAX_CUT},
    [ZERO_INFERENCE] = {.name = "zero-inference",
                        .title = "DeepSpeed ZeRO-Inference of 2022: weights on other tiers",
                        .source = "DeepSpeed docs/_posts/2022-09-10-zero-inference.md",
                        SERVING_EAGER,
                        .family = "zero-inference"},
    [ZERO_INFERENCE_2023] =
        {.name = "zero-inference-2023",
         .title = "DeepSpeed ZeRO-Inference of 2023: weights in 4 bits, cache on the host",
         .source = "DeepSpeedExamples inference/huggingface/zero_inference/README.md",
         .host_link_frac = 0.7, /* rows zero-inference-2023 */
         SERVING_EAGER,
         .family = "zero-inference"},
    [FRAMEWORKS] = {.name = NULL},
};
const struct pp_framework *const pp_framework_plain = &pp_frameworks[PLAIN];

const char *pp_framework_name(int i)
{
    return pp_frameworks[i].name;
}

enum { NAMES_MAX = 40 };

enum pp_status pp_framework_find(const char *name, const struct pp_framework **framework,
                                 struct pp_error *err)
{
    const char *names[NAMES_MAX];
    size_t count = 0;

    for (const struct pp_framework *f = pp_frameworks; f->name != NULL; f++) {
        if (pp_same_name(name, f->name)) {
            *framework = f;
            return PP_OK;
        }
        if (count + 1 < NAMES_MAX)
            names[count++] = f->name;
    }
    names[count] = NULL;
    const char *near = pp_suggest(name, names);
    pp_error_set(err, PP_EINVAL, "--framework: unknown '%.60s': ", name);
    if (near != NULL)
        return pp_error_append(err, "did you mean '%s'?", near);
    pp_error_append(err, "built in are");
    for (const struct pp_framework *f = pp_frameworks; f->name != NULL; f++)
        pp_error_append(err, " %s", f->name);
    return PP_EINVAL;
}
