/* sim/error/rows.h — errors of all predicted rows of tests/published. Include it with
 * PP_STEP_ERRORS and PP_MEMORY_ERRORS defined. UPDATE=1 tests/accuracy.sh PIPESIM writes it.
 *
 *    (device, framework, precision, PP > 1, several nodes, experts, sources, errors...)
 *    sources  numbers of the documents, in the order of the tables
 *    errors   predicted / published - 1, in 1/1000 */
/* clang-format off */
PP_STEP_ERRORS("a100", "megatron-v2", "fp16", 0, 1, 0, PP_ERROR_SOURCES(0), -89, -66, -20)
PP_STEP_ERRORS("a100", "megatron-v2", "fp16", 1, 1, 0, PP_ERROR_SOURCES(0), -6, -70, -24, -21, -31,
    -9)
PP_STEP_ERRORS("a100", "deepspeed", "fp16", 0, 1, 0, PP_ERROR_SOURCES(1, 16), -120, -4, -9, -164,
    89, 41, -66, -55, -87, -42, -101, -76, -65, -85, -113, -87, -62, -223, -484, 33, 45, 57, 47,
    -255, 18, 28, 55, 39, 53)
PP_STEP_ERRORS("v100-sxm3", "megatron-v2", "fp16", 0, 0, 0, PP_ERROR_SOURCES(4), 63, 55, 9, 8)
PP_STEP_ERRORS("a100-40", "megatron-v2", "fp16", 0, 0, 0, PP_ERROR_SOURCES(4), 14, -11, -7, -5)
PP_STEP_ERRORS("a100-40", "megatron-v2", "fp16", 0, 1, 0, PP_ERROR_SOURCES(4), -31, -38, 4, 105)
PP_STEP_ERRORS("h100", "megatron", "bf16", 1, 1, 1, PP_ERROR_SOURCES(7, 8), -10, 58)
PP_STEP_ERRORS("a100", "megatron-2023", "fp16", 0, 0, 0, PP_ERROR_SOURCES(9), 7, -36)
PP_STEP_ERRORS("a100", "megatron-2023", "fp16", 1, 1, 0, PP_ERROR_SOURCES(9, 10), 28, 15, -3, -15,
    7, 28, -40, -24)
PP_MEMORY_ERRORS("a100", "megatron-2023", "fp16", 0, 0, 0, PP_ERROR_SOURCES(11), -32, -54)
PP_MEMORY_ERRORS("a100", "megatron-2023", "fp16", 1, 1, 0, PP_ERROR_SOURCES(11), -28, -56, 18, 10,
    17, 8)
PP_STEP_ERRORS("a100", "megatron", "bf16", 1, 0, 0, PP_ERROR_SOURCES(12, 13), -25, -22, -24, -15,
    -18, -25, -59, -44)
PP_MEMORY_ERRORS("a100", "megatron", "bf16", 1, 0, 0, PP_ERROR_SOURCES(12), -59, -59, -59, -15, -15,
    -15)
PP_STEP_ERRORS("a100", "megatron", "bf16", 1, 1, 0, PP_ERROR_SOURCES(12, 13), -33, -35, -43, 2, -10,
    -19, -40, -8)
PP_MEMORY_ERRORS("a100", "megatron", "bf16", 1, 1, 0, PP_ERROR_SOURCES(12), 11, 11, 11, -12, -12,
    -12)
PP_STEP_ERRORS("a100", "megatron", "fp16", 1, 0, 0, PP_ERROR_SOURCES(14, 15), 40, 77, -39, -31, -16,
    15, -115, -50, -48, -28, -2, -36, -51, -50, -37, -12, -16, -54, -50, -36, -9, -9, -35, -25, -8,
    -19, -4, -35, -28, -8, 8, -139, -34, -29, -4, -305, 31, -35, -25, 2)
PP_MEMORY_ERRORS("a100", "megatron", "fp16", 1, 0, 0, PP_ERROR_SOURCES(14, 15), 2, 2, -10, -10, -9,
    1, 1, -13, -13, -11, 1, 1, -18, -17, -13, 1, 1, -22, -21, -18, -43, -43, -59, -53, -26, -51,
    -51, -75, -72, -41, -55, -55, -71, -69, -47, -256, -43, -38, -25, -26)
