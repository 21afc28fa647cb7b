/* Saved values in few bits, by the rules in graph.h. */
#include "exec/stage/build.h"

#include <stdalign.h>

enum { PACKED_UNIT_BYTES = 4 }; /* at whose multiples kernels expect them */

/* ---- what is packed -------------------------------------------------------------------------- */

/* Is true for x of a node that stays in full, though B reads it. */
static bool has_full_x(const struct pp_stage *stage, const struct pp_stage_node *n)
{
    return n->kind == &pp_node_loss || n->kind == &pp_node_route ||
           (n->kind == &pp_node_attend && stage->shape.splits > 1);
}

/* Is true if groups of values cross rows of experts. Which rows follow one another depends on the
 * replicas that share these. */
static bool has_mixed_rows(const struct pp_tensor *t)
{
    const struct pp_stage_node *n = t->maker;

    return n != NULL && n->routes != NULL && n->kind != &pp_node_combine &&
           t->width % PP_PACKED_GROUP != 0;
}

/* The input of the stage has no maker. */
static void mark_for_r(struct pp_tensor *t)
{
    if (t != NULL)
        t->is_for_r = t->maker == NULL || !t->is_again;
}

/* R also writes again what it does not make for B: y of a LINEAR whose `act` it wants. */
static void find_those_of_r(const struct pp_stage_graph *g)
{
    for (const struct pp_stage_node *n = g->nodes; n < g->nodes + g->node_count; n++) {
        if (!n->is_again)
            continue;
        mark_for_r(n->x);
        mark_for_r(n->base);
        mark_for_r(n->after);
        if (pp_node_is_activation_alone(g, n))
            mark_for_r(n->y);
        else if (n->y != NULL)
            n->y->is_of_r = true;
    }
}

static bool is_read_by_b(const struct pp_stage_graph *g, const struct pp_tensor *t)
{
    return t->width > 0 && !t->is_grad && !has_mixed_rows(t) && t->first_read >= 0 &&
           t != g->output && (t == g->input || t->made[PP_PASS_F] >= 0);
}

void pp_stage_choose_packed(const struct pp_stage *stage)
{
    struct pp_stage_graph *g = stage->graph;

    if (stage->shape.act_bits == 0)
        return;
    if (stage->shape.has_r)
        find_those_of_r(g);
    for (struct pp_tensor *t = g->tensors; t < g->tensors + g->tensor_count; t++) {
        t->is_of_r |= t->is_again || t->is_for_r;
        t->is_rounded = is_read_by_b(g, t) && (t->is_for_r || stage->shape.is_rounded);
        t->is_packed = is_read_by_b(g, t) && !t->is_rounded;
    }
    for (const struct pp_stage_node *n = g->nodes; n < g->nodes + g->node_count; n++)
        if (has_full_x(stage, n))
            n->x->is_packed = n->x->is_rounded = false;
}

/* ---- places ---------------------------------------------------------------------------------- */

static int64_t values_of(const struct pp_stage_graph *g, const struct pp_tensor *t)
{
    return (int64_t)(t->bytes / g->element_bytes);
}

static size_t packed_bytes(const struct pp_stage *stage, const struct pp_tensor *t)
{
    return pp_packed_bytes(stage->shape.act_bits, values_of(stage->graph, t));
}

static size_t whole_units(size_t bytes)
{
    return (bytes + PACKED_UNIT_BYTES - 1) / PACKED_UNIT_BYTES * PACKED_UNIT_BYTES;
}

static void append(struct pp_stage *stage, struct pp_tensor *t)
{
    size_t *end = t->is_of_r ? &stage->saved_bytes : &stage->kept_bytes;

    t->packed = (struct pp_tensor_place){t->is_of_r ? PP_SAVED : PP_KEPT, *end};
    *end += whole_units(packed_bytes(stage, t));
    stage->packed_bytes += packed_bytes(stage, t);
    stage->unpacked_bytes += t->bytes;
}

/* B has it in scratch from its first reader on. */
static void place(const struct pp_stage_graph *g, struct pp_tensor *t)
{
    t->made[PP_PASS_B] = t->first_read;
    if (t == g->input && t->maker == NULL)
        t->made[PP_PASS_F] = t->made[PP_PASS_KEEP] = 0;
}

/* Returns the node after which F needs a tensor no more. */
static int last_of_f(const struct pp_tensor *t)
{
    return t->read[PP_PASS_F] > t->made[PP_PASS_F] ? t->read[PP_PASS_F] : t->made[PP_PASS_F];
}

/* Kernels that do not run at once leave few bits in scratch. */
static void add_rounding(struct pp_stage *stage, struct pp_tensor *t)
{
    stage->rounded_bytes += t->bytes;
    if (stage->graph->is_immediate)
        return;
    struct pp_tensor *few = pp_build_tensor(stage->graph, 0, whole_units(packed_bytes(stage, t)));

    for (int pass = 0; pass < PP_PASSES; pass++)
        few->place[pass] = (struct pp_tensor_place){PP_SCRATCH, 0};
    few->made[PP_PASS_F] = few->made[PP_PASS_KEEP] = last_of_f(t);
    t->rounding = few;
}

