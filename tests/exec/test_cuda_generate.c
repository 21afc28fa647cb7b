/* Generation on the emulated device, in every mode: the tokens and logits of one rank. */
#define _GNU_SOURCE /* setenv */
#include "exec/cuda/module.h"
#include "tests/exec/generate_rig.h"

#include <stdio.h>
#include <stdlib.h>

/* PIPEEXEC_CUDA_MODULE names it; the seed is of orders that no event forbids. */
static const struct pp_cuda_module *load(int seed)
{
    const struct pp_cuda_module *module;
    struct pp_error err = {0};
    char text[16];

    snprintf(text, sizeof(text), "%d", seed);
    setenv("PP_EMULATED_SEED", text, 1);
    cr_assert_eq(pp_cuda_load(&module, &err), PP_OK, "%s", err.message);
    return module;
}

static void check(const struct pp_cuda_module *module, const struct generate_case *usual,
                  enum pp_device_mode mode, bool is_bf16)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct generate_case c = *usual;
    struct generate_run run;
    struct pp_machine *machine;
    struct pp_generated made;
    struct pp_error err = {0};
    int32_t *tokens;
    uint64_t *hashes;

    c.backend = module->backend;
    c.kernels = is_bf16 ? module->bf16 : module->fp32;
    generate_make(arena, &c, &run);
    run.options.mode = mode;
    run.options.uses_graphs = true;
    generate_oracle(arena, &c, &run, &tokens, &hashes);
    cr_assert_eq(pp_machine_create(arena, &run.options, &machine, &err), PP_OK, "%s", err.message);
    for (int k = 0; k < 2; k++) {
        cr_assert_eq(pp_machine_generate(machine, run.prompts, &made, &err), PP_OK, "%s",
                     err.message);
        for (int i = 0; i < run.sequences * c.passes; i++)
            cr_assert(made.tokens[i] == tokens[i] && made.logits[i] == hashes[i],
                      "mode %d, run %d: sequence %d, pass %d", (int)mode, k, i / c.passes,
                      i % c.passes);
    }
    for (int rank = 0; rank < c.ranks; rank++) {
        const struct pp_cache_bytes cache = pp_machine_cache_bytes(machine, rank, 0);
        cr_expect_eq(cache.touched, cache.computed);
    }
    pp_machine_destroy(machine);
}

static const struct generate_case CASES[] = {
    {.ranks = 2, .groups = 2, .pieces = 2, .prompt = 4, .passes = 3, .layers = 2},
    {.ranks = 1, .groups = 2, .pieces = 2, .rows = 2, .prompt = 4, .passes = 3, .layers = 2},
    {.ranks = 2, .groups = 2, .rows = 2, .prompt = 4, .passes = 3, .layers = 2, .tp = 2},
};

Test(cuda_generate, every_mode)
{
    static const enum pp_device_mode MODES[] = {PP_DEVICE_SERIAL, PP_DEVICE_STREAMS,
                                                PP_DEVICE_PARTITION};
    const struct pp_cuda_module *module = load(5);

    for (int mode = 0; mode < 3; mode++)
        for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++)
            check(module, &CASES[i], MODES[mode], (i + (size_t)mode) % 2 && CASES[i].rows > 1);
}