PP_STEP_ERRORS("a100", "deepspeed", "fp16", 1, 1, 0, PP_ERROR_SOURCES(16, 17), -83, -45, -114, -383,
    -38, -400, -162, -125, -150, -242, -208, -9, -417, -188, -210, 5, -6, 3, -76, 12, -22, 37, -43,
    29, -51, 18, 13, 4, 30, -12, 11, 23, -195, -0, -28, -98, 41, -250, -7, -14, 9, 22, -325, -31,
    -105, 9, -9, -295, -83, -67, -166, -176, -65, -53, 19, 9, -90, -80, -58, 19, -83, -5, -53, -76,
    -82, 6, 26, -0, 19, -0, -29, 6, -141, -21, -171, -37, 61, 77, -16, -15, 60, -65, 13, -143, -134,
    -107, -89, -88, -25, -54, -34, -29)
PP_STEP_ERRORS("a100", "deepspeed", "fp16", 0, 0, 0, PP_ERROR_SOURCES(17), -98, -54, 35, 17)
PP_MEMORY_ERRORS("a100", "deepspeed", "fp16", 0, 0, 0, PP_ERROR_SOURCES(17), 58, 67, 67, 16)
PP_MEMORY_ERRORS("a100", "deepspeed", "fp16", 1, 1, 0, PP_ERROR_SOURCES(17), 41, -49, -11, -54, -28,
    56, -82, -77, -45, -22, -329, 2, -54, -73, -69, -36, -28, -51, -100, -3, -2, -76, -49, 34, 58,
    92, 45, 46)
PP_STEP_ERRORS("a100", "deepspeed", "bf16", 0, 0, 0, PP_ERROR_SOURCES(17), -106)
PP_MEMORY_ERRORS("a100", "deepspeed", "bf16", 0, 0, 0, PP_ERROR_SOURCES(17), 42)
PP_STEP_ERRORS("a100", "deepspeed", "bf16", 1, 1, 0, PP_ERROR_SOURCES(17), -175, -183)
PP_MEMORY_ERRORS("a100", "deepspeed", "bf16", 1, 1, 0, PP_ERROR_SOURCES(17), 13, -85)
PP_STEP_ERRORS("h100", "nemo", "fp8", 0, 1, 0, PP_ERROR_SOURCES(24, 25, 26, 61, 63, 64, 66, 67, 70,
    72, 74), -100, -54, -72, -65, -54, -86, -58, -47, -86, 32, 24, 18, 12, 5, -1, -3, -3, -8, -11,
    -18, -15, -41, 58, 20, 6, 2, -7, 23, 20, 19, 14, 7, -12, 6, -4, 49, -7, -10, -15, -17, 3, 8, -2,
    4, -5, -12, -7, -31)
PP_STEP_ERRORS("h100", "nemo", "fp8", 1, 1, 0, PP_ERROR_SOURCES(24, 25, 26, 31, 32, 34, 35, 36, 37,
    38, 39, 61, 62, 63, 65, 68, 71, 73, 75, 80, 81, 82, 83, 84), 14, -17, 36, 78, 21, 7, -22, -0,
    38, 45, 92, 34, 19, -27, 40, 46, 45, 85, 28, 25, -12, -13, 24, 94, -7, 74, 77, 66, -59, 68, -94,
    79, -63, 107, 98, 93, 85, 84, 77, 36, 28, 26, 24, 14, 17, 3, -4, -9, -29, 119, 118, 116, 107,
    -0, -6, -26, -26, -31, -45, 13, 21, 18, 2, -33, -50, -43, -62, -63, -70, -79, 30, 26, -48, -85,
    -13, 13, 21, 18, 2, -33, 12, -5, 51, 36, 20)
PP_STEP_ERRORS("h100", "nemo", "fp8", 0, 0, 0, PP_ERROR_SOURCES(24, 25, 26, 61, 66, 72), -37, -113,
    -32, -95, -49, -124, 36, 23, -1)
PP_STEP_ERRORS("b200", "nemo", "fp8", 0, 1, 1, PP_ERROR_SOURCES(27), 5)
PP_STEP_ERRORS("b200", "nemo", "fp8", 1, 1, 1, PP_ERROR_SOURCES(27, 34, 35, 36, 37, 38, 39), -59,
    -94, -133, -132, -140, -171, -126, 43, -245, -261, -295, -52, -13)
PP_STEP_ERRORS("gb200", "nemo", "fp8", 0, 0, 1, PP_ERROR_SOURCES(28, 34, 35, 36, 37, 38, 39), -44,
    -96, -99, -87, -97, -177, -212, -179, -25, -33)
