/* schedules/verify/gathers.c — sharded state, as the program's head states it.
 *
 * Sharded parameters: every use has the units of its way gathered. Gathered units are dropped, and
 * never exceed the buffers and the cache that the head states. The gradients of every backward are
 * scattered before they are summed and before the update.
 *
 * Gradients in more shards than parameters: when a backward (a scatter, if parameters are sharded)
 * runs, RS.part has scattered the gradients of the previous one. The sum of the step covers the
 * last one.
 *
 * Parameters on another tier: this rank's share is loaded before each gather, and at most two
 * shares wait for one. If parameters are not sharded, a load replaces a gather.
 *
 * If the head states nothing, collectives of visits are refused. Files may then gather and drop by
 * themselves: a use after a DROP needs another gather. */
#include "schedules/verify/gathers.h"

#include "schedules/lower/cache.h"

#include <string.h>

enum { MOST_LOADS = 2 }; /* shares without a gather so far */

/* Is true if parameters are fetched by loads alone. */
static bool is_loaded(const struct pp_gathers *g)
{
    return pp_state_is_fetched(g->spec) && !pp_state_is_gathered(g->spec);
}

static bool uses_params(int kind)
{
    return kind == PP_F || kind == PP_B || kind == PP_I || kind == PP_R;
}

static const char *verb(const struct pp_gathers *g)
{
    return is_loaded(g) ? "load" : "gather";
}

static bool is_load(const struct pp_program *p, int i)
{
    return p->kind[i] == PP_MOVE && pp_move_is_load(p->purpose[i]);
}

/* Returns the units of a chunk that are there one after the other: 1 if the cache holds all. */
static int units_of(const struct pp_gathers *g, int stage)
{
    const int units = g->v->p->state.units[stage % pp_program_model_stages(g->v->p)];

    return units > g->spec->cached ? units : 1;
}

/* Checks the unit at the start of an op. A forward runs through the units of its chunk from first
 * to last, a backward in reverse; one unit is present at a time. Recomputation is part of the
 * backward, layer by layer. The second of a pair of one stage follows the first. */
static enum pp_status check_units(struct pp_gathers *g, int i)
{
    const struct pp_program *p = g->v->p;
    struct pp_gather_stage *s = pp_gathers_of(g, i);
    const int start = pp_verify_start(p, i), kind = p->kind[i];
    const bool is_forward = kind == PP_F;
    const enum pp_gather_unit first = is_forward ? FIRST_UNIT : LAST_UNIT;

    if (units_of(g, p->stage[i]) < 2 || (start < i && p->stage[start] == p->stage[i]))
        return PP_OK;
    if (s->unit != ANY_UNIT && s->unit != first)
        return pp_verify_refuse(g->v, i,
                                "begins with the %s gather unit of stage %d, but since %s only "
                                "the %s one is there",
                                is_forward ? "first" : "last", p->stage[i],
                                pp_verify_text(g->v, s->used), is_forward ? "last" : "first");
    s->unit = is_forward || kind == PP_R ? LAST_UNIT : FIRST_UNIT;
    s->used = i;
    return PP_OK;
}

static enum pp_status check_use(struct pp_gathers *g, int i)
{
    const struct pp_program *p = g->v->p;
    const struct pp_gather_stage *s = pp_gathers_of(g, i);
    const int start = pp_verify_start(p, i); /* inputs of a pair are present before it starts */

    if (!pp_state_is_fetched(g->spec) && s->dropped >= 0)
        return pp_verify_refuse(g->v, i, "uses parameters that %s has dropped",
                                pp_verify_text(g->v, s->dropped));
    if (!pp_state_is_fetched(g->spec))
        return PP_OK;
    if (s->present >= 0 && s->present < start)
        return check_units(g, i);
    if (s->posted < 0 && s->dropped >= 0)
        return pp_verify_refuse(g->v, i,
                                "uses parameters of stage %d that are not %sed again after %s",
                                p->stage[i], verb(g), pp_verify_text(g->v, s->dropped));
    if (s->posted < 0)
        return pp_verify_refuse(g->v, i, "uses parameters of stage %d that are not %sed",
                                p->stage[i], verb(g));
    return pp_verify_fail_unwaited(g->v, i, "uses", s->posted, is_loaded(g) ? "loads" : "gathers");
}

