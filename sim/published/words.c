/* Options for the words of published tables, and conclusions from them. */
#include "sim/published/parts.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define YES "=1|=on|=yes|=true"
#define NO  "=0|=off|=no|=false"

/* First match wins for each option. An option of NULL refuses the row. */
/* clang-format off */
const struct pp_measure_rule pp_measure_rules[] = {
    {PP_COL_MODEL, "[lora]",                     NULL, NULL, "adapters: most weight gradients are not computed"},

    /* Order of work. */
    {PP_COL_SCHEDULE, "^interleaved-zb",         "schedule", "interleaved-zb", NULL},
    {PP_COL_SCHEDULE, "interleav",               "schedule", "interleaved", NULL},
    {PP_COL_SCHEDULE, "^interlaced",             "schedule", "1f1b", NULL},
    {PP_COL_SCHEDULE, "^1f1b-i",                 "schedule", "interleaved", NULL},
    {PP_COL_SCHEDULE, "^1f1b",                   "schedule", "1f1b", NULL},
    {PP_COL_SCHEDULE, "=none",                   "schedule", "1f1b", NULL},
    {PP_COL_SCHEDULE, "^zb-1p|^zb-2p",           "schedule", "zb-auto", NULL},
    {PP_COL_SCHEDULE, "^zb-v",                   "schedule", "zbv", NULL},
    {PP_COL_SCHEDULE, "^zb-1p",                  "max-activations", "1pp", NULL},
    {PP_COL_SCHEDULE, "^zb-2p",                  "max-activations", "2pp", NULL},
    {PP_COL_NOTE,     "on last stage=2|on last stage=3", "head", "last", NULL}, /* not the best division */
    {PP_COL_NOTE,     "on last stage=2",         "last-stage-layers", "2", NULL},
    {PP_COL_NOTE,     "on last stage=3",         "last-stage-layers", "3", NULL},
    {PP_COL_SCHEDULE, "redistributed",           "head", "balanced", NULL},
    {PP_COL_NOTE,     "fullpp_vocab_",           "head", "parallel", "vocab-1 and vocab-2 are exchanged in these rows: their ranks meet once"},
    {PP_COL_NOTE,     "fullpp_synctwice_",       "head", "parallel-twice", "vocab-1 and vocab-2 are exchanged in these rows: their ranks meet twice"},
    {PP_COL_SCHEDULE, "vocab-1",                 "head", "parallel-twice", NULL},
    {PP_COL_SCHEDULE, "vocab-2",                 "head", "parallel", NULL},
    {PP_COL_SCHEDULE, "^interlaced",             "head", "interlaced", NULL},

    /* Sharding. */
    {PP_COL_SOURCE, "megascale",                 "zero", "1", "MegaScale scatters a chunk's gradients once a step (section 3.2)"},
    {PP_COL_ZERO, "=none|^0|=ddp",               "zero", "0", NULL},
    {PP_COL_ZERO, "custom P/G/OS",               "shard", "P/G/OS", NULL},
    {PP_COL_ZERO, "^1 (sharded within #",        "shard", "os=#", NULL},
    {PP_COL_ZERO, "^2 (sharding degree #",       "shard", "g=#,os=#", NULL},
    {PP_COL_ZERO, "^3 within sub-group",         "shard", "p=node,g=node,os=node",
     "the sub-group is taken to be a node"},
    {PP_COL_ZERO, "hpz=#",                       "secondary", "#", NULL},
    {PP_COL_ZERO, "zero2|shard_grad_op|no reshard", "zero", "2", NULL},
    {PP_COL_ZERO, "mics",                        "shard", "p=node,g=node,os=node",
     "the sub-group is taken to be a node"},
    {PP_COL_ZERO, "hsdp",                        "shard", "p=node,g=node,os=node",
     "hybrid sharding: within a node"},
    {PP_COL_ZERO, "fsdp|zero3|fully sharded|zero-3", "zero", "3", NULL},
    {PP_COL_ZERO, "zero-2",                      "zero", "2", NULL},
    {PP_COL_ZERO, "zero-1",                      "zero", "1", NULL},
    {PP_COL_ZERO, "stage 3",                     "zero", "3", NULL},
    {PP_COL_ZERO, "stage 2",                     "zero", "2", NULL},
    {PP_COL_ZERO, "stage 1",                     "zero", "1", NULL},
    {PP_COL_ZERO, "^dist|^1",                    "zero", "1", NULL}, /* a distributed optimizer */
    {PP_COL_ZERO, "^2",                          "zero", "2", NULL},
    {PP_COL_ZERO, "^3",                          "zero", "3", NULL},

    /* Precision. */
    {PP_COL_PRECISION, "nvfp4",                  "precision", "nvfp4", NULL},
    {PP_COL_PRECISION, "=fp4|mxfp4",             NULL, NULL, "of formats of 4 bits nvfp4 alone is priced"},
    {PP_COL_PRECISION, "fp8",                    "precision", "fp8", NULL},
    {PP_COL_PRECISION, "bf16",                   "precision", "bf16", NULL},
    {PP_COL_PRECISION, "fp16",                   "precision", "fp16", NULL},
    {PP_COL_PRECISION, "tf32",                   "precision", "tf32", NULL},
    {PP_COL_PRECISION, "fp32",                   "precision", "fp32", NULL},
    {PP_COL_PRECISION, "bfloat16",               "precision", "bf16", NULL},
    {PP_COL_PRECISION, "float16|half",           "precision", "fp16", NULL},
    {PP_COL_SOURCE, "vocabulary*parallelism",    "precision", "fp16", "its script has --fp16 (pretrain_gpt.sh)"},
    {PP_COL_PRECISION, "amp|mixed",              "precision", NULL, "precision not stated: the device's own"},
    {PP_COL_PRECISION, "16-bit",                 "precision", NULL, NULL}, /* the device's own */
    {PP_COL_PRECISION, "",                       "precision", NULL, "precision not stated: the device's own"},

    /* Share of saved activations on the host: "offload alpha 0.30". */
    {PP_COL_NOTE,   "offload alpha",             "offload", "a=host", NULL},
    {PP_COL_NOTE,   "offload ratio alpha=",      "offload", "a=host", NULL},

    /* Recomputation. */
    {PP_COL_RECOMPUTE, "=none|" NO,              "recompute", "none", NULL},
    {PP_COL_RECOMPUTE, YES "|^full",             "recompute", "full", NULL},
    {PP_COL_RECOMPUTE, "selective",              "recompute", "selective", NULL},
    {PP_COL_RECOMPUTE, "activation-func + norm", "recompute", "selective=layernorm+act", NULL},
    {PP_COL_RECOMPUTE, "",                       "recompute", "none", "recompute not stated: none"},

    {PP_COL_SEQ_PARALLEL, YES,                   "sequence-parallel", "on", NULL},
    {PP_COL_SEQ_PARALLEL, NO,                    "sequence-parallel", "off", NULL},
    {PP_COL_SEQ_PARALLEL, "",                    "sequence-parallel", NULL, NULL},

    /* Software, by its column and else by other words. */
    {PP_COL_FRAMEWORK, "megatron-deepspeed",     "framework", "deepspeed", NULL},
    {PP_COL_FRAMEWORK, "megatron-bridge|nemo",   "framework", "nemo", NULL},
    {PP_COL_FRAMEWORK, "=megatron-lm|=mcore|megatron-core", "framework", "megatron", NULL},
    {PP_COL_FRAMEWORK, "pytorch fsdp|=fsdp1|=fsdp2", "framework", "fsdp", NULL},
    {PP_COL_SOURCE, "alpa osdi",                 "framework", "xla", "measured with Alpa, which XLA compiles: time of the executable, without dropout"},
    {PP_COL_SOURCE, " pax ",                     "framework", "paxml", "measured with Paxml, which XLA compiles"},
    {PP_COL_SOURCE, "torchtitan",                "framework", "torchtitan", "measured with torchtitan"},
    {PP_COL_NOTE,   "mp_mode pure",              "framework", "fsdp-pt1", "llm-foundry's runs with mp_mode PURE are of PyTorch 1.13 (submit_benchmarks.py)"},
    {PP_COL_ZERO,   "fsdp",                      "framework", "fsdp", "FSDP shards the state"},
    {PP_COL_ZERO,   "custom p/g/os",             "framework", "amsp", "AMSP shards parameters, gradients and state apart"},
    {PP_COL_SOURCE, "internevo",                 "framework", "internevo", "measured with InternEvo"},
    {PP_COL_NOTE,   "rebalancing layers",        "framework", "deepspeed-bf16", "from its section on, BigScience adds up gradients in fp32"},
    {PP_COL_NOTE,   "megatron-deepspeed",        "framework", "deepspeed", "measured with Megatron-DeepSpeed"},
    {PP_COL_SOURCE, "deepspeed",                 "framework", "deepspeed", "measured with DeepSpeed"},
    {PP_COL_ZERO,   "^3",                        "framework", "deepspeed", "ZeRO 3 is DeepSpeed's"},
    {PP_COL_SOURCE, "amsp",                      "framework", "deepspeed", "AMSP's rivals are DeepSpeed's"},
    {PP_COL_SOURCE, "nemo",                      "framework", "nemo", "measured with NeMo"},
    {PP_COL_SOURCE, "dgxc",                      "framework", "nemo", "DGX Cloud recipes are NeMo's"},
    {PP_COL_SOURCE, "mlperf*nvidia",             "framework", "nemo", "NVIDIA's entries to MLPerf are NeMo's"},
    {PP_COL_SOURCE, "yuan et al",                "framework", "megatron-2023", "its code is Megatron-LM of 2023 (branches atc24ae and jan-1-2024-main)"},
    {PP_COL_SOURCE, "readme*2020|readme*jan 2021", "framework", "megatron-2020", "Megatron-LM before it cut messages between stages (27fc468964 of 2021-01-20)"},
    {PP_COL_YEAR,   "<2022",                     "framework", "megatron-v2", "Megatron-LM before its third version"},
    {PP_COL_YEAR,   "<2024",                     "framework", "megatron-2023", "Megatron-LM before its SwiGLU became one kernel"},
    {PP_COL_SOURCE, "*",                         "framework", "megatron", NULL},

    /* Communication concurrent with compute. */
    {PP_COL_NOTE,   "tp ag/rs overlap|async tp|asynctp", "tp-overlap", "50%", NULL},
    {PP_COL_SOURCE, "megascale",                 "tp-overlap", "75%", "MegaScale exchanges tensor-parallel pieces during the matrices (section 3.2)"},
    {PP_COL_SOURCE, "nemo|mlperf|dgxc",          "tp-overlap", "75%", "NeMo exchanges tensor-parallel pieces, four or so, during the matrices"},
    {PP_COL_SOURCE, "megascale",                 "dp-overlap", "on", "MegaScale sums gradients during the backward passes (section 3.2)"},
    {PP_COL_NOTE,   "dp/tp/pp comm overlapped",  "dp-overlap", "on", NULL},
    {PP_COL_NOTE,   "torch's ddp",               "dp-overlap", "on", "PyTorch's DDP sums gradients during the backward passes"},
    {PP_COL_NOTE,   "cuda graphs",               "cuda-graphs", "on", NULL},

    /* Attention: FlashAttention, its first version (until mid 2023), or scores stored in memory. */
    {PP_COL_GPU,    "p100|v100",                 "attention", "unfused", "FlashAttention needs a GPU of 2018 or later"},
    {PP_COL_NOTE,   "megatron-deepspeed",        "attention", "unfused", "FlashAttention is off in Megatron-DeepSpeed unless asked for"},
    {PP_COL_SOURCE, "zero bubble",               "attention", "unfused", "its script of 2023 leaves --use-flash-attn off"},
    {PP_COL_YEAR,   "<2023",                     "attention", "unfused", "before 2023 Megatron-LM had no FlashAttention"},
    {PP_COL_SOURCE, "mlperf training v3.0",      "attention", "flash1", "its Dockerfile has Transformer Engine 0.8; attention by cuDNN came with 1.2"},
    {PP_COL_SOURCE, "mlperf",                    "attention", "fused", "by cuDNN, as Transformer Engine does"},
    {PP_COL_SOURCE, " pax ",                     "attention", "unfused", "in 2023 neither XLA nor Transformer Engine for JAX fused it (NVTE_FUSED_ATTN was 0)"},
    {PP_COL_YEAR,   "<2024",                     "attention", "flash1", "FlashAttention 2 is of July 2023"},
    {PP_COL_YEAR,   "*",                         "attention", "fused", NULL},

    /* Dispatch of tokens to experts. */
    {PP_COL_SOURCE, "megatron-bridge",           "ep-dispatch", "once", "Megatron-Bridge's recipes exchange tokens by DeepEP or HybridEP"},
    {PP_COL_SOURCE, "megatron-bridge",           "etp", "1", "Megatron-Bridge's recipes do not cut experts"},

    /* Kind of matrices. */
    {PP_COL_NOTE,  "untied",                     "embedding", "untied", NULL},
    {PP_COL_SOURCE, "vocabularyparallelism",     "embedding", "untied", "its script has --untie-embeddings-and-output-weights"},
    {0, NULL, NULL, NULL, NULL},
};

