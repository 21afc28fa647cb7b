/* Devices and clusters that are built in. */
#include "core/cluster/cluster.h"

/* Device numbers are dense peaks of the data sheets; memory is what the driver reports as total.
 * gemm_eta, memory_eta, attention_eta and launch_s are fitted on published runs, alike for a
 * generation; links and other_bytes: docs/costs.md, "Constants". */

#define MIB   (1024.0 * 1024.0)
#define GIB   (1024.0 * MIB)
#define TERA  1e12
#define GIGA  1e9
#define MICRO 1e-6

/* clang-format off */
/* Values that the devices of a generation share. */
#define HALF(peak) .peak_flops_per_s = (peak), .half_flops_per_s = (peak)
#define FITTED(launch, gemm, memory, attention)                                                    \
    .launch_s = (launch) * MICRO, .gemm_eta = (gemm), .memory_eta = (memory),                      \
    .attention_eta = (attention)
#define VOLTA                                                                                      \
    .generation = "volta", .precision = PP_PRECISION_FP16, HALF(125 * TERA),                       \
    .fp32_flops_per_s = 15.7 * TERA, .multiprocessors = 80, FITTED(3.2, 0.8, 0.84, 0.465),         \
    .is_attention_unfused = true, .memory_bytes_per_s = 900 * GIGA
#define AMPERE                                                                                     \
    .generation = "ampere", .precision = PP_PRECISION_BF16, HALF(312 * TERA),                      \
    .fp32_flops_per_s = 19.5 * TERA, .has_bf16 = true, .multiprocessors = 108,                     \
    FITTED(3.2, 0.785, 0.84, 0.628)
#define HOPPER                                                                                     \
    .generation = "hopper", .precision = PP_PRECISION_BF16, HALF(989 * TERA),                      \
    .fp32_flops_per_s = 67 * TERA, .fp8_flops_per_s = 1979 * TERA, .has_bf16 = true,               \
    .multiprocessors = 132, FITTED(3.2, 0.649, 0.783, 0.353)
/* A B of 75 or a GB of 80 TFLOP/s in fp32. */
#define BLACKWELL_B                                                                                \
    .precision = PP_PRECISION_BF16, HALF(2250 * TERA), .fp32_flops_per_s = 75 * TERA,              \
    .fp8_flops_per_s = 4500 * TERA, .has_bf16 = true, .multiprocessors = 148,                      \
    .memory_bytes_per_s = 8000 * GIGA
#define BLACKWELL_GB                                                                               \
    .precision = PP_PRECISION_BF16, HALF(2500 * TERA), .fp32_flops_per_s = 80 * TERA,              \
    .fp8_flops_per_s = 5000 * TERA, .has_bf16 = true, .multiprocessors = 152,                      \
    .memory_bytes_per_s = 8000 * GIGA
#define BLACKWELL       .generation = "blackwell", FITTED(3.5, 0.58, 0.803, 0.40)
#define BLACKWELL_ULTRA .generation = "blackwell-ultra", FITTED(3.5, 0.69, 0.803, 0.55)

