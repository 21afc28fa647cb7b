/* Legal specs of state, for tests that lower programs: by their cuts, and all of them by number. */
#ifndef PP_TESTS_STATE_SPECS_H
#define PP_TESTS_STATE_SPECS_H

#include "core/cost/state.h"

#include <criterion/criterion.h>

/* ZeRO 0 or 1 of two copies. */
static inline struct pp_state_spec specs_zero(int zero)
{
    return pp_state_spec_zero(zero, (struct pp_mesh){2, 1});
}

/* Devices over which parameters, gradients and optimizer state are cut, of so many copies. */
static inline struct pp_state_spec specs_cut(int p, int g, int os, int copies)
{
    struct pp_state_spec spec = {
        .replicas = {copies, 1}, .shard = {{p, 1}, {g, 1}, {os, 1}}, .buffers = 2};
    struct pp_error err = {0};

    cr_assert_eq(pp_state_complete(&spec, &err), PP_OK, "%s", err.message);
    return spec;
}

static inline int specs_digit(int *number, int base)
{
    const int digit = *number % base;

    *number /= base;
    return digit;
}

/* Cut number k of the 30 of 1, 2, 4 and 8 copies. */
static inline struct pp_state_spec specs_cut_at(int k)
{
    for (int copies = 1; copies <= 8; copies *= 2)
        for (int os = 1; os <= copies; os *= 2)
            for (int p = 1; p <= os; p *= 2)
                for (int has_parts = 0; has_parts <= (p < os); has_parts++)
                    if (k-- == 0)
                        return specs_cut(p, has_parts ? os : p, os, copies);
    cr_assert_fail("no such cut");
    return (struct pp_state_spec){0};
}

/* Numbers below SPECS_ON_DEVICE keep everything on the device. */
enum {
    SPECS_CUTS = 30,
    SPECS_ON_DEVICE = SPECS_CUTS * 4,
    SPECS = SPECS_ON_DEVICE * 2 * 3 * 5 * 5 * 3 * 4
};

static inline struct pp_state_spec specs_at(int number)
{
    struct pp_state_spec spec = specs_cut_at(specs_digit(&number, SPECS_CUTS));

    spec.buffers = 1 + specs_digit(&number, 4);
    spec.activation_bits = 4 * specs_digit(&number, 2);
    spec.home[PP_STATE_ACTIVATIONS] = (enum pp_tier)specs_digit(&number, PP_TIERS);
    const int optimizer = specs_digit(&number, 5), params = specs_digit(&number, 5);
    spec.home[PP_STATE_OPTIMIZER] = (enum pp_tier)((optimizer + 1) / 2);
    spec.is_cpu_update = optimizer > 0 && optimizer % 2 == 0;
    spec.home[PP_STATE_PARAMS] = (enum pp_tier)((params + 1) / 2);
    spec.moved_frac[PP_STATE_PARAMS] = params > 0 && params % 2 == 0 ? 0.4 : 0;
    const int update = specs_digit(&number, 3); /* whole, at the end; early; a share */
    spec.has_early_update = spec.is_cpu_update && update == 1;
    spec.moved_frac[PP_STATE_OPTIMIZER] = optimizer > 0 && update == 2 ? 0.6 : 0;
    const int grads = specs_digit(&number, 4); /* only with optimizer state elsewhere */
    spec.home[PP_STATE_GRADS] = optimizer > 0 && grads > 0 ? PP_TIER_HOST : PP_TIER_DEVICE;
    spec.is_summed_on_device = spec.home[PP_STATE_GRADS] && grads > 1;
    spec.moved_frac[PP_STATE_GRADS] = spec.home[PP_STATE_GRADS] && grads > 2 ? 0.4 : 0;
    return spec;
}

/* The same, for a program that keeps several copies of its weights on a rank: these are not cut. */
static inline struct pp_state_spec specs_of_copies(struct pp_state_spec spec)
{
    for (int class = PP_STATE_PARAMS; class <= PP_STATE_GRADS; class ++)
        spec.shard[class] = (struct pp_mesh){1, 1};
    return spec;
}

/* Gradients are summed at the end of a step. */
static inline bool specs_are_summed(const struct pp_state_spec *spec)
{
    return pp_mesh_size(spec->replicas) > pp_state_cut(spec, PP_STATE_PARAMS);
}

#endif
