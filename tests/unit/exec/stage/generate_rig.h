/* A model as a row of stages that generate, in plain memory: prompts in pieces, then token by
 * token. Tokens are given, so that all ways to divide the work meet the same ones. */
#ifndef PP_TESTS_GENERATE_RIG_H
#define PP_TESTS_GENERATE_RIG_H

#include "exec/stage/generate.h"
#include "tests/unit/exec/stage/stage_rig.h"

enum { GEN_TP = 2 };

/* One device of a stage. */
struct gen_part {
    struct pp_stage *prompt, *token; /* token NULL: nothing comes after the prompt */
    char *weights, *cache, *out, *logits;
};
struct gen {
    const struct pp_kernels *k;
    const struct pp_net *net;
    int stages, tp, rows, pieces, prompt, context;
    struct gen_part part[RIG_STAGES][GEN_TP];
    char *scratch[GEN_TP];
    size_t scratch_bytes;
    const int32_t *ids; /* [rows][net->seq] */
    int32_t *now;       /* of a call */
    double *logits;     /* [rows][vocab] of the last call */
};

static inline size_t gen_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static inline void gen_part_make(struct pp_arena *arena, struct gen *g, int s, int t, int first,
                                 int blocks)
{
    struct gen_part *p = &g->part[s][t];
    struct pp_stage_shape shape = {.first_block = first,
                                   .blocks = blocks,
                                   .has_embedding = s == 0,
                                   .has_head = s == g->stages - 1,
                                   .rows = g->rows / g->pieces,
                                   .tokens = g->prompt,
                                   .splits = 1,
                                   .tp = g->tp,
                                   .tp_index = t,
                                   .context = g->context};

    p->prompt = pp_stage_create(arena, g->net, &shape, g->k);
    shape.rows = g->rows;
    shape.tokens = 1;
    p->token = pp_stage_create(arena, g->net, &shape, g->k);
    p->weights = pp_arena_alloc(arena, (size_t)p->token->elements * g->k->element_bytes);
    p->cache = rig_memory(arena, pp_stage_cache_bytes(p->token, g->rows));
    p->out = rig_memory(
        arena, gen_larger(p->prompt->boundary_bytes * (size_t)g->pieces, p->token->boundary_bytes));
    p->logits = rig_memory(arena, pp_stage_logits_bytes(p->token));
    g->scratch_bytes =
        gen_larger(g->scratch_bytes, gen_larger(p->prompt->scratch_bytes, p->token->scratch_bytes));
}

/* Weights as those of a stage that trains: see rig_fill_weights(). */
static inline void gen_fill(const struct gen *g, const struct gen_part *p)
{
    for (int i = 0; i < p->token->param_count; i++) {
        const struct pp_param *param = &p->token->params[i];
        for (int64_t j = 0, run, at = 0; j < param->count; j += run) {
            at = pp_slice_at(&param->slice, j, &run);
            run = run < param->count - j ? run : param->count - j;
            for (int64_t n = 0; n < run; n++) {
                const double u = rig_random((uint64_t)param->id + 1, (uint64_t)(at + n));
                pp_number_put(p->weights, g->k->element_bytes, param->offset + j + n,
                              param->init == PP_INIT_ONE    ? 1 + 0.2 * u
                              : param->init == PP_INIT_ZERO ? 0.2 * u
                                                            : 0.5 * u);
            }
        }
    }
}

