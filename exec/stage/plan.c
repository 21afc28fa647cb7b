/* Places of the tensors of a stage, by the rules in graph.h. */
#include "exec/stage/graph.h"

#include <limits.h>

static void place_in(struct pp_tensor *t, enum pp_base base)
{
    for (int pass = 0; pass < PP_PASSES; pass++)
        t->place[pass] = (struct pp_tensor_place){base, 0};
}

/* Appends a tensor to `saved`, or to `kept`. */
static void append(struct pp_stage *stage, struct pp_tensor *t, enum pp_base base)
{
    size_t *bytes = base == PP_KEPT ? &stage->kept_bytes : &stage->saved_bytes;

    for (int pass = 0; pass < PP_PASSES; pass++)
        t->place[pass] = (struct pp_tensor_place){base, *bytes};
    *bytes += t->bytes;
}

static void save(struct pp_stage *stage, struct pp_tensor *t)
{
    append(stage, t, PP_SAVED);
}

/* ---- tensors of F ---------------------------------------------------------------------------- */

static void place_kept(struct pp_stage *stage)
{
    const struct pp_stage_shape *shape = &stage->shape;
    struct pp_stage_graph *g = stage->graph;

    if (!shape->has_embedding && g->node_count > 0 && !g->input->is_packed) {
        place_in(g->input, PP_KEPT);
        stage->kept_bytes += g->input->bytes;
    }
    stage->edge_offset = stage->kept_bytes;
    if (shape->has_edge)
        stage->kept_bytes += stage->boundary_bytes;
    if (g->balance != NULL)
        append(stage, g->balance, PP_KEPT);
    if (g->output != NULL)
        place_in(g->output, PP_OUT);
}

/* Saves what a backward reads: dnorm only if W comes later. The rest is in scratch: only F reads
 * it, or a kernel, or W gathers it. */
static void place_forward(struct pp_stage *stage, bool is_g, bool has_values, bool has_grads)
{
    struct pp_stage_graph *g = stage->graph;

    for (int i = 0; i < g->tensor_count; i++) {
        struct pp_tensor *t = &g->tensors[i];

        if ((t->width == 0) != is_g || !(t->is_grad ? has_grads : has_values) ||
            t->place[PP_PASS_F].base != PP_NOWHERE)
            continue;
        if (t->is_packed)
            place_in(t, PP_SCRATCH);
        else if (t->read[PP_PASS_B] >= 0 && t->made[PP_PASS_W] < 0 &&
                 (!t->is_grad || (stage->shape.has_w && t->is_for_w)))
            append(stage, t, t->is_again || t->is_grad ? PP_SAVED : PP_KEPT);
        else
            place_in(t, PP_SCRATCH);
    }
}

/* ---- gradients ------------------------------------------------------------------------------- */

/* Is true for a place that lives from F or R to B or W. */
static bool is_lasting(struct pp_tensor_place place)
{
    return place.base == PP_SAVED || place.base == PP_KEPT;
}

/* Is true if gradients may replace the tensor when I has read it. The input stays in `kept`. */
static bool is_place(const struct pp_stage_graph *g, const struct pp_tensor *t)
{
    return is_lasting(t->place[PP_PASS_F]) && (t != g->input || t->maker != NULL) && !t->is_grad &&
           t->width > 0 && !t->is_for_w;
}

/* Is true for the gradients that I leaves for W, except dnorm. */
static bool is_left(const struct pp_tensor *t)
{
    return t->is_grad && t->width > 0 && t->is_for_w;
}

/* Returns a place of the size of `grad` that is free at a step of I; NULL if there is none. */
static struct pp_tensor *free_place(struct pp_stage_graph *g, const struct pp_tensor *grad,
                                    int step)
{
    for (int i = 0; i < g->tensor_count; i++) {
        struct pp_tensor *t = &g->tensors[i];
        if (t->bytes == grad->bytes && is_place(g, t) && !t->is_taken && t->read[PP_PASS_I] < step)
            return t;
    }
    return NULL;
}

/* Is true if more gradients for W have the size of `grad` than places. */
static bool is_short(const struct pp_stage_graph *g, const struct pp_tensor *grad)
{
    int left = 0;

    for (int i = 0; i < g->tensor_count; i++) {
        const struct pp_tensor *t = &g->tensors[i];
        if (t->bytes == grad->bytes)
            left += is_place(g, t) - is_left(t);
    }
    return left < 0;
}

static struct pp_tensor *add_place(struct pp_stage *stage, const struct pp_tensor *grad)
{
    struct pp_tensor *t = pp_stage_tensor(stage->graph, grad->width);

    t->bytes = grad->bytes;
    save(stage, t);
    return t;
}

/* Is true if most of what F leaves rests in few bits, where no gradient has room. */
static bool is_packed(const struct pp_stage_shape *shape)
{
    return shape->act_bits > 0 && !shape->is_rounded;
}

