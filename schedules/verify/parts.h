/* schedules/verify/parts.h — the checks, and texts of their messages. */
#pragma once

#include "schedules/verify/order.h"
#include "schedules/verify/verify.h"

/* The checks after pp_verify_units(); verify.c runs them, and each builds on the earlier ones. */
enum pp_status pp_verify_sync(struct pp_verify *v);    /* U, gradient collectives, BAR */
enum pp_status pp_verify_gathers(struct pp_verify *v); /* sharded state: AG, RS, DROP of visits */
enum pp_status pp_verify_grads(struct pp_verify *v);   /* MOVE.part and MOVE.sum of gradients */
enum pp_status pp_verify_moves(struct pp_verify *v);   /* saved activations: COPY, Q, DQ */
enum pp_status pp_verify_kv(struct pp_verify *v);      /* keys and values: COPY */
enum pp_status pp_verify_state_moves(struct pp_verify *v); /* memory tiers of state: MOVE, U */
enum pp_status pp_verify_comm(struct pp_verify *v);  /* messages and WAITs; fills AT_SEND_F.. */
enum pp_status pp_verify_waits(struct pp_verify *v); /* lowered: each collective has a WAIT */
enum pp_status pp_verify_order(struct pp_verify *v); /* lowered: data is there when an op starts */
enum pp_status pp_verify_slots(struct pp_verify *v); /* no buffer slot overwritten while in use */
enum pp_status pp_verify_run(struct pp_verify *v);   /* no deadlock */

/* All texts are in the arena of `v`. */
const char *pp_verify_name(const struct pp_program *p);
/* Returns the cell of instruction i. */
const char *pp_verify_text(const struct pp_verify *v, int i);
/* Returns a cell that the program lacks. */
const char *pp_verify_unit_text(const struct pp_verify *v, int kind, int64_t unit);
/* Returns "rank 1 line 2 col 4" or "rank 1 op 4". */
const char *pp_verify_place(const struct pp_verify *v, int i);
/* Sets PP_EPROGRAM: the place and the message, then the grid with instruction `mark` marked. The
 * place is `file:line:column: rank r` or `name: rank r op k`. _rank is for faults without an
 * instruction; the place is `name: rank r`. */
enum pp_status pp_verify_fail(struct pp_verify *v, int mark, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
enum pp_status pp_verify_fail_rank(struct pp_verify *v, int rank, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* pp_verify_fail() with the cell of instruction i before the message. */
enum pp_status pp_verify_refuse(struct pp_verify *v, int i, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Fails: instruction i `uses` what `post` `brings`, but no WAIT for `post` is before i. */
enum pp_status pp_verify_fail_unwaited(struct pp_verify *v, int i, const char *uses, int post,
                                       const char *brings);
enum pp_status pp_verify_fail_twice(struct pp_verify *v, int first, int second);
/* Fails: instruction i is before `needed`, which it needs. */
enum pp_status pp_verify_fail_before(struct pp_verify *v, int i, int needed);
/* Fails: the stage of instruction i is on another rank. */
enum pp_status pp_verify_fail_elsewhere(struct pp_verify *v, int i);
/* Appends the grid with the cell of `rank` at `position` marked; position -1: only the rank. */
enum pp_status pp_verify_add_grid(struct pp_verify *v, int rank, int position);
/* Returns the line "  fix: move A before B on rank r". */
const char *pp_verify_fix(struct pp_verify *v, int needed, int before);
