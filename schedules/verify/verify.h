/* schedules/verify/verify.h — proves that a program is legal without deadlock, or says why not. */
#pragma once

#include "schedules/program/program.h"

struct pp_verify_options {
    int max_activations; /* memory bound in chunk activations per rank, 0 = none */
};

/* Checks, in this order:
 *
 *   each (stage, micro-batch, split) has F once, and in train mode either B once or I and W once,
 *   on one rank per pipeline; F before B/I, I before W on that rank; backward splits in reverse;
 *   weight versions of F and B agree;
 *   data dependencies are met: on the same rank by order, across ranks by SEND, RECV and WAIT (a
 *   compute-only program: by the dependency itself);
 *   per channel the send order equals the receive order;
 *   no buffer slot is overwritten while in use; all ops with a buffer name one, or none does;
 *   every posted op is waited for at most once, a collective exactly once;
 *   synchronous programs: gradient collectives after the last backward of their chunk, U after the
 *   WAITs for its sums, both for all chunks or none; AG after U where RS has left shares to it;
 *   equal numbers of BARs on all ranks;
 *   activations moved to another memory tier, or quantised by Q, are restored when they are used;
 *   MOVEs bring an update its inputs;
 *   no cycle over {program order, channel order, rendezvous, WAIT, collectives, slot reuse};
 *   the memory bound.
 *
 * The machine is the strictest one: rendezvous, channels and reduce streams in order. Linear time.
 * Failure is PP_EPROGRAM: the first line names the fault, with rank and op (and file line:column if
 * known). A deadlock adds its cycle, one line "rank r waits for …" each, and the marked grid. */
enum pp_status pp_verify(const struct pp_program *program, const struct pp_verify_options *options,
                         struct pp_error *err);