/* Presets by the names of devices as sold. Longer names come before those that they contain. */
const struct pp_measure_device pp_measure_devices[] = {
    {"a6000",      "a6000", "", false},
    {"a100*pcie",  "a100", "pcie:25GBps hbm:1.94TBps", false}, /* data sheet; PCIe 4 x16 as reached */
    {"a100*40gb",  "a100-40", "", false},
    {"a100",       "a100", "", false},
    {"ampere",     "a100", "", false},
    {"a800",       "a800", "", false},
    /* 5 stacks of HBM2e. Clocks fall with about the cube root of the power, of which 150 W of
     * 500 or 700 are not the cores' */
    {"h100*hbm2e", "h100", "memory:95GiB hbm:2.4TBps peak:850TF", false}, /* as its driver reports */
    {"h100*pcie",  "h100", "pcie:50GBps hbm:2TBps peak:756TF", false}, /* data sheet; PCIe 5 x16 as reached */
    {"h100",       "h100", "", false},
    {"gh200",      "h100", "memory:96GB hbm:4TBps", false},
    {"h800",       "h800", "", false},
    {"h200",       "h200", "", false},
    {"h20",        "h100", "memory:96GB hbm:4TBps peak:148TF", false},
    {"gb200",      "gb200", "", true}, /* a rack is one NVLink domain, whatever a tray holds */
    {"gb300",      "gb300", "", true},
    {"b200",       "b200", "", false},
    {"b300",       "b300", "", false},
    {"l40s",       "l40s", "", false},
    {"mi300x",     "mi300x", "", false},
    {"mi325x",     "mi325x", "", false},
    {"rtx*4090",   "rtx4090", "", false},
    {"rtx*5090",   "rtx5090", "", false},
    {"v100*sxm3",  "v100-dgx2", "", false},
    {"v100*16gb",  "v100-16", "", false},
    {"v100",       "v100-dgx1", "", false},
    {"p100",       "p100-daint", "", false},
    {NULL, NULL, NULL, false},
};
/* clang-format on */