PP_STEP_ERRORS("gb200", "nemo", "fp8", 1, 1, 1, PP_ERROR_SOURCES(28, 34, 35, 36, 37, 38, 39), -89,
    57, 109, 42, 107, -1, 75, -17, 59, 29, -132)
PP_STEP_ERRORS("gb300", "bridge", "fp8", 1, 1, 1, PP_ERROR_SOURCES(29, 30, 31), 44, -96, 46, -76,
    52, 53, -75)
PP_STEP_ERRORS("gb200", "bridge", "fp8", 1, 1, 1, PP_ERROR_SOURCES(29, 30, 31), -40, -39, -37, -28,
    -28, -26)
PP_STEP_ERRORS("gb300", "bridge", "fp8", 0, 0, 1, PP_ERROR_SOURCES(29, 30, 31), -273, -129, -553,
    -129, -270, -114)
PP_STEP_ERRORS("gb200", "bridge", "fp8", 0, 0, 1, PP_ERROR_SOURCES(29, 30, 31), -284, -50, -543,
    -25, -277, -31)
PP_STEP_ERRORS("gb300", "nemo", "fp8", 1, 1, 0, PP_ERROR_SOURCES(31, 34, 35, 36, 37, 38), 60, 35,
    -45, -37, 48, -56, 18, -74, -1, -7)
PP_STEP_ERRORS("gb300", "bridge", "fp8", 1, 1, 0, PP_ERROR_SOURCES(31), -61)
PP_STEP_ERRORS("gb300", "nemo", "nvfp4", 1, 1, 0, PP_ERROR_SOURCES(31, 34, 35, 36, 37), -190, -174,
    -183, -221, -235)
PP_STEP_ERRORS("gb200", "nemo", "fp8", 1, 1, 0, PP_ERROR_SOURCES(31, 34, 35, 36, 37, 38, 39, 77,
    79), 24, 49, -7, -16, 22, -38, -7, -24, -37, -13, -212, -90, -86, -90, 128, 167, 210, -38, -37,
    13)
PP_STEP_ERRORS("gb200", "bridge", "fp8", 1, 1, 0, PP_ERROR_SOURCES(31), -40)
PP_STEP_ERRORS("gb200", "nemo", "nvfp4", 1, 1, 0, PP_ERROR_SOURCES(31, 34, 35, 36, 37), 26, 42, -1,
    -79, -53)
PP_STEP_ERRORS("b300", "bridge", "fp8", 1, 1, 1, PP_ERROR_SOURCES(31), -273)
PP_STEP_ERRORS("b300", "nemo", "fp8", 0, 1, 1, PP_ERROR_SOURCES(31), -202)
PP_STEP_ERRORS("b300", "bridge", "fp8", 0, 0, 1, PP_ERROR_SOURCES(31), -151)
PP_STEP_ERRORS("h100", "nemo", "fp8", 0, 1, 1, PP_ERROR_SOURCES(31, 34, 35, 69, 76), -227, -215,
    -221, -169, -137, -212, -134, -96, -148)
PP_STEP_ERRORS("gb300", "nemo", "fp8", 1, 1, 1, PP_ERROR_SOURCES(31, 34, 35, 36, 37, 38), -22, -18,
    52, -30, -24, 59, -30, -78, -3, -77, -93, -3, -64)
PP_STEP_ERRORS("gb300", "nemo", "fp8", 1, 0, 0, PP_ERROR_SOURCES(32, 34, 35, 36, 37), 97, 21, -4,
    252, -35)
PP_STEP_ERRORS("gb300", "bridge", "fp8", 1, 0, 0, PP_ERROR_SOURCES(32), -27)
PP_STEP_ERRORS("gb200", "nemo", "fp8", 1, 0, 0, PP_ERROR_SOURCES(32, 34, 35, 36, 37, 39), 184, -27,
    4, 6, -53, -65)
PP_STEP_ERRORS("gb200", "bridge", "fp8", 1, 0, 0, PP_ERROR_SOURCES(32), 73)
PP_STEP_ERRORS("gb300", "fsdp", "fp8", 0, 0, 0, PP_ERROR_SOURCES(34, 35, 36, 37, 38), 20, 19, 19,
    -27, -121)
