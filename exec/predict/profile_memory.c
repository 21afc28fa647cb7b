/* Memory of a profile, and the weights that it takes from a machine. */
#include "exec/predict/profile_parts.h"
#include "kernels/numbers.h"

/* ---- places ---------------------------------------------------------------------------------- */

static void *take(char *at, size_t *end, size_t bytes)
{
    void *taken = at ? at + *end : NULL;

    *end += pp_whole_lines(bytes);
    return taken;
}

/* Lays out one stage from `at` on; returns the bytes. With `at` NULL, no place is used. */
static size_t lay_out(const struct pp_profile *p, struct pp_profile_member *m,
                      const struct pp_stage *stage, char *at)
{
    const struct pp_stage_shape *shape = &stage->shape;
    const struct pp_kernels *k = p->options->kernels;
    const bool is_exact = p->options->recipe->is_exact;
    const struct pp_state_bytes state = pp_state_bytes(stage, k, is_exact, pp_cuts_none());
    size_t end = 0;

    m->stage = stage;
    char *memory = take(at, &end, state.weights + state.gradients + state.optimizer);
    if (memory)
        m->state = pp_state_at(stage, k, is_exact, 0, pp_cuts_none(), memory);
    for (int split = 0; split < shape->splits; split++) {
        m->kept[split] = take(at, &end, stage->kept_bytes);
        m->saved[split] = take(at, &end, stage->saved_bytes);
    }
    m->grad[0] = take(at, &end, stage->boundary_bytes);
    m->grad[1] = take(at, &end, stage->boundary_bytes);
    m->scratch = take(at, &end, stage->scratch_bytes);
    m->grad_scratch = take(at, &end, stage->grad_scratch_bytes);
    m->losses = take(at, &end, sizeof(double) * (size_t)shape->rows * (size_t)shape->tokens);
    return end;
}

static int most_exchanges(const struct pp_stage *stage)
{
    int most = 0;

    for (int kind = 0; kind < PP_CALLS; kind++) {
        const int count = pp_stage_exchange_count(stage, (enum pp_stage_call_kind)kind);
        most = count > most ? count : most;
    }
    return most;
}

/* Takes what a member has of all stages, and finds the most that it needs of one. */
static size_t take_member(struct pp_profile *p, int number, struct pp_profile_member *m,
                          size_t *boundary_bytes)
{
    const struct pp_stage *const *stages = p->options->stages + (ptrdiff_t)number * p->stages;
    const struct pp_stage_shape *shape = &stages[0]->shape;
    const size_t tokens = (size_t)shape->rows * (size_t)stages[0]->net->seq;
    void ***const lists[] = {&m->kept, &m->saved, &m->in, &m->out};
    size_t most_bytes = 0;
    int exchanges = 0;

    for (size_t l = 0; l < PP_COUNT(lists); l++)
        *lists[l] = PP_ARRAY(p->arena, void *, shape->splits);
    m->ids = PP_ARRAY(p->arena, int32_t, tokens);
    m->targets = PP_ARRAY(p->arena, int32_t, tokens);
    for (int s = 0; s < p->stages; s++) {
        const size_t bytes = lay_out(p, m, stages[s], NULL);
        const int count = p->tp * p->ep > 1 ? most_exchanges(stages[s]) : 0;

        most_bytes = bytes > most_bytes ? bytes : most_bytes;
        exchanges = count > exchanges ? count : exchanges;
    }
    m->exchanges = PP_ARRAY(p->arena, struct pp_group_exchange, exchanges + 1);
    *boundary_bytes = pp_whole_lines(stages[0]->boundary_bytes);
    return most_bytes;
}

enum pp_status pp_profile_take(struct pp_profile *p, struct pp_error *err)
{
    const int splits = p->options->batch->splits;

    for (int k = 0; k < p->tp * p->ep; k++) {
        struct pp_profile_member *m = &p->members[k];
        size_t boundary_bytes;
        const size_t bytes = take_member(p, k, m, &boundary_bytes);
        void *memory;

        PP_TRY(p->options->backend->alloc(p->device, bytes + 2 * (size_t)splits * boundary_bytes,
                                          &memory, err));
        m->memory = memory;
        for (int split = 0; split < splits; split++) {
            m->in[split] = m->memory + bytes + (size_t)(2 * split) * boundary_bytes;
            m->out[split] = (char *)m->in[split] + boundary_bytes;
        }
    }
    return PP_OK;
}

/* ---- weights --------------------------------------------------------------------------------- */

/* The part of a tensor that one worker of the machine has. */
struct held {
    const struct pp_param *param;
    struct pp_state state;
};

/* Finds the tensor on worker `number` of [tp][replicas]; false: none of its stages has it. */
static bool find(const struct pp_profiled *from, int number, int id, struct held *held)
{
    const struct pp_machine_options *o = from->options;
    const int stages = o->program->stages, ep = o->ep > 1 ? o->ep : 1,
              replica = number % o->batch->replicas, t = number / o->batch->replicas;
    struct pp_error err;

    for (int s = 0; s < stages; s++) {
        held->param = pp_stage_find(o->stages[(t * ep + replica % ep) * stages + s], id);
        if (held->param)
            return pp_machine_state_of(from->machine, replica, t, 0, s, &held->state, &err) ==
                   PP_OK;
    }
    return false;
}

/* Copies the elements from `at` of the whole tensor on that follow one another here, unless another
 * copy of the stage holds them. Returns their number. */
static int64_t copy_run(const struct pp_kernels *k, const struct held *held, int64_t at,
                        int64_t most, float *values)
{
    const int64_t i = pp_slice_from(&held->param->slice, at), element = held->param->offset + i;
    const struct pp_range here =
        pp_state_held(&held->state, pp_state_part_of(&held->state, element));
    int64_t run;

    if (i >= held->param->count || pp_slice_at(&held->param->slice, i, &run) != at ||
        element < here.from || element >= here.until)
        return 0;
    run = run < held->param->count - i ? run : held->param->count - i;
    run = run < here.until - element ? run : here.until - element;
    run = run < most ? run : most;
    const void *from = pp_state_weight(&held->state, k, element);
    for (int64_t e = 0; e < run; e++)
        values[e] = (float)pp_number_get(from, k->element_bytes, e);
    return run;
}

static void read_run(const struct pp_profiled *from, int id, int64_t at, int64_t count,
                     float *values)
{
    const struct pp_machine_options *o = from->options;
    const int workers = (o->tp > 1 ? o->tp : 1) * o->batch->replicas;
    struct held held;

    for (int64_t done = 0, before = -1; done < count && done > before;) {
        before = done;
        for (int w = 0; w < workers && done < count; w++)
            if (find(from, w, id, &held))
                done += copy_run(o->kernels, &held, at + done, count - done, values + done);
    }
}

static void read_runs(const void *closure, const struct pp_param *param, struct pp_slice_piece runs,
                      float *values)
{
    for (int64_t r = 0; r < runs.runs; r++)
        read_run(closure, param->id, runs.first + r * runs.stride, runs.run, values + r * runs.run);
}

void pp_profile_open_stage(struct pp_profile *p, int stage, struct pp_profiled from)
{
    const struct pp_weights_source source = {read_runs, &from};
    struct pp_recipe recipe = *p->options->recipe;

    recipe.source = &source;
    for (int k = 0; k < p->tp * p->ep; k++) {
        struct pp_profile_member *m = &p->members[k];

        lay_out(p, m, p->options->stages[k * p->stages + stage], m->memory);
        pp_state_init(m->stage, p->options->kernels, &recipe, &m->state, pp_cuts_none());
    }
}
