/* Plays all ranks (play.c) until none can continue. */
#include "schedules/evaluate/makespan.h"
#include "schedules/evaluate/eval.h"
#include "schedules/evaluate/play.h"
#include "schedules/program/whole.h"

#include <string.h>

static void make_collectives(struct pp_play *play)
{
    const struct pp_program *p = play->p;

    play->meetings = pp_play_meetings(play, p->collective_count);
    for (int k = 0; k < play->steps * p->collective_count; k++)
        play->meetings[k].missing = p->groups[p->collectives[k % p->collective_count].group].count;
}

/* Returns the messages of each channel in a step; of a whole program those left out too. */
static int32_t *count_messages(const struct pp_play *play)
{
    const struct pp_program *p = play->p;
    int32_t *count = PP_ARRAY(play->arena, int32_t, p->channel_count);

    for (int c = 0; c < p->channel_count; c++)
        count[c] = p->channels[c].count;
    for (int k = 0; play->queues && k < p->cut->begin[p->ranks]; k++) {
        const struct pp_cut_place *place = &p->cut->places[k];
        for (int i = place->at - place->length; i < place->at; i++)
            if (pp_op_is_send(p->kind[i]))
                count[play->line_of[p->arg[i]]] += p->cut->periods;
    }
    return count;
}

static void make_lines(struct pp_play *play)
{
    const struct pp_program *p = play->p;
    int32_t first = 0;

    play->line_of = pp_arena_alloc_raw(play->arena, sizeof(int32_t) * (size_t)p->message_count);
    play->lines = PP_ARRAY(play->arena, struct pp_play_line, p->channel_count);
    for (int c = 0; c < p->channel_count; c++)
        for (int k = 0; k < p->channels[c].count; k++)
            play->line_of[p->channels[c].first + k] = c;
    const int32_t *count = count_messages(play);
    for (int c = 0; c < p->channel_count; c++) {
        const int32_t end = first + play->steps * count[c];
        play->lines[c] = (struct pp_play_line){.first = first,
                                               .count = count[c] / play->list_steps,
                                               .next = first,
                                               .end = end,
                                               .stage = -1};
        first = end;
    }
    const size_t bytes = sizeof(struct pp_play_transfer) * (size_t)first;
    play->transfers = memset(pp_arena_alloc_raw(play->arena, bytes), 0xff, bytes);
}

static void make_seats(struct pp_play *play)
{
    const struct pp_program *p = play->p;

    play->seats = PP_ARRAY(play->arena, struct pp_seat, p->ranks);
    play->ready = PP_ARRAY(play->arena, uint16_t, p->ranks);
    play->turning = PP_ARRAY(play->arena, uint16_t, p->ranks);
    for (int r = 0; r < p->ranks; r++) {
        struct pp_seat *seat = &play->seats[r];
        *seat = (struct pp_seat){.rank = r};
        pp_play_begin(play, seat);
        seat->last = &seat->first;
        play->ready[p->ranks - 1 - r] = (uint16_t)r;
    }
    play->ready_count = p->ranks;
    for (int i = p->begin[0]; i < p->begin[1]; i++)
        play->barrier_count += p->kind[i] == PP_BAR;
}

/* Is true if channels send as many messages in each step of a list, one step after the other. */
static bool has_steps_in_order(const struct pp_play *play)
{
    const struct pp_program *p = play->p;
    const int steps = play->list_steps;

    for (int i = 0; play->step_of && i < pp_program_size(p); i++) {
        if (!pp_op_is_send(p->kind[i]))
            continue;
        const struct pp_channel *channel = &p->channels[play->line_of[p->arg[i]]];
        if (channel->count % steps ||
            play->step_of[i] != (p->arg[i] - channel->first) / (channel->count / steps))
            return false;
    }
    return true;
}

/* Is true once every rank has reached its end, and every transfer. */
static bool is_over(const struct pp_play *play)
{
    const struct pp_program *p = play->p;

    for (int r = 0; r < p->ranks; r++) {
        const struct pp_seat *seat = &play->seats[r];
        if (seat->awaited || seat->first || seat->passed != play->steps * play->barrier_count ||
            (seat->reduced && *seat->reduced < 0))
            return false;
    }
    for (int c = 0; c < p->channel_count; c++)
        if (play->lines[c].next < play->lines[c].end)
            return false;
    return true;
}

/* Is true for programs and options that are played here. */
static bool is_played(const struct pp_program *p, const struct pp_eval_options *o)
{
    enum { MOST = 1 << 28 }; /* instructions of all steps */
    const int steps = o->steps > 1 ? o->steps : 1;

    return p->level == PP_LEVEL_LOWERED && !p->weight_stream && !o->nic_fifo && !o->ring_flows &&
           (steps == 1 || o->is_barrier_free) && pp_program_whole_size(p) <= MOST / steps;
}

