/* tests/exec/cuda_case.h — trainings on the emulated device. A file that includes it defines
 * _GNU_SOURCE first. */
#pragma once

#include "exec/cuda/module.h"
#include "tests/exec/equal.h"

#include <stdio.h>
#include <stdlib.h>

/* PIPEEXEC_CUDA_MODULE names it; the seed is of orders that no event forbids. */
static inline const struct pp_cuda_module *cuda_load(int seed)
{
    const struct pp_cuda_module *module;
    struct pp_error err = {0};
    char text[16];

    snprintf(text, sizeof(text), "%d", seed);
    setenv("PP_EMULATED_SEED", text, 1);
    cr_assert_eq(pp_cuda_load(&module, &err), PP_OK, "%s", err.message);
    return module;
}

static inline void cuda_train(struct pp_arena *arena, const struct exec_case *c,
                              struct exec_run *run)
{
    cr_assert(exec_run(arena, c, run), "%s was refused", exec_case_text(arena, c));
}

/* To the bit. */
static inline struct exec_case cuda_case(const struct pp_cuda_module *module,
                                         enum pp_device_mode mode)
{
    return (struct exec_case){.backend = module->backend,
                              .kernels = module->fp32,
                              .mode = mode,
                              .uses_graphs = true,
                              .replicas = 1,
                              .mbs = 1,
                              .steps = 3,
                              .layers = 4,
                              .is_exact = true,
                              .clip = 0.5};
}
