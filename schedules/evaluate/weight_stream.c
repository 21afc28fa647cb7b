/* Finds the instructions of the two lanes that wait for the other lane. */
#include "schedules/evaluate/weight_stream.h"

#include "schedules/memory/lifetimes.h"

enum { NONE = -1 };

/* Walk over one rank: the last instruction of each kind so far, NONE before the first. */
struct walk {
    const struct pp_program *p;
    const struct pp_lifetimes *lives;
    struct pp_weight_stream *lane;
    int first;           /* first instruction of the current rank */
    int32_t *reader[2];  /* [is kept][slot of an F's or R's activations] W that reads it */
    int32_t *holder;     /* [cell] COPY.up that has brought it back, 0 = none: the F has it */
    int32_t (*adder)[2]; /* [stage] last to add to its gradient: on the first lane, on the second */
    int32_t seen[2];     /* last instruction of the other lane that each lane has waited for */
    int32_t last;        /* last of the second lane */
};

static bool is_concurrent(const struct pp_program *p, int i)
{
    return p->kind[i] == PP_W && p->aux[i] == 0;
}

static int32_t later(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Adds a wait. Both lanes run in order, so a wait for an instruction includes all before it. */
static void wait_for(struct walk *w, int i, int32_t other)
{
    const bool is_on = w->lane->is_on[i];
    const int at = w->p->aux[i] == PP_FUSED_SECOND && pp_op_is_compute(w->p->kind[i]) ? i - 1 : i;

    if (other <= w->seen[is_on])
        return;
    w->seen[is_on] = w->lane->after[at] = other;
    w->lane->is_awaited[other] = true;
}

static const struct pp_cell_life *life_of(const struct walk *w, int i, int granule)
{
    return pp_lifetimes_at(w->lives, w->p->stage[i], granule, w->p->split[i]);
}

static bool is_up(const struct pp_program *p, int i)
{
    return p->kind[i] == PP_COPY && p->purpose[i] == PP_FOR_UP;
}

/* Returns the last W that reads the slot which an F, R or COPY.up fills; NULL of others. Kept and
 * saved slots are numbered apart. */
static int32_t *reader_of(const struct walk *w, int i)
{
    const struct pp_op op = pp_program_op(w->p, i);
    const bool is_kept = op.kind != PP_R && pp_lifetimes_is_recomputed(w->lives, &op);

    return op.slot >= 0 && (op.kind == PP_F || op.kind == PP_R || is_up(w->p, i))
               ? &w->reader[is_kept][op.slot]
               : NULL;
}

/* Notes W as the reader of what instruction `filler` has filled. */
static void note_reader(struct walk *w, int i, int filler)
{
    int32_t *reader = reader_of(w, filler);

    if (reader)
        *reader = i;
}

/* COPY.up fills a slot again, once the last W has read it. */
static void walk_up(struct walk *w, int i)
{
    const int32_t *reader = reader_of(w, i);

    for (int g = w->p->mb[i]; g < w->p->mb[i] + w->p->granule_count[i]; g++) {
        const struct pp_cell_life *life = life_of(w, i, g);
        if (life)
            w->holder[life - w->lives->cells] = i;
    }
    if (reader)
        wait_for(w, i, *reader);
}

static void walk_concurrent(struct walk *w, int i)
{
    const int stage = w->p->stage[i];
    int32_t made = w->adder[stage][false];

    for (int g = w->p->mb[i]; g < w->p->mb[i] + w->p->granule_count[i]; g++) {
        const struct pp_cell_life *life = life_of(w, i, g);
        const int32_t up = life ? w->holder[life - w->lives->cells] : 0;

        if (!life)
            continue;
        if (life->backward > 0)
            made = later(made, w->first + life->backward - 1);
        if (up > 0 || life->forward > 0)
            note_reader(w, i, up > 0 ? up : w->first + life->forward - 1);
        if (life->recompute > 0)
            note_reader(w, i, w->first + life->recompute - 1);
    }
    wait_for(w, i, made);
    w->adder[stage][true] = w->last = i;
}

static void walk_compute(struct walk *w, int i)
{
    int32_t *adder = w->adder[w->p->stage[i]];
    const int32_t *reader = reader_of(w, i);
    const int kind = w->p->kind[i];

    if (is_concurrent(w->p, i)) {
        walk_concurrent(w, i);
        return;
    }
    if (reader)
        wait_for(w, i, *reader);
    if (kind == PP_B || kind == PP_W || kind == PP_U)
        wait_for(w, i, adder[true]);
    if (kind == PP_B || kind == PP_W)
        adder[false] = i;
}

/* Gradients leave the device once the last W of their stage has added to them. */
static void walk_move(struct walk *w, int i)
{
    const struct pp_purpose_row *row = &pp_purposes[w->p->purpose[i]];

    if (row->what == PP_STATE_GRADS && row->from == PP_AT_DEVICE)
        wait_for(w, i, w->adder[w->p->stage[i]][true]);
}

/* A tied matrix is in two stages. */
static void walk_sum(struct walk *w, int i)
{
    const struct pp_program *p = w->p;
    const bool is_tied = p->aux[i] == PP_TIED;
    int32_t last[2] = {w->adder[p->stage[i]][false], w->adder[p->stage[i]][true]};

    for (int stage = 0; is_tied && stage < p->stages; stage++)
        for (int lane = 0; lane < 2; lane++)
            last[lane] = later(last[lane], w->adder[stage][lane]);
    w->lane->is_on[i] = last[true] > last[false];
    wait_for(w, i, last[!w->lane->is_on[i]]);
    w->last = w->lane->is_on[i] ? i : w->last;
}

/* A sum ends after its post, so a WAIT for it is also a wait for the second lane. */
static void walk_wait(struct walk *w, int target)
{
    if (w->lane->is_on[target])
        w->seen[false] = later(w->seen[false], target);
}

static void walk_rank(struct walk *w, int rank)
{
    const struct pp_program *p = w->p;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        if (pp_op_is_compute(p->kind[i]))
            walk_compute(w, i);
        else if (is_up(p, i))
            walk_up(w, i);
        else if (p->kind[i] == PP_MOVE)
            walk_move(w, i);
        else if (p->kind[i] == PP_AR || p->kind[i] == PP_RS)
            walk_sum(w, i);
        else if (p->kind[i] == PP_BAR)
            wait_for(w, i, w->last);
        else if (p->kind[i] == PP_WAIT && p->arg[i] >= 0)
            walk_wait(w, p->begin[rank] + p->arg[i]);
    }
}