#define DEVICE_P100 {                                                                              \
    .name = "p100", .title = "P100-PCIe 16GB", .generation = "pascal",                             \
    .precision = PP_PRECISION_FP32, .peak_flops_per_s = 9.3 * TERA,                                \
    .fp32_flops_per_s = 9.3 * TERA, .half_flops_per_s = 18.7 * TERA, .multiprocessors = 56,        \
    .memory_bytes = 16280 * MIB, .memory_bytes_per_s = 732 * GIGA,                                 \
    FITTED(8, 0.99, 0.51, 0.3), .is_attention_unfused = true,                                      \
    .source = "NVIDIA Tesla P100 PCIe data sheet: 9.3 TFLOP/s fp32, 732 GB/s"                      \
}
#define DEVICE_V100_16 {                                                                           \
    .name = "v100-16", .title = "V100-SXM2 16GB", VOLTA, .memory_bytes = 16160 * MIB,              \
    .source = "NVIDIA V100 data sheet: 125 TFLOP/s fp16 tensor cores, 900 GB/s"                    \
}
#define DEVICE_V100 {                                                                              \
    .name = "v100", .title = "V100-SXM2 32GB", VOLTA, .memory_bytes = 32510 * MIB,                 \
    .source = "NVIDIA V100 data sheet: 125 TFLOP/s fp16 tensor cores, 900 GB/s"                    \
}
#define DEVICE_V100_SXM3 {                                                                         \
    .name = "v100-sxm3", .title = "V100-SXM3 32GB", VOLTA, .memory_bytes = 32510 * MIB,            \
    .source = "NVIDIA DGX-2 data sheet: 2 PFLOP/s fp16 for 16 V100, 900 GB/s"                      \
}
#define DEVICE_A100_40 {                                                                           \
    .name = "a100-40", .title = "A100-SXM4 40GB", AMPERE,                                          \
    .memory_bytes = 40536 * MIB, .memory_bytes_per_s = 1555 * GIGA,                                \
    .source = "NVIDIA A100 data sheet: 312 TFLOP/s bf16 dense, 1,555 GB/s (40GB)"                  \
}
#define DEVICE_A100 {                                                                              \
    .name = "a100", .title = "A100-SXM4 80GB", AMPERE,                                             \
    .memory_bytes = 81251 * MIB, .memory_bytes_per_s = 2039 * GIGA,                                \
    .source = "NVIDIA A100 data sheet: 312 TFLOP/s bf16 dense, 2,039 GB/s (80GB)"                  \
}
#define DEVICE_A800 {                                                                              \
    .name = "a800", .title = "A800-SXM4 80GB", AMPERE,                                             \
    .memory_bytes = 81251 * MIB, .memory_bytes_per_s = 2039 * GIGA,                                \
    .source = "as A100-SXM4 80GB"                                                                  \
}
#define DEVICE_H100 {                                                                              \
    .name = "h100", .title = "H100-SXM 80GB", HOPPER,                                              \
    .memory_bytes = 81559 * MIB, .memory_bytes_per_s = 3350 * GIGA,                                \
    .source = "NVIDIA H100 data sheet: 989 TFLOP/s bf16 dense (1,979 is sparse), 3.35 TB/s"        \
}
#define DEVICE_H800 {                                                                              \
    .name = "h800", .title = "H800-SXM 80GB", HOPPER,                                              \
    .memory_bytes = 81559 * MIB, .memory_bytes_per_s = 3350 * GIGA,                                \
    .source = "as H100-SXM 80GB"                                                                   \
}
#define DEVICE_H200 {                                                                              \
    .name = "h200", .title = "H200-SXM 141GB", HOPPER,                                             \
    .memory_bytes = 143771 * MIB, .memory_bytes_per_s = 4800 * GIGA,                               \
    .source = "NVIDIA H200 data sheet: 989 TFLOP/s bf16 dense, 4.8 TB/s"                           \
}
#define DEVICE_B200 {                                                                              \
    .name = "b200", .title = "B200-SXM 180GB", BLACKWELL, BLACKWELL_B,                             \
    .fp4_flops_per_s = 9000 * TERA, .memory_bytes = 183359 * MIB,                                  \
    .source = "NVIDIA DGX B200 data sheet: 2.25 PFLOP/s bf16 dense, 8 TB/s per GPU; "              \
              "fp4: twice fp8"                                                                     \
}
#define DEVICE_B300 {                                                                              \
    .name = "b300", .title = "B300-SXM 288GB", BLACKWELL_ULTRA, BLACKWELL_B,                       \
    .fp4_flops_per_s = 13500 * TERA, .memory_bytes = 275040 * MIB,                                 \
    .source = "NVIDIA DGX B300 data sheet: 2.25 PFLOP/s bf16 dense, 8 TB/s per GPU"                \
}
#define DEVICE_GB200 {                                                                             \
    .name = "gb200", .title = "GB200 186GB", BLACKWELL, BLACKWELL_GB,                              \
    .fp4_flops_per_s = 10000 * TERA, .memory_bytes = 189471 * MIB,                                 \
    .source = "NVIDIA GB200 NVL72 data sheet: 180 PFLOP/s bf16 dense, 576 TB/s of 72"              \
}
#define DEVICE_GB300 {                                                                             \
    .name = "gb300", .title = "GB300 288GB", BLACKWELL_ULTRA, BLACKWELL_GB,                        \
    .fp4_flops_per_s = 15000 * TERA, .memory_bytes = 284208 * MIB,                                 \
    .source = "NVIDIA GB300 NVL72 data sheet: 180 PFLOP/s bf16 dense, 8 TB/s per GPU"              \
}

