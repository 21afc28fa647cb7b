/* Whole states are the same wherever their classes live. Two machines draw them: one keeps all of
 * them on the device, the other on three tiers. What is written to the second is read from its
 * tiers. */
#define _GNU_SOURCE /* mkdtemp */
#include "tests/exec/run.h"

#include "core/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/test_tier_states_XXXXXX";

static void begin(void)
{
    cr_assert(mkdtemp(folder));
}

static void end(void)
{
    cr_assert_eq(rmdir(folder), 0, "a file was left over");
}

/* Vectors of a state: their addresses, and the bytes of each. */
enum { VECTORS = 5 };
struct vectors {
    char *at[VECTORS];
    size_t bytes[VECTORS];
};

static struct vectors vectors_of(const struct exec_run *run, const struct pp_state *state)
{
    const struct pp_kernels *k = run->training.machine.kernels;
    const size_t g = state->fixed ? sizeof(int64_t) : k->gradient_bytes,
                 share = (size_t)(state->share.until - state->share.from) * k->gradient_bytes;

    return (struct vectors){{state->weights, state->fixed ? (char *)state->fixed : state->sum,
                             state->m, state->v, state->master},
                            {(size_t)(state->held.until - state->held.from) * k->element_bytes,
                             (size_t)(state->summed.until - state->summed.from) * g, share, share,
                             state->master ? share : 0}};
}

struct pair {
    struct exec_run run[2];
    struct pp_machine *machine[2];
};

/* machine[1] has classes p, g, os on the tiers of `homes`, a number of base 3. */
static void make(struct pp_arena *arena, const struct exec_case *c, int homes, bool is_poisoned,
                 struct pair *pair)
{
    struct pp_error err = {0};

    for (int i = 0; i < 2; i++) {
        struct exec_run *run = &pair->run[i];

        cr_assert_eq(exec_run_make(arena, c, run, &err), PP_OK, "%s", err.message);
        struct pp_state_spec *spec = &run->program->state.spec;
        for (int class = 0, rest = homes; class < PP_STATE_SHARDED && i == 1; class ++, rest /= 3)
            spec->home[class] = (enum pp_tier)(rest % 3);
        run->training.machine.tiers.dir = folder;
        run->training.machine.is_poisoned = is_poisoned;
        cr_assert_eq(pp_machine_create(arena, &run->training.machine, &pair->machine[i], &err),
                     PP_OK, "%s", err.message);
    }
}

static void destroy(struct pair *pair)
{
    for (int i = 0; i < 2; i++)
        pp_machine_destroy(pair->machine[i]);
}

typedef void (*visitor)(struct pair *pair, int replica, int t, int pipe, int stage, uint64_t seed);

static void each(struct pair *pair, const struct exec_case *c, visitor visit)
{
    const struct pp_program *p = pair->run[0].program;
    const int tp = c->tp > 1 ? c->tp : 1, replicas = c->replicas > 1 ? c->replicas : 1;
    uint64_t seed = 0;

    for (int replica = 0; replica < replicas; replica++)
        for (int t = 0; t < tp; t++)
            for (int pipe = 0; pipe < p->pipelines; pipe++)
                for (int stage = 0; stage < p->stages; stage++)
                    visit(pair, replica, t, pipe, stage, seed++);
}

static struct vectors read_whole(struct pair *pair, int i, int replica, int t, int pipe, int stage)
{
    struct pp_state state;
    struct pp_error err = {0};

    cr_assert_eq(pp_machine_state_of(pair->machine[i], replica, t, pipe, stage, &state, &err),
                 PP_OK, "%s", err.message);
    return vectors_of(&pair->run[i], &state);
}

static void have_the_same(struct pair *pair, int replica, int t, int pipe, int stage, uint64_t seed)
{
    const struct vectors one = read_whole(pair, 0, replica, t, pipe, stage),
                         two = read_whole(pair, 1, replica, t, pipe, stage);

    (void)seed;
    for (int v = 0; v < VECTORS; v++) {
        cr_assert_eq(one.bytes[v], two.bytes[v]);
        cr_assert_eq(memcmp(one.at[v], two.at[v], one.bytes[v]), 0, "vector %d of stage %d", v,
                     stage);
    }
}

static unsigned char drawn(uint64_t seed, int v, size_t i)
{
    return (unsigned char)pp_random_bits(VECTORS * seed + (uint64_t)v, i);
}

