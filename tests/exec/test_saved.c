/* Saved activations on another memory tier change no bit. Every executable schedule has the losses,
 * norms and weights of the run without, in any precision, on any device and over any transport.
 * All bytes of memory are written that are laid out, on the device and on the host. Copied bytes
 * are those predicted, and a replay is exact. */
#define _GNU_SOURCE /* mkdtemp */
#include "exec/program/none.h"
#include "schedules/order/concat.h"
#include "schedules/registry.h"
#include "tests/exec/equal.h"
#include "tests/exec/random_case.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_long(void)
{
    return getenv("PIPESIM_LONG") != NULL;
}

static struct exec_case usual(int ranks)
{
    return (struct exec_case){.shape = {.ranks = ranks, .micro_batches = 2 * ranks},
                              .mbs = 1,
                              .steps = is_long() ? 8 : 3,
                              .clip = 0.5,
                              .saved_home = PP_TIER_HOST};
}

/* Copies of all ranks down. */
static double check_tiers(const struct exec_run *run, const char *name)
{
    const struct pp_training_result *r = &run->result;
    double bytes = 0;

    for (int rank = 0; rank < run->program->ranks; rank++) {
        const struct pp_tier_figures *is = &r->tiers[rank], *predicted = &r->predicted_tiers[rank];
        const struct pp_copied *copied = &is->copied[PP_STATE_ACTIVATIONS];

        cr_assert(is->written_bytes[PP_TIER_HOST] == predicted->written_bytes[PP_TIER_HOST],
                  "%s: rank %d wrote %llu bytes of the host, predicted %llu", name, rank,
                  (unsigned long long)is->written_bytes[PP_TIER_HOST],
                  (unsigned long long)predicted->written_bytes[PP_TIER_HOST]);
        cr_assert(copied->down_bytes == predicted->copied[PP_STATE_ACTIVATIONS].down_bytes &&
                      copied->up_bytes == predicted->copied[PP_STATE_ACTIVATIONS].up_bytes,
                  "%s: rank %d copied %.0f bytes down, predicted %.0f", name, rank,
                  copied->down_bytes, predicted->copied[PP_STATE_ACTIVATIONS].down_bytes);
        cr_assert(copied->down_bytes == copied->up_bytes, "%s", name);
        bytes += copied->down_bytes;
    }
    return bytes;
}

static void check_memory(const struct exec_run *run, const char *name)
{
    const struct pp_training_result *r = &run->result;

    cr_assert(r->structural_error_s == 0, "%s: structural error %g s", name, r->structural_error_s);
    for (int rank = 0; rank < run->program->ranks; rank++)
        cr_assert(r->touched_bytes[rank] == (double)r->layout[rank].peak_bytes,
                  "%s: rank %d touched %.0f bytes, predicted %zu", name, rank,
                  r->touched_bytes[rank], r->layout[rank].peak_bytes);
}

static double bytes_down;

/* Returns 1 for a case that is executed: like the same one with all on the device. */
static int run_both(const struct exec_case *c)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case on_device = *c;
    struct exec_run run[2];
    const char *name = exec_case_text(arena, c);

    on_device.saved_home = PP_TIER_DEVICE;
    on_device.saved_share = 0;
    if (!exec_run(arena, &on_device, &run[0]))
        return 0;
    cr_assert(exec_run(arena, c, &run[1]), "%s", name);
    const struct pp_training_result *a = &run[0].result, *b = &run[1].result;
    cr_assert_arr_eq(a->losses, b->losses, sizeof(double) * (size_t)c->steps, "%s", name);
    cr_assert_arr_eq(a->grad_norms, b->grad_norms, sizeof(double) * (size_t)c->steps, "%s", name);
    cr_assert_eq(a->gradients.differing, b->gradients.differing, "%s", name);
    cr_assert_eq(a->weights.differing, b->weights.differing, "%s", name);
    cr_assert_eq(a->weights.max_abs, b->weights.max_abs, "%s", name);
    check_memory(&run[1], name);
    bytes_down += check_tiers(&run[1], name);
    return 1;
}

static int exact(const struct exec_case *c)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *name = exec_case_text(arena, c);
    struct exec_run run;

    if (!exec_run(arena, c, &run))
        return 0;
    check_run(arena, c, &run);
    bytes_down += check_tiers(&run, name);
    return 1;
}

