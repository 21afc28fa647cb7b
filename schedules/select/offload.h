/* schedules/select/offload.h — the options that say where state lives, and who updates it there. */
#pragma once

#include "core/cost/state.h"

/* Classes and tiers of the runs of a program, which messages list. */
struct pp_offload_scope {
    bool generates; /* parameters, keys and values; else all classes of training */
    bool has_peers; /* idle devices may lend memory */
};

/* Parses "p,os=host,a=nvme:40%" into home and moved_frac of `state`. A class without a tier takes
 * that of the next one, with its share. The share `auto` is below 0. PP_EINVAL names the text and
 * the values that a run of this scope has. Classes and tiers of other runs are parsed, too. */
enum pp_status pp_offload_parse(const char *text, const struct pp_offload_scope *scope,
                                struct pp_state_spec *state, struct pp_error *err);

/* Values of the options. */
struct pp_offload_options {
    const char *homes;        /* --offload; NULL = not given */
    const char *bucket;       /* --update-bucket; NULL = not given */
    bool is_cpu_update;       /* --cpu-optimizer */
    bool is_summed_on_device; /* --sum device */
    bool is_early;            /* --update jit */
    struct pp_offload_scope scope;
};
/* Takes them into `state`. PP_EINVAL for those without effect, with the nearest that have one. */
enum pp_status pp_offload_take(const struct pp_offload_options *options,
                               struct pp_state_spec *state, struct pp_error *err);

/* Values that a run has found itself; they get a star. */
struct pp_offload_found {
    bool is_share[PP_STATE_CLASSES], is_cache;
};
/* Returns the end of a line about state: "; 55 %* of os on host, updated by the host". "" if all is
 * on the device. A "~" is a blank at which no line ends. */
const char *pp_offload_words(struct pp_arena *arena, const struct pp_state_spec *state,
                             const struct pp_offload_found *found);
/* Prints homes as pp_offload_parse() takes them. */
const char *pp_offload_print(struct pp_arena *arena, const struct pp_state_spec *state);
