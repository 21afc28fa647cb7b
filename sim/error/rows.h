/* sim/error/rows.h — errors of all predicted rows of tests/published. Include it with
 * PP_STEP_ERRORS and PP_MEMORY_ERRORS defined. UPDATE=1 tests/accuracy.sh PIPESIM writes it.
 *
 *    (device, framework, precision, PP > 1, several nodes, experts, sources, errors...)
 *    sources  numbers of the documents, in the order of the tables
 *    errors   predicted / published - 1, in 1/1000 */
/* clang-format off */
PP_STEP_ERRORS("a100", "megatron-v2", "fp16", 0, 1, 0, PP_ERROR_SOURCES(5), -91, -67, -20)
PP_STEP_ERRORS("a100", "megatron-v2", "fp16", 1, 1, 0, PP_ERROR_SOURCES(5), -5, -62, -18, -13, -8,
    -3)
PP_STEP_ERRORS("a100", "deepspeed", "fp16", 0, 1, 0, PP_ERROR_SOURCES(6, 21), -120, -4, -9, -164,
    89, 41, -67, -56, -88, -44, -102, -77, -66, -86, -113, -88, -63, -224, -485, 32, 45, 56, 46,
    -255, 17, 27, 54, 39, 53)
PP_STEP_ERRORS("v100-sxm3", "megatron-2020", "fp16", 0, 0, 0, PP_ERROR_SOURCES(9), 59, 53, 8, 8)
PP_STEP_ERRORS("a100-40", "megatron-2020", "fp16", 0, 0, 0, PP_ERROR_SOURCES(9), 10, -14, -8, -6)
PP_STEP_ERRORS("a100-40", "megatron-2020", "fp16", 0, 1, 0, PP_ERROR_SOURCES(9), -35, -40, 3, 30)
PP_STEP_ERRORS("h100", "megatron", "bf16", 1, 1, 1, PP_ERROR_SOURCES(12, 13), -12, 56)
PP_STEP_ERRORS("a100", "megatron-2023", "fp16", 0, 0, 0, PP_ERROR_SOURCES(14), 7, -37)
PP_STEP_ERRORS("a100", "megatron-2023", "fp16", 1, 1, 0, PP_ERROR_SOURCES(14, 15), 28, 15, -4, -15,
    7, 28, -41, -24)
PP_MEMORY_ERRORS("a100", "megatron-2023", "fp16", 0, 0, 0, PP_ERROR_SOURCES(16), -36, -58)
PP_MEMORY_ERRORS("a100", "megatron-2023", "fp16", 1, 1, 0, PP_ERROR_SOURCES(16), -28, -56, 18, 10,
    17, 8)
PP_STEP_ERRORS("a100", "megatron", "bf16", 1, 0, 0, PP_ERROR_SOURCES(17, 18), -40, -37, -41, -16,
    -18, -26, -76, -44)
PP_MEMORY_ERRORS("a100", "megatron", "bf16", 1, 0, 0, PP_ERROR_SOURCES(17), -59, -59, -59, -15, -15,
    -15)
PP_STEP_ERRORS("a100", "megatron", "bf16", 1, 1, 0, PP_ERROR_SOURCES(17, 18), -33, -35, -43, 2, -11,
    -19, -40, -8)
PP_MEMORY_ERRORS("a100", "megatron", "bf16", 1, 1, 0, PP_ERROR_SOURCES(17), 11, 11, 11, -12, -12,
    -12)
PP_STEP_ERRORS("a100", "megatron", "fp16", 1, 0, 0, PP_ERROR_SOURCES(19, 20), 13, 35, -46, -38, -23,
    -4, 5, -54, -52, -32, -15, -37, -53, -52, -39, -19, -23, -55, -51, -37, -16, -16, -36, -26, -9,
    -31, -5, -37, -30, -10, -11, -23, -38, -33, -8, -323, -9, -42, -32, -6)
PP_MEMORY_ERRORS("a100", "megatron", "fp16", 1, 0, 0, PP_ERROR_SOURCES(19, 20), 2, 2, -10, -10, -9,
    1, 1, -13, -13, -11, 1, 1, -18, -17, -13, 1, 1, -22, -21, -18, -43, -43, -59, -53, -26, -51,
    -51, -75, -72, -41, -55, -55, -71, -69, -47, -256, -43, -38, -25, -26)
