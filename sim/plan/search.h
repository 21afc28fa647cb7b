/* sim/plan/search.h — pipesim plan with free layouts. Screens every combination of degrees,
 * schedule, micro-batch, recomputation and ZeRO stage by bounds, and simulates the promising ones.
 *
 * A point is a frame (degrees and micro-batch), a recomputation, a ZeRO stage and an order (a
 * schedule with its chunks). Points are numbered. Flat arrays hold their status and bounds; nothing
 * else is kept of points that are only screened. */
#pragma once

#include "core/text/progress.h"
#include "schedules/order/bound.h"
#include "sim/config/config.h"
#include "sim/fit/fit.h"
#include "sim/resolve/resolve.h"
#include "sim/resolve/tier_choice.h"

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
/* Axis that may be left free, alphabetical; `settled_by`: options that fix it. */
struct pp_search_knob {
    const char *name;
    const char *const *settled_by;
};
extern const struct pp_search_knob pp_search_knobs[PP_SEARCH_AXES];

/* Schedule with a number of chunks per rank; `base` is a run without degrees, batch and state. */
struct pp_search_order {
    struct pp_config base;
    int vp; /* 0 = the schedule's own */
};

/* Legality and bounds of an order at one pp and number of micro-batches. */
struct pp_search_rule {
    bool is_there; /* false: chunks not worth a trial, or no pipeline to schedule */
    bool is_legal; /* accepted by the schedule */
    int stages;
    struct pp_bound_rule bound;
};

enum { PP_SEARCH_VALUES = 128 };
struct pp_search_values {
    int list[PP_SEARCH_VALUES];
    int count;
};

struct pp_search_frame {
    int tp, cp, pp, dp, ep, mbs;
    int tiers;         /* index of its choice of tiers; frames that differ in it alone follow one
                        * another */
    int micro_batches; /* 0 if the batch is no multiple of dp * mbs */
    int64_t gbs;
    const struct pp_search_rule *rules;    /* [order]; NULL without micro-batches */
    const struct pp_search_values *levels; /* recomputations, pp_search_again_value() */
    const double *least_frac; /* [level]: see pp_recompute_level; NULL without levels */
};

/* Factors on the cluster's figures, for another machine; 0 = 1. */
struct pp_search_scale {
    double network, node; /* bandwidth between nodes, inside of one */
    double memory, peak;  /* of a device: bytes, FLOP/s */
};

enum { PP_SEARCH_AS_GIVEN = -1 }; /* ZeRO stage: as --shard gives it */

/* Recomputation, as a value of its axis. */
struct pp_search_again {
    enum pp_recompute recompute;
    unsigned modules; /* for PP_RECOMPUTE_SELECTIVE: bits of enum pp_again; 0 = the framework's */
};
static inline int pp_search_again_value(struct pp_search_again again)
{
    return (int)again.recompute | (int)(again.modules << 8);
}
static inline struct pp_search_again pp_search_again(int value)
{
    return (struct pp_search_again){(enum pp_recompute)(value & 255), (unsigned)value >> 8};
}
struct pp_search_space;
/* Prints a value of the axis as --recompute takes it, without the R of stage-aware. Returns `text`.
 */
const char *pp_search_again_text(const struct pp_search_space *s, struct pp_search_again again,
                                 char text[PP_RECOMPUTE_TEXT_BYTES]);
struct pp_search_space {
    const struct pp_wish *wish;
    const struct pp_tool *tool; /* software that shall run the layouts; NULL: the framework's */
    struct pp_search_scale scale;
    struct pp_config fixed; /* what all layouts share */
    bool is_free[PP_SEARCH_AXES], is_tier_free[PP_TIER_KNOBS];
    struct pp_tier_choices tiers;                 /* one, if no knob of them is free */
    struct pp_search_values axis[PP_SEARCH_AXES]; /* candidates, ascending; SCHEDULE: unused */
    bool has_levels; /* of recomputation: each frame has its own, and a layout stands once for each
                      * amount of room; the axis is unused */
    int level_count; /* the most of a frame */
    const struct pp_search_space *same_levels; /* frames have the levels of this space; or NULL */
    int gpus, dp;                              /* dp: 0 = not given */
    int64_t gbs;                               /* 0 = set by --micro-batches */
    int fixed_n;                               /* --micro-batches; 0 = not given */
    bool is_gbs_chosen;
    struct pp_search_order *orders;
    int order_count, order_capacity;
    struct pp_search_frame *frames;
    int frame_count, frame_capacity;
    int64_t points; /* range of numbers; some have no point */
};

