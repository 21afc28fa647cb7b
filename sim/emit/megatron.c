/* sim/emit/megatron.c — Megatron-LM: arguments of pretrain_gpt.py.
 * Source of names, and of what is refused: NVIDIA/Megatron-LM, megatron/training/arguments.py
 * (validate_args), megatron/core/transformer/pipeline_parallel_layer_layout.py (the text of a
 * layout), megatron/core/distributed/fsdp (what Megatron-FSDP needs), as of 2026. */
#include "sim/emit/settings.h"

/* Before Blackwell, communication kernels must launch in program order; FSDP wants the contrary. */
static void launch(const struct pp_emit_job *job, struct pp_emission *e)
{
    const struct pp_layout *l = &job->layout;
    const char *env = pp_emit_megatron_is_fsdp(job) ? "env -u CUDA_DEVICE_MAX_CONNECTIONS "
                      : l->tp > 1 || l->cp > 1      ? "CUDA_DEVICE_MAX_CONNECTIONS=1 "
                                                    : "";

    pp_emit_remark(e, pp_arena_printf(job->arena,
                                      "Launch: %storchrun --nnodes %d --nproc-per-node %d "
                                      "pretrain_gpt.py \"${ARGS[@]}\" and your data, tokenizer and "
                                      "optimizer.",
                                      env, pp_emit_nodes(job), pp_emit_node_gpus(job)));
}

static const struct pp_emit_home homes[] = {
    {PP_STATE_PARAMS, 0, "parameters stay on the device (--offload p); nearest: --zero 3"},
    {PP_STATE_OPTIMIZER, PP_EMIT_ON(PP_TIER_HOST),
     "optimizer state does not go to drives (--offload os=nvme); nearest: os=host"},
    {PP_STATE_ACTIVATIONS, PP_EMIT_ON(PP_TIER_HOST) | PP_EMIT_ON(PP_TIER_NVME), NULL},
};

const struct pp_emit_tool pp_emit_megatron = {
    .name = "megatron",
    .software = &pp_tool_megatron,
    .title = "Megatron-LM",
    .print = pp_emit_shell,
    .parts = (const struct pp_emit_part *const[]){&pp_emit_megatron_layout, &pp_emit_megatron_model,
                                                  &pp_emit_megatron_state, NULL},
    .homes = homes,
    .home_count = PP_COUNT(homes),
    .launch = launch,
};
