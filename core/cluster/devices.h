/* core/cluster/devices.h — devices that are built in, as initializers. Private to core/cluster. */
#pragma once

#include "core/cluster/cluster.h"

/* Device numbers are dense peaks of the data sheets; memory is what the driver reports as total.
 * gemm_eta, memory_eta, attention_eta and launch_s are fitted on published runs, alike for a
 * generation. With `constants_of` they are those of the nearest device that was measured. */

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
    FITTED_AMPERE
#define FITTED_PASCAL FITTED(8, 0.99, 0.51, 0.3)
#define FITTED_AMPERE FITTED(3.2, 0.785, 0.84, 0.628)
#define FITTED_HOPPER FITTED(3.2, 0.649, 0.783, 0.353)
/* Kernels for Hopper's asynchronous units have 1.5 to 2 times the speed of FlashAttention 2
 * forward, 1.5 to 1.75 times backward (Shah et al. 2024, FlashAttention-3, section 1). */
#define HOPPER                                                                                     \
    .cudnn_speed = 1.6, .generation = "hopper", .precision = PP_PRECISION_BF16,                    \
    HALF(989 * TERA),                                                                              \
    .fp32_flops_per_s = 67 * TERA, .fp8_flops_per_s = 1979 * TERA, .has_bf16 = true,               \
    .multiprocessors = 132, FITTED_HOPPER
/* MI300X and MI325X have the same compute dies. The fp32 peak is that of vectors. */
#define CDNA3                                                                                      \
    .generation = "cdna3", .constants_of = "h100", .precision = PP_PRECISION_BF16,                 \
    HALF(1307.4 * TERA), .fp32_flops_per_s = 163.4 * TERA, .fp8_flops_per_s = 2614.9 * TERA,       \
    .has_bf16 = true, .multiprocessors = 304, FITTED_HOPPER
/* Peaks of graphics cards for sums in fp32, as training has them: on GeForce half of those in fp16. */
#define ADA                                                                                        \
    .generation = "ada", .constants_of = "a100", .precision = PP_PRECISION_BF16, .has_bf16 = true, \
    FITTED_AMPERE
#define BLACKWELL_RTX                                                                              \
    .generation = "blackwell-rtx", .constants_of = "a100", .precision = PP_PRECISION_BF16,         \
    .has_bf16 = true, FITTED_AMPERE
/* A B of 75 or a GB of 80 TFLOP/s in fp32. */
#define BLACKWELL_B                                                                                \
    .precision = PP_PRECISION_BF16, HALF(2250 * TERA), .fp32_flops_per_s = 75 * TERA,              \
    .fp8_flops_per_s = 4500 * TERA, .has_bf16 = true, .multiprocessors = 148,                      \
    .memory_bytes_per_s = 8000 * GIGA
#define BLACKWELL_GB                                                                               \
    .precision = PP_PRECISION_BF16, HALF(2500 * TERA), .fp32_flops_per_s = 80 * TERA,              \
    .fp8_flops_per_s = 5000 * TERA, .has_bf16 = true, .multiprocessors = 152,                      \
    .memory_bytes_per_s = 8000 * GIGA
#define BLACKWELL       .cudnn_speed = 1, .generation = "blackwell", FITTED(3.5, 0.58, 0.803, 0.425)
#define BLACKWELL_ULTRA .cudnn_speed = 1, .generation = "blackwell-ultra", FITTED(3.5, 0.69, 0.803, 0.60)

