/* tests/property/words.h — command lines of pipesim, drawn at random or varied, and run in this
 * process: for laws of whole runs. */
#ifndef PP_TESTS_WORDS_H
#define PP_TESTS_WORDS_H

#include "sim/resolve/resolve.h"
#include "tests/unit/support/random_program.h"

enum { MAX_WORDS = 96 };
struct words {
    struct pp_arena *arena;
    char *word[MAX_WORDS];
    int count;
};

/* "pipesim --schedule NAME --cluster TEXT". */
struct words words_begin(struct pp_arena *arena, const char *schedule, const char *cluster);
/* An option with its value; an empty text: a flag. */
__attribute__((format(printf, 3, 4))) void words_say(struct words *w, const char *option,
                                                     const char *format, ...);
/* The same in place of what was said of that option before; with NULL it is left out. */
struct words words_with(const struct words *w, const char *option, const char *text);
/* Value of an option, NULL when it is not given. */
const char *words_of(const struct words *w, const char *option);
/* As a person would type it. */
const char *words_line(const struct words *w);
/* One of a list that ends with NULL. */
const char *words_one_of(struct rng *rng, const char *const *list);

/* A test that ends here failed: the line is one that pipesim must understand, and what it accepts
 * it must simulate. Returns false, with the reason in `err`, for a line that it refuses. */
bool words_run(const struct words *w, const char *engine, struct pp_result *result,
               struct pp_error *err);
/* Latest end of the trace. */
double words_makespan_s(const struct pp_result *result);
/* The same instructions on all ranks: an order that was searched for may be another one. */
bool words_same_program(const struct pp_program *a, const struct pp_program *b);

#endif
