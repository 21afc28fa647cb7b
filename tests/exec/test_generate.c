/* Generating programs, executed: tokens and logits are those of decoding on one rank. */
#include "tests/exec/generate_rig.h"

static const char *text_of(struct pp_arena *arena, const struct generate_case *c)
{
    return pp_arena_printf(arena, "%s %s P%d N%d q%d rows%d prompt%d T%d dp%d tp%d%s",
                           OR(c->transport, &pp_transport_local)->name,
                           OR(c->backend, &pp_backend_cpu)->name, c->ranks, c->groups, c->pieces,
                           c->rows, c->prompt, c->passes, c->replicas, c->tp,
                           c->is_double ? " double" : "");
}

/* All memory is used, but for padding, and the cache has the bytes of the formula. */
static void check_memory(const struct generate_case *c, const char *name,
                         const struct generate_run *run, const struct pp_machine *machine)
{
    const struct pp_rank_layout *layout = pp_machine_layout(machine);
    const struct pp_net *net = &run->net;
    const int tp = OR(c->tp, 1), context = c->prompt + c->passes - 1;
    struct pp_error err = {0};
    size_t all = 0;

    cr_assert_eq(pp_machine_fetch_touched(machine, &err), PP_OK, "%s", err.message);
    for (int rank = 0; rank < c->ranks; rank++)
        for (int replica = 0; replica < OR(c->replicas, 1); replica++) {
            const struct pp_cache_bytes cache = pp_machine_cache_bytes(machine, rank, replica);
            const size_t touched = pp_machine_touched(machine, rank, replica);

            cr_expect_eq(cache.touched, cache.computed, "%s: rank %d touched %zu of %zu", name,
                         rank, cache.touched, cache.computed);
            cr_expect_eq(touched, layout[rank].peak_bytes, "%s: rank %d touched %zu, predicted %zu",
                         name, rank, touched, layout[rank].peak_bytes);
            all += replica == 0 ? cache.computed : 0;
        }
    cr_expect_eq(all, (size_t)(2 * net->kv_heads * net->head_dim / tp * net->layers) *
                          run->kernels->element_bytes * (size_t)(context * run->of.batch));
}

static void check(const struct generate_case *c)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *name = text_of(arena, c);
    struct generate_run run;
    struct pp_machine *machine;
    struct pp_generated made;
    struct pp_error err = {0};
    int32_t *tokens;
    uint64_t *hashes;

    generate_make(arena, c, &run);
    generate_oracle(arena, c, &run, &tokens, &hashes);
    cr_assert_eq(pp_machine_create(arena, &run.options, &machine, &err), PP_OK, "%s: %s", name,
                 err.message);
    for (int k = 0; k < 2; k++) {
        cr_assert_eq(pp_machine_generate(machine, run.prompts, &made, &err), PP_OK, "%s: %s", name,
                     err.message);
        for (int i = 0; i < run.sequences * c->passes; i++) {
            cr_assert_eq(made.tokens[i], tokens[i], "%s: run %d, sequence %d, pass %d: %d, not %d",
                         name, k, i / c->passes, i % c->passes, made.tokens[i], tokens[i]);
            cr_assert_eq(made.logits[i], hashes[i], "%s: run %d, logits of sequence %d, pass %d",
                         name, k, i / c->passes, i % c->passes);
        }
    }
    check_memory(c, name, &run, machine);
    pp_machine_destroy(machine);
}

Test(generate, one_rank)
{
    check(&(struct generate_case){.ranks = 1, .groups = 1, .prompt = 3, .passes = 1});
    check(&(struct generate_case){.ranks = 1, .groups = 1, .prompt = 3, .passes = 4});
    check(&(struct generate_case){.ranks = 1, .groups = 2, .pieces = 3, .prompt = 3, .passes = 4});
}

Test(generate, ranks)
{
    check(&(struct generate_case){.ranks = 2, .groups = 2, .prompt = 3, .passes = 4});
    check(&(struct generate_case){
        .ranks = 4, .groups = 3, .pieces = 2, .rows = 2, .prompt = 5, .passes = 6, .replicas = 2});
}

Test(generate, types)
{
    check(&(struct generate_case){
        .ranks = 2, .groups = 2, .prompt = 3, .passes = 4, .is_double = true, .has_rope = true});
    check(&(struct generate_case){.ranks = 2,
                                  .groups = 2,
                                  .rows = 2,
                                  .prompt = 4,
                                  .passes = 3,
                                  .is_bf16 = true,
                                  .is_gated = true});
}