PP_STEP_ERRORS("a100", "deepspeed", "fp16", 1, 1, 0, PP_ERROR_SOURCES(21, 22), -74, -37, -105, -373,
    -31, -381, -156, -118, -137, -228, -195, 20, -396, -174, -203, 8, -2, 6, -73, 16, 9, 41, -11,
    36, -33, 25, 21, 12, 45, -3, 26, 39, -165, 17, -19, -59, 70, -234, 22, 3, 40, 56, -295, -12,
    -85, 45, 30, -262, -61, -23, -156, -167, -51, -37, 38, 29, -83, -72, -44, 36, -76, 3, -37, -60,
    -75, 14, 43, 8, 37, 8, -21, 14, -134, -14, -163, -27, 81, 96, 0, 1, 73, -60, 19, -141, -131,
    -99, -81, -73, 1, -26, -9, 9)
PP_STEP_ERRORS("a100", "deepspeed", "fp16", 0, 0, 0, PP_ERROR_SOURCES(22), -99, -55, 34, 16)
PP_MEMORY_ERRORS("a100", "deepspeed", "fp16", 0, 0, 0, PP_ERROR_SOURCES(22), 52, 53, 53, 16)
PP_MEMORY_ERRORS("a100", "deepspeed", "fp16", 1, 1, 0, PP_ERROR_SOURCES(22), 41, -49, -11, -54, -28,
    56, -82, -77, -45, -22, -329, 2, -54, -73, -69, -36, -28, -51, -100, -3, -2, -76, -49, 34, 58,
    92, 45, 46)
PP_STEP_ERRORS("a100", "deepspeed", "bf16", 0, 0, 0, PP_ERROR_SOURCES(22), -107)
PP_MEMORY_ERRORS("a100", "deepspeed", "bf16", 0, 0, 0, PP_ERROR_SOURCES(22), 37)
PP_STEP_ERRORS("a100", "deepspeed", "bf16", 1, 1, 0, PP_ERROR_SOURCES(22), -165, -174)
PP_MEMORY_ERRORS("a100", "deepspeed", "bf16", 1, 1, 0, PP_ERROR_SOURCES(22), 13, -85)
PP_STEP_ERRORS("h100", "nemo", "fp8", 0, 1, 0, PP_ERROR_SOURCES(29, 30, 31, 66, 68, 69, 71, 72, 75,
    77, 79), -104, -55, -82, -68, -55, -96, -62, -48, -96, 26, 18, 13, 7, 3, -8, -9, -10, -14, -18,
    -24, -21, -47, 56, 14, 0, -4, -13, 17, 13, 13, 8, 1, -18, -0, -10, 47, -13, -15, -20, -22, -3,
    2, -8, -2, -11, -18, -13, -37)
PP_STEP_ERRORS("h100", "nemo", "fp8", 1, 1, 0, PP_ERROR_SOURCES(29, 30, 31, 36, 37, 39, 40, 41, 42,
    43, 44, 66, 67, 68, 70, 73, 76, 78, 80, 85, 86, 87, 88, 89), 13, -17, 33, 78, 7, 5, -24, -1, 37,
    41, 91, 21, 17, -30, 39, 45, 41, 84, 15, 23, -14, -14, 22, 89, -8, 68, 72, 61, -60, 63, -95, 74,
    -64, 102, 93, 87, 80, 79, 72, 34, 27, 24, 23, 13, 16, 2, -5, -10, -30, 116, 115, 114, 105, -3,
    -8, -28, -29, -34, -48, 11, 19, 16, 0, -34, -53, -45, -64, -65, -72, -81, 29, 25, -49, -86, -14,
    11, 19, 16, 0, -34, 12, -5, 50, 35, 20)
PP_STEP_ERRORS("h100", "nemo", "fp8", 0, 0, 0, PP_ERROR_SOURCES(29, 30, 31, 66, 71, 77), -39, -118,
    -34, -100, -51, -129, 30, 18, -6)
PP_STEP_ERRORS("b200", "nemo", "fp8", 0, 1, 1, PP_ERROR_SOURCES(32), 4)
PP_STEP_ERRORS("b200", "nemo", "fp8", 1, 1, 1, PP_ERROR_SOURCES(32, 39, 40, 41, 42, 43, 44), -60,
    -98, -138, -139, -147, -178, -132, 32, -250, -267, -301, -58, -19)
PP_STEP_ERRORS("gb200", "nemo", "fp8", 0, 0, 1, PP_ERROR_SOURCES(33, 39, 40, 41, 42, 43, 44), -45,
    -101, -104, -92, -102, -182, -216, -183, -26, -34)