/* Returns when F packs or rounds a tensor, or B restores it; -1 = never. */
static int step_of(const struct pp_tensor *t, bool is_f)
{
    if (is_f)
        return t->is_packed || t->is_rounded ? last_of_f(t) : -1;
    return t->is_packed ? t->first_read : -1;
}

/* Sorts tensors by step, in their order; returns where each of `steps` begins. */
static int *sort(struct pp_arena *arena, const struct pp_stage_graph *g, bool is_f, int steps,
                 struct pp_tensor ***sorted)
{
    int *from = PP_ARRAY(arena, int, steps + 2); /* counted one step later, then filled */
    *sorted = PP_ARRAY(arena, struct pp_tensor *, g->tensor_count);

    for (int pass = 0; pass < 2; pass++) {
        for (struct pp_tensor *t = g->tensors; t < g->tensors + g->tensor_count; t++) {
            const int step = step_of(t, is_f);
            if (step >= 0 && pass == 0)
                from[step + 2]++;
            else if (step >= 0)
                (*sorted)[from[step + 1]++] = t;
        }
        for (int s = 2; s < steps + 2 && pass == 0; s++)
            from[s] += from[s - 1];
    }
    return from;
}

void pp_stage_place_packed(struct pp_arena *arena, struct pp_stage *stage)
{
    struct pp_stage_graph *g = stage->graph;

    if (stage->shape.act_bits == 0)
        return;
    for (int i = 0, count = g->tensor_count; i < count; i++) {
        struct pp_tensor *t = &g->tensors[i];
        if (t->is_packed) {
            append(stage, t);
            place(g, t);
        } else if (t->is_rounded) {
            add_rounding(stage, t);
        }
    }
    g->packed_from = sort(arena, g, true, g->node_count, &g->packed);
    g->restored_from = sort(arena, g, false, 2 * g->node_count, &g->restored);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* F fills both memories, unless it keeps only. */
static bool is_due(const struct pp_call *c, const struct pp_tensor *t)
{
    return t->is_of_r ? c->pass != PP_PASS_KEEP : !c->is_again;
}

static char *packed_at(const struct pp_call *c, const struct pp_tensor *t)
{
    return c->base[t->packed.base] + t->packed.at;
}

static void pack(const struct pp_call *c, const struct pp_tensor *t)
{
    const size_t bytes = packed_bytes(c->stage, t), room = whole_units(bytes);
    char *to = packed_at(c, t);

    c->k->quantise(c->stream, c->stage->shape.act_bits, values_of(c->g, t), pp_call_at(c, t), to);
    if (bytes < room)
        c->k->zero(c->stream, room - bytes, to + bytes);
}

/* Kernels that run at once need few bits of a few groups at a time. */
static void round_in_place(const struct pp_call *c, const struct pp_tensor *t)
{
    enum { GROUPS = 32, CHUNK = GROUPS * PP_PACKED_GROUP };
    const int bits = c->stage->shape.act_bits;
    const int64_t count = values_of(c->g, t);
    alignas(8) char few[CHUNK + GROUPS * PP_PACKED_HEADER_BYTES], *x = pp_call_at(c, t);
    char *to = t->rounding ? pp_call_at(c, t->rounding) : few;

    for (int64_t at = 0, some; at < count; at += some) {
        some = t->rounding || count - at < CHUNK ? count - at : CHUNK;
        c->k->quantise(c->stream, bits, some, x, to);
        c->k->restore(c->stream, bits, some, to, x);
        x += (size_t)some * c->g->element_bytes;
    }
}

bool pp_call_pack(struct pp_call *c, const struct pp_stage_node *n)
{
    const struct pp_stage_graph *g = c->g;
    const ptrdiff_t at = n - g->nodes;
    bool has_any = false;

    for (int i = g->packed ? g->packed_from[at] : 0; g->packed && i < g->packed_from[at + 1]; i++)
        if (is_due(c, g->packed[i])) {
            has_any = true;
            if (pp_call_is_on(c))
                (g->packed[i]->is_packed ? pack : round_in_place)(c, g->packed[i]);
        }
    return has_any;
}

void pp_call_restore(struct pp_call *c, int step)
{
    const struct pp_stage_graph *g = c->g;

    if (g->restored == NULL || !pp_call_is_on(c))
        return;
    for (int i = g->restored_from[step]; i < g->restored_from[step + 1]; i++) {
        const struct pp_tensor *t = g->restored[i];
        c->k->restore(c->stream, c->stage->shape.act_bits, values_of(g, t), packed_at(c, t),
                      pp_call_at(c, t));
    }
}
