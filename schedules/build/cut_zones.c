/* Finds the periods of lists. */
#include "schedules/build/cut_zones.h"
#include "schedules/order/closed_form.h"

#include <limits.h>
#include <string.h>

/* The least that remains of a zone: micro-batches for each rank of the pipeline, and periods. */
enum { KEPT_EACH_RANK = 10, LEAST_KEPT = 6, SAMPLES = 16 };

/* ---- ops by key ------------------------------------------------------------------------------ */

static const int type_of[] = {[PP_F] = PP_CUT_FORWARD,
                              [PP_B] = PP_CUT_BACKWARD,
                              [PP_I] = PP_CUT_BACKWARD,
                              [PP_W] = PP_CUT_WEIGHTS};

static bool index_rank(struct pp_cut_search *s, struct pp_cut_rank *rank, int *seen)
{
    const struct pp_program_head *h = s->head;
    const size_t bytes = sizeof(int) * (size_t)rank->count;
    const int all = h->pipelines * h->stages * h->splits;

    rank->key = pp_arena_alloc_raw(s->arena, bytes);
    rank->index = pp_arena_alloc_raw(s->arena, bytes);
    memset(seen, 0xff, sizeof(int) * (size_t)all);
    for (int i = 0; i < rank->count; i++) {
        const struct pp_op *op = &rank->ops[i];
        int *chunk = &seen[(op->pipe * h->stages + op->stage) * h->splits + op->split];
        if (op->kind >= PP_COUNT(type_of))
            return false;
        if (*chunk < 0)
            *chunk = rank->chunks++;
        rank->key[i] = *chunk * PP_CUT_TYPES + type_of[op->kind];
        rank->index[i] = s->index_of[op->mb];
    }
    const size_t places = (size_t)rank->chunks * PP_CUT_TYPES * (size_t)s->each;
    rank->place = pp_arena_alloc_raw(s->arena, sizeof(int) * places);
    memset(rank->place, 0xff, sizeof(int) * places);
    for (int i = 0; i < rank->count; i++)
        rank->place[rank->key[i] * s->each + rank->index[i]] = i;
    return true;
}

/* Returns the distance to the same op a period later; 0 if there is none. */
static int length_at(const struct pp_cut_rank *rank, int each, int period, int i)
{
    const int index = rank->index[i] + period;
    const int next = index < each ? rank->place[rank->key[i] * each + index] : -1;

    return next > i && rank->ops[next].kind == rank->ops[i].kind &&
                   rank->ops[next].aux == rank->ops[i].aux
               ? next - i
               : 0;
}

/* ---- the period ------------------------------------------------------------------------------ */

static bool is_period(const struct pp_cut_rank *rank, int each, int period, int from)
{
    const int length = length_at(rank, each, period, from);

    for (int i = from; length > 0 && i < from + 2 * length; i++)
        if (i >= rank->count || length_at(rank, each, period, i) != length)
            return false;
    return length > 0;
}

/* Returns the least period of the ops from a position on; 0 if it is above `most`. */
static int period_at(const struct pp_cut_rank *rank, int each, int most, int from)
{
    for (int period = 1; period <= most; period++)
        if (is_period(rank, each, period, from))
            return period;
    return 0;
}

/* Returns the least multiple of both numbers. */
static int common_period(int a, int b)
{
    int both = a;

    while (both % b)
        both += a;
    return both;
}

/* Finds a period of all ranks: the least multiple of those at a few places. */
static bool find_period(struct pp_cut_search *s)
{
    const int most = 4 * s->head->ranks;

    s->period = 1;
    for (int r = 0; r < s->head->ranks; r++)
        for (int k = 0; k < SAMPLES; k++) {
            const struct pp_cut_rank *rank = &s->ranks[r];
            const int from = (int)((int64_t)rank->count * (2 * k + 1) / (2 * SAMPLES));
            if (is_period(rank, s->each, s->period, from))
                continue;
            const int period = period_at(rank, s->each, most, from);
            s->period = period > 0 ? common_period(s->period, period) : s->period;
            if (s->period > most)
                return false;
        }
    return true;
}

