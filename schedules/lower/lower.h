/* schedules/lower/lower.h — passes that turn a compute-only program into a complete one.
 *
 * Order: schedule -> recompute -> in place (a check) -> gathers -> moves -> kv -> send/recv -> late
 * -> sync -> optimizer and clip -> grads -> state moves -> slots. Each pass is from lists to lists;
 * none depends on a schedule. */
#pragma once

#include "core/cost/recompute.h"
#include "core/cost/state.h"
#include "schedules/program/program.h"

/* Time at which a RECV is posted.
 *
 *   early    as soon as a slot of its channel is free
 *   jit      right before its WAIT
 *   batched  with all messages of a rank between two ops; the batch ends before the next op
 *   sender   at the receiver's place when the sender sends (PyTorch) */
enum pp_post { PP_POST_EARLY, PP_POST_JIT, PP_POST_BATCHED, PP_POST_SENDER };
enum pp_grad_sync { PP_SYNC_END, PP_SYNC_EAGER, PP_SYNC_EAGER_OPT };
extern const char *const pp_post_names[], *const pp_grad_sync_names[]; /* NULL-terminated */

struct pp_lower_options {
    enum pp_post post;
    int recv_slots; /* R per channel, 0 = unlimited (unit mode) */
    enum pp_grad_sync grad_sync;
    bool has_sync; /* a stage has copies (dp * cp * pipelines > 1): insert gradient collectives */
    bool has_optimizer; /* insert U (not in unit mode, not for infer) */
    bool has_clip;      /* all ranks meet before the first U, to know the norm of all gradients */
    /* Shards and tier of each class; all zero: whole, on the device. Gathers run (buffers - 1)
     * units ahead. With one buffer no scatter runs concurrently with compute. */
    struct pp_state_spec state;
    const int *units;   /* [stage]: units in which parameters are gathered or loaded, from first
                         * layer of a chunk to last; NULL = all 1 */
    const int *buckets; /* [stage]: buckets of its sum, 1 to PP_MAX_BUCKETS; NULL = all 1 */
    int update_every;   /* asynchronous: micro-batches of a chunk between two of its sums and
                         * updates. 0 = once, at the end */
    bool has_tied;    /* embedding and head share weights on different ranks: insert the tied AR */
    bool joins_tied;  /* also on one rank, whose copies have different shares of both */
    bool ties_at_bar; /* weights shared on one rank: without such a sum it is made at the BAR */
    const double
        *recompute_frac; /* [stage]; > 0: insert R before the stage's backward; NULL = none */
    struct pp_again_words again; /* when R runs, and where it is left out */
    /* Parameters from another tier are updated whole, in the buffers that loads have. An update
     * without fp32 copies reads them, so that they are loaded for it. */
    bool has_whole_updates, reads_params;
    bool no_slots; /* no buffers: pp_lower_slots() assigns them later, or the program is never
                    * run for real, printed or verified */
};

struct pp_lowering {
    struct pp_arena *arena;             /* memory of the lists and passes */
    const struct pp_program_head *head; /* head before the first pass */
    const struct pp_lower_options *options;
    struct pp_orders *lists;
    struct pp_error *err;
};
/* One pass: edits the lists in place. */
typedef enum pp_status pp_lower_pass(const struct pp_lowering *l);
pp_lower_pass pp_lower_recompute, pp_lower_in_place, pp_lower_late, pp_lower_gathers,
    pp_lower_moves, pp_lower_kv, pp_lower_sendrecv, pp_lower_updates, pp_lower_sync, pp_lower_tied,
    pp_lower_optimizer, pp_lower_clip, pp_lower_grads, pp_lower_state_moves;
/* Assigns the slots of a lowered program, unless it has any. */
void pp_lower_slots(struct pp_program *p);

/* Returns the state of the program after the gathers pass, from the options. If the lists have
 * gathers and scatters of their own, it is the head's. Call it before the passes; uses `arena`. */
struct pp_program_state pp_lower_state(struct pp_arena *arena, const struct pp_program_head *head,
                                       const struct pp_lower_options *options,
                                       const struct pp_orders *lists);

static inline int pp_lower_units(const struct pp_lower_options *options, int stage)
{
    return options->units && options->units[stage] > 1 ? options->units[stage] : 1;
}
/* Returns the buckets of a stage's sum, as in fields of a collective: 0 = not cut. */
static inline int pp_lower_buckets(const struct pp_lower_options *options, int stage)
{
    return options->buckets && options->buckets[stage] > 1 ? options->buckets[stage] : 0;
}

/* Add the WAITs for MOVE.home to a list that has these: at the end, or where an update needs the
 * buffer; and loads for updates. PP_EINVAL: updates that gathers follow need more buffers, since no
 * gather comes before the last update. */
struct pp_inserts;
void pp_lower_homes(const struct pp_lowering *l, int rank, struct pp_inserts *inserts);
enum pp_status pp_lower_check_homes(const struct pp_lowering *l);

/* Is true if parameters are loaded for updates, which the device runs, or some of them. */
static inline bool pp_lower_loads_updates(const struct pp_lower_options *options)
{
    return options->has_whole_updates && options->reads_params &&
           pp_state_moves(&options->state, PP_FOR_HOME) &&
           !(options->state.is_cpu_update &&
             pp_state_moved(&options->state, PP_STATE_OPTIMIZER) >= 1);
}

/* Is true if partial sums of gradients on another tier may have to come up before a visit. Then its
 * scatter is over when the next visit begins. */
static inline bool pp_lower_brings_sums(const struct pp_lower_options *options)
{
    const struct pp_state_spec *state = &options->state;
    const bool is_summed_whole =
        options->has_tied ||
        (options->has_sync && (!pp_state_has_parts(state) || pp_state_has_rest(state)));

    return pp_state_is_away(state, PP_STATE_GRADS) &&
           (state->is_summed_on_device || is_summed_whole);
}

/* Runs all passes in order, freezes, then assigns slots. A program that is already lowered only
 * gets the parts that it lacks (sync, U and slots). */
enum pp_status pp_lower(struct pp_arena *arena, const struct pp_program *compute,
                        const struct pp_lower_options *options, struct pp_program **lowered,
                        struct pp_error *err);
/* Returns the program with buffers, if it was lowered without them (`no_slots`). It shares all
 * other data and the forms. */
struct pp_program *pp_lower_complete(struct pp_arena *arena, const struct pp_program *lowered);
/* pp_lower() for lists and head of a compute-only program. The lists are consumed. */
enum pp_status pp_lower_lists(struct pp_arena *arena, const struct pp_program_head *compute,
                              const struct pp_lower_options *options, struct pp_orders *lists,
                              struct pp_program **lowered, struct pp_error *err);

/* Class of the slot that an instruction carries: see slots.c. */
enum pp_slot_class {
    PP_SLOT_KEPT,  /* F, where R fills `saved` again; COPY.up of it */
    PP_SLOT_SAVED, /* F, and COPY.up of it, kept and saved; or R, saved alone */
    PP_SLOT_RECV_F,
    PP_SLOT_RECV_B,
    PP_SLOT_SEND_F,
    PP_SLOT_SEND_B,
    PP_SLOT_CLASSES
};
/* Returns [instructions]: the class of each one's slot; -1 if it carries none. */
int8_t *pp_slot_classes(struct pp_arena *arena, const struct pp_program *program);