static void write_whole(struct pair *pair, int replica, int t, int pipe, int stage, uint64_t seed)
{
    const struct vectors two = read_whole(pair, 1, replica, t, pipe, stage);

    for (int v = 0; v < VECTORS; v++)
        for (size_t i = 0; i < two.bytes[v]; i++)
            two.at[v][i] = (char)drawn(seed, v, i);
}

/* Where the state lives, with reach if that is not the host's memory. */
static struct vectors find(struct pair *pair, int replica, int t, int pipe, int stage,
                           struct pp_state_reach *reach)
{
    struct pp_state state;

    cr_assert(pp_machine_state_here(pair->machine[1], replica, t, pipe, stage, &state, reach));
    return vectors_of(&pair->run[1], &state);
}

/* Reads in pieces that begin and end anywhere. */
static void lives_there(struct pair *pair, int replica, int t, int pipe, int stage, uint64_t seed)
{
    struct pp_state_reach reach;
    const struct vectors two = find(pair, replica, t, pipe, stage, &reach);
    struct pp_error err = {0};
    static unsigned char some[50000];

    for (int v = 0; v < VECTORS; v++)
        for (size_t i = 0, n = 777; i < two.bytes[v]; i += n, n = n * 13 % 49999 + 1) {
            n = n < two.bytes[v] - i ? n : two.bytes[v] - i;
            if (reach.read)
                cr_assert_eq(reach.read(reach.closure, two.at[v] + i, some, n, &err), PP_OK, "%s",
                             err.message);
            else
                memcpy(some, two.at[v] + i, n);
            for (size_t k = 0; k < n; k++)
                cr_assert_eq(some[k], drawn(seed, v, i + k), "vector %d, byte %zu", v, i + k);
        }
}

static void write_there(struct pair *pair, int replica, int t, int pipe, int stage, uint64_t seed)
{
    struct pp_state_reach reach;
    const struct vectors two = find(pair, replica, t, pipe, stage, &reach);
    struct pp_error err = {0};
    static unsigned char some[50000];

    for (int v = 0; v < VECTORS; v++)
        for (size_t i = 0, n = 100; i < two.bytes[v]; i += n, n = n * 17 % 49999 + 1) {
            n = n < two.bytes[v] - i ? n : two.bytes[v] - i;
            for (size_t k = 0; k < n; k++)
                some[k] = drawn(seed + 1000, v, i + k);
            if (reach.write)
                cr_assert_eq(reach.write(reach.closure, some, two.at[v] + i, n, &err), PP_OK, "%s",
                             err.message);
            else
                memcpy(two.at[v] + i, some, n);
        }
}

static void lives_there_now(struct pair *pair, int replica, int t, int pipe, int stage,
                            uint64_t seed)
{
    lives_there(pair, replica, t, pipe, stage, seed + 1000);
}

static const struct exec_case CASES[] = {
    EXEC_CASE("1f1b", 2, 2, .hidden = 32),
    EXEC_CASE("interleaved", 2, 2, .shape.chunks = 2, .is_exact = true),
    EXEC_CASE("1f1b", 2, 2, .replicas = 2, .zero = 1),
    EXEC_CASE("1f1b", 2, 2, .is_bf16 = true, .hidden = 64, .heads = 4),
    EXEC_CASE("1f1b", 2, 2, .tp = 2, .is_double = true),
    EXEC_CASE("chimera", 2, 2, .replicas = 2, .zero = 1, .is_bf16 = true),
    EXEC_CASE("1f1b", 2, 2, .backend = &pp_backend_fake),
};

static void try_case(const struct exec_case *c, int homes)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pair pair;

    make(arena, c, homes, homes % 2, &pair);
    each(&pair, c, have_the_same);
    each(&pair, c, write_whole);
    cr_assert_eq(pp_machine_changed(pair.machine[1], &err), PP_OK, "%s", err.message);
    each(&pair, c, lives_there);
    each(&pair, c, write_there);
    each(&pair, c, lives_there_now);
    destroy(&pair);
}

Test(tier_states, are_drawn_read_and_written_on_any_tiers, .init = begin, .fini = end)
{
    for (size_t i = 0; i < PP_COUNT(CASES); i++)
        for (int homes = (int)i % 2; homes < 27; homes += i ? 5 : 2)
            try_case(&CASES[i], homes);
}
