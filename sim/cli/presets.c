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
    {"megatron-sc21-145b", "interleaved 1F1B, 145.6 B GPT on 1,536 A100",
     "Narayanan et al., SC'21, table 1 (arXiv 2104.04473)",
     PP_NAMES("--schedule", "interleaved", "--model", "gpt-145b", "--cluster", "a100", "--gpus",
              "1536", "--pp", "8", "--tp", "8", "--vp", "2", "--mbs", "2", "--gbs", "2304", "--seq",
              "2048", "--recompute", "full")},
    {NULL, NULL, NULL, NULL},
};
