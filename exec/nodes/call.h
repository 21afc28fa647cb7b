/* exec/nodes/call.h — private to exec/nodes and exec/stage: a call that walks the nodes of a stage,
 * and where it finds their tensors. */
#pragma once

#include "exec/nodes/node.h"

struct pp_call {
    const struct pp_kernels *k;
    void *stream;
    const struct pp_stage_work *w;
    const struct pp_stage *stage;
    const struct pp_net *net;
    const struct pp_stage_graph *g;
    char *base[PP_BASES];
    enum pp_call_pass pass;
    bool is_again;                       /* R */
    int part, parts;                     /* of the rows of a node: which is computed; 0 = all */
    double last_s;                       /* of the probe's last stamp */
    int step;                            /* of a backward: see exec/stage/gradients.c */
    int segment;                         /* of the node that comes next */
    struct pp_group_exchange *exchanges; /* where pp_stage_exchanges() writes; NULL = nowhere */
};

/* Returns the place of a tensor in this call; NULL = it has none. */
static inline void *pp_call_at(const struct pp_call *c, const struct pp_tensor *t)
{
    const struct pp_tensor_place none = {PP_NOWHERE, 0}, place = t ? t->place[c->pass] : none;

    return c->base[place.base] ? c->base[place.base] + place.at : NULL;
}
/* Returns the rows of a tensor of T that are computed now: all, or those of a part. */
struct pp_call_part {
    int from, count;
};
static inline struct pp_call_part pp_call_part_of(const struct pp_call *c,
                                                  const struct pp_tensor *t)
{
    const int all = pp_tensor_tokens(c->g, t), parts = c->parts > 1 ? c->parts : 1;

    return (struct pp_call_part){all / parts * c->part, all / parts};
}
/* Returns the address of a tensor's rows; NULL = it has no place. */
static inline void *pp_call_rows_at(const struct pp_call *c, const struct pp_tensor *t,
                                    struct pp_call_part rows)
{
    char *at = pp_call_at(c, t);

    return at ? at + (size_t)rows.from * (size_t)t->width * c->g->element_bytes : NULL;
}
/* Returns the place of a tensor of this or an earlier split. */
static inline void *pp_call_at_split(const struct pp_call *c, const struct pp_tensor *t, int split)
{
    const struct pp_tensor_place place = t->place[c->pass];

    if (split == c->w->split)
        return pp_call_at(c, t);
    return (char *)(place.base == PP_KEPT ? c->w->kept : c->w->saved)[split] + place.at;
}
static inline const void *pp_call_weight(const struct pp_call *c, const struct pp_param *param)
{
    return param == NULL
               ? NULL
               : (const char *)c->w->weights + (size_t)param->offset * c->g->element_bytes;
}
/* params.c: returns the place of a parameter's gradient: scratch in exact mode, else in the sum. */
void *pp_call_target(const struct pp_call *c, const struct pp_param *param);
/* In exact mode, adds the gradient to the sum. */
void pp_call_add_exactly(const struct pp_call *c, const struct pp_param *param, const void *grad);

/* experts.c: the routing of this call, without logits and their gradient. */
struct pp_routing pp_call_routing(const struct pp_call *c, const struct pp_routes *routes);
/* Where tokens of its experts are counted; NULL = nowhere. */
double *pp_call_counts(const struct pp_call *c, const struct pp_routes *routes);
/* Groups of rows. */
struct pp_row_groups pp_call_groups(const struct pp_call *c, const struct pp_routes *routes);
/* Rows of tensors that are in rows: those in use if the host knows them, else all. Tokens of other
 * tensors. */
int pp_call_rows(const struct pp_call *c, const struct pp_routes *routes);
/* Clears rows of a tensor that are not in use; no effect if `routes` is NULL. */
void pp_call_clear_rest(const struct pp_call *c, const struct pp_routes *routes,
                        const struct pp_tensor *t);
/* The most rows; bytes of the integers. */
int pp_routes_rows(const struct pp_net *net, const struct pp_stage_shape *shape);
/* The most rows that the experts of one replica take from one that shares them, and from all. */
int pp_routes_slot_rows(const struct pp_net *net, const struct pp_stage_shape *shape);
int pp_routes_held_rows(const struct pp_net *net, const struct pp_stage_shape *shape);
size_t pp_routes_bytes(const struct pp_net *net, const struct pp_stage_shape *shape, int rows);
