/* sim/cli/plot_kinds.h — table of the kinds of pictures of `pipesim plot`, read by help, completion
 * and the command. A row has a name, a summary, its sources (mask of enum pp_plot_source), and its
 * function in sim/command/plot.c. Without --kind, the first row with the source is drawn. */
#pragma once

enum pp_plot_source {
    PP_FROM_TABLE = 1,  /* a sweep, or another CSV file with a header */
    PP_FROM_TRACE = 2,  /* one trace */
    PP_FROM_TRACES = 4, /* two traces: predicted, measured */
    PP_FROM_REPORT = 8, /* a report of --json */
    PP_FROM_LOG = 16,   /* a log of a training */
};

#define PP_PLOT_KINDS(KIND)                                                                        \
    KIND("curves", "any column over any other", PP_FROM_TABLE, curves)                             \
    KIND("scatter", "the same, with one point for each row", PP_FROM_TABLE, curves)                \
    KIND("bubble", "bubble over micro-batches, with closed forms", PP_FROM_TABLE, curves)          \
    KIND("scaling", "weak scaling (MFU) or strong (tokens/s) over GPUs", PP_FROM_TABLE, curves)    \
    KIND("throughput", "tokens/s per GPU over sequences per GPU", PP_FROM_TABLE, curves)           \
    KIND("throughput-latency", "tokens/s over the time of a token, of generation", PP_FROM_TABLE,  \
         curves)                                                                                   \
    KIND("tradeoff", "bubble over memory, with named points", PP_FROM_TABLE, curves)               \
    KIND("timeline", "ops of each rank over time", PP_FROM_TRACE, timeline)                        \
    KIND("compare", "the predicted timeline over the measured one", PP_FROM_TRACES, compare)       \
    KIND("error", "predicted over measured durations", PP_FROM_TRACES, error)                      \
    KIND("memory", "bytes by component, of ranks, schedules or points",                            \
         PP_FROM_REPORT | PP_FROM_TABLE, memory)                                                   \
    KIND("memory-time", "activations of each rank over time", PP_FROM_TRACE, held)                 \
    KIND("links", "use of links by class", PP_FROM_REPORT, links)                                  \
    KIND("loss", "losses of a training over its steps", PP_FROM_LOG, loss)