static inline bool pp_search_is_power(int n)
{
    return (n & (n - 1)) == 0;
}
/* Embedding and head may fill a stage each. */
static inline int pp_search_most_stages(const struct pp_search_space *s)
{
    return s->fixed.model.layers + (s->fixed.costs.head == PP_HEAD_COUNTED ? 2 : 0);
}
static inline void pp_search_add_value(struct pp_search_values *values, int value)
{
    if (values->count < PP_SEARCH_VALUES)
        values->list[values->count++] = value;
}
/* Makes the frames from the axes and orders; a part of pp_search_fill(). */
enum pp_status pp_search_fill_frames(struct pp_arena *arena, struct pp_search_space *s,
                                     struct pp_error *err);

static inline bool pp_search_has_tiers(const struct pp_search_space *s)
{
    bool has = false;

    for (int k = 0; k < PP_TIER_KNOBS; k++)
        has |= s->is_tier_free[k];
    return has;
}
/* Frees the axes of --free; without it, every axis but `modules` that no option settles. PP_EINVAL
 * for unknown names, and for an option that contradicts --free. */
enum pp_status pp_search_free(const struct pp_wish *wish, struct pp_search_space *space,
                              struct pp_error *err);
/* Fills all but orders and frames. The caller may then replace candidates of the axes. */
enum pp_status pp_search_begin(struct pp_arena *arena, const struct pp_wish *wish,
                               struct pp_search_space *space, struct pp_error *err);
/* Makes orders and frames from the axes. */
enum pp_status pp_search_fill(struct pp_arena *arena, struct pp_search_space *space,
                              struct pp_error *err);
/* Calls pp_search_begin() and pp_search_fill(). PP_EINVAL for options that suit no layout. */
enum pp_status pp_search_open(struct pp_arena *arena, const struct pp_wish *wish,
                              struct pp_search_space *space, struct pp_error *err);

struct pp_search_point {
    const struct pp_search_frame *frame;
    const struct pp_search_order *order;
    const struct pp_search_rule *rule; /* NULL without micro-batches */
    struct pp_search_again again;
    int zero;
};
struct pp_search_point pp_search_point(const struct pp_search_space *space, int64_t k);
/* Returns the level of recomputation of point k, and the number of the point at another level. */
int pp_search_level(const struct pp_search_space *space, int64_t k);
int64_t pp_search_at_level(const struct pp_search_space *space, int64_t k, int level);
/* Makes the configuration of point k, as its command line does. Shares and caches may be left to
 * `auto`. PP_EINVAL: why it is illegal. */
enum pp_status pp_search_open_config(struct pp_arena *arena, const struct pp_search_space *space,
                                     int64_t k, struct pp_config *config, struct pp_error *err);
/* Finds them. `prepared` has programs, most_bytes or is {0}; it keeps the work. Its program is NULL
 * if the point needs more than most_bytes for certain. */
enum pp_status pp_search_settle(struct pp_arena *arena, struct pp_config *config,
                                struct pp_prepared *prepared, struct pp_error *err);
/* Does both. */
enum pp_status pp_search_config(struct pp_arena *arena, const struct pp_search_space *space,
                                int64_t k, struct pp_config *config, struct pp_error *err);

/* Simulates point k. */
enum pp_status pp_search_try(struct pp_arena *arena, const struct pp_search_space *space, int64_t k,
                             enum pp_depth depth, struct pp_outcome *outcome, struct pp_error *err);

/* ---- screening ------------------------------------------------------------------------------- */

enum pp_search_status {
    PP_SEARCH_ABSENT,    /* a number without a point */
    PP_SEARCH_BATCH,     /* illegal: the batch is no multiple of dp * mbs */
    PP_SEARCH_SHAPE,     /* illegal: the schedule refuses it */
    PP_SEARCH_REFUSED,   /* illegal for another reason */
    PP_SEARCH_LOST,      /* not known: two workers ended at it, see pp_search_loss */
    PP_SEARCH_NO_ROOM,   /* the bound of its memory exceeds a device's */
    PP_SEARCH_MILDER,    /* the same layout has as much room at a milder level of recomputation */
    PP_SEARCH_OPEN,      /* screened only: bound above the best, or not tried */
    PP_SEARCH_TOO_LARGE, /* simulated: does not fit */
    PP_SEARCH_FITS,      /* simulated: fits */
    PP_SEARCH_STATUSES
};
extern const char *const pp_search_status_names[PP_SEARCH_STATUSES];

