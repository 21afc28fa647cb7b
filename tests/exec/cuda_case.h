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

/* A variant, to the bit: what it leaves open is as usual. */
static inline struct exec_case cuda_variant(const struct pp_cuda_module *module,
                                            enum pp_device_mode mode,
                                            const struct exec_case *variant, bool is_bf16)
{
    const struct exec_case usual = cuda_case(module, mode);
    struct exec_case c = *variant;

    c.backend = usual.backend;
    c.kernels = is_bf16 ? module->bf16 : module->fp32;
    c.mode = mode;
    c.uses_graphs = usual.uses_graphs;
    c.replicas = c.replicas ? c.replicas : usual.replicas;
    c.mbs = usual.mbs;
    c.steps = usual.steps;
    c.layers = usual.layers;
    c.is_exact = usual.is_exact;
    c.clip = usual.clip;
    return c;
}

static inline void cuda_machine(struct pp_arena *arena, const struct exec_case *c,
                                struct exec_run *run, struct pp_machine **machine)
{
    struct pp_error err = {0};

    cr_assert_eq(exec_run_make(arena, c, run, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_machine_create(arena, &run->training.machine, machine, &err), PP_OK, "%s",
                 err.message);
}

/* Seconds of all parts of an instruction; 0: it has none. */
static inline double cuda_parts_s(const struct pp_machine *machine, int instruction)
{
    const struct pp_probe *probe = pp_machine_probe(machine, instruction, 0);
    double sum_s = 0;

    for (int k = 0; probe && k < 3 * PP_PARTS; k++)
        sum_s += probe->s[k / PP_PARTS][k % PP_PARTS];
    return sum_s;
}