/* ---- zones ----------------------------------------------------------------------------------- */

static int periods_of(const struct pp_cut_zone *zone)
{
    return (zone->end - zone->first) / zone->length;
}

static int kept_of(const struct pp_cut_search *s)
{
    return PP_MAX(KEPT_EACH_RANK * s->head->ranks / s->period, LEAST_KEPT);
}

/* Adds a zone of a step, with keys that are in no other of the step. */
static bool add_zone(struct pp_cut_rank *rank, struct pp_cut_zone zone, int *steps_of)
{
    if (rank->zones == PP_CUT_MOST_ZONES)
        return false;
    for (int i = zone.first; i < zone.first + zone.length; i++)
        if (steps_of[rank->key[i]] != zone.step)
            return false;
    for (int i = zone.first; i < zone.first + zone.length; i++)
        steps_of[rank->key[i]] = zone.step + 1;
    rank->zone[rank->zones++] = zone;
    return true;
}

/* Adds the long parts of a zone that belong to one step each. */
static bool add_steps(const struct pp_cut_search *s, struct pp_cut_rank *rank,
                      const struct pp_cut_zone *zone, int *steps_of)
{
    struct pp_cut_zone part[PP_CUT_MOST_ZONES];

    for (int k = 0; k < s->steps; k++) {
        part[k] = *zone;
        part[k].step = k;
    }
    for (int i = zone->first; i < zone->end; i++) {
        const int step = rank->index[i] / (s->each / s->steps);
        for (int k = 0; k < s->steps; k++) {
            part[k].end = k < step ? PP_MIN(part[k].end, i) : part[k].end;
            part[k].first = k > step ? i + 1 : part[k].first;
        }
    }
    for (int k = 0; k < s->steps; k++)
        if (periods_of(&part[k]) > kept_of(s) && !add_zone(rank, part[k], steps_of))
            return false;
    return true;
}

/* Finds the long zones of a rank. False unless each forward and backward repeats in exactly one of
 * each step. Weight gradients outside stand before or after a single zone. */
static bool find_zones(const struct pp_cut_search *s, struct pp_cut_rank *rank)
{
    int *steps_of =
        PP_ARRAY(s->arena, int, (size_t)rank->chunks *PP_CUT_TYPES); /* [key] that have it */

    for (int i = 0; i < rank->count;) {
        struct pp_cut_zone zone = {.first = i, .length = length_at(rank, s->each, s->period, i)};
        while (++i < rank->count && length_at(rank, s->each, s->period, i) == zone.length)
            ;
        zone.end = i + zone.length;
        if (zone.length > 0 && periods_of(&zone) > kept_of(s) &&
            !add_steps(s, rank, &zone, steps_of))
            return false;
    }
    for (int i = 0; i < rank->count; i++)
        if (steps_of[rank->key[i]] != s->steps &&
            (rank->ops[i].kind != PP_W || rank->zones != s->steps))
            return false;
    return true;
}

/* Indices of micro-batches: of the first and the last period of all zones, and around the
 * places. */
struct range {
    int first, last, from, to;
};

static void narrow(const struct pp_cut_search *s, const struct pp_cut_rank *rank,
                   const struct pp_cut_zone *zone, struct range *ranges)
{
    const int next = zone->at + s->periods * zone->length, last = zone->end - zone->length;

    for (int k = 0; k < zone->length; k++) {
        struct range *range = &ranges[rank->key[zone->first + k] % PP_CUT_TYPES];
        range->first = PP_MAX(range->first, rank->index[zone->first + k]);
        range->last = PP_MIN(range->last, rank->index[last + k]);
    }
    for (int k = 0; k < zone->length; k++) {
        struct range *range = &ranges[rank->key[zone->at + k] % PP_CUT_TYPES];
        range->from = PP_MIN(range->from, rank->index[zone->at + k]);
        range->to = PP_MAX(range->to, rank->index[next + k]);
    }
}

/* Is true if each place has micro-batches that are in the zones of all ranks. Else a rank would
 * meet what another one does only once next to other micro-batches than in the whole program. */
