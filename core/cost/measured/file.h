/* core/cost/measured/file.h — measured durations by kind of layer: `pipesim calibrate` writes them
 * and --cost reads them.
 *
 * An op of a kind on a stage of n blocks takes n block + embedding + head + op seconds for each of
 * its granules. Embedding and head count on the stages that hold them; op is the time outside of
 * the layers. Measured at one shape they hold for any number of layers, stages, ranks and
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

/* Kinds of ops that are measured. */
enum { PP_MEASURED_KINDS = 5 };
extern const int pp_measured_kinds[PP_MEASURED_KINDS]; /* F, B, I, W, R */

/* What a duration belongs to. */
struct pp_measured_shape {
    int hidden, heads, kv_heads, ffn, vocab, is_gated; /* of the model */
    int rows, seq, splits; /* samples of a granule, tokens of a sample */
    int split;             /* 0 .. splits - 1 */
};
struct pp_measured_op {
    int samples; /* 0 = never measured */
    double part_s[PP_MEASURED_PARTS];
    double residual_frac; /* of the worst kind of stage: fitted / median - 1, without sign */
};
/* Ops of other kinds that take the place of a kind that was never measured: `factor` times what the
 * two take together. */
struct pp_stand_in {
    int kind[2];
    double factor; /* 0: nothing stands in */
};
extern const struct pp_stand_in pp_stand_ins[PP_OP_KINDS];
struct pp_measured_set {
    struct pp_measured_shape shape;
    struct pp_measured_op op[PP_OP_KINDS];
};

/* alpha + bytes * s_per_byte for a message, or for a collective of `ranks` members. */
struct pp_measured_line {
    const char *name; /* "wire", "all_reduce", ... */
    double alpha_s, s_per_byte;
    int ranks; /* of a collective; 0: a message */
    int samples;
    double residual_frac; /* median of the sizes */
};

struct pp_cost_file {
    const char *path;
    const char *machine;      /* as text, for reports */
    const char *const *model; /* [model_count] options that name the model: "--model", "tiny" */
    int model_count;
    int value_bytes, gradient_bytes;
    bool is_clipped; /* all ranks meet before the first update */
    struct pp_measured_set *sets;
    int set_count, set_capacity;
    double update_param_s,
        update_op_s; /* of a parameter, and of a whole update apart from its parameters */
    int update_samples;
    struct pp_measured_line *lines;
    int line_count, line_capacity;
    int trace_count;
};

/* Strict: PP_EINVAL with file and key, PP_EFAIL when it cannot be read. */
enum pp_status pp_cost_file_read(struct pp_arena *arena, const char *path,
                                 const struct pp_cost_file **file, struct pp_error *err);
enum pp_status pp_cost_file_parse(struct pp_arena *arena, const char *name, const char *text,
                                  size_t length, const struct pp_cost_file **file,
                                  struct pp_error *err);
/* Name of the precision whose values have so many bytes, NULL: none is measured. */
const char *pp_cost_file_precision(int value_bytes);
/* NULL: there is none. */
const struct pp_measured_line *pp_cost_file_line(const struct pp_cost_file *file, const char *name);

/* ---- core/cost/measured/apply.c ---- */
/* Shape of a run, split 0. */
struct pp_measured_shape pp_measured_shape_of(const struct pp_cost_inputs *in);
bool pp_measured_shape_is_same(const struct pp_measured_shape *a,
                               const struct pp_measured_shape *b);
/* Put what was measured in place of what `costs` say of the stages of `in`. PP_EINVAL where that
 * was never measured (another shape or precision, messages or sums without a channel, tensor or
 * expert parallelism, sharded state), with what was. */
enum pp_status pp_cost_file_apply(struct pp_arena *arena, const struct pp_cost_file *file,
                                  const struct pp_cost_inputs *in, struct pp_costs *costs,
                                  struct pp_error *err);

/* An all-reduce of `bytes` among `members`: 2 (n - 1) steps of bytes / n each (Patarasuk and Yuan
 * 2009), at the pace that was measured. `latency_s`: the share that is there without bytes. */
double pp_cost_file_all_reduce_s(const struct pp_cost_file *file, int members, double bytes,
                                 double *latency_s);
