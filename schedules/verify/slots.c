/* schedules/verify/slots.c — a buffer slot is taken again only after the program has released it.
 *
 * Slots are numbered per rank and class. A forward's saved activation is taken when it starts and
 * released by the B or W of its last granule. With an R for every granule the forward keeps only
 * the input of R, and R takes the saved activation. The WAIT for a COPY.down releases what it has
 * moved, and COPY.up takes a slot like the forward's when it is posted. A RECV's slot is taken when
 * it is posted and released by its last consumer. A SEND's slot is taken when its producer starts
 * and released by its WAIT. The rank's own list decides all of it, never timing. */
#include "schedules/verify/parts.h"

#include <string.h>

enum { KEPT, SAVED, IN_F, IN_B, OUT_F, OUT_B, CLASSES };

/* Class plus 1; 0 = takes no slot. */
static const uint8_t class_of[PP_OP_KINDS] = {
    [PP_F] = SAVED + 1,     [PP_R] = SAVED + 1,      [PP_RECV_F] = IN_F + 1,
    [PP_RECV_B] = IN_B + 1, [PP_SEND_F] = OUT_F + 1, [PP_SEND_B] = OUT_B + 1,
    [PP_COPY] = SAVED + 1};

struct slots {
    struct pp_verify *v;
    int32_t *holder[CLASSES]; /* [slot] of the current rank: instruction, -1 = never taken */
    uint8_t *left;            /* [instruction] granules of its content still in use */
    int32_t *saver; /* [unit] F or COPY.up that has what F has saved, -1 = none; NULL: always F */
};

static bool takes_slot(const struct pp_program *p, int i)
{
    return class_of[p->kind[i]] > 0 && (p->kind[i] != PP_COPY || p->purpose[i] == PP_FOR_UP);
}

static bool is_recomputed(const struct pp_verify *v, int i)
{
    const struct pp_program *p = v->p;
    int64_t unit = pp_verify_unit(v, p->stage[i], p->mb[i], p->split[i]);

    for (int g = 0; g < p->granule_count[i]; g++, unit += p->splits)
        if (v->at[AT_R][unit] < 0)
            return false;
    return true;
}

static int slot_class(const struct pp_verify *v, int i)
{
    const int kind = v->p->kind[i];

    return (kind == PP_F || kind == PP_COPY) && is_recomputed(v, i) ? KEPT : class_of[kind] - 1;
}

static enum pp_status take(struct slots *s, int at, int owner)
{
    const struct pp_program *p = s->v->p;

    if (p->slot[owner] < 0)
        return PP_OK;
    int32_t *holder = &s->holder[slot_class(s->v, owner)][p->slot[owner]];
    if (*holder == owner) /* a second producer of one message */
        return PP_OK;
    if (*holder >= 0 && s->left[*holder] > 0)
        return pp_verify_fail(s->v, at,
                              "%s overwrites the buffer of %s (%s), which is still in use",
                              pp_verify_text(s->v, owner), pp_verify_text(s->v, *holder),
                              pp_verify_place(s->v, *holder));
    *holder = owner;
    s->left[owner] = p->granule_count[owner];
    return PP_OK;
}

static void release_owner(struct slots *s, int owner)
{
    if (owner >= 0 && s->left[owner] > 0)
        s->left[owner]--;
}

static void release(struct slots *s, enum pp_verify_table table, int64_t unit)
{
    release_owner(s, s->v->at[table][unit]);
}

/* Releases the slot that has what the F of a unit has saved; `saver` has it from now on. */
static void move_saved(struct slots *s, int64_t unit, int saver)
{
    release_owner(s, s->saver ? s->saver[unit] : s->v->at[AT_F][unit]);
    if (s->saver)
        s->saver[unit] = saver;
}

/* Handles a COPY.up, and the WAIT for `copy`, a COPY.down. */
static enum pp_status check_copy(struct slots *s, int at, int copy)
{
    const struct pp_program *p = s->v->p;
    const bool is_up = at == copy;
    int64_t unit = pp_verify_unit(s->v, p->stage[copy], p->mb[copy], p->split[copy]);

    if (p->purpose[copy] != (is_up ? PP_FOR_UP : PP_FOR_DOWN))
        return PP_OK;
    if (is_up && p->mode == PP_MODE_TRAIN)
        PP_TRY(take(s, copy, copy));
    for (int g = 0; g < p->granule_count[copy]; g++, unit += p->splits)
        move_saved(s, unit, is_up ? copy : -1);
    return PP_OK;
}

