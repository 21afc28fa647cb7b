/* sim/error/generation_rows.h — errors of all predicted rows of tests/published/inference.csv.
 * Include it with PP_GENERATION_ERRORS defined. UPDATE=rows tests/accuracy.sh PIPESIM writes it.
 *
 *    (figure, device, framework, precision, TP > 1, below 2 B, other tiers, family, errors...)
 *    family  number of the family, in the order of the table
 *    errors  predicted / published - 1, in 1/1000 */
/* clang-format off */
PP_GENERATION_ERRORS(LATENCY, "a100", "megatron", "fp16", 1, 0, 0, 0, -119, 47, 35, -10, -18, -43,
    -34, -41, -8, 165, 155, 93, 49)
PP_GENERATION_ERRORS(LATENCY, "a100", "fastertransformer", "fp16", 0, 0, 0, 1, -17, -14, 2, 30, 44,
    32, 22, 25, 3, -12, -2, 3, 3, -3, -6, -32, -14, -23, -10, 4, 9, 2, 17, 16, -7, -4, -13, -1, 3,
    2, 6, 6, 3, -13, -3, 1, -1, -4, -2, -10)
PP_GENERATION_ERRORS(LATENCY, "a100", "fastertransformer", "fp16", 1, 0, 0, 2, 7, -42, -58, -70,
    -52, -29, -20, -77, -62, 35, -7, -18, -38, -59, -63, -84, -108, -83, 22, 2, -18, -42, -40, -39,
    -58, -78, -78, 49, 13, -11, -18, -41, -30, -26, -17, 95, 35, 1, -21, -27, -45, -43, -33, -21,
    48)
PP_GENERATION_ERRORS(LATENCY, "a100", "fastertransformer", "fp16", 0, 1, 0, 3, -77, -111, -146,
    -193, -284, -378, -438, 13, -18, -83, -182, -308, -398, -409)
PP_GENERATION_ERRORS(TOKENS, "a100", "lmdeploy", "fp16", 0, 0, 0, 4, 7, -28, -15, 3, -22, -47, -15,
    -43, 254, -9, 201, -37, -58, 122, -5, 19, -10, -57, 111, 88)
PP_GENERATION_ERRORS(FIRST_TOKEN, "a100", "lmdeploy", "fp16", 0, 0, 0, 4, -10, 40, 40, 23, 23)
PP_GENERATION_ERRORS(TOKEN, "a100", "lmdeploy", "fp16", 0, 0, 0, 4, 103, -4, 26, 55, -14, 116, 71,
    99, 59, 36, 135, 144, 101, 49, 48, 260, 258, 214, 201, 575)
PP_GENERATION_ERRORS(FIRST_TOKEN, "a100", "tensorrt-llm", "fp16", 0, 0, 0, 5, 31, -94, -180, -8)
PP_GENERATION_ERRORS(FIRST_TOKEN, "a100", "tensorrt-llm", "fp16", 1, 0, 0, 5, 62, 22)
PP_GENERATION_ERRORS(TOKENS, "a6000", "flexgen", "fp16", 0, 0, 1, 6, -79, -106, 132)
PP_GENERATION_ERRORS(TOKENS, "a6000", "zero-inference-2023", "fp16", 0, 0, 1, 7, -78, 30, -23)
/* clang-format on */