PP_STEP_ERRORS("gb300", "nemo", "nvfp4", 1, 0, 0, PP_ERROR_SOURCES(34, 35, 37), -63, -50, -127)
PP_STEP_ERRORS("gb200", "fsdp", "fp8", 0, 0, 0, PP_ERROR_SOURCES(34, 35, 36, 37, 38, 39), -30, -49,
    0, -72, -10, -99)
PP_STEP_ERRORS("gb200", "nemo", "nvfp4", 1, 0, 0, PP_ERROR_SOURCES(34, 35, 36, 37), -66, -60, -125,
    -144)
PP_STEP_ERRORS("b300", "nemo", "fp8", 1, 1, 1, PP_ERROR_SOURCES(34, 35, 36, 37), -183, 107, -148,
    -93, -157, -421, -188, -411)
PP_STEP_ERRORS("gb300", "nemo", "bf16", 0, 0, 1, PP_ERROR_SOURCES(34, 35, 36, 37, 38), -222, -219,
    -215, -213, -230)
PP_STEP_ERRORS("gb200", "nemo", "bf16", 0, 0, 1, PP_ERROR_SOURCES(34, 35, 36, 37, 38), -243, -275,
    -284, -282, -180)
PP_STEP_ERRORS("b300", "nemo", "bf16", 0, 1, 1, PP_ERROR_SOURCES(34, 35, 36, 37), -231, -236, -241,
    -454)
PP_STEP_ERRORS("b200", "nemo", "bf16", 0, 1, 1, PP_ERROR_SOURCES(34, 35, 36, 37, 38), -180, -212,
    -171, -218, -391)
PP_STEP_ERRORS("h100", "nemo", "bf16", 1, 1, 1, PP_ERROR_SOURCES(34, 35, 36, 37, 38, 69, 76), -52,
    -54, -26, -25, -58, -3, -5, -9, -18, -21, 2, 1, -1, -8, -12)
PP_STEP_ERRORS("gb300", "nemo", "fp8", 0, 0, 1, PP_ERROR_SOURCES(34, 35, 36, 37, 38), -102, -110,
    -140, -141, -84)
PP_STEP_ERRORS("b300", "nemo", "fp8", 0, 0, 1, PP_ERROR_SOURCES(34, 35, 36, 37), -97, -102, -134,
    -132)
PP_STEP_ERRORS("b200", "nemo", "fp8", 0, 0, 1, PP_ERROR_SOURCES(34, 35, 36, 37, 38, 39), -22, -32,
    -38, -75, -112, 725)
PP_STEP_ERRORS("h100", "nemo", "fp8", 1, 1, 1, PP_ERROR_SOURCES(34, 35, 36, 37, 38, 39, 69, 76),
    -22, -37, 24, -80, -422, -67, -542, -90, -45, -45, -88, -304, -118, -119, -122, -127, -142,
    -107, -108, -111, -121, -128)
PP_STEP_ERRORS("gb300", "nemo", "nvfp4", 0, 0, 0, PP_ERROR_SOURCES(36), -262)
PP_STEP_ERRORS("gb300", "nemo", "fp8", 0, 0, 0, PP_ERROR_SOURCES(38), 28, -12)
PP_STEP_ERRORS("gb300", "nemo", "bf16", 1, 1, 1, PP_ERROR_SOURCES(38), 33, 93)
PP_STEP_ERRORS("gb200", "nemo", "fp8", 0, 0, 0, PP_ERROR_SOURCES(38, 39), 22, -34, 17, -29)
PP_STEP_ERRORS("gb200", "nemo", "bf16", 1, 1, 1, PP_ERROR_SOURCES(38), -17, 130)
PP_STEP_ERRORS("b200", "nemo", "fp8", 0, 0, 0, PP_ERROR_SOURCES(38, 39), 76, 37, 54, 32)
PP_STEP_ERRORS("b200", "nemo", "fp8", 1, 1, 0, PP_ERROR_SOURCES(38, 39), -6, -62, -2, -65)
PP_STEP_ERRORS("h100", "fsdp", "fp8", 0, 0, 0, PP_ERROR_SOURCES(38, 39, 42), 237, 205, -43, -37,
    -71, -77, -20, -49, -39)
PP_STEP_ERRORS("gb200", "fsdp", "fp8", 0, 1, 0, PP_ERROR_SOURCES(39), -124)
PP_STEP_ERRORS("h100", "fsdp", "bf16", 0, 1, 0, PP_ERROR_SOURCES(40, 41), -91, -68, -49, -100, -89,
    -69, -50, -47, -31, -122, -96, -72, -87, -57, -38, -112, -71, -47, -58, -117, -36, -50, -148,
    -147, -152, -35, -17, -6, -60, -47, -28, -26, -19)
