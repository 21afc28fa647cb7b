/* core/cost/recompute.h — recomputation, as --recompute names it: what a stage computes again
 * before a backward, instead of saving it. */
#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "core/model/model.h"

enum pp_recompute {
    PP_RECOMPUTE_NONE,
    PP_RECOMPUTE_SELECTIVE,
    PP_RECOMPUTE_FULL,
    PP_RECOMPUTE_STAGE
};
extern const char *const pp_recompute_names[];

/* Modules that selective recomputation computes again, as a sum; 0 = the framework's default.
 * Megatron-Core's --recompute-modules. */
enum pp_again {
    PP_AGAIN_CORE = 1,   /* attention between its projections */
    PP_AGAIN_NORM = 2,   /* norms in front of attention and MLP */
    PP_AGAIN_ACT = 4,    /* activation functions of MLPs and experts */
    PP_AGAIN_LATENT = 8, /* norms and matrices from narrow to wide of latent attention */
    PP_AGAIN_MLP = 16,   /* dense MLPs */
    PP_AGAIN_MOE = 32,   /* mixtures of experts with router, exchanges and shared experts */
    PP_AGAIN_ALL = 63
};
extern const struct pp_again_name {
    const char *name; /* Megatron-Core's name, but for "act", which is not of experts alone; the
                       * first of a module is printed */
    enum pp_again module;
} pp_again_names[]; /* terminated by NULL */
/* Parses "core_attn+layernorm"; PP_EINVAL with the known names, or those that `model` has unless it
 * is NULL. */
enum pp_status pp_again_read(const char *text, const struct pp_model *model, unsigned *again,
                             struct pp_error *err);
/* Prints the modules by their first names, in their order; "" for 0. */
void pp_again_print(unsigned again, char *text, size_t size);

/* Words after a comma: when a recomputation runs, and where it is left out. */
struct pp_again_words {
    bool is_early;   /* R runs before the gradient arrives, as it does without a word */
    bool is_late;    /* R waits for the gradient of its backward (Megatron-LM) */
    bool is_skipped; /* no R where a backward follows its own forward on the rank at once; that
                      * forward saves in full (Merak) */
};
enum { PP_AGAIN_WORDS_BYTES = 24 };
/* Prints each word after a `separator`: ",late,skip"; "" for none. Returns `text`. */
const char *pp_again_words_print(struct pp_again_words words, const char *separator,
                                 char text[PP_AGAIN_WORDS_BYTES]);

/* A value of --recompute. */
struct pp_recompute_choice {
    enum pp_recompute how;
    unsigned again;           /* PP_RECOMPUTE_SELECTIVE: set of enum pp_again */
    double first_stage_ratio; /* PP_RECOMPUTE_STAGE: rho_1 (Merak's rule, docs/costs-memory.md) */
    struct pp_again_words words;
};
/* Parses it: none, selective, selective=MODULES, full, stage-aware=R, each but none with words.
 * PP_EINVAL with the legal values, and for modules that no block of the model has. `model` NULL:
 * there is none, and MODULES are refused. */
enum pp_status pp_recompute_read(const char *text, const struct pp_model *model,
                                 struct pp_recompute_choice *choice, struct pp_error *err);
/* Prints a recomputation as --recompute takes it, without the R of stage-aware: "none",
 * "selective=layernorm+act". Returns `text`. */
enum { PP_RECOMPUTE_TEXT_BYTES = 104 };
const char *pp_recompute_print(enum pp_recompute recompute, unsigned again,
                               char text[PP_RECOMPUTE_TEXT_BYTES]);
/* Adds the words to a recomputation as --recompute takes it; nothing to "none". Returns `text`. */
const char *pp_recompute_add_words(struct pp_again_words words, char text[PP_RECOMPUTE_TEXT_BYTES]);
/* Returns the share of the blocks of a stage that recompute. */
double pp_recompute_frac(enum pp_recompute how, double first_stage_ratio, int stages, int stage);
/* Returns that of every stage, [stages]. */
double *pp_recompute_shares(struct pp_arena *arena, enum pp_recompute how, double first_stage_ratio,
                            int stages);
/* Returns the number of its `blocks`, rounded up, so that a stage saves no more than by its share.
 */
int pp_recompute_blocks(const struct pp_recompute_choice *choice, int stages, int stage,
                        int blocks);
