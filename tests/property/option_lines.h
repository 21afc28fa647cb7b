/* tests/property/option_lines.h — command lines at random, over the options of state, memory,
 * experts, kernels and sums. PIPESIM_LONG=1: more of them; PIPESIM_SEED=n: others. */
#ifndef PP_TESTS_OPTION_LINES_H
#define PP_TESTS_OPTION_LINES_H

#include "tests/property/words.h"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Rates that laws change, in GB/s and Tflop/s: all of them doubles. */
struct law_rates {
    double nvlink, nic, ram, h2d, nvme, hbm, peak;
};
extern const struct law_rates law_rates; /* of the lines that are drawn */
const char *law_cluster(struct pp_arena *arena, const struct law_rates *r);

/* Call `check` with `count` lines that run, and what they give by the dag engine. Of those that are
 * refused the reason is read. */
void law_for_each_line(int count, void (*check)(const struct words *w, const struct pp_result *r));

#endif
