/* Which layers the backward of a stage goes through, from the last to the first. */
#include "exec/stage/layout.h"

enum { WITH_INPUT = 1, WITH_WEIGHTS = 2 };

/* Where I begins to leave d r(0) of a stage without blocks, or the gradient of its output. */
static void *first_grad_place(const struct pp_call *c)
{
    const struct pp_stage_shape *shape = &c->stage->shape;

    if (shape->blocks > 0)
        return c->w->scratch;
    return shape->has_embedding ? c->saved + c->l->embedding_grad_at : c->w->grad_out;
}

/* Gradient of the last block's output: made by the head, or the one that came in; W alone finds it
 * where I has put it. Without blocks it is at once that of the input. */
static const void *back_head(struct pp_call *c, int parts)
{
    const struct pp_stage_shape *shape = &c->stage->shape;
    const void *grad = c->w->grad_in;

    if (shape->has_head) {
        if (parts & WITH_INPUT)
            pp_head_input_grad(c, first_grad_place(c));
        if (parts & WITH_WEIGHTS)
            pp_head_weight_grad(c);
        grad = c->w->scratch;
    } else if (shape->blocks == 0 && (parts & WITH_INPUT)) {
        c->k->copy(c->stream, c->l->hidden_bytes, grad, first_grad_place(c));
    }
    return parts & WITH_INPUT || shape->blocks == 0 ? grad : c->saved + c->l->top_grad_at;
}

static void back(struct pp_call *c, int parts)
{
    const struct pp_stage_shape *shape = &c->stage->shape;
    const void *top = back_head(c, parts), *grad = top;

    for (int block = shape->blocks - 1; block >= 0; block--) {
        if (parts & WITH_INPUT)
            pp_block_input_grad(c, block, grad);
        if (parts & WITH_WEIGHTS)
            pp_block_weight_grad(c, block, grad);
        grad = pp_call_block_grad(c, block);
    }
    if (shape->has_embedding && (parts & WITH_WEIGHTS))
        pp_embedding_weight_grad(c);
    if (shape->blocks > 0 && !(parts & WITH_WEIGHTS))
        c->k->copy(c->stream, c->l->hidden_bytes, top, c->saved + c->l->top_grad_at);
}

void pp_stage_input_grad(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w)
{
    struct pp_call c = pp_call_begin(k, stream, w);

    back(&c, WITH_INPUT);
}

void pp_stage_weight_grad(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w)
{
    struct pp_call c = pp_call_begin(k, stream, w);

    back(&c, WITH_WEIGHTS);
}

void pp_stage_backward(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w)
{
    struct pp_call c = pp_call_begin(k, stream, w);

    back(&c, WITH_INPUT | WITH_WEIGHTS);
}
