/* Buffers of gradients that live on another tier. One chunk has a buffer at a time, until its part
 * has arrived. It takes it for its first backward, or for the sum so far. */
#include "exec/program/none.h"
#include "exec/program/wholes.h"
#include "tests/unit/support/lower_cases.h"

enum { MOST = 512 };

/* A rank in the order of its list, by the rules of a program alone. */
struct replay {
    const struct pp_program *p;
    const struct pp_wholes *wholes;
    int buffer_of[MOST], chunk_in[MOST]; /* [place]; [buffer] */
    int32_t last[MOST];
    bool is_home[MOST], is_summed[MOST];
    int parts, sums, added;
};

static int place_of(const struct replay *r, int i)
{
    return r->p->pipe[i] * r->p->stages + r->p->stage[i];
}

static void take(struct replay *r, int i)
{
    const int buffer = r->wholes->of[PP_WHOLE_GRADS][i], chunk = place_of(r, i);

    cr_assert_geq(buffer, 0);
    if (r->buffer_of[chunk] != PP_NONE) {
        cr_assert_eq(buffer, r->buffer_of[chunk]);
        cr_assert(!r->wholes->is_first[i], "%d begins with zeros", i);
        return;
    }
    cr_assert_eq(r->chunk_in[buffer], PP_NONE, "%d takes a buffer in use", i);
    cr_assert(r->wholes->is_first[i]);
    r->chunk_in[buffer] = chunk;
    r->buffer_of[chunk] = buffer;
}

static void sum(struct replay *r, int i)
{
    cr_assert(r->is_home[place_of(r, i)]);
    cr_assert_eq(r->buffer_of[place_of(r, i)], PP_NONE);
    take(r, i);
    r->is_summed[place_of(r, i)] = true;
    r->sums++;
}

static void part(struct replay *r, int i)
{
    const int chunk = place_of(r, i);

    cr_assert_neq(r->buffer_of[chunk], PP_NONE);
    cr_assert_eq(r->wholes->of[PP_WHOLE_GRADS][i], r->buffer_of[chunk]);
    cr_assert_eq(r->wholes->is_added[i], r->is_home[chunk] && !r->is_summed[chunk]);
    r->added += r->wholes->is_added[i];
    r->buffer_of[chunk] = PP_NONE;
    r->is_home[chunk] = true;
    r->is_summed[chunk] = false;
    r->last[chunk] = i;
    r->parts++;
}

/* What copies sum is complete on the device. */
static void meet(struct replay *r, int i)
{
    const int chunk = place_of(r, i);

    if (r->p->aux[i] != PP_TIED && r->wholes->has_backward[chunk])
        cr_assert(r->buffer_of[chunk] != PP_NONE && (!r->is_home[chunk] || r->is_summed[chunk]));
}

static void step(struct replay *r, int rank, int i)
{
    const struct pp_program *p = r->p;
    const int target = p->kind[i] == PP_WAIT ? p->begin[rank] + p->arg[i] : i;

    if (p->kind[i] == PP_WAIT && p->purpose[target] == PP_FOR_GRAD_DOWN)
        r->chunk_in[r->wholes->of[PP_WHOLE_GRADS][target]] = PP_NONE;
    else if (p->kind[i] == PP_B || p->kind[i] == PP_W)
        take(r, i);
    else if (p->kind[i] == PP_AR)
        meet(r, i);
    else if (p->kind[i] == PP_MOVE && p->purpose[i] == PP_FOR_GRAD_UP)
        sum(r, i);
    else if (p->kind[i] == PP_MOVE && p->purpose[i] == PP_FOR_GRAD_DOWN)
        part(r, i);
}

static void check_rank(struct replay *r, int rank)
{
    const struct pp_program *p = r->p;

    for (int k = 0; k < MOST; k++)
        r->buffer_of[k] = r->chunk_in[k] = r->last[k] = PP_NONE;
    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
        step(r, rank, i);
    for (int k = 0; k < p->pipelines * p->stages; k++) {
        if (pp_program_rank_of(p, k / p->stages, k % p->stages) != rank)
            continue;
        cr_assert_eq(r->wholes->last_part[k], r->last[k]);
        cr_assert_eq(r->last[k] >= 0, r->wholes->has_backward[k]);
        cr_assert_eq(r->buffer_of[k], PP_NONE, "gradients of %d stay", k);
    }
    for (int k = 0; k < MOST; k++)
        cr_assert_eq(r->chunk_in[k], PP_NONE, "buffer %d is not free", k);
}

static void check(struct pp_arena *arena, const struct pp_program *p, struct replay *r)
{
    struct pp_stage *stages = PP_ARRAY(arena, struct pp_stage, p->stages);
    const struct pp_stage **all = PP_ARRAY(arena, const struct pp_stage *, p->stages);
    struct pp_cuts *cuts = PP_ARRAY(arena, struct pp_cuts, p->stages);

    cr_assert_lt(p->pipelines * p->stages, MOST);
    for (int s = 0; s < p->stages; s++) {
        stages[s].elements = 16 * (s + 1);
        all[s] = &stages[s];
        cuts[s] = pp_cuts_none();
    }
    r->p = p;
    r->wholes = pp_wholes_find(arena, p, all, cuts);
    for (int rank = 0; rank < p->ranks; rank++) {
        memset(r->is_home, 0, sizeof(r->is_home));
        memset(r->is_summed, 0, sizeof(r->is_summed));
        check_rank(r, rank);
    }
}

struct tally {
    int parts, sums, added;
};

static void check_case(struct pp_arena *arena, const struct pp_program *compute, void *context)
{
    struct tally *tally = context;

    for (int variant = 0; variant < 8; variant++) {
        struct pp_lower_options options = {.has_optimizer = true,
                                           .has_clip = true,
                                           .has_sync = variant & 1 || compute->pipelines > 1,
                                           .state = pp_state_spec_zero(0, (struct pp_mesh){1, 1})};
        struct replay r = {0};
        struct pp_program *p;
        struct pp_error err = {0};

        options.state.buffers = 1 + (variant >> 1) % 2;
        options.state.is_summed_on_device = variant & 4;
        options.state.is_cpu_update = true;
        options.state.home[PP_STATE_GRADS] = options.state.home[PP_STATE_OPTIMIZER] = PP_TIER_HOST;
        if (pp_lower(arena, compute, &options, &p, &err) != PP_OK)
            continue;
        p->state.spec = options.state;
        check(arena, p, &r);
        if (options.state.is_summed_on_device)
            cr_assert_eq(r.added, 0);
        tally->parts += r.parts, tally->sums += r.sums, tally->added += r.added;
    }
}

Test(wholes, gradients_on_another_tier_have_a_buffer_a_visit)
{
    struct tally tally = {0};

    for_each_case(check_case, &tally);
    cr_assert_gt(tally.parts, 1000);
    cr_assert_gt(tally.sums, 100);
    cr_assert_gt(tally.added, 100);
}
