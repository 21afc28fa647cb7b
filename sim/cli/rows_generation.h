/* sim/cli/rows_generation.h — options of --mode infer; a part of rows.h. */
/* clang-format off */
PP_ROW_INT(batch, "B", 1, BIG, G_GENERATION, RUN | BY_SEARCH,
    .default_text = "one sequence for each of the --prompt-groups",
    .help = "Sequences that a replica serves together. The groups share them.")
PP_ROW_INT(groups, "N", 1, BIG, G_GENERATION, SHAPE | UNIT | BY_SEARCH,
    .default_text = "as many as pipeline ranks, at most the batch",
    .help = "Groups of sequences, which pass through the pipeline one after the other. They "
            "divide the batch.")
PP_ROW_INT(prompt_groups, "N", 1, BIG, G_GENERATION, SHAPE | UNIT,
    .default_text = "--groups",
    .help = "Pieces in which all prompts are read, of whole sequences; a multiple of --groups. "
            "Pieces fill a pipeline sooner.")
PP_ROW_INT(prompt, "TOKENS", 1, 1 << 24, G_GENERATION, RUN, .default_text = "128",
    .help = "Tokens of each prompt.")
PP_ROW_INT(tokens, "T", 1, BIG, G_GENERATION, SHAPE | UNIT,
    .default_text = "128, 1 for an encoder",
    .help = "Tokens generated for each sequence, one a pass. The pass over the prompt makes the "
            "first. 1: prompts are scored or encoded.")
PP_ROW_CHOICE(kv_bits, "BITS", "16|8|4", G_GENERATION, RUN, .default_text = "those of activations",
    .help = "Bits of a cached key or value.")
PP_ROW_CHOICE(weight_bits, "BITS", "16|8|4", G_GENERATION, RUN,
    .default_text = "those of activations", .help = "Bits of a weight in memory.")
PP_ROW_TEXT(kv, "HOW", G_GENERATION, RUN, .default_text = "contiguous", .is_word = true,
    .kind = "contiguous, or paged:TOKENS such as paged:16",
    .help = "Memory of the cache of keys and values. contiguous: room for all tokens from the "
            "prompt on. paged:16: it grows by pages of 16 tokens.")
PP_ROW_FRAC(packed, "FRAC", G_GENERATION, RUN, .default_text = "100 %: no padding",
    .help = "Share of the tokens of padded prompts that are real. The others are left out of "
            "kernels and messages.")
PP_ROW_CHOICE(sampling, "HOW", "greedy|top-p", G_GENERATION, RUN, .default_text = "greedy",
    .help = "How the next token is drawn from the probabilities.")
PP_ROW_TEXT(max_token_s, "TIME", G_GENERATION, PLAN | OF_PLANNER, .kind = "a time, such as 50ms",
    .help = "The most time that each token may take.")
PP_ROW_TEXT(max_first_token_s, "TIME", G_GENERATION, PLAN | OF_PLANNER,
    .kind = "a time, such as 1s", .help = "The most time until the first token.")
/* clang-format on */
