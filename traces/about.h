/* traces/about.h — the settings of a run: the data that a calibration needs in addition to events.
 * They are under "otherData" in a JSON trace and missing in CSV. In the arena of the trace. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <jansson.h>
#include <stdbool.h>

struct pp_trace_about {
    const char *version; /* version of the program that ran */
    /* the machine, on which durations depend */
    const char *cpu, *backend, *kernels, *transport, *clock; /* clock: "virtual" or "wall" */
    int cores;                                               /* 0: not known */
    const char *what_if; /* --slow, --link-bw, --unit as typed; "" = ops have real durations */
    const char *const *options; /* [option_count] options of the run: "--pp", "2", ... */
    int option_count;
    double alpha_s, bytes_per_s; /* wires of the virtual clock; 0, 0 on the wall clock */
    int value_bytes, gradient_bytes;
};

json_t *pp_trace_about_json(const struct pp_trace_about *about);
/* Strict: PP_EINVAL with `name` and the key. */
enum pp_status pp_trace_about_read(struct pp_arena *arena, const char *name, json_t *object,
                                   const struct pp_trace_about **about, struct pp_error *err);
/* "virtual clock on AMD EPYC 9004, 2 cores, cpu (fp32: avx512), local" */
const char *pp_trace_about_machine(struct pp_arena *arena, const struct pp_trace_about *about);
/* Other settings: "wires of 10.0 us + bytes / (10 GB/s), values of 4 bytes, gradients of 4" */
const char *pp_trace_about_wires(struct pp_arena *arena, const struct pp_trace_about *about);
/* Is true if durations of both are comparable. */
bool pp_trace_about_is_same_machine(const struct pp_trace_about *a, const struct pp_trace_about *b);