static enum pp_status check_compute(struct pp_gathers *g, int i)
{
    const struct pp_program *p = g->v->p;

    if (uses_params(p->kind[i]))
        PP_TRY(check_use(g, i));
    if (p->kind[i] != PP_B && p->kind[i] != PP_W)
        return PP_OK;
    if (!pp_state_is_gathered(g->spec))
        return pp_gathers_check_pending(g, i);
    pp_gathers_of(g, i)->dirty = i;
    return PP_OK;
}

static enum pp_status check_drop(struct pp_gathers *g, int i)
{
    struct pp_gather_stage *s = pp_gathers_of(g, i);

    if (s->present < 0)
        return pp_verify_refuse(g->v, i, "drops parameters that are not %sed", verb(g));
    s->present = -1;
    s->dropped = i;
    g->held--;
    return PP_OK;
}

/* Is true if the next use of parameters is a pair of two chunks: one more unit may be present. */
static bool is_before_pair(const struct pp_gathers *g, int i)
{
    const struct pp_program *p = g->v->p;
    const int end = p->begin[g->rank + 1];

    while (i < end && !uses_params(p->kind[i]))
        i++;
    return i + 1 < end && p->kind[i] == PP_F && p->aux[i] == PP_FUSED_FIRST &&
           p->stage[i] != p->stage[i + 1];
}

/* Returns the fetches that have room at once: those that are prefetched or used, and the rest of
 * the cache. 0 = unknown. */
static int room_of(const struct pp_gathers *g)
{
    const struct pp_program *p = g->v->p;
    int most = 1;

    for (int k = 0; k < p->pipelines * p->stages && g->spec->cached > 1; k++)
        if (p->rank_of[k] == g->rank && k % p->stages < pp_program_model_stages(p) &&
            p->state.units[k % p->stages] > most)
            most = p->state.units[k % p->stages];
    return g->spec->buffers ? g->spec->buffers + pp_cache_room(g->spec->cached, most) - 1 : 0;
}

static enum pp_status check_room(struct pp_gathers *g, int i)
{
    const int buffers = g->room;

    if (++g->held <= buffers || buffers == 0 || (g->held == buffers + 1 && is_before_pair(g, i)))
        return PP_OK;
    return pp_verify_refuse(g->v, i,
                            "%ss unit number %d, but the program states room for %d at once",
                            verb(g), g->held, buffers);
}

/* Checks that this rank's share is loaded, if it must be; the gather takes it. */
static enum pp_status check_share(struct pp_gathers *g, int i)
{
    struct pp_gather_stage *s = pp_gathers_of(g, i);

    if (!pp_state_is_away(g->spec, PP_STATE_PARAMS) || !pp_state_is_gathered(g->spec))
        return PP_OK;
    if (s->load >= 0)
        return pp_verify_fail_unwaited(g->v, i, "gathers", s->load, "loads");
    if (s->loaded < 0)
        return pp_verify_refuse(g->v, i, "gathers parameters that no MOVE loads before it");
    s->loaded = -1;
    g->loads--;
    return PP_OK;
}

/* Checks a gather; or a load, if parameters are not sharded. */
static enum pp_status check_fetch(struct pp_gathers *g, int i)
{
    struct pp_gather_stage *s = pp_gathers_of(g, i);

    if (s->posted >= 0)
        return pp_verify_refuse(g->v, i, "%ss what %s %ss before it, which nothing waits for",
                                verb(g), pp_verify_text(g->v, s->posted), verb(g));
    PP_TRY(check_share(g, i));
    if (s->update >= 0)
        return pp_verify_refuse(g->v, i, "comes after the update of its stage");
    s->posted = i;
    return check_room(g, i);
}

