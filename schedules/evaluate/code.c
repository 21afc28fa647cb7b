/* Compiles ordered nodes into a struct pp_eval: code of the kernels, and places of all times. */
#include "schedules/evaluate/form.h"
#include "schedules/evaluate/order.h"

#include <math.h>

static const int64_t TIME_LIMIT_PS = INT64_MAX / 2;

/* ---- code ------------------------------------------------------------------------------------ */

/* Values of so few nodes stay in the cache anyway. */
enum { PACKED_FROM = 1 << 14 };

struct emit {
    const struct pp_graph *g;
    const struct pp_order *o;
    struct pp_eval *eval;
    bool is_packed; /* if not, `packed` is `full` */
    int32_t *value; /* [node]: value in `full` */
    int32_t *slot;  /* [node]: slot in `packed` while it is alive */
    int32_t *uses;  /* [node]: readers left */
    int32_t *free_slots;
    int free_count;
    int steps, meets, inputs;
};

static void read_values(const struct emit *e, int32_t node, int32_t *full)
{
    int count;
    const int32_t *in = pp_node_inputs(e->g, node, &count);

    for (int k = 0; k < count; k++)
        full[k] = e->value[in[k]];
}

static void read_slots(struct emit *e, int32_t node, int32_t *packed)
{
    int count;
    const int32_t *in = pp_node_inputs(e->g, node, &count);

    for (int k = 0; k < count; k++)
        packed[k] = e->slot[in[k]];
    for (int k = 0; k < count; k++)
        if (in[k] != 0 && --e->uses[in[k]] == 0)
            e->free_slots[e->free_count++] = e->slot[in[k]];
}

/* Most recently freed first: it is in the cache. The node itself may be its last reader. */
static int32_t take_slot(struct emit *e)
{
    return e->free_count > 0 ? e->free_slots[--e->free_count] : e->eval->packed.values++;
}

static void emit_step(struct emit *e, int32_t node)
{
    const struct pp_node *n = &e->g->nodes[node];
    struct pp_eval *eval = e->eval;
    struct pp_eval_step *full = &eval->full.steps[e->steps];

    read_values(e, node, full->in);
    full->out = e->value[node];
    if (e->is_packed) {
        struct pp_eval_step *packed = &eval->packed.steps[e->steps];
        read_slots(e, node, packed->in);
        packed->out = e->slot[node] = take_slot(e);
    }
    eval->ps[e->steps] = n->ps;
    if (n->denominator > 0) {
        eval->parts[e->steps] = (struct pp_eval_part){n->ps, n->numerator, n->denominator};
        eval->ps[e->steps] = pp_costs_share_ps(n->ps, n->numerator, n->denominator);
    }
    eval->value_ps[full->out] = eval->ps[e->steps];
    eval->key[e->steps] = n->is_compute ? n->owner : PP_NO_OWNER;
    if (e->g->form)
        pp_form_add_step(e->g->form, n);
    e->steps++;
}

static void emit_meet(struct emit *e, int32_t node)
{
    const struct pp_node *n = &e->g->nodes[node];
    struct pp_eval *eval = e->eval;
    struct pp_meet meet = {.first = e->inputs,
                           .count = n->in[1],
                           .ring = n->in[2],
                           .ps = n->ps,
                           .out = e->value[node]};

    read_values(e, node, eval->full.inputs + e->inputs);
    eval->full.meets[e->meets] = meet;
    eval->value_ps[meet.out] = meet.ps;
    if (e->is_packed) {
        read_slots(e, node, eval->packed.inputs + e->inputs);
        meet.out = e->slot[node] = take_slot(e);
        eval->packed.meets[e->meets] = meet;
    }
    e->inputs += meet.count;
    e->meets++;
    if (e->g->form)
        pp_form_add_meet(e->g->form, n);
}

static void allocate_code(struct pp_arena *arena, struct pp_code *code, const struct pp_eval *eval,
                          int inputs)
{
    code->values = 1;
    code->steps = pp_arena_alloc_raw(arena, sizeof(*code->steps) * (size_t)(eval->step_count + 1));
    code->meets = pp_arena_alloc_raw(arena, sizeof(*code->meets) * (size_t)(eval->meet_count + 1));
    code->inputs = pp_arena_alloc_raw(arena, sizeof(*code->inputs) * (size_t)(inputs + 1));
}

/* Emits the last meet, over all nodes without readers: the makespan. */
static void emit_makespan(struct emit *e)
{
    struct pp_eval *eval = e->eval;
    struct pp_meet meet = {.first = e->inputs};

    for (int k = 0; k < e->o->count; k++) {
        const int32_t node = e->o->sequence[k];
        if (e->o->first[node] != e->o->first[node + 1])
            continue;
        eval->full.inputs[e->inputs] = e->value[node];
        if (e->is_packed)
            eval->packed.inputs[e->inputs] = e->slot[node];
        e->inputs++;
        meet.count++;
    }
    meet.out = eval->full.values++;
    eval->value_ps[meet.out] = 0;
    eval->full.meets[e->meets] = meet;
    if (e->is_packed) {
        meet.out = eval->packed.values++;
        eval->packed.meets[e->meets] = meet;
    }
    e->meets++;
}

