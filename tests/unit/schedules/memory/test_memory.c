/* Memory against closed forms and against a naive sum over every tensor at every instruction. */
#include "schedules/registry.h"
#include "tests/unit/support/lower_cases.h"
#include "tests/unit/support/lower_tensors.h"

#include "schedules/memory/memory.h"
#include "tests/unit/support/cells.h"

#include <math.h>

/* ---- activations: closed forms ---------------------------------------------------------------*/

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static int peak_1f1b(const struct pp_shape *s, int rank)
{
    return smaller(s->ranks - rank, s->micro_batches);
}
static int peak_gpipe(const struct pp_shape *s, int rank)
{
    (void)rank;
    return s->micro_batches;
}
static int peak_bfs(const struct pp_shape *s, int rank)
{
    (void)rank;
    return s->micro_batches * s->chunks;
}
static int peak_interleaved(const struct pp_shape *s, int rank)
{
    return smaller((s->chunks - 1) * s->option[PP_GROUP_AT] + 2 * (s->ranks - 1 - rank) + 1,
                   s->micro_batches * s->chunks);
}
static int peak_chimera(const struct pp_shape *s, int rank)
{
    return s->ranks / 2 + 1 + smaller(rank, s->ranks - 1 - rank);
}

static const struct closed {
    const char *name;
    int chunks;      /* at least; at most 3 more */
    bool is_looped;  /* several chunks */
    bool is_two_way; /* D even, N a multiple of D */
    int (*peak)(const struct pp_shape *, int rank);
} closed[] = {
    {"1f1b", 1, false, false, peak_1f1b},      {"gpipe", 1, false, false, peak_gpipe},
    {"bfs", 2, true, false, peak_bfs},         {"interleaved", 2, true, false, peak_interleaved},
    {"chimera", 1, false, true, peak_chimera},
};

static int check_closed(const struct closed *form, struct pp_shape shape)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_lower_options options = {.recv_slots = 2, .has_sync = true};
    struct pp_program *compute, *lowered;

    if (form->is_two_way && (shape.ranks % 2 || shape.micro_batches % shape.ranks))
        return 0;
    if (form->peak == peak_interleaved) { /* the group that every shape with D | N has */
        if (shape.micro_batches % shape.ranks)
            return 0;
        shape.option[PP_GROUP_AT] = shape.ranks;
    }
    cr_assert_eq(
        pp_schedule_program(arena, pp_schedule_find(form->name), &shape, NULL, &compute, NULL),
        PP_OK);
    cr_assert_eq(pp_lower(arena, compute, &options, &lowered, NULL), PP_OK);
    const struct pp_rank_memory *plain = pp_memory_peaks(arena, compute, NULL);
    const struct pp_rank_memory *full = pp_memory_peaks(arena, lowered, NULL);
    for (int rank = 0; rank < shape.ranks; rank++) {
        cr_assert_eq(plain[rank].peak_activations, (double)form->peak(&shape, rank),
                     "%s D%d N%d V%d rank %d: %g", form->name, shape.ranks, shape.micro_batches,
                     shape.chunks, rank, plain[rank].peak_activations);
        cr_assert_eq(plain[rank].peak_activations, full[rank].peak_activations);
        cr_assert_eq(full[rank].peak_bytes, 0.0);
    }
    return 1;
}

Test(memory, peak_activations_are_the_closed_forms)
{
    for (size_t f = 0; f < sizeof(closed) / sizeof(closed[0]); f++) {
        int count = 0;
        for (int ranks = 1; ranks <= 12; ranks++)
            for (int n = 1; n <= 24; n++)
                for (int v = 0; v <= (closed[f].is_looped ? 3 : 0); v++)
                    count +=
                        check_closed(&closed[f], (struct pp_shape){.ranks = ranks,
                                                                   .micro_batches = n,
                                                                   .chunks = closed[f].chunks + v});
        cr_assert_gt(count, 10, "%s: %d", closed[f].name, count);
    }
}

