/* exec/net/net.h — the transformer that is trained: its dimensions, and its parameters in order.
 *
 * Layer 0 is the embedding, 1 .. layers the blocks, layers + 1 the head (final norm and matrix). If
 * embedding and head are in two stages, a tied head has its own copy of the embedding matrix. Both
 * copies have the same tensor id, and their gradients are summed. */
#pragma once

#include "core/model/model.h"
#include "kernels/kernels.h"

struct pp_net {
    const char *name;
    int layers, hidden, heads, kv_heads, head_dim, ffn, vocab;
    int seq;              /* tokens of a sample */
    bool has_positions;   /* learned table of seq rows; else rotary */
    int position_offset;  /* rows of that table before its first in use */
    bool is_gated;        /* the activation is that of a gate */
    bool is_parallel;     /* attention and feed-forward layer of a block run side by side */
    bool is_tied, is_rms; /* RMSNorm; else LayerNorm */
    bool has_bias_qkv, has_bias_out, has_bias_mlp, has_bias_norm;
    bool is_encoder; /* BERT: each token meets all of its sample, norms come after each sum and
                      * after the embedding, and the loss is that of hidden words */
    int token_types; /* rows of a table, of which every token has the first; 0 = none */
    struct pp_window window; /* of attention; keys 0 = none */
    bool has_qk_norm;        /* queries and keys are normalized head by head */
    bool has_norm_offset;    /* files have weights of norms less 1 (Gemma), the stages do not */
    /* mixtures of experts, in blocks as pp_net_has_experts() says */
    int experts, top_k; /* experts 0 = none */
    int expert_ffn, shared_ffn;
    int dense_first, every;
    const int *dense; /* further dense blocks, see struct pp_experts */
    int dense_count;
    bool has_plain_gates; /* probabilities of all experts; else those of a token add up to 1 */
    int capacity;         /* choices of a sample that an expert takes; 0 = all */
    double balance_loss;  /* factor of the loss of balance; 0 = none */
    enum pp_activation activation;
    double norm_epsilon;
    double embedding_scale;  /* factor on rows of the embedding; 0 = none */
    struct pp_angles rotary; /* of rotary positions; dim 0 = all of a head */
};

/* Takes the dimensions of a model; seq 0 = its own, `name` is kept by reference. PP_EINVAL for a
 * seq beyond its positions and models that cannot be executed here, with the nearest legal value.
 */
enum pp_status pp_net_from_model(const struct pp_model *model, int seq, struct pp_net *net,
                                 struct pp_error *err);
/* Gives a net of this model samples of another length. */
enum pp_status pp_net_take_seq(struct pp_net *net, const struct pp_model *model, int seq,
                               struct pp_error *err);

/* True if block `block`, from 0, is a mixture of experts. */
bool pp_net_has_experts(const struct pp_net *net, int block);
/* Returns how many of the `count` blocks from `first` on are. */
int pp_net_mixtures(const struct pp_net *net, int first, int count);
/* Returns how many numbers count tokens of experts: [mixtures][experts + PP_EXPERT_MORE]. They are
 * those that each expert of a mixture takes, those without room, and those that another replica
 * has the expert of. The last one is bytes: rows that came from other replicas, with gradients. */
enum { PP_EXPERT_DROPPED, PP_EXPERT_MOVED, PP_EXPERT_BYTES, PP_EXPERT_MORE };
size_t pp_net_expert_tokens(const struct pp_net *net);
/* Returns the keys that a query of block `block`, from 0, meets at most; 0 = all before it. */
int pp_net_window(const struct pp_net *net, int block);
/* Returns the tokens of a sample whose targets count in the loss: all, or the hidden words. */
int pp_net_targets(const struct pp_net *net);

/* PP_EINVAL if the kernels lack a part of the net, with its name and what has it. */
enum pp_status pp_net_check_kernels(const struct pp_net *net, const struct pp_kernels *kernels,
                                    const char *backend, struct pp_error *err);

/* PP_EINVAL if `tp` devices cannot share the blocks of the net evenly, with the nearest legal
 * values. Experts count if all of them share each, so if `etp` is `tp`. */