/* Makes room for slots: counts the readers of each, and gives entries the first ones. */
static void open_slots(struct pp_arena *arena, struct emit *e)
{
    const struct pp_graph *g = e->g;

    e->slot = PP_ARRAY(arena, int32_t, g->count);
    e->uses = pp_arena_alloc_raw(arena, sizeof(int32_t) * (size_t)g->count);
    e->free_slots = pp_arena_alloc_raw(arena, sizeof(int32_t) * (size_t)g->count);
    for (int32_t n = 0; n < g->count; n++)
        e->uses[n] = e->o->first[n + 1] - e->o->first[n];
    for (int c = 0; c < g->carry_count; c++) /* read after the end of the step */
        e->uses[g->carries[c].exit]++;
    for (int32_t n = 1; n < g->count; n++)
        if (g->nodes[n].type == PP_NODE_ENTRY)
            e->slot[n] = e->eval->packed.values++;
}

static void emit(struct pp_arena *arena, struct emit *e)
{
    const struct pp_graph *g = e->g;
    const struct pp_order *o = e->o;
    struct pp_eval *eval = e->eval;

    e->value = PP_ARRAY(arena, int32_t, g->count);
    for (int32_t n = 1; n < g->count; n++)
        if (g->nodes[n].type == PP_NODE_ENTRY)
            e->value[n] = eval->full.values++;
    if (e->is_packed)
        open_slots(arena, e);
    for (int k = 0, s = 0; k < o->count; k++) {
        const int32_t node = o->sequence[k];
        e->value[node] = eval->full.values++;
        while (k >= o->segments[s].meets_end)
            s++;
        if (k < o->segments[s].steps_end)
            emit_step(e, node);
        else
            emit_meet(e, node);
    }
}

static void fill_segments(struct pp_arena *arena, const struct pp_order *o, struct pp_eval *eval)
{
    int steps = 0, meets = 0, before = 0;

    eval->segment_count = o->segment_count + 1;
    eval->segments = PP_ARRAY(arena, struct pp_segment, eval->segment_count);
    for (int s = 0; s < o->segment_count; s++) {
        steps += o->segments[s].steps_end - before;
        meets += o->segments[s].meets_end - o->segments[s].steps_end;
        before = o->segments[s].meets_end;
        eval->segments[s] = (struct pp_segment){steps, meets};
    }
    eval->segments[o->segment_count] = (struct pp_segment){steps, meets + 1};
}

/* Fills tables for the times of single instructions. */
static void fill_record(struct pp_arena *arena, const struct emit *e)
{
    const struct pp_graph *g = e->g;
    const struct pp_program *p = g->program;
    struct pp_eval *eval = e->eval;

    eval->value_of = pp_arena_alloc_raw(arena, sizeof(int32_t) * (size_t)(pp_program_size(p) + 1));
    for (int i = 0; i < pp_program_size(p); i++)
        eval->value_of[i] = e->value[g->node_of[i]];
    if (g->inside)
        eval->inside = PP_ARRAY(arena, int32_t, pp_program_size(p));
    for (int i = 0; g->inside && i < pp_program_size(p); i++)
        eval->inside[i] = e->value[g->inside[i]];
    eval->rings = g->rings;
    if (g->ring_count > 0)
        eval->start_of = PP_ARRAY(arena, int32_t, eval->full.values);
    for (int32_t n = 1; n < g->count; n++)
        if (g->nodes[n].type == PP_NODE_MEET && g->nodes[n].in[2])
            eval->start_of[e->value[n]] = e->value[g->rings[g->nodes[n].in[2] - 1].start];
    if (!g->posts)
        return;
    eval->posts = (int32_t(*)[2])PP_ARRAY(arena, int32_t, 2 * (size_t)p->message_count);
    for (int m = 0; m < p->message_count; m++)
        for (int side = 0; side < 2; side++)
            eval->posts[m][side] = e->value[g->posts[m][side]];
}

static void fill_carries(struct pp_arena *arena, const struct emit *e)
{
    const struct pp_graph *g = e->g;
    struct pp_eval *eval = e->eval;

    eval->carry_count = g->carry_count;
    eval->full.carries = PP_ARRAY(arena, struct pp_carry, g->carry_count);
    if (e->is_packed)
        eval->packed.carries = PP_ARRAY(arena, struct pp_carry, g->carry_count);
    for (int c = 0; c < g->carry_count; c++) {
        const struct pp_carry carry = g->carries[c];
        eval->full.carries[c] = (struct pp_carry){e->value[carry.entry], e->value[carry.exit]};
        if (e->is_packed)
            eval->packed.carries[c] = (struct pp_carry){e->slot[carry.entry], e->slot[carry.exit]};
    }
    eval->entry_of = PP_ARRAY(arena, int32_t, g->program->ranks);
    for (int r = 0; r < g->program->ranks; r++)
        eval->entry_of[r] = e->value[g->entry_of[r]];
}