PP_STEP_ERRORS("gb200", "nemo", "fp8", 1, 1, 1, PP_ERROR_SOURCES(33, 39, 40, 41, 42, 43, 44), -90,
    55, 100, 39, 99, -4, 66, -20, 50, 24, -134)
PP_STEP_ERRORS("gb300", "bridge", "fp8", 1, 1, 1, PP_ERROR_SOURCES(34, 35, 36), 44, -96, 46, -76,
    52, 53, -75)
PP_STEP_ERRORS("gb200", "bridge", "fp8", 1, 1, 1, PP_ERROR_SOURCES(34, 35, 36), -40, -39, -37, -28,
    -28, -26)
PP_STEP_ERRORS("gb300", "bridge", "fp8", 0, 0, 1, PP_ERROR_SOURCES(34, 35, 36), -273, -129, -553,
    -129, -270, -114)
PP_STEP_ERRORS("gb200", "bridge", "fp8", 0, 0, 1, PP_ERROR_SOURCES(34, 35, 36), -284, -50, -543,
    -25, -277, -31)
PP_STEP_ERRORS("gb300", "nemo", "fp8", 1, 1, 0, PP_ERROR_SOURCES(36, 39, 40, 41, 42, 43), 58, 34,
    -47, -39, 46, -57, 17, -75, -2, -8)
PP_STEP_ERRORS("gb300", "bridge", "fp8", 1, 1, 0, PP_ERROR_SOURCES(36), -61)
PP_STEP_ERRORS("gb300", "nemo", "nvfp4", 1, 1, 0, PP_ERROR_SOURCES(36, 39, 40, 41, 42), -191, -176,
    -185, -223, -237)
PP_STEP_ERRORS("gb200", "nemo", "fp8", 1, 1, 0, PP_ERROR_SOURCES(36, 39, 40, 41, 42, 43, 44, 82,
    84), 21, 47, -9, -18, 20, -40, -9, -26, -39, -15, -213, -90, -87, -91, 127, 166, 209, -39, -38,
    12)
PP_STEP_ERRORS("gb200", "bridge", "fp8", 1, 1, 0, PP_ERROR_SOURCES(36), -40)
PP_STEP_ERRORS("gb200", "nemo", "nvfp4", 1, 1, 0, PP_ERROR_SOURCES(36, 39, 40, 41, 42), 23, 39, -3,
    -82, -56)
PP_STEP_ERRORS("b300", "bridge", "fp8", 1, 1, 1, PP_ERROR_SOURCES(36), -273)
PP_STEP_ERRORS("b300", "nemo", "fp8", 0, 1, 1, PP_ERROR_SOURCES(36), -206)
PP_STEP_ERRORS("b300", "bridge", "fp8", 0, 0, 1, PP_ERROR_SOURCES(36), -151)
PP_STEP_ERRORS("h100", "nemo", "fp8", 0, 1, 1, PP_ERROR_SOURCES(36, 39, 40, 74, 81), -231, -220,
    -225, -175, -143, -215, -140, -102, -151)
PP_STEP_ERRORS("gb300", "nemo", "fp8", 1, 1, 1, PP_ERROR_SOURCES(36, 39, 40, 41, 42, 43), -27, -20,
    47, -35, -25, 54, -34, -79, -8, -81, -95, -8, -65)
PP_STEP_ERRORS("gb300", "nemo", "fp8", 1, 0, 0, PP_ERROR_SOURCES(37, 39, 40, 41, 42), 96, 18, -7,
    249, -38)
PP_STEP_ERRORS("gb300", "bridge", "fp8", 1, 0, 0, PP_ERROR_SOURCES(37), -27)
PP_STEP_ERRORS("gb200", "nemo", "fp8", 1, 0, 0, PP_ERROR_SOURCES(37, 39, 40, 41, 42, 44), 180, -29,
    1, 3, -55, -67)
PP_STEP_ERRORS("gb200", "bridge", "fp8", 1, 0, 0, PP_ERROR_SOURCES(37), 73)
PP_STEP_ERRORS("gb300", "fsdp", "fp8", 0, 0, 0, PP_ERROR_SOURCES(39, 40, 41, 42, 43), 20, 19, 19,
    -27, -121)
