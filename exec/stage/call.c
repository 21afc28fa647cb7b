/* Calls of a stage: they walk the list of nodes, layer by layer. Where a group shares the work,
 * each call runs one segment of the walk: the nodes from one exchange to the next. */
#include "exec/nodes/balance.h"
#include "exec/stage/generate.h"
#include "exec/stage/graph.h"

#include <assert.h>

static struct pp_call begin(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w,
                            enum pp_call_pass pass)
{
    struct pp_call c = {.k = k,
                        .stream = stream,
                        .w = w,
                        .stage = w->stage,
                        .net = w->stage->net,
                        .g = w->stage->graph,
                        .base = {[PP_KEPT] = w->stage->kept_bytes > 0 ? w->kept[w->split] : NULL,
                                 [PP_SAVED] = w->stage->saved_bytes > 0 ? w->saved[w->split] : NULL,
                                 [PP_SCRATCH] = w->scratch,
                                 [PP_OUT] = w->out,
                                 [PP_GRAD_IN] = (char *)(uintptr_t)w->grad_in, /* only read */
                                 [PP_GRAD_OUT] = w->grad_out,
                                 [PP_IN] = (char *)(uintptr_t)w->in, /* likewise */
                                 [PP_LOGITS] = w->logits},
                        .pass = pass};

    pp_call_begin_probe(&c);
    return c;
}

/* ---- forward --------------------------------------------------------------------------------- */

/* Returns the parts of a node's rows that the group adds up one after the other. */
static int parts_of(const struct pp_call *c, const struct pp_stage_node *n, bool is_forward)
{
    const struct pp_stage_shape *shape = &c->stage->shape;
    const bool is_added = is_forward ? n->part != NULL && n->rule == PP_RULE_SUM &&
                                           (!c->is_again || pp_node_is_exchanged_again(c->g, n))
                                     : n->dx_part != NULL && !n->is_whole;

    return n->kind == &pp_node_linear && is_added && shape->tp_split > 1 &&
                   !shape->is_sequence_parallel
               ? shape->tp_split
               : 1;
}

static void forward_node(struct pp_call *c, const struct pp_stage_node *n, enum pp_layer_part part)
{
    c->parts = parts_of(c, n, true);
    for (c->part = 0; c->part < c->parts; c->part++) {
        if (pp_call_is_on(c))
            n->kind->forward(c, n);
        pp_call_end_forward(c, n, part);
    }
    c->part = c->parts = 0;
}

/* Layers that R leaves out take no time. */
static void forward_layers(struct pp_call *c)
{
    for (const struct pp_layer *l = c->g->layers; l < c->g->layers + c->g->layer_count; l++) {
        bool has_run = false;
        for (const struct pp_stage_node *n = &c->g->nodes[l->first]; n < &c->g->nodes[l->end];
             n++) {
            if (!c->is_again || n->is_again) {
                forward_node(c, n, l->part);
                has_run = true;
            }
            has_run |= pp_call_pack(c, n);
        }
        if (has_run)
            pp_call_stamp(c, PP_PASS_F, l->part);
    }
}

static void walk_forward(struct pp_call *c)
{
    if (!c->stage->shape.has_embedding && pp_call_is_on(c) &&
        c->g->input->place[c->pass].base != PP_IN)
        c->k->copy(c->stream, c->g->input->bytes, c->w->in, pp_call_at(c, c->g->input));
    if (pp_call_is_on(c))
        pp_call_begin_balance(c);
    forward_layers(c);
}

static void forward(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w,
                    enum pp_call_pass pass)
{
    struct pp_call c = begin(k, stream, w, pass);

    walk_forward(&c);
}

void pp_stage_forward(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w)
{
    forward(k, stream, w, PP_PASS_F);
}

void pp_stage_keep(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w)
{
    assert(w->stage->shape.has_r);
    forward(k, stream, w, PP_PASS_KEEP);
}

/* Does not write the output. So there is nothing to do for an embedding alone, but for its norm.
 * The norm that ends a block of an encoder writes its output at the end of scratch. */
void pp_stage_recompute(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w)
{
    struct pp_stage_work again = *w;

    again.out = w->stage->net->is_encoder
                    ? (char *)w->scratch + w->stage->scratch_bytes - w->stage->boundary_bytes
                    : NULL;
    again.loss = w->scratch;
    again.expert_tokens = NULL;
    struct pp_call c = begin(k, stream, &again, PP_PASS_F);
    assert(w->stage->shape.splits == 1 || pp_stage_is_partly_again(&w->stage->shape));
    c.is_again = true;
    if (c.g->input != c.g->output || w->stage->net->is_encoder)
        forward_layers(&c);
}

/* ---- backward -------------------------------------------------------------------------------- */

static void back_node(struct pp_call *c, const struct pp_stage_node *n, enum pp_layer_part part)
{
    pp_call_restore(c, c->step++);
    pp_call_begin_back(c, n, part);
    c->parts = parts_of(c, n, false);
    for (c->part = 0; c->part < c->parts; c->part++) {
        if (n->kind->input_grad != NULL && pp_call_is_on(c))
            n->kind->input_grad(c, n);
        pp_call_end_back(c, n, part);
    }
    c->part = c->parts = 0;
}