enum pp_status pp_net_check_tp(const struct pp_net *net, int tp, int etp, struct pp_error *err);
/* Returns the dimensions of the part that each of `tp` devices has, and each of `etp` of an expert.
 */
struct pp_net pp_net_part(const struct pp_net *net, int tp, int etp);

/* Words of the vocabulary. */
struct pp_words {
    int first, count;
};
/* Returns the words whose rows of embedding and head device `index` of `tp` has. The first device
 * has most, up to one more than the others. */
struct pp_words pp_net_words(const struct pp_net *net, int tp, int index);

/* The part of a tensor that one device of a tensor-parallel group has.
 *
 * The devices share each block (Shoeybi et al. 2019, Megatron-LM, section 3). Matrices that read
 * the residual stream are cut by rows of [out][in]: each device has some heads, or some elements of
 * the feed-forward layer. Matrices that end in the stream are cut by columns. Embedding and head
 * are cut by rows, so each device has some words.
 *
 * A slice has `runs` runs of `run` elements, at first, first + stride, ... of the whole tensor. */
struct pp_slice_piece {
    int64_t first, run, stride, runs;
};
static inline struct pp_slice_piece pp_slice_run(int64_t from, int64_t until)
{
    return (struct pp_slice_piece){from, until - from, until - from, 1};
}
/* A device's elements are those of its pieces, one after the other. */
enum { PP_SLICE_PIECES = 3 };
struct pp_slice {
    int64_t whole; /* elements of the whole tensor; 0 = each device has all of it */
    int pieces;
    struct pp_slice_piece piece[PP_SLICE_PIECES];
};

/* Returns the slice of device `index` of `tp`. The rows, of `row` elements, come in groups of
 * groups[] rows on each device (0 ends the list): it has its share of each group. */
struct pp_slice pp_slice_by_rows(int tp, int index, int64_t row,
                                 const int groups[static PP_SLICE_PIECES]);
/* Returns the slice that has rows of `row` elements for some of `rows` words. */
struct pp_slice pp_slice_by_words(int64_t rows, int64_t row, struct pp_words words);
/* Returns the slice that has `columns` elements of each of `rows` rows. */
struct pp_slice pp_slice_by_columns(int tp, int index, int64_t rows, int64_t columns);
/* Returns where element i of a slice is in the whole tensor. From it on, `*run` elements of the
 * slice follow one another there. A slice that is whole has all: `*run` is INT64_MAX. */
int64_t pp_slice_at(const struct pp_slice *slice, int64_t i, int64_t *run);
/* Returns where element i of a slice and the next ones are in the whole tensor: at most `most`.
 * From the begin of a run on, they are whole runs, else the rest of one. */
struct pp_slice_piece pp_slice_runs(const struct pp_slice *slice, int64_t i, int64_t most);
/* Returns the first element of a slice that is not before element `at` of the whole tensor. If
 * there is none, returns the number of its elements. */
int64_t pp_slice_from(const struct pp_slice *slice, int64_t at);

/* Initial weights as in GPT-2 (Radford et al. 2019, section 2.3): normal with deviation 0.02,
 * divided by sqrt(2 layers) for matrices that end in the residual stream. */
enum pp_init { PP_INIT_ZERO, PP_INIT_ONE, PP_INIT_NORMAL };
struct pp_param {
    const char *name; /* "qkv.weight" */
    int id;           /* independent of the division into stages; seeds its random numbers */
    int layer;
    int64_t count, offset; /* elements; offset in the stage's flat vectors */
    enum pp_init init;
    double deviation; /* PP_INIT_NORMAL */
    bool decays;      /* weight decay applies: matrices, tables */
    bool is_tied;     /* the embedding matrix of a tied model, in the first and the last stage */
    struct pp_slice slice; /* which of its elements are here, if devices share it */
    int experts;           /* whose tensors these are, one after the other; 0 = one tensor of all */
    bool is_cut;           /* devices of a tensor-parallel group have different elements */
    int order;             /* among the tensors of its stage, from the embedding on */
};
/* Returns the number of tensors in it: of each expert, or one. */
static inline int pp_param_tensors(const struct pp_param *param)
{
    return param->experts > 0 ? param->experts : 1;
}