/* ---- every schedule -------------------------------------------------------------------------- */

Test(saved, every_schedule)
{
    struct exec_case c = usual(4);

    cr_assert_geq(each_schedule(&c, run_both), 15);
    cr_assert_gt(bytes_down, 1e6);
}

Test(saved, every_schedule_exactly)
{
    struct exec_case c = usual(4);

    c.is_exact = true;
    cr_assert_geq(each_schedule(&c, exact), 15);
    c.is_bf16 = true;
    c.replicas = 2;
    cr_assert_geq(each_schedule(&c, exact), 15);
    cr_assert_gt(bytes_down, 1e6);
}

/* The device runs work in any order that events allow. W may be on a stream of its own. */
Test(saved, every_schedule_on_a_device_in_any_order)
{
    struct exec_case c = usual(2);

    c.backend = &pp_backend_fake;
    c.is_exact = true;
    for (int has_weight_stream = 0; has_weight_stream <= 1; has_weight_stream++) {
        c.has_weight_stream = has_weight_stream;
        c.shape = (struct pp_shape){.ranks = has_weight_stream ? 4 : 2, .micro_batches = 8};
        cr_assert_geq(each_schedule(&c, exact), 15);
    }
    cr_assert_gt(bytes_down, 1e6);
}

/* Of all combinations each schedule has a third; without PIPESIM_LONG=1 one. Parts of blocks are
 * computed again, as sequence splits allow it. */
enum { TABLE = 2 * 2 * 2 * 2 * 3 };

static struct exec_case cell_of_table(const struct exec_case *base, int at)
{
    struct exec_case c = *base;

    c.is_bf16 = at % 2;
    c.is_exact = at / 2 % 2;
    c.is_recomputed = at / 4 % 2;
    c.again.modules = c.is_recomputed ? PP_AGAIN_CORE | PP_AGAIN_MLP : 0;
    c.backend = at / 8 % 2 ? &pp_backend_fake : &pp_backend_cpu;
    c.transport = at / 8 % 2 || at / 16 % 3 ? NULL : &pp_transport_shm;
    c.saved_share = at / 16 % 3 == 2 ? 0.5 : 0;
    return c;
}

static int run_table(const struct exec_case *base)
{
    int count = 0;

    for (int at = 0; at < TABLE; at++)
        if (is_long() ? at % 3 == (int)(base->seed % 3) : at == (int)(base->seed * 7 % TABLE)) {
            const struct exec_case c = cell_of_table(base, at);
            count += run_both(&c);
        }
    return count;
}

Test(saved, table)
{
    struct exec_case c = usual(2);

    c.mbs = 2;
    cr_assert_geq(each_schedule(&c, run_table), is_long() ? 15 * TABLE / 3 : 8);
}

/* Any placement, any order, fused pairs, splits, granules, several pipelines. */
Test(saved, random_programs)
{
    const int count = is_long() ? 1000 : 120;

    for (int i = 0; i < count; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct exec_case c = random_case(arena, 200001 + (uint64_t)i);

        c.saved_home = PP_TIER_HOST;
        c.saved_share = i % 5 ? 0 : 0.1 * (1 + i % 9);
        c.backend = i % 3 ? &pp_backend_cpu : &pp_backend_fake;
        c.has_weight_stream = i % 6 == 0;
        cr_assert(exact(&c));
    }
    cr_assert_gt(bytes_down, 1e6);
}

/* ---- variants -------------------------------------------------------------------------------- */

static char folder[] = "/tmp/test_saved_XXXXXX";

static void begin(void)
{
    cr_assert(mkdtemp(folder));
}

static void end(void)
{
    cr_assert_eq(rmdir(folder), 0, "a file was left over");
}