static int check_registry(const struct pp_schedule *schedule, struct pp_shape shape)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_unit_costs unit = {.f = 1, .b = 2, .i = 1, .w = 1, .fb = 3};
    const struct pp_lower_options options = {.recv_slots = 1, .has_optimizer = true};
    struct pp_program *compute, *lowered;

    if (pp_schedule_check(schedule, &shape, NULL) != PP_OK)
        return 0;
    cr_assert_eq(pp_schedule_program(arena, schedule, &shape, NULL, &compute, NULL), PP_OK);
    cr_assert_eq(pp_lower(arena, compute, &options, &lowered, NULL), PP_OK);
    const struct pp_rank_memory *plain = pp_memory_peaks(arena, compute, NULL);
    const struct pp_rank_memory *full = pp_memory_peaks(arena, lowered, NULL);
    for (int rank = 0; rank < shape.ranks; rank++) {
        const double want = schedule->peak.value(&shape, &unit, rank);
        cr_assert_eq(plain[rank].peak_activations, full[rank].peak_activations);
        if (!isnan(want))
            cr_assert_float_eq(full[rank].peak_activations, want, 1e-9, "%s D%d N%d q%d rank %d",
                               schedule->name, shape.ranks, shape.micro_batches, shape.splits,
                               rank);
    }
    return 1;
}

/* The formulas of the schedules themselves, for weight gradients apart and sequence splits too. */
Test(memory, peak_activations_are_those_of_the_registry)
{
    int count = 0;

    for (int k = 0; pp_schedules[k]; k++)
        for (int ranks = 1; pp_schedules[k]->peak.is_exact && ranks <= 6; ranks++)
            for (int n = 1; n <= 14; n++)
                for (int splits = 0; splits <= 3; splits += 3)
                    count += check_registry(
                        pp_schedules[k],
                        (struct pp_shape){.ranks = ranks, .micro_batches = n, .splits = splits});
    cr_assert_gt(count, 500);
}

/* ---- bytes: every tensor at every instruction ------------------------------------------------*/

/* Sizes are multiples of what cuts them (granules, splits, quarters), so that all sums are exact.
 */
static struct pp_costs *random_costs(struct pp_arena *arena, const struct pp_program *p)
{
    struct pp_costs *costs = PP_NEW(arena, struct pp_costs);

    costs->stages = p->stages;
    costs->other_bytes = 12345;
    costs->fragment_frac = 0.25;
    costs->memory = PP_ARRAY(arena, struct pp_stage_memory, p->stages);
    for (int s = 0; s < p->stages; s++)
        costs->memory[s] = (struct pp_stage_memory){.params_bytes = 100 + rand() % 1000,
                                                    .grads_bytes = 100 + rand() % 1000,
                                                    .optimizer_bytes = 100 + rand() % 1000,
                                                    .saved_bytes = 48.0 * (100 + rand() % 900),
                                                    .checkpoint_bytes = 48.0 * (rand() % 100),
                                                    .weight_grad_frac = 0.25 * (rand() % 5),
                                                    .boundary_bytes = 48.0 * (rand() % 300),
                                                    .forward_bytes = 48.0 * (rand() % 100),
                                                    .backward_bytes = 48.0 * (rand() % 100),
                                                    .dense_grad_bytes = rand() % 60000,
                                                    .update_bytes = rand() % 30000};
    return costs;
}

static double tensor_bytes(const struct pp_program *p, const struct pp_costs *costs,
                           const struct tensor *t, int at)
{
    const struct pp_stage_memory *memory = &costs->memory[t->stage];
    const double share = 1.0 / (p->granules * p->splits);

    if (at < t->from || at > t->until)
        return 0;
    if (t->class != SAVED)
        return memory->boundary_bytes * t->granules * share;
    if (t->recompute >= 0 && at < t->recompute)
        return memory->checkpoint_bytes * share;
    if (t->input >= 0 && at > t->input)
        return memory->saved_bytes * memory->weight_grad_frac * share;
    return memory->saved_bytes * share;
}

