/* sim/emit/megatron.h — the parts of Megatron-LM. Internal to sim/emit_megatron*.c.
 * Source of names, and of what is refused: NVIDIA/Megatron-LM, megatron/training/arguments.py
 * (validate_args), megatron/core/transformer/pipeline_parallel_layer_layout.py (the text of a
 * layout), megatron/core/distributed/fsdp (what Megatron-FSDP needs), as of 2026. */
#pragma once

#include "sim/emit/settings.h"

extern const struct pp_emit_part pp_emit_megatron_layout, pp_emit_megatron_model,
    pp_emit_megatron_state;

bool pp_emit_megatron_is_fsdp(const struct pp_emit_job *job);
