/* Words of tables with one figure a row, and what they mean as options. */
#include "sim/published/figures.h"

#include <stddef.h>

#define ALL PP_FIGURE_BOTH

/* First match wins for each option. */
/* clang-format off */
const struct pp_figure_rule pp_figure_rules[] = {
    {PP_COL_NOTE,    "no such model",             ALL, NULL, "no such model is built in"},
    {PP_COL_USE,     "no such model",             ALL, NULL, "no such model is built in"},
    {PP_COL_STATE,   "3d parallelism",            ALL, NULL, "its layout is not stated"},

    /* Machines. */
    {PP_COL_CLUSTER, "v100*# gb host",            ALL, "--cluster v100-dgx1~ram:#GB", NULL},
    {PP_COL_CLUSTER, "dgx-2|v100*tb host",        ALL, "--cluster v100-dgx2", NULL},
    {PP_COL_CLUSTER, "v100",                      ALL, "--cluster v100-dgx1", NULL},
    {PP_COL_CLUSTER, "a100*40*# tb host",         ALL, "--cluster a100-40~ram:#TiB", NULL},
    {PP_COL_CLUSTER, "a100*40*# gb host",         ALL, "--cluster a100-40~ram:#GB", NULL},
    {PP_COL_CLUSTER, "a100*40|superpod",          ALL, "--cluster a100-40", NULL},
    {PP_COL_CLUSTER, "a100",                      ALL, "--cluster a100", NULL},
    {PP_COL_CLUSTER, "h200",                      ALL, "--cluster h200", NULL},
    {PP_COL_CLUSTER, "h100",                      ALL, "--cluster h100", NULL},
    {PP_COL_CLUSTER, "1080 ti",                   ALL, "--cluster gtx1080ti", NULL},
    {PP_COL_NOTE,    "on # a100-40",              ALL, "--cluster a100-40 --gpus #", NULL},
    {PP_COL_NOTE,    "on # h100",                 ALL, "--cluster h100 --gpus #", NULL},
    {PP_COL_FAMILY,  "^mesa",                     ALL, "--cluster v100-dgx1", NULL},

    /* Models. A row without dimensions names its model in its own name or in the note. */
    {PP_COL_SOURCE,  "colossalai",                ALL, "--model llama2-7b", NULL},
    {PP_COL_NOTE,    "opt-13b",                   ALL, "--model opt-13b", NULL},
    {PP_COL_NOTE,    "opt-30b",                   ALL, "--model opt-30b", NULL},
    {PP_COL_ID,      "opt-30b",                   ALL, "--model opt-30b", NULL},
    {PP_COL_ID,      "deit-ti",                   ALL, "--model deit-ti", NULL},
    {PP_COL_ID,      "deit-s",                    ALL, "--model deit-s", NULL},
    {PP_COL_ID,      "deit-b",                    ALL, "--model deit-b", NULL},
    {PP_COL_ID,      "bert-96",                   ALL, "--model bert-96 --seq 512", NULL},
    {PP_COL_FAMILY,  "^zero-infinity-max",        ALL, "--vocab 50304 --seq 1024 --mbs 1", NULL},
    {PP_COL_STATE,   "=data parallel",            ALL, "--hidden 2048 --heads 16 --framework plain", NULL},
    {PP_COL_STATE,   "=zero-offload",             ALL, "--hidden 4096 --heads 32", NULL},
    {PP_COL_STATE,   "=zero-3|=zero-infinity host", ALL, "--hidden 8192 --heads 64", NULL},
    {PP_COL_STATE,   "=zero-infinity nvme",       ALL, "--hidden 12288 --heads 96", NULL},
    {PP_COL_SOURCE,  "patrickstar|deepspeed|mgpu_scalability", ALL, "--vocab 50304 --heads 16 --seq 1024", NULL},

    /* Where state lives. */
    {PP_COL_FAMILY,  "^patrickstar",              ALL, "--offload p=host,g=host,os=host:auto --cpu-optimizer", NULL},
    {PP_COL_FAMILY,  "^patrickstar",              ALL, "--grads-in-params --gather 64MiB --cache auto", NULL},
    {PP_COL_FAMILY,  "^patrickstar",              ALL, "--zero 3", NULL},
    {PP_COL_FAMILY,  "^patrickstar-max",          ALL, "--mbs 8", NULL},
    {PP_COL_STATE,   "p,g,os=host|zero-infinity host", ALL, "--offload p=host,g=host,os=host --cpu-optimizer", NULL},
    {PP_COL_STATE,   "p,g,os=nvme|zero-infinity nvme", ALL, "--offload p=nvme,g=nvme,os=nvme --cpu-optimizer", NULL},
    {PP_COL_STATE,   "g,os=host|=zero-offload",   ALL, "--offload g=host,os=host --cpu-optimizer", NULL},
    {PP_COL_METRIC,  "speedup_over_full_offload", PP_FIGURE_FIRST,  "--offload p=host,g=host,os=host --cpu-optimizer", NULL},
    {PP_COL_METRIC,  "speedup_over_full_offload", PP_FIGURE_SECOND, "--offload p=host,g=host,os=host:auto --cpu-optimizer", NULL},
    {PP_COL_METRIC,  "speedup_over_full_offload", ALL, "--zero 3 --mbs 1 --framework deepspeed", NULL},
    {PP_COL_STATE,   "zero 3|zero-3|zero-infinity|p,g,os=", ALL, "--zero 3", NULL},
    {PP_COL_STATE,   "zero 2|zero-2|zero-offload|^g,os=", ALL, "--zero 2", NULL},
    {PP_COL_STATE,   "data parallel",             ALL, "--zero 0", NULL},

    /* Pairs of runs. */
    {PP_COL_METRIC,  "memory_ratio",              PP_FIGURE_FIRST, "--act-bits 8", NULL},
    {PP_COL_METRIC,  "memory_ratio",              ALL, "--recompute none --attention unfused --framework autocast", NULL},
    {PP_COL_METRIC,  "pipeline_over_data_parallel", PP_FIGURE_FIRST,  "--schedule bfs --pp 2 --dp 1 --vp 6", NULL},
    {PP_COL_METRIC,  "pipeline_over_data_parallel", PP_FIGURE_SECOND, "--schedule bfs --pp 1 --dp 2 --vp 12", NULL},
    {PP_COL_METRIC,  "pipeline_over_data_parallel", ALL, "--precision fp32 --mbs 8 --update jit --offload p=host,g=host,os=host,a=host --cpu-optimizer --gather chunk", NULL},

    /* Software, and what is usual. */
    {PP_COL_FAMILY,  "^patrickstar",              ALL, "--framework patrickstar", NULL},
    {PP_COL_FAMILY,  "^zero",                     ALL, "--framework deepspeed", NULL},
    {PP_COL_FAMILY,  "*",                         ALL, "--schedule 1f1b --pp 1 --tp 1 --recompute full", NULL},
    {0, NULL, ALL, NULL, NULL},
};
/* clang-format on */

/* examples/model_builder.py of PatrickStar, which has them from Ren et al. 2021 (ZeRO-Offload). */
const struct pp_figure_size pp_figure_sizes[] = {
    {1, 20, 2048},  {2, 40, 2048},  {4, 64, 2304},        {6, 53, 3072},  {8, 72, 3072},
    {10, 50, 4096}, {12, 60, 4096}, {13, 65, 4096, true}, {15, 78, 4096}, {18, 90, 4096},
    {20, 25, 8192}, {40, 50, 8192}, {60, 75, 8192},       {68, 66, 9216}, {.layers = 0},
};
