/* exec/generate/generate.h — the command generate: a model continues texts, token by token. */
#pragma once

#include "core/text/terminal.h"
#include "exec/generate/sample.h"
#include "exec/generate/token_text.h"
#include "exec/resolve/config.h"
#include "exec/resolve/resume.h"

#include <stdio.h>

/* Values that the tool chose. */
enum pp_generate_chosen {
    PP_GENERATE_CHOSE_PROMPT = 1 << 0,
    PP_GENERATE_CHOSE_BATCH = 1 << 1,
    PP_GENERATE_CHOSE_GROUPS = 1 << 2,
    PP_GENERATE_CHOSE_TOKENS = 1 << 3,
};

/* Prompts of all sequences, of all replicas. */
struct pp_prompts {
    int count;           /* different ones; sequence i has prompt i % count */
    const char **text;   /* [count] */
    const size_t *bytes; /* [count] */
    const int32_t *ids;  /* [count][tokens] */
    int tokens;
};

/* The logit of a word that differs most. */
struct pp_generate_logit {
    double most; /* its difference */
    int sequence, position;
    int32_t word;
    double value, expected;
};

/* A token that differs, or its logits do. */
struct pp_generate_token {
    int sequence, position; /* -1 = none; the position counts the prompt */
    int32_t token, expected;
    uint64_t logits, expected_logits; /* hashes: see pp_generate_result */
};

/* How two runs differ in tokens and logits. */
struct pp_generate_difference {
    bool is_done;
    int64_t compared; /* tokens */
    struct pp_generate_token first;
    struct pp_generate_logit any, frac; /* frac: over the greatest logit of its token */
};

struct pp_generate_result {
    const int32_t *tokens;  /* [sequences][passes] */
    const uint64_t *logits; /* likewise: pp_hash_of_logits(), if they are compared */
    const struct pp_trace *trace;
    bool is_member; /* a process other than the first: all else is unset */
    double first_token_s, token_s, total_s, tokens_per_s;
    /* A token of the second half, and as the first half predicts it; NAN = too few tokens. */
    double late_token_s, predicted_late_token_s;
    double structural_error_s;                  /* NAN: no virtual clock */
    double machinery_frac;                      /* NAN: unknown */
    double kv_bytes, predicted_kv_bytes;        /* of all caches */
    struct pp_generate_difference alone, again; /* against one rank, and without a cache */
};

struct pp_generate {
    struct pp_exec_config config;
    void (*stuck)(const struct pp_error *err); /* ends the process */
    struct pp_generation of;                   /* of one replica */
    unsigned chosen;                           /* enum pp_generate_chosen */
    struct pp_token_texts texts;
    struct pp_prompts prompts;
    struct pp_sampler sampler;
    const char *sampling; /* as typed */
    const char *weights;  /* where they come from; NULL = they are drawn */
    const struct pp_program *program;
    struct pp_batch batch;
    bool is_checked;
    struct pp_generate_result result;
    double wall_s; /* of the whole run */
};
static inline int pp_generate_sequences(const struct pp_generate *g)
{
    return g->of.batch * g->config.replicas;
}

/* resolve.c: resolves and checks all of a run before it begins. PP_EINVAL with the nearest legal
 * values; PP_EFAIL for files that cannot be read. */
enum pp_status pp_generate_resolve(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                   struct pp_generate *g, struct pp_error *err);
/* sizes.c: resolves batch, groups and tokens, after the prompts. */
enum pp_status pp_generate_sizes(const struct pp_exec_wish *wish, struct pp_generate *g,
                                 struct pp_error *err);
/* program.c: makes the program, after the sizes, or takes that of a file. PP_EPROGRAM for an
 * illegal file. */
enum pp_status pp_generate_program(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                   struct pp_generate *g, struct pp_error *err);
/* prompts.c: opens the tokenizer, and reads the prompts. */
enum pp_status pp_generate_prompts(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                   struct pp_generate *g, struct pp_error *err);

/* run.c: generates; writes the text of the first sequence to `out` as it comes, unless NULL. */
enum pp_status pp_generate_run(struct pp_arena *arena, const struct pp_exec_wish *wish,
                               struct pp_generate *g, FILE *out, struct pp_error *err);
/* check.c: generates again, on one rank and without a cache, and compares. PP_ETOLERANCE, with
 * sequence and position, if that differs. */
enum pp_status pp_generate_check(struct pp_arena *arena, struct pp_generate *g,
                                 struct pp_error *err);
/* Greatest difference of a logit that another order of additions explains, over the largest logit
 * or not; infinite: it is not judged. */
struct pp_generate_bound {
    double most;
    bool is_frac;
};
struct pp_generate_bound pp_generate_bound(const struct pp_generate *g);
/* report.c, json.c: what came out. */
void pp_generate_report(const struct pp_generate *g, struct pp_terminal terminal, FILE *out);
void pp_generate_json(struct pp_arena *arena, const struct pp_generate *g, FILE *out);