/* fp16 runs at 1/64 of fp32 and is left out. */
#define DEVICE_GTX1080TI {                                                                         \
    .name = "gtx1080ti", .title = "GTX 1080 Ti 11GB", .generation = "pascal-gtx",                  \
    .constants_of = "p100", .precision = PP_PRECISION_FP32, .peak_flops_per_s = 11.3 * TERA,       \
    .fp32_flops_per_s = 11.3 * TERA, .multiprocessors = 28,                                        \
    .memory_bytes = 11178 * MIB, .memory_bytes_per_s = 484 * GIGA,                                 \
    FITTED_PASCAL, .is_attention_unfused = true,                                                   \
    .source = "NVIDIA GeForce GTX 1080 Ti data sheet: 11.3 TFLOP/s fp32, 484 GB/s"                 \
}
#define DEVICE_P100 {                                                                              \
    .name = "p100", .title = "P100-PCIe 16GB", .generation = "pascal",                             \
    .precision = PP_PRECISION_FP32, .peak_flops_per_s = 9.3 * TERA,                                \
    .fp32_flops_per_s = 9.3 * TERA, .half_flops_per_s = 18.7 * TERA, .multiprocessors = 56,        \
    .memory_bytes = 16280 * MIB, .memory_bytes_per_s = 732 * GIGA,                                 \
    FITTED_PASCAL, .is_attention_unfused = true,                                                   \
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
#define DEVICE_A6000 {                                                                             \
    .name = "a6000", .title = "RTX A6000 48GB", .generation = "ampere-rtx",                        \
    .constants_of = "a100", .precision = PP_PRECISION_BF16, HALF(154.8 * TERA),                    \
    .fp32_flops_per_s = 38.7 * TERA, .has_bf16 = true, .multiprocessors = 84, FITTED_AMPERE,       \
    .memory_bytes = 49140 * MIB, .memory_bytes_per_s = 768 * GIGA,                                 \
    .source = "NVIDIA RTX A6000 data sheet: 154.8 TFLOP/s bf16 dense (309.7 is sparse), 768 GB/s"  \
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
#define DEVICE_GH200 {                                                                             \
    .name = "gh200", .title = "GH200 96GB", HOPPER, .constants_of = "h100",                        \
    .memory_bytes = 97871 * MIB, .memory_bytes_per_s = 4000 * GIGA,                                \
    .source = "NVIDIA GH200 data sheet: 990 TFLOP/s bf16 dense (1,979 is sparse), 96 GB at 4 TB/s" \
}
#define DEVICE_L40S {                                                                              \
    .name = "l40s", .title = "L40S 48GB", ADA, HALF(362.05 * TERA),                                \
    .fp32_flops_per_s = 91.6 * TERA, .fp8_flops_per_s = 733 * TERA, .multiprocessors = 142,        \
    .memory_bytes = 46068 * MIB, .memory_bytes_per_s = 864 * GIGA,                                 \
    .source = "NVIDIA L40S data sheet: 362 TFLOP/s bf16 dense (733 is sparse), 864 GB/s"           \
}
#define DEVICE_MI300X {                                                                            \
    .name = "mi300x", .title = "MI300X 192GB", CDNA3,                                              \
    .memory_bytes = 196592 * MIB, .memory_bytes_per_s = 5300 * GIGA,                               \
    .source = "AMD Instinct MI300X data sheet: 1,307.4 TFLOP/s bf16 dense, 5.3 TB/s"               \
}
#define DEVICE_MI325X {                                                                            \
    .name = "mi325x", .title = "MI325X 256GB", CDNA3,                                              \
    .memory_bytes = 262128 * MIB, .memory_bytes_per_s = 6000 * GIGA,                               \
    .source = "AMD Instinct MI325X data sheet: 1,307.4 TFLOP/s bf16 dense, 6 TB/s"                 \
}
#define DEVICE_RTX4090 {                                                                           \
    .name = "rtx4090", .title = "RTX 4090 24GB", ADA, HALF(165.2 * TERA),                          \
    .fp32_flops_per_s = 82.6 * TERA, .fp8_flops_per_s = 330.3 * TERA, .multiprocessors = 128,      \
    .memory_bytes = 24564 * MIB, .memory_bytes_per_s = 1008 * GIGA,                                \
    .source = "NVIDIA Ada architecture white paper, RTX 4090: 165.2 TFLOP/s bf16 dense with sums " \
              "in fp32, 1,008 GB/s"                                                                \
}
#define DEVICE_RTX5090 {                                                                           \
    .name = "rtx5090", .title = "RTX 5090 32GB", BLACKWELL_RTX, HALF(209.5 * TERA),                \
    .fp32_flops_per_s = 104.8 * TERA, .fp8_flops_per_s = 419 * TERA,                               \
    .fp4_flops_per_s = 1676 * TERA, .multiprocessors = 170,                                        \
    .memory_bytes = 32607 * MIB, .memory_bytes_per_s = 1792 * GIGA,                                \
    .source = "NVIDIA RTX Blackwell architecture white paper, RTX 5090: 209.5 TFLOP/s bf16 dense " \
              "with sums in fp32, 1,792 GB/s"                                                      \
}
/* clang-format on */
