/* sim/inference/inference.h — figures of a run that generates: first tokens, later tokens, their
 * bounds, and the sequences that have room. Definitions: docs/generation.md. */
#pragma once

#include "core/cost/generation/generation.h"
#include "sim/config/config.h"

/* The resource that limits a pass. */
enum pp_limit {
    PP_LIMIT_COMPUTE,
    PP_LIMIT_MEMORY,
    PP_LIMIT_COMMUNICATION,
    PP_LIMIT_HOST,    /* launches and gaps of the host */
    PP_LIMIT_COPIES,  /* parameters, keys and values from another memory tier, or to it */
    PP_LIMIT_WAITING, /* ranks wait for other ranks */
    PP_LIMIT_NONE,    /* not known: unit mode, or there is no such pass */
};
extern const char *const pp_limit_names[]; /* "compute", ... */

/* Copies of a pass that take longest: the tier, and what one device reaches. */
struct pp_pass_copies {
    double s, bytes_per_s;
    enum pp_tier tier;
};

/* Seconds, or units in unit mode. A figure that a run does not have is NAN: in unit mode all but
 * times, with one token those of later tokens. */
struct pp_inference {
    /* over the groups: the end of pass 0 on the last stage, and the time of each pass after it */
    double first_token_s, first_token_p90_s, token_s, token_p90_s;
    double prompts_s;                          /* end of the last pass 0 */
    double latency_s;                          /* end of the last token */
    double tokens_per_s, tokens_per_s_per_gpu; /* generated, by all replicas */
    double prompt_tokens_per_s;
    double kv_bytes_per_token, kv_bytes; /* of a sequence; of all sequences of a replica */
    /* The rank that reads most while tokens are made: share of its memory bandwidth for weights
     * and cache, and share of weights in them. */
    double memory_bandwidth_frac, weights_frac;
    enum pp_limit prompt_bound, token_bound;
    struct pp_pass_copies prompt_copies, token_copies; /* of the same passes as the bounds */
    /* shares of the forward time: matrices, attention, other kernels, host */
    double matrix_frac, attention_frac, kernels_frac, host_frac;
};

/* Computes the figures of a result with times. PP_EFAIL if a law does not hold: a token takes less
 * time than reads of what it needs. */
enum pp_status pp_inference_find(struct pp_arena *arena, const struct pp_result *result,
                                 struct pp_inference **inference, struct pp_error *err);

/* ---- room.c ---------------------------------------------------------------------------------- */

/* Memory of a run for sequences of some length. */
struct pp_room {
    int sequences; /* the most that fit, a multiple of the pieces of prompts; 0: not even one fits
                    */
    enum pp_tier tier; /* that is full first */
    /* A device's room there. What the fullest device has there without sequences, and what each
     * adds: the line through two peaks. */
    double capacity_bytes, fixed_bytes, sequence_bytes;
};
/* Finds the room for sequences of `tokens` tokens each, prompt included; all 0 in unit mode. By
 * bisection over the memory of the program. */
struct pp_room pp_inference_room(const struct pp_result *result, int tokens);
/* Returns the closed form of the same: (free bytes without sequences) / (bytes of a sequence), of
 * the tier that is full first. */
const char *pp_inference_room_text(struct pp_arena *arena, const struct pp_room *room, int tokens);
/* Returns "; KV 128 KiB a token, 1.20 GiB here, 3.4 GiB on host" of the fullest device; "" without
 * a cache. */
const char *pp_inference_cache_text(struct pp_arena *arena, const struct pp_result *result);
