/* sim/error/mfus.h — the highest MFU that tests/published has for a device and precision; fp16
 * is bf16. Include it with PP_BEST_MFU defined. UPDATE=rows tests/accuracy.sh PIPESIM writes it.
 *
 *    (device, precision, runs, highest MFU in 1/1000, its id) */
/* clang-format off */
PP_BEST_MFU("a100", "bf16", 336, 653, "megascale-t2-005")
PP_BEST_MFU("v100-sxm3", "bf16", 4, 440, "megatron-readme-2020-001")
PP_BEST_MFU("a100-40", "bf16", 86, 595, "llmfoundry-a100-40-034")
PP_BEST_MFU("h100", "bf16", 201, 625, "dgxc-25.04-001")
PP_BEST_MFU("h100", "fp8", 200, 460, "mlperf-v4.0-001")
PP_BEST_MFU("b200", "fp8", 28, 394, "megatron-bridge-25.11-019")
PP_BEST_MFU("gb200", "fp8", 75, 454, "megatron-bridge-26.04.01-011")
PP_BEST_MFU("gb300", "fp8", 55, 550, "megatron-bridge-26.06-001")
PP_BEST_MFU("gb300", "nvfp4", 9, 252, "megatron-bridge-26.04.01-010")
PP_BEST_MFU("gb200", "nvfp4", 9, 311, "megatron-bridge-26.04.01-013")
PP_BEST_MFU("b300", "fp8", 15, 253, "megatron-bridge-26.06-017")
PP_BEST_MFU("gb300", "bf16", 7, 433, "megatron-bridge-25.11-005")
PP_BEST_MFU("gb200", "bf16", 19, 476, "dgxc-25.05-gb200-009")
PP_BEST_MFU("b300", "bf16", 4, 234, "megatron-bridge-26.04.01-021")
PP_BEST_MFU("b200", "bf16", 5, 211, "megatron-bridge-26.02.01-021")
PP_BEST_MFU("h200", "fp8", 2, 320, "torchtitan-031")
PP_BEST_MFU("a800", "bf16", 12, 719, "kwai-demo-002")
PP_BEST_MFU("h800", "bf16", 27, 501, "kwai-fig9-041")
PP_BEST_MFU("v100-16", "bf16", 17, 424, "alpa-intra-001")
/* clang-format on */