static void fill_ranks(struct pp_arena *scratch, struct pp_eval *eval)
{
    const struct pp_program *p = eval->program;
    uint16_t *rank_of =
        pp_arena_alloc_raw(scratch, sizeof(*rank_of) * (size_t)(pp_program_size(p) + 1));

    for (int r = 0; r < p->ranks; r++)
        for (int i = p->begin[r]; i < p->begin[r + 1]; i++)
            rank_of[i] = (uint16_t)r;
    for (int s = 0; s < eval->step_count; s++)
        eval->rank[s] = eval->key[s] == PP_NO_OWNER ? 0 : rank_of[eval->key[s]];
}

/* Returns the makespan as a double, which cannot overflow. */
static double longest_path_ps(struct pp_arena *arena, const struct pp_eval *eval)
{
    const struct pp_code *code = &eval->full;
    double *end = PP_ARRAY(arena, double, code->values), latest = 0;
    int s = 0, m = 0;

    for (int k = 0; k < eval->segment_count; k++) {
        for (; s < eval->segments[k].steps_end; s++) {
            const struct pp_eval_step *step = &code->steps[s];
            latest = fmax(end[step->in[0]], fmax(end[step->in[1]], end[step->in[2]]));
            end[step->out] = latest + (double)eval->value_ps[step->out];
        }
        for (; m < eval->segments[k].meets_end; m++) {
            const struct pp_meet *meet = &code->meets[m];
            latest = 0;
            for (int i = meet->first; i < meet->first + meet->count; i++)
                latest = fmax(latest, end[code->inputs[i]]);
            end[meet->out] = latest += (double)eval->value_ps[meet->out];
        }
    }
    return latest; /* the last meet is the makespan */
}

static enum pp_status check_overflow(struct pp_arena *scratch, const struct pp_eval *eval,
                                     struct pp_error *err)
{
    double ps = 0;

    for (int v = 0; v < eval->full.values; v++)
        ps += (double)eval->value_ps[v] * eval->steps;
    if (ps >= (double)TIME_LIMIT_PS) /* rare: no path is longer than the sum of all */
        ps = longest_path_ps(scratch, eval) * eval->steps;
    if (ps >= (double)TIME_LIMIT_PS)
        return pp_error_set(err, PP_EFAIL, "%s %.3g s; times above %.3g s overflow",
                            eval->steps > 1 ? "the steps take" : "the step takes", ps * 1e-12,
                            (double)TIME_LIMIT_PS * 1e-12);
    return PP_OK;
}

static void allocate(struct pp_arena *arena, const struct emit *e)
{
    const struct pp_graph *g = e->g;
    struct pp_eval *eval = e->eval;

    for (int32_t n = 1; n < g->count; n++)
        if (g->nodes[n].type == PP_NODE_STEP)
            eval->step_count++;
        else if (g->nodes[n].type == PP_NODE_MEET)
            eval->meet_count++;
    eval->meet_count++; /* the makespan */
    allocate_code(arena, &eval->full, eval, g->input_count + g->count);
    if (e->is_packed)
        allocate_code(arena, &eval->packed, eval, g->input_count + g->count);
    eval->ps = pp_arena_alloc_raw(arena, sizeof(*eval->ps) * (size_t)(eval->step_count + 1));
    eval->key = pp_arena_alloc_raw(arena, sizeof(*eval->key) * (size_t)(eval->step_count + 1));
    eval->rank = pp_arena_alloc_raw(arena, sizeof(*eval->rank) * (size_t)(eval->step_count + 1));
    if (g->inside)
        eval->parts = PP_ARRAY(arena, struct pp_eval_part, eval->step_count);
    eval->value_ps = PP_ARRAY(arena, int64_t, g->count + 2);
}

enum pp_status pp_eval_emit(struct pp_arena *arena, const struct pp_order *order,
                            struct pp_eval *eval, struct pp_error *err)
{
    const struct pp_graph *g = order->g;
    struct emit e = {.g = g,
                     .o = order,
                     .eval = eval,
                     .is_packed = g->options->always_packs || g->count >= PACKED_FROM};

    allocate(arena, &e);
    emit(g->arena, &e);
    emit_makespan(&e);
    fill_segments(arena, order, eval);
    fill_record(arena, &e);
    fill_carries(arena, &e);
    fill_ranks(g->arena, eval);
    if (!e.is_packed)
        eval->packed = eval->full;
    return check_overflow(g->arena, eval, err);
}
