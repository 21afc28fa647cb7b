/* Keys and values on another tier. What passes read is up, and what they make goes down. One copy
 * each way is under way next to compute, and every instruction is needed. */
#include "tests/unit/schedules/build/build_of.h"
#include "tests/unit/schedules/lower/left_out.h"

#include <criterion/criterion.h>

struct sizes {
    int ranks, passes, groups, pieces, buffers;
};

static struct pp_program *build(struct pp_arena *arena, struct sizes z)
{
    struct pp_build build = of("generate", z.groups);
    struct pp_program *program = NULL;
    struct pp_error err = {0};

    build.shape = (struct pp_shape){
        .ranks = z.ranks, .chunks = z.passes, .micro_batches = z.groups, .granules = z.pieces};
    build.state.buffers = z.buffers;
    build.state.home[PP_STATE_CACHE] = PP_TIER_HOST;
    cr_assert_eq(pp_build(arena, &build, &program, &err), PP_OK, "%s", err.message);
    return program;
}

static bool is_copy(const struct pp_program *p, int i, int kind, enum pp_purpose purpose)
{
    return p->kind[i] == kind && p->purpose[i] == purpose;
}

/* Returns the instruction on the cells of forward f, counted from its list's first; fails unless it
 * is there once. */
static int only_one(const struct pp_program *p, int f, int kind, enum pp_purpose purpose)
{
    const int rank = pp_program_rank_at(p, f);
    int found = -1;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
        if (is_copy(p, i, kind, purpose) && p->stage[i] == p->stage[f] && p->mb[i] == p->mb[f] &&
            p->granule_count[i] == p->granule_count[f]) {
            cr_assert_eq(found, -1, "two copies of one forward");
            found = i;
        }
    return found;
}

/* Returns the forwards between two instructions. */
static int forwards(const struct pp_program *p, int from, int until)
{
    int count = 0;

    for (int i = from; i < until; i++)
        count += p->kind[i] == PP_F;
    return count;
}

/* A forward waits for what it reads, which had gone down; and what it makes goes down. With more
 * than one buffer one forward is next to each copy, unless the keys are younger. */
static void check_forward(const struct pp_program *p, int f, struct sizes z)
{
    const int up = only_one(p, f, PP_COPY, PP_FOR_KV_UP),
              waited = only_one(p, f, PP_WAIT, PP_FOR_KV_UP),
              down = only_one(p, f, PP_COPY, PP_FOR_KV_DOWN),
              home = only_one(p, f, PP_WAIT, PP_FOR_KV_DOWN);

    cr_assert(f < down && down < home);
    cr_assert_eq(forwards(p, f, down), 1);
    cr_assert_leq(forwards(p, down, home), z.buffers > 1);
    cr_assert_eq(up >= 0, p->stage[f] >= z.ranks);
    if (up < 0)
        return;
    cr_assert(up < waited && waited < f);
    cr_assert_eq(forwards(p, waited, f), 0);
    cr_assert_eq(forwards(p, up, waited), z.buffers > 1 && z.groups > 1);
    for (int i = up; i < p->begin[pp_program_rank_at(p, f) + 1]; i++)
        cr_assert_not(is_copy(p, i, PP_COPY, PP_FOR_KV_DOWN) &&
                      p->stage[i] == p->stage[f] - z.ranks && p->mb[i] >= p->mb[f] &&
                      p->mb[i] < p->mb[f] + p->granule_count[f]);
}

static void for_all(void (*check)(struct sizes))
{
    for (int ranks = 1; ranks <= 4; ranks++)
        for (int passes = 1; passes <= 4; passes++)
            for (int groups = 1; groups <= 5; groups += 2)
                for (int pieces = 1; pieces <= 3; pieces++)
                    for (int buffers = 1; buffers <= 3; buffers++)
                        check((struct sizes){ranks, passes, groups, pieces, buffers});
}

static void check_program(struct sizes z)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_program *p = build(arena, z);

    for (int i = 0; i < pp_program_size(p); i++)
        if (p->kind[i] == PP_F)
            check_forward(p, i, z);
}

Test(kv, each_forward_has_its_copies)
{
    for_all(check_program);
}

/* ---- every instruction is needed ------------------------------------------------------------- */

static void leave_out(struct sizes z)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    if (z.passes == 1 || z.passes * z.groups > 9) /* one pass may have one copy, or none */
        return;
    const struct pp_program *p = build(arena, z);
    for (int rank = 0; rank < p->ranks; rank++)
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
            const int at = i - p->begin[rank];
            if (p->kind[i] == PP_COPY)
                cr_assert(is_noticed(arena, p, rank, at, -1), "rank %d instruction %d", rank, at);
            if (p->kind[i] == PP_WAIT && p->aux[i] == PP_COPY)
                cr_assert(is_noticed(arena, p, rank, at, -1) &&
                              is_noticed(arena, p, rank, at, p->arg[i]),
                          "rank %d instruction %d", rank, at);
        }
}

Test(kv, what_is_left_out_is_noticed)
{
    for_all(leave_out);
}

/* Exchanges neighbours. A copy may change places with messages, and never with its WAIT, with a
 * copy that it needs, or with its forward. */
Test(kv, what_comes_too_early_or_too_late_is_noticed)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_program *p = build(arena, (struct sizes){1, 3, 1, 1, 2});
    int noticed = 0;

    for (int at = 0; at + 1 < pp_program_size(p); at++) {
        struct pp_program_head head = pp_program_head_of(p);
        struct pp_orders *lists = pp_program_thaw(arena, p);
        struct pp_program *program;
        struct pp_error err = {0};
        const struct pp_op first = lists->ops[0][at];
        lists->ops[0][at] = lists->ops[0][at + 1];
        lists->ops[0][at + 1] = first;
        noticed += pp_program_freeze(arena, &head, lists, &program, &err) != PP_OK ||
                   pp_verify(program, NULL, &err) != PP_OK;
    }
    /* F0 d0 u1 (u1) F1 (d0) d1 u2 (u2) F2 (d1) d2 (d2): only F1 and F2 may change places with the
     * WAIT after them */
    cr_assert_eq(noticed, pp_program_size(p) - 1 - 2, "%d of %d", noticed, pp_program_size(p) - 1);
}