/* What lives only while the op at a position runs. */
static double work_of(const struct pp_program *p, const struct pp_costs *costs, int rank, int at)
{
    const struct pp_op op = pp_program_op(p, p->begin[rank] + at);
    const double cells = (double)op.granules / (p->granules * p->splits);
    const bool is_training = p->mode == PP_MODE_TRAIN;

    if (!pp_op_is_compute(op.kind))
        return 0;
    const struct pp_stage_memory *m = &costs->memory[op.stage];
    if (op.kind == PP_F)
        return is_training ? cells * m->forward_bytes : 0;
    if (op.kind == PP_W)
        return fmax(0, m->dense_grad_bytes - cells * m->saved_bytes * m->weight_grad_frac);
    if (op.kind == PP_I)
        return cells * m->backward_bytes;
    if (op.kind == PP_B)
        return fmax(cells * m->backward_bytes, m->dense_grad_bytes - cells * m->saved_bytes);
    return 0;
}

/* All updates up to a position, until the last of the rank. */
static double update_of(const struct pp_program *p, const struct pp_costs *costs, int rank, int at)
{
    double bytes = 0;
    bool is_over = true;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        if (p->kind[i] != PP_U)
            continue;
        bytes += i <= p->begin[rank] + at ? costs->memory[p->stage[i]].update_bytes : 0;
        is_over &= i < p->begin[rank] + at;
    }
    return is_over ? 0 : bytes;
}

/* While the op at a position runs; the first of a pair lives on through the second. */
static double scratch_of(const struct pp_program *p, const struct pp_costs *costs, int rank, int at)
{
    const int i = p->begin[rank] + at;
    const bool is_second = at > 0 && p->kind[i - 1] == PP_F && p->aux[i - 1] == PP_FUSED_FIRST;

    return work_of(p, costs, rank, at) + (is_second ? work_of(p, costs, rank, at - 1) : 0) +
           update_of(p, costs, rank, at);
}

/* What of it is there after the op. */
static double scratch_after(const struct pp_program *p, const struct pp_costs *costs, int rank,
                            int at)
{
    const int i = p->begin[rank] + at;
    const bool is_first = p->kind[i] == PP_F && p->aux[i] == PP_FUSED_FIRST;
    bool has_later = false;

    for (int k = i + 1; k < p->begin[rank + 1]; k++)
        has_later |= p->kind[k] == PP_U;
    return (is_first ? work_of(p, costs, rank, at) : 0) +
           (has_later ? update_of(p, costs, rank, at) : 0);
}

static void check_bytes(struct pp_arena *arena, const struct pp_program *p)
{
    const struct pp_costs *costs = random_costs(arena, p);
    const struct pp_rank_memory *memory = pp_memory_peaks(arena, p, costs);
    const struct pp_memory_changes changes = pp_memory_changes(arena, p, costs);

    for (int rank = 0; rank < p->ranks; rank++) {
        const int count = p->begin[rank + 1] - p->begin[rank];
        struct tensor *tensors = malloc(sizeof(*tensors) * (size_t)(4 * count + 4));
        const int n = tensors_of(p, rank, tensors);
        double params = 0, states = 0, peak = -1, parts[2] = {0, 0};
        double alive = changes.base_bytes[rank];

        for (int chunk = 0; chunk < p->pipelines * p->stages; chunk++)
            if (p->rank_of[chunk] == rank) {
                const struct pp_stage_memory *m = &costs->memory[chunk % p->stages];
                int versions = 0; /* that its forwards use */
                for (int v = 0; v < 256; v++)
                    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
                        if (p->kind[i] == PP_F && p->pipe[i] * p->stages + p->stage[i] == chunk &&
                            p->version[i] == v) {
                            versions++;
                            break;
                        }
                versions = versions ? versions : 1;
                params += versions * m->params_bytes;
                states += versions * m->params_bytes + m->grads_bytes + m->optimizer_bytes;
            }
        const double other = memory[rank].other_bytes;
        for (int at = 0; at < count; at++) {
            double now[2] = {0, scratch_of(p, costs, rank, at)},
                   next = scratch_after(p, costs, rank, at);
            for (int k = 0; k < n; k++) {
                now[tensors[k].class != SAVED] += tensor_bytes(p, costs, &tensors[k], at);
                if (tensors[k].from <= at)
                    next += tensor_bytes(p, costs, &tensors[k], at + 1);
                if (tensors[k].class == SAVED && tensors[k].recompute == at + 1 &&
                    at >= tensors[k].from)
                    next -= (costs->memory[tensors[k].stage].saved_bytes -
                             costs->memory[tensors[k].stage].checkpoint_bytes) /
                            (p->granules * p->splits);
            }
            if (now[0] + now[1] > peak) {
                peak = now[0] + now[1];
                parts[0] = now[0], parts[1] = now[1];
            }
            alive += changes.taken_bytes[p->begin[rank] + at];
            alive -= changes.given_bytes[p->begin[rank] + at];
            cr_assert_eq(alive, states + other + next, "%s rank %d at %d: %g, expected %g", p->name,
                         rank, at, alive, states + other + next);
        }
        cr_assert_eq(memory[rank].params_bytes, params);
        cr_assert_eq(memory[rank].activations_bytes, parts[0]);
        cr_assert_eq(memory[rank].buffers_bytes, parts[1], "%s rank %d: %g, expected %g", p->name,
                     rank, memory[rank].buffers_bytes, parts[1]);
        cr_assert_eq(other, 12345 + rint(0.25 * (states + peak)));
        cr_assert_eq(memory[rank].peak_bytes, states + other + peak);
        cr_assert_eq(memory[rank].peak_bytes,
                     memory[rank].params_bytes + memory[rank].grads_bytes +
                         memory[rank].optimizer_bytes + memory[rank].activations_bytes +
                         memory[rank].buffers_bytes + memory[rank].other_bytes);
        if (count > 0) /* nothing is left over */
            cr_assert_eq(alive, states + other);
        free(tensors);
    }
}