/* In B only gradients of the residual stream are in `saved`, and what a place was added for. */
static void place_gradient(struct pp_stage *stage, struct pp_tensor *grad)
{
    struct pp_stage_graph *g = stage->graph;
    bool is_in_b = grad->is_stream;

    place_in(grad, PP_SCRATCH);
    if (!grad->is_for_w)
        return;
    struct pp_tensor *to = free_place(g, grad, grad->made[PP_PASS_I]);
    if (to == NULL && !is_packed(&stage->shape) && (grad == g->grad_bottom || is_short(g, grad))) {
        to = add_place(stage, grad);
        is_in_b = true;
    }
    if (to == NULL)
        return;
    to->is_taken = true;
    for (int pass = 0; pass < PP_PASSES; pass++)
        if (pass != PP_PASS_B || is_in_b)
            grad->place[pass] = to->place[pass];
}

/* Gives the gradients that I has in scratch, or gets, places for W. */
static void place_copies(struct pp_stage *stage)
{
    struct pp_stage_graph *g = stage->graph;

    for (int i = 0; i < g->tensor_count; i++) {
        struct pp_tensor *t = &g->tensors[i], *to;

        if (!is_left(t) || is_lasting(t->place[PP_PASS_I]))
            continue;
        to = free_place(g, t, INT_MAX);
        if (to == NULL)
            to = add_place(stage, t);
        to->is_taken = true;
        t->place[PP_PASS_W] = to->place[PP_PASS_W];
        g->copies[g->copy_count++] = t;
    }
}

/* With splits, the backward of earlier splits reads x of attention, and adds to its gradient. */
static void place_gradients(struct pp_stage *stage)
{
    struct pp_stage_graph *g = stage->graph;

    if (g->grad_top != NULL)
        place_in(g->grad_top, PP_GRAD_IN);
    if (g->grad_bottom != NULL && !stage->shape.has_embedding)
        place_in(g->grad_bottom, PP_GRAD_OUT);
    else if (g->input == g->output)
        save(stage, g->grad_bottom);
    for (int i = g->node_count - 1; i >= 0; i--) {
        const struct pp_stage_node *n = &g->nodes[i];

        if (n->dy_part != NULL)
            place_in(n->dy, PP_SCRATCH);
        if (n->dx == NULL || n->dx->place[PP_PASS_F].base != PP_NOWHERE)
            continue;
        if (n->kind == &pp_node_attend && stage->shape.splits > 1) {
            n->x->is_taken = true;
            append(stage, n->dx, n->x->place[PP_PASS_F].base);
        } else {
            place_gradient(stage, n->dx);
        }
    }
    if (stage->shape.has_w)
        place_copies(stage);
}

/* F that only keeps has in scratch what R makes again. */
static void place_keep(struct pp_stage_graph *g)
{
    for (int i = 0; i < g->tensor_count; i++) {
        struct pp_tensor *t = &g->tensors[i];

        if (t->place[PP_PASS_F].base == PP_SAVED)
            t->place[PP_PASS_KEEP] = (struct pp_tensor_place){PP_SCRATCH, 0};
    }
}

void pp_stage_place(struct pp_arena *arena, struct pp_stage *stage)
{
    struct pp_stage_graph *g = stage->graph;

    place_kept(stage);
    place_forward(stage, false, true, false);
    stage->kept_left.first = stage->kept_bytes;
    stage->saved_left.first = stage->saved_bytes;
    place_gradients(stage);
    stage->kept_left.second = stage->kept_bytes;
    stage->saved_left.second = stage->saved_bytes;
    place_forward(stage, true, true, !stage->shape.is_moved);
    pp_stage_place_packed(arena, stage);
    stage->kept_left.until = stage->kept_bytes;
    stage->saved_left.until = stage->saved_bytes;
    place_forward(stage, true, false, true);
    place_keep(g);
    pp_stage_hold_parts(stage);
    for (int pass = 0; pass < PP_PASSES; pass++) {
        const bool is_called = pass == PP_PASS_KEEP                     ? stage->shape.has_r
                               : pass == PP_PASS_I || pass == PP_PASS_W ? stage->shape.has_w
                                                                        : true;
        const size_t bytes = is_called ? pp_stage_scratch(arena, g, (enum pp_call_pass)pass) : 0;
        if (bytes > stage->scratch_bytes)
            stage->scratch_bytes = bytes;
    }
    if (stage->net->is_encoder && g->output != NULL) /* see pp_stage_recompute() */
        stage->scratch_bytes = pp_whole_lines(stage->scratch_bytes) + stage->boundary_bytes;
}

/* ---- without a backward ---------------------------------------------------------------------- */

/* All but both ends is in scratch. A stage without layers copies its input to its output. */
void pp_stage_place_forward(struct pp_arena *arena, struct pp_stage *stage)
{
    struct pp_stage_graph *g = stage->graph;

    for (int n = 0; n < g->node_count; n++)
        pp_stage_live_in_f(&g->nodes[n], n);
    for (int i = 0; i < g->tensor_count; i++)
        if (g->tensors[i].made[PP_PASS_F] >= 0)
            g->tensors[i].place[PP_PASS_F].base = PP_SCRATCH;
    if (!stage->shape.has_embedding)
        g->input->place[PP_PASS_F].base = PP_IN;
    if (g->output != NULL)
        g->output->place[PP_PASS_F].base = PP_OUT;
    if (g->logits != NULL)
        g->logits->place[PP_PASS_F].base = PP_LOGITS;
    pp_stage_hold_parts(stage);
    stage->scratch_bytes = pp_stage_scratch(arena, g, PP_PASS_F);
}
