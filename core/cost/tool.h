/* core/cost/tool.h — what training software runs, whatever it costs: choices that are made for a
 * framework stay inside. A row of core/cost/framework.h, and --emit, name their software.
 * Schedules name the orders that it runs (`.calls`, schedules/order/schedule.h). */
#pragma once

#include "core/cost/inputs.h"
#include "core/cost/state.h"

#include <stdbool.h>

struct pp_tool {
    const char *name, *title; /* "megatron", "Megatron-LM" */
    bool reads_orders;        /* reads the order of one pipeline, a loop or a V, from a file */
    bool has_ring;            /* context parallelism by a ring of attention */
    bool has_uneven_stages;   /* stages may have other numbers of blocks than their neighbours */
    bool has_whole_experts;   /* experts may be whole (etp 1) where the rest is cut */
    bool has_any_etp;         /* experts may be cut over any divisor of tp */
    /* ZeRO stages, as bits 1 << stage: without and with a pipeline. Of its two mildest ones those
     * are searched that fit. */
    unsigned zero[2];
    bool has_selective;      /* --recompute selective */
    unsigned modules;        /* enum pp_again: modules that it recomputes alone */
    unsigned expert_modules; /* these of experts only */
    unsigned offloads;       /* classes of state, as bits, that it keeps on the host */
};
extern const struct pp_tool pp_tool_deepspeed, pp_tool_megatron, pp_tool_nanotron,
    pp_tool_torchtitan;

/* Is true if the software, NULL = any, runs a ZeRO stage. */
bool pp_tool_has_zero(const struct pp_tool *tool, bool has_pipeline, int stage);
/* Returns the stage that is chosen first, and that with which more fits. */
int pp_tool_mild_zero(const struct pp_tool *tool, bool has_pipeline);
int pp_tool_next_zero(const struct pp_tool *tool, bool has_pipeline);
/* Is true if the software, NULL = any, cuts an expert over `etp` of `tp` devices. */
bool pp_tool_has_etp(const struct pp_tool *tool, int tp, int etp);
/* Returns the software of that name, or NULL. */
const struct pp_tool *pp_tool_find(const char *name);
/* Is true if the software, NULL = any, recomputes so. `has_experts`: all layers are mixtures. */
bool pp_tool_recomputes(const struct pp_tool *tool, enum pp_recompute recompute, unsigned modules,
                        bool has_experts);
