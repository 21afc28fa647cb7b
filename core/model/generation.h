/* core/model/generation.h — a run that generates: what its passes read and write.
 *
 * Pass 0 reads the prompts and makes the first token of every sequence. Each later pass reads one
 * token of every sequence and makes the next. Plain values, copied freely. */
#pragma once

enum pp_sampling { PP_SAMPLE_GREEDY, PP_SAMPLE_TOP_P };

struct pp_generation {
    int passes;         /* T: tokens made of each sequence; 0 = the run trains */
    int batch;          /* B: sequences of one replica */
    int groups;         /* N, divides B: micro-batches of the program */
    int prompt_groups;  /* N q, divides B: pieces in which pass 0 reads the prompts */
    int prompt_tokens;  /* s: of each sequence */
    int kv_bits;        /* of a cached value; 0 = as activations */
    int weight_bits;    /* of a parameter in memory; 0 = as activations */
    int kv_page_tokens; /* tokens of a page of the cache; 0 = contiguous, for all passes at once */
    double packed_frac; /* share of the padded tokens that are real; 0 or 1 = all */
    enum pp_sampling sampling;
};

/* Pieces of the prompts of a group: granules of its micro-batch. */
static inline int pp_generation_pieces(const struct pp_generation *g)
{
    return g->groups > 0 && g->prompt_groups > g->groups ? g->prompt_groups / g->groups : 1;
}
/* Keys that a token of pass `pass` meets, its own included; of pass 0 the last one. */
static inline int pp_generation_context(const struct pp_generation *g, int pass)
{
    return g->prompt_tokens + pass;
}