static void lower_and_weigh(struct pp_arena *arena, const struct pp_program *compute, void *context)
{
    const int at = (*(int *)context)++;
    double *frac = PP_ARRAY(arena, double, compute->stages);
    const struct pp_lower_options options = {.post = at % 4,
                                             .recv_slots = at % 5,
                                             .has_sync = at % 3 == 0,
                                             .has_optimizer = true,
                                             .recompute_frac = at % 2 ? frac : NULL};
    struct pp_program *p;
    struct pp_error err;

    for (int s = 0; s < compute->stages; s++)
        frac[s] = rand() % 2;
    if (compute->micro_batches > 8 || compute->stages > 12)
        return;
    cr_assert_eq(pp_lower(arena, compute, &options, &p, &err), PP_OK, "%s", err.message);
    check_bytes(arena, p);
}

Test(memory, bytes_are_the_sum_over_all_tensors)
{
    int count = 0;

    srand(7);
    for_each_case(lower_and_weigh, &count);
    cr_assert_gt(count, 300);
}

/* ---- by hand ---------------------------------------------------------------------------------*/

static const uint16_t vee[] = {0, 1, 1, 0};

static struct pp_program *make(struct pp_arena *arena, struct pp_program_head head,
                               const char *text, bool is_lowered)
{
    const struct pp_lower_options options = {.recv_slots = 1};
    struct pp_orders *orders = cells_orders(arena, text, head.ranks);
    struct pp_program *p;
    struct pp_error err;

    cr_assert_eq(pp_program_freeze(arena, &head, orders, &p, &err), PP_OK, "%s", err.message);
    if (is_lowered)
        cr_assert_eq(pp_lower(arena, p, &options, &p, &err), PP_OK, "%s", err.message);
    return p;
}

static struct pp_program_head head_of(int ranks, int stages, int n)
{
    return (struct pp_program_head){.name = "test",
                                    .ranks = ranks,
                                    .stages = stages,
                                    .pipelines = 1,
                                    .micro_batches = n,
                                    .granules = 1,
                                    .splits = 1,
                                    .versions = 1,
                                    .rank_of = vee};
}

