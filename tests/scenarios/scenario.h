/* tests/scenarios/scenario.h — runs of the real command line, and what is said about them.
 *
 * A scenario prints tables and statements on stdout and exits 1 when a statement that it asserts is
 * false. Goals are reported as met or missed and never fail: published figures, not facts about
 * pipesim. docs/scenarios.md holds the output. */
#ifndef PP_TESTS_SCENARIO_H
#define PP_TESTS_SCENARIO_H

#include <stdbool.h>

/* Figures of one report. */
struct figures {
    double iteration_s, samples_per_s, bubble_frac, peak_bytes, peak_micro_batches;
    double hfu;                   /* share of the peak, recomputation counted */
    double forward_s, backward_s; /* of an average rank; backward with recomputation */
    int pp, micro_batches;
    bool fits;
    char engine[16];
};

/* Run `pipesim ARGUMENTS --no-alternatives --json` on simgrid, or on dag in unit mode; a run that
 * fails ends the scenario. */
__attribute__((format(printf, 1, 2))) struct figures scenario_run(const char *format, ...);
/* Note a statement: "yes" or "NO" and the text; NO fails the scenario. */
__attribute__((format(printf, 2, 3))) void scenario_assert(bool holds, const char *format, ...);
/* Compare with a published figure: "met" within `tolerance_frac`, else "missed", and by how much.
 */
void scenario_goal(const char *what, double ours, double published, double tolerance_frac);
/* Exit code of the scenario. */
int scenario_end(void);

/* Sections of a program: each printed alone by its name, all without an argument. */
struct section {
    const char *name;
    void (*print)(void);
};
int scenario_main(int argc, char **argv, const struct section *sections);

#endif
