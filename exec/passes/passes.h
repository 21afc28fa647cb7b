/* exec/passes/passes.h — what a machine does for a generating program: it binds the Fs, hands ids
 * to the first stage and takes tokens from the last. */
#pragma once

#include "exec/worker/worker.h"

/* bind.c: binds all Fs. PP_EFAIL: the device has no memory. */
enum pp_status pp_bind_passes(struct pp_machine *m, struct pp_error *err);

/* tokens.c: bytes of a report of tokens: ids, then hashes if they are wanted. */
size_t pp_tokens_bytes(const struct pp_machine *m, const struct pp_made *made);
/* Notes tokens that a worker has made, of this process or another one. False: an id is no word. */
bool pp_tokens_take(struct pp_machine *m, const struct pp_made *made, const char *report);
/* Work before a call, on a pp_fed, and after one of its works, on a pp_made. */
void pp_tokens_feed(const struct pp_kernels *k, void *stream, void *fed);
void pp_tokens_make(const struct pp_kernels *k, void *stream, void *made);
/* Hash of the logits of one token: [words]. */
uint64_t pp_hash_of_logits(const double *logits, int words);

/* conduct.c, without effect in training: places tokens in memory that all workers see. */
void pp_tokens_place(struct pp_machine *m);
/* Begins a run: no token is there. */
void pp_tokens_begin(struct pp_machine *m);
/* Hands tokens on until all are there, or will not come. */
void pp_tokens_conduct(struct pp_machine *m);

/* cache.c: bytes of a worker's caches that were written; 0 = unknown. */
size_t pp_cache_touched(const struct pp_machine *m, const struct pp_worker *w);
