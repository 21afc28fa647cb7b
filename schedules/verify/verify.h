/* schedules/verify/verify.h — proves that a program is legal and cannot deadlock, or says why not.
 */
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
 *   no buffer slot is overwritten while in use; every posted op is waited for at most once;
 *   synchronous programs: gradient collectives after the last backward of their chunk, U after the
 *   WAITs for its sums, both for all chunks or none; as many BARs on every rank;
 *   what a copy has moved to another memory tier, or Q quantised, is back in full when it is used;
 *   an update has what MOVEs bring it;
 *   no cycle over {program order, channel order, rendezvous, WAIT, collectives, slot reuse};
 *   the memory bound.
 *
 * The machine is the strictest one: rendezvous, channels and reduce streams in order. Linear time.
 * Failure is PP_EPROGRAM: the first line says what failed, with rank and op (and file line:column
 * where known). For a deadlock the cycle follows, one line "rank r waits for …" each, and the grid
 * with the cell marked. */
enum pp_status pp_verify(const struct pp_program *program, const struct pp_verify_options *options,
                         struct pp_error *err);
