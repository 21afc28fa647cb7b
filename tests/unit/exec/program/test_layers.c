/* Ops on chunks become ops on layers, in the order in which data pass through them. */
#include "exec/program/layers.h"

#include <criterion/criterion.h>
#include <string.h>

static struct pp_arena *arena;

static void begin(void)
{
    arena = pp_arena_create();
}

static void end(void)
{
    pp_arena_destroy(arena);
}

TestSuite(layers, .init = begin, .fini = end);

/* Returns the cells by layers of a compute-only program whose chunks have `blocks`. */
static const char *cut(const char *text, const int *blocks, int chunks)
{
    struct pp_program *p, *by_layer;
    struct pp_layers layers;
    struct pp_error err = {0};

    cr_assert_eq(pp_program_parse(arena, "given", text, strlen(text), PP_DIALECT_2025, &p, &err),
                 PP_OK, "%s", err.message);
    cr_assert_eq(p->stages, chunks);
    cr_assert_eq(pp_layers_find(arena, blocks, chunks, &layers, &err), PP_OK);
    cr_assert_eq(pp_layers_cut(arena, p, &layers, &by_layer, &err), PP_OK, "%s", err.message);
    for (int stage = 0; stage < by_layer->stages; stage++)
        cr_assert_eq(pp_program_rank_of(by_layer, 0, stage),
                     pp_program_rank_of(p, 0, pp_layers_chunk_of(&layers, stage)));
    return pp_program_text(arena, by_layer);
}

Test(layers, a_backward_runs_the_other_way)
{
    const int blocks[] = {2, 3};

    cr_assert_str_eq(cut("0F0,,0I0,0W0\n1F0,1B0,,\n", blocks, 2),
                     "0F0,1F0,1I0,0I0,1W0,0W0\n2F0,3F0,4F0,4B0,3B0,2B0\n");
}

Test(layers, a_chunk_without_blocks_is_one_unit)
{
    const int blocks[] = {0, 2};

    cr_assert_str_eq(cut("0F0,0B0\n1F0,1B0\n", blocks, 2), "0F0,0B0\n1F0,2F0,2B0,1B0\n");
}

/* What is left of the longer chunk comes alone. */
Test(layers, pairs_are_those_of_their_layers)
{
    const int blocks[] = {1, 2};

    cr_assert_str_eq(cut("0F0,1F0,(0F1;1B0)OVERLAP_F_B,0B0,1F1,1B1,0B1\n", blocks, 2),
                     "0F0,1F0,2F0,(0F1;2B0)OVERLAP_F_B,1B0,0B0,1F1,2F1,2B1,1B1,0B1\n");
}

Test(layers, too_many_are_refused)
{
    const int blocks[] = {UINT16_MAX, 1};
    struct pp_layers layers;
    struct pp_error err = {0};

    cr_assert_eq(pp_layers_find(arena, blocks, 2, &layers, &err), PP_EINVAL);
    cr_assert_str_eq(err.message, "65536 layers are gathered one by one; at most 65535 can be");
}
