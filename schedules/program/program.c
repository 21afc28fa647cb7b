/* schedules/program/program.c — lists to program and back. freeze_link.c and freeze_groups.c link
 * messages, collectives and waits; freeze_ops.c stores instructions. */
#include "schedules/program/program.h"
#include "schedules/program/freeze.h"

#include <assert.h>
#include <string.h>

struct pp_shape pp_program_shape(const struct pp_program *p)
{
    return (struct pp_shape){.ranks = p->ranks,
                             .chunks = (p->stages + p->ranks - 1) / p->ranks,
                             .micro_batches = p->micro_batches,
                             .splits = p->splits,
                             .granules = p->granules,
                             .pipelines = p->pipelines};
}

struct pp_program_head pp_program_head_of(const struct pp_program *p)
{
    return (struct pp_program_head){.name = p->name,
                                    .level = p->level,
                                    .mode = p->mode,
                                    .ranks = p->ranks,
                                    .stages = p->stages,
                                    .pipelines = p->pipelines,
                                    .micro_batches = p->micro_batches,
                                    .granules = p->granules,
                                    .splits = p->splits,
                                    .versions = p->versions,
                                    .passes = p->passes,
                                    .state = p->state,
                                    .rank_of = p->rank_of,
                                    .pipe_of = p->pipe_of,
                                    .file = p->file};
}

struct pp_orders *pp_program_thaw(struct pp_arena *arena, const struct pp_program *p)
{
    struct pp_orders *orders = pp_orders_create(arena, p->ranks);

    for (int r = 0; r < p->ranks; r++) {
        const int count = p->begin[r + 1] - p->begin[r];
        orders->ops[r] = pp_arena_alloc_raw(arena, sizeof(struct pp_op) * (size_t)count);
        orders->count[r] = orders->capacity[r] = count;
        for (int i = 0; i < count; i++)
            orders->ops[r][i] = pp_program_op(p, p->begin[r] + i);
    }
    return orders;
}

/* ---- freeze ---------------------------------------------------------------------------------- */

static enum pp_status check_head(const struct pp_program_head *head, const struct pp_orders *lists,
                                 struct pp_error *err)
{
    const struct {
        const char *name;
        int64_t value, max;
    } sizes[] = {
        {"ranks", head->ranks, PP_MAX_RANKS},
        {"stages", head->stages, PP_MAX_STAGES},
        {"pipelines", head->pipelines, PP_MAX_PIPELINES},
        {"micro-batches", head->micro_batches, PP_MAX_GRANULES},
        {"granules", head->granules, UINT8_MAX - 1},
        {"splits", head->splits, UINT8_MAX},
        {"weight versions", head->versions, UINT8_MAX},
        {"micro-batches * granules", (int64_t)head->micro_batches * head->granules,
         PP_MAX_GRANULES},
        {"pipelines * stages", (int64_t)head->pipelines * head->stages, PP_MAX_PATHS},
    };
    int64_t total = 0;

    PP_TRY(pp_freeze_check_passes(head, err));
    for (size_t i = 0; i < PP_COUNT(sizes); i++)
        if (sizes[i].value < 1 || sizes[i].value > sizes[i].max)
            return pp_error_set(err, PP_EPROGRAM, "a program of %lld %s: 1 to %lld are possible",
                                (long long)sizes[i].value, sizes[i].name, (long long)sizes[i].max);
    assert(head->rank_of && lists->ranks == head->ranks);
    for (int r = 0; r < lists->ranks; r++)
        total += lists->count[r];
    if (total > PP_MAX_PROGRAM_OPS)
        return pp_error_set(err, PP_EPROGRAM, "a program of %lld instructions: at most %d",
                            (long long)total, PP_MAX_PROGRAM_OPS);
    return PP_OK;
}

