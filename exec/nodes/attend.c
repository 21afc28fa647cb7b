/* Attention of queries, keys and values, which F rotates first. */
#include "core/cost/recompute.h"
#include "exec/nodes/call.h"

#include <assert.h>

static void rotate(const struct pp_call *c, const struct pp_stage_node *n, void *qkv,
                   bool is_inverse)
{
    const struct pp_stage_shape *shape = &c->stage->shape;
    const struct pp_net *net = c->net;
    struct pp_rotation r = {.batch = shape->rows,
                            .tokens = shape->tokens,
                            .heads = net->heads + net->kv_heads,
                            .head_dim = net->head_dim,
                            .stride = n->x->width,
                            .first = c->w->position + c->w->split * shape->tokens,
                            .angles = net->rotary,
                            .is_inverse = is_inverse};

    if (r.angles.dim == 0)
        r.angles.dim = net->head_dim;
    if (!net->has_positions)
        c->k->rotate(c->stream, &r, qkv);
}

/* Returns the fields for both directions; `qkv` has room for PP_STAGE_SPLITS. */
static struct pp_attention attention_of(const struct pp_call *c, const struct pp_stage_node *n,
                                        const void **qkv)
{
    const struct pp_stage_shape *shape = &c->stage->shape;

    for (int s = 0; s <= c->w->split; s++)
        qkv[s] = pp_call_at_split(c, n->x, s);
    return (struct pp_attention){.batch = shape->rows,
                                 .tokens = shape->tokens,
                                 .heads = c->net->heads,
                                 .kv_heads = c->net->kv_heads,
                                 .head_dim = c->net->head_dim,
                                 .split = c->w->split,
                                 .window = n->window,
                                 .is_full = c->net->is_encoder,
                                 .qkv = qkv,
                                 .out = pp_call_at(c, n->y),
                                 .lse = pp_call_at(c, n->stats),
                                 .scratch = pp_call_at(c, n->scratch)};
}

static void forward(struct pp_call *c, const struct pp_stage_node *n)
{
    const void *qkv[PP_STAGE_SPLITS];
    struct pp_attention a = attention_of(c, n, qkv);

    if (!c->is_again || n->x->is_again)
        rotate(c, n, pp_call_at(c, n->x), false);
    c->k->attention_forward(c->stream, &a);
}

/* ---- a stage that generates ------------------------------------------------------------------ */

static size_t position_bytes(const struct pp_stage *stage)
{
    return 2 * (size_t)(stage->net->kv_heads * stage->net->head_dim) * stage->graph->element_bytes;
}

size_t pp_stage_sequence_bytes(const struct pp_stage *stage)
{
    return (size_t)stage->cache_positions * position_bytes(stage);
}

/* Puts tokens of some sequences into the cache, from place `slot` of this block on. */
struct run {
    int sequence, sequences; /* of the call */
    int token, tokens, slot;
};
static void append_run(struct pp_call *c, const struct pp_stage_node *n, char *cache, struct run r)
{
    const struct pp_stage_shape *shape = &c->stage->shape;
    const size_t row = (size_t)n->x->width * c->g->element_bytes,
                 at = (size_t)r.sequence * (size_t)shape->tokens + (size_t)r.token;

    if (r.tokens > 0)
        c->k->cache_append(c->stream, &(struct pp_cache_append){
                                          .batch = r.sequences,
                                          .tokens = r.tokens,
                                          .heads = c->net->heads,
                                          .kv_heads = c->net->kv_heads,
                                          .head_dim = c->net->head_dim,
                                          .first = r.slot,
                                          .stride = c->stage->cache_positions,
                                          .qkv = (const char *)pp_call_at(c, n->x) + at * row,
                                          .cache = cache + (size_t)r.sequence *
                                                               pp_stage_sequence_bytes(c->stage)});
}

/* Position p is in place p % slots, so of more tokens the last ones stay. */
static void append(struct pp_call *c, const struct pp_stage_node *n, char *cache)
{
    const int rows = c->stage->shape.rows, tokens = c->stage->shape.tokens, slots = n->slots,
              begins = tokens % slots;

    if (tokens <= slots) {
        append_run(c, n, cache, (struct run){0, rows, 0, tokens, c->w->position % slots});
        return;
    }
    for (int s = 0; s < rows; s++) {
        append_run(c, n, cache, (struct run){s, 1, tokens - slots, slots - begins, begins});
        append_run(c, n, cache, (struct run){s, 1, tokens - begins, begins, 0});
    }
}

/* All places in use are met: the last positions, in any order. */
static void attend_cache(struct pp_call *c, const struct pp_stage_node *n, const void *cache)
{
    const int before = c->w->position + 1;

    c->k->attention_cached(
        c->stream, &(struct pp_attention_cached){.batch = c->stage->shape.rows,
                                                 .heads = c->net->heads,
                                                 .kv_heads = c->net->kv_heads,
                                                 .head_dim = c->net->head_dim,
                                                 .context = before < n->slots ? before : n->slots,
                                                 .stride = c->stage->cache_positions,
                                                 .qkv = pp_call_at(c, n->x),
                                                 .cache = cache,
                                                 .out = pp_call_at(c, n->y),
                                                 .scratch = pp_call_at(c, n->scratch)});
}

/* Prompts meet the keys at hand. */
static void forward_cached(struct pp_call *c, const struct pp_stage_node *n)
{
    char *cache = c->w->cache;

    assert(c->w->position == 0 || (cache != NULL && c->stage->shape.tokens == 1));
    rotate(c, n, pp_call_at(c, n->x), false);
    if (cache != NULL) {
        cache += (size_t)n->first_slot * position_bytes(c->stage);
        append(c, n, cache);
    }
    if (c->w->position > 0) {
        attend_cache(c, n, cache);
        return;
    }
    const void *qkv[1];
    const struct pp_attention a = attention_of(c, n, qkv);
    c->k->attention_forward(c->stream, &a);
}

const struct pp_node_kind pp_node_attend_cached = {.forward = forward_cached};

/* ---- backward -------------------------------------------------------------------------------- */

/* The last split comes first. */
static void input_grad(struct pp_call *c, const struct pp_stage_node *n)
{
    const void *qkv[PP_STAGE_SPLITS];
    void *d_qkv[PP_STAGE_SPLITS];
    struct pp_attention a = attention_of(c, n, qkv);

    for (int s = 0; s <= c->w->split; s++)
        d_qkv[s] = pp_call_at_split(c, n->dx, s);
    a.dout = pp_call_at(c, n->dy);
    a.dqkv = d_qkv;
    a.add = c->w->split + 1 < c->stage->shape.splits;
    c->k->attention_backward(c->stream, &a);
    rotate(c, n, d_qkv[c->w->split], true);
}

const struct pp_node_kind pp_node_attend = {.forward = forward,
                                            .input_grad = input_grad,
                                            .i_reads_x = true,
                                            .i_reads_y = true,
                                            .again = PP_AGAIN_CORE};