static bool are_amid(const struct pp_cut_search *s)
{
    for (int step = 0; step < s->steps; step++) {
        struct range ranges[PP_CUT_TYPES];
        for (int type = 0; type < PP_CUT_TYPES; type++)
            ranges[type] = (struct range){0, INT_MAX, INT_MAX, 0};
        for (int r = 0; r < s->head->ranks; r++)
            for (int z = 0; z < s->ranks[r].zones; z++)
                if (s->ranks[r].zone[z].step == step)
                    narrow(s, &s->ranks[r], &s->ranks[r].zone[z], ranges);
        for (int type = 0; type < PP_CUT_TYPES; type++)
            if (ranges[type].from < ranges[type].first || ranges[type].to > ranges[type].last)
                return false;
    }
    return true;
}

/* Chooses the periods that are left out: each zone leaves out the same number, and keeps the same
 * number before them. */
static bool choose(struct pp_cut_search *s)
{
    const int kept = kept_of(s), more = s->more / s->head->pipelines;

    s->periods = s->each;
    for (int r = 0; r < s->head->ranks; r++)
        for (int z = 0; z < s->ranks[r].zones; z++)
            s->periods = PP_MIN(s->periods, periods_of(&s->ranks[r].zone[z]) - kept);
    s->left_out = s->periods * s->period;
    if (2 * (s->left_out * s->steps + more) < s->each + more || more % (s->steps * s->period))
        return false;
    for (int r = 0; r < s->head->ranks; r++)
        for (int z = 0; z < s->ranks[r].zones; z++) {
            struct pp_cut_zone *zone = &s->ranks[r].zone[z];
            zone->at = zone->first + 2 * kept / 3 * zone->length;
            zone->at += s->ranks[r].ops[zone->at].aux == PP_FUSED_SECOND; /* keeps pairs */
        }
    return are_amid(s);
}

/* ---- all ranks ------------------------------------------------------------------------------- */

/* Numbers the micro-batches of each pipeline; NULL unless all pipelines have as many. */
static const int *number(struct pp_cut_search *s)
{
    const struct pp_program_head *h = s->head;
    int *index_of = pp_arena_alloc_raw(s->arena, sizeof(int) * (size_t)h->micro_batches),
        *next = PP_ARRAY(s->arena, int, h->pipelines);

    for (int mb = 0; mb < h->micro_batches; mb++)
        index_of[mb] = next[h->pipe_of ? h->pipe_of[mb] : 0]++;
    s->each = next[0];
    for (int pipe = 0; pipe < h->pipelines; pipe++)
        if (next[pipe] != s->each)
            return NULL;
    return index_of;
}

int64_t pp_cut_least(int ranks, int pipelines, int steps)
{
    return (int64_t)2 * (KEPT_EACH_RANK + 1) * ranks * pipelines * steps;
}

static bool is_long(const struct pp_program_head *h, int steps)
{
    return h->granules == 1 && steps <= PP_CUT_MOST_ZONES && h->micro_batches % steps == 0 &&
           h->micro_batches >= pp_cut_least(h->ranks, h->pipelines, steps);
}

bool pp_cut_find(struct pp_cut_search *s, const struct pp_orders *lists)
{
    const struct pp_program_head *h = s->head;
    int *seen;

    if (!is_long(h, s->steps))
        return false;
    seen = PP_ARRAY(s->arena, int, (size_t)h->pipelines *(size_t)(h->stages * h->splits));
    s->index_of = number(s);
    s->ranks = PP_ARRAY(s->arena, struct pp_cut_rank, h->ranks);
    for (int r = 0; s->index_of && r < h->ranks; r++) {
        s->ranks[r] = (struct pp_cut_rank){.count = lists->count[r], .ops = lists->ops[r]};
        if (!index_rank(s, &s->ranks[r], seen))
            return false;
    }
    if (!s->index_of || !find_period(s))
        return false;
    for (int r = 0; r < h->ranks; r++)
        if (!find_zones(s, &s->ranks[r]))
            return false;
    return choose(s);
}