static void allocate_arrays(const struct pp_freeze *f)
{
    struct pp_program *p = f->p;
    size_t n = 0;

    p->begin = PP_ARRAY(f->arena, int32_t, p->ranks + 1);
    for (int r = 0; r < p->ranks; r++) {
        n += (size_t)f->lists->count[r];
        p->begin[r + 1] = (int32_t)n;
    }
    uint8_t **const bytes[] = {&p->kind, &p->aux, &p->split, &p->granule_count, &p->version};
    uint16_t **const halves[] = {&p->stage, &p->pipe, &p->peer};
    int32_t **const words[] = {&p->mb, &p->arg, &p->slot, &p->line, &p->column};
    const size_t word_arrays = f->head->line ? 5 : 3;

    for (size_t i = 0; i < PP_COUNT(bytes); i++)
        *bytes[i] = pp_arena_alloc_raw(f->arena, n + 1);
    for (size_t i = 0; i < PP_COUNT(halves); i++)
        *halves[i] = pp_arena_alloc_raw(f->arena, (n + 1) * sizeof(uint16_t));
    for (size_t i = 0; i < word_arrays; i++)
        *words[i] = pp_arena_alloc_raw(f->arena, (n + 1) * sizeof(int32_t));
}

static void store_places(const struct pp_freeze *f, int rank)
{
    const struct pp_program *p = f->p;
    const size_t bytes = sizeof(int32_t) * (size_t)f->lists->count[rank];

    if (!p->line || bytes == 0)
        return;
    memcpy(p->line + p->begin[rank], f->head->line[rank], bytes);
    memcpy(p->column + p->begin[rank], f->head->column[rank], bytes);
}

/* Makes room for the subsets that later steps read; most instructions are in neither. */
static void allocate_subsets(struct pp_freeze *f)
{
    const struct pp_program *p = f->p;
    const size_t bytes = sizeof(int32_t) * (size_t)(pp_program_size(p) + 1);

    f->messages.at = pp_arena_alloc_raw(f->scratch, bytes);
    f->collectives.at = pp_arena_alloc_raw(f->scratch, bytes);
    f->messages.begin = PP_ARRAY(f->scratch, int32_t, p->ranks + 1);
    f->collectives.begin = PP_ARRAY(f->scratch, int32_t, p->ranks + 1);
    f->other_posts = PP_ARRAY(f->scratch, int32_t, p->ranks);
}

enum pp_status pp_program_freeze(struct pp_arena *arena, const struct pp_program_head *head,
                                 const struct pp_orders *lists, struct pp_program **program,
                                 struct pp_error *err)
{
    PP_TRY(check_head(head, lists, err));
    struct pp_program *p = PP_NEW(arena, struct pp_program);
    *p = (struct pp_program){.name = head->name ? head->name : "",
                             .file = head->file,
                             .level = head->level,
                             .mode = head->mode,
                             .ranks = head->ranks,
                             .stages = head->stages,
                             .pipelines = head->pipelines,
                             .micro_batches = head->micro_batches,
                             .granules = head->granules,
                             .splits = head->splits,
                             .versions = head->versions,
                             .passes = head->passes,
                             .state = head->state,
                             .rank_of = head->rank_of,
                             .pipe_of = head->pipe_of};
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_freeze f = {
        .arena = arena, .scratch = scratch, .head = head, .lists = lists, .p = p, .err = err};

    if (!p->pipe_of) {
        assert(p->pipelines == 1);
        p->pipe_of = PP_ARRAY(arena, uint16_t, head->micro_batches * head->granules);
    }
    allocate_arrays(&f);
    allocate_subsets(&f);
    for (int r = 0; r < p->ranks; r++) {
        PP_TRY(pp_freeze_ops(&f, r));
        store_places(&f, r);
    }
    PP_TRY(pp_freeze_channels(&f));
    PP_TRY(pp_freeze_collectives(&f));
    PP_TRY(pp_freeze_waits(&f));
    *program = p;
    return PP_OK;
}