static inline struct gen *gen_create(struct pp_arena *arena, const struct pp_kernels *k,
                                     const struct pp_net *net, int stages, const int *blocks,
                                     int tp, int rows, int pieces, int prompt, const int32_t *ids)
{
    struct gen *g = PP_NEW(arena, struct gen);

    *g = (struct gen){.k = k,
                      .net = net,
                      .stages = stages,
                      .tp = tp,
                      .rows = rows,
                      .pieces = pieces,
                      .prompt = prompt,
                      .context = net->seq,
                      .ids = ids};
    for (int s = 0, first = 0; s < stages; first += blocks[s++])
        for (int t = 0; t < tp; t++) {
            gen_part_make(arena, g, s, t, first, blocks[s]);
            gen_fill(g, &g->part[s][t]);
        }
    for (int t = 0; t < tp; t++)
        g->scratch[t] = rig_memory(arena, g->scratch_bytes);
    g->now = PP_ARRAY(arena, int32_t, rows * net->seq);
    g->logits = PP_ARRAY(arena, double, rows * net->vocab);
    return g;
}

/* The call of a stage for a piece of the prompts, or with piece -1 for a token of all sequences. */
static inline struct pp_stage_work gen_work(const struct gen *g, int s, int t, int piece,
                                            int position)
{
    const struct gen_part *p = &g->part[s][t], *before = s > 0 ? &g->part[s - 1][t] : NULL;
    struct pp_stage *stage = piece >= 0 ? p->prompt : p->token;
    const size_t at = piece > 0 ? (size_t)piece * stage->boundary_bytes : 0,
                 first = piece > 0 ? (size_t)piece * (size_t)stage->shape.rows : 0;

    return (struct pp_stage_work){
        .stage = stage,
        .weights = p->weights,
        .in = before ? before->out + at : NULL,
        .out = stage->shape.has_head ? NULL : p->out + at,
        .ids = stage->shape.has_embedding ? g->now : NULL,
        .scratch = g->scratch[t],
        .position = position,
        .cache = p->cache + first * pp_stage_sequence_bytes(stage),
        .logits = p->logits};
}

/* One call, on all devices in turn. */
static inline void gen_call(const struct gen *g, int s, int piece, int position)
{
    struct pp_stage_work work[GEN_TP];
    struct pp_group_exchange exchanges[GEN_TP][256];
    int count = 0;

    for (int t = 0; t < g->tp; t++) {
        work[t] = gen_work(g, s, t, piece, position);
        count = pp_stage_exchanges(&work[t], PP_CALL_FORWARD, exchanges[t]);
    }
    for (int segment = 0; segment <= count; segment++) {
        const void *from[GEN_TP];
        for (int t = 0; t < g->tp; t++) {
            work[t].segment = segment;
            pp_stage_forward(g->k, NULL, &work[t]);
            from[t] = segment < count ? exchanges[t][segment].from : NULL;
        }
        for (int t = 0; t < g->tp && segment < count; t++)
            pp_group_exchange_run(g->k, NULL, &exchanges[t][segment], g->tp, from);
    }
}

/* Reads what a device of the last stage has made for rows from `first` on. */
static inline void gen_read(const struct gen *g, int t, int piece)
{
    const struct gen_part *p = &g->part[g->stages - 1][t];
    const struct pp_stage *stage = piece >= 0 ? p->prompt : p->token;
    const int first = piece > 0 ? piece * stage->shape.rows : 0;

    for (int row = 0; row < stage->shape.rows; row++)
        pp_stage_read_logits(stage, p->logits, row, g->logits + (first + row) * g->net->vocab);
}

static inline void gen_prompts(const struct gen *g)
{
    const int rows = g->rows / g->pieces;

    for (int piece = 0; piece < g->pieces; piece++) {
        for (int row = 0; row < rows; row++)
            memcpy(g->now + row * g->prompt, g->ids + (piece * rows + row) * g->net->seq,
                   sizeof(int32_t) * (size_t)g->prompt);
        for (int s = 0; s < g->stages; s++)
            gen_call(g, s, piece, 0);
        gen_read(g, 0, piece);
    }
}

static inline void gen_token(const struct gen *g, int position)
{
    for (int row = 0; row < g->rows; row++)
        g->now[row] = g->ids[row * g->net->seq + position];
    for (int s = 0; s < g->stages; s++)
        gen_call(g, s, -1, position);
    gen_read(g, 0, -1);
}

#endif
