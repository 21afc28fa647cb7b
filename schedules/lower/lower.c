/* Lowering: checks the options and runs the passes in order. */
#include "schedules/lower/lower.h"

#include <string.h>

const char *const pp_post_names[] = {
    [PP_POST_EARLY] = "early",
    [PP_POST_JIT] = "jit",
    [PP_POST_BATCHED] = "batched",
    [PP_POST_SENDER] = "sender",
    NULL,
};
const char *const pp_grad_sync_names[] = {
    [PP_SYNC_END] = "end",
    [PP_SYNC_EAGER] = "eager",
    [PP_SYNC_EAGER_OPT] = "eager-opt",
    NULL,
};

static const struct {
    pp_lower_pass *run;
    enum { ALWAYS, SYNCHRONOUS, ASYNCHRONOUS } when;
} passes[] = {
    {pp_lower_recompute, ALWAYS},
    {pp_lower_in_place, ALWAYS},
    {pp_lower_gathers, ALWAYS},
    {pp_lower_moves, ALWAYS},
    {pp_lower_kv, ALWAYS},
    {pp_lower_sendrecv, ALWAYS},
    {pp_lower_late, ALWAYS},
    {pp_lower_updates, ASYNCHRONOUS},
    {pp_lower_sync, SYNCHRONOUS},
    {pp_lower_tied, SYNCHRONOUS},
    {pp_lower_optimizer, SYNCHRONOUS},
    {pp_lower_clip, SYNCHRONOUS},
    {pp_lower_grads, ALWAYS},
    {pp_lower_state_moves, ALWAYS},
};

/* Keeps the places in a file as long as no pass has added an instruction. */
static void keep_places(struct pp_arena *arena, const struct pp_program *p,
                        const struct pp_orders *lists, struct pp_program_head *head)
{
    const int32_t **line, **column;

    head->line = head->column = NULL;
    for (int rank = 0; rank < p->ranks; rank++)
        if (!p->line || lists->count[rank] != p->begin[rank + 1] - p->begin[rank])
            return;
    line = PP_ARRAY(arena, const int32_t *, p->ranks);
    column = PP_ARRAY(arena, const int32_t *, p->ranks);
    for (int rank = 0; rank < p->ranks; rank++) {
        line[rank] = p->line + p->begin[rank];
        column[rank] = p->column + p->begin[rank];
    }
    head->line = line;
    head->column = column;
}

/* Runs the passes; `head` becomes that of the lowered program, whose state is in `arena`. */
static enum pp_status run_passes(struct pp_arena *arena, struct pp_arena *scratch,
                                 struct pp_program_head *head,
                                 const struct pp_lower_options *options, struct pp_orders *lists,
                                 struct pp_error *err)
{
    const struct pp_program_state state = pp_lower_state(arena, head, options, lists);
    const struct pp_lowering lowering = {
        .arena = scratch, .head = head, .options = options, .lists = lists, .err = err};

    for (size_t i = 0; i < PP_COUNT(passes); i++)
        if (passes[i].when == ALWAYS ||
            (passes[i].when == ASYNCHRONOUS) == (options->update_every > 0))
            PP_TRY(passes[i].run(&lowering));
    head->level = PP_LEVEL_LOWERED;
    head->state = state;
    return PP_OK;
}

static enum pp_status freeze(struct pp_arena *arena, const struct pp_program_head *head,
                             const struct pp_lower_options *options, const struct pp_orders *lists,
                             struct pp_program **lowered, struct pp_error *err)
{
    PP_TRY(pp_program_freeze(arena, head, lists, lowered, err));
    if (!options->no_slots)
        pp_lower_slots(*lowered);
    return PP_OK;
}

enum pp_status pp_lower(struct pp_arena *arena, const struct pp_program *compute,
                        const struct pp_lower_options *options, struct pp_program **lowered,
                        struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_program_head head = pp_program_head_of(compute);
    struct pp_orders *lists = pp_program_thaw(scratch, compute);

    PP_TRY(run_passes(arena, scratch, &head, options, lists, err));
    keep_places(scratch, compute, lists, &head);
    return freeze(arena, &head, options, lists, lowered, err);
}

enum pp_status pp_lower_lists(struct pp_arena *arena, const struct pp_program_head *compute,
                              const struct pp_lower_options *options, struct pp_orders *lists,
                              struct pp_program **lowered, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_program_head head = *compute;

    PP_TRY(run_passes(arena, scratch, &head, options, lists, err));
    return freeze(arena, &head, options, lists, lowered, err);
}

struct pp_program *pp_lower_complete(struct pp_arena *arena, const struct pp_program *lowered)
{
    struct pp_program *complete = PP_NEW(arena, struct pp_program);
    const size_t bytes = sizeof(*complete->slot) * (size_t)pp_program_size(lowered);

    *complete = *lowered;
    complete->slot = memset(pp_arena_alloc_raw(arena, bytes), 0xff, bytes); /* all -1 */
    pp_lower_slots(complete);
    return complete;
}
