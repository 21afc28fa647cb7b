/* Segments of a call: how long the parts of each take, and the exchange that ends it. */
#include "exec/stage/graph.h"

#include <string.h>

/* ---- probe ----------------------------------------------------------------------------------- */

/* A full backward has two timings for each part, and for each segment of a group. So has each node
 * of a tight one. */
int pp_stage_timings(const struct pp_stage *stage)
{
    enum { PASSES = 2, ENDS = 2, OF_SEGMENT = 2 };
    const bool has_group = stage->shape.tp > 1 || stage->shape.ep > 1;
    const int parts = stage->shape.tp_split > 1 ? stage->shape.tp_split : 1,
              segments = has_group ? 2 * parts * stage->graph->node_count : 0;
    const int apart = pp_stage_is_tight(&stage->shape) ? PASSES * stage->graph->node_count : 0;

    return 1 + PASSES * (stage->shape.blocks + ENDS) + OF_SEGMENT * segments + apart;
}

static void record(const struct pp_call *c, int what)
{
    struct pp_probe *probe = c->w->probe;

    probe->record_timing(c->stream);
    probe->timings[probe->timing_count++] = (uint8_t)what;
}

void pp_call_begin_probe(struct pp_call *c)
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

void pp_call_stamp(struct pp_call *c, enum pp_call_pass row, enum pp_layer_part part)
{
    struct pp_probe *probe = c->w->probe;

    if (probe == NULL || !pp_call_is_on(c))
        return;
    if (probe->record_timing != NULL) {
        record(c, (int)row * PP_PARTS + (int)part);
        return;
    }
    const double now_s = probe->now_s();
    probe->s[row][part] += now_s - c->last_s;
    c->last_s = now_s;
}

/* ---- exchanges ------------------------------------------------------------------------------- */

/* Ends the segment with an exchange. Lists it, if that is wanted. */
static void end_segment(struct pp_call *c, enum pp_call_pass row, enum pp_layer_part part,
                        struct pp_group_exchange exchange)
{
    if (c->exchanges != NULL)
        c->exchanges[c->segment] = exchange;
    pp_call_stamp(c, row, part);
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

/* Narrows an exchange to the rows that are computed now. */
static struct pp_group_exchange part_of(const struct pp_call *c, const struct pp_tensor *to,
                                        struct pp_group_exchange exchange)
{
    if (c->parts <= 1) /* also of tensors of G, which have no rows */
        return exchange;
    const struct pp_call_part rows = pp_call_part_of(c, to);
    const size_t before = (size_t)rows.from * (size_t)to->width * c->g->element_bytes;

    exchange.count = (int64_t)rows.count * to->width;
    exchange.from = exchange.from ? (const char *)exchange.from + before : NULL;
    exchange.to = exchange.to ? (char *)exchange.to + before : NULL;
    exchange.is_hidden = c->part + 1 < c->parts;
    return exchange;
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

/* A recomputation does not want the output of the stage. */
void pp_call_end_forward(struct pp_call *c, const struct pp_stage_node *n, enum pp_layer_part part)
{
    if (end_rows(c, n, PP_PASS_F, part) || n->part == NULL ||
        (c->is_again && !pp_node_is_exchanged_again(c->g, n)))
        return;
    struct pp_group_exchange exchange = exchange_of(c, n->rule, n->part, n->y);
    if (n->rule == PP_RULE_SCATTER)
        exchange.base = pp_call_at(c, n->after);
    end_segment(c, PP_PASS_F, part, part_of(c, n->y, exchange));
}

void pp_call_begin_back(struct pp_call *c, const struct pp_stage_node *n, enum pp_layer_part part)
{
    if (n->dy_part != NULL && (n->kind->input_grad != NULL || c->pass == PP_PASS_B))
        end_segment(c, PP_PASS_I, part, exchange_of(c, PP_RULE_GATHER, n->dy_part, n->dy));
}

void pp_call_begin_weight_grad(struct pp_call *c, const struct pp_stage_node *n,
                               enum pp_layer_part part)
{
    if (pp_node_gathers_dy_again(n) && c->pass == PP_PASS_W)
        end_segment(c, PP_PASS_W, part, exchange_of(c, PP_RULE_GATHER, n->dy_part, n->dy));
    if (n->dy_again != NULL)
        end_segment(c, PP_PASS_W, part, exchange_of(c, PP_RULE_GATHER, n->dy, n->dy_again));
    if (n->x_again != NULL && n->x_again->maker == n)
        end_segment(c, PP_PASS_W, part, exchange_of(c, PP_RULE_GATHER, n->x_part, n->x_again));
}

void pp_call_end_back(struct pp_call *c, const struct pp_stage_node *n, enum pp_layer_part part)
{
    const bool is_shared = c->stage->shape.is_sequence_parallel;

    if (end_rows(c, n, PP_PASS_I, part))
        return;
    if (n->dx_part != NULL) {
        struct pp_group_exchange exchange =
            exchange_of(c, is_shared ? PP_RULE_SCATTER : PP_RULE_SUM, n->dx_part, n->dx);
        exchange.base = pp_call_at(c, n->dx_after);
        end_segment(c, PP_PASS_I, part, part_of(c, n->dx, exchange));
    } else if (n->dnorm_part != NULL)
        end_segment(c, PP_PASS_I, part, exchange_of(c, PP_RULE_SUM_OF_G, n->dnorm_part, n->dnorm));
}
