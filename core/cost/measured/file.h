/* core/cost/measured/file.h — measured durations by kind of layer: `pipesim calibrate` writes them
 * and --cost reads them.
 *
 * An op of a kind on a stage of n blocks takes n block + embedding + head + op seconds for each of
 * its granules. Embedding and head count on the stages that hold them; op is the time outside of
 * the layers. Durations of one shape hold for any number of layers, stages, ranks and
 * micro-batches, and for any schedule. All times are seconds; everything lives in an arena. */
#pragma once

#include "core/cost/analytic/roofline.h"
#include "core/text/json.h"

enum pp_measured_part {
    PP_MEASURED_BLOCK,
    PP_MEASURED_EMBEDDING,
    PP_MEASURED_HEAD,
    PP_MEASURED_OP,
    PP_MEASURED_PARTS
};
extern const char *const pp_measured_keys[PP_MEASURED_PARTS]; /* "block_s", ... */

enum { PP_MEASURED_KINDS = 5 };
extern const int pp_measured_kinds[PP_MEASURED_KINDS]; /* F, B, I, W, R */

/* Shape that durations belong to. */
struct pp_measured_shape {
    int hidden, heads, kv_heads, ffn, vocab, is_gated; /* of the model */
    int rows, seq, splits;                      /* samples of a granule, tokens of a sample */
    int split;                                  /* 0 .. splits - 1 */
    int experts, top_k, expert_ffn, shared_ffn; /* of every block; 0 experts = all are dense */
    int tp, is_sequence;                        /* workers of a rank; they share tokens, too */
    int ep;                                     /* replicas that share experts */
    int again; /* modules that are recomputed, set of enum pp_again; 0 = whole blocks
                * or none, whose other ops take the same time */
};
/* Layers that an op of a stage computes. */
struct pp_measured_layers {
    int blocks;
    bool has_embedding, has_head;
};
struct pp_measured_op {
    int samples; /* 0 = never measured */
    double part_s[PP_MEASURED_PARTS];
    double residual_frac; /* largest abs(fitted / median - 1) of any kind of stage */
};
/* Substitute for a kind that was never measured: `factor` times the sum of two other kinds. */
struct pp_stand_in {
    int kind[2];
    double factor; /* 0 = no substitute */
};
extern const struct pp_stand_in pp_stand_ins[PP_OP_KINDS];
struct pp_measured_set {
    struct pp_measured_shape shape;
    struct pp_measured_op op[PP_OP_KINDS];
};

/* Measured time of a message, or of a collective of `ranks` members: alpha + bytes * s_per_byte. */
struct pp_measured_line {
    const char *name; /* "wire", "all_reduce", ... */
    double alpha_s, s_per_byte;
    int ranks; /* members of a collective; 0 = a message */
    int samples;
    double residual_frac; /* median over the sizes */
};

struct pp_cost_file {
    const char *path;
    const char *machine;      /* text for reports */
    const char *const *model; /* [model_count] options that name the model: "--model", "tiny" */
    int model_count;
    int value_bytes, gradient_bytes;
    bool is_clipped; /* all ranks meet before the first update */
    struct pp_measured_set *sets;
    int set_count, set_capacity;
    double update_param_s, update_op_s; /* per parameter; per update, without its parameters */
    int update_samples;
    struct pp_measured_line *lines;
    int line_count, line_capacity;
    int trace_count;
};

/* Refuses a file whose ops all take no time. */
enum pp_status pp_cost_file_check(const struct pp_cost_file *file, const char *name,
                                  struct pp_error *err);
/* Read strictly: PP_EINVAL with file and key, PP_EFAIL if the file cannot be read. */
enum pp_status pp_cost_file_read(struct pp_arena *arena, const char *path,
                                 const struct pp_cost_file **file, struct pp_error *err);
enum pp_status pp_cost_file_parse(struct pp_arena *arena, const char *name, const char *text,
                                  size_t length, const struct pp_cost_file **file,
                                  struct pp_error *err);
/* Returns the name of the precision whose values have so many bytes; NULL if none is measured. */
const char *pp_cost_file_precision(int value_bytes);
/* Returns the line of that name, or NULL. */
const struct pp_measured_line *pp_cost_file_line(const struct pp_cost_file *file, const char *name);

/* Returns the shape of a run, split 0. */
struct pp_measured_shape pp_measured_shape_of(const struct pp_cost_inputs *in);
bool pp_measured_shape_is_same(const struct pp_measured_shape *a,
                               const struct pp_measured_shape *b);
/* PP_EINVAL: `shape` was not measured. The message has what was, the nearest first. */
enum pp_status pp_measured_fail_shape(const struct pp_cost_file *file,
                                      const struct pp_measured_shape *shape, struct pp_error *err);
/* Returns the layers of an op of `kind`. A recomputation has those that it computes again: the
 * first blocks of a stage (stage-aware), parts of all blocks (selective), or all layers. */
struct pp_measured_layers pp_measured_layers_of(const struct pp_cost_inputs *in, int kind,
                                                int stage);
/* Returns what keeps layers of `in` from being told apart, and the option without it, such as
 * "context parallelism: --cp 1". NULL = nothing. */
const char *pp_measured_obstacle(const struct pp_cost_inputs *in);
/* Replaces `costs` of the stages of `in` by measured ones. PP_EINVAL for all that was not measured:
 * another shape or precision, messages or sums without a channel, state on other tiers. The
 * message has the measured shapes. */
enum pp_status pp_cost_file_apply(struct pp_arena *arena, const struct pp_cost_file *file,
                                  const struct pp_cost_inputs *in, struct pp_costs *costs,
                                  struct pp_error *err);

/* Returns the time of an all-reduce, scatter or gather of `bytes` at the measured pace. Each turn
 * of a ring has n - 1 steps of bytes / n (Patarasuk and Yuan 2009). `latency_s` is the part without
 * bytes. */
double pp_cost_file_sum_s(const struct pp_cost_file *file, int kind, int members, double bytes,
                          double *latency_s);
/* Return parameters of a stage whose update takes as long as that of its share, and as zeroing the
 * gradients that a backward scatters. An update moves eight words of a parameter; one is a gradient
 * that is zeroed. */
double pp_measured_updated(const struct pp_cost_inputs *in, int stage);
double pp_measured_zeroed(const struct pp_cost_inputs *in, int stage);
