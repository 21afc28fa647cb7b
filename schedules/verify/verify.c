/* schedules/verify/verify.c — runs the checks in order, and checks the memory bound. */
#include "schedules/verify/parts.h"

static enum pp_status check_memory(struct pp_verify *v, int max_activations)
{
    const struct pp_program *p = v->p;
    const int64_t whole = (int64_t)p->granules * p->splits; /* one chunk activation, in units */

    for (int rank = 0; rank < p->ranks; rank++) {
        int64_t held = 0;
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
            if (p->kind[i] == PP_F && p->mode == PP_MODE_TRAIN)
                held += p->granule_count[i];
            else if (p->kind[i] == PP_B || p->kind[i] == PP_W)
                held -= p->granule_count[i];
            if (p->kind[i] == PP_F && held > max_activations * whole)
                return pp_verify_refuse(
                    v, i, "makes %.4g chunk activations on this rank, the limit is %d",
                    (double)held / (double)whole, max_activations);
        }
    }
    return PP_OK;
}

static enum pp_status check(struct pp_verify *v, const struct pp_verify_options *options)
{
    const bool is_lowered = v->p->level == PP_LEVEL_LOWERED;

    PP_TRY(pp_verify_units(v));
    if (is_lowered) {
        PP_TRY(pp_verify_comm(v));
        PP_TRY(pp_verify_order(v));
    }
    PP_TRY(pp_verify_moves(v));
    PP_TRY(pp_verify_kv(v));
    if (is_lowered)
        PP_TRY(pp_verify_slots(v));
    PP_TRY(pp_verify_sync(v));
    PP_TRY(pp_verify_gathers(v));
    PP_TRY(pp_verify_grads(v));
    PP_TRY(pp_verify_state_moves(v));
    if (is_lowered)
        PP_TRY(pp_verify_waits(v));
    PP_TRY(pp_verify_run(v));
    return options && options->max_activations > 0 ? check_memory(v, options->max_activations)
                                                   : PP_OK;
}

enum pp_status pp_verify(const struct pp_program *program, const struct pp_verify_options *options,
                         struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error unused;
    struct pp_verify v = {.p = program,
                          .arena = arena,
                          .err = err ? err : &unused,
                          .granules = program->micro_batches * program->granules};

    return check(&v, options);
}