Test(generate, processes)
{
    check(&(struct generate_case){.ranks = 2,
                                  .groups = 2,
                                  .pieces = 2,
                                  .prompt = 3,
                                  .passes = 4,
                                  .replicas = 2,
                                  .transport = &pp_transport_shm});
    check(&(struct generate_case){.ranks = 2,
                                  .groups = 2,
                                  .pieces = 2,
                                  .prompt = 3,
                                  .passes = 4,
                                  .replicas = 2,
                                  .transport = &pp_transport_tcp});
}

Test(generate, fake_device)
{
    for (uint64_t seed = 0; seed < 4; seed++)
        check(&(struct generate_case){.ranks = 3,
                                      .groups = 3,
                                      .pieces = 2,
                                      .prompt = 3,
                                      .passes = 4,
                                      .replicas = 2,
                                      .backend = &pp_backend_fake,
                                      .seed = seed});
}

Test(generate, tensor_parallel)
{
    check(&(struct generate_case){
        .ranks = 2, .groups = 2, .pieces = 2, .prompt = 3, .passes = 4, .tp = 2});
    check(&(struct generate_case){
        .ranks = 1, .groups = 2, .pieces = 2, .prompt = 3, .passes = 4, .tp = 2, .replicas = 2});
    check(&(struct generate_case){.ranks = 2,
                                  .groups = 2,
                                  .pieces = 2,
                                  .prompt = 3,
                                  .passes = 4,
                                  .tp = 2,
                                  .transport = &pp_transport_tcp});
    check(&(struct generate_case){.ranks = 2,
                                  .groups = 2,
                                  .pieces = 2,
                                  .prompt = 3,
                                  .passes = 4,
                                  .tp = 2,
                                  .backend = &pp_backend_fake});
}

/* Many groups, many tokens, more groups than ranks and fewer. */
Test(generate, sizes)
{
    check(&(struct generate_case){.ranks = 4, .groups = 8, .prompt = 2, .passes = 9});
    check(&(struct generate_case){.ranks = 3, .groups = 2, .pieces = 4, .prompt = 6, .passes = 64});
    check(&(struct generate_case){.ranks = 4,
                                  .groups = 1,
                                  .pieces = 3,
                                  .prompt = 5,
                                  .passes = 1,
                                  .transport = &pp_transport_tcp});
}

/* Sums of parts round otherwise: in double precision that changes no token here. */
Test(generate, devices_of_a_group_make_the_tokens_of_one)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct generate_case one = {
        .ranks = 2, .groups = 2, .rows = 2, .prompt = 4, .passes = 8, .is_double = true, .seed = 7};
    struct generate_case four = one;
    struct generate_run run, run_of_four;
    int32_t *tokens, *tokens_of_four;
    uint64_t *hashes;

    four.tp = 4;
    generate_make(arena, &one, &run);
    generate_make(arena, &four, &run_of_four);
    generate_oracle(arena, &one, &run, &tokens, &hashes);
    generate_oracle(arena, &four, &run_of_four, &tokens_of_four, &hashes);
    check(&four);
    for (int i = 0; i < run.sequences * one.passes; i++)
        cr_expect_eq(tokens[i], tokens_of_four[i]);
}

Test(generate, experts)
{
    check(&(struct generate_case){
        .ranks = 2, .groups = 2, .pieces = 2, .prompt = 4, .passes = 5, .experts = 4});
    check(&(struct generate_case){
        .ranks = 2, .groups = 2, .rows = 2, .prompt = 4, .passes = 5, .experts = 4, .tp = 2});
    check(&(struct generate_case){.ranks = 2,
                                  .groups = 2,
                                  .rows = 2,
                                  .prompt = 4,
                                  .passes = 5,
                                  .experts = 4,
                                  .replicas = 2,
                                  .ep = 2});
}

Test(generate, wall_clock)
{
    static const struct pp_transport *const TRANSPORTS[] = {&pp_transport_local, &pp_transport_shm,
                                                            &pp_transport_tcp};

    for (int t = 0; t < 3; t++)
        check(&(struct generate_case){.ranks = 2,
                                      .groups = 2,
                                      .pieces = 2,
                                      .prompt = 3,
                                      .passes = 4,
                                      .tp = 2,
                                      .clock = PP_CLOCK_WALL,
                                      .transport = TRANSPORTS[t]});
}
