/* The rows of training software. Sources: the files of sim/emit, which write its configurations. */
#include "core/cost/tool.h"

#include "core/arena.h"

#include <string.h>

#define ZERO(stage) (1u << (stage))

const struct pp_tool pp_tool_deepspeed = {
    .name = "deepspeed",
    .title = "DeepSpeed",
    .zero = {ZERO(0) | ZERO(1) | ZERO(2) | ZERO(3), ZERO(0) | ZERO(1)}, /* pipe/engine.py */
    .offloads = 1u << PP_STATE_OPTIMIZER,
};

const struct pp_tool pp_tool_megatron = {
    .name = "megatron",
    .title = "Megatron-LM",
    .has_ring = true,
    .has_uneven_stages = true,
    .has_any_etp = true,
    .zero = {ZERO(0) | ZERO(1) | ZERO(2) | ZERO(3), ZERO(0) | ZERO(1) | ZERO(2) | ZERO(3)},
    .has_selective = true,
    .modules = PP_AGAIN_CORE | PP_AGAIN_NORM | PP_AGAIN_LATENT | PP_AGAIN_MLP | PP_AGAIN_MOE,
    .expert_modules = PP_AGAIN_ACT, /* moe_act */
    .offloads = 1u << PP_STATE_OPTIMIZER,
};

const struct pp_tool pp_tool_nanotron = {
    .name = "nanotron",
    .title = "nanotron",
    .has_ring = true,
    .zero = {ZERO(0) | ZERO(1), ZERO(0) | ZERO(1)},
};

/* FSDP cuts all state. In a pipeline PyTorch sums gradients after the last micro-batch
 * (torch/distributed/pipelining/stage.py, backward_maybe_with_nosync). It gathers parameters once a
 * step, or for each pass (fsdp_reshard_after_forward). In time these are ZeRO 1 and ZeRO 3. Without
 * a pipeline each micro-batch scatters its gradients. */
const struct pp_tool pp_tool_torchtitan = {
    .name = "torchtitan",
    .title = "torchtitan",
    .reads_orders = true,
    .has_ring = true,
    .has_uneven_stages = true,
    .has_whole_experts = true,
    .zero = {ZERO(2) | ZERO(3), ZERO(1) | ZERO(3)},
    .has_selective = true, /* by operation */
};

static const unsigned ALL_STAGES = ZERO(0) | ZERO(1) | ZERO(2) | ZERO(3);

static unsigned stages_of(const struct pp_tool *tool, bool has_pipeline)
{
    return tool ? tool->zero[has_pipeline] : ALL_STAGES;
}

bool pp_tool_has_zero(const struct pp_tool *tool, bool has_pipeline, int stage)
{
    return stages_of(tool, has_pipeline) >> stage & 1;
}

int pp_tool_mild_zero(const struct pp_tool *tool, bool has_pipeline)
{
    int stage = 0;

    while (!pp_tool_has_zero(tool, has_pipeline, stage))
        stage++;
    return stage;
}

int pp_tool_next_zero(const struct pp_tool *tool, bool has_pipeline)
{
    int stage = pp_tool_mild_zero(tool, has_pipeline) + 1;

    while (!pp_tool_has_zero(tool, has_pipeline, stage))
        stage++;
    return stage;
}

bool pp_tool_has_etp(const struct pp_tool *tool, int tp, int etp)
{
    return !tool || tool->has_any_etp || etp == tp || (etp == 1 && tool->has_whole_experts);
}

const struct pp_tool *pp_tool_find(const char *name)
{
    static const struct pp_tool *const tools[] = {&pp_tool_deepspeed, &pp_tool_megatron,
                                                  &pp_tool_nanotron, &pp_tool_torchtitan};

    for (size_t i = 0; i < PP_COUNT(tools); i++)
        if (!strcmp(tools[i]->name, name))
            return tools[i];
    return NULL;
}

bool pp_tool_recomputes(const struct pp_tool *tool, enum pp_recompute recompute, unsigned modules,
                        bool has_experts)
{
    if (!tool)
        return true;
    if (recompute != PP_RECOMPUTE_SELECTIVE)
        return recompute != PP_RECOMPUTE_STAGE;
    return tool->has_selective &&
           !(modules & ~(tool->modules | (has_experts ? tool->expert_modules : 0)));
}