PP_STEP_ERRORS("gb300", "nemo", "nvfp4", 1, 0, 0, PP_ERROR_SOURCES(39, 40, 42), -68, -55, -131)
PP_STEP_ERRORS("gb200", "fsdp", "fp8", 0, 0, 0, PP_ERROR_SOURCES(39, 40, 41, 42, 43, 44), -30, -49,
    0, -72, -10, -99)
PP_STEP_ERRORS("gb200", "nemo", "nvfp4", 1, 0, 0, PP_ERROR_SOURCES(39, 40, 41, 42), -69, -63, -128,
    -147)
PP_STEP_ERRORS("b300", "nemo", "fp8", 1, 1, 1, PP_ERROR_SOURCES(39, 40, 41, 42), -187, 98, -156,
    -100, -165, -425, -196, -415)
PP_STEP_ERRORS("gb300", "nemo", "bf16", 0, 0, 1, PP_ERROR_SOURCES(39, 40, 41, 42, 43), -226, -223,
    -220, -218, -234)
PP_STEP_ERRORS("gb200", "nemo", "bf16", 0, 0, 1, PP_ERROR_SOURCES(39, 40, 41, 42, 43), -248, -279,
    -288, -286, -184)
PP_STEP_ERRORS("b300", "nemo", "bf16", 0, 1, 1, PP_ERROR_SOURCES(39, 40, 41, 42), -234, -240, -244,
    -456)
PP_STEP_ERRORS("b200", "nemo", "bf16", 0, 1, 1, PP_ERROR_SOURCES(39, 40, 41, 42, 43), -184, -215,
    -175, -220, -393)
PP_STEP_ERRORS("h100", "nemo", "bf16", 1, 1, 1, PP_ERROR_SOURCES(39, 40, 41, 42, 43, 74, 81), -66,
    -69, -41, -39, -72, -5, -8, -12, -20, -24, -1, -1, -3, -11, -15)
PP_STEP_ERRORS("gb300", "nemo", "fp8", 0, 0, 1, PP_ERROR_SOURCES(39, 40, 41, 42, 43), -108, -116,
    -146, -147, -90)
PP_STEP_ERRORS("b300", "nemo", "fp8", 0, 0, 1, PP_ERROR_SOURCES(39, 40, 41, 42), -103, -108, -140,
    -138)
PP_STEP_ERRORS("b200", "nemo", "fp8", 0, 0, 1, PP_ERROR_SOURCES(39, 40, 41, 42, 43, 44), -27, -37,
    -43, -75, -112, 725)
PP_STEP_ERRORS("h100", "nemo", "fp8", 1, 1, 1, PP_ERROR_SOURCES(39, 40, 41, 42, 43, 44, 74, 81),
    -28, -43, 16, -86, -426, -73, -546, -96, -49, -49, -98, -309, -122, -122, -126, -130, -145,
    -110, -111, -115, -124, -131)
PP_STEP_ERRORS("gb300", "nemo", "nvfp4", 0, 0, 0, PP_ERROR_SOURCES(41), -264)
PP_STEP_ERRORS("gb300", "nemo", "fp8", 0, 0, 0, PP_ERROR_SOURCES(43), 22, -18)
PP_STEP_ERRORS("gb300", "nemo", "bf16", 1, 1, 1, PP_ERROR_SOURCES(43), 32, 88)
PP_STEP_ERRORS("gb200", "nemo", "fp8", 0, 0, 0, PP_ERROR_SOURCES(43, 44), 17, -38, 12, -34)
PP_STEP_ERRORS("gb200", "nemo", "bf16", 1, 1, 1, PP_ERROR_SOURCES(43), -19, 122)
PP_STEP_ERRORS("b200", "nemo", "fp8", 0, 0, 0, PP_ERROR_SOURCES(43, 44), 71, 32, 49, 28)
PP_STEP_ERRORS("b200", "nemo", "fp8", 1, 1, 0, PP_ERROR_SOURCES(43, 44), -7, -63, -3, -66)
PP_STEP_ERRORS("h100", "fsdp", "fp8", 0, 0, 0, PP_ERROR_SOURCES(43, 44, 47), 237, 205, -43, -37,
    -71, -77, -20, -49, -39)
PP_STEP_ERRORS("gb200", "fsdp", "fp8", 0, 1, 0, PP_ERROR_SOURCES(44), -124)
PP_STEP_ERRORS("h100", "fsdp", "bf16", 0, 1, 0, PP_ERROR_SOURCES(45, 46), -91, -68, -49, -100, -89,
    -69, -50, -47, -31, -122, -96, -72, -87, -57, -38, -112, -71, -47, -58, -117, -36, -50, -148,
    -147, -152, -35, -17, -6, -60, -47, -28, -26, -19)
