/* traces/about.h — the settings of a run: all that a calibration needs in addition to the events.
 * In the JSON form of a trace, under "otherData"; CSV has no place for it. In the arena of the
 * trace. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <jansson.h>
#include <stdbool.h>

struct pp_trace_about {
    const char *version; /* of the program that ran */
    /* the machine; durations of another one are others */
    const char *cpu, *backend, *kernels, *transport, *clock; /* clock: "virtual" or "wall" */
    int cores;                                               /* 0: not known */
    const char *what_if; /* --slow, --link-bw, --unit as typed; "" = ops took what they took */
    const char *const *options; /* [option_count] the run as pipesim takes it: "--schedule",
                                 * "1f1b", "--pp", "2", ... */
    int option_count;
    double alpha_s, bytes_per_s; /* the wires of the virtual clock; 0, 0 on the wall clock */
    int value_bytes, gradient_bytes;
};

/* One JSON object. */
json_t *pp_trace_about_json(const struct pp_trace_about *about);
/* Strict: PP_EINVAL with `name` and the key. */
enum pp_status pp_trace_about_read(struct pp_arena *arena, const char *name, json_t *object,
                                   const struct pp_trace_about **about, struct pp_error *err);
/* "virtual clock on AMD EPYC 9004, 2 cores, cpu (fp32: avx512), local" */
const char *pp_trace_about_machine(struct pp_arena *arena, const struct pp_trace_about *about);
/* What else makes durations others: "wires of 10.0 us + bytes / (10 GB/s), values of 4 bytes,
 * gradients of 4" */
const char *pp_trace_about_wires(struct pp_arena *arena, const struct pp_trace_about *about);
/* Would both measure the same? */
bool pp_trace_about_is_same_machine(const struct pp_trace_about *a, const struct pp_trace_about *b);
