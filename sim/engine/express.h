/* sim/engine/express.h — transfers over shared links, with as little solving as possible.
 *
 * A transfer waits for its latency, then occupies all links of its wire at once. While it is alone
 * on them it needs no solver. It runs at the speed of its slowest link, so its end is known. When
 * another transfer needs one of these links, both become flows of a solver. The solver divides the
 * links among its flows by max-min fairness. A flow stays with the solver until its end. This is
 * exact, because a transfer that is alone on its links limits no other and is limited by none.
 *
 * Time is int64 picoseconds. Events leave in the order of time, ends before begins, then by wire.
 */
#pragma once

#include "core/arena.h"
#include "sim/engine/engine.h"
#include "sim/engine/wires.h"

/* Divides links among flows as time passes. */
struct pp_solver {
    void *context;
    /* A flow of `bytes` on a wire begins at now_ps. Time never runs backwards. */
    void (*begin)(void *context, int wire, double bytes, int64_t now_ps);
    /* Let time pass until `until_ps` or until a flow ends: the wire of that flow, with its end; -1
     * when none ends before. Only called while there are flows. until_ps = INT64_MAX: until one
     * ends. */
    int (*advance)(void *context, int64_t until_ps, int64_t *end_ps);
};

struct pp_express;

/* `is_plain`: every transfer becomes a flow, to check the shortcut against. */
struct pp_express *pp_express_make(struct pp_arena *arena, const struct pp_wires *wires,
                                   bool is_plain);
/* Give it a solver. Without one it goes as far as it can: many runs need none at all. */
void pp_express_solve(struct pp_express *e, const struct pp_solver *solver);
/* A transfer starts at start_ps (not before the event that was last taken): it occupies its links
 * after the latency of its wire. */
void pp_express_start(struct pp_express *e, int wire, double bytes, int64_t start_ps);
/* Schedules an event of the caller, with a number >= 0. It replaces a pending event of the same
 * number. */
void pp_express_call(struct pp_express *e, int number, int64_t at_ps);

/* What happens next. */
struct pp_express_event {
    enum { PP_EXPRESS_NOTHING, PP_EXPRESS_END, PP_EXPRESS_CALL, PP_EXPRESS_SOLVER } kind;
    int wire; /* END: transfer of this wire is over. CALL: the caller's number. SOLVER: two
               * transfers have met, and there is no solver yet */
    int64_t at_ps;
};
struct pp_express_event pp_express_next(struct pp_express *e);
/* transfers is not counted here. */
void pp_express_stats(const struct pp_express *e, struct pp_network_stats *stats);
