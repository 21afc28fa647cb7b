/* Calls of a stage: they walk the list of nodes, layer by layer. */
#include "exec/stage/graph.h"

#include <assert.h>
#include <string.h>

/* ---- probe ----------------------------------------------------------------------------------- */

/* A full backward has two timings for each part. */
int pp_stage_timings(const struct pp_stage *stage)
{
    enum { PASSES = 2, ENDS = 2 };

    return 1 + PASSES * (stage->shape.blocks + ENDS);
}

static void record(const struct pp_call *c, int what)
{
    struct pp_probe *probe = c->w->probe;

    probe->record_timing(c->stream);
    probe->timings[probe->timing_count++] = (uint8_t)what;
}

static void begin_probe(struct pp_call *c)
{
    struct pp_probe *probe = c->w->probe;

    if (probe == NULL)
        return;
    if (probe->record_timing != NULL) {
        record(c, PP_TIMING_BEGIN);
        return;
    }
    memset(probe->s, 0, sizeof probe->s);
    c->last_s = probe->now_s();
}

/* Records the time of the part of F, I or W that has just ended. */
static void stamp(struct pp_call *c, enum pp_call_pass row, enum pp_layer_part part)
{
    struct pp_probe *probe = c->w->probe;

    if (probe == NULL)
        return;
    if (probe->record_timing != NULL) {
        record(c, (int)row * PP_PARTS + (int)part);
        return;
    }
    const double now_s = probe->now_s();
    probe->s[row][part] += now_s - c->last_s;
    c->last_s = now_s;
}

static struct pp_call begin(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w,
                            enum pp_call_pass pass)
{
    struct pp_call c = {.k = k,
                        .stream = stream,
                        .w = w,
                        .stage = w->stage,
                        .net = w->stage->net,
                        .g = w->stage->graph,
                        .base = {[PP_KEPT] = w->kept[w->split],
                                 [PP_SAVED] = w->stage->saved_bytes > 0 ? w->saved[w->split] : NULL,
                                 [PP_SCRATCH] = w->scratch,
                                 [PP_OUT] = w->out,
                                 [PP_GRAD_IN] = (char *)(uintptr_t)w->grad_in, /* only read */
                                 [PP_GRAD_OUT] = w->grad_out},
                        .pass = pass};

    begin_probe(&c);
    return c;
}

/* ---- forward --------------------------------------------------------------------------------- */

/* Layers that R leaves out take no time. */
static void forward_layers(struct pp_call *c)
{
    for (const struct pp_layer *l = c->g->layers; l < c->g->layers + c->g->layer_count; l++) {
        bool has_run = false;
        for (const struct pp_stage_node *n = &c->g->nodes[l->first]; n < &c->g->nodes[l->end]; n++)
            if (!c->is_again || n->is_again) {
                n->kind->forward(c, n);
                has_run = true;
            }
        if (has_run)
            stamp(c, PP_PASS_F, l->part);
    }
}

static void forward(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w,
                    enum pp_call_pass pass)
{
    struct pp_call c = begin(k, stream, w, pass);

    if (!w->stage->shape.has_embedding)
        k->copy(stream, w->stage->boundary_bytes, w->in, pp_call_at(&c, c.g->input));
    forward_layers(&c);
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

static void back_layer(struct pp_call *c, const struct pp_layer *l)
{
    const struct pp_stage_node *first = &c->g->nodes[l->first], *end = &c->g->nodes[l->end];

    for (const struct pp_stage_node *n = end; c->pass & PP_PASS_I && n-- > first;)
        if (n->kind->input_grad != NULL)
            n->kind->input_grad(c, n);
    if (c->pass & PP_PASS_I && (l->part != PP_PART_EMBEDDING || c->net->is_encoder))
        stamp(c, PP_PASS_I, l->part);
    for (const struct pp_stage_node *n = end; c->pass & PP_PASS_W && n-- > first;)
        if (n->kind->weight_grad != NULL)
            n->kind->weight_grad(c, n);
    if (c->pass & PP_PASS_W)
        stamp(c, PP_PASS_W, l->part);
}

/* A stage that only passes its input on, or embeds it, passes the gradient on. */
static void back(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w,
                 enum pp_call_pass pass)
{
    struct pp_call call = begin(k, stream, w, pass), *c = &call;
    const struct pp_stage_graph *g = c->g;

    if (g->input == g->output && pass & PP_PASS_I)
        k->copy(stream, w->stage->boundary_bytes, w->grad_in, pp_call_at(c, g->grad_bottom));
    for (int i = g->layer_count - 1; i >= 0; i--)
        back_layer(c, &g->layers[i]);
    for (int i = 0; i < g->copy_count && pass == PP_PASS_I; i++) {
        const struct pp_tensor *t = g->copies[i];
        const struct pp_tensor_place to = t->place[PP_PASS_W];
        k->copy(stream, t->bytes, pp_call_at(c, t), c->base[to.base] + to.at);
    }
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
