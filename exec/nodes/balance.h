/* exec/nodes/balance.h — private to exec/nodes and exec/stage: the loss of balance of experts.
 *
 * It depends on choices and probabilities of all mixtures of the model. Each F adds those of its
 * own to the sums of the stages before, which follow the activation. The stage with the head keeps
 * the sums of all, for its loss. Backwards return them after the gradient. */
#pragma once

#include "exec/nodes/call.h"

/* Bytes of the sums; 0 = the net has no such loss. */
size_t pp_balance_bytes(const struct pp_net *net);
/* F: takes the sums of the stages before. */
void pp_call_begin_balance(const struct pp_call *c);
/* I, B: gives the sums of all mixtures to the stage before. */
void pp_call_return_balance(const struct pp_call *c);
/* ROUTE: F adds this mixture to the sums. I makes the gradient of its logits before that of the
 * gates replaces them, and adds it then. */
void pp_call_add_balance(const struct pp_call *c, const struct pp_stage_node *n,
                         const struct pp_routing *r);
void pp_call_make_balance_grad(const struct pp_call *c, const struct pp_stage_node *n);
void pp_call_add_balance_grad(const struct pp_call *c, const struct pp_stage_node *n);
/* LOSS: adds the loss of balance to that of each token. */
void pp_call_add_balance_loss(const struct pp_call *c);
