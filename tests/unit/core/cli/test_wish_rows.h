/* tests/unit/core/cli/test_wish_rows.h — the options of test_wish.c, one row each. */
/* clang-format off */
PP_ROW_TEXT(preset, "NAME", "", RUN | TRY, .help = "")
PP_ROW_INT(micro_batches, "N", 1, 100, "", RUN, .default_text = "8, or more", .help = "")
PP_ROW_INT(slots, "R", 1, 100, "", RUN, .default_text = "2", .help = "")
PP_ROW_LONG(seed, "S", 0, INT64_MAX, "", RUN, .help = "")
PP_ROW_COUNT(rate, "X", "", RUN, .default_text = "1e-3", .help = "")
PP_ROW_FRAC(share, "FRAC", "", RUN, .neutral = "0", .help = "")
PP_ROW_CHOICE(clock, "NAME", "virtual|wall", "", RUN, .default_text = "wall", .help = "")
PP_ROW_FLAG(no_fold, "", RUN, .help = "")
PP_ROW_TEXT(order, "HOW", "", RUN, .default_text = "strict", .help = "")
PP_ROW_TEXT(map, "ORDER", "", RUN, .neutral = "tp,pp", .help = "")
PP_ROW_TEXT(slow, "RANK=FACTOR", "", RUN, .is_repeatable = true, .help = "")
PP_ROW_INT(worst, "N", 0, 100, "", RUN, .default_text = "5", .help = "")
PP_ROW_AGAIN(INT, worst, "N", "", TRY, .max = 9, .default_text = "7", .help = "")
/* clang-format on */

#undef PP_ROW
#undef PP_ROW_AGAIN
