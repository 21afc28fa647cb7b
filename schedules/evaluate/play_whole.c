/* Plays a cut program with the periods that it leaves out. */
#include "schedules/evaluate/play.h"

struct pp_play_meeting *pp_play_meetings(const struct pp_play *play, int count)
{
    struct pp_play_meeting *meetings =
        PP_ARRAY(play->arena, struct pp_play_meeting, (size_t)play->steps * count);

    for (int k = 0; k < play->steps * count; k++)
        meetings[k] = (struct pp_play_meeting){.end = PP_PLAY_UNKNOWN,
                                               .missing = play->p->ranks,
                                               .step = play->step_of ? INT32_MAX : k / count};
    return meetings;
}

/* Makes the collectives of all sets of a whole program, by set and step. */
static void make_sets(struct pp_play *play)
{
    const struct pp_program *p = play->p;
    const struct pp_program_cut *cut = p->cut;
    int32_t *posts = PP_ARRAY(play->arena, int32_t, cut->sets);
    int meetings = 0;

    for (int q = 0; q < cut->queue_count; q++)
        if (cut->queues[q].set >= 0)
            posts[cut->queues[q].set] = cut->queues[q].posts;
    play->set_first = PP_ARRAY(play->arena, int32_t, cut->sets);
    for (int s = 0; s < cut->sets; meetings += posts[s++])
        play->set_first[s] = play->steps * meetings;
    play->meetings = pp_play_meetings(play, meetings);
    for (int i = 0; i < pp_program_size(p); i++) {
        const int set = cut->queue_of[i] >= 0 ? cut->queues[cut->queue_of[i]].set : -1;
        if (set < 0 || p->kind[i] == PP_WAIT)
            continue;
        for (int k = 0; k < play->steps * posts[set]; k++) {
            struct pp_play_meeting *m = &play->meetings[play->set_first[set] + k];
            m->missing = p->groups[p->collectives[p->arg[i]].group].count;
            m->step = play->step_of ? INT32_MAX : k / posts[set];
        }
        posts[set] = 0; /* known */
    }
}

void pp_play_make_queues(struct pp_play *play)
{
    const struct pp_program_cut *cut = play->p->cut;
    size_t posts = 0;

    for (int q = 0; q < cut->queue_count; q++)
        posts += (size_t)play->steps * (size_t)cut->queues[q].posts;
    play->queues = PP_ARRAY(play->arena, struct pp_play_queue, cut->queue_count);
    play->queue_ends = pp_arena_alloc_raw(play->arena, sizeof(*play->queue_ends) * posts);
    play->own = pp_arena_alloc_raw(play->arena, sizeof(*play->own) * posts);
    for (int q = 0, first = 0; q < cut->queue_count; first += play->steps * cut->queues[q++].posts)
        play->queues[q].ends = play->queue_ends + first;
    make_sets(play);
}

void pp_play_begin(const struct pp_play *play, struct pp_seat *seat)
{
    const struct pp_program *p = play->p;
    const int r = seat->rank;

    seat->next = p->begin[r];
    seat->end = p->begin[r + 1];
    if (!play->queues || p->cut->begin[r] == p->cut->begin[r + 1])
        return;
    seat->place = &p->cut->places[p->cut->begin[r]];
    seat->last_place = &p->cut->places[p->cut->begin[r + 1]];
    seat->periods = p->cut->periods;
    seat->end = seat->place->at;
}

bool pp_play_go_on(const struct pp_play *play, struct pp_seat *seat)
{
    const struct pp_program *p = play->p;

    if (seat->place == seat->last_place) {
        pp_play_begin(play, seat);
        return ++seat->step < play->steps;
    }
    if (seat->periods-- > 0) {
        seat->next = seat->place->at - seat->place->length;
        return true;
    }
    seat->place++;
    seat->periods = p->cut->periods;
    seat->end = seat->place < seat->last_place ? seat->place->at : p->begin[seat->rank + 1];
    return true;
}
