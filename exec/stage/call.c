/* A running call of a stage: its places, its probe, and kernel arguments of both directions. */
#include "exec/stage/layout.h"

#include <string.h>

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

struct pp_call pp_call_begin(const struct pp_kernels *k, void *stream,
                             const struct pp_stage_work *w)
{
    struct pp_call c = {.k = k,
                        .stream = stream,
                        .w = w,
                        .stage = w->stage,
                        .net = w->stage->net,
                        .l = w->stage->layout,
                        .saved = w->stage->saved_bytes > 0 ? w->saved[w->split] : NULL};

    if (w->probe != NULL && w->probe->record_timing != NULL) {
        record(&c, PP_TIMING_BEGIN);
    } else if (w->probe != NULL) {
        memset(w->probe->s, 0, sizeof w->probe->s);
        c.last_s = w->probe->now_s();
    }
    return c;
}

void pp_call_stamp(struct pp_call *c, enum pp_call_kind kind, enum pp_layer_part part)
{
    struct pp_probe *probe = c->w->probe;

    if (probe == NULL)
        return;
    if (probe->record_timing != NULL) {
        record(c, (int)kind * PP_PARTS + (int)part);
        return;
    }
    const double now_s = probe->now_s();
    probe->s[kind][part] += now_s - c->last_s;
    c->last_s = now_s;
}

void *pp_call_block_grad(const struct pp_call *c, int block)
{
    return block == 0 && !c->stage->shape.has_embedding ? c->w->grad_out
                                                        : pp_call_place(c, block, AT_Y);
}

struct pp_norm pp_call_norm(const struct pp_call *c, const void *x, const struct pp_param *gamma,
                            void *stats)
{
    return (struct pp_norm){.rows = c->l->tokens,
                            .width = c->net->hidden,
                            .is_rms = c->net->is_rms,
                            .epsilon = c->net->norm_epsilon,
                            .x = x,
                            .gamma = pp_call_weight(c, gamma),
                            .stats = stats};
}

struct pp_attention pp_call_attention(const struct pp_call *c, int block, const void **qkv)
{
    const struct pp_stage_shape *shape = &c->stage->shape;

    for (int s = 0; s <= c->w->split; s++)
        qkv[s] = (const char *)c->w->saved[s] + c->l->blocks[block].at[AT_QKV];
    return (struct pp_attention){.batch = shape->rows,
                                 .tokens = shape->tokens,
                                 .heads = c->net->heads,
                                 .kv_heads = c->net->kv_heads,
                                 .head_dim = c->net->head_dim,
                                 .split = c->w->split,
                                 .qkv = qkv,
                                 .out = pp_call_place(c, block, AT_A),
                                 .lse = pp_call_place(c, block, AT_LSE),
                                 .scratch = (char *)c->w->scratch + c->l->transient_at};
}

void pp_call_rotate(const struct pp_call *c, void *qkv, bool is_inverse)
{
    const struct pp_stage_shape *shape = &c->stage->shape;
    const struct pp_net *net = c->net;

    c->k->rotate(c->stream, shape->rows, shape->tokens, net->heads + net->kv_heads, net->head_dim,
                 c->l->qkv_width, c->w->split * shape->tokens, net->rotary_theta, is_inverse, qkv);
}