static enum pp_status check_load(struct pp_gathers *g, int i)
{
    const struct pp_program *p = g->v->p;
    struct pp_gather_stage *s = pp_gathers_of(g, i);

    if (!pp_state_is_away(g->spec, PP_STATE_PARAMS))
        return pp_verify_fail(g->v, i,
                              "%s, but the program does not state that parameters live elsewhere "
                              "('# state: m; UNITS', or p m)",
                              pp_verify_text(g->v, i));
    if (pp_program_rank_of(p, p->pipe[i], p->stage[i]) != g->rank)
        return pp_verify_fail_elsewhere(g->v, i);
    if (!pp_state_is_gathered(g->spec))
        return check_fetch(g, i);
    if (s->load >= 0 || s->loaded >= 0)
        return pp_verify_refuse(g->v, i, "loads what is loaded by %s, which nothing gathers",
                                pp_verify_text(g->v, s->load >= 0 ? s->load : s->loaded));
    if (s->update >= 0)
        return pp_verify_refuse(g->v, i, "comes after the update of its stage");
    if (++g->loads > MOST_LOADS)
        return pp_verify_refuse(g->v, i, "loads share number %d; at most %d wait for a gather",
                                g->loads, MOST_LOADS);
    s->load = i;
    return PP_OK;
}

/* Marks fetched parameters as present. */
static enum pp_status arrive(struct pp_gathers *g, int i, int target)
{
    struct pp_gather_stage *s = pp_gathers_of(g, target);

    if (s->posted != target)
        return PP_OK; /* a repeated WAIT */
    if (s->present >= 0)
        return pp_verify_refuse(g->v, i, "%ss parameters that are there since %s", verb(g),
                                pp_verify_text(g->v, s->present));
    s->posted = -1;
    s->present = i;
    s->unit = ANY_UNIT;
    return PP_OK;
}

static enum pp_status wait_load(struct pp_gathers *g, int i, int target)
{
    struct pp_gather_stage *s = pp_gathers_of(g, target);

    if (!pp_state_is_gathered(g->spec))
        return arrive(g, i, target);
    if (s->load == target) {
        s->load = -1;
        s->loaded = i;
    }
    return PP_OK;
}

static enum pp_status check_wait(struct pp_gathers *g, int i)
{
    const struct pp_program *p = g->v->p;
    const int target = p->begin[g->rank] + p->arg[i], purpose = p->purpose[target];
    struct pp_gather_stage *s = pp_gathers_of(g, target);

    if (is_load(p, target))
        return wait_load(g, i, target);
    if (p->kind[target] == PP_AG && purpose == PP_FOR_STEP && !pp_state_is_fetched(g->spec)) {
        s->present = i;
        s->dropped = -1;
    }
    if (!pp_op_has_buckets(p->kind[target]) || purpose == PP_FOR_STEP)
        return PP_OK;
    if (purpose == PP_FOR_REST) {
        s->open_rests -= !g->is_waited[target];
        g->is_waited[target] = true;
        return PP_OK;
    }
    if (!pp_purpose_is_gather(purpose)) {
        if (s->scatter[purpose] == target)
            s->scatter[purpose] = -1;
        return PP_OK;
    }
    return arrive(g, i, target);
}

/* Checks that collectives of visits and parts belong to sharded state. */
static enum pp_status check_stated(struct pp_gathers *g, int i)
{
    const struct pp_program *p = g->v->p;
    const int purpose = p->purpose[i];
    const bool is_visit = pp_purpose_is_gather(purpose) || purpose == PP_FOR_VISIT;

    if ((!is_visit || pp_state_is_gathered(g->spec)) &&
        (purpose != PP_FOR_PART || pp_state_has_parts(g->spec)))
        return PP_OK;
    return pp_verify_fail(
        g->v, i, "%s, but the program does not state that %s", pp_verify_text(g->v, i),
        is_visit ? "parameters are cut ('# state: p; UNITS')" : "gradients are cut ('# state: g')");
}

