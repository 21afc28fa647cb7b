/* sim/plan/search.h — pipesim plan where layouts are free: every combination of degrees, schedule,
 * micro-batch, recomputation and ZeRO stage, screened by bounds, the promising ones simulated.
 *
 * A point is a frame (degrees and micro-batch), a recomputation, a ZeRO stage and an order (a
 * schedule with its chunks). Points are numbered, and flat arrays say what became of each; nothing
 * else is kept of those that are only screened. */
#pragma once

#include "core/text/progress.h"
#include "schedules/order/bound.h"
#include "sim/config/config.h"
#include "sim/resolve/resolve.h"

/* ---- the space ------------------------------------------------------------------------------- */

enum pp_search_axis {
    PP_SEARCH_CP,
    PP_SEARCH_EP,
    PP_SEARCH_MBS,
    PP_SEARCH_MODULES,
    PP_SEARCH_PP,
    PP_SEARCH_RECOMPUTE,
    PP_SEARCH_SCHEDULE,
    PP_SEARCH_TP,
    PP_SEARCH_VP,
    PP_SEARCH_ZERO,
    PP_SEARCH_AXES
};
/* Something that may be left free, alphabetical; `settled_by`: options that leave nothing free. */
struct pp_search_knob {
    const char *name;
    const char *const *settled_by;
};
extern const struct pp_search_knob pp_search_knobs[PP_SEARCH_AXES];

/* A schedule with so many chunks a rank: the run without degrees, batch and state. */
struct pp_search_order {
    struct pp_config base;
    int vp; /* 0 = the schedule's own */
};

/* What an order is at one pp and N: legal or not, and its bounds. */
struct pp_search_rule {
    bool is_there; /* in the space at all: chunks worth a trial, a pipeline to schedule */
    bool is_legal; /* accepted by the schedule */
    int stages;
    struct pp_bound_rule bound;
};

struct pp_search_frame {
    int tp, cp, pp, dp, ep, mbs;
    int micro_batches; /* 0: the batch is no multiple of dp * mbs */
    int64_t gbs;
    const struct pp_search_rule *rules; /* [order]; NULL without micro-batches */
};

/* Another machine: factors of what the cluster has; 0 = 1. */
struct pp_search_scale {
    double network, node; /* bandwidth between nodes, inside of one */
    double memory, peak;  /* of a device: bytes, FLOP/s */
};
enum { PP_SEARCH_VALUES = 128 };
struct pp_search_values {
    int list[PP_SEARCH_VALUES];
    int count;
};

enum { PP_SEARCH_AS_GIVEN = -1 }; /* of a ZeRO stage: --shard says it */

/* What is computed again, as a value of its axis. */
struct pp_search_again {
    enum pp_recompute recompute;
    unsigned modules; /* PP_RECOMPUTE_SELECTIVE: of enum pp_again; 0: what the framework does */
};
static inline int pp_search_again_value(struct pp_search_again again)
{
    return (int)again.recompute | (int)(again.modules << 8);
}
static inline struct pp_search_again pp_search_again(int value)
{
    return (struct pp_search_again){(enum pp_recompute)(value & 255), (unsigned)value >> 8};
}
/* As --recompute takes it: "none", "selective=layernorm+mlp". */
enum { PP_SEARCH_AGAIN_BYTES = 64 };
const char *pp_search_again_text(struct pp_search_again again, char text[PP_SEARCH_AGAIN_BYTES]);
struct pp_search_space {
    const struct pp_wish *wish;
    struct pp_search_scale scale;
    struct pp_config fixed; /* all that no layout changes */
    bool is_free[PP_SEARCH_AXES];
    struct pp_search_values axis[PP_SEARCH_AXES]; /* candidates, ascending; SCHEDULE: unused */
    int gpus, dp;                                 /* dp: given, else 0 */
    int64_t gbs;                                  /* 0: by --micro-batches */
    int fixed_n;                                  /* --micro-batches, else 0 */
    bool is_gbs_chosen;
    struct pp_search_order *orders;
    int order_count, order_capacity;
    struct pp_search_frame *frames;
    int frame_count, frame_capacity;
    int64_t points; /* numbers of points: some are not in the space */
};

/* Knobs by --free, or all that no option settles. PP_EINVAL for unknown names, and for an option
 * that contradicts --free. */
enum pp_status pp_search_free(const struct pp_wish *wish, struct pp_search_space *space,
                              struct pp_error *err);
/* Everything but orders and frames: the axes have their candidates, which may be replaced. */
enum pp_status pp_search_begin(struct pp_arena *arena, const struct pp_wish *wish,
                               struct pp_search_space *space, struct pp_error *err);
/* Orders and frames from the axes. */
enum pp_status pp_search_fill(struct pp_arena *arena, struct pp_search_space *space,
                              struct pp_error *err);
/* Both. PP_EINVAL when the options make no sense whatever the layout. */
enum pp_status pp_search_open(struct pp_arena *arena, const struct pp_wish *wish,
                              struct pp_search_space *space, struct pp_error *err);

/* Coordinates of point k. */
struct pp_search_point {
    const struct pp_search_frame *frame;
    const struct pp_search_order *order;
    const struct pp_search_rule *rule; /* NULL without micro-batches */
    struct pp_search_again again;
    int zero;
};
struct pp_search_point pp_search_point(const struct pp_search_space *space, int64_t k);
/* The complete configuration of a point, as a run of its command line has it. PP_EINVAL: why it is
 * illegal. */
enum pp_status pp_search_config(struct pp_arena *arena, const struct pp_search_space *space,
                                int64_t k, struct pp_config *config, struct pp_error *err);