static enum pp_status check_compute(struct slots *s, int i)
{
    struct pp_verify *v = s->v;
    const struct pp_program *p = v->p;
    const int kind = p->kind[i], end = p->granule_count[i];
    const bool is_forward = kind == PP_F, is_backward = kind == PP_B || kind == PP_I;
    int64_t unit = pp_verify_unit(v, p->stage[i], p->mb[i], p->split[i]);

    if ((is_forward || kind == PP_R) && p->mode == PP_MODE_TRAIN)
        PP_TRY(take(s, i, i));
    for (int g = 0; g < end; g++, unit += p->splits) {
        const int send = is_forward    ? v->at[AT_SEND_F][unit]
                         : is_backward ? v->at[AT_SEND_B][unit]
                                       : -1;
        if (send >= 0)
            PP_TRY(take(s, i, send));
        if (is_forward)
            release(s, AT_RECV_F, unit);
        if (is_backward)
            release(s, AT_RECV_B, unit);
        if (kind == PP_B || kind == PP_W) {
            move_saved(s, unit, -1);
            release(s, AT_R, unit);
        }
    }
    return PP_OK;
}

/* Makes the tables. A file's slot numbers are limited: a rank needs no more than instructions. */
static enum pp_status make_holders(struct slots *s, int rank)
{
    const struct pp_program *p = s->v->p;
    const int most_slots = p->begin[rank + 1] - p->begin[rank] + 16;
    int needed[CLASSES] = {0};

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        if (!takes_slot(p, i) || p->slot[i] < 0)
            continue;
        int *most = &needed[slot_class(s->v, i)];
        if (p->slot[i] >= most_slots)
            return pp_verify_fail(s->v, i, "%s: slots are 0 to %d on a rank of %d instructions",
                                  pp_verify_text(s->v, i), most_slots - 1, most_slots - 16);
        *most = p->slot[i] >= *most ? p->slot[i] + 1 : *most;
    }
    for (int c = 0; c < CLASSES; c++) {
        const size_t bytes = sizeof(int32_t) * (size_t)needed[c];
        s->holder[c] = memset(pp_arena_alloc_raw(s->v->arena, bytes + 1), 0xff, bytes);
    }
    return PP_OK;
}

static enum pp_status check_rank(struct slots *s, int rank)
{
    const struct pp_program *p = s->v->p;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        const int kind = p->kind[i];
        if (kind == PP_COPY)
            PP_TRY(check_copy(s, i, i));
        else if (kind == PP_WAIT && p->aux[i] == PP_COPY)
            PP_TRY(check_copy(s, i, p->begin[rank] + p->arg[i]));
        else if (pp_op_has_cell(kind))
            PP_TRY(check_compute(s, i));
        else if (pp_op_is_recv(kind))
            PP_TRY(take(s, i, i));
        else if (kind == PP_WAIT && pp_op_is_send(p->aux[i]))
            s->left[p->begin[rank] + p->arg[i]] = 0;
    }
    return PP_OK;
}

/* Checks that all instructions with a buffer name their slot, or none does. */
static enum pp_status check_named(struct pp_verify *v)
{
    const struct pp_program *p = v->p;
    int named = -1, unnamed = -1;

    for (int i = 0; i < pp_program_size(p); i++)
        if (takes_slot(p, i))
            *(p->slot[i] >= 0 ? &named : &unnamed) = i;
    if (named < 0 || unnamed < 0 || p->mode != PP_MODE_TRAIN) /* inference saves nothing */
        return PP_OK;
    return pp_verify_refuse(v, unnamed,
                            "has no buffer slot, as in %s[0], but other instructions have: name "
                            "the slots of all F, R, SEND, RECV and COPY.up, or none",
                            pp_verify_text(v, unnamed));
}

/* Returns the table of savers if saved activations move, else NULL. */
static int32_t *make_savers(const struct pp_verify *v)
{
    const size_t bytes = sizeof(int32_t) * (size_t)v->units;

    for (int i = 0; i < pp_program_size(v->p); i++)
        if (v->p->kind[i] == PP_COPY && v->p->purpose[i])
            return memcpy(pp_arena_alloc_raw(v->arena, bytes), v->at[AT_F], bytes);
    return NULL;
}

enum pp_status pp_verify_slots(struct pp_verify *v)
{
    struct slots s = {.v = v,
                      .left = PP_ARRAY(v->arena, uint8_t, pp_program_size(v->p)),
                      .saver = make_savers(v)};

    for (int rank = 0; rank < v->p->ranks; rank++) {
        const struct pp_arena_mark mark = pp_arena_mark(v->arena);
        PP_TRY(make_holders(&s, rank));
        PP_TRY(check_rank(&s, rank));
        pp_arena_release(v->arena, mark);
    }
    return check_named(v);
}
