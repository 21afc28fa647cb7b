/* bench/probe/probe.h — assumptions of the CUDA code, as questions to a GPU. Each is answered in
 * well under a second, before any other work. Each runs alone in a process that may crash or hang,
 * so that its name tells where to begin. */
#ifndef PP_BENCH_PROBE_PROBE_H
#define PP_BENCH_PROBE_PROBE_H

#include "core/error.h"

#include <stdbool.h>

enum { PROBE_FINDINGS = 16 };

/* Numbers that a probe has found, with names that say their unit. */
struct probe_findings {
    struct {
        const char *name;
        double value;
    } of[PROBE_FINDINGS];
    int count;
};

struct probe {
    const char *name;
    /* PP_EFAIL: what the code relies on is not so. `is_trial`: on an emulated device, so do less.
     */
    enum pp_status (*run)(struct probe_findings *f, bool is_trial, struct pp_error *err);
};

/* Ended by a name that is NULL. */
extern const struct probe probes_of_runtime[], probes_of_kernels[], probes_of_backend[];

void probe_found(struct probe_findings *f, const char *name, double value);

/* PP_EFAIL "cannot WHAT: NAME (description)" unless `code`, a cudaError_t, is 0. */
enum pp_status probe_try(int code, const char *what, struct pp_error *err);

double probe_seconds(void);

#endif
