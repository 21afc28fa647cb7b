/* schedules/verify/moves.c — memory tiers: saved activations are on their device, in full, when an
 * op uses them. But for W it uses those of earlier sequence splits, too. Covers copies
 * that name a purpose; files may have any other copies. */
#include "schedules/verify/parts.h"

/* Place of the saved activations of a unit. */
enum place { HERE, LEAVING, AWAY, COMING };

struct unit {
    uint8_t place;   /* enum place */
    bool is_packed;  /* between Q and DQ */
    int32_t copy, q; /* last COPY and last Q of it */
};

struct moves {
    struct pp_verify *v;
    struct unit *units;
    int rank;
};

static enum pp_status fail_place(struct moves *m, int i, const struct unit *u)
{
    if (u->place == COMING)
        return pp_verify_fail_unwaited(m->v, i, "uses", u->copy, "brings back");
    return pp_verify_refuse(m->v, i, "uses what %s has moved away, and no COPY.up brings it back",
                            pp_verify_text(m->v, u->copy));
}

static enum pp_status check_packed(struct moves *m, int i, const struct unit *u, bool wants_packed)
{
    if (u->is_packed == wants_packed)
        return PP_OK;
    if (wants_packed)
        return pp_verify_refuse(m->v, i, "restores what no Q has quantised");
    return pp_verify_refuse(m->v, i, "uses what %s has quantised, but no DQ restores it",
                            pp_verify_text(m->v, u->q));
}

static enum pp_status read_unit(struct moves *m, int i, struct unit *u)
{
    return u->place == HERE ? PP_OK : fail_place(m, i, u);
}

static enum pp_status use_unit(struct moves *m, int i, struct unit *u)
{
    const int kind = m->v->p->kind[i];

    PP_TRY(read_unit(m, i, u));
    PP_TRY(check_packed(m, i, u, kind == PP_DQ));
    u->is_packed = kind == PP_Q;
    u->q = kind == PP_Q ? i : u->q;
    return PP_OK;
}

/* Checks the post of a COPY. */
static enum pp_status post_unit(struct moves *m, int i, struct unit *u)
{
    const bool is_up = pp_move_is_up(m->v->p->purpose[i]);
    const enum place wanted = is_up ? AWAY : HERE;

    if (u->place == wanted) {
        u->place = is_up ? COMING : LEAVING;
        u->copy = i;
        return PP_OK;
    }
    if (u->copy < 0)
        return pp_verify_refuse(m->v, i, "brings back what has not been moved away");
    if (is_up && u->place == LEAVING)
        return pp_verify_fail_unwaited(m->v, i, "brings back", u->copy, "moves away");
    return pp_verify_refuse(m->v, i, "copies what %s has copied before",
                            pp_verify_text(m->v, u->copy));
}

typedef enum pp_status unit_visit(struct moves *, int, struct unit *);

/* Visits the units that instruction `named` names, but those of a split. */
static enum pp_status visit_split(struct moves *m, int i, int named, int split, unit_visit *visit)
{
    const struct pp_program *p = m->v->p;
    int64_t unit = pp_verify_unit(m->v, p->stage[named], p->mb[named], split);

    for (int g = 0; g < p->granule_count[named]; g++, unit += p->splits)
        PP_TRY(visit(m, i, &m->units[unit]));
    return PP_OK;
}

static enum pp_status visit_units(struct moves *m, int i, int named, unit_visit *visit)
{
    return visit_split(m, i, named, m->v->p->split[named], visit);
}

/* Handles the WAIT for the current copy; other WAITs change nothing. */
static enum pp_status arrive(struct moves *m, int i, struct unit *u)
{
    const struct pp_program *p = m->v->p;

    if (u->copy != p->begin[m->rank] + p->arg[i])
        return PP_OK;
    if (u->place == LEAVING)
        u->place = AWAY;
    else if (u->place == COMING)
        u->place = HERE;
    return PP_OK;
}

static enum pp_status check_made(struct moves *m, int i)
{
    const struct pp_program *p = m->v->p;
    int64_t unit = pp_verify_unit(m->v, p->stage[i], p->mb[i], p->split[i]);

    for (int g = 0; g < p->granule_count[i]; g++, unit += p->splits) {
        const int made = m->v->at[AT_F][unit];
        if (made < p->begin[m->rank] || made >= p->begin[m->rank + 1])
            return pp_verify_refuse(m->v, i, "is on the wrong rank: %s is on rank %d",
                                    pp_verify_text(m->v, made), pp_program_rank_at(p, made));
        if (made > i)
            return pp_verify_refuse(m->v, i, "comes before %s, which saves it",
                                    pp_verify_text(m->v, made));
    }
    return PP_OK;
}

static enum pp_status check_saved(struct moves *m, int i)
{
    const struct pp_program *p = m->v->p;
    const int kind = p->kind[i];

    if (kind == PP_COPY && p->purpose[i] != 0 && !pp_move_is_cache(p->purpose[i])) {
        PP_TRY(check_made(m, i));
        return visit_units(m, i, i, post_unit);
    }
    if (kind == PP_WAIT && p->aux[i] == PP_COPY)
        return visit_units(m, i, p->begin[m->rank] + p->arg[i], arrive);
    if (!pp_op_has_cell(kind))
        return PP_OK;
    for (int split = 0; kind != PP_W && !pp_op_is_packing(kind) && split < p->split[i]; split++)
        PP_TRY(visit_split(m, i, i, split, read_unit));
    return kind == PP_F ? PP_OK : visit_units(m, i, i, use_unit);
}

/* Is true if some saved activation moves, or is quantised. */
static bool has_work(const struct pp_program *p)
{
    for (int i = 0; i < pp_program_size(p); i++)
        if (pp_op_is_packing(p->kind[i]) || p->kind[i] == PP_COPY)
            return true;
    return false;
}

enum pp_status pp_verify_moves(struct pp_verify *v)
{
    const struct pp_program *p = v->p;
    struct moves m = {.v = v};

    if (!has_work(p))
        return PP_OK;
    m.units = PP_ARRAY(v->arena, struct unit, v->units);
    for (int64_t u = 0; u < v->units; u++)
        m.units[u].copy = -1;
    for (m.rank = 0; m.rank < p->ranks; m.rank++)
        for (int i = p->begin[m.rank]; i < p->begin[m.rank + 1]; i++)
            PP_TRY(check_saved(&m, i));
    return PP_OK;
}