PP_STEP_ERRORS("h100", "fsdp", "bf16", 0, 0, 0, PP_ERROR_SOURCES(46), -243, -91, -93, -93, 12, 15,
    -1, -141, -11, 32, 24, 0, 6, -58, -18, 22, 34, -10, 8, 3, 17, 4, 17, -8, -21, -17, -21, -28,
    -35, -46, -15, -6, -17, -37, -97, 3, 5)
PP_STEP_ERRORS("a100", "fsdp-pt1", "bf16", 0, 1, 0, PP_ERROR_SOURCES(48), -37)
PP_STEP_ERRORS("a100", "fsdp", "bf16", 0, 0, 0, PP_ERROR_SOURCES(48), -280, -34, -9, -7, -0, 48, 37,
    28, 23, -67, 24, 13, 20, 18, 17, -11, -29, 10, 27, 21, -26, -25, -27, -17, -20, -10, 37, -17,
    -20, -30, -17, -17, -7, -17, 33, -8, -21, -22, -21, -16, -178, -227, -22, -22, 2, 24, 26, 3,
    -12, -6, 4, -0, -7, 2, -11, -13, -10, -14, -13)
PP_STEP_ERRORS("a100-40", "fsdp-pt1", "bf16", 0, 1, 0, PP_ERROR_SOURCES(49), -83, -292, -18, -8, -9,
    -7, 5, 8, -26, -15, 1, -21, -89, -73, -57, -51, -62, -47, -221, -28, -60, -51, -43, -45, -33,
    -24, -5, 23, -43, -37, -25, 0)
PP_STEP_ERRORS("a100-40", "fsdp-pt1", "bf16", 0, 0, 0, PP_ERROR_SOURCES(49), -107, -105, -132, -134,
    -133, -4, -5, -4, -1, -1, -14, 31, 13, -46, -42, -22, -23, -3, 22, -12, -23, -23, -23, -14, -15,
    34, -5, -24, -27, -30, -17, -20, -19, 8, 29, 38, 38, 45, 47, -77, -36, 19, 33, 37, 27, 32)
PP_STEP_ERRORS("h100", "torchtitan", "bf16", 0, 0, 0, PP_ERROR_SOURCES(50), -157, -25)
PP_MEMORY_ERRORS("h100", "torchtitan", "bf16", 0, 0, 0, PP_ERROR_SOURCES(50), -47, 19)
PP_STEP_ERRORS("h100", "torchtitan", "fp8", 0, 0, 0, PP_ERROR_SOURCES(50), -51, -123, -71, -308,
    -339)
PP_MEMORY_ERRORS("h100", "torchtitan", "fp8", 0, 0, 0, PP_ERROR_SOURCES(50), 22, -7, -11, -9, -14)
PP_STEP_ERRORS("h100", "torchtitan", "bf16", 0, 1, 0, PP_ERROR_SOURCES(50, 51), -182, -49, -14, -56,
    -15, -97)
PP_MEMORY_ERRORS("h100", "torchtitan", "bf16", 0, 1, 0, PP_ERROR_SOURCES(50), -44, 33)
PP_STEP_ERRORS("h100", "torchtitan", "fp8", 0, 1, 0, PP_ERROR_SOURCES(50, 51), -70, 84, -33, 59, 41,
    -216, -310, 49, -26, -234, -315)
PP_MEMORY_ERRORS("h100", "torchtitan", "fp8", 0, 1, 0, PP_ERROR_SOURCES(50), 36, -240, -192)
PP_STEP_ERRORS("h200", "torchtitan", "fp8", 0, 1, 0, PP_ERROR_SOURCES(52), -63, -77)
PP_MEMORY_ERRORS("h200", "torchtitan", "fp8", 0, 1, 0, PP_ERROR_SOURCES(52), 396, 384)
PP_STEP_ERRORS("a100", "internevo", "bf16", 0, 0, 0, PP_ERROR_SOURCES(53, 54), -39, -35, -56, -71,
    -48, -29)
PP_STEP_ERRORS("a100", "internevo", "bf16", 0, 1, 0, PP_ERROR_SOURCES(53, 54), -17, -40, -54, -76,
    -142, -44, -37, -25, -27, -28, -34, -66, -75, -107, -156, -74, -63, -59, -56, -54, -41, -15,
    -42, -26, -39, -44, -37, -25, -27, -28)
