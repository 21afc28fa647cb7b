/* sim/engine/express.h — transfers over shared links, with as little solving as possible.
 *
 * A transfer waits for its latency, then occupies all links of its wire at once. While it is
 * alone on them it needs no solver: it runs at the speed of its slowest link, so its end is
 * known. When another transfer needs one of these links, both become flows of a solver, until
 * their ends. The solver divides the links among its flows by max-min fairness. This is exact: a
 * transfer that is alone on its links neither limits others nor is limited by them.
 *
 * Time is int64 picoseconds. Events leave in the order of time, ends before begins, then by
 * wire. */
#pragma once

#include "core/arena.h"
#include "sim/engine/engine.h"
#include "sim/engine/state.h"
#include "sim/engine/wires.h"

/* Divides links among flows as time passes. */
struct pp_solver {
    void *context;
    /* Begins a flow of `bytes` on a wire at now_ps. Time never runs backwards. */
    void (*begin)(void *context, int wire, double bytes, int64_t now_ps);
    /* Advances to `until_ps`, or to the end of a flow if that is earlier. Returns the flow's wire,
     * with its end, or -1. Only called while there are flows. INT64_MAX: until one ends. */
    int (*advance)(void *context, int64_t until_ps, int64_t *end_ps);
    /* Adds all that decides the future, at now_ps; NULL: it cannot tell. */
    void (*note)(const void *context, int64_t now_ps, struct pp_network_state *state);
};

struct pp_express;

/* `is_plain`: every transfer becomes a flow, for checks of the shortcut. */
struct pp_express *pp_express_make(struct pp_arena *arena, const struct pp_wires *wires,
                                   bool is_plain);
/* At the latest after event PP_EXPRESS_SOLVER; many runs need none. */
void pp_express_set_solver(struct pp_express *e, const struct pp_solver *solver);
/* Starts a transfer at start_ps >= now. It occupies its links after the latency of its wire. */
void pp_express_start(struct pp_express *e, int wire, double bytes, int64_t start_ps);
/* Schedules an event of the caller, numbered from 0; replaces a pending one of the same number. */
void pp_express_call(struct pp_express *e, int number, int64_t at_ps);

/* The next event. */
struct pp_express_event {
    enum { PP_EXPRESS_NOTHING, PP_EXPRESS_END, PP_EXPRESS_CALL, PP_EXPRESS_SOLVER } kind;
    int wire; /* END: transfer of this wire has ended. CALL: the caller's number. SOLVER: two
                 transfers have met, and no solver is set */
    int64_t at_ps;
};
struct pp_express_event pp_express_next(struct pp_express *e);
/* Adds the state of all transfers. */
void pp_express_note(const struct pp_express *e, struct pp_network_state *state);
/* Fills the statistics, except `transfers` and those of a period. */
void pp_express_stats(const struct pp_express *e, struct pp_network_stats *stats);