const struct pp_device pp_device_presets[] = {
    DEVICE_A100, DEVICE_A100_40, DEVICE_A800, DEVICE_B200, DEVICE_B300, DEVICE_GB200,
    DEVICE_GB300, DEVICE_H100, DEVICE_H200, DEVICE_H800, DEVICE_P100, DEVICE_V100,
    DEVICE_V100_16, DEVICE_V100_SXM3, {.name = 0},
};

#define INTER_ALPHA_S (8 * MICRO)

/* Latency of a step in a node; start and bandwidth of rings. NVLINK2_MESH and NVLINK3 are fitted on
 * the all-reduces of 1 MiB to 1 GiB among 2 to 8 devices that VIA-Research/vTrain publishes
 * (trace/v100, trace/a100; tests/data/all_reduce_node.csv). NVLINK4 is assumed: an all-reduce of 8
 * H100 takes some 50 us at 1 MiB and reaches 360 GB/s by rings. */
#define ALPHA_NVLINK2 (4.07 * MICRO)
#define ALPHA_NVLINK3 (2.03 * MICRO)
#define ALPHA_NVLINK4 (2 * MICRO)
#define NVLINK2_MESH  {.start_s = 20.9 * MICRO, .frac = 0.968}
#define NVLINK2       {.start_s = 20.9 * MICRO, .frac = 0.9}
#define NVLINK3       {.start_s = 40.1 * MICRO, .frac = 0.768}
#define NVLINK3_CUT   {.start_s = 40.1 * MICRO, .frac = 0.87}
#define NVLINK4       {.start_s = 25 * MICRO, .frac = 0.87}
#define INFINIBAND    {.start_s = 20 * MICRO, .frac = 1}

/* Reached share of the data sheet's rate. Tensor parallelism over two nodes takes 92 % of 8 HDR
 * links (rows vtrain-multi-022 to -026); NVLink's messages are assumed to do the same. */
#define ETA_LINK 0.92

/* Memory of a node, from data sheets of the systems: NVIDIA DGX; GB with 36 Grace and LPDDR5X; Piz
 * Daint's Xeon E5-2690 v3 with DDR4-2133. A socket has eight or twelve channels. PCIe x16 reaches
 * 12.5, 25 and 50 GB/s each way in generations 3, 4 and 5; NVLink-C2C reaches 450. A drive is
 * assumed to reach 3.2 GB/s each way, one on SATA 0.5. Memory limits Adam on the host: it needs 72 B
 * of data-sheet bandwidth a parameter. DeepSpeed's CPU-Adam on a DGX-2 needs 64 B (4.0e9/s, Ren et
 * al. 2021, table 4). Elixir's on two EPYC 7742 needs 80 B (5.15e9/s, its search code). */
#define HOST(size, rate, link)                                                                     \
    .update_params_per_s = (rate) / 72,                                                            \
    .tiers[PP_TIER_HOST] = {.bytes = (size), .bytes_per_s = (rate), .link_bytes_per_s = (link)}
#define DRIVES(count, rate)                                                                        \
    .tiers[PP_TIER_NVME] = {.bytes = (count) * 3.84e12, .bytes_per_s = (count) * (rate)}
#define TIERS_DGX1    HOST(512 * GIB, 153.6 * GIGA, 12.5 * GIGA), DRIVES(2, 1 * GIGA)
#define TIERS_DGX2    HOST(1536 * GIB, 256 * GIGA, 12.5 * GIGA), DRIVES(8, 3.2 * GIGA)
#define TIERS_A100_40 HOST(1024 * GIB, 409.6 * GIGA, 25 * GIGA), DRIVES(4, 3.2 * GIGA)
#define TIERS_A100    HOST(2048 * GIB, 409.6 * GIGA, 25 * GIGA), DRIVES(8, 3.2 * GIGA)
#define TIERS_H100    HOST(2048 * GIB, 614.4 * GIGA, 50 * GIGA), DRIVES(8, 3.2 * GIGA)
#define TIERS_B200    HOST(2048 * GIB, 716.8 * GIGA, 50 * GIGA), DRIVES(8, 3.2 * GIGA)
#define TIERS_GRACE   HOST(17e12, 18.4e12, 450 * GIGA), DRIVES(18 * 8, 3.2 * GIGA)
#define TIERS_DAINT   HOST(64 * GIB, 68.3 * GIGA, 12.5 * GIGA)

/* A generation of links: in a node at `rate`, between nodes at `out`, both in GB/s. */
#define LINKS(alpha, ring, rate, out)                                                              \
    .intra = {alpha, (rate) * GIGA}, .inter = {INTER_ALPHA_S, (out) * GIGA}, .intra_ring = ring,   \
    .inter_ring = INFINIBAND, .eta_link = ETA_LINK