static enum pp_status check_collective(struct pp_gathers *g, int i)
{
    const struct pp_program *p = g->v->p;
    const int kind = p->kind[i], purpose = p->purpose[i];

    if (kind == PP_AR && p->aux[i] == PP_TIED)
        return PP_OK;
    PP_TRY(check_stated(g, i));
    if (pp_purpose_is_gather(purpose))
        return check_fetch(g, i);
    if (purpose == PP_FOR_VISIT || purpose == PP_FOR_PART)
        return pp_gathers_check_scatter(g, i);
    return kind == PP_RS || kind == PP_AR ? pp_gathers_check_sum(g, i) : PP_OK;
}

/* Resets the stages of a rank. Returns true if the rank has something to prove. */
static bool reset(struct pp_gathers *g, int rank)
{
    const struct pp_program *p = g->v->p;
    bool has_any = pp_state_is_fetched(g->spec) || pp_state_has_parts(g->spec);

    g->rank = rank;
    g->room = pp_state_is_fetched(g->spec) ? room_of(g) : 0;
    g->held = g->loads = 0;
    for (int i = p->begin[rank]; i < p->begin[rank + 1] && !has_any; i++)
        has_any = p->kind[i] == PP_DROP || is_load(p, i) ||
                  (pp_op_has_buckets(p->kind[i]) && p->purpose[i] != PP_FOR_STEP);
    for (int i = p->begin[rank]; i < p->begin[rank + 1] && has_any; i++) {
        struct pp_gather_stage *s = pp_gathers_of(g, i);
        memset(s, 0xff, sizeof(*s));
        s->open_rests = 0;
        s->unit = ANY_UNIT;
    }
    return has_any;
}

static enum pp_status check_instruction(struct pp_gathers *g, int i)
{
    const int kind = g->v->p->kind[i];

    if (kind == PP_U)
        return pp_gathers_check_update(g, i);
    if (kind == PP_DROP)
        return check_drop(g, i);
    if (is_load(g->v->p, i))
        return check_load(g, i);
    if (kind == PP_WAIT)
        return check_wait(g, i);
    if (pp_op_has_buckets(kind))
        return check_collective(g, i);
    return pp_op_has_cell(kind) ? check_compute(g, i) : PP_OK;
}

static enum pp_status check_end(struct pp_gathers *g)
{
    const struct pp_program *p = g->v->p;

    for (int i = p->begin[g->rank]; i < p->begin[g->rank + 1]; i++) {
        const struct pp_gather_stage *s = pp_gathers_of(g, i);
        if (s->dirty == i)
            return pp_verify_fail(g->v, i, "nothing scatters the gradients of %s",
                                  pp_verify_text(g->v, i));
        if (s->present == i && pp_state_is_fetched(g->spec))
            return pp_verify_fail(g->v, i, "nothing drops the parameters of %s",
                                  pp_verify_text(g->v, i));
        if (s->posted == i)
            return pp_verify_fail(g->v, i, "nothing uses what %s %ss", pp_verify_text(g->v, i),
                                  verb(g));
        if (s->load == i || s->loaded == i)
            return pp_verify_fail(g->v, i, "nothing gathers what %s loads",
                                  pp_verify_text(g->v, i));
    }
    return PP_OK;
}

enum pp_status pp_verify_gathers(struct pp_verify *v)
{
    const struct pp_program *p = v->p;
    struct pp_gathers g = {.v = v,
                           .spec = &v->p->state.spec,
                           .stages = PP_ARRAY(v->arena, struct pp_gather_stage, p->stages),
                           .is_waited = PP_ARRAY(v->arena, bool, pp_program_size(p))};

    for (int rank = 0; rank < p->ranks; rank++) {
        if (!reset(&g, rank))
            continue;
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
            PP_TRY(check_instruction(&g, i));
        PP_TRY(check_end(&g));
    }
    return PP_OK;
}
