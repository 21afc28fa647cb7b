/* Compiles programs into plans of the evaluator, and runs the plans. */
#include "schedules/evaluate/evaluate.h"

#include "core/units.h"
#include "schedules/evaluate/form.h"

enum { MAX_INSTRUCTIONS = 1 << 29, MAX_STEPS = 1 << 20 };

bool pp_eval_options_are_same(const struct pp_eval_options *a, const struct pp_eval_options *b)
{
    return a->is_buffered == b->is_buffered && a->buffered == b->buffered &&
           a->nic_fifo == b->nic_fifo && a->ring_flows == b->ring_flows && a->steps == b->steps &&
           a->is_barrier_free == b->is_barrier_free && a->always_packs == b->always_packs;
}

/* Compiles the graph of a program; `form`, unless NULL, gets the prices of its steps and meets. */
static enum pp_status compile(struct pp_arena *arena, const struct pp_program *program,
                              const struct pp_costs *costs, const struct pp_eval_options *options,
                              struct pp_eval_form *form, struct pp_eval *eval, struct pp_error *err)
{
    const int size = pp_program_size(program);
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_graph g = {.arena = scratch,
                         .eval_arena = arena,
                         .program = program,
                         .costs = costs,
                         .options = options,
                         .node_of = PP_ARRAY(scratch, int32_t, size),
                         .entry_of = PP_ARRAY(scratch, int32_t, program->ranks),
                         .form = form};

    g.capacity = size + 16;
    g.nodes = pp_arena_alloc_raw(scratch, sizeof(*g.nodes) * (size_t)g.capacity);
    pp_graph_add(&g, (struct pp_node){.owner = PP_NO_OWNER});
    PP_TRY(program->level == PP_LEVEL_LOWERED ? pp_graph_lowered(&g, err)
                                              : pp_graph_compute_only(&g, err));
    eval->program = program;
    eval->steps = options->steps > 1 ? options->steps : 1;
    eval->is_barrier_free = options->is_barrier_free;
    return pp_eval_order(arena, &g, eval, err);
}

/* ---- forms of a program ---------------------------------------------------------------------- */

/* Is true if costs change durations alone, and every duration by itself. */
static bool is_possible(const struct pp_program *p, const struct pp_costs *costs,
                        const struct pp_eval_options *options)
{
    if (!p->forms || p->level != PP_LEVEL_LOWERED || p->weight_stream || options->ring_flows)
        return false;
    if (costs->inner[PP_F])
        return false; /* the place of an op matters (op_cost.h) */
    for (int s = 0; s < costs->stages; s++)
        if (pp_costs_have_links(costs, s))
            return false; /* the place of an op matters (op_cost.h) */
    return true;
}

static struct pp_eval_form *find(const struct pp_program *p, const struct pp_costs *costs,
                                 const struct pp_eval_options *options)
{
    struct pp_eval_form *form = p->forms->eval;

    while (form &&
           (form->is_unit != costs->is_unit || !pp_eval_options_are_same(&form->options, options)))
        form = form->before;
    return form;
}

/* A form costs more than two runs without one: the quick and the full run of one configuration. */
enum { USES_WITHOUT_FORM = 2 };

bool pp_eval_is_known(const struct pp_program *program, const struct pp_costs *costs,
                      const struct pp_eval_options *options)
{
    return is_possible(program, costs, options) &&
           (program->forms->uses++ >= USES_WITHOUT_FORM || find(program, costs, options));
}

/* Makes a plan from the form that the program keeps, or will keep. False if it keeps none for such
 * costs, or if compilation has an error. */
static bool take_form(struct pp_arena *arena, const struct pp_program *p,
                      const struct pp_costs *costs, const struct pp_eval_options *options,
                      struct pp_eval **eval)
{
    struct pp_error ignored;
    struct pp_eval_form *form;

    if (!is_possible(p, costs, options))
        return false;
    form = find(p, costs, options);
    if (form)
        return pp_form_eval(arena, form, costs, eval);
    if (p->forms->uses <= USES_WITHOUT_FORM)
        return false;
    form = pp_form_open(p->forms->arena, p, costs, options);
    if (compile(form->arena, p, costs, options, form, form->eval, &ignored) != PP_OK)
        return false;
    form->before = p->forms->eval;
    p->forms->eval = form;
    return pp_form_eval(arena, form, costs, eval);
}

enum pp_status pp_eval_create(struct pp_arena *arena, const struct pp_program *program,
                              const struct pp_costs *costs, const struct pp_eval_options *options,
                              struct pp_eval **eval, struct pp_error *err)
{
    const int size = pp_program_size(program);

    if (size > MAX_INSTRUCTIONS)
        return pp_error_set(err, PP_EFAIL, "%d instructions are too many to evaluate, at most %d",
                            size, MAX_INSTRUCTIONS);
    if (options->steps < 0 || options->steps > MAX_STEPS)
        return pp_error_set(err, PP_EFAIL, "%d steps: must be between 1 and %d", options->steps,
                            MAX_STEPS);
    if (take_form(arena, program, costs, options, eval))
        return PP_OK;
    *eval = PP_NEW(arena, struct pp_eval);
    return compile(arena, program, costs, options, NULL, *eval, err);
}

struct pp_times *pp_eval_run(struct pp_arena *arena, const struct pp_eval *eval, int replicas,
                             const struct pp_perturbation *perturbation,
                             enum pp_times_wanted wanted)
{
    const struct pp_eval_kernel *kernel = pp_kernels;

    /* A single replica runs through scalar code, several through the widest usable kernel. */
    while (kernel[1].name && ((kernel->lanes > 1) != (replicas > 1) || !kernel->is_usable()))
        kernel++;
    return pp_eval_run_with(arena, eval, replicas, perturbation, wanted, kernel);
}

double pp_times_iteration_s(const struct pp_times *times)
{
    if (times->steps == 1)
        return pp_units_s(times->makespan_ps);
    return pp_units_s(times->makespan_ps - times->step_end_ps[0]) / (times->steps - 1);
}