enum { PATTERN_BYTES = 96 }; /* of one alternative */

/* Is true if `pattern` is at the begin of `text`; '#' stands for digits, '*' for anything. */
static bool matches_here(const char *text, const char *pattern)
{
    for (; *pattern; pattern++, text++) {
        if (*pattern == '*')
            return pp_measure_contains(text, pattern + 1) != NULL;
        if (*pattern == '#') {
            if (!isdigit((unsigned char)*text))
                return false;
            while (isdigit((unsigned char)text[1]))
                text++;
        } else if (tolower((unsigned char)*text) != tolower((unsigned char)*pattern)) {
            return false;
        }
    }
    return true;
}

const char *pp_measure_contains(const char *text, const char *pattern)
{
    for (;; text++) {
        if (matches_here(text, pattern))
            return text;
        if (!*text)
            return NULL;
    }
}

static bool matches_one(const char *cell, const char *pattern)
{
    switch (*pattern) {
    case '\0':
        return !*cell;
    case '=':
        return !strcasecmp(cell, pattern + 1);
    case '^':
        return matches_here(cell, pattern + 1);
    case '<': {
        const double value = strtod(cell, NULL);
        return value > 0 && value < strtod(pattern + 1, NULL);
    }
    default:
        return pp_measure_contains(cell, pattern) != NULL;
    }
}

bool pp_measure_matches(const char *cell, const char *pattern)
{
    char one[PATTERN_BYTES];

    for (;; pattern++) {
        const size_t length = strcspn(pattern, "|");
        assert(length < sizeof(one));
        snprintf(one, sizeof(one), "%.*s", (int)length, pattern);
        if (matches_one(cell, one))
            return true;
        pattern += length;
        if (!*pattern)
            return false;
    }
}

int pp_measure_number_in(const char *cell, const char *pattern)
{
    const char *before = *pattern == '^' ? pattern + 1 : pattern;
    const size_t length = strcspn(before, "#");
    const char *start = before[length] ? pp_measure_contains(cell, before) : NULL;
    const long number = start ? strtol(start + length, NULL, 10) : 0;

    return number > 0 && number < 1 << 20 ? (int)number : 0;
}