static void weight_node(struct pp_call *c, const struct pp_stage_node *n, enum pp_layer_part part)
{
    pp_call_restore(c, c->step++);
    pp_call_begin_weight_grad(c, n, part);
    if (n->kind->weight_grad != NULL && pp_call_is_on(c))
        n->kind->weight_grad(c, n);
}

/* Does the I of a node, and its W. */
static void back_both(struct pp_call *c, const struct pp_stage_node *n, enum pp_layer_part part)
{
    back_node(c, n, part);
    if (n->kind->weight_grad == NULL) {
        c->step++;
        return;
    }
    pp_call_stamp(c, PP_PASS_I, part);
    weight_node(c, n, part);
    pp_call_stamp(c, PP_PASS_W, part);
}

static void back_layer(struct pp_call *c, const struct pp_layer *l)
{
    const struct pp_stage_node *first = &c->g->nodes[l->first], *end = &c->g->nodes[l->end];
    const bool is_tight = c->pass == PP_PASS_B && pp_stage_is_tight(&c->stage->shape);

    c->step = 2 * (c->g->node_count - l->end);
    for (const struct pp_stage_node *n = end; c->pass & PP_PASS_I && n-- > first;)
        (is_tight ? back_both : back_node)(c, n, l->part);
    if (c->pass & PP_PASS_I && (l->part != PP_PART_EMBEDDING || c->net->is_encoder))
        pp_call_stamp(c, PP_PASS_I, l->part);
    for (const struct pp_stage_node *n = end; c->pass & PP_PASS_W && !is_tight && n-- > first;)
        weight_node(c, n, l->part);
    if (c->pass & PP_PASS_W && !is_tight)
        pp_call_stamp(c, PP_PASS_W, l->part);
}

/* A stage that only passes its input on, or embeds it, passes the gradient on. */
static void walk_back(struct pp_call *c)
{
    const struct pp_stage_graph *g = c->g;

    if (g->input == g->output && c->pass & PP_PASS_I && pp_call_is_on(c))
        c->k->copy(c->stream, g->input->bytes, c->w->grad_in, pp_call_at(c, g->grad_bottom));
    if (c->pass & PP_PASS_I && pp_call_is_on(c))
        pp_call_return_balance(c);
    for (int i = g->layer_count - 1; i >= 0; i--)
        back_layer(c, &g->layers[i]);
    for (int i = 0; i < g->copy_count && c->pass == PP_PASS_I && pp_call_is_on(c); i++) {
        const struct pp_tensor *t = g->copies[i];
        const struct pp_tensor_place to = t->place[PP_PASS_W];
        c->k->copy(c->stream, t->bytes, pp_call_at(c, t), c->base[to.base] + to.at);
    }
}

static void back(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w,
                 enum pp_call_pass pass)
{
    struct pp_call c = begin(k, stream, w, pass);

    walk_back(&c);
}

void pp_stage_input_grad(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w)
{
    back(k, stream, w, PP_PASS_I);
}

void pp_stage_weight_grad(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w)
{
    assert(w->stage->shape.has_w);
    back(k, stream, w, PP_PASS_W);
}

void pp_stage_backward(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w)
{
    back(k, stream, w, PP_PASS_B);
}

/* ---- exchanges ------------------------------------------------------------------------------- */

/* Walks without running a node. */
int pp_stage_exchanges(const struct pp_stage_work *w, enum pp_stage_call_kind kind,
                       struct pp_group_exchange *exchanges)
{
    static const enum pp_call_pass passes[PP_CALLS] = {
        [PP_CALL_FORWARD] = PP_PASS_F,     [PP_CALL_KEEP] = PP_PASS_KEEP,
        [PP_CALL_RECOMPUTE] = PP_PASS_F,   [PP_CALL_INPUT_GRAD] = PP_PASS_I,
        [PP_CALL_WEIGHT_GRAD] = PP_PASS_W, [PP_CALL_BACKWARD] = PP_PASS_B};
    const bool is_again = kind == PP_CALL_RECOMPUTE,
               is_forward = is_again || kind == PP_CALL_FORWARD || kind == PP_CALL_KEEP;
    struct pp_stage_work none = *w;

    if (pp_stage_generates(&w->stage->shape) && kind != PP_CALL_FORWARD)
        return 0;
    none.segment = -1;
    none.probe = NULL;
    none.out = is_again ? NULL : w->out;
    struct pp_call c = begin(NULL, NULL, &none, passes[kind]);
    c.exchanges = exchanges;
    c.is_again = is_again;
    if (is_forward)
        walk_forward(&c);
    else
        walk_back(&c);
    return c.segment;
}

const pp_stage_call pp_stage_calls[PP_CALLS] = {
    [PP_CALL_FORWARD] = pp_stage_forward,         [PP_CALL_KEEP] = pp_stage_keep,
    [PP_CALL_RECOMPUTE] = pp_stage_recompute,     [PP_CALL_INPUT_GRAD] = pp_stage_input_grad,
    [PP_CALL_WEIGHT_GRAD] = pp_stage_weight_grad, [PP_CALL_BACKWARD] = pp_stage_backward,
};
