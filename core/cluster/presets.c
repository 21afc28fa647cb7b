/* Devices and clusters that are built in. Links and other_bytes: docs/costs.md, "Constants". */
#include "core/cluster/devices.h"

/* clang-format off */
const struct pp_device pp_device_presets[] = {
    DEVICE_A100, DEVICE_A100_40, DEVICE_A6000, DEVICE_A800, DEVICE_B200, DEVICE_B300, DEVICE_GB200,
    DEVICE_GB300, DEVICE_GH200, DEVICE_GTX1080TI, DEVICE_H100, DEVICE_H200, DEVICE_H800, DEVICE_L40S, DEVICE_MI300X,
    DEVICE_MI325X, DEVICE_P100, DEVICE_RTX4090, DEVICE_RTX5090, DEVICE_V100, DEVICE_V100_16,
    DEVICE_V100_SXM3, {.name = 0},
};

#define INTER_ALPHA_S (8 * MICRO)

/* Latency of a step in a node; start and bandwidth of rings. NVLINK2_MESH and NVLINK3 are fitted on
 * the all-reduces of 1 MiB to 1 GiB among 2 to 8 devices that VIA-Research/vTrain publishes
 * (trace/v100, trace/a100; tests/data/all_reduce_node.csv). NVLINK4 is assumed: an all-reduce of 8
 * H100 takes some 50 us at 1 MiB and reaches 360 GB/s by rings. */
#define ALPHA_NVLINK2 (4.07 * MICRO)
#define ALPHA_NVLINK3 (2.03 * MICRO)
#define ALPHA_NVLINK4 (2 * MICRO)
#define ALPHA_PCIE    (8 * MICRO)
#define NVLINK2_MESH  {.start_s = 20.9 * MICRO, .frac = 0.968}
#define NVLINK2       {.start_s = 20.9 * MICRO, .frac = 0.9}
#define NVLINK3       {.start_s = 40.1 * MICRO, .frac = 0.768}
#define NVLINK3_CUT   {.start_s = 40.1 * MICRO, .frac = 0.87}
#define NVLINK4       {.start_s = 25 * MICRO, .frac = 0.87}
#define INFINIBAND    {.start_s = 20 * MICRO, .frac = 1}
/* A link of MI300X has 64 GB/s, of which 48 are usable (AMD, "Understanding RCCL Bandwidth and xGMI
 * Performance", 2025), 0.815 of the messages' 0.92. Its start is assumed, and so are
 * rings over PCIe. */
#define XGMI          {.start_s = 25 * MICRO, .frac = 0.815}
#define PCIE_RING     {.start_s = 25 * MICRO, .frac = 1}

/* Reached share of the data sheet's rate. Tensor parallelism over two nodes takes 92 % of 8 HDR
 * links (rows vtrain-multi-022 to -026); NVLink's messages are assumed to do the same. */
#define ETA_LINK 0.92

/* GB/s of PCIe x16 each way that messages reach, before ETA_LINK: see the memory of a node. */
#define PCIE3 (12.5 / ETA_LINK)
#define PCIE4 (25 / ETA_LINK)
#define PCIE5 (50 / ETA_LINK)

/* Memory of a node, from data sheets of the systems: NVIDIA DGX; GB with 36 Grace and LPDDR5X; Piz
 * Daint's Xeon E5-2690 v3 with DDR4-2133. A socket has eight or twelve channels. PCIe x16 reaches
 * 12.5, 25 and 50 GB/s each way in generations 3, 4 and 5; NVLink-C2C reaches 450. A drive is
 * assumed to reach 3.2 GB/s each way, one on SATA 0.5. Memory limits Adam on the host: it needs 72 B
 * of data-sheet bandwidth a parameter. DeepSpeed's CPU-Adam on a DGX-2 needs 64 B (4.0e9/s, Ren et
 * al. 2021, table 4). Elixir's on two EPYC 7742 needs 80 B (5.15e9/s, its search code).
 *
 * Devices share PCIe switches. A DGX-2 moves 64 GB/s between its 16 devices and its host (Rajbhandari
 * et al. 2021, ZeRO-Infinity, slides of SC21, p. 7). Elixir measured 139 GB/s up and 129 GB/s down
 * for 8 A100 together, 25 and 18 for one (its search code). Others are taken to share nothing. */
