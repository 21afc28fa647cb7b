/* tests/scenarios/chimera_model.h — the performance model by which Chimera's authors choose W, D
 * and B (Li and Hoefler, SC'21, section 3.4). The scenarios compare it with the simulation:
 *
 *     T = (F + p2p) C_f + (B + p2p) C_b + max over workers of the unoverlapped all-reduce
 *     p2p = alpha + beta bytes,  all-reduce = 2 log2(r) alpha + 2 (r-1)/r beta bytes
 *
 * with C_f = N forwards and C_b = N + D - 2 backwards on the critical path (N = D: D and 2D - 2)
 * and r = 2 W. Stages are equal: embedding and head are ignored. The optimizer is no part of it. */
#ifndef PP_TESTS_CHIMERA_MODEL_H
#define PP_TESTS_CHIMERA_MODEL_H

#include <stdbool.h>

struct chimera_model {
    const char *model; /* on p100-daint */
    int d, w, b, n, seq;
    bool is_recomputed;
};

/* Seconds of a step. Sizes are those of a run that pipesim accepts; others are assertions. */
double chimera_model_s(const struct chimera_model *run);

#endif
