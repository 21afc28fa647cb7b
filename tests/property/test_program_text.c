/* Programs as text, for every schedule of the registry at many shapes, compute only and lowered in
 * several ways. Print -> parse -> print is the identity, and the program read is the program
 * printed. */
#include "schedules/lower/lower.h"
#include "schedules/order/concat.h"
#include "schedules/registry.h"

#include <criterion/criterion.h>
#include <string.h>

static const double recompute[] = {1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1,
                                   1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static const int buckets[] = {2, 1, 3, 1, 4, 2, 2, 2, 255, 2, 1, 3, 1, 4, 2, 2, 2, 9,
                              2, 1, 3, 1, 4, 2, 2, 2, 255, 2, 1, 3, 1, 4, 2, 2, 2, 9};
#define TWO_ZERO_1                                                                                 \
    {                                                                                              \
        .replicas = {2, 1}, .shard = { [PP_STATE_OPTIMIZER] = {2, 1} }                             \
    }
static const struct pp_lower_options variants[] = {
    {.post = PP_POST_EARLY, .recv_slots = 0},
    {.post = PP_POST_EARLY, .recv_slots = 2, .has_sync = true, .has_optimizer = true},
    {.post = PP_POST_JIT,
     .recv_slots = 1,
     .grad_sync = PP_SYNC_EAGER,
     .has_sync = true,
     .has_optimizer = true,
     .has_tied = true},
    {.post = PP_POST_EARLY,
     .recv_slots = 2,
     .grad_sync = PP_SYNC_EAGER_OPT,
     .has_sync = true,
     .has_optimizer = true,
     .state = TWO_ZERO_1,
     .recompute_frac = recompute},
    {.post = PP_POST_BATCHED,
     .recv_slots = 1,
     .grad_sync = PP_SYNC_EAGER,
     .has_sync = true,
     .has_optimizer = true,
     .has_tied = true,
     .state = TWO_ZERO_1,
     .buckets = buckets},
    {.post = PP_POST_EARLY,
     .recv_slots = 2,
     .has_sync = true,
     .has_optimizer = true,
     .has_tied = true,
     .has_clip = true,
     .recompute_frac = recompute},
    {.post = PP_POST_SENDER,
     .recv_slots = 2,
     .has_optimizer = true,
     .recompute_frac = recompute,
     .again = {.is_late = true, .is_skipped = true}},
    {.post = PP_POST_EARLY, /* parameters that are cut; for one pipeline */
     .recv_slots = 2,
     .has_sync = true,
     .has_optimizer = true,
     .state = {.replicas = {8, 1}, .shard = {{2, 1}, {4, 1}, {4, 1}}, .buffers = 3},
     .units = buckets,
     .recompute_frac = recompute},
    {.post = PP_POST_EARLY, /* and live elsewhere */
     .recv_slots = 2,
     .has_optimizer = true,
     .state = {.replicas = {2, 1},
               .shard = {{2, 1}, {2, 1}, {2, 1}},
               .buffers = 2,
               .home = {[PP_STATE_PARAMS] = PP_TIER_HOST}},
     .units = buckets},
    {.post = PP_POST_EARLY, /* with a cache */
     .recv_slots = 2,
     .has_optimizer = true,
     .state = {.replicas = {2, 1}, .shard = {{2, 1}, {2, 1}, {2, 1}}, .buffers = 2, .cached = 5},
     .units = buckets},
};
enum { VARIANTS = sizeof(variants) / sizeof(*variants) };

static int checked, refused;

static void check_same(const struct pp_program *p, const struct pp_program *q, const char *text)
{
    cr_assert_eq(p->ranks, q->ranks);
    cr_assert_eq(p->stages, q->stages, "%s", text);
    cr_assert_eq(p->micro_batches, q->micro_batches, "%s", text);
    cr_assert_eq(p->message_count, q->message_count);
    cr_assert_eq(p->collective_count, q->collective_count);
    cr_assert_eq(pp_program_size(p), pp_program_size(q), "%s", text);
    cr_assert_eq(memcmp(p->begin, q->begin, sizeof(int32_t) * ((size_t)p->ranks + 1)), 0);
    for (int i = 0; i < pp_program_size(p); i++) {
        struct pp_op a = pp_program_op(p, i), b = pp_program_op(q, i);
        if (p->level == PP_LEVEL_COMPUTE) /* PyTorch's text knows neither */
            a.pipe = b.pipe = 0, a.version = b.version = 0, a.slot = b.slot = -1;
        cr_assert_eq(memcmp(&a, &b, sizeof(a)), 0, "instruction %d of\n%s", i, text);
    }
    if (p->level == PP_LEVEL_COMPUTE)
        return;
    cr_assert_eq(p->mode, q->mode);
    cr_assert_eq(p->state.units != NULL, q->state.units != NULL, "%s", text);
    const struct pp_state_spec *a = &p->state.spec, *b = &q->state.spec;
    cr_assert_eq(pp_state_has_parts(a), pp_state_has_parts(b), "%s", text);
    cr_assert_eq(pp_state_is_gathered(a), pp_state_is_gathered(b), "%s", text);
    cr_assert_eq(pp_state_is_away(a, PP_STATE_PARAMS), pp_state_is_away(b, PP_STATE_PARAMS), "%s",
                 text);
    for (int s = 0; p->state.units && s < p->stages; s++)
        cr_assert(p->state.units[s] == q->state.units[s] && a->buffers == b->buffers &&
                      a->cached == b->cached,
                  "%s", text);
    cr_assert_eq(p->pipelines, q->pipelines);
    cr_assert_eq(p->granules, q->granules);
    cr_assert_eq(p->splits, q->splits);
    cr_assert_eq(p->versions, q->versions);
    for (int k = 0; k < p->pipelines * p->stages; k++)
        cr_assert_eq(p->rank_of[k], q->rank_of[k]);
    for (int id = 0; id < p->micro_batches * p->granules; id++)
        cr_assert_eq(p->pipe_of[id], q->pipe_of[id]);
}

static void check_text(struct pp_arena *arena, const struct pp_program *p)
{
    const char *text = pp_program_text(arena, p);
    struct pp_program *q = NULL;
    struct pp_error err = {0};

    cr_assert_eq(pp_program_parse(arena, "text", text, strlen(text), PP_DIALECT_2025, &q, &err),
                 PP_OK, "%s\n%s", err.message, text);
    cr_assert_str_eq(pp_program_text(arena, q), text);
    cr_assert_eq(pp_program_hash(p), pp_program_hash(q));
    check_same(p, q, text);
    checked++;
}

static void check_shape(const struct pp_schedule *schedule, struct pp_shape shape)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_program *compute = NULL, *lowered = NULL;
    struct pp_error err = {0};

    if (pp_schedule_check(schedule, &shape, &err) != PP_OK)
        return;
    if (pp_schedule_program(arena, schedule, &shape, NULL, &compute, &err) != PP_OK) {
        refused++; /* needs costs */
        return;
    }
    check_text(arena, compute);
    for (int k = 0; k < VARIANTS; k++) {
        if (variants[k].units && (compute->pipelines > 1 || compute->versions > 1))
            continue;
        cr_assert_eq(pp_lower(arena, compute, &variants[k], &lowered, &err), PP_OK, "%s: %s",
                     schedule->name, err.message);
        check_text(arena, lowered);
    }
}

