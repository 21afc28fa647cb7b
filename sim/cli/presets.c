/* Presets of pipesim: published runs as command lines. */
#include "sim/cli/cli.h"

#include <stddef.h>

const struct pp_preset pp_presets[] = {
    {"bfs-52b", "breadth-first, 52 B BERT-like model on 64 V100 (8 DGX-1)",
     "Lamy-Poirier, Breadth-First Pipeline Parallelism, arXiv 2211.05953, section 5",
     PP_NAMES("--schedule", "bfs", "--model", "bert-52b", "--cluster", "v100-dgx1", "--gpus", "64",
              "--pp", "8", "--tp", "8", "--vp", "8", "--mbs", "1", "--gbs", "16", "--seq", "1024",
              "--zero", "3", "--recompute", "full")},
    {"chimera-bert48", "Chimera, BERT-48 on 32 nodes of Piz Daint",
     "Li and Hoefler, Chimera, SC'21, section 4.2",
     PP_NAMES("--schedule", "chimera", "--model", "bert-48", "--cluster", "p100-daint", "--gpus",
              "32", "--pp", "4", "--tp", "1", "--mbs", "8", "--gbs", "512", "--seq", "128",
              "--zero", "0", "--recompute", "none", "--grad-sync", "eager-opt")},
    {"chimera-sc21", "Chimera, 1.3 B GPT-2 on 2,048 nodes of Piz Daint",
     "Li and Hoefler, Chimera, SC'21, section 4.3 (weak scaling)",
     PP_NAMES("--schedule", "chimera", "--model", "gpt2-64", "--cluster", "p100-daint", "--gpus",
              "2048", "--pp", "32", "--tp", "1", "--mbs", "1", "--gbs", "2048", "--seq", "632",
              "--zero", "0", "--recompute", "none", "--head", "last", "--grad-sync", "eager-opt")},
    {"deepseek-v3", "DualPipe, DeepSeek-V3 in fp8 on 2,048 H800",
     "DeepSeek-AI, DeepSeek-V3 Technical Report, arXiv 2412.19437, sections 3.2 to 3.4: 20 of 132 "
     "multiprocessors communicate, activations are cached in fp8 and E5M6. Published: 180k "
     "GPU-hours per 1 T tokens, 19.9 s a step",
     PP_NAMES("--schedule", "dualpipe", "--model", "deepseek-v3", "--cluster", "h800", "--gpus",
              "2048", "--pp", "16", "--tp", "1", "--ep", "64", "--mbs", "1", "--gbs", "15360",
              "--seq", "4096", "--precision", "fp8", "--zero", "1", "--framework", "hai-llm",
              "--recompute", "selective=mla_up_proj+layernorm+act", "--mtp", "1", "--ep-dispatch",
              "once", "--ep-overlap", "100%", "--ep-share", "15.15%")},
    {"gpt3-175b-selective", "interleaved 1F1B, GPT-3 with selective recomputation on 64 A100",
     "Korthikanti et al. 2022, arXiv 2205.05198, tables 3 and 5. Published: 13.75 s a step, 51.4 % "
     "MFU",
     PP_NAMES("--schedule", "interleaved", "--model", "gpt3-175b", "--cluster", "a100", "--gpus",
              "64", "--pp", "8", "--tp", "8", "--vp", "3", "--mbs", "1", "--gbs", "64", "--seq",
              "2048", "--precision", "fp16", "--zero", "0", "--recompute", "selective",
              "--framework", "megatron-2023", "--attention", "unfused")},
    {"llama2-70b", "interleaved 1F1B, Llama 2 70B on 128 H800",
     "Yuan et al., USENIX ATC 2024, artifact, figure 9. Published: 17.15 s a step, 955 "
     "tokens/s/GPU",
     PP_NAMES("--schedule", "interleaved", "--model", "llama2-70b", "--cluster",
              "h800 gpu:8 nic:8x12.5GBps", "--gpus", "128", "--pp", "8", "--tp", "2", "--cp", "2",
              "--vp", "5", "--mbs", "1", "--gbs", "256", "--seq", "8192", "--zero", "1",
              "--recompute", "selective=layernorm+act", "--offload", "a=host:0.012", "--framework",
              "megatron", "--tp-overlap", "50%")},
    {"llama3-405b", "interleaved 1F1B, Llama 3 405B on 16,384 H100",
     "Llama team, The Llama 3 Herd of Models, arXiv 2407.21783, table 4 and section 3.3.2: no "
     "recomputation at 8,192 tokens. Published: 400 TFLOP/s/GPU, 41 % MFU",
     PP_NAMES("--schedule", "interleaved", "--model", "llama3-405b", "--cluster", "h100", "--gpus",
              "16384", "--pp", "16", "--tp", "8", "--vp", "8", "--mbs", "1", "--gbs", "2048",
              "--seq", "8192", "--zero", "2", "--recompute", "none", "--head", "counted")},
    {"llama3-405b-8k", "interleaved 1F1B, Llama 3 405B on 8,192 H100",
     "Llama team, The Llama 3 Herd of Models, arXiv 2407.21783, table 4. Chunks, micro-batches and "
     "their groups are not stated: a layer, a sample and 16 here, with more memory than the run "
     "had. Published: 430 TFLOP/s/GPU, 43 % MFU",
     PP_NAMES("--schedule", "interleaved", "--model", "llama3-405b", "--cluster", "h100", "--gpus",
              "8192", "--pp", "16", "--tp", "8", "--vp", "8", "--mbs", "1", "--gbs", "2048",
              "--seq", "8192", "--zero", "2", "--recompute", "none", "--head", "counted")},
    {"llama3-70b-fp8", "interleaved 1F1B, Llama 3 70B in fp8 on 64 H100",
     "NVIDIA NeMo 24.07, performance summary. Published: 1,533 tokens/s/GPU, 10.69 s a step",
     PP_NAMES("--schedule", "interleaved", "--model", "llama3-70b", "--cluster", "h100", "--gpus",
              "64", "--pp", "4", "--tp", "4", "--cp", "2", "--vp", "5", "--mbs", "1", "--gbs",
              "128", "--seq", "8192", "--precision", "fp8", "--recompute", "none", "--framework",
              "nemo", "--tp-overlap", "75%")},
    {"megatron-sc21-145b", "interleaved 1F1B, 145.6 B GPT on 1,536 A100",
     "Narayanan et al., SC'21, table 1 (arXiv 2104.04473)",
     PP_NAMES("--schedule", "interleaved", "--model", "gpt-145b", "--cluster", "a100", "--gpus",
              "1536", "--pp", "8", "--tp", "8", "--vp", "2", "--mbs", "2", "--gbs", "2304", "--seq",
              "2048", "--recompute", "full")},
    {"mixtral-8x7b", "interleaved 1F1B, Mixtral 8x7B with experts on 8 of 64 H100",
     "NVIDIA Megatron-Core v0.8, README of mixture of experts: dropless, all-to-all. Published: "
     "438 TFLOP/s/GPU, so 3.10 s a step",
     PP_NAMES("--schedule", "interleaved", "--model", "mixtral-8x7b", "--cluster", "h100", "--gpus",
              "64", "--pp", "4", "--tp", "1", "--ep", "8", "--vp", "8", "--mbs", "1", "--gbs",
              "256", "--seq", "4096", "--zero", "1", "--recompute", "none", "--framework",
              "megatron")},
    {NULL, NULL, NULL, NULL},
};
