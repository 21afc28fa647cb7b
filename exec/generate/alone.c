/* A group of sequences on one rank, without a program. */
#include "exec/generate/parts.h"

#include <string.h>

int32_t *pp_generate_prompts_of(struct pp_arena *arena, const struct pp_generate *g, int first,
                                int count)
{
    const struct pp_prompts *p = &g->prompts;
    int32_t *ids = PP_ARRAY(arena, int32_t, (size_t)count * (size_t)p->tokens);

    for (int i = 0; i < count; i++)
        memcpy(ids + (int64_t)i * p->tokens, p->ids + (int64_t)((first + i) % p->count) * p->tokens,
               (size_t)p->tokens * sizeof *ids);
    return ids;
}

enum pp_status pp_generate_alone(struct pp_arena *arena, struct pp_generate *g, bool is_again,
                                 struct pp_decoder **decoder, struct pp_error *err)
{
    const struct pp_exec_config *c = &g->config;
    struct pp_place *place = PP_NEW(arena, struct pp_place);
    struct pp_generation *of = PP_NEW(arena, struct pp_generation);

    *of = g->of;
    of->groups = 1;
    of->batch = pp_generate_group(g);
    of->prompt_groups = pp_generation_pieces(&g->of);
    *place = (struct pp_place){.backend = c->backend,
                               .mode = c->mode,
                               .share = {.tp = c->tp, .etp = c->tp},
                               .parts = 1,
                               .place = c->meeting.local_index,
                               .timeout_s = c->timeout_s,
                               .on_stuck = pp_generate_on_stuck,
                               .stuck_closure = g};
    const struct pp_decoding decoding = {&c->net, c->kernels, place, of, is_again};
    PP_TRY(pp_decoder_create(arena, &decoding, decoder, err));
    pp_decoder_draw(*decoder, &c->recipe);
    return PP_OK;
}
