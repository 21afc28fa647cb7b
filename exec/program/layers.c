/* Cuts ops on chunks into ops on layers. */
#include "exec/program/layers.h"

enum pp_status pp_layers_find(struct pp_arena *arena, const int *blocks_per_chunk, int chunks,
                              struct pp_layers *layers, struct pp_error *err)
{
    *layers = (struct pp_layers){chunks, PP_ARRAY(arena, int, chunks + 1)};
    for (int c = 0; c < chunks; c++)
        layers->first[c + 1] =
            layers->first[c] + (blocks_per_chunk[c] > 0 ? blocks_per_chunk[c] : 1);
    if (layers->first[chunks] <= UINT16_MAX)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL, "%d layers are gathered one by one; at most %d can be",
                        layers->first[chunks], UINT16_MAX);
}

int pp_layers_chunk_of(const struct pp_layers *layers, int stage)
{
    int chunk = 0;

    while (layers->first[chunk + 1] <= stage)
        chunk++;
    return chunk;
}

static int units_of(const struct pp_layers *layers, int chunk)
{
    return layers->first[chunk + 1] - layers->first[chunk];
}

/* Returns the k-th part of an op. */
static struct pp_op part_of(const struct pp_layers *layers, const struct pp_op *op, int k)
{
    struct pp_op part = *op;
    const int unit = op->kind == PP_F ? k : units_of(layers, op->stage) - 1 - k;

    part.stage = (uint16_t)(layers->first[op->stage] + unit);
    part.slot = -1;
    return part;
}

/* Adds the parts of an op, or of both ops of a pair in turn. */
static void add_parts(struct pp_arena *arena, struct pp_orders *lists, int rank,
                      const struct pp_layers *layers, const struct pp_op *ops, int count)
{
    const int first = units_of(layers, ops[0].stage),
              second = count > 1 ? units_of(layers, ops[1].stage) : 0,
              pairs = first < second ? first : second;

    for (int k = 0; k < first || k < second; k++)
        for (int i = 0; i < count; i++) {
            if (k >= (i == 0 ? first : second))
                continue;
            struct pp_op part = part_of(layers, &ops[i], k);
            part.aux = k < pairs ? part.aux : 0;
            pp_orders_add(arena, lists, rank, part);
        }
}

static uint16_t *ranks_of(struct pp_arena *arena, const struct pp_program *p,
                          const struct pp_layers *layers)
{
    const int stages = layers->first[layers->chunks];
    uint16_t *rank_of = PP_ARRAY(arena, uint16_t, p->pipelines * stages);

    for (int pipe = 0; pipe < p->pipelines; pipe++)
        for (int stage = 0; stage < stages; stage++)
            rank_of[pipe * stages + stage] =
                (uint16_t)pp_program_rank_of(p, pipe, pp_layers_chunk_of(layers, stage));
    return rank_of;
}

enum pp_status pp_layers_cut(struct pp_arena *arena, const struct pp_program *p,
                             const struct pp_layers *layers, struct pp_program **by_layer,
                             struct pp_error *err)
{
    struct pp_program_head head = pp_program_head_of(p);
    struct pp_orders *lists = pp_orders_create(arena, p->ranks);

    for (int rank = 0; rank < p->ranks; rank++)
        for (int i = p->begin[rank]; i < p->begin[rank + 1];) {
            const struct pp_op ops[2] = {pp_program_op(p, i), i + 1 < p->begin[rank + 1]
                                                                  ? pp_program_op(p, i + 1)
                                                                  : (struct pp_op){0}};
            const int count = ops[0].aux == PP_FUSED_FIRST ? 2 : 1;
            add_parts(arena, lists, rank, layers, ops, count);
            i += count;
        }
    head.stages = layers->first[layers->chunks];
    head.rank_of = ranks_of(arena, p, layers);
    head.line = head.column = NULL;
    return pp_program_freeze(arena, &head, lists, by_layer, err);
}
