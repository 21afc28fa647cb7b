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

/* The part of a tensor that one device of the machine has. */
struct held {
    const struct pp_param *param;
    struct pp_state state;
};
struct held_parts {
    const struct pp_profile *profile;
    const struct pp_machine *machine;
    const struct pp_machine_options *options;
};

/* Finds the tensor on a device; false: none of its stages has it. */
static bool find(const struct held_parts *h, int device, int id, struct held *held)
{
    const struct pp_machine_options *o = h->options;
    const int stages = o->program->stages, ep = o->ep > 1 ? o->ep : 1;
    struct pp_error err;

    for (int s = 0; s < stages; s++) {
        held->param = pp_stage_find(o->stages[device * stages + s], id);
        if (held->param)
            return pp_machine_state_of(h->machine, device % ep, device / ep, 0, s, &held->state,
                                       &err) == PP_OK;
    }
    return false;
}

/* Copies a run of elements from `at` of the whole tensor on. Returns their number. */
static int64_t copy_run(const struct held_parts *h, const struct held *held, int64_t at,
                        int64_t most, float *values)
{
    const struct pp_kernels *k = h->options->kernels;
    const int64_t i = pp_slice_from(&held->param->slice, at);
    int64_t run;

    if (i >= held->param->count || pp_slice_at(&held->param->slice, i, &run) != at)
        return 0;
    run = run < held->param->count - i ? run : held->param->count - i;
    run = run < most ? run : most;
    const void *from = pp_state_weight(&held->state, k, held->param->offset + i);
    for (int64_t e = 0; e < run; e++)
        values[e] = (float)pp_number_get(from, k->element_bytes, e);
    return run;
}

static void read_run(const struct held_parts *h, int id, int64_t at, int64_t count, float *values)
{
    const int devices =
        (h->options->tp > 1 ? h->options->tp : 1) * (h->options->ep > 1 ? h->options->ep : 1);
    struct held held;

    for (int64_t done = 0, before = -1; done < count && done > before;) {
        before = done;
        for (int d = 0; d < devices && done < count; d++)
            if (find(h, d, id, &held))
                done += copy_run(h, &held, at + done, count - done, values + done);
    }
}

static void read_runs(const void *closure, const struct pp_param *param, struct pp_slice_piece runs,
                      float *values)
{
    for (int64_t r = 0; r < runs.runs; r++)
        read_run(closure, param->id, runs.first + r * runs.stride, runs.run, values + r * runs.run);
}

enum pp_status pp_profile_open_stage(struct pp_profile *p, int stage, struct pp_profiled from,
                                     struct pp_error *err)
{
    const struct held_parts parts = {p, from.machine, from.options};
    const struct pp_weights_source source = {read_runs, &parts};
    struct pp_recipe recipe = *p->options->recipe;

    if (pp_state_cut(&from.options->program->state.spec, PP_STATE_PARAMS) > 1)
        return pp_error_set(err, PP_EINVAL,
                            "parts of parameters are here, of which a profile needs all: "
                            "calibrate with --zero 0, 1 or 2");
    PP_TRY(pp_machine_fetch(from.machine, err));
    recipe.source = &source;
    for (int k = 0; k < p->tp * p->ep; k++) {
        struct pp_profile_member *m = &p->members[k];

        lay_out(p, m, p->options->stages[k * p->stages + stage], m->memory);
        pp_state_init(m->stage, p->options->kernels, &recipe, &m->state, pp_cuts_none());
    }
    return PP_OK;
}