/* Status and bounds of all points, [point]. */
struct pp_search_board {
    uint8_t *status;
    float *bound_s; /* of a step, per sample */
    float *bound_bytes;
    bool *is_own; /* needs no pp_search_bounds() any more: bounds are from the point's own costs. Or
                   * that of its layout's first level exceeds the longest step worth a trial. */
    struct pp_search_screener *screener;
};
/* Fills the board from closed forms; with `is_exhaustive` no point is PP_SEARCH_NO_ROOM. Later
 * levels of recomputation have rough bounds, those of the first level without its activations,
 * until pp_search_refine(). */
enum pp_status pp_search_screen(struct pp_arena *arena, const struct pp_search_space *space,
                                bool is_exhaustive, struct pp_search_board *board,
                                struct pp_error *err);
/* Gives all points with the frame and the level of point k their own bounds. False if they have
 * them. */
bool pp_search_refine(struct pp_search_board *board, int64_t k);
/* Bounds from a configuration's own costs: tighter than those of the board, and slower. */
struct pp_search_bounds {
    double step_s, peak_bytes;
};
enum pp_status pp_search_bounds(struct pp_arena *arena, const struct pp_config *config,
                                struct pp_search_bounds *bounds, struct pp_error *err);

/* ---- the search ------------------------------------------------------------------------------ */

struct pp_search_row {
    int64_t point;
    enum pp_search_status status;
    struct pp_outcome outcome;   /* by dag; for the rows at the top by the run's engine */
    double dag_s;                /* the step by dag */
    double bound_s;              /* tight bound of a step, per sample */
    double rank_s;               /* order of the rows, see pp_search_rank_s() */
    bool is_simulated;           /* by the run's engine */
    bool is_tie;                 /* its step is within margin_frac of the shortest */
    struct pp_search_row *twins; /* of the same step and peak: they differ in no figure */
    int twin_count;
};

/* Layout that was published for a model. */
struct pp_search_recipe {
    const char *model, *source, *device;
    int gpus, tp, pp, cp, ep, vp, mbs; /* vp: 0 = the schedule's own */
    const char *schedule;
    const char *preset; /* with the other options of the run; NULL = none */
    enum pp_precision precision;
    int gbs;                             /* 0 = not stated */
    const char *id;                      /* row of tests/published */
    double step_s, tokens_per_s_per_gpu; /* published; 0 = not stated */
};
enum { PP_SEARCH_PUBLISHED = 3 };
struct pp_search_published {
    const struct pp_search_recipe *recipe;
    int64_t point;      /* -1: not in the space, illegal, or simulated as its preset */
    int64_t preset_gbs; /* simulated with all options of its preset, at this batch; 0 = not */
    struct pp_outcome outcome; /* by dag */
};

/* Layout that needs least memory, if nothing fits, and what would. */
struct pp_search_nearest {
    int64_t point;                   /* -1 = none */
    struct pp_outcome outcome;       /* memory only */
    const struct pp_parsed *command; /* of its run */
    struct pp_relief *reliefs;       /* flags of that command with which it fits */
    int count, capacity;
};

/* A point that two workers in turn did not survive. The answer does without it, and says so. */
struct pp_search_loss {
    int64_t point;
    const char *why; /* "two workers ended by signal 9 (Killed; out of memory?)" */
};

struct pp_search {
    struct pp_search_space space;
    struct pp_search_board board;
    bool is_exhaustive; /* nothing is pruned */
    int jobs;           /* 0 = one for each core */
    int top;            /* number of rows that the run's engine simulates */
    double margin_frac; /* points within this share of the best are kept */
    struct pp_progress progress;
    int64_t worked; /* points bounded or tried so far, for the progress */
    /* result */
    struct pp_search_row *rows; /* fitting points that were simulated, without twins, best first */
    int count, capacity;
    int ties;   /* number of rows that are ties */
    int safest; /* the tie with most memory left; if none has room, the fastest row that has */
    int64_t counts[PP_SEARCH_STATUSES];
    int64_t examples[PP_SEARCH_STATUSES]; /* the first point of each; -1 = none */
    struct pp_search_nearest nearest;     /* if nothing fits */
    struct pp_search_loss *losses;        /* of all phases of the search */
    int loss_count, loss_capacity;
    double wall_s;
    struct pp_search_flip *flips; /* [pp_search_what_ifs] */
    struct pp_search_published published[PP_SEARCH_PUBLISHED];
    int published_count;
};

/* ---- sim/plan/rounds.c ----------------------------------------------------------------------- */

/* A search for the best layout and its ties, or for the best one that has room. */
struct pp_search_hunt {
    struct pp_search *search;
    bool needs_room;
    double ceiling;       /* longest step worth a trial, seconds per sample */
    _Atomic double *best; /* seconds per sample; shared by the workers */
};
/* Simulates open points, and adds their rows, until no bound is near the best. */
enum pp_status pp_search_hunt(struct pp_arena *arena, struct pp_search_hunt *hunt,
                              struct pp_error *err);

