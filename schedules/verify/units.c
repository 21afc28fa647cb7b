/* schedules/verify/units.c — every op once, on its rank. Freezing has proved fields in range. */
#include "schedules/verify/parts.h"

#include <string.h>

/* Table that a kind fills, plus 1; 0 = kinds that are not counted here. B fills AT_W too. */
static const uint8_t table_of[PP_OP_KINDS] = {
    [PP_F] = AT_F + 1, [PP_B] = AT_BACK + 1, [PP_I] = AT_BACK + 1,
    [PP_W] = AT_W + 1, [PP_R] = AT_R + 1,
};
static const bool is_training[PP_OP_KINDS] = {
    [PP_B] = true,      [PP_I] = true,      [PP_W] = true,  [PP_R] = true, [PP_U] = true,
    [PP_SEND_B] = true, [PP_RECV_B] = true, [PP_AR] = true, [PP_RS] = true};

/* Checks that the op is on the rank that holds its stage. */
static enum pp_status check_op(struct pp_verify *v, int rank, int i)
{
    const struct pp_program *p = v->p;
    const int kind = p->kind[i], named = kind == PP_WAIT ? p->aux[i] : kind;

    if (kind == PP_BAR)
        return PP_OK;
    if (p->mode == PP_MODE_INFER && is_training[named])
        return pp_verify_refuse(v, i, "has no place in a forward-only program");
    const int home = pp_program_rank_of(p, p->pipe[i], p->stage[i]);
    if (pp_op_is_compute(kind) && home != rank)
        return pp_verify_refuse(v, i, "is on the wrong rank: stage %d%s is on rank %d", p->stage[i],
                                p->pipelines > 1 ? " of its pipeline" : "", home);
    return PP_OK;
}

static enum pp_status fail_twice(struct pp_verify *v, int first, int second)
{
    const struct pp_program *p = v->p;

    if (p->kind[first] == p->kind[second])
        return pp_verify_fail_twice(v, first, second);
    return pp_verify_refuse(
        v, second, "comes on top of %s (%s): a backward is either one B, or one I and one W",
        pp_verify_text(v, first), pp_verify_place(v, first));
}

static enum pp_status fill(struct pp_verify *v, int i, int table)
{
    const struct pp_program *p = v->p;
    int32_t *at = v->at[table];
    int64_t unit = pp_verify_unit(v, p->stage[i], p->mb[i], p->split[i]);

    for (int g = 0; g < p->granule_count[i]; g++, unit += p->splits) {
        if (unit >= v->units)
            continue;
        if (at[unit] >= 0)
            return fail_twice(v, at[unit], i);
        at[unit] = i;
    }
    return PP_OK;
}

static enum pp_status fail_missing(struct pp_verify *v, int table, int64_t unit)
{
    const struct pp_program *p = v->p;
    const int stage = (int)(unit / p->splits / v->granules);
    const int pipe = pp_verify_pipe(v, (int)(unit / p->splits % v->granules));
    const int rank = pp_program_rank_of(p, pipe, stage);
    const char *in = pp_verify_unit_text(v, PP_I, unit), *w = pp_verify_unit_text(v, PP_W, unit);

    if (table == AT_F)
        return pp_verify_fail_rank(v, rank, "%s is missing (this rank holds stage %d)",
                                   pp_verify_unit_text(v, PP_F, unit), stage);
    if (table == AT_W)
        return pp_verify_fail_rank(v, rank, "%s is missing: %s needs it to complete the backward",
                                   w, in);
    if (v->at[AT_W][unit] >= 0)
        return pp_verify_fail_rank(v, rank, "%s is missing: %s needs it", in, w);
    return pp_verify_fail_rank(v, rank, "%s is missing (or %s and %s)",
                               pp_verify_unit_text(v, PP_B, unit), in, w);
}

/* Makes the tables. Their size comes from the file's numbers, not from its length. With too few
 * ops, it keeps only as many units as must contain a missing one. */
static void make_tables(struct pp_verify *v)
{
    const struct pp_program *p = v->p;
    int64_t covered[AT_TABLES + 1] = {0}, most = 0;

    for (int i = 0; i < pp_program_size(p); i++)
        covered[table_of[p->kind[i]]] += p->granule_count[i];
    for (int t = 1; t <= AT_TABLES; t++)
        most = covered[t] > most ? covered[t] : most;
    v->units = (int64_t)p->stages * v->granules * p->splits;
    if (v->units > most + 1)
        v->units = most + 1;
    const int tables = p->level == PP_LEVEL_COMPUTE ? AT_SEND_F : AT_TABLES;
    const size_t bytes = (size_t)v->units * sizeof(int32_t);
    for (int t = 0; t < tables; t++)
        v->at[t] = memset(pp_arena_alloc_raw(v->arena, bytes), 0xff, bytes);
}

enum pp_status pp_verify_units(struct pp_verify *v)
{
    const struct pp_program *p = v->p;

    make_tables(v);
    for (int rank = 0; rank < p->ranks; rank++)
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
            PP_TRY(check_op(v, rank, i));
            if (p->level == PP_LEVEL_COMPUTE && !pp_op_is_compute(p->kind[i]))
                return pp_verify_refuse(v, i, "has no place in a compute-only program");
            if (table_of[p->kind[i]])
                PP_TRY(fill(v, i, table_of[p->kind[i]] - 1));
            if (p->kind[i] == PP_B)
                PP_TRY(fill(v, i, AT_W));
        }
    const int last = p->mode == PP_MODE_TRAIN ? AT_W : AT_F;
    for (int t = AT_F; t <= last; t++)
        for (int64_t unit = 0; unit < v->units; unit++)
            if (v->at[t][unit] < 0)
                return fail_missing(v, t, unit);
    for (int64_t unit = 0; p->mode == PP_MODE_TRAIN && unit < v->units; unit++) {
        const int f = v->at[AT_F][unit], b = v->at[AT_BACK][unit], w = v->at[AT_W][unit];
        if (p->version[f] == p->version[b] && p->version[f] == p->version[w])
            continue;
        const int other = p->version[f] == p->version[b] ? w : b;
        return pp_verify_refuse(v, other, "uses weight version %d, but %s used version %d",
                                p->version[other], pp_verify_text(v, f), p->version[f]);
    }
    return PP_OK;
}