static const struct exec_case variants[] = {
    EXEC_CASE("gpipe", 2, 8, .is_recomputed = true),
    EXEC_CASE("interleaved", 2, 8, .shape.chunks = 2, .is_recomputed = true),
    EXEC_CASE("zbv", 4, 8, .is_recomputed = true),
    EXEC_CASE("bfs", 2, 6, .again.modules = PP_AGAIN_CORE | PP_AGAIN_ACT, .is_recomputed = true),
    EXEC_CASE("interleaved", 4, 8, .shape.splits = 2, .is_exact = true),
    EXEC_CASE("bfs", 2, 6, .shape.splits = 2),
    EXEC_CASE("bfs", 2, 6, .shape.splits = 4, .again.modules = PP_AGAIN_CORE,
              .is_recomputed = true),
    EXEC_CASE("gpipe", 2, 6, .saved_share = 0.4),
    EXEC_CASE("dualpipev", 4, 8, .saved_share = 0.25, .is_bf16 = true),
    EXEC_CASE("bfs", 2, 6, .shape.splits = 2, .saved_share = 0.7),
    EXEC_CASE("zbv", 4, 8, .saved_share = 1e-9),
    EXEC_CASE("gpipe", 2, 8, .saved_home = PP_TIER_NVME, .nvme = folder),
    EXEC_CASE("zbv", 4, 8, .saved_home = PP_TIER_NVME, .nvme = folder, .saved_share = 0.3),
    EXEC_CASE("chimera", 4, 8, .is_double = true),
    EXEC_CASE("chimera", 4, 16, .shape.option[PP_CONCAT_AT] = PP_CONCAT_DOUBLING),
    EXEC_CASE("chimera", 4, 16, .shape.option[PP_CONCAT_AT] = PP_CONCAT_HALVING,
              .is_recomputed = true, .saved_share = 0.6),
    EXEC_CASE("gpipe", 2, 6, .tp = 2, .is_sequence_parallel = true),
    EXEC_CASE("bfs", 2, 6, .replicas = 2, .zero = 3),
    EXEC_CASE("gpipe", 2, 6, .transport = &pp_transport_shm),
    EXEC_CASE("zbv", 2, 6, .transport = &pp_transport_shm, .is_recomputed = true),
};

Test(saved, variants, .init = begin, .fini = end)
{
    for (size_t i = 0; i < PP_COUNT(variants); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct exec_case c = variants[i];

        c.mbs = c.mbs > 0 ? c.mbs : 2;
        c.steps = usual(2).steps;
        c.clip = 0.5;
        c.seed = i;
        c.saved_home = c.saved_home ? c.saved_home : PP_TIER_HOST;
        bytes_down = 0;
        cr_assert(run_both(&c), "%s", exec_case_text(arena, &c));
        cr_assert(bytes_down > 0 || c.saved_share == 1e-9, "%s", exec_case_text(arena, &c));
    }
}

/* ---- edges ----------------------------------------------------------------------------------- */

/* What is handed to the next stage on the rank is in a place that nothing else has meanwhile. */
static int check_edges(const struct exec_case *c)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_run run;
    struct pp_error err;
    int edges = 0;

    cr_assert_eq(exec_run_make(arena, c, &run, &err), PP_OK, "%s", err.message);
    const struct pp_program *p = run.program;
    const struct pp_edges e = pp_edges_find(arena, p);
    for (int rank = 0; rank < p->ranks; rank++) {
        int32_t *filled_by = PP_ARRAY(arena, int32_t, e.count[rank] + 1);

        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
            const bool is_back = p->kind[i] == PP_B || p->kind[i] == PP_I;
            const int filled = is_back ? p->stage[i] - 1 : p->stage[i],
                      emptied = is_back ? p->stage[i] : p->stage[i] - 1;

            if (p->kind[i] != PP_F && !is_back)
                continue;
            for (int g = p->mb[i]; g < p->mb[i] + p->granule_count[i]; g++)
                for (int is_fill = 1; is_fill >= 0; is_fill--) {
                    const int stage = is_fill ? filled : emptied;
                    const int32_t cell = 1 + (int32_t)pp_cell_of(p, stage, g, p->split[i]);
                    const int32_t place =
                        stage < 0 || stage + 1 == p->stages ? -1 : e.of[is_back][cell - 1];

                    if (place < 0)
                        continue;
                    cr_assert_eq(filled_by[place], is_fill ? 0 : cell, "%s: instruction %d",
                                 p->name, i);
                    filled_by[place] = is_fill ? cell : 0;
                    edges++;
                }
        }
        for (int place = 0; place < e.count[rank]; place++)
            cr_assert_eq(filled_by[place], 0);
    }
    return edges;
}

Test(saved, edges_are_never_shared)
{
    struct exec_case c = usual(4);

    cr_assert_gt(each_schedule(&c, check_edges), 100);
}