/* ---- other machines: sim/plan/what_if.c ------------------------------------------------------ */
struct pp_search_what_if {
    const char *name; /* "network x 0.5" */
    struct pp_search_scale scale;
};
enum { PP_SEARCH_WHAT_IFS = 8 };
extern const struct pp_search_what_if pp_search_what_ifs[PP_SEARCH_WHAT_IFS];
/* Winner of the rows at the top on another machine. */
struct pp_search_flip {
    bool is_known;       /* false: the cluster lacks the part, or nothing fits */
    int winner;          /* index of a row */
    bool fits, is_tight; /* the best row still fits; it has no room */
    double slower_frac;  /* by which the best row is slower than the winner */
};
/* Simulates the first rows again on each other machine, into search->flips. */
enum pp_status pp_search_flip(struct pp_arena *arena, struct pp_search *search,
                              struct pp_error *err);

/* ---- sim/plan/recipes.c ---------------------------------------------------------------------- */
/* Fills search->published with recipes for this model, those of its device first. */
void pp_search_recipes(struct pp_search *search);

/* Screens, simulates by bounds, ranks, fills flips and recipes. `jobs` changes no result. */
enum pp_status pp_search_run(struct pp_arena *arena, struct pp_search *search,
                             struct pp_error *err);
/* Notes a point as lost, once: how its second worker ended. */
void pp_search_lose(struct pp_arena *arena, struct pp_search *search, int64_t point,
                    const char *death);
/* Largest step, over the fastest, of a layout with room that is looked for if no tie has room. */
#define PP_SEARCH_REACH_FRAC 0.25

/* ---- sim/plan/rows.c: the rows at the top by the run's own engine, ties, the safest ---------- */
enum pp_status pp_search_finish(struct pp_arena *arena, struct pp_search *search,
                                struct pp_error *err);
/* Is true if the memory margin stays free, and the allocator need not give blocks back. */
bool pp_search_has_room(const struct pp_outcome *outcome);
/* Seconds per sample by which outcomes are ranked. A row without room stands before one with room
 * only if it is faster by more than margin_frac. */
double pp_search_rank_s(const struct pp_search *search, const struct pp_outcome *outcome);

/* ---- sim/plan/twins.c ------------------------------------------------------------------------ */
/* Orders rows by rank, then by time, memory, and simplicity: fewest of cp, tp, mbs. */
void pp_search_rank(const struct pp_search *search, struct pp_search_row *rows, int count);
/* Keeps the simplest of ranked rows with the same step and peak; the others are its twins. */
void pp_search_fold(struct pp_arena *arena, struct pp_search *search);

/* ---- sim/plan/nearest.c ---------------------------------------------------------------------- */
/* Fills search->nearest. */
void pp_search_find_nearest(struct pp_arena *arena, struct pp_search *search);

/* ---- reports --------------------------------------------------------------------------------- */

enum { PP_SEARCH_WIDTH = 80, PP_SEARCH_INDENT = 13 }; /* columns; before the text of a paragraph */
/* Number of layouts as text, "42,832". */
const char *pp_search_count_text(struct pp_arena *arena, int64_t count);
/* Paragraphs of the report, by the files of their subjects. A paragraph without a text is left out.
 * The first `shown` rows stand in the table. */
void pp_search_print_twins(struct pp_arena *arena, const struct pp_search *search, int shown,
                           FILE *out);
void pp_search_print_flips(struct pp_arena *arena, const struct pp_search *search, FILE *out);
void pp_search_print_published(struct pp_arena *arena, const struct pp_search *search, FILE *out);
void pp_search_print_nearest(struct pp_arena *arena, const struct pp_search *search, FILE *out);
void pp_search_print_illegal(struct pp_arena *arena, const struct pp_search *search, FILE *out);
/* Prints the paragraphs of the report alone, for `rows` shown rows. */
void pp_search_print_facts(struct pp_arena *arena, const struct pp_search *search, int rows,
                           FILE *out);
void pp_search_print(struct pp_arena *arena, const struct pp_search *search, int rows, FILE *out);
void pp_search_json(struct pp_arena *arena, const struct pp_search *search, FILE *out);
void pp_search_csv(struct pp_arena *arena, const struct pp_search *search, FILE *out);
/* Returns the command of a run of this point: the options given, and values of the free axes. */
const struct pp_parsed *pp_search_command(struct pp_arena *arena,
                                          const struct pp_search_space *space, int64_t point);
