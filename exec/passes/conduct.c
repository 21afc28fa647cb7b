/* Tokens as the process that conducts has them: it hands them on, group after group, as they come.
 */
#include "exec/host/futex.h"
#include "exec/passes/passes.h"

enum { LOOK_NS = 100 * 1000 * 1000 }; /* between looks for dead workers */

void pp_tokens_place(struct pp_machine *m)
{
    const struct pp_machine_generation *options = m->options.generation;

    if (!options)
        return;
    const size_t tokens = (size_t)(m->replicas * options->of.batch) * (size_t)options->of.passes;
    struct pp_generating *g = PP_NEW(m->arena, struct pp_generating);

    g->tokens = PP_ARRAY(m->arena, int32_t, tokens);
    g->hashes = options->hashes_logits ? PP_ARRAY(m->arena, uint64_t, tokens) : NULL;
    g->made = PP_ARRAY(m->arena, atomic_int, options->of.passes * m->replicas * options->of.groups);
    g->handed = PP_ARRAY(m->arena, int32_t, options->of.batch / options->of.groups);
    m->generating = g;
}

void pp_tokens_begin(struct pp_machine *m)
{
    if (!m->generating)
        return;
    const struct pp_generation *of = &m->options.generation->of;

    for (int k = 0; k < of->passes * m->replicas * of->groups; k++)
        atomic_store(&m->generating->made[k], 0);
    atomic_store(&m->generating->is_under_way, true);
}

/* Waits until all tokens of a pass and group are there. False: they will not come. */
static bool await(struct pp_machine *m, int number)
{
    const struct pp_generation *of = &m->options.generation->of;
    struct pp_generating *g = m->generating;

    for (;;) {
        const unsigned seen = atomic_load(&g->changes);
        const bool is_over = atomic_load(&m->running) == 0 && m->backend->is_immediate;

        if (atomic_load(&g->made[number]) == of->batch / of->groups)
            return true;
        if (m->has_failed || m->are_gone || is_over)
            return false;
        pp_futex_wait(&g->changes, seen, LOOK_NS);
    }
}

static void hand_on(const struct pp_machine *m, int group, int pass)
{
    const struct pp_machine_generation *options = m->options.generation;
    const int rows = options->of.batch / options->of.groups, passes = options->of.passes;
    const int32_t *tokens = m->generating->tokens + (size_t)(group * rows) * (size_t)passes;
    int32_t *ids = m->generating->handed;

    for (int row = 0; row < rows; row++)
        ids[row] = tokens[row * passes + pass];
    options->on_tokens(options->tokens_closure, group, pass, ids);
}

void pp_tokens_conduct(struct pp_machine *m)
{
    if (!m->generating || !m->options.generation->on_tokens)
        return;
    const struct pp_generation *of = &m->options.generation->of;
    const int groups = m->replicas * of->groups;

    for (int k = 0; k < of->passes * groups && await(m, k); k++)
        hand_on(m, k % groups, k / groups);
}