static void forget(int32_t *last, size_t count)
{
    for (size_t k = 0; k < count; k++)
        last[k] = NONE;
}

struct pp_weight_stream *pp_weight_stream_create(struct pp_arena *arena, const struct pp_program *p)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_weight_stream *lane = PP_NEW(arena, struct pp_weight_stream);
    int count = 0, slots = 0;

    lane->is_on = PP_ARRAY(arena, bool, pp_program_size(p) + 1);
    lane->is_awaited = PP_ARRAY(arena, bool, pp_program_size(p) + 1);
    lane->after = PP_ARRAY(arena, int32_t, pp_program_size(p) + 1);
    forget(lane->after, (size_t)pp_program_size(p));
    for (int i = 0; i < pp_program_size(p); i++) {
        count += lane->is_on[i] = is_concurrent(p, i);
        slots = later(slots, p->slot[i] + 1);
    }
    if (count == 0)
        return NULL;
    const struct pp_lifetimes lives = pp_lifetimes_of_program(scratch, p);
    struct walk w = {.p = p,
                     .lives = &lives,
                     .lane = lane,
                     .holder = PP_ARRAY(scratch, int32_t, pp_lifetimes_size(&lives) + 1)};
    for (int is_kept = 0; is_kept < 2; is_kept++)
        w.reader[is_kept] = PP_ARRAY(scratch, int32_t, slots + 1);
    w.adder = (int32_t(*)[2])PP_ARRAY(scratch, int32_t, 2 * (size_t)p->stages);
    for (int rank = 0; rank < p->ranks; rank++) {
        forget(w.reader[false], (size_t)slots);
        forget(w.reader[true], (size_t)slots);
        forget(&w.adder[0][0], 2 * (size_t)p->stages);
        w.last = w.seen[0] = w.seen[1] = NONE;
        w.first = p->begin[rank];
        walk_rank(&w, rank);
    }
    return lane;
}
