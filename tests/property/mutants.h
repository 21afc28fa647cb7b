/* tests/property/mutants.h — kinds of mistakes in the lists of a program, compute only or lowered.
 * Some change nothing, or leave it legal. */
#ifndef PP_TESTS_MUTANTS_H
#define PP_TESTS_MUTANTS_H

#include "schedules/program/program.h"

struct mutation {
    struct pp_arena *arena; /* of the lists */
    const struct pp_program_head *head;
    uint64_t *random; /* state of list_draw() */
};

enum { MUTANTS = 17 };
extern const struct mutant {
    const char *name;
    void (*make)(struct mutation *t, struct pp_orders *o, int rank); /* the rank has an op */
    int weight;                                                      /* how often it is tried */
} mutants[MUTANTS];

/* Two of them by name: a backward becomes I and W; forwards are computed again. */
void mutant_cut_backward(struct mutation *t, struct pp_orders *o, int rank);
void mutant_recompute(struct mutation *t, struct pp_orders *o, int rank);

#endif