/* Pairs, split backwards and hand-overs inside a rank, which no schedule of today combines. */
Test(memory, split_backwards_pairs_and_hand_overs)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_program_head head = head_of(2, 4, 3);

    check_bytes(arena, make(arena, head,
                            "0F0 0F1 3F0 3I0 0F2 3F1 3W0 3B1 0I0 3F2 0W0 3I2 0B1 3W2 0B2\n"
                            "1F0 2F0 1F1 2F1 1F2 2I0 1I0 2W0 2F2 2B1 1B1 1W0 2B2 1B2",
                            true));
    check_bytes(arena,
                make(arena, head,
                     "0F0 0F1 3F0 (0F2;3B0)OVERLAP_F_B 3F1 3B1 0B0 3F2 3B2 0B1 0B2\n"
                     "1F0 2F0 1F1 (2F1;2B0)OVERLAP_F_B (1F2;1B0)OVERLAP_F_B (2F2;2B1)OVERLAP_F_B "
                     "1B1 2B2 1B2",
                     true));
}

Test(memory, a_weight_gradient_holds_its_activation_until_w)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *const texts[] = {"0F0 0I0 0F1 0I1 0F2 0I2 0W0 0W1 0W2", "0F0 0B0 0F1 0B1 0F2 0B2",
                                 "0F0 (0F1;0B0)OVERLAP_F_B (0F2;0B1)OVERLAP_F_B 0B2"};
    const double peaks[] = {3, 1, 2};

    for (int k = 0; k < 3; k++)
        cr_assert_eq(pp_memory_peaks(arena, make(arena, head_of(1, 1, 3), texts[k], false), NULL)[0]
                         .peak_activations,
                     peaks[k]);
}

Test(memory, splits_and_granules_count_their_share)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_program_head head = head_of(1, 1, 2);

    head.splits = 2;
    cr_assert_eq(
        pp_memory_peaks(arena,
                        make(arena, head, "0F0s0 0F0s1 0F1s0 0B0s1 0B0s0 0F1s1 0B1s1 0B1s0", false),
                        NULL)[0]
            .peak_activations,
        1.5);
    head.splits = 1;
    head.granules = 2;
    struct pp_program *halves = make(arena, head, "0F0-1 0B0 0F2-3 0B1 0B2 0B3", true);
    cr_assert_eq(pp_memory_peaks(arena, halves, NULL)[0].peak_activations, 1.5);
    check_bytes(arena, halves);
}

Test(memory, inference_keeps_nothing)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_program_head head = head_of(2, 2, 4);

    head.mode = PP_MODE_INFER;
    struct pp_program *p = make(arena, head, "0F0 0F1 0F2 0F3\n1F0 1F1 1F2 1F3", true);
    check_bytes(arena, p);
    cr_assert_eq(pp_memory_peaks(arena, p, NULL)[0].peak_activations, 1.0);
}

/* A quarter of the tensors is wasted while there is room. With less room the waste is the remaining
 * room, but at least a tenth of the tensors: then they do not fit. */
Test(memory, waste_shrinks_where_room_ends)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_program *p = make(arena, head_of(1, 1, 1), "0F0 0B0", true);
    struct pp_costs *costs = random_costs(arena, p);
    const double tensors = (pp_memory_peaks(arena, p, costs)->peak_bytes - 12345) / 1.25;
    static const double room[] = {0.5, 0.25, 0.2, 0.1, 0.05},
                        wasted[] = {0.25, 0.25, 0.2, 0.1, 0.1};

    costs->stuck_frac = 0.1;
    for (size_t i = 0; i < sizeof room / sizeof *room; i++) {
        costs->capacity_bytes = 12345 + (1 + room[i]) * tensors + 1;
        cr_assert_float_eq(pp_memory_peaks(arena, p, costs)->other_bytes,
                           12345 + wasted[i] * tensors, 2, "%g", room[i]);
    }
}

/* A file may name one cell of an immense grid. */
Test(memory, sparse_programs_cost_what_they_hold)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_program_head head = head_of(1, 60000, 1 << 24);

    head.rank_of = PP_ARRAY(arena, uint16_t, 60000);
    struct pp_program *p = make(arena, head, "5F9999999 59999F16777215 5B9999999", false);
    cr_assert_eq(pp_memory_peaks(arena, p, NULL)[0].peak_activations, 2.0);
    cr_assert_eq(pp_lower(arena, p, &(struct pp_lower_options){0}, &p, NULL), PP_EPROGRAM);
}
