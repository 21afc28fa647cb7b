/* schedules/evaluate/play.h — the state of a program that is played, and its ranks. Internal to
 * evaluate/; makespan.h is what others call. */
#pragma once

#include "schedules/evaluate/evaluate.h"

enum { PP_PLAY_UNKNOWN = -1 };
#define PP_PLAY_LIMIT_PS (INT64_MAX / 2)

struct pp_play_transfer {
    int64_t sent, received, end; /* posts of both sides; PP_PLAY_UNKNOWN at first */
    int64_t ps;
};
struct pp_play_line {       /* a channel */
    int32_t first, count;   /* first of its transfers, and messages of a step */
    int32_t sent, received; /* posted so far */
    int32_t next, end;      /* half-open range of transfers that are not over */
    int64_t busy_until;     /* end of the previous message */
    int stage, granules;    /* of the last SEND, whose cost is `ps` */
    int64_t ps;
};
/* A collective, or a BAR of all ranks. */
struct pp_play_meeting {
    int64_t latest, end; /* latest member that is ready; end, PP_PLAY_UNKNOWN at first */
    int32_t missing, step;
};
/* Instruction on a reduce stream, which starts once the one before it is over. */
struct pp_play_queued {
    struct pp_play_queued *next;
    int64_t post;
    int32_t at, step;
    struct pp_play_meeting *meeting; /* NULL: inside the rank, and ends at `own` */
    int64_t *own;
};
/* A queue of a cut program: ends of what is posted. */
struct pp_play_queue {
    const int64_t **ends;
    int32_t posted, waited; /* so far */
};
struct pp_seat {            /* a rank */
    int32_t next, end;      /* instructions */
    int rank, step, passed; /* BARs passed, of all steps */
    int64_t clock;
    int64_t begun, lasted; /* start and duration of its last compute op */
    int64_t copied[PP_COPY_STREAMS];
    const int64_t *reduced; /* end of the last one on its reduce stream that is not queued */
    struct pp_play_queued *first, **last;
    const struct pp_cut_place *place, *last_place; /* of a cut program: next place, and their end */
    int periods;            /* that are left out at the place and not played so far */
    bool is_turning;        /* is in play->turning, or its queue is being played */
    const int64_t *awaited; /* NULL: nothing */
};

struct pp_play {
    struct pp_arena *arena;
    const struct pp_program *p;
    const struct pp_costs *costs;
    const struct pp_eval_options *options;
    int steps;            /* plays of the lists */
    const int *step_of;   /* [instruction] of lists that have several steps, or NULL */
    int list_steps;       /* their number; else 1 */
    int64_t *step_end_ps; /* [step]: the latest end so far */
    struct pp_play_transfer *transfers; /* by channel, step and message */
    int32_t *line_of;                   /* [message] */
    struct pp_play_line *lines;
    struct pp_play_meeting *meetings, *barriers; /* [step][collective or BAR] */
    int barrier_count;                           /* of a step */
    struct pp_seat *seats;
    int64_t *own; /* [step][instruction]: end of a rank's own work, concurrent with its compute */
    /* Queues of a cut program if the periods that it leaves out are played; else NULL. */
    struct pp_play_queue *queues;
    const int64_t **queue_ends; /* of all queues; `own` is by place here */
    int32_t *set_first;         /* [set]: first meeting, of the first step */
    /* [step][instruction]: spans and posts, `end` is `own`; NULL if not wanted */
    int64_t *start, *end, *posted;
    /* Ranks that can continue, and ranks whose reduce stream can. Each has a rank at most once. */
    uint16_t *ready, *turning;
    int ready_count, turning_count;
    double sum_ps; /* of all durations so far: no clock is beyond */
};

/* Returns the place of an instruction in the tables of all steps. */
size_t pp_play_row(const struct pp_play *play, int step, int i);
/* Returns a message of a step. */
struct pp_play_transfer *pp_play_transfer_of(const struct pp_play *play, int32_t message, int step);
/* Returns a collective of a step. */
struct pp_play_meeting *pp_play_meeting_of(const struct pp_play *play, int step,
                                           int32_t collective);
/* Returns `count` meetings for each step, of all ranks. */
struct pp_play_meeting *pp_play_meetings(const struct pp_play *play, int count);
/* Makes the queues and the collectives of a cut program whose periods are all played. */
void pp_play_make_queues(struct pp_play *play);
/* Takes a rank to the begin of its list. */
void pp_play_begin(const struct pp_play *play, struct pp_seat *seat);
/* Goes on at the end of a part of a list: with a period that is left out, or with the next part. A
 * rank continues with the next step once nothing holds it in this one. False at the end. */
bool pp_play_go_on(const struct pp_play *play, struct pp_seat *seat);
/* Plays what is queued on a rank's reduce stream. */
void pp_play_turns(struct pp_play *play, struct pp_seat *seat);
/* Plays a rank up to the first WAIT for an event that is not over. */
void pp_play_rank(struct pp_play *play, struct pp_seat *seat);