PP_STEP_ERRORS("h100", "fsdp", "bf16", 0, 0, 0, PP_ERROR_SOURCES(41), -243, -91, -93, -93, 12, 15,
    -1, -141, -11, 32, 24, 0, 6, -58, -18, 22, 34, -10, 8, 3, 17, 4, 17, -8, -21, -17, -21, -28,
    -35, -46, -15, -6, -17, -37, -97, 3, 5)
PP_STEP_ERRORS("a100", "fsdp-pt1", "bf16", 0, 1, 0, PP_ERROR_SOURCES(43), -37)
PP_STEP_ERRORS("a100", "fsdp", "bf16", 0, 0, 0, PP_ERROR_SOURCES(43), -280, -34, -9, -7, -0, 48, 37,
    28, 23, -67, 24, 13, 20, 18, 17, -11, -29, 10, 27, 21, -26, -25, -27, -17, -20, -10, 37, -17,
    -20, -30, -17, -17, -7, -17, 33, -8, -21, -22, -21, -16, -178, -227, -22, -22, 2, 24, 26, 3,
    -12, -6, 4, -0, -7, 2, -11, -13, -10, -14, -13)
PP_STEP_ERRORS("a100-40", "fsdp-pt1", "bf16", 0, 1, 0, PP_ERROR_SOURCES(44), -83, -292, -18, -8, -9,
    -7, 5, 8, -26, -15, 1, -21, -89, -73, -57, -51, -62, -47, -221, -28, -60, -51, -43, -45, -33,
    -24, -5, 23, -43, -37, -25, 0)
PP_STEP_ERRORS("a100-40", "fsdp-pt1", "bf16", 0, 0, 0, PP_ERROR_SOURCES(44), -107, -105, -132, -134,
    -133, -4, -5, -4, -1, -1, -14, 31, 13, -46, -42, -22, -23, -3, 22, -12, -23, -23, -23, -14, -15,
    34, -5, -24, -27, -30, -17, -20, -19, 8, 29, 38, 38, 45, 47, -77, -36, 19, 33, 37, 27, 32)
PP_STEP_ERRORS("h100", "torchtitan", "bf16", 0, 0, 0, PP_ERROR_SOURCES(45), -157, -25)
PP_MEMORY_ERRORS("h100", "torchtitan", "bf16", 0, 0, 0, PP_ERROR_SOURCES(45), -27, 41)
PP_STEP_ERRORS("h100", "torchtitan", "fp8", 0, 0, 0, PP_ERROR_SOURCES(45), -51, -123, -71, -308,
    -339)
PP_MEMORY_ERRORS("h100", "torchtitan", "fp8", 0, 0, 0, PP_ERROR_SOURCES(45), 43, 53, 49, 51, 45)
PP_STEP_ERRORS("h100", "torchtitan", "bf16", 0, 1, 0, PP_ERROR_SOURCES(45, 46), -182, -49, -14, -56,
    -15, -97)
PP_MEMORY_ERRORS("h100", "torchtitan", "bf16", 0, 1, 0, PP_ERROR_SOURCES(45), -19, 60)
PP_STEP_ERRORS("h100", "torchtitan", "fp8", 0, 1, 0, PP_ERROR_SOURCES(45, 46), -70, 84, -33, 59, 41,
    -216, -310, 49, -26, -234, -315)
PP_MEMORY_ERRORS("h100", "torchtitan", "fp8", 0, 1, 0, PP_ERROR_SOURCES(45), 63, -171, -118)
PP_STEP_ERRORS("h200", "torchtitan", "fp8", 0, 1, 0, PP_ERROR_SOURCES(47), -63, -77)
PP_MEMORY_ERRORS("h200", "torchtitan", "fp8", 0, 1, 0, PP_ERROR_SOURCES(47), 430, 419)
PP_STEP_ERRORS("a100", "internevo", "bf16", 0, 0, 0, PP_ERROR_SOURCES(48, 49), -39, -35, -56, -71,
    -48, -29)
PP_STEP_ERRORS("a100", "internevo", "bf16", 0, 1, 0, PP_ERROR_SOURCES(48, 49), -17, -40, -54, -76,
    -142, -44, -37, -25, -27, -28, -34, -66, -75, -107, -156, -74, -63, -59, -56, -54, -41, -15,
    -42, -26, -39, -44, -37, -25, -27, -28)