#define FAT_TREE(cards, nodes)                                                                     \
    .fabric = {.kind = PP_FABRIC_FAT_TREE, .nics = (cards), .leaf_nodes = (nodes)}

const struct pp_cluster pp_cluster_presets[] = {
    {.name = "a100", .title = "DGX A100: 8x200 Gb/s HDR InfiniBand, fat tree",
     .device = DEVICE_A100, .gpus_per_node = 8, LINKS(ALPHA_NVLINK3, NVLINK3, 300, 25),
     FAT_TREE(8, 20), TIERS_A100, .other_bytes = 3 * GIB,
     .source = "NVIDIA DGX A100 data sheet: NVLink 3, 600 GB/s both ways; 8x ConnectX-6 200 Gb/s; "
               "DGX SuperPOD reference architecture: a leaf switch a rail for 20 nodes"},
    {.name = "a100-40", .title = "DGX A100 40GB: 8x200 Gb/s HDR InfiniBand, fat tree",
     .device = DEVICE_A100_40, .gpus_per_node = 8, LINKS(ALPHA_NVLINK3, NVLINK3, 300, 25),
     FAT_TREE(8, 20), TIERS_A100_40, .other_bytes = 3 * GIB,
     .source = "NVIDIA DGX A100 data sheet: NVLink 3, 600 GB/s both ways; 8x ConnectX-6 200 Gb/s; "
               "DGX SuperPOD reference architecture: a leaf switch a rail for 20 nodes"},
    {.name = "a800", .title = "8 A800: 4x200 Gb/s HDR InfiniBand, fat tree",
     .device = DEVICE_A800, .gpus_per_node = 8, LINKS(ALPHA_NVLINK3, NVLINK3_CUT, 200, 12.5),
     FAT_TREE(4, 20), TIERS_A100, .other_bytes = 3 * GIB,
     .source = "NVLink at 400 GB/s both ways; 4x 200 Gb/s HDR a node as in Chen et al. 2024 "
               "(AMSP), section 6"},
    {.name = "b200", .title = "DGX B200: 8x400 Gb/s rails, fat tree",
     .device = DEVICE_B200, .gpus_per_node = 8, LINKS(ALPHA_NVLINK4, NVLINK4, 900, 50),
     FAT_TREE(8, 32), TIERS_B200, .other_bytes = 4 * GIB,
     .source = "NVIDIA DGX B200 data sheet: NVLink 5, 1.8 TB/s both ways; 8x ConnectX-7 400 Gb/s; "
               "DGX SuperPOD reference architecture: a leaf switch a rail for 32 nodes"},
    {.name = "b300", .title = "DGX B300: 8x800 Gb/s rails, fat tree",
     .device = DEVICE_B300, .gpus_per_node = 8, LINKS(ALPHA_NVLINK4, NVLINK4, 900, 100),
     FAT_TREE(8, 64), TIERS_B200, .other_bytes = 4 * GIB,
     .source = "NVIDIA DGX B300 data sheet: NVLink 5, 1.8 TB/s both ways; 8x ConnectX-8 800 Gb/s; "
               "DGX SuperPOD reference architecture: a leaf switch a rail for 64 nodes"},
    {.name = "gb200", .title = "GB200 NVL72: 72 GPUs in one NVLink domain, 400 Gb/s each",
     .device = DEVICE_GB200, .gpus_per_node = 72, LINKS(ALPHA_NVLINK4, NVLINK4, 900, 50),
     FAT_TREE(72, 0), TIERS_GRACE, .other_bytes = 4 * GIB,
     .source = "NVIDIA GB200 NVL72 data sheet: NVLink 5, 1.8 TB/s both ways; ConnectX-7 400 Gb/s"},
    {.name = "gb300", .title = "GB300 NVL72: 72 GPUs in one NVLink domain, 800 Gb/s each",
     .device = DEVICE_GB300, .gpus_per_node = 72, LINKS(ALPHA_NVLINK4, NVLINK4, 900, 100),
     FAT_TREE(72, 0), TIERS_GRACE, .other_bytes = 4 * GIB,
     .source = "NVIDIA GB300 NVL72 data sheet: NVLink 5, 1.8 TB/s both ways; ConnectX-8 800 Gb/s"},
    {.name = "h100", .title = "DGX H100: 8x400 Gb/s rails, fat tree",
     .device = DEVICE_H100, .gpus_per_node = 8, LINKS(ALPHA_NVLINK4, NVLINK4, 450, 50),
     FAT_TREE(8, 32), TIERS_H100, .other_bytes = 4 * GIB,
     .source = "NVIDIA DGX H100 data sheet: NVLink 4, 900 GB/s both ways; 8x ConnectX-7 400 Gb/s; "
               "DGX SuperPOD reference architecture: a leaf switch a rail for 32 nodes"},
    {.name = "h200", .title = "DGX H200: 8x400 Gb/s rails, fat tree",
     .device = DEVICE_H200, .gpus_per_node = 8, LINKS(ALPHA_NVLINK4, NVLINK4, 450, 50),
     FAT_TREE(8, 32), TIERS_H100, .other_bytes = 4 * GIB,
     .source = "NVIDIA DGX H200 data sheet: NVLink 4, 900 GB/s both ways; 8x ConnectX-7 400 Gb/s; "
               "DGX SuperPOD reference architecture: a leaf switch a rail for 32 nodes"},
    {.name = "h800", .title = "8 H800: 8x400 Gb/s rails, fat tree",
     .device = DEVICE_H800, .gpus_per_node = 8, LINKS(ALPHA_NVLINK4, NVLINK4, 200, 50),
     FAT_TREE(8, 32), TIERS_H100, .other_bytes = 4 * GIB,
     .source = "as h100 with NVLink at 400 GB/s both ways"},
    {.name = "p100-daint", .title = "Piz Daint XC50: one P100 per node, Aries dragonfly",
     .device = DEVICE_P100, .gpus_per_node = 1,
     .intra = {10 * MICRO, 12 * GIGA}, .inter = {10 * MICRO, 10.2 * GIGA},
     .fabric = {.kind = PP_FABRIC_DRAGONFLY, .nics = 1, .chassis = 6, .routers = 16,
                .router_nodes = 4, .chassis_bytes_per_s = 10.5 * GIGA,
                .group_bytes_per_s = 15.75 * GIGA, .global_bytes_per_s = 338.4 * GIGA},
     TIERS_DAINT, .eta_link = 0.8, .other_bytes = 1 * GIB,
     .source = "CSCS Piz Daint XC50; Alverson et al. 2012 (Cray XC network): 10.2 GB/s injection; "
               "in a chassis 5.25 GB/s links, of which a flow uses two, one by a detour; 3 x 5.25 "
               "GB/s between chassis; 4.7 GB/s optical ports, 960 a group, here 72 to each of 13 "
               "other groups"},
    {.name = "v100-16", .title = "DGX-1 V100 16GB: 4x100 Gb/s EDR InfiniBand, fat tree",
     .device = DEVICE_V100_16, .gpus_per_node = 8, LINKS(ALPHA_NVLINK2, NVLINK2_MESH, 150, 6.25),
     .is_cube_mesh = true, FAT_TREE(4, 0), TIERS_DGX1, .other_bytes = 1.5 * GIB,
     .source = "NVIDIA DGX-1 V100 data sheet: NVLink 2, 300 GB/s both ways; 4x 100 Gb/s EDR"},
    {.name = "v100-dgx1", .title = "DGX-1 V100: 4x100 Gb/s EDR InfiniBand, fat tree",
     .device = DEVICE_V100, .gpus_per_node = 8, LINKS(ALPHA_NVLINK2, NVLINK2_MESH, 150, 6.25),
     .is_cube_mesh = true, FAT_TREE(4, 0), TIERS_DGX1, .other_bytes = 1.5 * GIB,
     .source = "NVIDIA DGX-1 V100 data sheet: NVLink 2, 300 GB/s both ways; 4x 100 Gb/s EDR"},
    {.name = "v100-dgx2", .title = "DGX-2: 16 V100 on NVSwitch, 8x100 Gb/s EDR InfiniBand",
     .device = DEVICE_V100_SXM3, .gpus_per_node = 16, LINKS(ALPHA_NVLINK2, NVLINK2, 150, 6.25),
     FAT_TREE(8, 0), TIERS_DGX2, .other_bytes = 1.5 * GIB,
     .source = "NVIDIA DGX-2 data sheet: NVSwitch, 300 GB/s both ways; 8x 100 Gb/s EDR"},
    {.name = 0},
};
/* clang-format on */
