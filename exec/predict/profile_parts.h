/* exec/predict/profile_parts.h — contents of a profile. Private to exec/predict and its tests. */
#pragma once

#include "exec/predict/calibration.h"
#include "exec/predict/profile.h"

/* Seconds of a call: of the member whose layers a machine probes, which is the first, and of the
 * group. The rest of `all_s` is time outside layers. */
struct pp_profiled_call {
    double first_s[3][PP_PARTS], group_s[3][PP_PARTS];
    double all_s;
};
/* A device of the group, with its part of one stage at a time. */
struct pp_profile_member {
    char *memory;
    const struct pp_stage *stage;
    struct pp_state state;
    void **kept, **saved; /* [splits] */
    void **in, **out;     /* [splits], which take turns */
    void *grad[2];        /* of the output and of the input */
    void *scratch, *grad_scratch;
    double *losses;
    int32_t *ids, *targets; /* [rows][seq] */
    struct pp_probe probe;
    struct pp_stage_work work;
    struct pp_group_exchange *exchanges; /* of a call */
};
struct pp_profile {
    struct pp_arena *arena;
    const struct pp_machine_options *options;
    struct pp_backend_device *device;
    int tp, ep, stages;
    struct pp_profile_member *members; /* [tp][ep] */
    const void **from;                 /* [members] */
    int status;                        /* enum pp_fixed_status */
    /* Picoseconds of a layer of a granule. Outside: of an op, without the layers of the first
     * member, or without those of the group. */
    struct pp_samples first[PP_TIMED_PASSES][PP_PARTS], group[PP_TIMED_PASSES][PP_PARTS];
    struct pp_samples outside_first[PP_OP_KINDS], outside_group[PP_OP_KINDS];
};

/* profile_memory.c */
enum pp_status pp_profile_take(struct pp_profile *profile, struct pp_error *err);
/* Lays out the members' parts of a stage, and fills in their weights. */
void pp_profile_open_stage(struct pp_profile *profile, int stage, struct pp_profiled from);

/* Returns the factor from a measured layer of pass `taken` in one layout to pass `wanted` in the
 * other; 1 if either was not profiled. */
double pp_profile_factor(const struct pp_profile *from, const struct pp_profile *to, int taken,
                         int wanted, int part);
/* Returns the difference of the time of an op outside its layers, in picoseconds. */
double pp_profile_more_ps(const struct pp_profile *from, const struct pp_profile *to, int taken,
                          int wanted);