PP_STEP_ERRORS("a800", "amsp", "bf16", 0, 1, 0, PP_ERROR_SOURCES(51), -79, -79, -76)
PP_STEP_ERRORS("a800", "deepspeed", "bf16", 0, 1, 0, PP_ERROR_SOURCES(51), -253, -69, -667, -762,
    -143, -114)
PP_STEP_ERRORS("h800", "megatron-2023", "bf16", 1, 1, 0, PP_ERROR_SOURCES(52, 54), -28, -26, -18,
    -11, 1, -4, 17, -1, -8, -6, -4, -15, -10, -24, -35, -24, -33, -45, -33, -38, -30, -48, 34, -115)
PP_STEP_ERRORS("a800", "megatron-2023", "bf16", 1, 0, 0, PP_ERROR_SOURCES(53), 56, 49, -3)
PP_STEP_ERRORS("h800", "megatron-2023", "bf16", 1, 0, 0, PP_ERROR_SOURCES(53), 47, 39, -32)
PP_MEMORY_ERRORS("h800", "megatron-2023", "bf16", 1, 1, 0, PP_ERROR_SOURCES(55), 1, 7, 14, 15, 17,
    -1, 21, 13)
PP_STEP_ERRORS("a100", "paxml", "bf16", 0, 1, 0, PP_ERROR_SOURCES(56), -115, -127, 71)
PP_STEP_ERRORS("a100", "paxml-te", "bf16", 0, 1, 0, PP_ERROR_SOURCES(56), -187, -88, 66)
PP_STEP_ERRORS("v100-16", "xla", "fp16", 0, 0, 0, PP_ERROR_SOURCES(60), 12, 5, 7, 21, -76, 17, -201,
    -56, 2, 7, 11, 4, 21, 10, -89, -58, -67)
PP_MEMORY_ERRORS("v100-16", "xla", "fp16", 0, 0, 0, PP_ERROR_SOURCES(60), -30, 47, -21, -14, 59, 41,
    55, 52, 26, -30, -30, 47, -14, -30, -2, -163, -335)
PP_STEP_ERRORS("h100", "nemo", "bf16", 0, 0, 0, PP_ERROR_SOURCES(61, 66, 72), 106, 62, 52)
PP_STEP_ERRORS("h100", "nemo", "bf16", 0, 1, 0, PP_ERROR_SOURCES(61, 63, 64, 66, 67, 70, 72, 74),
    103, 101, 100, 101, -2, 79, 78, 74, 74, 71, 62, 56, 43, 32, 45, 44, 44, 31, 47, 43, 35, 31, 34,
    28, 24, 29, 50, 44, 40, 37, 36, 41, 30, 30, 20, 24, 12, 15, 4)
PP_STEP_ERRORS("h100", "nemo", "bf16", 1, 1, 0, PP_ERROR_SOURCES(61, 62, 63, 65, 68, 71, 73, 75),
    49, 48, 47, 49, 51, 50, 11, 17, 19, 18, 18, 79, 69, 69, 66, 64, 114, 116, 118, 119, 52, 46, 45,
    40, 36, 38, 38, 40, 43, 42, 24, 44, 44, 39, 33, 32, 28, 46, 44, 29, 40, 40, 38, 40, 43, 42, 24)
PP_STEP_ERRORS("h100", "nemo", "bf16", 0, 0, 1, PP_ERROR_SOURCES(69, 76), -38, -39)
PP_STEP_ERRORS("h100", "nemo", "bf16", 0, 1, 1, PP_ERROR_SOURCES(69, 76), -45, -21, -78, -37, -15,
    -43)
PP_STEP_ERRORS("h100", "nemo", "fp8", 0, 0, 1, PP_ERROR_SOURCES(69, 76), -131, -138)
PP_STEP_ERRORS("gb200", "nemo", "bf16", 1, 1, 0, PP_ERROR_SOURCES(77, 79), -46, -51, -49, 72, 106,
    114, -25, -23, -10)
PP_STEP_ERRORS("gb200", "nemo", "bf16", 0, 1, 1, PP_ERROR_SOURCES(78), 63, 57, 71)
PP_STEP_ERRORS("gb200", "nemo", "fp8", 0, 1, 1, PP_ERROR_SOURCES(78), -31, -12, 0)
/* clang-format on */
