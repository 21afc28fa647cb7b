/* Tensors of the backward: who makes which gradient, and who reads a tensor last. */
#include "exec/stage/graph.h"

#include <assert.h>

/* Steps of a node: in F, and in I and W of a backward. */
struct steps {
    int f, i, w;
};

/* B does a layer's I before its W, or both of a node together. */
static struct steps steps_of(const struct pp_stage *stage, const struct pp_layer *l, int n)
{
    const int before = l->end - 1 - n, count = l->end - l->first,
              first = 2 * (stage->graph->node_count - l->end);

    return pp_stage_is_tight(&stage->shape)
               ? (struct steps){n, first + 2 * before, first + 2 * before + 1}
               : (struct steps){n, first + before, first + before + count};
}

static void read_at(struct pp_tensor *t, enum pp_call_pass pass, int step)
{
    if (t == NULL)
        return;
    if (step > t->read[pass])
        t->read[pass] = step;
    if (pass == PP_PASS_B && (t->first_read < 0 || step < t->first_read))
        t->first_read = step;
}

/* W alone reads what I has left, so that lives to the end of I. */
static void read_in(struct pp_tensor *t, bool is_w, const struct steps *at)
{
    read_at(t, PP_PASS_B, is_w ? at->w : at->i);
    if (!is_w)
        read_at(t, PP_PASS_I, at->i);
    else if (t != NULL)
        t->is_for_w = true;
}

static void make_at(struct pp_tensor *t, bool is_f, int step)
{
    if (t == NULL)
        return;
    if (is_f)
        t->made[PP_PASS_F] = t->made[PP_PASS_KEEP] = step;
    else
        t->made[PP_PASS_I] = t->made[PP_PASS_B] = step;
}

static void read_in_f(struct pp_tensor *t, int step)
{
    read_at(t, PP_PASS_F, step);
    read_at(t, PP_PASS_KEEP, step);
}

void pp_stage_live_in_f(const struct pp_stage_node *n, int step)
{
    make_at(n->y, true, step);
    make_at(n->act, true, step);
    make_at(n->stats, true, step);
    make_at(n->scratch, true, step);
    if (n->kind == &pp_node_route) {
        make_at(n->routes->gates, true, step);
        make_at(n->routes->order, true, step);
    }
    if (n->routes != NULL) {
        read_in_f(n->routes->gates, step);
        read_in_f(n->routes->order, step);
    }
    read_in_f(n->x, step);
    read_in_f(n->base, step);
    read_in_f(n->after, step);
    read_in_f(n->max, step);
    read_in_f(n->sums, step);
    if (n->part != n->x)
        make_at(n->part, true, step);
}

/* All nodes of a mixture are taken to read all tensors of its routing. */
static void live_of_routes(const struct pp_stage_node *n, const struct steps *at)
{
    read_in(n->routes->gates, false, at);
    read_in(n->routes->order, false, at);
    if (n->kind->weight_grad != NULL)
        read_in(n->routes->order, true, at);
    if (n->kind == &pp_node_combine)
        make_at(n->routes->dgates, false, at->i);
    else
        read_in(n->routes->dgates, false, at);
}

/* F and I need not leave a tensor that W gathers. */
static void read_by_w(struct pp_tensor *t, const struct steps *at)
{
    if (t == NULL || t->made[PP_PASS_W] < 0) {
        read_in(t, true, at);
        return;
    }
    read_at(t, PP_PASS_B, at->w);
    read_at(t, PP_PASS_W, at->w);
}

static void made_for_w(struct pp_tensor *t, const struct steps *at)
{
    t->made[PP_PASS_B] = t->made[PP_PASS_W] = at->w;
}

