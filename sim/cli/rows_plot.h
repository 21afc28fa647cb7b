/* sim/cli/rows_plot.h — options of pictures; a part of rows.h. */
/* clang-format off */
PP_ROW_CHOICE(kind, "KIND", &(PP_PLOT_KINDS(CHOICE))[1], G_PLOT, PLOT,
    .default_text = "depends on the files", .help = "What to draw." PP_PLOT_KINDS(SUMMARY))
PP_ROW_TEXT(x, "COLUMN", G_PLOT, PLOT,
    .help = "Column of the x axis; default: the input with most values. Any column of the sweep, "
            "or gbs_per_gpu.")
PP_ROW_TEXT(y, "COLUMN", G_PLOT, PLOT, .help = "Column of the y axis; default: bubble_frac, with --mode infer tokens_per_s_per_gpu.")
PP_ROW_TEXT(by, "COLUMN,...", G_PLOT, PLOT,
    .help = "Columns that distinguish the curves, or none; default: the schedule and all other "
            "inputs that vary.")
PP_ROW_TEXT(where, "COLUMN=VALUE", G_PLOT, PLOT, .is_repeatable = true,
    .help = "Only rows with this value, or with one of several: pp=4,8.")
PP_ROW_TEXT(points, "FILE", G_PLOT, PLOT,
    .help = "Also draw published or measured values: a CSV file with the columns of both axes. "
            "The columns of --by assign a point to a curve; a column label names it.")
PP_ROW_FLAG(log_x, G_PLOT, PLOT, .help = "A logarithmic x axis; the default if values double.")
PP_ROW_FLAG(
    log_y, G_PLOT, PLOT, .help = "A logarithmic y axis; the default if values span three decades.")
PP_ROW_TEXT(x_range, "LO:HI", G_PLOT, PLOT,
    .help = "Ends of the x axis, in units of the column: 8:64, 8: or :64.")
PP_ROW_TEXT(y_range, "LO:HI", G_PLOT, PLOT,
    .help = "Ends of the y axis, in units of the column: 0:0.5, or 0:50%.")
PP_ROW_TEXT(ranks, "LO:HI", G_PLOT, PLOT, .help = "Only these ranks of a timeline: 0:7, 4: or 3.")
PP_ROW_TEXT(window, "FROM:TO", G_PLOT, PLOT,
    .help = "Only this part of a timeline: 10ms:20ms, 1.5s: or :200us. With --step or two traces, "
            "time counts from the begin of the step.")
PP_ROW_TEXT(step, "K", G_PLOT, PLOT, .default_text = "the median step",
    .help =
        "Only step K of a trace of several steps; the first is 1. all: a timeline of all steps.")
PP_ROW_CHOICE(time_unit, "UNIT", "seconds|units", G_PLOT, PLOT,
    .default_text = "as the trace says, else seconds",
    .help = "Unit of the times in a trace; units for a run with --unit, whose CSV does not say.")
PP_ROW_TEXT(title, "TEXT", G_PLOT, PLOT | REPORT | UNIT,
    .help = "Title of the picture; default: what it shows, or nothing with --paper.")
PP_ROW_FLAG(paper, G_PLOT, PLOT | REPORT | UNIT,
    .help = "Format of a column of a paper: 3.3 inches wide, 8 pt, dashes with colours.")
PP_ROW_TEXT(size, "WxH", G_PLOT, PLOT | REPORT | UNIT,
    .help = "Size of the picture in inches, 6x4, or 15x10cm.")
/* clang-format on */