/* Fills in the spans of transfers and collectives, which end on several ranks at once. */
static void note_shared(const struct pp_play *play)
{
    const struct pp_program *p = play->p;
    const int size = pp_program_size(p);

    for (int step = 0; step < play->steps; step++)
        for (int i = 0; i < size; i++) {
            const int stream = pp_op_kinds[p->kind[i]].stream;
            const size_t row = pp_play_row(play, step, i);
            if (stream == PP_STREAM_CHANNEL) {
                const struct pp_play_transfer *t = pp_play_transfer_of(play, p->arg[i], step);
                play->start[row] = t->end - t->ps;
                play->end[row] = t->end;
            } else if (stream == PP_STREAM_REDUCE && p->arg[i] >= 0) {
                const struct pp_play_meeting *m = pp_play_meeting_of(play, step, p->arg[i]);
                play->start[row] = m->latest;
                play->end[row] = m->end;
            }
        }
}

/* Plays a program; of a cut one the whole, or only what is there. */
static bool play_all(struct pp_play *play, bool is_whole)
{
    const size_t bytes = sizeof(int64_t) * pp_play_row(play, play->steps, 0);

    if (is_whole && play->p->cut) {
        pp_play_make_queues(play);
    } else {
        play->own = play->end ? play->end : pp_arena_alloc_raw(play->arena, bytes);
        make_collectives(play);
    }
    make_lines(play);
    if (!has_steps_in_order(play))
        return false;
    make_seats(play);
    play->barriers = pp_play_meetings(play, play->barrier_count);
    while (play->ready_count + play->turning_count > 0)
        if (play->turning_count > 0)
            pp_play_turns(play, &play->seats[play->turning[--play->turning_count]]);
        else
            pp_play_rank(play, &play->seats[play->ready[--play->ready_count]]);
    return is_over(play) && play->sum_ps < (double)PP_PLAY_LIMIT_PS;
}

static struct pp_play play_of(struct pp_arena *arena, const struct pp_program *program,
                              const struct pp_costs *costs, const struct pp_eval_options *options)
{
    return (struct pp_play){.arena = arena,
                            .p = program,
                            .costs = costs,
                            .options = options,
                            .steps = options->steps > 1 ? options->steps : 1,
                            .list_steps = 1};
}

bool pp_makespan(const struct pp_program *program, const struct pp_costs *costs,
                 const struct pp_eval_options *options, int64_t step_end_ps[])
{
    if (!is_played(program, options))
        return false;
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_play play = play_of(arena, program, costs, options);
    play.step_end_ps = step_end_ps;
    memset(step_end_ps, 0, sizeof(*step_end_ps) * (size_t)play.steps);
    return play_all(&play, true);
}

bool pp_makespan_in_list(const struct pp_program *program, const struct pp_costs *costs,
                         const struct pp_eval_options *options, const int *step_of, int steps,
                         int64_t step_end_ps[])
{
    if (!is_played(program, options) || options->steps > 1)
        return false;
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_play play = play_of(arena, program, costs, options);
    play.step_of = step_of;
    play.list_steps = steps;
    play.step_end_ps = step_end_ps;
    memset(step_end_ps, 0, sizeof(*step_end_ps) * (size_t)steps);
    return play_all(&play, true);
}

struct pp_times *pp_makespan_spans(struct pp_arena *arena, const struct pp_program *program,
                                   const struct pp_costs *costs,
                                   const struct pp_eval_options *options,
                                   enum pp_times_wanted wanted)
{
    if (!is_played(program, options))
        return NULL;
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_play play = play_of(scratch, program, costs, options);
    struct pp_times *times = PP_NEW(arena, struct pp_times);
    const size_t bytes = sizeof(int64_t) * pp_play_row(&play, play.steps, 0);
    *times = (struct pp_times){.replicas = 1,
                               .steps = play.steps,
                               .step_end_ps = PP_ARRAY(arena, int64_t, play.steps),
                               .start_ps = pp_arena_alloc_raw(arena, bytes),
                               .end_ps = pp_arena_alloc_raw(arena, bytes)};
    if (wanted == PP_TIMES_POSTS)
        times->posted_ps = pp_arena_alloc_raw(arena, bytes);
    play.step_end_ps = times->step_end_ps;
    play.start = times->start_ps;
    play.end = times->end_ps;
    play.posted = times->posted_ps;
    if (!play_all(&play, false))
        return NULL;
    note_shared(&play);
    times->makespan_ps = times->step_end_ps[play.steps - 1];
    return times;
}