#define HOST(size, rate, link)                                                                     \
    .update_params_per_s = (rate) / 72,                                                            \
    .tiers[PP_TIER_HOST] = {.bytes = (size), .bytes_per_s = (rate), .link_bytes_per_s = (link)}
#define DRIVES(count, rate)                                                                        \
    .tiers[PP_TIER_NVME] = {.bytes = (count) * 3.84e12, .bytes_per_s = (count) * (rate)}
#define UPLINK(rate)  .tiers[PP_TIER_HOST].uplink_bytes_per_s = (rate) * GIGA
#define TIERS_DGX1    HOST(512 * GIB, 153.6 * GIGA, 12.5 * GIGA), DRIVES(2, 1 * GIGA)
#define TIERS_DGX2    HOST(1536 * GIB, 256 * GIGA, 12.5 * GIGA), DRIVES(8, 3.2 * GIGA)
#define TIERS_A100_40 HOST(1024 * GIB, 409.6 * GIGA, 25 * GIGA), DRIVES(4, 3.2 * GIGA)
#define TIERS_A100    HOST(2048 * GIB, 409.6 * GIGA, 25 * GIGA), DRIVES(8, 3.2 * GIGA)
#define TIERS_H100    HOST(2048 * GIB, 614.4 * GIGA, 50 * GIGA), DRIVES(8, 3.2 * GIGA)
#define TIERS_B200    HOST(2048 * GIB, 716.8 * GIGA, 50 * GIGA), DRIVES(8, 3.2 * GIGA)
#define TIERS_GRACE   HOST(17e12, 18.4e12, 450 * GIGA), DRIVES(18 * 8, 3.2 * GIGA)
#define TIERS_GH200   HOST(480 * GIGA, 2048 * GIGA, 450 * GIGA)
#define TIERS_MI300X  HOST(2048 * GIB, 614.4 * GIGA, 50 * GIGA), DRIVES(8, 3.2 * GIGA)
#define TIERS_L40S    HOST(1536 * GIB, 409.6 * GIGA, 25 * GIGA), DRIVES(2, 3.2 * GIGA)
#define TIERS_RTX4090 HOST(512 * GIB, 204.8 * GIGA, 25 * GIGA), DRIVES(1, 3.2 * GIGA)
#define TIERS_RTX5090 HOST(512 * GIB, 460.8 * GIGA, 50 * GIGA), DRIVES(1, 3.2 * GIGA)
#define TIERS_GTX1080TI HOST(256 * GIB, 153.6 * GIGA, 12.5 * GIGA), DRIVES(1, 3.2 * GIGA)
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
     FAT_TREE(8, 20), TIERS_A100, UPLINK(130), .other_bytes = 3 * GIB,
     .source = "NVIDIA DGX A100 data sheet: NVLink 3, 600 GB/s both ways; 8x ConnectX-6 200 Gb/s; "
               "DGX SuperPOD reference architecture: a leaf switch a rail for 20 nodes"},
    {.name = "a100-40", .title = "DGX A100 40GB: 8x200 Gb/s HDR InfiniBand, fat tree",
     .device = DEVICE_A100_40, .gpus_per_node = 8, LINKS(ALPHA_NVLINK3, NVLINK3, 300, 25),
     FAT_TREE(8, 20), TIERS_A100_40, UPLINK(130), .other_bytes = 3 * GIB,
     .source = "NVIDIA DGX A100 data sheet: NVLink 3, 600 GB/s both ways; 8x ConnectX-6 200 Gb/s; "
               "DGX SuperPOD reference architecture: a leaf switch a rail for 20 nodes"},
    {.name = "a6000", .title = "8 RTX A6000 on PCIe 4, one 100 Gb/s card",
     .device = DEVICE_A6000, .gpus_per_node = 8, LINKS(ALPHA_PCIE, PCIE_RING, PCIE4, 1.5625),
     .fabric = {.kind = PP_FABRIC_FAT_TREE, .nics = 1, .is_pcie = true},
     TIERS_RTX4090, .other_bytes = 1.5 * GIB,
     .source = "PCIe 4.0 x16 without NVLink bridges; host and network assumed: 8 channels of "
               "DDR4-3200, 100 Gb/s"},
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
    {.name = "gh200", .title = "4 GH200 a node, wired to each other; 4x200 Gb/s Slingshot",
     .device = DEVICE_GH200, .gpus_per_node = 4, LINKS(ALPHA_NVLINK4, NVLINK4, 450, 25),
     .mesh_links = 3, FAT_TREE(4, 0), TIERS_GH200, .other_bytes = 4 * GIB,
     .source = "Fusco et al. 2024 (arXiv 2408.11556), node of Alps: 150 GB/s each way between any "
               "two, 200 Gb/s each, 120 GB of LPDDR5X; its dragonfly is taken for one that never "
               "blocks"},
    {.name = "gtx1080ti", .title = "4 GTX 1080 Ti on PCIe 3, one 10 Gb/s card",
     .device = DEVICE_GTX1080TI, .gpus_per_node = 4, LINKS(ALPHA_PCIE, PCIE_RING, PCIE3, 0.3125),
     .fabric = {.kind = PP_FABRIC_FAT_TREE, .nics = 1, .is_pcie = true},
     TIERS_GTX1080TI, .other_bytes = 1 * GIB,
     .source = "Li et al. 2022 (Harmony), 4_runtime/.numa_bind_configs: 4 GTX 1080 Ti, two sockets; "
               "host and network assumed: 8 channels of DDR4-2400, 10 Gb/s"},
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
    {.name = "l40s", .title = "8 L40S on PCIe 4, 4x100 Gb/s Ethernet",
     .device = DEVICE_L40S, .gpus_per_node = 8, LINKS(ALPHA_PCIE, PCIE_RING, PCIE4, 6.25),
     .fabric = {.kind = PP_FABRIC_FAT_TREE, .nics = 4, .is_pcie = true},
     TIERS_L40S, .other_bytes = 3 * GIB,
     .source = "AWS EC2 g6e.48xlarge: 8 L40S, 1,536 GiB, 400 Gb/s; no NVLink"},
    {.name = "mi300x", .title = "8 MI300X, Infinity Fabric mesh; 8x400 Gb/s InfiniBand, fat tree",
     .device = DEVICE_MI300X, .gpus_per_node = 8, LINKS(ALPHA_NVLINK4, XGMI, 448, 50),
     .mesh_links = 7, FAT_TREE(8, 32), TIERS_MI300X, .other_bytes = 4 * GIB,
     .source = "AMD Instinct MI300X platform data sheet: 7 links of 128 GB/s both ways, one to each "
               "other device; 8x 400 Gb/s a node as in Azure ND MI300X v5"},
    {.name = "mi325x", .title = "8 MI325X, Infinity Fabric mesh; 8x400 Gb/s InfiniBand, fat tree",
     .device = DEVICE_MI325X, .gpus_per_node = 8, LINKS(ALPHA_NVLINK4, XGMI, 448, 50),
     .mesh_links = 7, FAT_TREE(8, 32), TIERS_MI300X, .other_bytes = 4 * GIB,
     .source = "AMD Instinct MI325X platform data sheet: 7 links of 128 GB/s both ways, one to each "
               "other device; network as mi300x"},
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
    {.name = "rtx4090", .title = "8 RTX 4090 on PCIe 4, one 100 Gb/s card",
     .device = DEVICE_RTX4090, .gpus_per_node = 8, LINKS(ALPHA_PCIE, PCIE_RING, PCIE4, 1.5625),
     .fabric = {.kind = PP_FABRIC_FAT_TREE, .nics = 1, .is_pcie = true},
     TIERS_RTX4090, .other_bytes = 1.5 * GIB,
     .source = "PCIe 4.0 x16, no NVLink, no peer access; host and network assumed: 8 channels of "
               "DDR4-3200, 100 Gb/s"},
    {.name = "rtx5090", .title = "8 RTX 5090 on PCIe 5, one 100 Gb/s card",
     .device = DEVICE_RTX5090, .gpus_per_node = 8, LINKS(ALPHA_PCIE, PCIE_RING, PCIE5, 1.5625),
     .fabric = {.kind = PP_FABRIC_FAT_TREE, .nics = 1, .is_pcie = true},
     TIERS_RTX5090, .other_bytes = 1.5 * GIB,
     .source = "PCIe 5.0 x16, no NVLink, no peer access; host and network assumed: 12 channels of "
               "DDR5-4800, 100 Gb/s"},
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
     FAT_TREE(8, 0), TIERS_DGX2, UPLINK(64), .other_bytes = 1.5 * GIB,
     .source = "NVIDIA DGX-2 data sheet: NVSwitch, 300 GB/s both ways; 8x 100 Gb/s EDR"},
    {.name = 0},
};
/* clang-format on */
