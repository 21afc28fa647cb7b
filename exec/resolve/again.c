/* --recompute, and what it means for each stage. */
#include "exec/resolve/parts.h"
#include "exec/resolve/planned.h"

#include <stdio.h>

enum pp_status pp_exec_recompute(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                                 struct pp_error *err)
{
    struct pp_recompute_choice *choice = &config->recompute;

    if (!wish->recompute)
        return PP_OK;
    PP_TRY(pp_recompute_read(wish->recompute, &config->model, choice, err));
    if (choice->how == PP_RECOMPUTE_SELECTIVE && choice->again == 0)
        choice->again = PP_AGAIN_CORE;
    return PP_OK;
}

struct pp_stage_again pp_exec_stage_again(const struct pp_exec_config *config, int stages,
                                          int stage, int blocks)
{
    const struct pp_recompute_choice *c = &config->recompute;

    return (struct pp_stage_again){
        .modules = c->how == PP_RECOMPUTE_SELECTIVE ? c->again : 0,
        .blocks = c->how == PP_RECOMPUTE_STAGE ? pp_recompute_blocks(c, stages, stage, blocks) : 0};
}

double *pp_exec_recompute_fracs(struct pp_arena *arena, const struct pp_exec_config *config,
                                int stages, const int *blocks_per_stage)
{
    const bool is_full = config->recompute.how == PP_RECOMPUTE_FULL;
    double *fracs = PP_ARRAY(arena, double, stages);

    for (int s = 0; s < stages; s++) {
        const int again = pp_recompute_blocks(&config->recompute, stages, s, blocks_per_stage[s]);
        fracs[s] = is_full ? 1 : again > 0 ? (double)again / blocks_per_stage[s] : 0;
    }
    return fracs;
}

enum pp_status pp_exec_check_again(const struct pp_exec_config *config,
                                   const struct pp_exec_plan *plan, struct pp_error *err)
{
    const struct pp_program *file = plan->subject.file;
    const enum pp_recompute how = config->recompute.how;
    const int splits = plan->selection.shape.splits;
    const bool has_own = file && pp_program_has_kind(file, PP_R);

    if (has_own && how == PP_RECOMPUTE_STAGE)
        return pp_error_set(err, PP_EINVAL,
                            "--recompute stage-aware: R of %s says which stages recompute; give "
                            "full, selective or selective=MODULES, or remove every R",
                            plan->subject.name);
    if (splits == 1 || how == PP_RECOMPUTE_SELECTIVE)
        return PP_OK;
    if (has_own)
        return pp_error_set(err, PP_EINVAL,
                            "--schedule %s: R recomputes one of %d sequence splits alone, which is "
                            "not possible for whole stages; give --recompute selective, or remove "
                            "every R",
                            plan->subject.name, splits);
    if (how != PP_RECOMPUTE_NONE)
        return pp_error_set(err, PP_EINVAL,
                            "--recompute %s: the forward of one of %d sequence splits cannot be "
                            "recomputed alone; give --splits 1, or --recompute selective or none",
                            pp_recompute_names[how], splits);
    return PP_OK;
}

const char *pp_exec_recompute_text(struct pp_arena *arena, const struct pp_exec_config *config)
{
    const struct pp_recompute_choice *c = &config->recompute;
    char modules[PP_RECOMPUTE_TEXT_BYTES], words[PP_AGAIN_WORDS_BYTES];

    pp_again_print(c->again, modules, sizeof(modules));
    pp_again_words_print(c->words, ", ", words);
    switch (c->how) {
    case PP_RECOMPUTE_NONE:
        return "";
    case PP_RECOMPUTE_SELECTIVE:
        return pp_arena_printf(arena, "recomputing %s%s", modules, words);
    case PP_RECOMPUTE_STAGE:
        return pp_arena_printf(arena, "recomputing stage-aware=%g%s", c->first_stage_ratio, words);
    default:
        return pp_arena_printf(arena, "recomputing%s", words);
    }
}
