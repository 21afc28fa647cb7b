/* Prints a table of measurements to fill. */
#include "sim/published/published.h"

#include <stdio.h>

/* The examples, which are comments, are predicted with the built-in constants, and 8 % slower. */
static const char TEMPLATE[] =
    "# Measured steps: a row for each configuration that ran. Lines with # are comments,\n"
    "#   as both examples are: delete their # to try them.\n"
    "# Required: model, cluster (or gpu), gpus, tp, pp, mbs, gbs, seq; schedule and vp if pp > 1;\n"
    "#   step_time_s, the median seconds of a step after its warm-up, or tokens_per_s_per_gpu.\n"
    "# model: a name of 'pipesim models', else layers, hidden, heads, kv_heads, ffn and vocab, "
    "too.\n"
    "# cluster: a name of 'pipesim clusters' or a text such as h100 gpu:8 nic:8x400Gbps.\n"
    "# framework: a name of --framework. mbs: samples of a micro-batch. gbs: samples of a step.\n"
    "# Optional: id, dp, cp, ep, zero, recompute, precision, micro_batches, sequence_parallel,\n"
    "#   peak_mem_bytes (max_memory_allocated), and any option of 'pipesim run' by its name.\n"
    "# Two to five steps of one layout already help: pipesim validate FILE --refit -o "
    "constants.json\n"
    "id,model,cluster,framework,gpus,tp,pp,vp,schedule,mbs,gbs,seq,zero,recompute,precision,"
    "step_time_s\n"
    "#example-1,llama3-8b,h100,megatron,16,2,2,1,1f1b,1,64,8192,1,none,bf16,4.75\n"
    "#example-2,llama3-8b,h100,megatron,16,1,4,2,interleaved,1,64,8192,1,none,bf16,5.12\n";

void pp_measurements_template(FILE *out)
{
    fputs(TEMPLATE, out);
}