Test(program_text, registry_survives_a_round_trip)
{
    static const int sizes[] = {1, 2, 3, 4, 6, 8, 9};
    enum { SIZES = sizeof(sizes) / sizeof(*sizes) };

    for (int i = 0; pp_schedules[i] != NULL; i++)
        for (int d = 1; d <= 6; d++)
            for (int n = 0; n < SIZES; n++)
                for (int option = 0; option < 4; option++) {
                    const struct pp_schedule *schedule = pp_schedules[i];
                    const unsigned has = schedule->sizes;
                    struct pp_shape shape = {.ranks = d, .micro_batches = sizes[n]};
                    shape.chunks = schedule->chunks       ? schedule->chunks
                                   : has & PP_SIZE_CHUNKS ? 2
                                                          : 1;
                    shape.splits = has & PP_SIZE_SPLITS ? 1 + option % 2 : 0;
                    shape.pipelines = has & PP_SIZE_PIPELINES ? 2 + 2 * (option % 2) : 0;
                    if (has & PP_SIZE_GRANULES)
                        shape.option[PP_CONCAT_AT] = option;
                    if (option == 0 || has & (PP_SIZE_SPLITS | PP_SIZE_PIPELINES))
                        check_shape(schedule, shape);
                }
    cr_assert_gt(checked, 1000, "%d", checked);
    cr_assert_lt(refused, checked);
}