static void live_in_back(const struct pp_stage_node *n, const struct steps *at)
{
    if (n->dy_part != NULL) { /* gathered for I or B */
        read_in(n->dy_part, false, at);
        make_at(n->dy, false, at->i);
    }
    if (pp_node_gathers_dy_again(n)) {
        read_in(n->dy_part, true, at);
        n->dy->made[PP_PASS_W] = at->w;
    }
    if (n->kind->input_grad != NULL) {
        read_in(n->kind->i_reads_x ? n->x : NULL, false, at);
        read_in(n->kind->i_reads_y ? n->y : NULL, false, at);
        read_in(n->slope_of, false, at);
        read_in(n->stats, false, at);
        read_in(n->dy, false, at);
        read_in(n->dx_base, false, at);
        read_in(n->dx_after, false, at);
        make_at(n->dnorm, false, at->i);
        make_at(n->scratch, false, at->i);
        make_at(n->dx_part, false, at->i);
        make_at(n->dnorm_part, false, at->i);
        if (n->dx != n->x && n->dx != n->dy)
            make_at(n->dx, false, at->i);
    }
    if (n->routes != NULL)
        live_of_routes(n, at);
    if (n->x_again != NULL && n->x_again->maker == n) {
        read_in(n->x_part, true, at);
        made_for_w(n->x_again, at);
    }
    if (n->dy_again != NULL) {
        read_in(n->dy, true, at);
        made_for_w(n->dy_again, at);
    }
    if (n->kind->weight_grad != NULL) {
        read_by_w(n->kind->w_reads_x ? n->x_again ? n->x_again : n->x : NULL, at);
        read_by_w(n->kind->w_reads_dy ? n->dy_again ? n->dy_again : n->dy : NULL, at);
        read_in(n->dnorm, true, at);
    }
}

static struct pp_tensor *as_gradient(struct pp_tensor *t, bool is_stream)
{
    t->is_grad = true;
    t->is_stream = is_stream;
    return t;
}

/* A gradient of a share of tokens is that of the stream, or of what a norm has made. */
static struct pp_tensor *gradient_of_x(struct pp_stage_graph *g, const struct pp_stage_node *n,
                                       const struct pp_tensor *of)
{
    struct pp_tensor *dx = as_gradient(
        n->dx_part ? pp_stage_stream(g, of->width) : pp_stage_tensor(g, of->width), of->is_stream);

    if (n->dx_part == NULL)
        dx->bytes = of->bytes;
    return dx;
}

/* The gradient of a base is that of the output. It comes first, so nothing is added to it. */
static void pass_to(struct pp_tensor *base, struct pp_tensor *dy)
{
    if (base == NULL)
        return;
    assert(base->grad == NULL);
    base->grad = dy;
}

static void wire(struct pp_stage_graph *g, struct pp_stage_node *n)
{
    struct pp_tensor *of = n->slope_of ? n->slope_of : n->x;

    n->dy = n->y ? n->y->grad : NULL;
    pass_to(n->after, n->dy);
    if (pp_node_is_scattered(n)) {
        n->dy_part = n->dy;
        n->dy = as_gradient(pp_stage_tensor(g, n->dy->width), false);
    }
    pass_to(n->base, n->dy);
    if (n->kind->is_in_place) {
        assert(of->grad == NULL);
        n->dx = of;
    } else if (n->kind->is_in_gradient) {
        assert(of->grad == NULL);
        n->dx = n->dy;
    } else if (n->kind->input_grad != NULL) {
        n->dx_base = of->grad;
        if (n->dx_part != NULL && n->x_part != NULL) {
            of = n->x_part;
            n->dx_after = of->grad;
        }
        n->dx = gradient_of_x(g, n, of);
    }
    if (n->dx != NULL)
        of->grad = n->dx;
}

void pp_stage_gradients(const struct pp_stage *stage)
{
    struct pp_stage_graph *g = stage->graph;

    if (g->output != NULL) {
        g->grad_top = as_gradient(pp_stage_stream(g, stage->net->hidden), true);
        g->output->grad = g->output == g->input
                              ? as_gradient(pp_stage_stream(g, stage->net->hidden), true)
                              : g->grad_top;
    }
    for (int i = g->layer_count - 1; i >= 0; i--) {
        const struct pp_layer *l = &g->layers[i];

        for (int n = l->end - 1; n >= l->first; n--) {
            const struct steps at = steps_of(stage, l, n);
            wire(g, &g->nodes[n]);
            pp_stage_live_in_f(&g->nodes[n], at.f);
            live_in_back(&g->nodes[n], &at);
        }
    }
    g->grad_bottom = g->input->grad;
}