PP_STEP_ERRORS("a800", "amsp", "bf16", 0, 1, 0, PP_ERROR_SOURCES(56), -79, -79, -76)
PP_STEP_ERRORS("a800", "deepspeed", "bf16", 0, 1, 0, PP_ERROR_SOURCES(56), -254, -69, -667, -762,
    -143, -114)
PP_STEP_ERRORS("h800", "megatron-2023", "bf16", 1, 1, 0, PP_ERROR_SOURCES(57, 59), -28, -27, -18,
    -11, 1, -5, 17, -2, -8, -7, -5, -16, -11, -24, -35, -25, -34, -45, -34, -38, -31, -49, 34, -116)
PP_STEP_ERRORS("a800", "megatron-2023", "bf16", 1, 0, 0, PP_ERROR_SOURCES(58), 54, 46, -5)
PP_STEP_ERRORS("h800", "megatron-2023", "bf16", 1, 0, 0, PP_ERROR_SOURCES(58), 45, 35, -34)
PP_MEMORY_ERRORS("h800", "megatron-2023", "bf16", 1, 1, 0, PP_ERROR_SOURCES(60), 1, 7, 14, 15, 17,
    -1, 21, 13)
PP_STEP_ERRORS("a100", "paxml", "bf16", 0, 1, 0, PP_ERROR_SOURCES(61), -115, -127, 71)
PP_STEP_ERRORS("a100", "paxml-te", "bf16", 0, 1, 0, PP_ERROR_SOURCES(61), -187, -88, 66)
PP_STEP_ERRORS("v100-16", "xla", "fp16", 0, 0, 0, PP_ERROR_SOURCES(65), 12, 5, 7, 21, -76, 17, -201,
    -56, 2, 7, 11, 4, 21, 10, -89, -58, -67)
PP_MEMORY_ERRORS("v100-16", "xla", "fp16", 0, 0, 0, PP_ERROR_SOURCES(65), -30, 47, -21, -14, 59, 41,
    55, 52, 26, -30, -30, 47, -14, -30, -2, -163, -335)
PP_STEP_ERRORS("h100", "nemo", "bf16", 0, 0, 0, PP_ERROR_SOURCES(66, 71, 77), 102, 58, 48)
PP_STEP_ERRORS("h100", "nemo", "bf16", 0, 1, 0, PP_ERROR_SOURCES(66, 68, 69, 71, 72, 75, 77, 79),
    99, 97, 96, 97, -3, 74, 73, 69, 69, 66, 57, 51, 38, 31, 41, 40, 40, 27, 43, 38, 31, 26, 30, 23,
    20, 25, 48, 40, 36, 33, 32, 36, 25, 25, 15, 20, 7, 11, -1)
PP_STEP_ERRORS("h100", "nemo", "bf16", 1, 1, 0, PP_ERROR_SOURCES(66, 67, 68, 70, 73, 76, 78, 80),
    47, 46, 46, 47, 49, 49, 11, 17, 19, 18, 18, 78, 68, 68, 65, 63, 113, 115, 116, 118, 50, 44, 43,
    38, 34, 36, 36, 39, 41, 41, 23, 43, 42, 37, 32, 30, 26, 46, 43, 29, 40, 40, 36, 39, 41, 41, 23)
PP_STEP_ERRORS("h100", "nemo", "bf16", 0, 0, 1, PP_ERROR_SOURCES(74, 81), -47, -48)
PP_STEP_ERRORS("h100", "nemo", "bf16", 0, 1, 1, PP_ERROR_SOURCES(74, 81), -50, -25, -80, -42, -20,
    -45)
PP_STEP_ERRORS("h100", "nemo", "fp8", 0, 0, 1, PP_ERROR_SOURCES(74, 81), -141, -149)
PP_STEP_ERRORS("gb200", "nemo", "bf16", 1, 1, 0, PP_ERROR_SOURCES(82, 84), -46, -51, -49, 72, 105,
    113, -25, -24, -11)
PP_STEP_ERRORS("gb200", "nemo", "bf16", 0, 1, 1, PP_ERROR_SOURCES(83), 62, 57, 71)
PP_STEP_ERRORS("gb200", "nemo", "fp8", 0, 1, 1, PP_ERROR_SOURCES(83), -32, -12, -0)
/* clang-format on */