/* Simulate it. */
enum pp_status pp_search_try(struct pp_arena *arena, const struct pp_search_space *space, int64_t k,
                             enum pp_depth depth, struct pp_outcome *outcome, struct pp_error *err);

/* ---- screening ------------------------------------------------------------------------------- */

enum pp_search_status {
    PP_SEARCH_ABSENT,    /* a number without a point */
    PP_SEARCH_BATCH,     /* illegal: the batch is no multiple of dp * mbs */
    PP_SEARCH_SHAPE,     /* illegal: the schedule refuses it */
    PP_SEARCH_REFUSED,   /* illegal for another reason */
    PP_SEARCH_NO_ROOM,   /* its least memory is more than a device has */
    PP_SEARCH_OPEN,      /* screened only: its bound is above what was found, or it was not
                          * tried */
    PP_SEARCH_TOO_LARGE, /* simulated: does not fit */
    PP_SEARCH_FITS,      /* simulated: fits */
    PP_SEARCH_STATUSES
};
extern const char *const pp_search_status_names[PP_SEARCH_STATUSES];

/* What is known of every point, [point]. */
struct pp_search_board {
    uint8_t *status;
    float *bound_s; /* of a step, per sample */
    float *bound_bytes;
};
/* Fill the board from closed forms. With `is_exhaustive` nothing is called too large. */
enum pp_status pp_search_screen(struct pp_arena *arena, const struct pp_search_space *space,
                                bool is_exhaustive, struct pp_search_board *board,
                                struct pp_error *err);
/* The same bounds from a configuration's own costs: tighter, and slower. */
struct pp_search_bounds {
    double step_s, peak_bytes;
};
enum pp_status pp_search_bounds(struct pp_arena *arena, const struct pp_config *config,
                                struct pp_search_bounds *bounds, struct pp_error *err);

/* ---- the search ------------------------------------------------------------------------------ */

struct pp_search_row {
    int64_t point;
    enum pp_search_status status;
    struct pp_outcome outcome; /* by dag, then of the rows at the top by the run's engine */
    double dag_s;              /* the step by dag */
    double bound_s;            /* of a step, per sample, tight */
    bool is_simulated;         /* by the run's engine */
    bool is_tie;
};

/* A layout that was published for a model, and what it does here. */
struct pp_search_recipe {
    const char *model, *source, *device;
    int gpus, tp, pp, cp, ep, vp, mbs; /* vp: 0 = the schedule's own */
    const char *schedule;
};
enum { PP_SEARCH_PUBLISHED = 3 };
struct pp_search_published {
    const struct pp_search_recipe *recipe;
    int64_t point;             /* -1: not in the space, or illegal */
    struct pp_outcome outcome; /* by dag */
};

struct pp_search {
    struct pp_search_space space;
    struct pp_search_board board;
    bool is_exhaustive; /* nothing is pruned */
    int jobs;           /* 0 = one for each core */
    int top;            /* rows that the run's engine simulates in the end */
    double margin_frac; /* points so near the best survive */
    struct pp_progress progress;
    /* result */
    struct pp_search_row *rows; /* that fit and were simulated, best first */
    int count, capacity;
    int ties;   /* of them at the top */
    int safest; /* of the ties the one with most memory left */
    int64_t counts[PP_SEARCH_STATUSES];
    int64_t examples[PP_SEARCH_STATUSES]; /* the first point of each; -1 = none */
    double least_bytes;                   /* when nothing fits: what is needed at least; else 0 */
    int64_t least;                        /* of which point */
    double wall_s;
    struct pp_search_flip *flips; /* [pp_search_what_ifs] */
    struct pp_search_published published[PP_SEARCH_PUBLISHED];
    int published_count;
};

/* ---- other machines: sim/plan/what_if.c ---- */
struct pp_search_what_if {
    const char *name; /* "network x 0.5" */
    struct pp_search_scale scale;
};
enum { PP_SEARCH_WHAT_IFS = 8 };
extern const struct pp_search_what_if pp_search_what_ifs[PP_SEARCH_WHAT_IFS];
/* Which of the rows at the top would win there. */
struct pp_search_flip {
    bool is_known;      /* false: the cluster has no such thing, or nothing fits */
    int winner;         /* row */
    bool fits;          /* the best row still does */
    double slower_frac; /* how much slower the best row is than the winner */
};
/* Simulate the first rows again on each of the other machines, into search->flips. */
enum pp_status pp_search_flip(struct pp_arena *arena, struct pp_search *search,
                              struct pp_error *err);

/* ---- sim/plan/recipes.c ---- */
/* Fill search->published: recipes for this model, those of its device first. */
void pp_search_recipes(struct pp_search *search);

/* Everything: screens, simulates in order of bounds, ranks, looks at other machines and at what was
 * published. The result is the same whatever the number of jobs. */
enum pp_status pp_search_run(struct pp_arena *arena, struct pp_search *search,
                             struct pp_error *err);
/* ---- sim/plan/rows.c: the rows at the top by the run's own engine, ties, the safest ---- */
enum pp_status pp_search_finish(struct pp_search *search, struct pp_error *err);

/* ---- reports --------------------------------------------------------------------------------- */

void pp_search_print(struct pp_arena *arena, const struct pp_search *search, int rows, FILE *out);
void pp_search_json(struct pp_arena *arena, const struct pp_search *search, FILE *out);
void pp_search_csv(struct pp_arena *arena, const struct pp_search *search, FILE *out);
/* The command of a run that is this point: all that was said, and what was free. */
const char *pp_search_command(struct pp_arena *arena, const struct pp_search_space *space,
                              int64_t point);
