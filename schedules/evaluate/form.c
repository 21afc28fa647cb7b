/* Plans of a program that meets many costs: compiled once, then only durations change.
 *
 * Few durations of a program differ: all forwards of a stage last equally long. So a form numbers
 * them, and each use computes every one of them once. */
#include "schedules/evaluate/form.h"

#include "schedules/evaluate/op_cost.h"

#include <string.h>

/* ---- numbers --------------------------------------------------------------------------------- */

static bool is_pair(const struct pp_program *p, int i)
{
    return p->aux[i] == PP_FUSED_FIRST &&
           pp_graph_is_fused(p, i, p->begin[pp_program_rank_at(p, i) + 1]);
}

/* Is true if costs cannot tell the instructions apart. */
static bool is_alike(const struct pp_program *p, int i, int j)
{
    return p->kind[i] == p->kind[j] && p->aux[i] == p->aux[j] && p->split[i] == p->split[j] &&
           p->granule_count[i] == p->granule_count[j] && p->version[i] == p->version[j] &&
           p->stage[i] == p->stage[j] && p->pipe[i] == p->pipe[j] && p->peer[i] == p->peer[j];
}

/* Returns the number of a node's duration. */
static int32_t number_of(struct pp_eval_form *form, const struct pp_node *node)
{
    const struct pp_program *p = form->eval->program;
    const int i = node->owner;

    if (node->price == PP_PRICE_NONE)
        return 0;
    const bool is_fused = node->price == PP_PRICE_COMPUTE && is_pair(p, i);
    int32_t *last = &form->last_of[p->stage[i]];
    for (int32_t k = *last; k; k = form->prices[k].before) {
        struct pp_form_price *known = &form->prices[k];
        if (known->kind == node->price && known->is_fused == is_fused &&
            is_alike(p, known->at, i) && (!is_fused || is_alike(p, known->at + 1, i + 1))) {
            known->uses++;
            return k;
        }
    }
    *PP_PUSH(form->arena, form->prices, form->price_count, form->price_capacity) =
        (struct pp_form_price){
            .kind = node->price, .is_fused = is_fused, .at = i, .before = *last, .uses = 1};
    return *last = form->price_count - 1;
}

struct pp_eval_form *pp_form_open(struct pp_arena *arena, const struct pp_program *program,
                                  const struct pp_costs *costs,
                                  const struct pp_eval_options *options)
{
    struct pp_eval_form *form = PP_NEW(arena, struct pp_eval_form);

    *form = (struct pp_eval_form){.arena = arena,
                                  .options = *options,
                                  .is_unit = costs->is_unit,
                                  .eval = PP_NEW(arena, struct pp_eval),
                                  .last_of = PP_ARRAY(arena, int32_t, program->stages)};
    form->eval->program = program;
    *PP_PUSH(arena, form->prices, form->price_count, form->price_capacity) =
        (struct pp_form_price){.kind = PP_PRICE_NONE};
    return form;
}

void pp_form_add_step(struct pp_eval_form *form, const struct pp_node *node)
{
    *PP_PUSH(form->arena, form->step_price, form->step_count, form->step_capacity) =
        number_of(form, node);
}

void pp_form_add_meet(struct pp_eval_form *form, const struct pp_node *node)
{
    *PP_PUSH(form->arena, form->meet_price, form->meet_count, form->meet_capacity) =
        number_of(form, node);
}

/* ---- durations ------------------------------------------------------------------------------- */

static int64_t price_ps(const struct pp_program *p, const struct pp_costs *costs,
                        const struct pp_form_price *price)
{
    const struct pp_op op = price->kind == PP_PRICE_SUM
                                ? pp_collective_op(&p->collectives[p->arg[price->at]])
                                : pp_program_op(p, price->at);

    if (price->kind == PP_PRICE_COMPUTE)
        return pp_program_ps(p, costs, price->at, price->is_fused);
    return price->kind == PP_PRICE_MESSAGE
               ? pp_costs_p2p(costs, &op, pp_program_rank_of(p, op.pipe, op.stage)).ps
               : pp_costs_op(costs, &op, NULL).ps;
}

/* Computes all prices. False if times may overflow: no path is longer than their sum. */
static bool fill_prices(const struct pp_eval_form *form, const struct pp_costs *costs,
                        int64_t *prices)
{
    double sum_ps = 0;

    prices[0] = 0;
    for (int k = 1; k < form->price_count; k++) {
        prices[k] = price_ps(form->eval->program, costs, &form->prices[k]);
        sum_ps += (double)prices[k] * form->prices[k].uses;
    }
    return sum_ps * form->eval->steps < (double)(INT64_MAX / 4);
}

static void price_steps(const struct pp_eval_form *form, const int64_t *prices,
                        struct pp_eval *eval)
{
    for (int s = 0; s < eval->step_count; s++) {
        struct pp_eval_part *part = eval->parts ? &eval->parts[s] : NULL;
        int64_t ps = prices[form->step_price[s]];
        if (part && part->denominator != 0) {
            part->ps = ps;
            ps = pp_costs_share_ps(ps, part->numerator, part->denominator);
        }
        eval->value_ps[eval->full.steps[s].out] = eval->ps[s] = ps;
    }
}

static void *copy_of(struct pp_arena *arena, const void *data, size_t bytes)
{
    return memcpy(pp_arena_alloc_raw(arena, bytes), data, bytes);
}

/* Copies what durations are in; the last meet, the makespan, lasts no time. */
static void price_meets(struct pp_arena *arena, const struct pp_eval_form *form,
                        const int64_t *prices, struct pp_eval *eval)
{
    const size_t bytes = sizeof(struct pp_meet) * (size_t)eval->meet_count;
    const bool is_packed = eval->packed.meets != eval->full.meets;

    eval->full.meets = copy_of(arena, eval->full.meets, bytes);
    eval->packed.meets = is_packed ? copy_of(arena, eval->packed.meets, bytes) : eval->full.meets;
    for (int m = 0; m < form->meet_count; m++) {
        const int64_t ps = prices[form->meet_price[m]];
        eval->full.meets[m].ps = eval->packed.meets[m].ps = ps;
        eval->value_ps[eval->full.meets[m].out] = ps;
    }
}

bool pp_form_eval(struct pp_arena *arena, const struct pp_eval_form *form,
                  const struct pp_costs *costs, struct pp_eval **eval)
{
    int64_t *prices = pp_arena_alloc_raw(arena, sizeof(*prices) * (size_t)form->price_count);

    if (!fill_prices(form, costs, prices))
        return false;
    *eval = copy_of(arena, form->eval, sizeof(**eval));
    (*eval)->ps = pp_arena_alloc_raw(arena, sizeof(int64_t) * (size_t)(*eval)->step_count);
    (*eval)->value_ps = PP_ARRAY(arena, int64_t, (*eval)->full.values);
    if ((*eval)->parts)
        (*eval)->parts = copy_of(arena, (*eval)->parts,
                                 sizeof(struct pp_eval_part) * (size_t)(*eval)->step_count);
    price_steps(form, prices, *eval);
    price_meets(arena, form, prices, *eval);
    return true;
}
