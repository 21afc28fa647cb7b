/* Calls of a stage: they walk the list of nodes, layer by layer. Where a group shares the work,
 * each call runs one segment of the walk: the nodes from one exchange to the next. */
#include "exec/stage/graph.h"

#include "core/units.h"

#include <assert.h>
#include <string.h>

/* ---- probe ----------------------------------------------------------------------------------- */

/* A full backward has two timings for each part, and two for each segment. */
int pp_stage_timings(const struct pp_stage *stage)
{
    enum { PASSES = 2, ENDS = 2, OF_SEGMENT = 2 };
    const int segments = stage->shape.tp > 1 ? 2 * stage->graph->node_count : 0;

    return 1 + PASSES * (stage->shape.blocks + ENDS) + OF_SEGMENT * segments;
}

static void record(const struct pp_call *c, int what)
{
    struct pp_probe *probe = c->w->probe;

    probe->record_timing(c->stream);
    probe->timings[probe->timing_count++] = (uint8_t)what;
}

/* Is true in the segment that is to run. */
static bool is_on(const struct pp_call *c)
{
    return c->segment == c->w->segment;
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
    if (c->w->segment == 0)
        memset(probe->s, 0, sizeof probe->s);
    c->last_s = probe->now_s();
}

/* Records the time of the part of F, I or W that has just ended. */
static void stamp(struct pp_call *c, enum pp_call_pass row, enum pp_layer_part part)
{
    struct pp_probe *probe = c->w->probe;

    if (probe == NULL || !is_on(c))
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

/* Ends the segment with an exchange. Lists it, if that is wanted. */
static void end_segment(struct pp_call *c, enum pp_call_pass row, enum pp_layer_part part,
                        struct pp_group_exchange exchange)
{
    if (c->exchanges != NULL)
        c->exchanges[c->segment] = exchange;
    stamp(c, row, part);
    c->segment++;
}

static struct pp_group_exchange exchange_of(const struct pp_call *c, enum pp_exchange_rule rule,
                                            const struct pp_tensor *from,
                                            const struct pp_tensor *to)
{
    const bool is_of_g = to->width == 0;

    return (struct pp_group_exchange){
        .count = (int64_t)(to->bytes / (is_of_g ? c->g->gradient_bytes : c->g->element_bytes)),
        .from = pp_call_at(c, from),
        .to = pp_call_at(c, to),
        .rule = rule,
        .index = c->stage->shape.tp_index};
}

/* Returns whether the node exchanges rows of experts. */
static bool end_rows(struct pp_call *c, const struct pp_stage_node *n, enum pp_call_pass row,
                     enum pp_layer_part part)
{
    struct pp_rows_exchange rows;

    if (n->kind->exchange == NULL)
        return false;
    if (n->kind->exchange(c, n, row == PP_PASS_F, &rows))
        end_segment(c, row, part, (struct pp_group_exchange){.from = rows.from, .rows = rows});
    return true;
}

/* The group exchanges parts of what the node has made. A recomputation does not want the output of
 * the stage. */
static void end_forward(struct pp_call *c, const struct pp_stage_node *n, enum pp_layer_part part)
{
    if (end_rows(c, n, PP_PASS_F, part) || n->part == NULL ||
        (c->is_again && !pp_node_is_exchanged_again(c->g, n)))
        return;
    struct pp_group_exchange exchange = exchange_of(c, n->rule, n->part, n->y);
    if (n->rule == PP_RULE_SCATTER)
        exchange.base = pp_call_at(c, n->base);
    end_segment(c, PP_PASS_F, part, exchange);
}

static void begin_back(struct pp_call *c, const struct pp_stage_node *n, enum pp_layer_part part)
{
    if (n->dy_part != NULL && (n->kind->input_grad != NULL || c->pass == PP_PASS_B))
        end_segment(c, PP_PASS_I, part, exchange_of(c, PP_RULE_GATHER, n->dy_part, n->dy));
}

static void begin_weight_grad(struct pp_call *c, const struct pp_stage_node *n,
                              enum pp_layer_part part)
{
    if (n->dy_part != NULL && c->pass == PP_PASS_W)
        end_segment(c, PP_PASS_W, part, exchange_of(c, PP_RULE_GATHER, n->dy_part, n->dy));
    if (n->x_again != NULL)
        end_segment(c, PP_PASS_W, part, exchange_of(c, PP_RULE_GATHER, n->x_part, n->x_again));
}

static void end_back(struct pp_call *c, const struct pp_stage_node *n, enum pp_layer_part part)
{
    const bool is_shared = c->stage->shape.is_sequence_parallel;

    if (end_rows(c, n, PP_PASS_I, part))
        return;
    if (n->dx_part != NULL)
        end_segment(c, PP_PASS_I, part,
                    exchange_of(c, is_shared ? PP_RULE_SCATTER : PP_RULE_SUM, n->dx_part, n->dx));
    else if (n->dnorm_part != NULL)
        end_segment(c, PP_PASS_I, part, exchange_of(c, PP_RULE_SUM_OF_G, n->dnorm_part, n->dnorm));
}

/* ---- forward --------------------------------------------------------------------------------- */

/* Layers that R leaves out take no time. */
static void forward_layers(struct pp_call *c)
{
    for (const struct pp_layer *l = c->g->layers; l < c->g->layers + c->g->layer_count; l++) {
        bool has_run = false;
        for (const struct pp_stage_node *n = &c->g->nodes[l->first]; n < &c->g->nodes[l->end];
             n++) {
            if (c->is_again && !n->is_again)
                continue;
            if (is_on(c))
                n->kind->forward(c, n);
            end_forward(c, n, l->part);
            has_run = true;
        }
        if (has_run)
            stamp(c, PP_PASS_F, l->part);
    }
}

static void walk_forward(struct pp_call *c)
{
    if (!c->stage->shape.has_embedding && is_on(c))
        c->k->copy(c->stream, c->stage->boundary_bytes, c->w->in, pp_call_at(c, c->g->input));
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

static void back_layer(struct pp_call *c, const struct pp_layer *l)
{
    const struct pp_stage_node *first = &c->g->nodes[l->first], *end = &c->g->nodes[l->end];

    for (const struct pp_stage_node *n = end; c->pass & PP_PASS_I && n-- > first;) {
        begin_back(c, n, l->part);
        if (n->kind->input_grad != NULL && is_on(c))
            n->kind->input_grad(c, n);
        end_back(c, n, l->part);
    }
    if (c->pass & PP_PASS_I && (l->part != PP_PART_EMBEDDING || c->net->is_encoder))
        stamp(c, PP_PASS_I, l->part);
    for (const struct pp_stage_node *n = end; c->pass & PP_PASS_W && n-- > first;) {
        begin_weight_grad(c, n, l->part);
        if (n->kind->weight_grad != NULL && is_on(c))
            n->kind->weight_grad(c, n);
    }
    if (c->pass & PP_PASS_W)
        stamp(c, PP_PASS_W, l->part);
}

/* A stage that only passes its input on, or embeds it, passes the gradient on. */
static void walk_back(struct pp_call *c)
{
    const struct pp_stage_graph *g = c->g;

    if (g->input == g->output && c->pass & PP_PASS_I && is_on(c))
        c->k->copy(c->stream, c->stage->boundary_bytes, c->w->grad_in,
                   pp_call_at(c, g->grad_bottom));
    for (int i = g->layer_count - 1; i >= 0; i--)
        back_layer(c, &g->layers[i]);
    for (int i = 0; i < g->copy_count && c->pass == PP_PASS_I && is_on(c); i++) {
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

/* Lists the exchanges of a call that has an output; their places are not those of a call. */
static int list_any(const struct pp_stage *stage, enum pp_stage_call_kind kind,
                    struct pp_group_exchange *exchanges)
{
    char memory; /* any: nothing is read */
    void *at = &memory;

    return pp_stage_exchanges(&(struct pp_stage_work){.stage = stage,
                                                      .kept = &at,
                                                      .saved = &at,
                                                      .out = at,
                                                      .grad_in = at,
                                                      .grad_out = at,
                                                      .scratch = at},
                              kind, exchanges);
}

int pp_stage_exchange_count(const struct pp_stage *stage, enum pp_stage_call_kind kind)
{
    return list_any(stage, kind, NULL);
}

int64_t pp_stage_exchanges_ps(struct pp_arena *arena, const struct pp_stage *stage,
                              enum pp_stage_call_kind kind, const struct pp_kernels *kernels,
                              const struct pp_costs *costs)
{
    const int count = list_any(stage, kind, NULL),
              members = stage->shape.ep > 1 ? stage->shape.ep : stage->shape.tp;
    struct pp_group_exchange *exchanges = PP_ARRAY(arena, struct pp_group_exchange, count + 1);
    int64_t sum_ps = 0;

    list_any(stage, kind, exchanges);
    for (int i = 0; i < count; i++)
        sum_ps += pp_group_exchange_ps(costs, kernels, &exchanges[i], members);
    return sum_ps;
}
